/* Lists of ranges as DWARF 5, 2.17.3 and 7.25, and DWARF 4, 2.17.3, lay them out; and what applies
 * at an address that several scopes and rows of lines cover. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dwarf_maker.h"
#include "format/dwarf/reader.h"
#include "random.h"
#include "test.h"

enum { RANGES = 0x55, DATA4 = 0x06, DATA8 = 0x07, SEC_OFFSET = 0x17, SIZE = 0x20, SECOND = 0x80 };

/* How an operand is written: an unsigned LEB128, an address; or no operand is left. */
enum { NONE, LEB, ADDRESS };

/* The addresses of the table: number 1 is where the function starts, 2 where it ends. */
static const uint32_t addresses[] = {BASE + 0x100, BASE + AT, BASE + AT + SIZE};

struct operand {
    uint8_t how;
    uint32_t value;
};
struct entry {
    uint8_t kind;
    struct operand operands[2];
};

static const struct {
    const char *name;
    struct entry entries[2];
    bool damaged;
} lists[] = {
    {"offset_pair", {{4, {{LEB, AT}, {LEB, AT + SIZE}}}}, false},
    {"startx_endx", {{2, {{LEB, 1}, {LEB, 2}}}}, false},
    {"startx_length", {{3, {{LEB, 1}, {LEB, SIZE}}}}, false},
    {"start_end", {{6, {{ADDRESS, BASE + AT}, {ADDRESS, BASE + AT + SIZE}}}}, false},
    {"start_length", {{7, {{ADDRESS, BASE + AT}, {LEB, SIZE}}}}, false},
    {"base_addressx", {{1, {{LEB, 1}}}, {4, {{LEB, 0}, {LEB, SIZE}}}}, false},
    {"base_address", {{5, {{ADDRESS, BASE + AT - 8}}}, {4, {{LEB, 8}, {LEB, 8 + SIZE}}}}, false},
    {"startx_endx of an address that is not there", {{2, {{LEB, 3}, {LEB, 2}}}}, true},
    {"and of an end that is not there", {{2, {{LEB, 1}, {LEB, 3}}}}, true},
    {"startx_length of one that is not there", {{3, {{LEB, 3}, {LEB, SIZE}}}}, true},
    {"base_addressx of one that is not there", {{1, {{LEB, 3}}}}, true},
    {"an entry of no kind", {{8, {{LEB, AT}, {LEB, AT + SIZE}}}}, true},
};

/* A function whose ranges are the list at 0. */
static struct made *function_of_list(const struct made *format)
{
    const bool wide = format->wide;
    const uint64_t form = format->version >= 4 ? SEC_OFFSET : wide ? DATA8 : DATA4;
    const uint64_t pairs[] = {NAME, STRING, RANGES, form, 0};
    struct made *m = begin(format);
    shape(m, 2, FUNCTION, false, pairs);
    put_unsigned(&m->info, 2);
    put_text(&m->info, "listed");
    number(m, 0, wide ? 8 : 4);
    end_unit(m);
    return m;
}

static void check_function(const struct object_debug *debug, bool damaged)
{
    static const uint32_t first[][2] = {{AT - 1, 0},     {AT, 1},         {AT + SIZE - 1, 1},
                                        {AT + SIZE, 0},  {SECOND - 1, 0}, {SECOND, 1},
                                        {SECOND + 7, 1}, {SECOND + 8, 0}};
    for (size_t i = 0; i < COUNT_OF(first); i++) {
        const struct answer got = ask_at(debug, NULL, first[i][0]);
        CHECK(got.opened);
        if (!CHECK_STR(got.name, first[i][1] != 0 && !damaged ? "listed" : "-"))
            FAIL("at 0x%x", (unsigned)first[i][0]);
        CHECK_EQ(got.damaged, damaged);
    }
}

