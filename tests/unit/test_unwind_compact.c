/* The unwind table of macOS, made here: <mach-o/compact_unwind_encoding.h> of Apple's libunwind.
 * The numbers of registers are DWARF's: rbx 3, rbp 6, rsp 7, r12 12 and on; x19 19 and on, fp 29,
 * lr 30, sp 31. */
#include <string.h>

#include "test.h"
#include "unwind/compact.h"

enum {
    BEGIN = 0x100,
    FILE_BYTES = 0x400,
    COMMON_AT = 28,
    INDEX_AT = 36,
    FIRST_PAGE = 72,
    SECOND_PAGE = 96,
    INFO_BYTES = 124,
    SAVED_MAX = 4,
    FRAME = 1 << 24, /* x86-64 */
    STACK = 2 << 24,
    STACK_LARGE = 3 << 24,
    DWARF = 4 << 24,
    ARM_STACK = 2 << 24,
    ARM_DWARF = 3 << 24,
    ARM_FRAME = 4 << 24,
};

struct made {
    uint8_t file[FILE_BYTES], info[INFO_BYTES];
    struct macho macho;
    struct compact compact;
};

static void put(struct made *m, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        m->info[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

/* A regular page with functions at 0x100 and 0x1c0, and a compressed one with 0x200, 0x240 and
 * 0x280, whose words are two common ones and one of its own. WORD: that of 0x100. */
static void make(struct made *m, bool is_arm64, uint32_t word)
{
    const uint32_t words[][2] = {
        {0, 1},
        {4, COMMON_AT},
        {8, 2},
        {20, INDEX_AT},
        {24, 3},
        {COMMON_AT, STACK | 5 << 16},
        {COMMON_AT + 4, STACK | 6 << 16},
        {INDEX_AT, BEGIN},
        {INDEX_AT + 4, FIRST_PAGE},
        {INDEX_AT + 12, 0x200},
        {INDEX_AT + 16, SECOND_PAGE},
        {INDEX_AT + 24, 0x300}, /* where the last function ends */
        {FIRST_PAGE, 2},
        {FIRST_PAGE + 4, 8 | 2 << 16},
        {FIRST_PAGE + 8, BEGIN},
        {FIRST_PAGE + 12, word},
        {FIRST_PAGE + 16, 0x1c0},
        {FIRST_PAGE + 20, STACK | 4 << 16},
        {SECOND_PAGE, 3},
        {SECOND_PAGE + 4, 12 | 3 << 16},
        {SECOND_PAGE + 8, 24 | 1 << 16},
        {SECOND_PAGE + 12, 0 << 24 | 0x00},
        {SECOND_PAGE + 16, 1 << 24 | 0x40},
        {SECOND_PAGE + 20, 2 << 24 | 0x80},
        {SECOND_PAGE + 24, STACK | 7 << 16},
    };
    memset(m, 0, sizeof *m);
    memset(m->file, 0x90, sizeof m->file);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        put(m, words[i][0], words[i][1]);
    m->macho = (struct macho){.data = m->file, .bytes = sizeof m->file};
    m->compact = (struct compact){&m->macho, {m->info, sizeof m->info}, is_arm64};
}

TEST(each_address_has_the_word_of_its_function)
{
    static const struct {
        uint32_t rva, begin, end, size; /* SIZE: in eights; 0: none */
    } rows[] = {
        {0xff, 0, 0, 0},          {0x101, 0x100, 0x1c0, 3}, {0x1bf, 0x100, 0x1c0, 3},
        {0x1c1, 0x1c0, 0x200, 4}, {0x1ff, 0x1c0, 0x200, 4}, {0x201, 0x200, 0x240, 5},
        {0x23f, 0x200, 0x240, 5}, {0x241, 0x240, 0x280, 6}, {0x281, 0x280, 0x300, 7},
        {0x2ff, 0x280, 0x300, 7}, {0x300, 0, 0, 0},
    };
    struct made m;
    make(&m, false, STACK | 3 << 16);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t begin = 0, end = 0;
        struct cfi_row row;
        const enum compact_answer got = compact_find(&m.compact, rows[i].rva, &begin, &end, &row);
        CHECK_EQ(got, rows[i].size != 0 ? COMPACT_ROW : COMPACT_NONE);
        if (got == COMPACT_ROW && rows[i].size != 0) {
            CHECK_HEX(begin, rows[i].begin);
            CHECK_HEX(end, rows[i].end);
            CHECK_EQ(row.cfa_register, 7);
            CHECK_EQ(row.cfa_offset, rows[i].size * 8);
        }
    }
}

#define PUSH_RBP 0x55
#define MOV_RBP 0x48, 0x89, 0xe5
#define SET_FP 0xfd, 0x43, 0x00, 0x91 /* add x29, sp, #16 */
#define ARM_RET 0xc0, 0x03, 0x5f, 0xd6

static const struct {
    const char *name;
    bool is_arm64;
    uint32_t word, into;
    uint8_t code[12];
    enum compact_answer answer;
    uint32_t cfa;
    int32_t offset, saved[SAVED_MAX][2]; /* register and distance from the CFA; 0: no more */
} rows[] = {
    {"rbp: in the body",
     false,
     FRAME,
     4,
     {PUSH_RBP, MOV_RBP},
     COMPACT_ROW,
     6,
     16,
     {{16, -8}, {6, -16}}},
    {"before its first instruction",
     false,
     FRAME,
     0,
     {PUSH_RBP, MOV_RBP},
     COMPACT_ROW,
     7,
     8,
     {{16, -8}}},
    {"after push rbp",
     false,
     FRAME,
     1,
     {PUSH_RBP, MOV_RBP},
     COMPACT_ROW,
     7,
     16,
     {{16, -8}, {6, -16}}},
    {"in the middle of mov", false, FRAME, 3, {PUSH_RBP, MOV_RBP}, COMPACT_NONE, 0, 0, {{0}}},
    {"at ret", false, FRAME, 5, {PUSH_RBP, MOV_RBP, 0x5d, 0xc3}, COMPACT_ROW, 7, 8, {{16, -8}}},
    {"a part that begins within a function",
     false,
     FRAME | 0x80000000u,
     0,
     {0x90},
     COMPACT_NONE,
     0,
     0,
     {{0}}},
    {"rbx and r12 from 32 below",
     false,
     FRAME | 2 << 16 | 2 << 3 | 1,
     4,
     {PUSH_RBP, MOV_RBP},
     COMPACT_ROW,
     6,
     16,
     {{6, -16}, {3, -32}, {12, -24}}},
    {"the fifth place",
     false,
     FRAME | 5 << 16 | 5 << 12,
     4,
     {PUSH_RBP, MOV_RBP},
     COMPACT_ROW,
     6,
     16,
     {{15, -24}}},
    {"a register of no number",
     false,
     FRAME | 6,
     4,
     {PUSH_RBP, MOV_RBP},
     COMPACT_NONE,
     0,
     0,
     {{0}}},
    {"40 bytes, rbx and r12",
     false,
     STACK | 5 << 16 | 2 << 10,
     4,
     {0x90},
     COMPACT_ROW,
     7,
     40,
     {{16, -8}, {3, -24}, {12, -16}}},
    {"the same, the other way round",
     false,
     STACK | 5 << 16 | 2 << 10 | 5,
     4,
     {0x90},
     COMPACT_ROW,
     7,
     40,
     {{12, -24}, {3, -16}}},
    {"all six",
     false,
     STACK | 8 << 16 | 6 << 10,
     4,
     {0x90},
     COMPACT_ROW,
     7,
     64,
     {{3, -56}, {12, -48}, {15, -24}, {6, -16}}},
    {"seven are none", false, STACK | 8 << 16 | 7 << 10, 4, {0x90}, COMPACT_NONE, 0, 0, {{0}}},
    {"the size is in sub rsp, 0x100, and two pushes",
     false,
     STACK_LARGE | 3 << 16 | 2 << 13,
     9,
     {0x48, 0x81, 0xec, 0x00, 0x01, 0, 0},
     COMPACT_ROW,
     7,
     0x110,
     {{16, -8}}},
    {"elsewhere", false, DWARF | 0x123, 4, {0x90}, COMPACT_DWARF, 0, 0, {{0}}},
    {"no word", false, 0, 4, {0x90}, COMPACT_NONE, 0, 0, {{0}}},
    {"another mode", false, 7 << 24, 4, {0x90}, COMPACT_NONE, 0, 0, {{0}}},
    {"fp: in the body",
     true,
     ARM_FRAME,
     8,
     {0, 0, 0, 0, SET_FP},
     COMPACT_ROW,
     29,
     16,
     {{29, -16}, {30, -8}}},
    {"before fp is set", true, ARM_FRAME, 4, {0, 0, 0, 0, SET_FP}, COMPACT_NONE, 0, 0, {{0}}},
    {"132 bytes in, where no prologue is",
     true,
     ARM_FRAME,
     132,
     {0},
     COMPACT_ROW,
     29,
     16,
     {{29, -16}, {30, -8}}},
    {"128 bytes in", true, ARM_FRAME, 128, {0}, COMPACT_NONE, 0, 0, {{0}}},
    {"before its first instruction", true, ARM_FRAME, 0, {0}, COMPACT_ROW, 31, 0, {{0}}},
    {"at ret", true, ARM_FRAME, 8, {0, 0, 0, 0, SET_FP, ARM_RET}, COMPACT_ROW, 31, 0, {{0}}},
    {"48 bytes without a frame", true, ARM_STACK | 3 << 12, 4, {0}, COMPACT_ROW, 31, 48, {{0}}},
    {"x19, x20 and x23, x24 below the frame",
     true,
     ARM_FRAME | 5,
     8,
     {0, 0, 0, 0, SET_FP},
     COMPACT_ROW,
     29,
     16,
     {{19, -24}, {20, -32}, {23, -40}, {24, -48}}},
    {"x19, x20 from the CFA",
     true,
     ARM_STACK | 1 << 12 | 1,
     4,
     {0},
     COMPACT_ROW,
     31,
     16,
     {{19, -8}, {20, -16}}},
    {"elsewhere", true, ARM_DWARF | 0x123, 4, {0}, COMPACT_DWARF, 0, 0, {{0}}},
    {"a mode of x86-64", true, FRAME, 4, {0}, COMPACT_NONE, 0, 0, {{0}}},
};

TEST(words_state_the_shape_of_a_frame)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t begin, end;
        struct cfi_row row;
        struct made m;
        make(&m, rows[i].is_arm64, rows[i].word);
        memcpy(m.file + BEGIN, rows[i].code, sizeof rows[i].code);
        test_row(rows[i].name);
        const enum compact_answer got =
            compact_find(&m.compact, BEGIN + rows[i].into, &begin, &end, &row);
        CHECK_EQ(got, rows[i].answer);
        if (got != COMPACT_ROW || rows[i].answer != COMPACT_ROW)
            continue;
        CHECK_EQ(row.cfa_register, rows[i].cfa);
        CHECK_EQ(row.cfa_offset, rows[i].offset);
        for (size_t k = 0; k < SAVED_MAX && rows[i].saved[k][1] != 0; k++) {
            CHECK_EQ(row.rules[rows[i].saved[k][0]].kind, CFI_AT);
            CHECK_EQ(row.rules[rows[i].saved[k][0]].n, rows[i].saved[k][1]);
        }
    }
}

TEST(a_table_that_is_cut_answers_nothing_or_as_before)
{
    for (uint32_t bytes = 4; bytes <= INFO_BYTES; bytes++) {
        uint32_t begin, end;
        struct cfi_row row;
        struct made m;
        make(&m, false, STACK | 3 << 16);
        m.compact.info.bytes = bytes;
        for (uint32_t rva = 0xff; rva <= 0x300; rva += 0x20)
            (void)compact_find(&m.compact, rva, &begin, &end, &row);
        CHECK_EQ(compact_find(&m.compact, 0x281, &begin, &end, &row),
                 bytes == INFO_BYTES ? COMPACT_ROW : COMPACT_NONE);
    }
}
