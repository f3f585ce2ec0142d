/* x64 unwind information of version 3: records encoded by hand from Microsoft's page "x64 unwind
 * information V3", and what that says about them. */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "unwind/x64_info_v3.h"
#include "unwind_world.h"

enum { BEGIN = 0x1100, END = 0x1200, SP = 64, NOT = -1 };

/* push rsi; push rbx; sub rsp, 40 ... add rsp, 40; pop rbx; pop rsi; ret */
#define PROLOGUE 2, 1, 0
#define LEAVE(start_low, start_high) 3 << 3, start_low, start_high, 0, 0, 6, 0, 4, 5
#define POOL 0x48, 3 << 3 | 4, 6 << 3 | 4
static const uint8_t from_begin[] = {3, 6,    9, 3 | 2 << 5, PROLOGUE, LEAVE(0x80, 0),
                                     0, 0x20, 0, POOL};
static const uint8_t from_end[] = {3, 6,    9,    3 | 2 << 5, PROLOGUE, LEAVE(0xf9, 0xff),
                                   0, 0xe0, 0xff, POOL};
static const uint8_t wide_epilogue[] = {3, 6, 13,   3 | 1 << 5, PROLOGUE, 3 << 3 | 2, 0x80, 0,
                                        0, 0, 6,    0,          0,        0,          4,    0,
                                        5, 0, POOL, 0,          0,        0,          0,    0};

TEST(x64_v3_operations)
{
    static const struct {
        const char *name;
        uint8_t bytes[5];
        enum stop_reason stop;
        uint8_t op, info;
        uint32_t size;
    } rows[] = {
        {"push rax", {0x04}, STOP_NONE, X64_PUSH_NONVOL, 0, 0},
        {"push r15", {0x7c}, STOP_NONE, X64_PUSH_NONVOL, 15, 0},
        {"push r16", {0x84}, STOP_DATA_APX, 0, 0, 0},
        {"save", {0x66, 2, 1}, STOP_NONE, X64_SAVE_NONVOL, 12, 0x0102 * 8},
        {"save r31", {0xfe, 2, 1}, STOP_DATA_APX, 0, 0, 0},
        {"save far", {0x1d, 4, 3, 2, 1}, STOP_NONE, X64_SAVE_NONVOL_FAR, 3, 0x01020304},
        {"push of a register and the next", {0x1f}, STOP_DATA_APX, 0, 0, 0},
        {"the smallest small allocation", {0x08}, STOP_NONE, X64_ALLOC_SMALL, 0, 8},
        {"the largest", {0xf8}, STOP_NONE, X64_ALLOC_SMALL, 15, 128},
        {"large allocation", {0x02, 2, 1}, STOP_NONE, X64_ALLOC_LARGE, 0, 0x0102 * 8},
        {"huge allocation", {0x01, 4, 3, 2, 1}, STOP_NONE, X64_ALLOC_LARGE, 0, 0x01020304},
        {"save xmm15", {0xfa, 2, 1}, STOP_NONE, X64_SAVE_XMM128, 15, 0x0102 * 16},
        {"save xmm6 far", {0x69, 4, 3, 2, 1}, STOP_NONE, X64_SAVE_XMM128_FAR, 6, 0x01020304},
        {"frame rbp + 32", {0x00, 0x25}, STOP_NONE, X64_SET_FPREG, 0, 0},
        {"frame rax", {0x00, 0x20}, STOP_DATA_APX, 0, 0, 0},
        {"frame rsp", {0x00, 0x24}, STOP_DATA_APX, 0, 0, 0},
        {"machine frame", {0x03, 0}, STOP_NONE, X64_PUSH_MACHFRAME, 0, 0},
        {"machine frame with a code", {0x03, 1}, STOP_NONE, X64_PUSH_MACHFRAME, 1, 0},
        {"frame of another kind", {0x03, 2}, STOP_DATA_APX, 0, 0, 0},
        {"push2", {0x20, 0x6b}, STOP_DATA_APX, 0, 0, 0},
        {"push2, low bits of r15", {0xe0, 0x6b}, STOP_DATA_APX, 0, 0, 0},
        {"no operation: 11", {0x0b}, STOP_DATA_MALFORMED, 0, 0, 0},
        {"no operation: 0x10", {0x10}, STOP_DATA_MALFORMED, 0, 0, 0},
        {"no operation: 0x30", {0x30}, STOP_DATA_MALFORMED, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t xdata[10] = {3, 6, 3, 1, 5};
        static struct world w;
        struct x64_info info;
        memcpy(xdata + 5, rows[i].bytes, sizeof rows[i].bytes);
        world_init(&w, PE_MACHINE_X64);
        const uint32_t rva = world_xdata(&w, xdata, sizeof xdata);
        test_row(rows[i].name);
        CHECK_EQ(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info), rows[i].stop);
        if (rows[i].stop == STOP_NONE) {
            REQUIRE(info.code_count == 1);
            CHECK_EQ(info.codes[0].op, rows[i].op);
            if (rows[i].op != X64_SET_FPREG)
                CHECK_EQ(info.codes[0].info, rows[i].info);
            CHECK_HEX(info.codes[0].bytes, rows[i].size);
            CHECK_EQ(info.codes[0].prologue_offset, 6); /* where it has run: after its first byte */
            CHECK_EQ(info.frame_register, rows[i].op == X64_SET_FPREG ? 5 : 0);
            CHECK_EQ(info.frame_offset, rows[i].op == X64_SET_FPREG ? 32 : 0);
        }
        world_free(&w);
    }
}

