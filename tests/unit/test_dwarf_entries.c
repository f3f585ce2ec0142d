/* Entries of DWARF made by hand: every form in every format, references, abbreviations and nesting.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dwarf_maker.h"
#include "test.h"

/* Sizes that depend on the format; the value is then zeros. */
enum { OFFSETS = 100, ADDRESSES, SECTION };

static const struct {
    const char *name;
    uint16_t form;
    uint16_t bytes;
    uint8_t value[6]; /* starts with these; zeros follow */
} skipped[] = {
    {"addr", 0x01, ADDRESSES, {0}},
    {"block2", 0x03, 2, {0}},
    {"block4", 0x04, 4, {0}},
    {"data2", 0x05, 2, {0xff, 0xff}},
    {"data4", 0x06, 4, {1}},
    {"data8", 0x07, 8, {1}},
    {"string", 0x08, 3, {'a', 'b', 0}},
    {"block", 0x09, 3, {2, 0xff, 0xff}},
    {"block1", 0x0a, 2, {1, 0xff}},
    {"data1", 0x0b, 1, {0xff}},
    {"flag", 0x0c, 1, {1}},
    {"sdata", 0x0d, 2, {0xff, 0x7f}},
    {"strp", 0x0e, OFFSETS, {0}},
    {"udata", 0x0f, 3, {0xff, 0xff, 0x01}},
    {"ref_addr", 0x10, SECTION, {0}},
    {"ref1", 0x11, 1, {1}},
    {"ref2", 0x12, 2, {1}},
    {"ref4", 0x13, 4, {1}},
    {"ref8", 0x14, 8, {1}},
    {"ref_udata", 0x15, 2, {0x80, 0}},
    {"indirect: block1", 0x16, 3, {0x0a, 1, 0xff}},
    {"sec_offset", 0x17, OFFSETS, {0}},
    {"exprloc", 0x18, 3, {2, 1, 1}},
    {"flag_present", 0x19, 0, {0}},
    {"strx", 0x1a, 2, {0x80, 1}},
    {"addrx", 0x1b, 2, {0x80, 1}},
    {"ref_sup4", 0x1c, 4, {1}},
    {"strp_sup", 0x1d, OFFSETS, {0}},
    {"data16", 0x1e, 16, {1}},
    {"line_strp", 0x1f, OFFSETS, {0}},
    {"ref_sig8", 0x20, 8, {1}},
    {"loclistx", 0x22, 2, {0x80, 1}},
    {"rnglistx", 0x23, 2, {0x80, 1}},
    {"ref_sup8", 0x24, 8, {1}},
    {"strx1", 0x25, 1, {1}},
    {"strx2", 0x26, 2, {1}},
    {"strx3", 0x27, 3, {1}},
    {"strx4", 0x28, 4, {1}},
    {"addrx1", 0x29, 1, {1}},
    {"addrx2", 0x2a, 2, {1}},
    {"addrx3", 0x2b, 3, {1}},
    {"addrx4", 0x2c, 4, {1}},
    {"GNU_addr_index", 0x1f01, 2, {0x80, 1}},
    {"GNU_str_index", 0x1f02, 2, {0x80, 1}},
    {"GNU_ref_alt", 0x1f20, OFFSETS, {0}},
    {"GNU_strp_alt", 0x1f21, OFFSETS, {0}},
};

static void put_value(struct made *m, const uint8_t *value, uint32_t bytes)
{
    const uint32_t offset_bytes = m->wide ? 8 : 4;
    const uint32_t count = bytes == OFFSETS     ? offset_bytes
                           : bytes == ADDRESSES ? m->address_bytes
                           : bytes == SECTION   ? m->version == 2 ? m->address_bytes : offset_bytes
                                                : bytes;
    for (uint32_t i = 0; i < count; i++)
        number(m, i < 6 ? value[i] : 0, 1);
}