/* After each list comes a range of eight bytes of its own. */
TEST(every_entry_of_a_list_of_ranges)
{
    for (size_t f = 0; f < FORMATS; f++)
        for (size_t i = 0; formats[f].version >= 5 && i < COUNT_OF(lists); i++) {
            struct part *list = calloc(1, sizeof *list), *table = calloc(1, sizeof *table);
            struct made *m = function_of_list(&formats[f]);
            REQUIRE(list != NULL && table != NULL);
            test_row(lists[i].name);
            for (size_t e = 0; e < 2 && lists[i].entries[e].kind != 0; e++) {
                put_fixed(list, lists[i].entries[e].kind, 1, m->big);
                for (size_t k = 0; k < 2; k++) {
                    const struct operand *o = &lists[i].entries[e].operands[k];
                    if (o->how == LEB)
                        put_unsigned(list, o->value);
                    else if (o->how == ADDRESS)
                        put_fixed(list, o->value, m->address_bytes, m->big);
                }
            }
            put_fixed(list, 7, 1, m->big);
            put_fixed(list, BASE + SECOND, m->address_bytes, m->big);
            put_unsigned(list, 8);
            put_fixed(list, 0, 1, m->big);
            put_fixed(table, 0, m->wide ? 16 : 8, m->big); /* the table's head */
            for (size_t k = 0; k < COUNT_OF(addresses); k++)
                put_fixed(table, addresses[k], m->address_bytes, m->big);
            struct object_debug debug = sections_of(m);
            debug.own[DEBUG_RNGLISTS] = (struct byte_view){list->data, list->bytes};
            debug.own[DEBUG_ADDR] = (struct byte_view){table->data, table->bytes};
            check_function(&debug, lists[i].damaged);
            free(table);
            free(list);
            free(m);
        }
}

/* Pairs from the unit's base, or from the base that a pair with the largest address sets. */
TEST(pairs_of_the_older_lists)
{
    enum { PAIRS = 3 };
    static const struct {
        const char *name;
        uint32_t pairs[PAIRS][2]; /* UINT32_MAX: the largest address */
        bool ends, damaged;
    } rows[] = {
        {"from the unit's base", {{AT, AT + SIZE}, {SECOND, SECOND + 8}, {0, 0}}, true, false},
        {"from another base",
         {{UINT32_MAX, BASE + AT}, {0, SIZE}, {SECOND - AT, SECOND - AT + 8}},
         true,
         false},
        {"a base after the first pair",
         {{AT, AT + SIZE}, {UINT32_MAX, BASE + SECOND}, {0, 8}},
         true,
         false},
        {"without an end", {{AT, AT + SIZE}, {SECOND, SECOND + 8}, {0x90, 0x90}}, false, true},
    };
    for (size_t f = 0; f < FORMATS; f++)
        for (size_t i = 0; formats[f].version < 5 && i < COUNT_OF(rows); i++) {
            struct part *list = calloc(1, sizeof *list);
            struct made *m = function_of_list(&formats[f]);
            REQUIRE(list != NULL);
            test_row(rows[i].name);
            for (size_t k = 0; k < PAIRS; k++)
                for (size_t n = 0; n < 2; n++) {
                    const uint32_t value = rows[i].pairs[k][n];
                    put_fixed(list, value == UINT32_MAX ? UINT64_MAX : value, m->address_bytes,
                              m->big);
                }
            if (rows[i].ends)
                put_fixed(list, 0, 2 * (size_t)m->address_bytes, m->big);
            struct object_debug debug = sections_of(m);
            debug.own[DEBUG_RANGES] = (struct byte_view){list->data, list->bytes};
            if (rows[i].damaged)
                CHECK(ask_at(&debug, NULL, AT).damaged);
            else
                check_function(&debug, false);
            free(list);
            free(m);
        }
}

enum { PLACES = 48, MOST = 12 };

/* What applies at OFFSET, found one by one: of the ranges that cover it the last, and of the rows
 * up to it the last, unless its sequence has ended since. */
