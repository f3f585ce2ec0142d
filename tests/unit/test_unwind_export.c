/* Unwind data as STACK CFI records. What is expected follows from the documents: "x64 exception
 * handling" and "ARM64 exception handling" of Microsoft, DWARF 5 section 6.4, and for the
 * records https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "unwind/cfi_export.h"
#include "unwind_world.h"

enum { BEGIN = WORLD_TEXT_RVA, BYTES = 0x40 };

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* What the export of IMAGE prints. COUNT: the functions that it says it wrote. */
static const char *export_image(struct world *w, uint32_t *count)
{
    struct fault fault = FAULT_INIT;
    struct pe pe;
    char name[600];
    size_t bytes;

    put_u32(w->image + 0x188 + 8, 0x3000); /* the section has all of the image, as in a file */
    put_u32(w->image + 0x188 + 16, 0x3000);
    put_u32(w->image + 0x188 + 20, WORLD_TEXT_RVA);
    put_u32(w->image + 0x98 + 56, WORLD_IMAGE_BYTES);
    put_u32(w->image + 0x98 + 60, 0x400);
    put_u32(w->image + 0x98 + 108, 16);
    REQUIRE(pe_open(w->image, WORLD_IMAGE_BYTES, &pe, &fault) == ERR_NONE);
    (void)snprintf(name, sizeof name, "%s/export.sym", test_scratch());
    FILE *out = fopen(name, "wb");
    REQUIRE(out != NULL);
    *count = unwind_export_cfi(&pe, out);
    REQUIRE(fclose(out) == 0);
    char *text = (char *)test_read(name, &bytes);
    static char copy[2048];
    REQUIRE(bytes < sizeof copy);
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

/* ---- x64 ------------------------------------------------------------------------------ */

enum { PUSH = 0, LARGE = 1, SMALL = 2, SET_FP = 3, SAVE = 4, SAVE_FAR = 5, XMM = 8, MACHINE = 10 };
#define INIT "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"

/* The codes of the last instruction come first. */
static const struct {
    const char *name, *want;
    uint32_t bytes; /* of the function */
    uint8_t xdata[24];
} x64_rows[] = {
    {"no codes", INIT, BYTES, {HEAD(1, 0, 0, 0, 0, 0)}},
    {"sub rsp, 32",
     INIT "STACK CFI 1004 .cfa: $rsp 40 +\n",
     BYTES,
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(SMALL, 3)}},
    {"push rbx; push rdi; sub rsp, 0x100",
     INIT "STACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\n"
          "STACK CFI 1002 .cfa: $rsp 24 + $rdi: .cfa 24 - ^\nSTACK CFI 1009 .cfa: $rsp 280 +\n",
     BYTES,
     {HEAD(1, 0, 9, 4, 0, 0), 9, OP(LARGE, 0), 0x20, 0, 2, OP(PUSH, 7), 1, OP(PUSH, 3)}},
    {"push r15; sub rsp, 0x90008",
     INIT "STACK CFI 1002 .cfa: $rsp 16 + $r15: .cfa 16 - ^\nSTACK CFI 1009 .cfa: $rsp 589848 +\n",
     BYTES,
     {HEAD(1, 0, 9, 4, 0, 0), 9, OP(LARGE, 1), 0x08, 0, 9, 0, 2, OP(PUSH, 15)}},
    {"push rbp; sub rsp, 48; lea rbp, [rsp + 32]",
     INIT "STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa 16 - ^\nSTACK CFI 1005 .cfa: $rsp 64 +\n"
          "STACK CFI 100a .cfa: $rbp 32 +\n",
     BYTES,
     {HEAD(1, 0, 10, 3, 5, 2), 10, OP(SET_FP, 0), 5, OP(SMALL, 5), 1, OP(PUSH, 5)}},
    {"the same, and then sub rsp, 16: the frame register stays",
     INIT "STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa 16 - ^\nSTACK CFI 1005 .cfa: $rbp 16 +\n",
     BYTES,
     {HEAD(1, 0, 10, 3, 5, 0), 10, OP(SMALL, 1), 5, OP(SET_FP, 0), 1, OP(PUSH, 5)}},
    {"sub rsp, 40; mov [rsp + 16], rsi; mov [rsp + 56], rbx: into the caller's home",
     INIT "STACK CFI 1004 .cfa: $rsp 48 +\nSTACK CFI 1009 .cfa: $rsp 48 + $rsi: .cfa 32 - ^\n"
          "STACK CFI 100e .cfa: $rsp 48 + $rbx: .cfa 8 + ^\n",
     BYTES,
     {HEAD(1, 0, 14, 5, 0, 0), 14, OP(SAVE, 3), 7, 0, 9, OP(SAVE, 6), 2, 0, 4, OP(SMALL, 4)}},
    {"saved before the allocation: counted from the stack pointer after it",
     INIT "STACK CFI 1005 .cfa: $rsp 8 + $rbx: .cfa 8 + ^\n"
          "STACK CFI 1009 .cfa: $rsp 48 +\n",
     BYTES,
     {HEAD(1, 0, 9, 3, 0, 0), 9, OP(SMALL, 4), 5, OP(SAVE, 3), 7, 0}},
    {"saved far away",
     INIT "STACK CFI 1007 .cfa: $rsp 589832 +\n"
          "STACK CFI 100f .cfa: $rsp 589832 + $rsi: .cfa 65544 - ^\n",
     BYTES,
     {HEAD(1, 0, 15, 6, 0, 0), 15, OP(SAVE_FAR, 6), 0, 0, 8, 0, 7, OP(LARGE, 1), 0, 0, 9, 0}},
    {"vector registers are not described",
     INIT "STACK CFI 1004 .cfa: $rsp 40 +\n",
     BYTES,
     {HEAD(1, 0, 9, 3, 0, 0), 9, OP(XMM, 6), 1, 0, 4, OP(SMALL, 3)}},
    {"a function that ends in its prologue",
     "STACK CFI INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n",
     4,
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(SMALL, 3)}},
    {"one that ends after it",
     "STACK CFI INIT 1000 5 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 .cfa: $rsp 40 +\n",
     5,
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(SMALL, 3)}},
    /* of version 3: offsets of the instructions, then what they do */
    {"version 3, push rbx; sub rsp, 32",
     INIT "STACK CFI 1001 .cfa: $rsp 16 + $rbx: .cfa 16 - ^\nSTACK CFI 1002 .cfa: $rsp 48 +\n",
     BYTES,
     {3, 5, 2, 2, 1, 0, 0x38, 0x1C}},
    {"version 3, sub rsp, 40; mov [rsp + 8], rbx",
     INIT "STACK CFI 1001 .cfa: $rsp 48 +\nSTACK CFI 1005 .cfa: $rsp 48 + $rbx: .cfa 40 - ^\n",
     BYTES,
     {3, 9, 3, 2, 4, 0, 0x1E, 1, 0, 0x48}},
    {"version 3, saved before the allocation: its place is not certain",
     "",
     BYTES,
     {3, 9, 3, 2, 5, 0, 0x48, 0x1E, 1, 0}},
    {"version 3, a machine frame", "", BYTES, {3, 0, 2, 1, 0, 3, 0, 0}},
    {"a machine frame", "", BYTES, {HEAD(1, 0, 0, 1, 0, 0), 0, OP(MACHINE, 0)}},
    {"a function of no bytes", "", 0, {HEAD(1, 0, 0, 0, 0, 0)}},
    {"an unknown code", "", BYTES, {HEAD(1, 0, 1, 1, 0, 0), 1, OP(15, 0)}},
};

