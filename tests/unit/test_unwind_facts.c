/* What the unwinders learn of an image from its headers: sections, .pdata and the exports of
 * ntdll.dll, which are sorted by name. Layout: Microsoft's PE format. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "unwind_world.h"

enum { EXPORTS = 0x2000, ROWS_AT = 0x188, DISPATCHER = 0x1100 };

static void put(struct world *w, uint32_t rva, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        w->image[rva + i] = (uint8_t)(value >> (8 * i));
}

static void put_section(struct world *w, uint32_t index, uint32_t bytes, uint32_t rva,
                        uint32_t raw_bytes, uint32_t flags)
{
    const uint32_t at = ROWS_AT + 40 * index;
    put(w, at + 8, bytes, 4);
    put(w, at + 12, rva, 4);
    put(w, at + 16, raw_bytes, 4);
    put(w, at + 36, flags, 4);
}

TEST(code_is_in_executable_sections)
{
    struct world *w = malloc(sizeof *w);
    REQUIRE(w != NULL);
    world_init(w, PE_MACHINE_X64);
    put(w, 0x86, 5, 2);
    put_section(w, 0, 0x100, 0x1000, 0, 0x20000000);
    put_section(w, 1, 0x100, 0x2000, 0, 0x40000000); /* readable alone */
    put_section(w, 2, 0, 0x3000, 0x80, 0x60000020);  /* its size in the file */
    put_section(w, 3, 0xffffffff, 0x3100, 0, 0x20000000);
    put_section(w, 4, 0x10, 0x3200, 0x999, 0x20000000);
    const struct unwind_module *facts = unwind_module_of(&w->process, &w->module);
    REQUIRE(facts != NULL);
    CHECK(facts->has_headers && !facts->is_x86 && facts->knows_code && facts->knows_pdata);
    REQUIRE(facts->code_count == 3);
    CHECK_HEX(facts->code[0].begin_rva, 0x1000);
    CHECK_HEX(facts->code[0].end_rva, 0x1100);
    CHECK_HEX(facts->code[1].begin_rva, 0x3000);
    CHECK_HEX(facts->code[1].end_rva, 0x3080);
    CHECK_HEX(facts->code[2].end_rva, 0x3210);
    world_free(w);
    free(w);
}

/* Of 97 sections with code there is room for 96: then any address may be code. */
TEST(more_sections_than_there_is_room_for_are_said)
{
    for (uint32_t more = 0; more <= 1; more++) {
        struct world *w = malloc(sizeof *w);
        REQUIRE(w != NULL);
        world_init(w, PE_MACHINE_X64);
        w->module.name = "ntdll.dll"; /* which has no exports here */
        put(w, 0x86, UNWIND_CODE_RANGES_MAX + more, 2);
        for (uint32_t i = 0; i < UNWIND_CODE_RANGES_MAX + more; i++)
            put_section(w, i, 1, 0x1000 + i, 0, 0x20000000);
        const struct unwind_module *facts = unwind_module_of(&w->process, &w->module);
        REQUIRE(facts != NULL);
        CHECK_EQ(facts->code_count, UNWIND_CODE_RANGES_MAX);
        CHECK_EQ(facts->knows_code, more == 0);
        CHECK_HEX(facts->exceptions.begin_rva, 0);
        CHECK_HEX(facts->exceptions.end_rva, 0);
        world_free(w);
        free(w);
    }
}