static struct dwarf_span one_by_one(const struct dwarf_unit *unit, const struct scope_range *ranges,
                                    uint32_t count, uint32_t offset)
{
    struct dwarf_span out = {.file = UINT32_MAX};
    const struct dwarf_row *row = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (ranges[i].low <= offset && offset < ranges[i].high)
            out.scope = ranges[i].scope + 1;
    for (uint32_t i = 0; i < unit->row_count && unit->rows[i].offset <= offset; i++)
        if (unit->rows[i].ends == 0)
            row = &unit->rows[i];
        else if (row != NULL && row->sequence == unit->rows[i].sequence)
            row = NULL;
    if (row != NULL) {
        out.line = row->line;
        out.file = row->file;
    }
    return out;
}

static void check_spans(struct dwarf_unit *unit, const struct scope_range *ranges, uint32_t count)
{
    struct sweep_memory memory = {0};
    dwarf_make_spans(&memory, unit, ranges, count);
    REQUIRE(unit->spans != NULL);
    for (uint32_t offset = 0; offset < PLACES + 2; offset++) {
        const struct dwarf_span want = one_by_one(unit, ranges, count, offset);
        struct dwarf_span got = {.file = UINT32_MAX};
        for (uint32_t i = 0; i < unit->span_count && unit->spans[i].start <= offset; i++)
            got = unit->spans[i];
        CHECK_EQ(got.scope, want.scope);
        CHECK_EQ(got.line, want.line);
        CHECK_EQ(got.file, want.file);
    }
    for (uint32_t i = 1; i < unit->span_count; i++) {
        const struct dwarf_span *a = &unit->spans[i - 1], *b = &unit->spans[i];
        CHECK(a->start < b->start);
        CHECK(a->scope != b->scope || a->line != b->line || a->file != b->file);
    }
    free(unit->spans);
    free(memory.starts);
    free(memory.heap);
}

TEST(of_scopes_at_one_address_the_last_applies)
{
    static const struct {
        const char *name;
        struct scope_range ranges[4]; /* the unused ones are empty */
    } rows[] = {
        {"nested", {{0, 40, 0}, {0, 20, 1}, {0, 10, 2}, {0, 0, 3}}},
        {"nested, of one end", {{0, 40, 0}, {10, 40, 1}, {20, 40, 2}, {30, 40, 3}}},
        {"side by side", {{0, 10, 0}, {10, 20, 1}, {20, 30, 2}, {40, 48, 3}}},
        {"overlapping", {{0, 20, 0}, {10, 30, 1}, {5, 15, 2}, {12, 13, 3}}},
        {"the first one is the innermost", {{12, 13, 0}, {5, 15, 1}, {10, 30, 2}, {0, 20, 3}}},
        {"two parts of one scope", {{0, 40, 0}, {5, 10, 1}, {20, 30, 1}, {25, 26, 2}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dwarf_unit unit = {0};
        test_row(rows[i].name);
        check_spans(&unit, rows[i].ranges, COUNT_OF(rows[i].ranges));
    }
}

TEST(spans_are_what_is_found_one_by_one)
{
    uint64_t state = 4101;
    for (int round = 0; round < 300; round++) {
        struct scope_range ranges[MOST];
        struct dwarf_row lines[MOST];
        const uint32_t count = (uint32_t)(next_random(&state) >> 32) % (MOST + 1);
        struct dwarf_unit unit = {.rows = lines, .row_count = MOST - count};
        uint32_t offset = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t low = (uint32_t)(next_random(&state) >> 32) % PLACES;
            const uint32_t high = low + (uint32_t)(next_random(&state) >> 32) % (PLACES - low + 1);
            ranges[i] = (struct scope_range){low, high, i};
        }
        for (uint32_t i = 0; i < unit.row_count; i++) {
            const uint64_t number = next_random(&state) >> 32;
            offset += (uint32_t)number % 5;
            lines[i] = (struct dwarf_row){.offset = offset,
                                          .line = 1 + (uint32_t)(number >> 4) % 3,
                                          .file = (uint32_t)(number >> 8) % 2,
                                          .sequence = (uint32_t)(number >> 12) % 2,
                                          .ends = (number >> 16) % 4 == 0};
        }
        check_spans(&unit, ranges, count);
    }
}