TEST(x64_prologues_as_records)
{
    for (size_t i = 0; i < COUNT_OF(x64_rows); i++) {
        struct world *w = malloc(sizeof *w);
        uint32_t count;
        REQUIRE(w != NULL);
        world_init(w, PE_MACHINE_X64);
        world_function(w, BEGIN, BEGIN + x64_rows[i].bytes,
                       world_xdata(w, x64_rows[i].xdata, sizeof x64_rows[i].xdata));
        test_row(x64_rows[i].name);
        CHECK_STR(export_image(w, &count), x64_rows[i].want);
        CHECK_EQ(count, x64_rows[i].want[0] != '\0');
        world_free(w);
        free(w);
    }
}

/* Chained data begins with the frame of its parents: flag 4, and after the codes, which are padded
 * to an even number, the parent's row of .pdata. */
TEST(chained_x64_data_begins_with_its_parents)
{
    static const uint8_t parent[] = {HEAD(1, 0, 5, 2, 0, 0), 5, OP(SMALL, 3), 1, OP(PUSH, 3)};
    static const uint8_t framed[] = {HEAD(1, 0, 5, 2, 5, 0), 4, OP(SET_FP, 0), 1, OP(PUSH, 5)};
    struct world *w = malloc(sizeof *w);
    uint8_t child[20] = {HEAD(1, 4, 3, 1, 0, 0), 3, OP(SMALL, 1)};
    uint8_t saver[24] = {HEAD(1, 4, 5, 2, 5, 0), 5, OP(SAVE, 6), 1, 0};
    uint32_t count;

    REQUIRE(w != NULL);
    world_init(w, PE_MACHINE_X64);
    const uint32_t parent_rva = world_xdata(w, parent, sizeof parent);
    const uint32_t framed_rva = world_xdata(w, framed, sizeof framed);
    put_u32(child + 8, BEGIN);
    put_u32(child + 12, BEGIN + BYTES);
    put_u32(child + 16, parent_rva);
    put_u32(saver + 8, BEGIN + 0x100);
    put_u32(saver + 12, BEGIN + 0x140);
    put_u32(saver + 16, framed_rva);
    world_function(w, BEGIN + BYTES, BEGIN + 2 * BYTES, world_xdata(w, child, sizeof child));
    world_function(w, BEGIN + 0x140, BEGIN + 0x180, world_xdata(w, saver, sizeof saver));
    CHECK_STR(export_image(w, &count),
              "STACK CFI INIT 1040 40 .cfa: $rsp 48 + .ra: .cfa 8 - ^ $rbx: .cfa 16 - ^\n"
              "STACK CFI 1043 .cfa: $rsp 64 +\n"
              "STACK CFI INIT 1140 40 .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\n"
              "STACK CFI 1145 .cfa: $rbp 16 + $rsi: .cfa 8 - ^\n");
    CHECK_EQ(count, 2);
    world_free(w);
    free(w);
}

