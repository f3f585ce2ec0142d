/* x86 images with call frame information, as mingw and Wine make them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "unwind/cfi_table.h"
#include "unwind/x86_cfi.h"
#include "unwind/x86_dispatch.h"
#include "unwind_world.h"

enum {
    BEGIN = 0x1100, /* start of the function, which has 0x40 bytes */
    SP = 64,        /* an 8-byte word of the world's stack; other words here have 4 bytes */
    EBP_WORD = 6,
    RETURN = 0x401500,
    BASE = 0x400000,
    SECTION = WORLD_XDATA_RVA,
    WORDS = 16,
};

/* The common part (CIE) that gcc and clang emit: "zR", code factor 1, data factor -4, addresses
 * relative to themselves. The CFA is esp + 4. The return address is just below it. */
static const uint8_t kind[] = {0x14, 0,    0, 0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                               1,    0x7c, 8, 1, 0x1b, 0x0c, 4, 4, 0x88, 1,   0,   0};
enum { KIND_LETTER_FOFF = 10, KIND_ENCODING_FOFF = 16 };

static void put_u32(struct world *w, uint32_t rva, uint32_t value)
{
    const uint8_t raw[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                            (uint8_t)(value >> 24)};
    world_put(w, rva, raw, sizeof(raw));
}

/* Writes the second section of the image: the common part, and one function with PROGRAM. */
static uint32_t put_section(struct world *w, const uint8_t *program, uint32_t bytes)
{
    uint32_t at = SECTION + sizeof(kind), size = sizeof(kind) + 17 + bytes;
    world_put(w, 0x86, &(uint8_t){2}, 1);
    world_put(w, 0x188 + 40, "/4", 2);
    put_u32(w, 0x188 + 40 + 8, size + 4); /* with the word that ends the list */
    put_u32(w, 0x188 + 40 + 12, SECTION);
    put_u32(w, 0x188 + 40 + 36, 0x40000040);
    world_put(w, SECTION, kind, sizeof(kind));
    put_u32(w, at, 13 + bytes);
    put_u32(w, at + 4, at + 4 - SECTION);
    put_u32(w, at + 8, BEGIN - (at + 8));
    put_u32(w, at + 12, 0x40);
    world_put(w, at + 16, &(uint8_t){0}, 1);
    world_put(w, at + 17, program, bytes);
    return size;
}

/* A stack of numbered words with the return address at SLOT, and the address of word TO at FROM. */
static struct unwind_walker start(struct world *w, uint32_t into, enum pc_kind kind_of_pc,
                                  int32_t slot, uint32_t from, uint32_t to,
                                  struct unwind_frame *frame)
{
    static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
    world_put(w, 0x1500 - 5, call, sizeof(call));
    struct unwind_walker walker = world_walker(w, CPU_X86, BEGIN + into, SP, kind_of_pc, frame);
    for (uint32_t k = 0; k < WORDS; k++) {
        uint32_t word = slot == (int32_t)k ? RETURN : 0x11 * k;
        if (from != to && k == from)
            word = (uint32_t)walker.regs.sp + to * 4;
        memcpy((uint8_t *)&w->stack[SP] + k * sizeof(word), &word, sizeof(word));
    }
    walker.regs.r[REG_X86_EBP] = walker.regs.sp + (uint64_t)EBP_WORD * 4;
    return walker;
}

static void make(struct world *w)
{
    world_init(w, PE_MACHINE_X86);
    w->module.base_va = BASE;
}

/* push ebp; mov ebp, esp; push ebx; ...; leave; ret */
#define FRAME 0x41, 0x0e, 8, 0x85, 2, 0x42, 0x0d, 5, 0x41, 0x83, 3, 0x4c, 0x0a, 0xc5, 0x0c, 4, 4