/* The caller's pc is the mark of word SLOT; rbx and rsi those of words RBX and RSI, or unchanged.
 */
TEST(x64_v3_every_place_in_a_function)
{
    static const struct {
        const char *name;
        uint32_t into;
        enum pc_kind kind;
        int slot, rbx, rsi;
        enum unwind_where where;
    } rows[] = {
        {"at the start", 0, PC_INTERRUPTED, 0, NOT, NOT, WHERE_PROLOGUE},
        {"after push rsi", 1, PC_INTERRUPTED, 1, NOT, 0, WHERE_PROLOGUE},
        {"after push rbx", 2, PC_INTERRUPTED, 2, 0, 1, WHERE_PROLOGUE},
        {"after the prologue", 6, PC_INTERRUPTED, 7, 5, 6, WHERE_BODY},
        {"before the epilogue", 0x7f, PC_INTERRUPTED, 7, 5, 6, WHERE_BODY},
        {"its first instruction", 0x80, PC_INTERRUPTED, 7, 5, 6, WHERE_EPILOGUE},
        {"at pop rbx", 0x84, PC_INTERRUPTED, 2, 0, 1, WHERE_EPILOGUE},
        {"at pop rsi", 0x85, PC_INTERRUPTED, 1, NOT, 0, WHERE_EPILOGUE},
        {"a return address there", 0x85, PC_RETURN, 7, 5, 6, WHERE_BODY},
        {"at ret", 0x86, PC_INTERRUPTED, 0, NOT, NOT, WHERE_EPILOGUE},
        {"after it", 0x87, PC_INTERRUPTED, 7, 5, 6, WHERE_BODY},
        {"the second epilogue, of the same form", 0xa0, PC_INTERRUPTED, 7, 5, 6, WHERE_EPILOGUE},
        {"its pop rsi", 0xa5, PC_INTERRUPTED, 1, NOT, 0, WHERE_EPILOGUE},
        {"after it", 0xa7, PC_INTERRUPTED, 7, 5, 6, WHERE_BODY},
    };
    static const struct {
        const char *name;
        const uint8_t *xdata;
        uint32_t bytes, moved; /* of its first epilogue, from 0x80 on */
        bool second;
    } records[] = {
        {"from the start", from_begin, sizeof from_begin, 0, true},
        {"from the end", from_end, sizeof from_end, END - BEGIN - 7 - 0x80, false},
        {"epilogue of 16 bits", wide_epilogue, sizeof wide_epilogue, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(records); i++) {
        const size_t k = i % COUNT_OF(rows), record = i / COUNT_OF(rows);
        static struct world w;
        struct unwind_frame frame;
        char name[64];
        if (rows[k].into >= 0xa0 && !records[record].second)
            continue;
        if (strcmp(rows[k].name, "after it") == 0 && records[record].moved != 0)
            continue; /* that is the end of the function */
        const uint32_t into = rows[k].into + (rows[k].into >= 0x7f ? records[record].moved : 0);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END,
                       world_xdata(&w, records[record].xdata, records[record].bytes));
        struct unwind_walker walker =
            world_walker(&w, CPU_X64, BEGIN + into, SP, rows[k].kind, &frame);
        (void)snprintf(name, sizeof name, "%s: %s", records[record].name, rows[k].name);
        test_row(name);
        CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
        CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + (uint64_t)rows[k].slot);
        CHECK_HEX(walker.regs.sp, WORLD_STACK_VA + 8 * (SP + (uint64_t)rows[k].slot + 1));
        CHECK_HEX(walker.regs.r[3],
                  rows[k].rbx == NOT ? 0x1003 : WORLD_MARK + SP + (uint64_t)rows[k].rbx);
        CHECK_HEX(walker.regs.r[6],
                  rows[k].rsi == NOT ? 0x1006 : WORLD_MARK + SP + (uint64_t)rows[k].rsi);
        CHECK_EQ(frame.where, rows[k].where);
        world_free(&w);
    }
}