TEST(a_value_of_every_form_is_skipped)
{
    for (size_t f = 0; f < FORMATS; f++) {
        for (size_t i = 0; i < COUNT_OF(skipped); i++) {
            const uint64_t pairs[] = {OTHER, skipped[i].form, NAME, STRING, LOW, ADDR, HIGH, ADDR,
                                      0};
            const uint64_t first[] = {OTHER, skipped[i].form, 0};
            struct made *m = begin(&formats[f]);
            test_row(skipped[i].name);
            shape(m, 2, FUNCTION, false, pairs);
            shape(m, 3, STRUCTURE, false, first);
            put_unsigned(&m->info, 3); /* one to skip, then one to read */
            put_value(m, skipped[i].value, skipped[i].bytes);
            put_unsigned(&m->info, 2);
            put_value(m, skipped[i].value, skipped[i].bytes);
            put_text(&m->info, "here");
            code_range(m);
            end_unit(m);
            const struct object_debug debug = sections_of(m);
            const struct answer got = ask(&debug, NULL);
            CHECK_STR(got.name, "here");
            CHECK(!got.damaged);
            free(m);
        }
    }
}

static const struct {
    const char *name;
    uint16_t form;
    uint8_t value[6]; /* little-endian */
    uint8_t bytes;
    const char *want;
    bool damaged;
} named[] = {
    {"string", 0x08, "here", 5, "here", false},
    {"strp", 0x0e, {4}, 4, "here", false},
    {"line_strp", 0x1f, {9}, 4, "there", false},
    {"strx", 0x1a, {1}, 1, "here", false},
    {"strx1", 0x25, {1}, 1, "here", false},
    {"strx2", 0x26, {1}, 2, "here", false},
    {"strx3", 0x27, {1}, 3, "here", false},
    {"strx4", 0x28, {1}, 4, "here", false},
    {"GNU_str_index", 0x1f02, {1}, 1, "here", false},
    {"GNU_strp_alt", 0x1f21, {4}, 4, "here", false},
    {"strp_sup", 0x1d, {9}, 4, "there", false},
    {"indirect: strp", 0x16, {0x0e, 4}, 5, "here", false},
    {"an offset outside", 0x0e, {0xff, 0xff}, 4, "-", true},
    {"an index outside", 0x25, {0xff}, 1, "-", true},
    {"an indirect indirect form", 0x16, {0x16, 0x08, 0}, 3, "-", true},
    {"a number", 0x0b, {1}, 1, "-", true},
    {"an unknown form", 0x7f, {1}, 1, "-", true},
    {"form 0", 0x00, {1}, 1, "-", true},
};

TEST(a_name_is_read_in_every_form)
{
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        const uint64_t pairs[] = {NAME, named[i].form, LOW, ADDR, HIGH, ADDR, 0};
        struct made *m = begin(&formats[4]);
        test_row(named[i].name);
        shape(m, 2, FUNCTION, false, pairs);
        put_unsigned(&m->info, 2);
        for (uint32_t k = 0; k < named[i].bytes; k++)
            number(m, k < 6 ? named[i].value[k] : 0, 1);
        code_range(m);
        end_unit(m);
        const struct object_debug debug = sections_of(m);
        const struct answer got = ask(&debug, &debug);
        CHECK_STR(got.name, named[i].want);
        CHECK_EQ(got.damaged, named[i].damaged);
        free(m);
    }
}

static const struct {
    const char *name;
    uint16_t attribute, form;
    uint8_t bytes; /* 0: LEB128 */
    bool whole;    /* from the start of the section */
} references[] = {
    {"ref1", ORIGIN, 0x11, 1, false},         {"ref2", SPECIFICATION, 0x12, 2, false},
    {"ref4", ORIGIN, 0x13, 4, false},         {"ref8", ORIGIN, 0x14, 8, false},
    {"ref_udata", ORIGIN, 0x15, 0, false},    {"ref_addr", SPECIFICATION, 0x10, 4, true},
    {"ref_sup4", ORIGIN, 0x1c, 4, true},      {"ref_sup8", ORIGIN, 0x24, 8, true},
    {"GNU_ref_alt", ORIGIN, 0x1f20, 4, true},
};

