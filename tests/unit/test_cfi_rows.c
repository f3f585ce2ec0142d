/* Call frame information byte by byte: instructions as DWARF 5, 6.4.2 and 7.24, numbers them,
 * augmentations and encodings of addresses as the Linux Standard Base (Core, 10.6) has them. */
#include <string.h>

#include "base/array.h"
#include "format/dwarf/cfi.h"
#include "test.h"

enum { BEGIN = 0x401000, BYTES = 0x100, CODE = 4, DATA = -8, RA = 16, FP = 6, SP = 7 };

static const struct {
    const char *name;
    uint8_t code[16], bytes;
    uint32_t reg; /* whose rule is asked */
    enum cfi_kind kind;
    int64_t n;
    uint64_t cfa_register;
    int64_t cfa_offset;
    uint32_t before; /* bytes into the function at which it has not run; 0: it runs at once */
} instructions[] = {
    /* The common part says def_cfa rsp + 8, and the return address at CFA - 8. */
    {"none", {0}, 0, FP, CFI_SAME, 0, SP, 8, 0},
    {"nop", {0x00}, 1, FP, CFI_SAME, 0, SP, 8, 0},
    {"set of the return address stays", {0x00}, 1, RA, CFI_AT, -8, SP, 8, 0},
    {"advance_loc", {0x41, 0x0e, 16}, 3, FP, CFI_SAME, 0, SP, 16, 4},
    {"advance_loc 63", {0x7f, 0x0e, 16}, 3, FP, CFI_SAME, 0, SP, 16, 252},
    {"advance_loc1", {0x02, 3, 0x0e, 16}, 4, FP, CFI_SAME, 0, SP, 16, 12},
    {"advance_loc2", {0x03, 5, 0, 0x0e, 16}, 5, FP, CFI_SAME, 0, SP, 16, 20},
    {"advance_loc4", {0x04, 6, 0, 0, 0, 0x0e, 16}, 7, FP, CFI_SAME, 0, SP, 16, 24},
    {"offset", {0x86, 2}, 2, FP, CFI_AT, -16, SP, 8, 0},
    {"offset of two bytes", {0x86, 0x80, 1}, 3, FP, CFI_AT, -1024, SP, 8, 0},
    {"restore", {0x90, 5, 0xd0}, 3, RA, CFI_AT, -8, SP, 8, 0},
    {"restore of what was not changed first", {0x86, 2, 0xc6}, 3, FP, CFI_SAME, 0, SP, 8, 0},
    {"offset_extended", {0x05, 6, 3}, 3, FP, CFI_AT, -24, SP, 8, 0},
    {"restore_extended", {0x86, 2, 0x06, 6}, 4, FP, CFI_SAME, 0, SP, 8, 0},
    {"undefined", {0x07, 6}, 2, FP, CFI_UNDEFINED, 0, SP, 8, 0},
    {"same_value", {0x86, 2, 0x08, 6}, 4, FP, CFI_SAME, 0, SP, 8, 0},
    {"register", {0x09, 6, 3}, 3, FP, CFI_REGISTER, 3, SP, 8, 0},
    {"remember_state, restore_state",
     {0x0a, 0x86, 2, 0x0e, 32, 0x0b},
     6,
     FP,
     CFI_SAME,
     0,
     SP,
     8,
     0},
    {"def_cfa", {0x0c, 6, 24}, 3, FP, CFI_SAME, 0, FP, 24, 0},
    {"def_cfa_register", {0x0d, 6}, 2, FP, CFI_SAME, 0, FP, 8, 0},
    {"def_cfa_offset", {0x0e, 0x90, 1}, 3, FP, CFI_SAME, 0, SP, 144, 0},
    {"offset_extended_sf", {0x11, 6, 0x7e}, 3, FP, CFI_AT, 16, SP, 8, 0},
    {"def_cfa_sf", {0x12, 6, 0x7e}, 3, FP, CFI_SAME, 0, FP, 16, 0},
    {"def_cfa_offset_sf", {0x13, 0x7d}, 2, FP, CFI_SAME, 0, SP, 24, 0},
    {"val_offset", {0x14, 6, 2}, 3, FP, CFI_VALUE, -16, SP, 8, 0},
    {"val_offset_sf", {0x15, 6, 0x7e}, 3, FP, CFI_VALUE, 16, SP, 8, 0},
    {"expression", {0x10, 6, 2, 0x77, 8}, 5, FP, CFI_AT_BLOCK, 0, SP, 8, 0},
    {"val_expression", {0x16, 6, 2, 0x77, 8}, 5, FP, CFI_VALUE_BLOCK, 0, SP, 8, 0},
    {"a CFA after an expression", {0x0f, 1, 0x57, 0x0c, 6, 24}, 6, FP, CFI_SAME, 0, FP, 24, 0},
    {"AARCH64_negate_ra_state_with_pc", {0x2c, 0x0e, 16}, 3, FP, CFI_SAME, 0, SP, 16, 0},
    {"AARCH64_negate_ra_state", {0x2d, 0x0e, 16}, 3, FP, CFI_SAME, 0, SP, 16, 0},
    {"GNU_args_size", {0x2e, 0x90, 1, 0x0e, 16}, 5, FP, CFI_SAME, 0, SP, 16, 0},
    {"GNU_negative_offset_extended", {0x2f, 6, 2}, 3, FP, CFI_AT, 16, SP, 8, 0},
    {"a register that no processor has", {0x0c, 33, 8}, 3, FP, CFI_SAME, 0, CFI_NO_REGISTER, 8, 0},
    {"the last register that one has", {0x0c, 32, 8}, 3, FP, CFI_SAME, 0, 32, 8, 0},
    {"a rule of the last register", {0x05, 32, 3}, 3, 32, CFI_AT, -24, SP, 8, 0},
    {"a rule of one that no processor has", {0x05, 33, 3}, 3, 32, CFI_SAME, 0, SP, 8, 0},
};