/* ---- arm64 ---------------------------------------------------------------------------- */

/* Flag 1: a function; 2: a part without a prologue. BYTES of code, FRAME bytes of stack. */
#define PACKED(flag, reg_f, reg_i, home, cr, frame)                                                \
    ((uint32_t)(flag) | BYTES / 4 << 2 | (uint32_t)(reg_f) << 13 | (uint32_t)(reg_i) << 16 |       \
     (uint32_t)(home) << 20 | (uint32_t)(cr) << 21 | (uint32_t)(frame) / 16 << 23)
#define ARM_INIT "STACK CFI INIT 1000 40 .cfa: sp 0 + .ra: x30\n"

static const struct {
    const char *name, *want;
    uint32_t packed; /* 0: unwind data with these codes, the last instruction's first */
    uint8_t codes[12];
} arm64_rows[] = {
    {"stp fp,lr,[sp,-32]!; mov fp,sp",
     ARM_INIT "STACK CFI 1004 .cfa: sp 32 + .ra: .cfa 24 - ^ x29: .cfa 32 - ^\n"
              "STACK CFI 1008 .cfa: x29 32 +\n",
     PACKED(1, 0, 0, 0, 3, 32),
     {0}},
    {"stp x19,x20,[sp,-16]!; stp fp,lr,[sp,-32]!; mov fp,sp",
     ARM_INIT "STACK CFI 1004 .cfa: sp 16 + x19: .cfa 16 - ^ x20: .cfa 8 - ^\n"
              "STACK CFI 1008 .cfa: sp 48 + .ra: .cfa 40 - ^ x29: .cfa 48 - ^\n"
              "STACK CFI 100c .cfa: x29 48 +\n",
     PACKED(1, 0, 2, 0, 3, 48),
     {0}},
    {"sub sp,sp,16; stp x19,lr,[sp]: save_lrpair has no form that moves sp",
     ARM_INIT "STACK CFI 1004 .cfa: sp 16 +\nSTACK CFI 1008 .ra: .cfa 8 - ^ x19: .cfa 16 - ^\n",
     PACKED(1, 0, 1, 0, 1, 16),
     {0}},
    {"stp x19,x20,[sp,-32]!; stp x21,lr,[sp,16]; sub sp,sp,32",
     ARM_INIT "STACK CFI 1004 .cfa: sp 32 + x19: .cfa 32 - ^ x20: .cfa 24 - ^\n"
              "STACK CFI 1008 .ra: .cfa 8 - ^ x21: .cfa 16 - ^\nSTACK CFI 100c .cfa: sp 64 +\n",
     PACKED(1, 0, 3, 0, 1, 64),
     {0}},
    {"sub sp,sp,16", ARM_INIT "STACK CFI 1004 .cfa: sp 16 +\n", PACKED(1, 0, 0, 0, 0, 16), {0}},
    {"a part of a function has its frame already",
     "STACK CFI INIT 1000 40 .cfa: x29 32 + .ra: .cfa 24 - ^ x29: .cfa 32 - ^\n",
     PACKED(2, 0, 0, 0, 3, 32),
     {0}},
    {"save_fplr_x 16; set_fp",
     ARM_INIT "STACK CFI 1004 .cfa: sp 16 + .ra: .cfa 8 - ^ x29: .cfa 16 - ^\n"
              "STACK CFI 1008 .cfa: x29 16 +\n",
     0,
     {0xe1, 0x81, 0xe4}},
    {"save_regp_x x19 48; save_next; save_next",
     ARM_INIT "STACK CFI 1004 .cfa: sp 48 + x19: .cfa 48 - ^ x20: .cfa 40 - ^\n"
              "STACK CFI 1008 x21: .cfa 32 - ^ x22: .cfa 24 - ^\n"
              "STACK CFI 100c x23: .cfa 16 - ^ x24: .cfa 8 - ^\n",
     0,
     {0xe6, 0xe6, 0xcc, 0x05, 0xe4}},
    {"alloc_s 64; save_fplr [sp,16]; add_fp 16",
     ARM_INIT "STACK CFI 1004 .cfa: sp 64 +\n"
              "STACK CFI 1008 .ra: .cfa 40 - ^ x29: .cfa 48 - ^\nSTACK CFI 100c .cfa: x29 48 +\n",
     0,
     {0xe2, 0x02, 0x42, 0x04, 0xe4}},
    {"alloc_m 4096; save_reg x21,[sp,8]; save_lrpair x19,[sp,16]",
     ARM_INIT "STACK CFI 1004 .cfa: sp 4096 +\nSTACK CFI 1008 x21: .cfa 4088 - ^\n"
              "STACK CFI 100c .ra: .cfa 4072 - ^ x19: .cfa 4080 - ^\n",
     0,
     {0xd6, 0x02, 0xd0, 0x81, 0xc1, 0x00, 0xe4}},
    {"pacibsp; alloc_s 64: its place is after both",
     ARM_INIT "STACK CFI 1008 .cfa: sp 64 +\n",
     0,
     {0x04, 0xfc, 0xe4}},
    {"nop keeps its place", ARM_INIT "STACK CFI 1008 .cfa: sp 64 +\n", 0, {0x04, 0xe3, 0xe4}},
    {"codes after end_c ran before this part",
     "STACK CFI INIT 1000 40 .cfa: sp 64 + .ra: x30\nSTACK CFI 1004 .cfa: sp 80 +\n",
     0,
     {0x01, 0xe5, 0x04, 0xe4}},
    {"a machine frame", "", 0, {0xe9, 0xe4}},
    {"a context", "", 0, {0xea, 0xe4}},
};