TEST(the_exception_directory_says_how_many_rows_there_are)
{
    static const struct {
        const char *name;
        uint16_t machine;
        uint32_t bytes, rows;
        bool known;
    } rows[] = {
        {"x64", PE_MACHINE_X64, 36, 3, true},
        {"x64, with a rest", PE_MACHINE_X64, 47, 3, true},
        {"arm64", PE_MACHINE_ARM64, 40, 5, true},
        {"x86 has none", PE_MACHINE_X86, 36, 0, true},
        {"none", PE_MACHINE_X64, 0, 0, true},
        {"the most", PE_MACHINE_X64, UNWIND_PDATA_MAX * 12U, UNWIND_PDATA_MAX, true},
        {"one more", PE_MACHINE_X64, UNWIND_PDATA_MAX * 12U + 12, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world *w = malloc(sizeof *w);
        REQUIRE(w != NULL);
        world_init(w, rows[i].machine);
        put(w, 0x98 + 112 + 24, WORLD_PDATA_RVA, 4);
        put(w, 0x98 + 112 + 28, rows[i].bytes, 4);
        const struct unwind_module *facts = unwind_module_of(&w->process, &w->module);
        test_row(rows[i].name);
        REQUIRE(facts != NULL);
        CHECK_EQ(facts->pdata_count, rows[i].rows);
        CHECK_EQ(facts->knows_pdata, rows[i].known);
        world_free(w);
        free(w);
    }
}

/* Names are sorted; the ordinal of a name leads to its address. */
TEST(dispatchers_are_found_among_the_exports)
{
    static const struct {
        const char *name, *module;
        const char *exports[4];
        uint32_t count;
        bool found;
    } rows[] = {
        {"alone", "ntdll.dll", {"KiUserExceptionDispatcher"}, 1, true},
        {"the first", "ntdll.dll", {"KiUserExceptionDispatcher", "L", "M", "N"}, 4, true},
        {"the last", "NTDLL.DLL", {"A", "B", "C", "KiUserExceptionDispatcher"}, 4, true},
        {"in the middle", "ntdll.dll", {"A", "KiUserExceptionDispatcher", "Z"}, 3, true},
        {"of another module", "other.dll", {"KiUserExceptionDispatcher"}, 1, false},
        {"after all", "ntdll.dll", {"A", "B"}, 2, false},
        {"before all", "ntdll.dll", {"L", "M", "N"}, 3, false},
        {"a longer name", "ntdll.dll", {"KiUserExceptionDispatcherX"}, 1, false},
        {"a shorter one", "ntdll.dll", {"KiUserExceptionDispatche"}, 1, false},
        {"no names", "ntdll.dll", {NULL}, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint32_t functions = EXPORTS + 0x40, names = EXPORTS + 0x80,
                       ordinals = EXPORTS + 0xc0;
        struct world *w = malloc(sizeof *w);
        uint32_t text = EXPORTS + 0x100;
        REQUIRE(w != NULL);
        world_init(w, PE_MACHINE_X64);
        w->module.name = rows[i].module;
        put(w, 0x98 + 112, EXPORTS, 4);
        put(w, EXPORTS + 20, rows[i].count, 4);
        put(w, EXPORTS + 24, rows[i].count, 4);
        put(w, EXPORTS + 28, functions, 4);
        put(w, EXPORTS + 32, names, 4);
        put(w, EXPORTS + 36, ordinals, 4);
        for (uint32_t k = 0; k < rows[i].count; k++) {
            const uint32_t ordinal = rows[i].count - 1 - k; /* addresses in the other order */
            const bool is_it = strcmp(rows[i].exports[k], "KiUserExceptionDispatcher") == 0;
            put(w, names + 4 * k, text, 4);
            put(w, ordinals + 2 * k, ordinal, 2);
            put(w, functions + 4 * ordinal, is_it ? DISPATCHER : 0x1800 + 0x10 * k, 4);
            world_put(w, text, rows[i].exports[k], strlen(rows[i].exports[k]) + 1);
            text += 32;
        }
        const struct unwind_module *facts = unwind_module_of(&w->process, &w->module);
        test_row(rows[i].name);
        REQUIRE(facts != NULL);
        CHECK(!facts->lacks_exports);
        CHECK_HEX(facts->exceptions.begin_rva, rows[i].found ? DISPATCHER : 0);
        CHECK_HEX(facts->exceptions.end_rva, rows[i].found ? DISPATCHER + 0x100 : 0);
        world_free(w);
        free(w);
    }
}

TEST(exports_that_cannot_be_read_are_said)
{
    struct world *w = malloc(sizeof *w);
    REQUIRE(w != NULL);
    world_init(w, PE_MACHINE_X64);
    w->module.name = "ntdll.dll";
    put(w, 0x98 + 112, EXPORTS, 4);
    w->missing = (struct unwind_range){EXPORTS + 30, EXPORTS + 40};
    const struct unwind_module *facts = unwind_module_of(&w->process, &w->module);
    REQUIRE(facts != NULL);
    CHECK(facts->lacks_exports);
    CHECK_HEX(facts->exceptions.end_rva, 0);
    world_free(w);
    free(w);
}

TEST(a_place_in_a_function_has_a_name_or_is_unknown)
{
    static const struct {
        enum unwind_where where;
        const char *name;
    } rows[] = {{WHERE_NONE, "unknown"},
                {WHERE_PROLOGUE, "prologue"},
                {WHERE_BODY, "body"},
                {WHERE_EPILOGUE, "epilogue"},
                {(enum unwind_where)(WHERE_EPILOGUE + 1), "unknown"},
                {(enum unwind_where)255, "unknown"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_STR(unwind_where_name(rows[i].where), rows[i].name);
}
