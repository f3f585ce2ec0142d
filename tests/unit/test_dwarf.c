/* DWARF in PE images: inline chains and lines of a program that mingw builds here, and damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "compiled.h"
#include "format/dwarf/dwarf.h"
#include "format/pe/pe.h"
#include "test.h"

enum { FRAMES = 8, DAMAGED_BYTES = 1500 };

static const char source[] =
    "static inline __attribute__((always_inline)) int deep(volatile int *p)\n"
    "{\n"
    "    return *p = 1;\n"
    "}\n"
    "static inline __attribute__((always_inline)) int middle(volatile int *p)\n"
    "{\n"
    "    return deep(p) + 1;\n"
    "}\n"
    "__attribute__((noinline)) int outer(volatile int *p)\n"
    "{\n"
    "    return middle(p) + 1;\n"
    "}\n"
    "int both(volatile int *p)\n" /* inlined, and has code of its own */
    "{\n"
    "    return *p + 2;\n"
    "}\n"
    "int main(void)\n"
    "{\n"
    "    int x;\n"
    "    return outer(&x) + both(&x);\n"
    "}\n";

/* Builds the program with DWARF of that version and reads it; skips without the compiler. */
static uint8_t *build(int version, size_t *bytes)
{
    char flag[32];
    (void)snprintf(flag, sizeof flag, "-gdwarf-%d", version);
    const char *const argv[] = {
        "x86_64-w64-mingw32-gcc", "-O2", flag, "-o", "inline.exe", "inline.c", NULL};
    return compile_text(argv, "inline.c", source, "inline.exe", NULL, bytes);
}