TEST(arm64_prologues_as_records)
{
    for (size_t i = 0; i < COUNT_OF(arm64_rows); i++) {
        struct world *w = malloc(sizeof *w);
        uint8_t xdata[16] = {0};
        uint32_t count;
        REQUIRE(w != NULL);
        world_init(w, PE_MACHINE_ARM64);
        put_u32(xdata, BYTES / 4 | 3u << 27); /* three words of codes, no epilogue */
        memcpy(xdata + 4, arm64_rows[i].codes, sizeof arm64_rows[i].codes);
        world_function_arm64(w, BEGIN,
                             arm64_rows[i].packed != 0 ? arm64_rows[i].packed
                                                       : world_xdata(w, xdata, sizeof xdata));
        test_row(arm64_rows[i].name);
        CHECK_STR(export_image(w, &count), arm64_rows[i].want);
        CHECK_EQ(count, arm64_rows[i].want[0] != '\0');
        world_free(w);
        free(w);
    }
}

TEST(other_processors_have_no_records)
{
    struct world *w = malloc(sizeof *w);
    uint32_t count;
    REQUIRE(w != NULL);
    world_init(w, PE_MACHINE_X86);
    world_function(w, BEGIN, BEGIN + BYTES, WORLD_XDATA_RVA);
    CHECK_STR(export_image(w, &count), "");
    CHECK_EQ(count, 0);
    world_free(w);
    free(w);
}