/* The name is two references away, or in none, if LOOPS: then each refers to itself. */
static struct answer follow(size_t row, bool loops)
{
    const uint64_t direct[] = {
        references[row].attribute, references[row].form, LOW, ADDR, HIGH, ADDR, 0};
    const uint64_t middle[] = {SPECIFICATION, REF4, 0}, last[] = {LINKAGE, STRING, 0};
    struct made *m = begin(&formats[4]);

    shape(m, 2, FUNCTION, false, last);
    shape(m, 3, FUNCTION, false, middle);
    shape(m, 4, FUNCTION, false, direct);
    const uint32_t name_at = here(m);
    put_unsigned(&m->info, 2);
    put_text(&m->info, "here");
    const uint32_t middle_at = here(m);
    put_unsigned(&m->info, 3);
    number(m, loops ? middle_at : name_at, 4);
    put_unsigned(&m->info, 4);
    if (references[row].bytes == 0)
        put_unsigned(&m->info, middle_at);
    else
        number(m, middle_at + (references[row].whole ? m->start : 0), references[row].bytes);
    code_range(m);
    end_unit(m);
    const struct object_debug debug = sections_of(m);
    const struct answer got = ask(&debug, &debug);
    free(m);
    return got;
}

TEST(references_lead_to_names_and_loops_end)
{
    test_limit(10);
    for (size_t i = 0; i < COUNT_OF(references); i++) {
        test_row(references[i].name);
        CHECK_STR(follow(i, false).name, "here");
        const struct answer loop = follow(i, true);
        CHECK_STR(loop.name, "-");
        CHECK_EQ(loop.depth, 1);
    }
}

static const struct {
    const char *name;
    uint16_t form;
    uint8_t value[4], bytes;
    uint32_t want;
} lines[] = {
    {"data1", 0x0b, {200}, 1, 200},         {"data2", 0x05, {1, 2}, 2, 0x201},
    {"data4", 0x06, {1, 2, 3}, 4, 0x30201}, {"udata", 0x0f, {0x81, 1}, 2, 129},
    {"sdata", 0x0d, {0xc1, 0}, 2, 65},      {"a negative sdata", 0x0d, {0x7f}, 1, 0},
    {"implicit_const", 0x21, {0}, 0, 7},    {"a reference", 0x11, {9}, 1, 0},
};

TEST(numbers_are_read_in_every_form)
{
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        static const uint64_t outer[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
        static const uint64_t code[] = {LOW, ADDR, HIGH, ADDR, 0};
        struct made *m = begin(&formats[4]);
        test_row(lines[i].name);
        shape(m, 2, FUNCTION, true, outer);
        put_unsigned(&m->abbrev, 9); /* numbers of abbreviations need not be in order */
        put_unsigned(&m->abbrev, INLINED);
        put_fixed(&m->abbrev, 0, 1, false);
        put_unsigned(&m->abbrev, CALL_LINE);
        put_unsigned(&m->abbrev, lines[i].form);
        if (lines[i].form == 0x21)
            put_unsigned(&m->abbrev, 7);
        for (size_t k = 0; k < 4; k++)
            put_unsigned(&m->abbrev, code[k]);
        put_fixed(&m->abbrev, 0, 2, false);
        shape(m, 5, BLOCK, true, &code[4]);
        put_unsigned(&m->info, 2);
        put_text(&m->info, "outer");
        code_range(m);
        put_unsigned(&m->info, 5);
        put_unsigned(&m->info, 9);
        for (uint32_t k = 0; k < lines[i].bytes; k++)
            number(m, lines[i].value[k], 1);
        code_range(m);
        number(m, 0, 2);
        end_unit(m);
        const struct object_debug debug = sections_of(m);
        const struct answer got = ask(&debug, NULL);
        CHECK_EQ(got.depth, 2);
        CHECK_EQ(got.call_line, lines[i].want);
        CHECK(!got.damaged);
        free(m);
    }
}

