/* .xdata of arm64, as Microsoft's "ARM64 exception handling" lays it out: its head in two forms,
 * and codes that are reserved, cut, or of any register. */
#include <string.h>

#include "test.h"
#include "unwind/arm64_info.h"
#include "unwind_world.h"

TEST(arm64_heads_have_one_word_or_two)
{
    enum { AT = WORLD_XDATA_RVA, END = WORLD_IMAGE_BYTES, X = 1 << 20, E = 1 << 21 };
    static const struct {
        const char *name;
        uint32_t at, words[6];
        enum stop_reason stop;
        uint32_t epilogues, code_bytes, scopes_at, codes_at, handler, handler_data;
    } rows[] = {
        {"one epilogue, one word of codes",
         AT,
         {0x40 | 1 << 22 | 1 << 27},
         STOP_NONE,
         1,
         4,
         4,
         8,
         0,
         0},
        {"no epilogue", AT, {0x40 | 1 << 27}, STOP_NONE, 0, 4, 4, 4, 0, 0},
        {"no codes", AT, {0x40 | 1 << 22}, STOP_NONE, 1, 0, 4, 8, 0, 0},
        {"two words", AT, {0x40, 2 | 3 << 16}, STOP_NONE, 2, 12, 8, 16, 0, 0},
        {"two words, one epilogue at the end",
         AT,
         {0x40 | E, 5 | 1 << 16},
         STOP_NONE,
         5,
         4,
         8,
         8,
         0,
         0},
        {"two words of the largest numbers",
         AT,
         {0x40, 0xffffff},
         STOP_NONE,
         0xffff,
         1020,
         8,
         8 + 4 * 0xffff,
         0,
         0},
        {"a handler",
         AT,
         {0x40 | X | E | 2 << 27, 0, 0, 0x1234, 0x5678},
         STOP_NONE,
         0,
         8,
         4,
         4,
         0x1234,
         0x5678},
        {"version 1", AT, {0x40 | 1 << 18 | 1 << 27}, STOP_DATA_VERSION, 0, 0, 0, 0, 0, 0},
        {"version 2", AT, {0x40 | 2 << 18 | 1 << 27}, STOP_DATA_VERSION, 0, 0, 0, 0, 0, 0},
        {"a reserved form", AT | 3, {0}, STOP_DATA_RESERVED, 0, 0, 0, 0, 0, 0},
        {"the last word of the image", END - 4, {0x40 | 1 << 27}, STOP_NONE, 0, 4, 4, 4, 0, 0},
        {"a second word after the image", END - 4, {0x40}, STOP_DATA_MISSING, 0, 0, 0, 0, 0, 0},
        {"after the image", END, {0}, STOP_DATA_MISSING, 0, 0, 0, 0, 0, 0},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arm64_info info;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        for (size_t k = 0; k < COUNT_OF(rows[i].words) && rows[i].at + 4 * k + 4 <= END; k++)
            world_put(&w, (rows[i].at & ~3u) + 4 * (uint32_t)k, &rows[i].words[k], 4);
        if (CHECK_EQ(arm64_info_read(&w.process, WORLD_BASE_VA, rows[i].at, &info), rows[i].stop) &&
            rows[i].stop == STOP_NONE) {
            CHECK_EQ(info.function_bytes, 0x100);
            CHECK_EQ(info.epilogue_count, rows[i].epilogues);
            CHECK_EQ(info.code_bytes, rows[i].code_bytes);
            CHECK_HEX(info.scopes_va - WORLD_BASE_VA, rows[i].at + rows[i].scopes_at);
            CHECK_HEX(info.codes_va - WORLD_BASE_VA, rows[i].at + rows[i].codes_at);
            CHECK_HEX(info.handler_rva, rows[i].handler);
            CHECK_HEX(info.handler_data_rva, rows[i].handler_data);
        }
        world_free(&w);
    }
}