static struct cfi_entry entry_of(const uint8_t *code, size_t bytes, struct fault *fault)
{
    static const uint8_t common[] = {0x0c, SP, 8, 0x80 | RA, 1};
    return (struct cfi_entry){.begin_va = BEGIN,
                              .end_va = BEGIN + BYTES,
                              .code_align = CODE,
                              .data_align = DATA,
                              .return_register = RA,
                              .initial = bytes_over(common, sizeof common, fault),
                              .own = bytes_over(code, bytes, fault)};
}

TEST(instructions_make_rows)
{
    for (size_t i = 0; i < COUNT_OF(instructions); i++) {
        struct fault fault = FAULT_INIT;
        const struct cfi_entry entry =
            entry_of(instructions[i].code, instructions[i].bytes, &fault);
        struct cfi_row row;
        test_row(instructions[i].name);
        CHECK(cfi_row_at(&entry, BEGIN + instructions[i].before, &row));
        CHECK_EQ(row.rules[instructions[i].reg].kind, instructions[i].kind);
        CHECK_EQ(row.rules[instructions[i].reg].n, instructions[i].n);
        CHECK_EQ(row.cfa_register, instructions[i].cfa_register);
        CHECK_EQ(row.cfa_offset, instructions[i].cfa_offset);
        CHECK(row.cfa_block == NULL);
        if (instructions[i].kind == CFI_AT_BLOCK || instructions[i].kind == CFI_VALUE_BLOCK) {
            CHECK(row.rules[FP].block == instructions[i].code + 3);
            CHECK_EQ(row.rules[FP].block_bytes, 2);
        }
        if (instructions[i].before != 0) {
            CHECK(cfi_row_at(&entry, BEGIN + instructions[i].before - 1, &row));
            CHECK_EQ(row.cfa_offset, 8);
        }
        for (size_t cut = 1; cut < instructions[i].bytes; cut++) { /* cut or not, it is no crash */
            struct fault ignored = FAULT_INIT;
            const struct cfi_entry part = entry_of(instructions[i].code, cut, &ignored);
            (void)cfi_row_at(&part, BEGIN + BYTES - 1, &row);
        }
    }
}

