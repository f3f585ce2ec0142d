/* Code as text: llvm-objdump 19 reads the bytes of each row alike. */
#include "code/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "short_memory.h"
#include "test.h"

enum { BYTES = 48, LINES = 8, AT = 0x1000 };

struct row {
    const char *name;
    enum cpu cpu;
    enum pc_kind kind;
    uint8_t bytes[BYTES];
    uint32_t count, pc;
    bool aligned;
    const char *lines[LINES]; /* the mark, then the text */
    const char *note;
};

static const struct row rows[] = {
    {"x64: a store through null",
     CPU_X64,
     PC_INTERRUPTED,
     {0x48, 0x83, 0xEC, 0x28, 0xC7, 0x01, 0x01, 0, 0, 0, 0x90, 0x48, 0x83, 0xC4, 0x28, 0xC3},
     16,
     4,
     true,
     {"- sub rsp, 0x28", "pc mov dword ptr [rcx], 1", "- nop", "- add rsp, 0x28", "- ret"},
     NULL},
    {"x64: a call returns, and jumps are in the numbers of the frame",
     CPU_X64,
     PC_RETURN,
     {0x41, 0x54, 0xE8, 0xF9, 0x0F, 0, 0, 0x85, 0xC0, 0x74, 0xF5},
     11,
     7,
     true,
     {"- push r12", "call call 0x2000", "pc test eax, eax", "- je 0x1000"},
     NULL},
    {"x64: a call through memory",
     CPU_X64,
     PC_RETURN,
     {0xFF, 0x15, 0x10, 0, 0, 0, 0xCC},
     7,
     6,
     true,
     {"call call qword ptr [rip + 0x10]", "pc int3"},
     NULL},
    {"x64: the call is the last instruction",
     CPU_X64,
     PC_RETURN,
     {0x50, 0xE8, 0, 0, 0, 0},
     6,
     6,
     true,
     {"- push rax", "call call 0x1006"},
     NULL},
    {"x64: no call before the return address",
     CPU_X64,
     PC_RETURN,
     {0x50, 0x90, 0xC3},
     3,
     2,
     true,
     {"- push rax", "- nop", "pc ret"},
     "no call ends at this return address"},
    {"x64: within an instruction",
     CPU_X64,
     PC_RETURN,
     {0x48, 0x83, 0xEC, 0x28, 0xC3},
     5,
     2,
     false,
     {NULL},
     NULL},
    {"x64: bytes that are no instruction",
     CPU_X64,
     PC_INTERRUPTED,
     {0x90, 0x06, 0x90},
     3,
     2,
     false,
     {"- nop"},
     "the bytes at 0x1001 are no instruction"},
    {"x64: the last one is cut off",
     CPU_X64,
     PC_INTERRUPTED,
     {0x90, 0x48, 0x83, 0xEC},
     4,
     0,
     true,
     {"pc nop"},
     NULL},
    /* Intel's manual, volume 2, 2.3.11: no instruction has more than 15 bytes */
    {"x64: 15 bytes may be the begin of one",
     CPU_X64,
     PC_INTERRUPTED,
     {0x90, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
      0x66},
     16,
     0,
     true,
     {"pc nop"},
     NULL},
    {"x64: 16 bytes are none",
     CPU_X64,
     PC_INTERRUPTED,
     {0x90, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
      0x66, 0x66},
     17,
     0,
     true,
     {"pc nop"},
     "the bytes at 0x1001 are no instruction"},
    {"x64: prefixes, a vector register, an absolute address",
     CPU_X64,
     PC_INTERRUPTED,
     {0x65, 0x48, 0x8B, 0x04, 0x25, 0x30, 0, 0, 0, 0x0F, 0x29, 0x74, 0x24, 0x20, 0xC5, 0xF8, 0x77},
     17,
     9,
     true,
     {"- mov rax, qword ptr gs:[0x30]", "pc movaps xmmword ptr [rsp + 0x20], xmm6", "- vzeroupper"},
     NULL},
    {"x86: frame pointer, a call to a table",
     CPU_X86,
     PC_RETURN,
     {0x55, 0x89, 0xE5, 0xFF, 0x15, 0x00, 0x20, 0x40, 0x00, 0xC9, 0xC2, 0x04, 0x00},
     13,
     9,
     true,
     {"- push ebp", "- mov ebp, esp", "call call dword ptr [0x402000]", "pc leave", "- ret 4"},
     NULL},
    {"arm64: a call, and an instruction that is not known",
     CPU_ARM64,
     PC_RETURN,
     {0xFD, 0x7B, 0xBF, 0xA9, 0x00, 0x04, 0x00, 0x94, 0xFF, 0xFF, 0xFF, 0x00, 0xC0, 0x03, 0x5F,
      0xD6},
     16,
     8,
     true,
     {"- stp x29, x30, [sp, #-0x10]!", "call bl #0x2004", "pc .inst 0x00ffffff", "- ret"},
     NULL},
    {"arm64: not at a word",
     CPU_ARM64,
     PC_INTERRUPTED,
     {0xFD, 0x7B, 0xBF, 0xA9, 0xC0, 0x03, 0x5F, 0xD6},
     8,
     6,
     false,
     {NULL},
     NULL},
    {"32-bit arm: no text", CPU_ARM, PC_INTERRUPTED, {0x80, 0xB5}, 2, 0, false, {NULL}, NULL},
    {"unknown processor", CPU_UNKNOWN, PC_INTERRUPTED, {0x90}, 1, 0, false, {NULL}, NULL},
    {"no bytes", CPU_X64, PC_INTERRUPTED, {0}, 0, 0, true, {NULL}, NULL},
};