static const struct {
    const char *name;
    uint8_t program[32];
    uint32_t into;
    enum pc_kind kind;
    int32_t slot;   /* word of the return address; < 0: the step must fail */
    uint32_t taken; /* number of words popped from the stack */
    uint32_t reg, word;
    uint32_t from, to; /* word FROM holds the address of word TO */
} rows[] = {
    {"at its first instruction", {FRAME}, 0, PC_INTERRUPTED, 0, 1, 0, 0, 0, 0},
    {"after push ebp", {FRAME}, 1, PC_INTERRUPTED, 1, 2, REG_X86_EBP, 0, 0, 0},
    {"after mov ebp, esp", {FRAME}, 3, PC_INTERRUPTED, 7, 8, REG_X86_EBP, 6, 0, 0},
    {"in its body", {FRAME}, 12, PC_RETURN, 7, 8, REG_X86_EBX, 5, 0, 0},
    {"a return address that the epilogue follows", {FRAME}, 16, PC_RETURN, 7, 8, 3, 5, 0, 0},
    {"at ret", {FRAME}, 16, PC_INTERRUPTED, 0, 1, 0, 0, 0, 0},
    {"after an epilogue in the middle", {FRAME, 0x41, 0x0b}, 17, PC_INTERRUPTED, 7, 8, 3, 5, 0, 0},
    {"distances of one, two and four bytes",
     {0x02, 1, 0x0e, 8, 0x03, 1, 0, 0x0e, 12, 0x04, 1, 0, 0, 0, 0x0e, 16},
     3,
     PC_INTERRUPTED,
     3,
     4,
     0,
     0,
     0,
     0},
    {"a stack that main aligned: the CFA by an expression",
     {0x0f, 3, 0x75, 0x7c, 0x06, 0x10, 3, 2, 0x75, 0x78},
     0,
     PC_INTERRUPTED,
     9,
     10,
     REG_X86_EBX,
     4,
     5,
     10},
    {"arithmetic: breg esp, lit 8, plus, const1u 4, minus, plus_uconst 4",
     {0x0f, 9, 0x74, 0, 0x38, 0x22, 0x08, 4, 0x1c, 0x23, 4},
     0,
     PC_INTERRUPTED,
     1,
     2,
     0,
     0,
     0,
     0},
    {"signed factors: def_cfa_sf, offset_extended_sf",
     {0x12, 4, 0x7d, 0x11, 8, 1, 0x11, 6, 2},
     0,
     PC_INTERRUPTED,
     2,
     3,
     REG_X86_ESI,
     1,
     0,
     0},
    {"a register kept in another", {0x09, 6, 5, 0x2e, 4}, 0, PC_INTERRUPTED, 0, 1, 0, 0, 0, 0},
    {"an unknown instruction", {0x3f}, 0, PC_INTERRUPTED, -1, 0, 0, 0, 0, 0},
    {"a state that was not remembered", {0x0b}, 0, PC_INTERRUPTED, -1, 0, 0, 0, 0, 0},
    {"an expression without operands", {0x0f, 1, 0x22}, 0, PC_INTERRUPTED, -1, 0, 0, 0, 0, 0},
    {"an expression longer than its entry", {0x0f, 0x70}, 0, PC_INTERRUPTED, -1, 0, 0, 0, 0, 0},
    {"a CFA below the stack pointer", {0x12, 4, 1}, 0, PC_INTERRUPTED, -1, 0, 0, 0, 0, 0},
    {"a return address that is none", {0x0e, 8}, 0, PC_INTERRUPTED, -1, 0, 0, 0, 0, 0},
};

TEST(rows_of_call_frame_information_are_found_and_applied)
{
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        make(&w);
        put_section(&w, rows[i].program, sizeof(rows[i].program));
        struct unwind_walker walker =
            start(&w, rows[i].into, rows[i].kind, rows[i].slot, rows[i].from, rows[i].to, &frame);
        const struct registers before = walker.regs;
        CHECK_EQ(unwind_x86_cfi(&walker), rows[i].slot >= 0);
        CHECK_HEX(walker.regs.sp, before.sp + 4 * (uint64_t)rows[i].taken);
        if (rows[i].slot < 0) {
            CHECK_HEX(walker.regs.pc, before.pc);
        } else {
            CHECK_HEX(walker.regs.pc, RETURN);
            CHECK_HEX(frame.return_slot_va, before.sp + 4 * (uint64_t)rows[i].slot);
            CHECK_HEX(frame.function_begin_rva, BEGIN);
            CHECK_STR(found_by_name(walker.caller_found), "unwind");
            if (rows[i].reg != 0)
                CHECK_HEX(walker.regs.r[rows[i].reg], 0x11 * rows[i].word);
        }
        world_free(&w);
    }
}