/* The second epilogue that is counted from the end begins 0x20 bytes before the first one. */
TEST(x64_v3_epilogues_from_the_end_go_down)
{
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, from_end, sizeof from_end));
    struct unwind_walker walker =
        world_walker(&w, CPU_X64, END - 7 - 0x20 + 4, SP, PC_INTERRUPTED, &frame);
    CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 2);
    CHECK_EQ(frame.where, WHERE_EPILOGUE);
    world_free(&w);
}

/* push rbp; sub rsp, 48; lea rbp, [rsp+32]; mov [rsp+16], rbx; then rsp moved. */
TEST(x64_v3_saves_count_from_the_frame_register)
{
    static const uint8_t xdata[] = {3,    15, 6, 4,    10,   5,    1,    0,
                                    0x1e, 2,  0, 0x00, 0x25, 0x58, 0x2c, 0};
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
    struct unwind_walker walker =
        world_walker(&w, CPU_X64, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
    walker.regs.r[5] = WORLD_STACK_VA + 8 * (SP + 10) + 32;
    CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
    CHECK_HEX(walker.regs.r[3], WORLD_MARK + SP + 12);
    CHECK_HEX(walker.regs.r[5], WORLD_MARK + SP + 16);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 17);
    /* before the frame register is set, after the allocation */
    walker = world_walker(&w, CPU_X64, BEGIN + 5, SP, PC_INTERRUPTED, &frame);
    CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
    CHECK_HEX(walker.regs.r[3], 0x1003);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 7);
    world_free(&w);
}

TEST(x64_v3_machine_frames)
{
    for (uint8_t code = 0; code < 2; code++) {
        const uint8_t xdata[] = {3, 1, 2, 1, 0, 3, code, 0};
        static struct world w;
        struct unwind_frame frame;
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
        struct unwind_walker walker =
            world_walker(&w, CPU_X64, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
        test_row(code == 0 ? "without a code" : "with a code");
        CHECK_EQ(unwind_step_x64(&walker), STOP_NONE);
        CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + code);
        CHECK_HEX(walker.regs.sp, WORLD_MARK + SP + code + 3);
        CHECK_EQ(walker.caller_kind, PC_INTERRUPTED);
        world_free(&w);
    }
}