/* DWARF 5, 7.27: the addresses come after the head of their table, which is 8 bytes, and 16 in the
 * format of 64 bits. A unit that states no base has those of the only table. */
TEST(a_unit_without_a_base_has_the_addresses_after_the_head)
{
    enum { ADDRX = 0x1b, DATA1 = 0x0b };
    uint32_t asked = 0;
    for (size_t i = 0; i < FORMATS; i++) {
        static const uint64_t pairs[] = {NAME, STRING, LOW, ADDRX, HIGH, DATA1, 0};
        if (formats[i].version < 5)
            continue;
        struct part *table = calloc(1, sizeof *table);
        struct made *m = begin(&formats[i]);
        REQUIRE(table != NULL);
        shape(m, 2, FUNCTION, false, pairs);
        put_unsigned(&m->info, 2);
        put_text(&m->info, "second");
        put_unsigned(&m->info, 1);
        number(m, 4, 1);
        end_unit(m);
        put_fixed(table, 0, 8, m->big);
        if (m->wide)
            put_fixed(table, 0, 8, m->big);
        put_fixed(table, BASE + AT + 0x100, m->address_bytes, m->big);
        put_fixed(table, BASE + AT, m->address_bytes, m->big);
        struct object_debug debug = sections_of(m);
        debug.own[DEBUG_ADDR] = (struct byte_view){table->data, table->bytes};
        const struct answer got = ask(&debug, NULL);
        CHECK_STR(got.name, "second");
        CHECK_EQ(got.depth, 1);
        asked++;
        free(m);
        free(table);
    }
    CHECK(asked > 1);
}

/* What comes before the function: entries whose children are skipped. */
enum before { NESTED, WITH_SIBLING, BACKWARDS, TOO_FAR, NO_ABBREVIATION, BEFORE };

TEST(children_are_skipped_by_sibling_or_one_by_one)
{
    static const struct {
        const char *name;
        bool found, damaged;
    } rows[BEFORE] = {
        [NESTED] = {"nested without siblings", true, false},
        [WITH_SIBLING] = {"with siblings: what is between is not read", true, false},
        [BACKWARDS] = {"a sibling that leads back", true, false},
        [TOO_FAR] = {"a sibling outside the unit", true, false},
        [NO_ABBREVIATION] = {"a number that no abbreviation has", false, true},
    };
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    static const uint64_t with[] = {SIBLING, REF4, 0}, *without = &with[2];
    enum { VARIABLE = 0x34, NO_CODE = 77 };

    for (int i = 0; i < BEFORE; i++) {
        struct made *m = begin(&formats[4]);
        test_row(rows[i].name);
        shape(m, 2, FUNCTION, false, code);
        shape(m, 3, VARIABLE, true, with);
        shape(m, 4, VARIABLE, true, without);
        put_unsigned(&m->info, i == NESTED || i == NO_ABBREVIATION ? 4 : 3);
        if (i == WITH_SIBLING || i == BACKWARDS || i == TOO_FAR)
            number(m, i == WITH_SIBLING ? here(m) + 6 : i == BACKWARDS ? 1 : 0x7fffffff, 4);
        if (i == WITH_SIBLING || i == NO_ABBREVIATION)
            put_unsigned(&m->info, NO_CODE);
        put_unsigned(&m->info, 0);
        put_unsigned(&m->info, 2);
        put_text(&m->info, "here");
        code_range(m);
        end_unit(m);
        const struct object_debug debug = sections_of(m);
        const struct answer got = ask(&debug, NULL);
        CHECK_STR(got.name, rows[i].found ? "here" : "-");
        CHECK_EQ(got.damaged, rows[i].damaged);
        free(m);
    }
}