/* Operations of expressions, by their numbers in DWARF 5, 7.7.1. Each pushes 8, so that the CFA is
 * two words above esp. */
TEST(operations_of_expressions_are_those_of_dwarf)
{
    static const struct {
        const char *name;
        uint8_t bytes, code[12];
    } operations[] = {
        {"lit8", 1, {0x38}},
        {"addr", 5, {0x03, 8, 0, 0, 0}},
        {"const1u", 2, {0x08, 8}},
        {"const1s -4", 4, {0x34, 0x09, 0xfc, 0x1c}},
        {"const2u", 7, {0x0a, 8, 1, 0x0a, 0, 1, 0x1c}},
        {"const2s -4", 5, {0x34, 0x0b, 0xfc, 0xff, 0x1c}},
        {"const4u", 5, {0x0c, 8, 0, 0, 0}},
        {"const4s -4", 7, {0x34, 0x0d, 0xfc, 0xff, 0xff, 0xff, 0x1c}},
        {"constu", 7, {0x10, 0x88, 1, 0x10, 0x80, 1, 0x1c}},
        {"consts -4", 4, {0x34, 0x11, 0x7c, 0x1c}},
        {"and: 10, 12", 3, {0x3a, 0x3c, 0x1a}},
        {"minus: 12, 4", 3, {0x3c, 0x34, 0x1c}},
        {"mul: 2, 4", 3, {0x32, 0x34, 0x1e}},
        {"or: 0, 8", 3, {0x30, 0x38, 0x21}},
        {"plus: 3, 5", 3, {0x33, 0x35, 0x22}},
        {"plus_uconst", 3, {0x34, 0x23, 4}},
        {"shl: 1, 3", 3, {0x31, 0x33, 0x24}},
        {"shl by the width of a word", 6, {0x31, 0x08, 32, 0x24, 0x38, 0x22}},
        {"eq of equals", 5, {0x35, 0x35, 0x29, 0x33, 0x24}},
        {"eq of others", 5, {0x35, 0x36, 0x29, 0x38, 0x22}},
        {"ge of equals", 5, {0x35, 0x35, 0x2a, 0x33, 0x24}},
        {"ge of a smaller one", 5, {0x35, 0x36, 0x2a, 0x38, 0x22}},
        {"gt", 5, {0x36, 0x35, 0x2b, 0x33, 0x24}},
        {"gt of equals", 5, {0x35, 0x35, 0x2b, 0x38, 0x22}},
        {"le of equals", 5, {0x35, 0x35, 0x2c, 0x33, 0x24}},
        {"le of a larger one", 5, {0x36, 0x35, 0x2c, 0x38, 0x22}},
        {"lt", 5, {0x35, 0x36, 0x2d, 0x33, 0x24}},
        {"lt of equals", 5, {0x35, 0x35, 0x2d, 0x38, 0x22}},
        {"lt has a sign: -1, 1", 6, {0x09, 0xff, 0x31, 0x2d, 0x33, 0x24}},
        {"ne", 5, {0x35, 0x36, 0x2e, 0x33, 0x24}},
        {"ne of equals", 5, {0x35, 0x35, 0x2e, 0x38, 0x22}},
        {"nop", 2, {0x96, 0x38}},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        const uint8_t bytes = operations[i].bytes;
        uint8_t program[20] = {0x0f, (uint8_t)(bytes + 3), 0x74, 0}; /* breg esp */
        struct unwind_frame frame;
        test_row(operations[i].name);
        memcpy(program + 4, operations[i].code, bytes);
        program[4 + bytes] = 0x22;
        make(&w);
        put_section(&w, program, sizeof program);
        struct unwind_walker walker = start(&w, 0, PC_INTERRUPTED, 1, 0, 0, &frame);
        const uint64_t sp = walker.regs.sp;
        CHECK(unwind_x86_cfi(&walker));
        CHECK_HEX(walker.regs.sp, sp + 8);
        CHECK_HEX(walker.regs.pc, RETURN);
        world_free(&w);
    }
}