/* A walker in a part at 0x1180 that chains to PARENT: XDATA's last 12 bytes are its row. */
static struct unwind_walker in_part(struct world *w, const uint8_t *parent, size_t parent_bytes,
                                    uint8_t *xdata, size_t bytes, struct unwind_frame *frame)
{
    world_init(w, PE_MACHINE_X64);
    const uint32_t rva = world_xdata(w, parent, parent_bytes);
    const uint32_t row[] = {BEGIN, 0x1180, rva};
    for (size_t i = 0; i < 12; i++)
        xdata[bytes - 12 + i] = (uint8_t)(row[i / 4] >> 8 * (i % 4));
    world_function(w, BEGIN, 0x1180, rva);
    world_function(w, 0x1180, END, world_xdata(w, xdata, bytes));
    return world_walker(w, CPU_X64, 0x11a0, SP, PC_INTERRUPTED, frame);
}

TEST(x64_v3_chained_parts)
{
    static const uint8_t framed[] = {3, 10, 3, 2, 1, 0, 0x00, 0x25, 0x2c, 0};
    static const struct {
        const char *name;
        uint8_t xdata[20];
        const uint8_t *parent;
        size_t parent_bytes;
        enum stop_reason stop; /* why its unwind data is not used */
    } rows[] = {
        {"push rdi, then all of the parent",
         {0x23, 1, 1, 1, 0, 0x3c},
         from_begin,
         sizeof from_begin,
         STOP_NONE},
        {"an epilogue that goes back to the parent",
         {0x23, 0, 4, 1 << 5, 1 << 3 | 1, 0x20, 0, 0, 0, 0, 0, 0x3c},
         from_begin,
         sizeof from_begin,
         STOP_DATA_APX},
        {"a save, in a function with a frame register",
         {0x23, 1, 2, 1, 0, 0x1e, 1, 0},
         framed,
         sizeof framed,
         STOP_DATA_APX},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct world w;
        struct unwind_frame frame;
        uint8_t xdata[24] = {0};
        const size_t bytes = 4 + ((rows[i].xdata[2] * 2u + 3) & ~3u) + 12;
        memcpy(xdata, rows[i].xdata, bytes - 12);
        test_row(rows[i].name);
        struct unwind_walker walker =
            in_part(&w, rows[i].parent, rows[i].parent_bytes, xdata, bytes, &frame);
        const enum stop_reason stop = unwind_step_x64(&walker);
        if (rows[i].stop == STOP_NONE) {
            CHECK_EQ(stop, STOP_NONE);
            CHECK_HEX(walker.regs.r[7], WORLD_MARK + SP);
            CHECK_HEX(walker.regs.r[3], WORLD_MARK + SP + 6);
            CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 8);
        } else {
            CHECK_EQ(walker.caller_note, frame_note_of_stop(rows[i].stop));
        }
        world_free(&w);
    }
}

/* mov [rsp+8], rbx; push rsi. Of which rsp the save is an offset, the page does not say. */
TEST(x64_v3_a_save_before_a_push)
{
    static const uint8_t xdata[] = {3, 6, 3, 2, 5, 0, 0x34, 0x1e, 1, 0};
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof xdata));
    struct unwind_walker walker = world_walker(&w, CPU_X64, BEGIN + 5, SP, PC_INTERRUPTED, &frame);
    CHECK_EQ(unwind_step_x64(&walker), STOP_NONE); /* only the save has run */
    CHECK_HEX(walker.regs.r[3], WORLD_MARK + SP + 1);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP);
    walker = world_walker(&w, CPU_X64, BEGIN + 6, SP, PC_INTERRUPTED, &frame);
    (void)unwind_step_x64(&walker);
    CHECK_EQ(walker.caller_note, frame_note_of_stop(STOP_DATA_APX));
    world_free(&w);
}