static uint32_t find_function(const struct pe *pe, const char *name)
{
    struct fault fault = FAULT_INIT;
    struct pe_symbol *symbols;
    struct arena keep;
    uint32_t count, rva = 0;

    arena_init(&keep, 0);
    REQUIRE(pe_coff_functions(pe, &keep, &symbols, &count, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(symbols[i].name, name) == 0)
            rva = symbols[i].rva;
    arena_free(&keep);
    REQUIRE(rva != 0);
    return rva;
}

/* The open resources of one program. */
struct opened {
    struct arena keep;
    struct pe pe;
    struct object_debug debug;
    struct dwarf *dwarf;
};

static bool open_dwarf(const uint8_t *data, size_t bytes, struct opened *out, struct fault *fault)
{
    arena_init(&out->keep, 0);
    out->dwarf = NULL;
    if (pe_open(data, bytes, &out->pe, fault) != ERR_NONE)
        return false;
    (void)pe_debug(&out->pe, &out->keep, &out->debug, fault);
    const struct dwarf_input input = {.debug = &out->debug};
    return dwarf_open(&input, &out->dwarf, fault) == ERR_NONE;
}

static void close_dwarf(struct opened *opened)
{
    dwarf_close(opened->dwarf);
    arena_free(&opened->keep);
}

static uint32_t depth_at(struct dwarf *dwarf, uint32_t offset, struct dwarf_place *place)
{
    uint32_t depth = 0;
    dwarf_at(dwarf, offset, place);
    for (const struct dwarf_scope *s = place->scope; s != NULL; s = s->around)
        depth++;
    return depth;
}

static void check_chain(int version)
{
    static const struct {
        const char *function;
        uint32_t line;
    } want[] = {{"deep", 3}, {"middle", 7}, {"outer", 11}};
    struct fault fault = FAULT_INIT;
    struct dwarf_place place;
    struct opened opened;
    size_t bytes;
    const uint8_t *data = build(version, &bytes);

    REQUIRE(open_dwarf(data, bytes, &opened, &fault));
    const uint32_t start = find_function(&opened.pe, "outer");
    uint32_t rva = start; /* the compiler chooses which instruction comes first */
    while (rva < start + 16 && depth_at(opened.dwarf, rva, &place) < 3)
        rva++;
    REQUIRE(rva < start + 16);
    CHECK(place.end > rva);
    const struct dwarf_scope *scope = place.scope;
    const char *file = place.file;
    uint32_t line = place.line;
    for (uint32_t i = 0; i < 3; i++, scope = scope->around) {
        CHECK_STR(dwarf_scope_name(scope), want[i].function);
        CHECK_EQ(scope->is_linked_so, i == 2); /* the others are static */
        CHECK_EQ(line, want[i].line);
        CHECK_HAS(file, "inline.c");
        file = scope->call_file;
        line = scope->call_line;
        if (i == 2)
            CHECK_HEX(scope->start, start);
    }
    CHECK_EQ(depth_at(opened.dwarf, find_function(&opened.pe, "both"), &place), 1);
    if (place.scope != NULL)
        CHECK(place.scope->is_linked_so);
    uint32_t lines[FRAMES], several = 0;
    for (uint32_t at = start; at < start + 16; at++) { /* the last of several rows counts */
        const uint32_t count = dwarf_lines(opened.dwarf, at, lines, FRAMES);
        if (depth_at(opened.dwarf, at, &place) > 0 && CHECK(count > 0))
            CHECK_EQ(lines[count - 1], place.line);
        several += count > 1;
    }
    CHECK(several > 0);
    CHECK_EQ(dwarf_lines(opened.dwarf, rva, lines, 1), 1);
    CHECK_EQ(dwarf_lines(opened.dwarf, 0x10, lines, FRAMES), 0);
    CHECK_EQ(depth_at(opened.dwarf, 0x10, &place), 0);
    close_dwarf(&opened);
}

TEST(dwarf_finds_inline_chains_of_version_2)
{
    check_chain(2);
}

TEST(dwarf_finds_inline_chains_of_version_3)
{
    check_chain(3);
}

TEST(dwarf_finds_inline_chains_of_version_4)
{
    check_chain(4);
}

TEST(dwarf_finds_inline_chains_of_version_5)
{
    check_chain(5);
}

static const char *name_of(const struct dwarf_place *place)
{
    const char *name = place->scope != NULL ? dwarf_scope_name(place->scope) : NULL;
    return name != NULL ? name : "-";
}

/* The first question about a unit is answered without the list of spans that answers the others.
 * Each of them is asked first here, and says no more than the list. */
TEST(the_first_question_is_answered_like_the_others)
{
    struct fault fault = FAULT_INIT;
    struct dwarf_place place, other;
    struct opened opened, fresh;
    size_t bytes;
    const uint8_t *data = build(5, &bytes);

    REQUIRE(open_dwarf(data, bytes, &opened, &fault));
    const uint32_t start = find_function(&opened.pe, "outer");
    (void)depth_at(opened.dwarf, start, &place);
    for (uint32_t at = start - 16; at < start + 64; at++) {
        const uint32_t depth = depth_at(opened.dwarf, at, &place);
        REQUIRE(open_dwarf(data, bytes, &fresh, &fault));
        CHECK_EQ(depth_at(fresh.dwarf, at, &other), depth);
        CHECK_STR(name_of(&other), name_of(&place));
        CHECK_EQ(other.line, place.line);
        CHECK_EQ(other.file != NULL, place.file != NULL);
        CHECK(other.end > at && other.end <= place.end);
        close_dwarf(&fresh);
    }
    close_dwarf(&opened);
}

TEST(dwarf_survives_damage)
{
    struct pe_section section;
    struct fault fault = FAULT_INIT;
    struct pe pe;
    size_t bytes;
    uint8_t *data = build(5, &bytes);
    static const char *const names[] = {".debug_info", ".debug_abbrev", ".debug_line",
                                        ".debug_rnglists", ".debug_str"};

    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    const uint32_t rva = find_function(&pe, "outer");
    for (size_t n = 0; n < COUNT_OF(names); n++) {
        test_row(names[n]);
        REQUIRE(pe_section_named(&pe, names[n], &section));
        for (uint32_t i = 0; i < DAMAGED_BYTES && i < section.virtual_bytes; i++) {
            struct fault damaged = FAULT_INIT;
            struct opened opened;
            uint8_t *at = data + section.foff + i;
            const uint8_t good = *at;
            *at = (uint8_t)(i % 2 != 0 ? 0xff : good + 1);
            if (open_dwarf(data, bytes, &opened, &damaged)) {
                struct dwarf_place place;
                uint32_t lines[FRAMES];
                (void)depth_at(opened.dwarf, rva, &place);
                (void)dwarf_lines(opened.dwarf, rva, lines, FRAMES);
            }
            close_dwarf(&opened);
            *at = good;
        }
    }
}

TEST(dwarf_is_absent_without_its_sections)
{
    struct fault fault = FAULT_INIT;
    struct opened opened;
    size_t bytes;
    const uint8_t *data = test_read(test_fixture("g07-conpty-x64/conpty.node"), &bytes);

    CHECK(!open_dwarf(data, bytes, &opened, &fault));
    CHECK_EQ(fault.code, ERR_ABSENT);
    close_dwarf(&opened);
}