TEST(a_cfa_by_an_expression)
{
    static const uint8_t code[] = {0x0f, 2, 0x77, 8};
    struct fault fault = FAULT_INIT;
    const struct cfi_entry entry = entry_of(code, sizeof code, &fault);
    struct cfi_row row;
    CHECK(cfi_row_at(&entry, BEGIN, &row));
    CHECK(row.cfa_block == code + 2);
    CHECK_EQ(row.cfa_block_bytes, 2);
}

TEST(instructions_that_are_not_understood)
{
    static const struct {
        const char *name;
        uint8_t code[20], bytes;
        bool good;
    } rows[] = {
        {"no number of an instruction: 0x01", {0x01}, 1, false},
        {"0x17", {0x17}, 1, false},
        {"0x3f", {0x3f}, 1, false},
        {"after the target they do not matter", {0x41, 0x3f}, 2, true},
        {"a state that was not remembered", {0x0b}, 1, false},
        {"16 states",
         {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
          0x0a},
         16,
         true},
        {"17 states",
         {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
          0x0a, 0x0a},
         17,
         false},
        {"an operand that is cut", {0x0c, 6}, 2, false},
        {"an expression that is cut", {0x0f, 3, 0x77, 8}, 4, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        const struct cfi_entry entry = entry_of(rows[i].code, rows[i].bytes, &fault);
        struct cfi_row row;
        test_row(rows[i].name);
        CHECK_EQ(cfi_row_at(&entry, BEGIN, &row), rows[i].good);
    }
}

struct listed {
    uint64_t va[4];
    int64_t offset[4];
    uint32_t count;
};

static void list(void *context, uint64_t va, const struct cfi_row *row)
{
    struct listed *to = context;
    REQUIRE(to->count < COUNT_OF(to->va));
    to->va[to->count] = va;
    to->offset[to->count++] = row->cfa_offset;
}

TEST(every_row_of_an_entry)
{
    static const uint8_t code[] = {0x41, 0x0e, 16, 0x42, 0x0e, 8};
    struct fault fault = FAULT_INIT;
    struct listed got = {0};
    const struct cfi_entry entry = entry_of(code, sizeof code, &fault);
    CHECK(cfi_each_row(&entry, list, &got));
    REQUIRE(got.count == 3);
    CHECK_HEX(got.va[0], BEGIN);
    CHECK_HEX(got.va[1], BEGIN + 4);
    CHECK_HEX(got.va[2], BEGIN + 12);
    CHECK_EQ(got.offset[0], 8);
    CHECK_EQ(got.offset[1], 16);
    CHECK_EQ(got.offset[2], 8);
}

/* A section: one common part of VERSION with these letters, and one function. */
struct section {
    uint8_t data[128];
    uint32_t bytes;
};

static void put(struct section *to, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to->data[to->bytes++] = (uint8_t)(value >> (8 * i));
}

enum { VA = 0x600000 };

static const struct {
    const char *name;
    uint8_t version, word_bytes;
    bool debug, wide;    /* wide: the format of 64 bits */
    const char *letters; /* of the augmentation */
    uint8_t data[12], data_bytes;
    uint8_t form;   /* bytes of an address in the function's entry */
    bool from_here; /* addresses are relative to their place */
    bool found, interrupts;
} sections[] = {
    {"no letters", 1, 8, false, false, "", {0}, 0, 8, false, true, false},
    {"no letters, 4 bytes", 1, 4, false, false, "", {0}, 0, 4, false, true, false},
    {"version 3", 3, 8, false, false, "", {0}, 0, 8, false, true, false},
    {"version 4", 4, 8, true, false, "", {0}, 0, 8, false, true, false},
    {"version 2", 2, 8, false, false, "", {0}, 0, 8, false, false, false},
    {"version 5", 5, 8, false, false, "", {0}, 0, 8, false, false, false},
    {".debug_frame", 3, 8, true, false, "", {0}, 0, 8, false, true, false},
    {".debug_frame of 64 bits", 3, 8, true, true, "", {0}, 0, 8, false, true, false},
    {".eh_frame with a length of 64 bits", 1, 8, false, true, "", {0}, 0, 8, false, true, false},
    {"R: a word", 1, 8, false, false, "zR", {0x00}, 1, 8, false, true, false},
    {"R: udata2", 1, 8, false, false, "zR", {0x02}, 1, 2, false, true, false},
    {"R: udata4", 1, 8, false, false, "zR", {0x03}, 1, 4, false, true, false},
    {"R: udata8", 1, 8, false, false, "zR", {0x04}, 1, 8, false, true, false},
    {"R: sdata2", 1, 8, false, false, "zR", {0x0a}, 1, 2, false, true, false},
    {"R: sdata4", 1, 8, false, false, "zR", {0x0b}, 1, 4, false, true, false},
    {"R: sdata8", 1, 8, false, false, "zR", {0x0c}, 1, 8, false, true, false},
    {"R: uleb128, which none uses", 1, 8, false, false, "zR", {0x01}, 1, 4, false, false, false},
    {"R: sdata4 from here", 1, 8, false, false, "zR", {0x1b}, 1, 4, true, true, false},
    {"R: sdata8 from here", 1, 8, false, false, "zR", {0x1c}, 1, 8, true, true, false},
    {"R: from the text", 1, 8, false, false, "zR", {0x2b}, 1, 4, false, false, false},
    {"R: from the data", 1, 8, false, false, "zR", {0x3b}, 1, 4, false, false, false},
    {"P, a word",
     1,
     8,
     false,
     false,
     "zPR",
     {0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x03},
     10,
     4,
     false,
     true,
     false},
    {"P, sdata4 from here",
     1,
     8,
     false,
     false,
     "zPR",
     {0x1b, 1, 2, 3, 4, 0x03},
     6,
     4,
     false,
     true,
     false},
    {"P, udata2", 1, 8, false, false, "zPR", {0x02, 1, 2, 0x03}, 4, 4, false, true, false},
    {"P, uleb128", 1, 8, false, false, "zPR", {0x01, 0x81, 2, 0x03}, 4, 4, false, true, false},
    {"P, sleb128", 1, 8, false, false, "zPR", {0x09, 0x81, 2, 0x03}, 4, 4, false, true, false},
    {"P, none", 1, 8, false, false, "zPR", {0xff, 0x03}, 2, 4, false, true, false},
    {"L", 1, 8, false, false, "zLR", {0x1b, 0x03}, 2, 4, false, true, false},
    {"P, L, R",
     1,
     8,
     false,
     false,
     "zPLR",
     {0x03, 1, 2, 3, 4, 0x1b, 0x03},
     7,
     4,
     false,
     true,
     false},
    {"S", 1, 8, false, false, "zRS", {0x03}, 1, 4, false, true, true},
    {"B", 1, 8, false, false, "zRB", {0x03}, 1, 4, false, true, false},
    {"an unknown letter after R",
     1,
     8,
     false,
     false,
     "zRx",
     {0x03, 1, 2},
     3,
     4,
     false,
     true,
     false},
    {"a letter without z", 1, 8, false, false, "R", {0x03}, 1, 4, false, false, false},
    {"more data than there is", 1, 8, false, false, "zR", {0x03}, 100, 4, false, false, false},
};

/* The record's length goes to AT once its end is known. */
static uint32_t start_record(struct section *s, bool wide)
{
    if (wide)
        put(s, UINT32_MAX, 4);
    put(s, 0, wide ? 8 : 4);
    return s->bytes;
}

static void end_record(struct section *s, uint32_t start, bool wide)
{
    const uint32_t length = s->bytes - start;
    s->data[start - (wide ? 8 : 4)] = (uint8_t)length;
}

TEST(forms_of_common_parts)
{
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        const bool debug = sections[i].debug, wide = sections[i].wide;
        const uint32_t id_bytes = wide && debug ? 8 : 4, form = sections[i].form;
        const uint32_t begin = form == 2 ? 0x7000 : BEGIN;
        struct section s = {{0}, 0};
        struct fault fault = FAULT_INIT;
        struct cfi_common last = {0};
        struct cfi_entry entry;
        bool is_function = true;
        uint64_t at = 0;
        test_row(sections[i].name);
        uint32_t start = start_record(&s, wide);
        put(&s, debug ? UINT64_MAX : 0, id_bytes);
        put(&s, sections[i].version, 1);
        for (const char *c = sections[i].letters; *c != '\0'; c++)
            put(&s, (uint8_t)*c, 1);
        put(&s, 0, 1);
        if (sections[i].version == 4)
            put(&s, 8, 2); /* sizes of an address and of a segment's number */
        put(&s, CODE, 1);
        put(&s, DATA & 0x7f, 1);
        put(&s, RA, 1);
        if (sections[i].data_bytes != 0) {
            put(&s, sections[i].data_bytes, 1);
            for (uint32_t k = 0; k < sections[i].data_bytes && k < 12; k++)
                put(&s, sections[i].data[k], 1);
        }
        put(&s, 0x0c | SP << 8 | 8 << 16, 3);
        end_record(&s, start, wide);
        const uint32_t function_at = s.bytes;
        start = start_record(&s, wide);
        put(&s, debug ? 0 : start, id_bytes); /* of its common part: where, or how far back */
        put(&s, sections[i].from_here ? begin - (VA + (uint64_t)s.bytes) : begin, form);
        put(&s, BYTES, form);
        if (sections[i].letters[0] == 'z')
            put(&s, 0, 1); /* no data of its own */
        put(&s, 0x0e | 16 << 8, 2);
        end_record(&s, start, wide);
        const struct cfi_section section = {s.data, s.bytes, VA, sections[i].word_bytes, debug};
        REQUIRE(cfi_next(&section, &at, &last, &fault, &is_function, &entry));
        CHECK(!is_function);
        CHECK_EQ(at, function_at);
        REQUIRE(cfi_next(&section, &at, &last, &fault, &is_function, &entry));
        CHECK_EQ(is_function, sections[i].found);
        CHECK_EQ(at, s.bytes);
        if (is_function) {
            struct cfi_row row;
            CHECK_HEX(entry.begin_va, begin);
            CHECK_HEX(entry.end_va, begin + BYTES);
            CHECK_EQ(entry.offset, function_at);
            CHECK_EQ(entry.code_align, CODE);
            CHECK_EQ(entry.data_align, DATA);
            CHECK_EQ(entry.return_register, RA);
            CHECK_EQ(entry.interrupts, sections[i].interrupts);
            CHECK(cfi_row_at(&entry, begin, &row));
            CHECK_EQ(row.cfa_register, SP);
            CHECK_EQ(row.cfa_offset, 16);
        }
        CHECK(!cfi_next(&section, &at, &last, &fault, &is_function, &entry));
    }
}