TEST(x64_v3_order_of_saves)
{
    enum {
        PUSH = X64_PUSH_NONVOL,
        SAVE = X64_SAVE_NONVOL,
        XMM = X64_SAVE_XMM128,
        FRAME = X64_SET_FPREG,
        SMALL = X64_ALLOC_SMALL
    };
    static const struct {
        const char *name;
        uint8_t count, ops[4];
        bool certain;
    } rows[] = {
        {"none", 0, {0}, true},
        {"no save", 3, {SMALL, FRAME, PUSH}, true},
        {"saved after the allocation", 3, {SAVE, XMM, SMALL}, true},
        {"before it", 2, {SMALL, SAVE}, false},
        {"before a push", 2, {PUSH, XMM}, false},
        {"after the frame register was set", 3, {SAVE, FRAME, SMALL}, true},
        {"just before that", 3, {SMALL, FRAME, SAVE}, true},
        {"an allocation between", 3, {SAVE, SMALL, FRAME}, false},
        {"an allocation later", 4, {FRAME, SMALL, SAVE, PUSH}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct x64_code codes[4] = {{0}};
        for (size_t k = 0; k < rows[i].count; k++)
            codes[k].op = rows[i].ops[k];
        test_row(rows[i].name);
        CHECK_EQ(x64_saves_are_certain(codes, rows[i].count), rows[i].certain);
    }
}

TEST(x64_v3_damaged_records)
{
    static const struct {
        const char *name;
        uint8_t bytes[16];
        enum stop_reason stop;
    } rows[] = {
        {"nothing", {3}, STOP_NONE},
        {"31 operations and no payload", {3, 0, 0, 31}, STOP_DATA_MALFORMED},
        {"7 epilogues and no payload", {3, 0, 0, 7 << 5}, STOP_DATA_MALFORMED},
        {"no room for the high byte", {0x43, 0, 0, 0}, STOP_DATA_MALFORMED},
        {"the first epilogue of no form", {3, 0, 2, 1 << 5, 0, 0x80}, STOP_DATA_MALFORMED},
        {"epilogues that go up",
         {3, 0, 6, 2 << 5, 8, 0x10, 0, 0, 0, 0, 0, 0, 0x10, 0, 0x34},
         STOP_NONE},
        {"up and down",
         {3, 0, 6, 2 << 5, 8, 0x10, 0, 0, 0, 0, 0, 0, 0xf0, 0xff, 0x34},
         STOP_DATA_MALFORMED},
        {"operations that begin after the pool",
         {3, 0, 4, 1 << 5, 8, 0x10, 0, 2, 0, 0, 0, 0x34},
         STOP_DATA_MALFORMED},
        {"at its end", {3, 0, 4, 1 << 5, 8, 0x10, 0, 1, 0, 0, 0, 0x34}, STOP_DATA_MALFORMED},
        {"in it", {3, 0, 4, 1 << 5, 8, 0x10, 0, 0, 0, 0, 0, 0x34}, STOP_NONE},
        {"reserved flag", {0x83}, STOP_DATA_RESERVED},
        {"reserved flag of an epilogue",
         {3, 0, 4, 1 << 5, 12, 0x10, 0, 0, 0, 0, 0, 0x34},
         STOP_DATA_RESERVED},
        {"a prologue that goes up", {3, 2, 2, 2, 0, 1, 0x34, 0x1c}, STOP_DATA_MALFORMED},
        {"two operations of one instruction", {3, 2, 2, 2, 1, 1, 0x34, 0x1c}, STOP_NONE},
        {"an epilogue that goes down",
         {3, 0, 5, 1 << 5, 16, 0x10, 0, 0, 0, 5, 5, 0, 0x34, 0x1c},
         STOP_DATA_MALFORMED},
        {"an instruction at 0xffff",
         {0x43, 0xff, 2, 1, 0xff, 0xff, 0xff, 0x34},
         STOP_DATA_MALFORMED},
        {"an operation that is cut", {3, 1, 1, 1, 0, 2}, STOP_DATA_MALFORMED},
        {"two frame registers", {3, 9, 3, 2, 4, 0, 0x00, 0x25, 0x00, 0x23}, STOP_DATA_APX},
        {"one, twice", {3, 9, 3, 2, 4, 0, 0x00, 0x25, 0x00, 0x25}, STOP_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct world w;
        struct x64_info info;
        world_init(&w, PE_MACHINE_X64);
        const uint32_t rva = world_xdata(&w, rows[i].bytes, sizeof rows[i].bytes);
        test_row(rows[i].name);
        CHECK_EQ(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info), rows[i].stop);
        world_free(&w);
    }
}

TEST(x64_v3_long_prologues)
{
    static const uint8_t xdata[] = {0x43, 0x0a, 2, 1, 0x01, 0x05, 0x01, 0x34};
    static struct world w;
    struct x64_info info;
    world_init(&w, PE_MACHINE_X64);
    const uint32_t rva = world_xdata(&w, xdata, sizeof xdata);
    REQUIRE(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info) == STOP_NONE);
    CHECK_EQ(info.prologue_bytes, 0x10a);
    REQUIRE(info.code_count == 1);
    CHECK_EQ(info.codes[0].prologue_offset, 0x106);
    CHECK_EQ(info.codes[0].info, 6);
    world_free(&w);
}