TEST(arm64_codes_are_read_up_to_their_end)
{
    static const struct {
        const char *name;
        uint8_t raw[8];
        uint32_t bytes, index;
        enum stop_reason stop;
        uint32_t count;
        struct arm64_code first;
    } rows[] = {
        {"end", {0xe4, 0xe3, 0xe3, 0xe3}, 4, 0, STOP_NONE, 1, {ARM64_END, 0, false, 0, 1}},
        {"no end", {0xe3, 0xe3, 0xe3, 0xe5}, 4, 0, STOP_NONE, 4, {ARM64_NOP, 0, false, 0, 1}},
        {"from the last byte",
         {0xe3, 0xe3, 0xe3, 0xe5},
         4,
         3,
         STOP_NONE,
         1,
         {ARM64_END_C, 0, false, 0, 1}},
        {"from the end", {0xe3, 0xe3, 0xe3, 0xe5}, 4, 4, STOP_NONE, 0, {0}},
        {"alloc_l",
         {0xe0, 1, 2, 3, 0xe4},
         8,
         0,
         STOP_NONE,
         2,
         {ARM64_ALLOC, 0, false, 0x010203 * 16, 4}},
        {"alloc_l, cut", {0xe3, 0xe0, 1, 2}, 4, 1, STOP_DATA_MALFORMED, 0, {0}},
        {"save_regp, cut", {0xe3, 0xe3, 0xe3, 0xc8}, 4, 3, STOP_DATA_MALFORMED, 0, {0}},
        {"save_any_reg, cut", {0xe3, 0xe3, 0xe7, 0x03}, 4, 2, STOP_DATA_MALFORMED, 0, {0}},
        {"x3 at 40",
         {0xe7, 0x03, 0x05, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_SAVE_REG, 3, false, 40, 3}},
        {"x20 and x21 at 48",
         {0xe7, 0x54, 0x03, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_SAVE_REGP, 20, false, 48, 3}},
        {"d7 at 24",
         {0xe7, 0x07, 0x43, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_SAVE_FREG, 7, false, 24, 3}},
        {"d10 and d11 at 48",
         {0xe7, 0x4a, 0x43, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_SAVE_FREGP, 10, false, 48, 3}},
        {"q5, after the stack pointer went down by 48",
         {0xe7, 0x25, 0x82, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_SAVE_QREG, 5, true, 48, 3}},
        {"q6 and q7 at 32",
         {0xe7, 0x46, 0x82, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_SAVE_QREGP, 6, false, 32, 3}},
        {"save_any_reg with its highest bit",
         {0xe7, 0x83, 0x05, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_RESERVED, 0, false, 0, 3}},
        {"save_any_reg of a fourth kind",
         {0xe7, 0x03, 0xc5, 0xe4},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_RESERVED, 0, false, 0, 3}},
        {"reserved, of two bytes",
         {0xf8, 0xe4, 0xe4, 0xe3},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_RESERVED, 0, false, 0, 2}},
        {"reserved, of five bytes",
         {0xfb, 0xe4, 0xe4, 0xe4, 0xe4, 0xe4},
         8,
         0,
         STOP_NONE,
         2,
         {ARM64_RESERVED, 0, false, 0, 5}},
        {"reserved, of one",
         {0xfd, 0xe4, 0xe3, 0xe3},
         4,
         0,
         STOP_NONE,
         2,
         {ARM64_RESERVED, 0, false, 0, 1}},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arm64_info info = {.code_bytes = rows[i].bytes,
                                  .codes_va = WORLD_BASE_VA + WORLD_XDATA_RVA};
        struct arm64_code got[16];
        uint32_t count = 9;
        test_row(rows[i].name);
        world_init(&w, PE_MACHINE_ARM64);
        world_put(&w, WORLD_XDATA_RVA, rows[i].raw, sizeof rows[i].raw);
        CHECK_EQ(arm64_codes_read(&w.process, &info, rows[i].index, got, COUNT_OF(got), &count),
                 rows[i].stop);
        if (CHECK_EQ(count, rows[i].count) && count > 0) {
            CHECK_EQ(got[0].op, rows[i].first.op);
            CHECK_EQ(got[0].reg, rows[i].first.reg);
            CHECK_EQ(got[0].writeback, rows[i].first.writeback);
            CHECK_EQ(got[0].bytes, rows[i].first.bytes);
            CHECK_EQ(got[0].raw_bytes, rows[i].first.raw_bytes);
        }
        world_free(&w);
    }
}