/* They cover no code, and what follows them is found. */
TEST(units_of_types_are_passed)
{
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    for (size_t f = 4; f < FORMATS; f++) {
        struct made *m = begin(&formats[f]);
        m->info.bytes = m->abbrev.bytes = 0;
        m->kind = TYPE;
        start_unit(m);
        end_unit(m);
        m->kind = 0;
        start_unit(m);
        shape(m, 2, FUNCTION, false, code);
        put_unsigned(&m->info, 2);
        put_text(&m->info, "here");
        code_range(m);
        end_unit(m);
        const struct object_debug debug = sections_of(m);
        CHECK_STR(ask(&debug, NULL).name, "here");
        CHECK(!ask_at(&debug, NULL, 0x2000).damaged);
        free(m);
    }
}

/* A file has the units, and its map is peeked into. The first entry of the second is longer than
 * what is copied of a unit. */
TEST(units_are_listed_from_copies_of_their_fronts)
{
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    char path[512];

    (void)snprintf(path, sizeof path, "%s/units", test_scratch());
    for (size_t f = 0; f < FORMATS; f++) {
        struct fault fault = FAULT_INIT;
        struct file_map map;
        struct file_peek peek;
        struct made *m = begin(&formats[f]);
        end_unit(m);
        start_unit(m);
        m->info.bytes -= 1 + 2 * (size_t)m->address_bytes;
        for (int i = 0; i < 300; i++)
            number(m, i == 0 ? 0x81 : 0x80, 1);
        number(m, 0, 1);
        number(m, BASE, m->address_bytes);
        number(m, BASE + 0x1000, m->address_bytes);
        shape(m, 2, FUNCTION, false, code);
        put_unsigned(&m->info, 2);
        put_text(&m->info, "here");
        code_range(m);
        end_unit(m);
        struct object_debug debug = sections_of(m);
        for (size_t bytes = 0; bytes <= m->info.bytes; bytes++) {
            debug.own[DEBUG_INFO].bytes = bytes;
            const struct answer whole = ask(&debug, NULL);
            test_write(path, m->info.data, bytes);
            REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
            file_peek_open(path, &map, &peek);
            struct object_debug peeked = debug;
            peeked.own[DEBUG_INFO] = (struct byte_view){map.data, map.bytes};
            peeked.peek = &peek;
            const struct answer got = ask(&peeked, NULL);
            CHECK_STR(got.name, whole.name);
            CHECK_EQ(got.damaged, whole.damaged);
            CHECK_EQ(got.opened, whole.opened);
            file_peek_close(&peek);
            file_unmap(&map);
        }
        CHECK_STR(ask(&debug, NULL).name, "here");
        free(m);
    }
}

static const struct stated {
    const char *name;
    uint64_t unit, low, bytes;
    uint16_t version;
    uint8_t address_bytes, segment_bytes;
    size_t cut;
} stated[] = {
    {"the unit", 0, BASE, 0x1000, 2, 8, 0, 0},
    {"as 32-bit addresses", 0, BASE, 0x1000, 2, 4, 0, 0},
    {"no unit", 4, BASE, 0x1000, 2, 8, 0, 0},
    {"the end of the section", UINT32_MAX, BASE, 0x1000, 2, 8, 0, 0},
    {"other code", 0, BASE + 0x100000, 0x1000, 2, 8, 0, 0},
    {"more than the unit has", 0, BASE, 0x10000, 2, 8, 0, 0},
    {"up to the top", 0, BASE, UINT64_MAX - BASE, 2, 8, 0, 0},
    {"nothing", 0, 0, 0, 2, 8, 0, 0},
    {"an unknown version", 0, BASE, 0x1000, 3, 8, 0, 0},
    {"addresses of no bytes", 0, BASE, 0x1000, 2, 0, 0, 0},
    {"segments", 0, BASE, 0x1000, 2, 8, 2, 0},
    {"cut in the header", 0, BASE, 0x1000, 2, 8, 0, 7},
    {"cut in the range", 0, BASE, 0x1000, 2, 8, 0, 30},
};