TEST(kinds_of_entries_are_told_apart)
{
    static const struct {
        const char *name;
        uint8_t letter, encoding;
        uint32_t base; /* what an absolute address is relative to */
        bool found;
        enum pc_kind caller;
    } kinds[] = {
        {"addresses from here", 'R', 0x1b, 0, true, PC_RETURN},
        {"absolute, relocated", 'R', 0x00, BASE, true, PC_RETURN},
        {"absolute, as in the file", 'R', 0x0b, 0x10000000, true, PC_RETURN},
        {"of an interrupted caller", 'S', 0x00, BASE, true, PC_INTERRUPTED},
        {"from the text section: not known here", 'R', 0x2b, 0, false, PC_RETURN},
        {"an absolute address elsewhere", 'R', 0x00, 0x70000000, false, PC_RETURN},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct unwind_frame frame;
        static const uint8_t program[] = {0x0e, 8, 0, 0};
        test_row(kinds[i].name);
        make(&w);
        put_section(&w, program, sizeof(program));
        put_u32(&w, 0x80 + 24 + 28, 0x10000000); /* the preferred base */
        world_put(&w, SECTION + KIND_LETTER_FOFF, &kinds[i].letter, 1);
        world_put(&w, SECTION + KIND_ENCODING_FOFF, &kinds[i].encoding, 1);
        if ((kinds[i].encoding & 0x10) == 0)
            put_u32(&w, SECTION + sizeof(kind) + 8, kinds[i].base + BEGIN);
        struct unwind_walker walker = start(&w, 4, PC_INTERRUPTED, 1, 0, 0, &frame);
        CHECK_EQ(unwind_x86_cfi(&walker), kinds[i].found);
        if (kinds[i].found) {
            CHECK_HEX(walker.regs.pc, RETURN);
            CHECK_EQ(walker.caller_kind, kinds[i].caller);
        }
        world_free(&w);
    }
}

/* A PDB's rules for the caller start above the arguments that the callee's `ret n` pops. */
TEST(the_bytes_that_ret_takes_are_told_to_the_caller)
{
    static const struct {
        const char *name;
        uint8_t code[4]; /* at offset 16, where `ret` is */
        uint32_t params;
    } ends[] = {
        {"ret", {0xc3}, 0},
        {"ret 20", {0xc2, 20, 0}, 20},
        {"no multiple of four", {0xc2, 3, 0}, 0},
        {"more than any function takes", {0xc2, 8, 1}, 0},
        {"the same bytes in the body", {0, 0xc2, 8, 0}, 0},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct unwind_frame frame;
        static const uint8_t program[] = {FRAME, 0x41, 0x0b};
        test_row(ends[i].name);
        make(&w);
        put_section(&w, program, sizeof(program));
        world_put(&w, BEGIN + 16, ends[i].code, sizeof(ends[i].code));
        struct unwind_walker walker = start(&w, 12, PC_RETURN, 7, 0, 0, &frame);
        CHECK(unwind_x86_cfi(&walker));
        CHECK_EQ(walker.callee_params_bytes, ends[i].params);
        world_free(&w);
    }
    make(&w); /* the function is the three bytes of its `ret 8`, and nothing follows them */
    test_row("a function that only returns");
    put_section(&w, &(uint8_t){0}, 1); /* which does nothing */
    put_u32(&w, SECTION + sizeof(kind) + 12, 3);
    world_put(&w, BEGIN, (const uint8_t[]){0xc2, 8, 0}, 3);
    struct unwind_frame frame;
    struct unwind_walker walker = start(&w, 0, PC_INTERRUPTED, 0, 0, 0, &frame);
    CHECK(unwind_x86_cfi(&walker));
    CHECK_EQ(walker.callee_params_bytes, 8);
    world_free(&w);
}

