/* Entries of DWARF made to cost much: depth, tables and lists that are shared, and damage. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "dwarf_maker.h"
#include "test.h"

enum { MANY = 3000, LARGE = 20000 };

/* Deeper than anything that is walked: what is outside is still found, and the stack suffices. */
TEST(nesting_of_any_depth_ends)
{
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0}, *none = &code[6];
    struct made *m = begin(&formats[4]);
    static const uint16_t tags[] = {BLOCK, STRUCTURE, 0x34};

    for (size_t i = 0; i < COUNT_OF(tags); i++)
        shape(m, 3 + i, tags[i], true, none);
    shape(m, 2, FUNCTION, false, code);
    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        for (uint32_t k = 0; k < MANY; k++)
            put_unsigned(&m->info, 3 + i);
        for (uint32_t k = 0; k < MANY; k++)
            put_unsigned(&m->info, 0);
    }
    put_unsigned(&m->info, 2);
    put_text(&m->info, "here");
    code_range(m);
    end_unit(m);
    const struct object_debug debug = sections_of(m);
    CHECK_STR(ask(&debug, NULL).name, "here");
    free(m);
}

/* Many units, each with its own table of abbreviations, which overlap: reading stops, and says so.
 */
TEST(overlapping_abbreviations_are_not_read_for_ever)
{
    struct made *m = begin(&formats[4]);
    static const uint64_t none[] = {0};

    for (uint64_t i = 0; i < LARGE; i++)
        shape(m, i + 10, BLOCK, true, none);
    end_unit(m);
    const size_t unit_bytes = m->info.bytes;
    for (uint32_t i = 1; i < MANY; i++) {
        REQUIRE(m->info.bytes + unit_bytes <= PART_MAX);
        memcpy(m->info.data + m->info.bytes, m->info.data, unit_bytes);
        m->info.data[m->info.bytes + 8] = (uint8_t)i; /* the offset of its abbreviations */
        m->info.data[m->info.bytes + 9] = (uint8_t)(i >> 8);
        m->info.bytes += unit_bytes;
    }
    const struct object_debug debug = sections_of(m);
    test_limit(20);
    CHECK(ask(&debug, NULL).opened);
    CHECK(memory_peak_bytes() < (uint64_t)700 << 20);
    free(m);
}

/* Every length of each section: an answer is the whole one, or marked, or none. */
TEST(every_truncation_is_marked)
{
    static const uint64_t code[] = {NAME, 0x0e, LOW, ADDR, HIGH, ADDR, 0};
    for (size_t f = 0; f < FORMATS; f++) {
        struct made *m = begin(&formats[f]);
        shape(m, 2, FUNCTION, true, code);
        shape(m, 3, INLINED, false, code);
        for (uint64_t i = 2; i <= 3; i++) {
            put_unsigned(&m->info, i);
            number(m, 4, m->wide ? 8 : 4);
            code_range(m);
        }
        put_unsigned(&m->info, 0);
        end_unit(m);
        const struct object_debug whole = sections_of(m);
        CHECK_EQ(ask(&whole, NULL).depth, 2);
        for (int section = DEBUG_INFO; section <= DEBUG_ABBREV; section++) {
            for (size_t bytes = 0; bytes < whole.own[section].bytes; bytes++) {
                struct object_debug cut = whole;
                uint8_t *copy = test_copy(whole.own[section].data, bytes);
                cut.own[section] = (struct byte_view){copy, bytes};
                const struct answer got = ask(&cut, NULL);
                /* The last bytes of the abbreviations say nothing that is needed. */
                CHECK(!got.opened || got.damaged || got.depth == 2);
                free(copy);
            }
        }
        free(m);
    }
}

/* Attributes without bytes of their own would make an entry of one byte cost as much as wished. */
TEST(an_abbreviation_of_many_attributes_is_not_read)
{
    enum { FLAG = 0x19, FLAGS = 2000 };
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    uint64_t pairs[2 * FLAGS + 1] = {0};
    struct made *m = begin(&formats[4]);

    for (size_t i = 0; i < FLAGS; i++) {
        pairs[2 * i] = OTHER;
        pairs[2 * i + 1] = FLAG;
    }
    shape(m, 2, FUNCTION, false, code);
    shape(m, 3, STRUCTURE, false, pairs);
    put_unsigned(&m->info, 2);
    put_text(&m->info, "here");
    code_range(m);
    put_unsigned(&m->info, 3);
    end_unit(m);
    const struct object_debug debug = sections_of(m);
    const struct answer got = ask(&debug, NULL);
    CHECK_STR(got.name, "here");
    CHECK(got.damaged);
    free(m);
}