static struct code_bytes code_of(const struct row *row)
{
    return (struct code_bytes){row->cpu, AT, row->bytes, row->count, row->pc, row->kind};
}

static void check_lines(const struct row *row, const struct code_listing *got, struct arena *keep)
{
    uint32_t count = 0;
    while (count < LINES && row->lines[count] != NULL)
        count++;
    CHECK_EQ(got->count, count);
    for (uint32_t i = 0; i < got->count && i < count; i++) {
        const char *mark = code_mark_name(got->lines[i].mark);
        CHECK_STR(arena_printf(keep, "%s %s", mark != NULL ? mark : "-", got->lines[i].text),
                  row->lines[i]);
        CHECK_EQ(got->lines[i].bytes - row->bytes, got->lines[i].at - AT);
    }
    CHECK_STR(got->note, row->note);
}

TEST(bytes_become_instructions)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct code_bytes code = code_of(&rows[i]);
        struct fault fault = FAULT_INIT;
        struct code_listing got;
        struct arena keep;
        uint32_t start = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(code_align(&code, &start), rows[i].aligned);
        if (rows[i].aligned)
            CHECK_EQ(start, 0);
        if (rows[i].aligned || rows[i].lines[0] != NULL) {
            REQUIRE(code_list(&code, &keep, &got, &fault) == ERR_NONE);
            check_lines(&rows[i], &got, &keep);
        }
        arena_free(&keep);
    }
}

/* Each beginning of a row's bytes is read alone, in memory of its own size: a sanitizer sees more.
 */
TEST(every_truncation_is_a_beginning)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint32_t count = 0; count < rows[i].count; count++) {
            struct fault fault = FAULT_INIT;
            struct code_listing whole, got;
            struct arena keep;
            struct code_bytes code = code_of(&rows[i]);
            test_row(rows[i].name);
            arena_init(&keep, 0);
            code.kind = PC_INTERRUPTED;
            code.pc = 0;
            REQUIRE(code_list(&code, &keep, &whole, &fault) == ERR_NONE);
            uint8_t *copy = arena_alloc(&keep, count + 1);
            memcpy(copy, rows[i].bytes, count);
            code.bytes = copy;
            code.count = count;
            REQUIRE(code_list(&code, &keep, &got, &fault) == ERR_NONE);
            CHECK(got.count <= whole.count);
            for (uint32_t k = 0; k < got.count; k++)
                CHECK_STR(got.lines[k].text, whole.lines[k].text);
            arena_free(&keep);
        }
}