/* One range of .debug_aranges. */
static void put_stated(struct part *to, const struct stated *row, bool big)
{
    put_fixed(to, 12 + 4 * (size_t)row->address_bytes, 4, big);
    put_fixed(to, row->version, 2, big);
    put_fixed(to, row->unit, 4, big);
    put_fixed(to, row->address_bytes, 1, big);
    put_fixed(to, row->segment_bytes, 1, big);
    put_fixed(to, 0, 4, big);
    put_fixed(to, row->low, row->address_bytes, big);
    put_fixed(to, row->bytes, row->address_bytes, big);
    put_fixed(to, 0, row->address_bytes, big);
    put_fixed(to, 0, row->address_bytes, big);
}

/* .debug_aranges spares the search of all units, and is believed only where the unit agrees. */
TEST(stated_ranges_change_no_answer)
{
    static const uint64_t pairs[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    for (size_t f = 0; f < FORMATS; f++) {
        for (size_t i = 0; i < COUNT_OF(stated); i++) {
            struct made *m = begin(&formats[f]);
            struct part *ranges = test_copy(&(struct part){{0}, 0}, sizeof *ranges);
            test_row(stated[i].name);
            shape(m, 2, FUNCTION, false, pairs);
            put_unsigned(&m->info, 2);
            put_text(&m->info, "here");
            code_range(m);
            end_unit(m);
            start_unit(m); /* a second one, whose function has another name */
            m->info.bytes -= 2 * (size_t)m->address_bytes;
            number(m, BASE + 0x2000, m->address_bytes);
            number(m, BASE + 0x3000, m->address_bytes);
            shape(m, 2, FUNCTION, false, pairs);
            put_unsigned(&m->info, 2);
            put_text(&m->info, "there");
            number(m, BASE + 0x2010, m->address_bytes);
            number(m, BASE + 0x2020, m->address_bytes);
            end_unit(m);
            put_stated(ranges, &stated[i], m->big);
            struct object_debug debug = sections_of(m);
            debug.own[DEBUG_ARANGES] = (struct byte_view){
                ranges->data, stated[i].cut != 0 ? stated[i].cut : ranges->bytes};
            const struct answer got = ask(&debug, NULL);
            CHECK_STR(got.name, "here");
            CHECK_EQ(got.damaged, false);
            CHECK_STR(ask_at(&debug, NULL, 0x2010).name, "there");
            CHECK_STR(ask_at(&debug, NULL, 0x4000).name, "-");    /* no code of the unit */
            CHECK_STR(ask_at(&debug, NULL, AT + 0x10).name, "-"); /* of the unit, of no function */
            free(ranges);
            free(m);
        }
    }
}

/* A stated unit is read alone, but its functions may have their names in another one. */
TEST(a_stated_unit_refers_to_another)
{
    static const uint64_t direct[] = {SPECIFICATION, 0x10, LOW, ADDR, HIGH, ADDR, 0},
                          named_by[] = {LINKAGE, STRING, 0};
    for (size_t f = 0; f < FORMATS; f++) {
        struct made *m = begin(&formats[f]);
        struct part *ranges = test_copy(&(struct part){{0}, 0}, sizeof *ranges);
        m->info.bytes -= 2 * (size_t)m->address_bytes;
        number(m, BASE + 0x2000, m->address_bytes);
        number(m, BASE + 0x3000, m->address_bytes);
        shape(m, 2, FUNCTION, false, named_by);
        const size_t name_at = m->info.bytes;
        put_unsigned(&m->info, 2);
        put_text(&m->info, "here");
        end_unit(m);
        start_unit(m);
        shape(m, 2, FUNCTION, false, direct);
        put_unsigned(&m->info, 2);
        number(m, name_at, m->version == 2 ? m->address_bytes : m->wide ? 8 : 4);
        code_range(m);
        end_unit(m);
        put_stated(ranges, &(struct stated){NULL, m->start, BASE, 0x1000, 2, 8, 0, 0}, m->big);
        struct object_debug debug = sections_of(m);
        debug.own[DEBUG_ARANGES] = (struct byte_view){ranges->data, ranges->bytes};
        const struct answer got = ask(&debug, NULL);
        CHECK_STR(got.name, "here");
        CHECK_EQ(got.damaged, false);
        free(ranges);
        free(m);
    }
}