/* ---- call frame information ----------------------------------------------------------- */

enum { ELF_BYTES = 1024, FRAME_AT = 256, ELF_BASE = 0x400000, ELF_BEGIN = 0x401000 };
#define ELF_INIT "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^"

/* Numbers of the psABI: rbx 3, rbp 6, rsp 7, r12 12, the return address 16. */
static const struct {
    const char *name, *augmentation, *want;
    uint8_t bytes, program[16];
} dwarf_rows[] = {
    {"nothing", "zR", ELF_INIT "\n", 0, {0}},
    {"push rbp; mov rbp, rsp",
     "zR",
     ELF_INIT "\nSTACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^\n"
              "STACK CFI 1004 .cfa: $rbp 16 +\n",
     8,
     {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6}},
    {"the state is remembered",
     "zR",
     ELF_INIT "\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1002 .cfa: $rsp 8 +\n"
              "STACK CFI 1003 .cfa: $rsp 16 +\n",
     9,
     {0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 8, 0x41, 0x0b}},
    {"in another register", "zR", ELF_INIT "\nSTACK CFI 1001 $rbx: $r12\n", 4, {0x41, 0x09, 3, 12}},
    {"a value, not a place",
     "zR",
     ELF_INIT "\nSTACK CFI 1001 $rbx: .cfa -16 +\n",
     4,
     {0x41, 0x14, 3, 2}},
    {"as it was",
     "zR",
     ELF_INIT "\nSTACK CFI 1001 $rbp: .cfa -16 + ^\nSTACK CFI 1002 $rbp: $rbp\n",
     6,
     {0x41, 0x86, 2, 0x41, 0x08, 6}},
    {"no return address", "zR", "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: 0\n", 2, {0x07, 16}},
    {"the last byte", "zR", ELF_INIT "\nSTACK CFI 103f .cfa: $rsp 16 +\n", 3, {0x7f, 0x0e, 16}},
    {"past the last byte", "zR", ELF_INIT "\n", 4, {0x02, 0x40, 0x0e, 16}},
    {"the same again is not said",
     "zR",
     ELF_INIT "\nSTACK CFI 1001 .cfa: $rsp 16 +\n",
     6,
     {0x41, 0x0e, 16, 0x41, 0x0e, 16}},
    {"a CFA by an expression", "zR", "", 4, {0x0f, 2, 0x77, 8}},
    {"the frame of a signal", "zRS", "", 0, {0}},
};

static size_t put_words(uint8_t *at, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_u32(at + 4 * i, words[i]);
    return 4 * count;
}

/* An ELF file of 64 bits with ".eh_frame" of one function. */
static void make_elf(uint8_t file[ELF_BYTES], const char *augmentation, const uint8_t *program,
                     uint32_t program_bytes)
{
    static const char names[] = "\0.eh_frame\0.shstrtab";
    const uint32_t letters = (uint32_t)strlen(augmentation) + 1;
    uint8_t *at = file + FRAME_AT;

    memset(file, 0, ELF_BYTES);
    memcpy(file, "\177ELF\2\1\1", 7);
    file[16] = 2;
    file[18] = 62;
    file[32] = 64; /* segments */
    file[54] = 56;
    file[56] = 1;
    file[58] = 64;
    file[60] = 3;
    file[62] = 2;
    file[64] = 1; /* PT_LOAD */
    put_u32(file + 64 + 16, ELF_BASE);
    file[41] = 2; /* sections at 512 */
    const uint32_t common = 4 + 1 + letters + 1 + 1 + 1 + 1 + 1 + 5;
    at += put_words(at, (const uint32_t[]){common, 0}, 2);
    *at++ = 1;
    memcpy(at, augmentation, letters);
    at += letters;
    const uint8_t rest[] = {1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1}; /* addresses of 4 bytes */
    memcpy(at, rest, sizeof rest);
    at += sizeof rest;
    const uint32_t back = (uint32_t)(at - (file + FRAME_AT)) + 4;
    at += put_words(at, (const uint32_t[]){13 + program_bytes, back, ELF_BEGIN, BYTES}, 4);
    *at++ = 0;
    memcpy(at, program, program_bytes);
    at += program_bytes;
    const uint32_t frame_bytes = (uint32_t)(at - (file + FRAME_AT));
    uint8_t *section = file + 512 + 64;
    put_u32(section, 1);
    put_u32(section + 4, 1);
    put_u32(section + 16, ELF_BASE + FRAME_AT);
    put_u32(section + 24, FRAME_AT);
    put_u32(section + 32, frame_bytes);
    section += 64;
    put_u32(section, 11);
    put_u32(section + 4, 3);
    put_u32(section + 24, 800);
    put_u32(section + 32, sizeof names);
    memcpy(file + 800, names, sizeof names);
}