/* Each byte of a record that is not there, and each word of payload that its head denies. */
TEST(x64_v3_every_truncation)
{
    static struct world w;
    uint8_t xdata[sizeof from_begin + 6] = {0};
    struct x64_info info;
    char name[16];
    memcpy(xdata, from_begin, sizeof from_begin);
    xdata[0] |= 1 << 3; /* a handler, at a multiple of 4 */
    memset(xdata + sizeof from_begin + 2, 0x11, 4);
    world_init(&w, PE_MACHINE_X64);
    const uint32_t rva = world_xdata(&w, xdata, sizeof xdata);
    REQUIRE(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info) == STOP_NONE);
    CHECK_HEX(info.handler_rva, 0x11111111);
    for (uint32_t n = 0; n < sizeof from_begin; n++) {
        (void)snprintf(name, sizeof name, "%u bytes", (unsigned)n);
        test_row(name);
        w.missing = (struct unwind_range){rva + n, rva + 0x100};
        CHECK_EQ(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info), STOP_DATA_MISSING);
    }
    w.missing = (struct unwind_range){0, 0};
    for (uint8_t words = 0; words < 9; words++) {
        (void)snprintf(name, sizeof name, "%u words", (unsigned)words);
        test_row(name);
        xdata[2] = words;
        world_put(&w, rva, xdata, sizeof xdata);
        CHECK_EQ(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info), STOP_DATA_MALFORMED);
    }
    world_free(&w);
}

/* Any four bytes as a head, of payload that is all ones or all of one operation: an end in time. */
TEST(x64_v3_any_counts)
{
    static const uint8_t fill[] = {0x00, 0x04, 0x08, 0x0a, 0xff};
    static struct world w;
    world_init(&w, PE_MACHINE_X64);
    uint8_t xdata[4 + 510 + 2 + 12];
    const uint32_t rva = world_xdata(&w, xdata, 0);
    for (size_t f = 0; f < COUNT_OF(fill); f++)
        for (uint32_t counts = 0; counts < 256; counts++)
            for (uint32_t words = 0; words < 256; words += 15) {
                struct x64_info info;
                memset(xdata, fill[f], sizeof xdata);
                xdata[0] = 3;
                xdata[2] = (uint8_t)words;
                xdata[3] = (uint8_t)counts;
                world_put(&w, rva, xdata, sizeof xdata);
                if (x64_info_read(&w.process, WORLD_BASE_VA, rva, &info) != STOP_NONE)
                    continue;
                CHECK_EQ(info.code_count, counts & 31);
                CHECK_EQ(info.epilogue_count, counts >> 5);
            }
    world_free(&w);
}