/* Many calls that share one list of ranges: reading stops, and says so. */
TEST(a_list_is_not_read_for_every_call)
{
    enum { RANGES = 0x55, SEC_OFFSET = 0x17, OFFSET_PAIR = 4, PAIRS = 20000 };
    static const uint64_t shared[] = {RANGES, SEC_OFFSET, 0};
    static const uint32_t rows[] = {2, MANY};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct part *list = calloc(1, sizeof *list);
        struct made *m = begin(&formats[4]);
        REQUIRE(list != NULL);
        test_row(i == 0 ? "two calls" : "many calls");
        test_limit(20);
        shape(m, 2, FUNCTION, false, shared);
        for (uint32_t k = 0; k < rows[i]; k++) {
            put_unsigned(&m->info, 2);
            number(m, 0, 4);
        }
        end_unit(m);
        for (uint32_t k = 0; k < PAIRS; k++) {
            put_fixed(list, OFFSET_PAIR, 1, false);
            put_fixed(list, AT, 1, false);
            put_fixed(list, AT + 1 + k % 2, 1, false);
        }
        put_fixed(list, 0, 1, false);
        struct object_debug debug = sections_of(m);
        debug.own[DEBUG_RNGLISTS] = (struct byte_view){list->data, list->bytes};
        const struct answer got = ask(&debug, NULL);
        CHECK_EQ(got.depth, 1);
        CHECK_EQ(got.damaged, i == 1);
        free(list);
        free(m);
    }
}

/* An entry may have 2^20 ranges, the end of its list among them. */
TEST(a_list_ends_after_a_million_entries)
{
    enum { RANGES = 0x55, SEC_OFFSET = 0x17, OFFSET_PAIR = 4, MOST = 1 << 20, PAIR_BYTES = 3 };
    static const uint64_t code[] = {RANGES, SEC_OFFSET, 0};
    static const struct {
        const char *name;
        uint32_t pairs;
        bool damaged;
    } rows[] = {{"the end is the last", MOST - 1, false}, {"the end is one later", MOST, true}};
    uint8_t *list = calloc(MOST + 1, PAIR_BYTES);

    REQUIRE(list != NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct made *m = begin(&formats[4]);
        test_row(rows[i].name);
        shape(m, 2, FUNCTION, false, code);
        put_unsigned(&m->info, 2);
        number(m, 0, 4);
        end_unit(m);
        for (uint32_t k = 0; k < rows[i].pairs; k++) /* the first has one byte, the others none */
            memcpy(list + (size_t)k * PAIR_BYTES, (uint8_t[]){OFFSET_PAIR, AT, AT + (k == 0)}, 3);
        struct object_debug debug = sections_of(m);
        debug.own[DEBUG_RNGLISTS] =
            (struct byte_view){list, (size_t)rows[i].pairs * PAIR_BYTES + 1};
        const struct answer got = ask(&debug, NULL);
        CHECK_EQ(got.depth, 1);
        CHECK_EQ(got.damaged, rows[i].damaged);
        free(m);
    }
    free(list);
}

/* Calling conventions of 32-bit Windows as clang and gcc write them, and gfortran's underscore: the
 * linker's name says no more than the plain one. */
TEST(names_with_a_calling_convention_are_plain)
{
    static const struct {
        const char *linkage, *plain, *want;
    } rows[] = {
        {"_f@8", "f", "f"},      {"@f@8", "f", "f"},       {"f@8", "f", "f"},
        {"f@@16", "f", "f"},     {"f_", "f", "f"},         {"_f@12", "_f", "_f"},
        {"f@", "f", "f@"},       {"f@8x", "f", "f@8x"},    {"_f", "f", "_f"},
        {"_Z1fv", "f", "_Z1fv"}, {"_f@", "f", "_f@"},      {"g@8", "f", "g@8"},
        {"@8", "", "@8"},        {"f__", "f", "f__"},      {"fg@8", "f", "fg@8"},
        {NULL, "f", "f"},        {"_Z1fv", NULL, "_Z1fv"}, {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dwarf_name name = {.linkage = rows[i].linkage, .plain = rows[i].plain};
        test_row(rows[i].linkage);
        CHECK_STR(dwarf_choose_name(&name), rows[i].want);
        CHECK(name.chosen);
        CHECK_STR(name.linkage, rows[i].want);
    }
}