TEST(what_is_shown_begins_with_an_instruction)
{
    static const struct {
        const char *name;
        uint32_t nops, pc; /* then instructions of seven bytes */
        uint32_t start;
    } cuts[] = {
        {"the begin is near", 0, 28, 0},
        {"an instruction lies across the limit", 0, 35, 7},
        {"one begins at the limit", 4, 4 + 28, 0},
        {"far from the begin", 3, 3 + 700, 3 + 672},
        {"at the begin", 0, 0, 0},
    };
    static const uint8_t mov[7] = {0x48, 0xC7, 0xC0, 0x90, 0x90, 0x90, 0x90};
    static uint8_t bytes[1024];
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        uint32_t start = 0, count = cuts[i].nops;
        test_row(cuts[i].name);
        memset(bytes, 0x90, sizeof bytes);
        for (; count < cuts[i].pc; count += (uint32_t)sizeof mov)
            memcpy(bytes + count, mov, sizeof mov);
        const struct code_bytes code = {CPU_X64,      AT,         bytes,
                                        sizeof bytes, cuts[i].pc, PC_INTERRUPTED};
        REQUIRE(code_align(&code, &start));
        CHECK_EQ(start, cuts[i].start);
    }
}

/* Bytes of a dump are anything. A listing is as long as its bytes at most, and in their order. */
TEST(hostile_bytes_have_a_listing)
{
    static const enum cpu cpus[] = {CPU_X86, CPU_X64, CPU_ARM64, CPU_ARM};
    uint32_t seed = 1;
    for (uint32_t round = 0; round < 4000; round++) {
        uint8_t bytes[128];
        struct fault fault = FAULT_INIT;
        struct code_listing got;
        struct arena keep;
        uint32_t end = 0, start = 0;
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525U + 1013904223U;
            bytes[i] = (uint8_t)(seed >> 24);
        }
        const struct code_bytes code = {cpus[round % 4], UINT64_MAX - 16, bytes,
                                        sizeof bytes,    round % 129,     PC_RETURN};
        arena_init(&keep, 0);
        (void)code_align(&code, &start);
        CHECK(start <= code.pc);
        REQUIRE(code_list(&code, &keep, &got, &fault) == ERR_NONE);
        for (uint32_t i = 0; i < got.count; i++) {
            CHECK(got.lines[i].bytes == bytes + end && got.lines[i].count > 0);
            CHECK(got.lines[i].text[0] != 0);
            end += got.lines[i].count;
        }
        CHECK(end <= sizeof bytes);
        arena_free(&keep);
    }
}

static enum status list_short(struct arena *keep, void *context, struct fault *fault)
{
    struct code_listing got;
    return code_list(context, keep, &got, fault);
}

TEST(memory_ends_at_each_request)
{
    struct code_bytes code = code_of(&rows[0]);
    short_memory(list_short, &code);
}

/* As an engine gives it: all bytes from the begin of the function on. */
TEST(evidence_is_cut_to_what_is_shown)
{
    static const struct {
        const char *name, *before, *after;
        bool aligned;
        const char *cut;  /* what is left of BEFORE */
        bool still;       /* aligned */
        const char *text; /* at the pc; NULL: no listing */
    } cuts[] = {
        {"from the begin", "4883ec28e800000000", "90c3", true, "4883ec28e800000000", true, "nop"},
        {"far from the begin",
         "5048b8000000000000000048b8000000000000000048b8000000000000000048b80000000000000000", "c3",
         true, "48b8000000000000000048b8000000000000000048b80000000000000000", true, "ret"},
        {"within an instruction", "505050505050505050505050505050505050b8000000", "00c3", true,
         "505050505050505050505050b8000000", false, NULL},
        {"begin not known", "0102", "c3", false, "0102", false, NULL},
        {"at the begin", NULL, "c3", true, NULL, true, "ret"},
        {"no byte from the pc on", "e800000000", NULL, true, "e800000000", true, NULL},
        {"nothing", NULL, NULL, false, NULL, false, NULL},
        {"no hexadecimal", "xyz", "c3", true, NULL, true, "ret"},
        {"half a byte", "905", "c3", true, "905", true, "ret"},
    };
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        const struct frame_evidence row = {.code_before = cuts[i].before,
                                           .code_after = cuts[i].after,
                                           .code_aligned = cuts[i].aligned};
        const struct frame_evidence other = {.code_before = "90", .code_aligned = true};
        const struct frame_evidence evidence[] = {row, row, other, row}; /* of a recursion */
        struct stack stack = {.evidence = evidence, .evidence_count = COUNT_OF(evidence)};
        struct code_listing got;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        const char *text = NULL;
        test_row(cuts[i].name);
        arena_init(&keep, 0);
        REQUIRE(evidence_cut_code(CPU_X64, &stack, &keep, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < COUNT_OF(evidence); k++) {
            const bool is_other = k == 2;
            CHECK_STR(stack.evidence[k].code_before, is_other ? "90" : cuts[i].cut);
            CHECK_STR(stack.evidence[k].code_after, is_other ? NULL : cuts[i].after);
            CHECK_EQ(stack.evidence[k].code_aligned, is_other || cuts[i].still);
        }
        REQUIRE(evidence_list_code(CPU_X64, stack.evidence, AT, PC_RETURN, &keep, &got, &fault) ==
                ERR_NONE);
        for (uint32_t k = 0; k < got.count; k++)
            if (got.lines[k].mark == CODE_PC) {
                text = got.lines[k].text;
                CHECK_HEX(got.lines[k].at, AT);
            }
        CHECK_STR(text, cuts[i].text);
        arena_free(&keep);
    }
}