TEST(call_frame_information_as_records)
{
    for (size_t i = 0; i < COUNT_OF(dwarf_rows); i++) {
        static uint8_t file[ELF_BYTES];
        struct fault fault = FAULT_INIT;
        struct object_file object;
        char name[600], text[1024] = "";
        size_t bytes;
        make_elf(file, dwarf_rows[i].augmentation, dwarf_rows[i].program, dwarf_rows[i].bytes);
        test_row(dwarf_rows[i].name);
        REQUIRE(object_file_open(file, sizeof file, 0, &object, &fault) == ERR_NONE);
        (void)snprintf(name, sizeof name, "%s/export.sym", test_scratch());
        FILE *out = fopen(name, "wb");
        REQUIRE(out != NULL);
        CHECK_EQ(unwind_export_dwarf(&object, ARCH_X86_64, out), dwarf_rows[i].want[0] != '\0');
        REQUIRE(fclose(out) == 0);
        const uint8_t *data = test_read(name, &bytes);
        memcpy(text, data, bytes < sizeof text ? bytes : sizeof text - 1);
        CHECK_STR(text, dwarf_rows[i].want);
    }
}

TEST(a_file_of_other_sections_has_no_call_frame_information)
{
    static uint8_t file[ELF_BYTES];
    struct fault fault = FAULT_INIT;
    struct object_file object;
    make_elf(file, dwarf_rows[0].augmentation, dwarf_rows[0].program, dwarf_rows[0].bytes);
    memcpy(file + 801, ".eh_other", 9);
    REQUIRE(object_file_open(file, sizeof file, 0, &object, &fault) == ERR_NONE);
    FILE *out = tmpfile();
    REQUIRE(out != NULL);
    CHECK_EQ(unwind_export_dwarf(&object, ARCH_X86_64, out), 0);
    CHECK_EQ(ftell(out), 0);
    (void)fclose(out);
}

/* A Mach-O image whose functions are in the compact table alone: 0x200 has the frame pointer as its
 * frame, 0x240 a frame of a known size, and 0x280 is said to have call frame information. */
static size_t make_macho(uint8_t file[0x400], bool is_arm64, const uint8_t *code, size_t bytes)
{
    enum { TEXT = 0x200, INFO = 0x300, INFO_BYTES = 84, FRAME_ARM64 = 4 << 24, STACK = 2 << 24 };
    static const char *const names[] = {"__text", "__unwind_info"};
    const uint32_t frame = is_arm64 ? FRAME_ARM64 | 1 : 1 << 24;
    const uint32_t dwarf = is_arm64 ? 3 << 24 : 4 << 24;
    const uint32_t header[] = {
        0xfeedfacf, is_arm64 ? 0x0100000c : 0x01000007, is_arm64 ? 0 : 3, 2, 1, 72 + 2 * 80};
    const uint32_t info[] = {1,
                             28,
                             0,
                             28,
                             0,
                             28,
                             2,
                             TEXT,
                             52,
                             0,
                             0x2c0,
                             0,
                             0,
                             2,
                             8 | 3 << 16,
                             TEXT,
                             frame,
                             0x240,
                             STACK | (is_arm64 ? 2 << 12 : 3 << 16),
                             0x280,
                             dwarf};
    memset(file, 0, 0x400);
    memset(file + TEXT, 0x90, 0x100);
    memcpy(file + TEXT, code, bytes);
    for (size_t i = 0; i < COUNT_OF(header); i++)
        put_u32(file + i * 4, header[i]);
    put_u32(file + 32, 0x19);
    put_u32(file + 36, 72 + 2 * 80);
    memcpy(file + 40, "__TEXT", 6);
    put_u32(file + 60, 1);
    put_u32(file + 64, 0x1000);
    put_u32(file + 80, 0x400);
    put_u32(file + 96, 2);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        uint8_t *section = file + 104 + i * 80;
        memcpy(section, names[i], strlen(names[i]));
        memcpy(section + 16, "__TEXT", 6);
        put_u32(section + 32, i == 0 ? TEXT : INFO);
        put_u32(section + 36, 1);
        put_u32(section + 40, i == 0 ? 0x100 : INFO_BYTES);
        put_u32(section + 48, i == 0 ? TEXT : INFO);
    }
    for (size_t i = 0; i < COUNT_OF(info); i++)
        put_u32(file + INFO + i * 4, info[i]);
    return 0x400;
}