/* The code is read in parts. Anywhere in a function of 600 bytes `ret 8` is found, if all three of
 * its bytes belong to the function. */
TEST(a_ret_is_found_anywhere_in_a_function)
{
    enum { BYTES = 600 };
    static const uint32_t places[] = {0, 1, 252, 253, 254, 255, 256, 507, 508, 509, 510, 597, 598};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        char name[20];
        struct unwind_frame frame;
        (void)snprintf(name, sizeof name, "at %u", (unsigned)places[i]);
        test_row(name);
        make(&w);
        put_section(&w, &(uint8_t){0}, 1);
        put_u32(&w, SECTION + sizeof(kind) + 12, BYTES);
        struct unwind_walker walker = start(&w, 4, PC_INTERRUPTED, 0, 0, 0, &frame);
        memset(w.image + BEGIN, 0x90, BYTES);
        world_put(&w, BEGIN + places[i], (const uint8_t[]){0xc2, 8, 0}, 3);
        CHECK_EQ(unwind_x86_cfi(&walker), true);
        CHECK_EQ(walker.callee_params_bytes, places[i] + 3 <= BYTES ? 8 : 0);
        world_free(&w);
    }
}

/* A section with any cut or flipped bit must be refused or give some answer. It must not crash. */
TEST(damaged_sections_do_no_harm)
{
    static struct world w;
    static const uint8_t program[] = {FRAME, 0x41, 0x0b};
    uint32_t size = sizeof(kind) + 17 + sizeof(program), found = 0;
    for (uint32_t cut = 0; cut <= size + 4; cut++) {
        struct unwind_frame frame;
        test_row("cut");
        make(&w);
        put_section(&w, program, sizeof(program));
        put_u32(&w, 0x188 + 40 + 8, cut);
        struct unwind_walker walker = start(&w, 12, PC_RETURN, 7, 0, 0, &frame);
        bool left = unwind_x86_cfi(&walker);
        CHECK_EQ(left, cut == 0 ? false : cut >= size);
        found += left;
        walker = start(&w, 12, PC_RETURN, 7, 0, 0, &frame);
        if (unwind_step_x86(&walker) == STOP_NONE && !left) /* what other ways find is marked */
            CHECK(walker.caller_found != FOUND_UNWIND);
        world_free(&w);
    }
    CHECK_EQ(found, 5); /* whole, and with up to four bytes after it */
    for (uint32_t bit = 0; bit < size * 8; bit++) {
        struct unwind_frame frame;
        test_row("bit");
        make(&w);
        put_section(&w, program, sizeof(program));
        w.image[SECTION + bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct unwind_walker walker = start(&w, 12, PC_RETURN, 7, 0, 0, &frame);
        uint64_t sp = walker.regs.sp;
        CHECK(!unwind_x86_cfi(&walker) || walker.regs.sp > sp);
        world_free(&w);
    }
}

/* Published images; where their tables are in the file. */
static const struct {
    const char *name, *path;
    uint32_t rva, first_foff, bytes, return_register, cfa_register;
} images[] = {
    {"ELF, .eh_frame", "images/i10-elf-crash/crash", 0x1d72, 0x176c0, 0x22e4, 16, 6},
    {"Mach-O x86-64, __unwind_info", "images/i01-macho-x64-crash/crash", 0xdc00, 63712, 0x6d4, 16,
     7},
    {"Mach-O x86-64, its __eh_frame", "images/i01-macho-x64-crash/crash", 0xdb20, 65464, 0x1040, 16,
     7},
    {"Mach-O arm64, __unwind_info", "images/i02-macho-arm64-simple/mac-dsym/main", 0x3ac0, 16136,
     0xc0, 30, 29},
};

TEST(images_of_other_systems_are_read_and_damage_does_no_harm)
{
    enum { STEP = 61 };
    for (size_t row = 0; row < COUNT_OF(images); row++) {
        struct cfi_place place;
        struct arena keep;
        size_t bytes;
        uint8_t *data = test_read(test_fixture(images[row].path), &bytes);

        test_row(images[row].name);
        arena_init(&keep, 0);
        struct cfi_table *table = cfi_read_file((struct byte_view){data, bytes}, &keep);
        REQUIRE(table != NULL);
        CHECK(cfi_find(table, images[row].rva, &place));
        CHECK(place.begin_rva <= images[row].rva && images[row].rva < place.end_rva);
        CHECK_EQ(place.return_register, images[row].return_register);
        CHECK_EQ(place.row.cfa_register, images[row].cfa_register);
        CHECK_EQ(place.row.rules[images[row].return_register].kind, CFI_AT);
        CHECK(!cfi_find(table, 0, &place));
        CHECK(cfi_read_file((struct byte_view){data, 64}, &keep) == NULL);
        CHECK(cfi_read_file((struct byte_view){data, 3}, &keep) == NULL);
        arena_free(&keep);
        for (uint32_t i = 0; i < images[row].bytes; i += STEP) {
            uint8_t *at = data + images[row].first_foff + i, good = *at;
            for (int k = 0; k < 3; k++) {
                *at = k == 0 ? 0xff : k == 1 ? 0 : (uint8_t)(good ^ 0x41);
                arena_init(&keep, 0);
                table = cfi_read_file((struct byte_view){data, bytes}, &keep);
                for (uint32_t rva = 0x1000; table != NULL && rva < 0x18000; rva += STEP)
                    (void)cfi_find(table, rva, &place);
                arena_free(&keep);
            }
            *at = good;
        }
        free(data);
    }
}

/* The loader reads segments, so a file whose table of sections was removed still unwinds. */
TEST(a_file_without_sections_has_its_unwind_data)
{
    enum { SECTIONS_FOFF = 40, SECTIONS = 60, STEP = 7 };
    struct arena keep;
    size_t bytes;
    uint32_t found = 0;
    uint8_t *data = test_read(test_fixture(images[0].path), &bytes);
    uint8_t *less = malloc(bytes);
    REQUIRE(less != NULL);
    memcpy(less, data, bytes);
    memset(less + SECTIONS_FOFF, 0, 8);
    memset(less + SECTIONS, 0, 4);
    arena_init(&keep, 0);
    struct cfi_table *whole = cfi_read_file((struct byte_view){data, bytes}, &keep);
    struct cfi_table *table = cfi_read_file((struct byte_view){less, bytes}, &keep);
    REQUIRE(whole != NULL && table != NULL);
    for (uint32_t rva = 0; rva < 0x18000; rva += STEP) {
        struct cfi_place a = {0}, b = {0};
        const bool has = cfi_find(whole, rva, &a);
        CHECK_EQ(cfi_find(table, rva, &b), has);
        CHECK(!has ||
              (a.begin_rva == b.begin_rva && a.end_rva == b.end_rva &&
               a.row.cfa_register == b.row.cfa_register && a.row.cfa_offset == b.row.cfa_offset));
        found += has;
    }
    CHECK(found > 1000);
    arena_free(&keep);
    free(less);
    free(data);
}

/* A CONTEXT holds the registers at the interruption; see x86_dispatch.c. */
TEST(x86_dispatchers_are_crossed_by_their_context)
{
    static const struct {
        const char *name;
        uint32_t at;      /* word where the CONTEXT starts */
        uint32_t pointer; /* word that points to it; 0: none */
        uint32_t flags, eflags;
        bool crossed;
    } contexts[] = {
        {"a pointer to it, as Wine's have", 12, 5, 0x1003f, 0x10246, true},
        {"itself, as in the APC dispatcher of Windows", 3, 0, 0x1007f, 0x202, true},
        {"without control registers", 12, 5, 0x1003e, 0x246, false},
        {"of no processor of ours", 12, 5, 0x10003f, 0x246, false},
        {"flags that no thread has", 12, 5, 0x1003f, 0xffffffff, false},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(contexts); i++) {
        struct unwind_frame frame;
        test_row(contexts[i].name);
        make(&w);
        struct unwind_walker walker = start(&w, 0, PC_RETURN, -1, 0, 0, &frame);
        uint8_t *sp = (uint8_t *)&w.stack[SP], *context = sp + (size_t)contexts[i].at * 4;
        memset(sp, 0, 0x600);
        uint32_t va = (uint32_t)walker.regs.sp, at_va = va + contexts[i].at * 4;
        const struct {
            uint32_t offset, value;
        } fields[] = {{0, contexts[i].flags},     {0x9c, 0xed1},     {0xb4, 0xeb9}, {0xb8, 0},
                      {0xc0, contexts[i].eflags}, {0xc4, va + 0x400}};
        for (size_t k = 0; k < COUNT_OF(fields); k++)
            memcpy(context + fields[k].offset, &fields[k].value, 4);
        if (contexts[i].pointer != 0)
            memcpy(sp + (size_t)contexts[i].pointer * 4, &at_va, 4);
        walker.callee_params_bytes = 12; /* of the function that it called */
        CHECK_EQ(unwind_x86_dispatcher(&walker), contexts[i].crossed);
        CHECK_EQ(walker.callee_params_bytes, contexts[i].crossed ? 0 : 12);
        if (contexts[i].crossed) {
            CHECK_HEX(frame.return_slot_va, at_va + 0xb8); /* where the CONTEXT has eip */
            CHECK_STR(found_by_name(walker.caller_found), "unwind");
            CHECK_HEX(walker.regs.pc, 0); /* the program had jumped to an invalid address */
            CHECK_HEX(walker.regs.sp, va + 0x400);
            CHECK_HEX(walker.regs.r[REG_X86_EBP], 0xeb9);
            CHECK_EQ(walker.caller_kind, PC_INTERRUPTED);
        }
        world_free(&w);
    }
}

/* The step crosses only code of the dispatchers, which end at the next export. */
TEST(x86_dispatchers_are_known_by_their_exports)
{
    static const struct {
        const char *name, *export;
        uint32_t into;
        bool crossed;
    } places[] = {
        {"of exceptions", "KiUserExceptionDispatcher", 8, true},
        {"of asynchronous calls", "KiUserApcDispatcher", 8, true},
        {"the function after it", "KiUserExceptionDispatcher", 0x28, false},
        {"one of another name", "KiUserCallbackDispatcher", 8, false},
    };
    enum { EXPORTS = 0x2800, CONTEXT_WORD = 4 };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct unwind_frame frame;
        test_row(places[i].name);
        make(&w);
        w.module.name = "ntdll.dll";
        const uint32_t words[][2] = {{0x98 + 112, EXPORTS},
                                     {EXPORTS + 20, 2},
                                     {EXPORTS + 24, 1},
                                     {EXPORTS + 28, EXPORTS + 40},
                                     {EXPORTS + 32, EXPORTS + 48},
                                     {EXPORTS + 36, EXPORTS + 52},
                                     {EXPORTS + 40, BEGIN},
                                     {EXPORTS + 44, BEGIN + 0x20},
                                     {EXPORTS + 48, EXPORTS + 56}};
        for (size_t k = 0; k < COUNT_OF(words); k++)
            put_u32(&w, words[k][0], words[k][1]);
        world_put(&w, EXPORTS + 56, places[i].export, strlen(places[i].export) + 1);
        struct unwind_walker walker = start(&w, places[i].into, PC_RETURN, -1, 0, 0, &frame);
        uint8_t *sp = (uint8_t *)&w.stack[SP];
        memset(sp, 0, 0x600);
        const uint32_t fields[][2] = {
            {0, 0x1003f}, {0xb8, RETURN}, {0xc0, 0x246}, {0xc4, (uint32_t)walker.regs.sp + 0x400}};
        for (size_t k = 0; k < COUNT_OF(fields); k++)
            memcpy(sp + CONTEXT_WORD * 4 + fields[k][0], &fields[k][1], 4);
        const bool left =
            unwind_step_x86(&walker) == STOP_NONE && walker.caller_kind == PC_INTERRUPTED;
        CHECK_EQ(left, places[i].crossed);
        if (left)
            CHECK_HEX(walker.regs.pc, RETURN);
        world_free(&w);
    }
}