/* What a program reads of it; the instruction of 15 bytes is the longest that there is. */
TEST(a_listing_is_written_for_programs)
{
    static const struct {
        const char *name;
        enum cpu cpu;
        uint8_t bytes[16];
        uint32_t count, pc;
        const char *json;
    } listings[] = {
        {"a call and the pc",
         CPU_X64,
         {0xE8, 0, 0, 0, 0, 0xC3},
         6,
         5,
         "{\"note\":null,\"lines\":[{\"at\":\"0x1000\",\"bytes\":\"e8 00 00 00 00\","
         "\"text\":\"call 0x1005\",\"mark\":\"call\"},{\"at\":\"0x1005\","
         "\"bytes\":\"c3\",\"text\":\"ret\",\"mark\":\"pc\"}]}"},
        {"15 bytes",
         CPU_X64,
         {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0},
         15,
         0,
         "{\"note\":null,\"lines\":[{\"at\":\"0x1000\","
         "\"bytes\":\"66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00\","
         "\"text\":\"nop word ptr cs:[rax + rax]\",\"mark\":\"pc\"}]}"},
        {"no code", CPU_X64, {0}, 0, 0, "null"},
        {"a processor without text", CPU_ARM, {0x80, 0xB5}, 2, 0, "null"},
    };
    for (size_t i = 0; i < COUNT_OF(listings); i++) {
        uint8_t *bytes = malloc(listings[i].count + (listings[i].count == 0)); /* and no more */
        struct code_bytes code = {listings[i].cpu, AT,       bytes, listings[i].count,
                                  listings[i].pc,  PC_RETURN};
        struct fault fault = FAULT_INIT;
        struct code_listing got;
        struct arena keep;
        struct json json;
        test_row(listings[i].name);
        REQUIRE(bytes != NULL);
        memcpy(bytes, listings[i].bytes, listings[i].count);
        arena_init(&keep, 0);
        REQUIRE(code_list(&code, &keep, &got, &fault) == ERR_NONE);
        json_to_text(&json, false);
        code_listing_write(&got, &json);
        char *text = json_take(&json, NULL);
        CHECK_STR(text, listings[i].json);
        free(text);
        free(bytes);
        arena_free(&keep);
    }
}

/* Evidence has its bytes as hexadecimal digits; what is none ends them. */
TEST(digits_of_evidence_are_bytes)
{
    static const struct {
        const char *name, *hex;
        uint32_t count; /* instructions */
        const char *text;
    } digits[] = {
        {"0 to 7", "b801234567", 1, "mov eax, 0x67452301"},
        {"8 to f", "b889abcdef", 1, "mov eax, 0xefcdab89"},
        {"each the other way", "b898badcfe", 1, "mov eax, 0xfedcba98"},
        {"what is no digit ends it", "c3x0", 1, "ret"},
        {"half a byte ends it", "c3c", 1, "ret"},
        {"capital letters are none", "C3", 0, NULL},
        {"after f", "cg", 0, NULL},
        {"before a", "c`", 0, NULL},
        {"after 9", "c:", 0, NULL},
        {"before 0", "c/", 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(digits); i++) {
        const struct frame_evidence evidence = {.code_after = digits[i].hex, .code_aligned = true};
        struct fault fault = FAULT_INIT;
        struct code_listing got;
        struct arena keep;
        test_row(digits[i].name);
        arena_init(&keep, 0);
        REQUIRE(evidence_list_code(CPU_X64, &evidence, AT, PC_INTERRUPTED, &keep, &got, &fault) ==
                ERR_NONE);
        CHECK_EQ(got.count, digits[i].count);
        if (got.count > 0)
            CHECK_STR(got.lines[0].text, digits[i].text);
        arena_free(&keep);
    }
}