static const struct {
    const char *name, *want;
    bool is_arm64;
    uint8_t code[40];
} compact_rows[] = {
    {"x64: push rbp; mov rbp, rsp, and a byte like ret after it",
     "STACK CFI INIT 200 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
     "STACK CFI 201 .cfa: $rsp 16 + $rbp: .cfa -16 + ^\nSTACK CFI 204 .cfa: $rbp 16 +\n"
     "STACK CFI INIT 240 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 241 .cfa: $rsp 24 +\n",
     false,
     {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xc3}},
    {"arm64: add x29, sp, #16 after a store, and ret before the end",
     "STACK CFI INIT 200 40 .cfa: sp 0 + .ra: x30\n"
     "STACK CFI 208 .cfa: x29 16 + .ra: .cfa -8 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^ "
     "x29: .cfa -16 + ^\n"
     "STACK CFI 20c .cfa: sp 0 + .ra: x30 x19: x19 x20: x20 x29: x29\n"
     "STACK CFI 210 .cfa: x29 16 + .ra: .cfa -8 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^ "
     "x29: .cfa -16 + ^\n"
     "STACK CFI INIT 240 40 .cfa: sp 0 + .ra: x30\nSTACK CFI 244 .cfa: sp 32 +\n",
     true,
     {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x43, 0x00, 0x91, 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f,
      0xd6}},
};

struct export_to {
    enum object_arch arch;
    FILE *out; /* one for all that are damaged */
};

static void export_damaged(const uint8_t *data, size_t bytes, void *context)
{
    const struct export_to *to = context;
    struct fault fault = FAULT_INIT;
    struct object_file object;
    rewind(to->out);
    if (object_file_open(data, bytes, 0, &object, &fault) == ERR_NONE)
        (void)unwind_export_dwarf(&object, to->arch, to->out);
}

TEST(compact_tables_as_records)
{
    for (size_t i = 0; i < COUNT_OF(compact_rows); i++) {
        struct fault fault = FAULT_INIT;
        struct object_file object;
        uint8_t file[0x400];
        char name[600], text[2048] = "";
        size_t bytes = make_macho(file, compact_rows[i].is_arm64, compact_rows[i].code,
                                  sizeof compact_rows[i].code);
        enum object_arch arch = compact_rows[i].is_arm64 ? ARCH_ARM64 : ARCH_X86_64;
        test_row(compact_rows[i].name);
        REQUIRE(object_file_open(file, bytes, 0, &object, &fault) == ERR_NONE);
        (void)snprintf(name, sizeof name, "%s/export.sym", test_scratch());
        FILE *out = fopen(name, "wb");
        REQUIRE(out != NULL);
        CHECK_EQ(unwind_export_dwarf(&object, arch, out), 2);
        REQUIRE(fclose(out) == 0);
        const uint8_t *data = test_read(name, &bytes);
        memcpy(text, data, bytes < sizeof text ? bytes : sizeof text - 1);
        CHECK_STR(text, compact_rows[i].want);
        struct export_to damaged = {arch, fopen(name, "wb")};
        REQUIRE(damaged.out != NULL);
        test_truncations(file, sizeof file, export_damaged, &damaged);
        test_flips(file, sizeof file, export_damaged, &damaged);
        (void)fclose(damaged.out);
    }
}
