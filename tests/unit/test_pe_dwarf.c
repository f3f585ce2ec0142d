/* DWARF in PE images: inline chains and lines of a program that mingw builds here, and damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/process.h"
#include "format/dwarf/pe_dwarf.h"
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
    "int main(void)\n"
    "{\n"
    "    int x;\n"
    "    return outer(&x);\n"
    "}\n";

/* Builds the program with DWARF of that version and reads it; skips without the compiler. */
static uint8_t *build(int version, size_t *bytes)
{
    char from[600], to[600], flag[32];
    struct fault fault = FAULT_INIT;
    struct process_result result;
    struct arena keep;

    arena_init(&keep, 0);
    if (process_find("x86_64-w64-mingw32-gcc", &keep) == NULL)
        SKIP("x86_64-w64-mingw32-gcc is not there");
    (void)snprintf(from, sizeof from, "%s/inline.c", test_scratch());
    (void)snprintf(to, sizeof to, "%s/inline.exe", test_scratch());
    (void)snprintf(flag, sizeof flag, "-gdwarf-%d", version);
    test_write(from, source, sizeof source - 1);
    const char *argv[] = {"x86_64-w64-mingw32-gcc", "-O2", flag, "-o", to, from, NULL};
    const struct process_request request = {.argv = argv};
    REQUIRE(process_run(&request, &keep, &result, &fault) == ERR_NONE && result.exit_code == 0);
    arena_free(&keep);
    return test_read(to, bytes);
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

static void check_chain(int version)
{
    static const struct {
        const char *function;
        uint32_t line;
    } want[] = {{"deep", 3}, {"middle", 7}, {"outer", 11}};
    struct pe_dwarf_frame frames[FRAMES];
    struct fault fault = FAULT_INIT;
    struct pe_dwarf *dwarf;
    struct pe pe;
    size_t bytes;
    uint8_t *data = build(version, &bytes);

    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    REQUIRE(pe_dwarf_open(&pe, &dwarf, &fault) == ERR_NONE);
    const uint32_t start = find_function(&pe, "outer");
    uint32_t rva = start; /* which instruction comes first is the compiler's choice */
    while (rva < start + 16 && pe_dwarf_lookup(dwarf, rva, frames, FRAMES) < 3)
        rva++;
    REQUIRE(rva < start + 16);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_STR(frames[i].function, want[i].function);
        CHECK_EQ(frames[i].line, want[i].line);
        CHECK_HAS(frames[i].file, "inline.c");
        CHECK_HEX(frames[i].start_rva, start);
    }
    uint32_t lines[FRAMES], several = 0;
    for (uint32_t at = start; at < start + 16; at++) { /* of several rows the last one counts */
        const uint32_t count = pe_dwarf_lines(dwarf, at, lines, FRAMES);
        if (pe_dwarf_lookup(dwarf, at, frames, FRAMES) > 0 && CHECK(count > 0))
            CHECK_EQ(lines[count - 1], frames[0].line);
        several += count > 1;
    }
    CHECK(several > 0);
    CHECK_EQ(pe_dwarf_lines(dwarf, rva, lines, 1), 1);
    CHECK_EQ(pe_dwarf_lines(dwarf, 0x10, lines, FRAMES), 0);
    CHECK_EQ(pe_dwarf_lookup(dwarf, 0x10, frames, FRAMES), 0);
    pe_dwarf_close(dwarf);
}

TEST(pe_dwarf_finds_inline_chains_of_dwarf_4)
{
    check_chain(4);
}

TEST(pe_dwarf_finds_inline_chains_of_dwarf_5)
{
    check_chain(5);
}

TEST(pe_dwarf_survives_damage)
{
    struct pe_section section;
    struct fault fault = FAULT_INIT;
    struct pe pe;
    size_t bytes;
    uint8_t *data = build(5, &bytes);
    static const char *const names[] = {".debug_info", ".debug_abbrev", ".debug_line",
                                        ".debug_rnglists"};

    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    const uint32_t rva = find_function(&pe, "outer");
    for (size_t n = 0; n < COUNT_OF(names); n++) {
        test_row(names[n]);
        REQUIRE(pe_section_named(&pe, names[n], &section));
        for (uint32_t i = 0; i < DAMAGED_BYTES && i < section.virtual_bytes; i++) {
            struct pe_dwarf_frame frames[FRAMES];
            struct fault damaged = FAULT_INIT;
            struct pe_dwarf *dwarf;
            uint8_t *at = data + section.foff + i;
            const uint8_t good = *at;
            *at = (uint8_t)(i % 2 != 0 ? 0xff : good + 1);
            if (pe_dwarf_open(&pe, &dwarf, &damaged) == ERR_NONE) {
                uint32_t lines[FRAMES];
                (void)pe_dwarf_lookup(dwarf, rva, frames, FRAMES);
                (void)pe_dwarf_lines(dwarf, rva, lines, FRAMES);
                pe_dwarf_close(dwarf);
            }
            *at = good;
        }
    }
}

TEST(pe_dwarf_is_absent_without_its_sections)
{
    struct fault fault = FAULT_INIT;
    struct pe_dwarf *dwarf;
    struct pe pe;
    size_t bytes;
    const uint8_t *data = test_read(test_fixture("g07-conpty-x64/conpty.node"), &bytes);

    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    CHECK_EQ(pe_dwarf_open(&pe, &dwarf, &fault), ERR_ABSENT);
    CHECK(dwarf == NULL);
}