TEST(numbers_of_variable_length)
{
    static const struct {
        const char *name;
        uint8_t bytes[11], count;
        uint64_t value;
        int64_t signed_value;
    } rows[] = {
        {"2", {0x02}, 1, 2, 2},
        {"-2, 126", {0x7e}, 1, 126, -2},
        {"63", {0x3f}, 1, 63, 63},
        {"-64, 64", {0x40}, 1, 64, -64},
        {"127", {0xff, 0x00}, 2, 127, 127},
        {"-127, 16257", {0x81, 0x7f}, 2, 16257, -127},
        {"128", {0x80, 0x01}, 2, 128, 128},
        {"-129, 16255", {0xff, 0x7e}, 2, 16255, -129},
        {"12857", {0xb9, 0x64}, 2, 12857, -3527},
        {"-1 of 64 bits",
         {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
         10,
         UINT64_MAX,
         -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct bytes r = bytes_over(rows[i].bytes, rows[i].count, &fault);
        test_row(rows[i].name);
        CHECK_HEX(cfi_unsigned(&r), rows[i].value);
        CHECK_EQ(r.left, 0);
        r = bytes_over(rows[i].bytes, rows[i].count, &fault);
        CHECK_EQ(cfi_signed(&r), rows[i].signed_value);
        CHECK_EQ(fault.code, ERR_NONE);
    }
}
