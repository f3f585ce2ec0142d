/* Entries of DWARF made by hand: every form in every format, references, abbreviations, nesting and
 * damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "format/dwarf/dwarf.h"
#include "test.h"

enum { PART_MAX = 1 << 17, BASE = 0x1000, AT = 0x10, TYPE = 2, MANY = 3000, LARGE = 20000 };

/* Tags, attributes and forms of DWARF 5, 7.5. */
enum {
    UNIT = 0x11,
    TYPE_UNIT = 0x41,
    FUNCTION = 0x2e,
    INLINED = 0x1d,
    BLOCK = 0x0b,
    STRUCTURE = 0x13
};
enum {
    SIBLING = 0x01,
    NAME = 0x03,
    LOW = 0x11,
    HIGH = 0x12,
    ORIGIN = 0x31,
    SPECIFICATION = 0x47,
    CALL_LINE = 0x59,
    LINKAGE = 0x6e,
    OTHER = 0x2fff,
};
enum { ADDR = 0x01, STRING = 0x08, REF4 = 0x13 };

struct part {
    uint8_t data[PART_MAX];
    size_t bytes;
};

struct made {
    struct part info, abbrev;
    bool big, wide; /* wide: the format of 64 bits */
    uint16_t version;
    uint8_t address_bytes, kind; /* kind: of a unit of version 5; 0: of one that is compiled */
    size_t start;                /* of the unit */
};

static void put(struct part *to, uint64_t value, size_t bytes, bool big)
{
    REQUIRE(to->bytes + bytes <= PART_MAX);
    for (size_t i = 0; i < bytes; i++)
        to->data[to->bytes++] = (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

static void put_unsigned(struct part *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(to, (value & 0x7f) | 0x80, 1, false);
    put(to, value, 1, false);
}

static void put_text(struct part *to, const char *text)
{
    for (size_t i = 0; i <= strlen(text); i++)
        put(to, (uint8_t)text[i], 1, false);
}

static void number(struct made *m, uint64_t value, size_t bytes)
{
    put(&m->info, value, bytes, m->big);
}

static uint32_t here(const struct made *m)
{
    return (uint32_t)(m->info.bytes - m->start);
}

/* Adds an abbreviation: pairs of attribute and form, up to a zero. */
static void shape(struct made *m, uint64_t code, uint64_t tag, bool children, const uint64_t *pairs)
{
    put_unsigned(&m->abbrev, code);
    put_unsigned(&m->abbrev, tag);
    put(&m->abbrev, children, 1, false);
    for (; pairs[0] != 0; pairs += 2) {
        put_unsigned(&m->abbrev, pairs[0]);
        put_unsigned(&m->abbrev, pairs[1]);
    }
    put(&m->abbrev, 0, 2, false);
}

/* Starts a unit of 0x1000 bytes of code, whose abbreviation is 1. */
static void start_unit(struct made *m)
{
    static const uint64_t pairs[] = {LOW, ADDR, HIGH, ADDR, 0};
    const uint32_t offset_bytes = m->wide ? 8 : 4;

    m->start = m->info.bytes;
    if (m->wide)
        number(m, UINT32_MAX, 4);
    number(m, 0, offset_bytes);
    number(m, m->version, 2);
    if (m->version >= 5) {
        number(m, m->kind != 0 ? m->kind : 1, 1);
        number(m, m->address_bytes, 1);
    }
    number(m, m->abbrev.bytes, offset_bytes);
    if (m->kind != 0)
        number(m, 7, 8); /* its signature, and the offset of the type */
    if (m->kind == TYPE)
        number(m, 7, offset_bytes);
    if (m->version < 5)
        number(m, m->address_bytes, 1);
    shape(m, 1, m->kind == TYPE ? TYPE_UNIT : UNIT, true, pairs);
    put_unsigned(&m->info, 1);
    number(m, BASE, m->address_bytes);
    number(m, BASE + 0x1000, m->address_bytes);
}

static void end_unit(struct made *m)
{
    const size_t head = m->wide ? 12 : 4, end = m->info.bytes + 1;

    number(m, 0, 1); /* of the children */
    put(&m->abbrev, 0, 1, false);
    m->info.bytes = m->start + (m->wide ? 4 : 0);
    number(m, end - m->start - head, m->wide ? 8 : 4);
    m->info.bytes = end;
}

static void code_range(struct made *m)
{
    number(m, BASE + AT, m->address_bytes);
    number(m, BASE + AT + 0x10, m->address_bytes);
}

struct answer {
    char name[64]; /* "-": no name */
    uint32_t depth, call_line;
    bool opened, damaged;
};

static const uint8_t texts[] = "\0\0\0\0here\0there";
static const uint8_t numbers[] = {0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4,
                                  0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4};

static struct object_debug sections_of(const struct made *m)
{
    struct object_debug debug = {
        .base_va = BASE, .address_bytes = m->address_bytes, .big_endian = m->big};
    debug.own[DEBUG_INFO] = (struct object_bytes){m->info.data, m->info.bytes};
    debug.own[DEBUG_ABBREV] = (struct object_bytes){m->abbrev.data, m->abbrev.bytes};
    debug.own[DEBUG_STR] = debug.own[DEBUG_LINE_STR] = (struct object_bytes){texts, sizeof texts};
    debug.own[DEBUG_STR_OFFSETS] = (struct object_bytes){numbers, sizeof numbers};
    return debug;
}

static struct answer ask_at(const struct object_debug *debug, const struct object_debug *alternate,
                            uint32_t offset)
{
    const struct dwarf_input input = {.debug = debug, .alternate = alternate};
    struct answer out = {.name = "-"};
    struct fault fault = FAULT_INIT;
    struct dwarf_place place;
    struct dwarf *dwarf;

    if (dwarf_open(&input, &dwarf, &fault) != ERR_NONE)
        return out;
    dwarf_at(dwarf, offset, &place);
    out.opened = true;
    out.damaged = place.damaged;
    for (const struct dwarf_scope *s = place.scope; s != NULL; s = s->around)
        out.depth++;
    if (place.scope != NULL && place.scope->name != NULL)
        (void)snprintf(out.name, sizeof out.name, "%s", place.scope->name);
    out.call_line = place.scope != NULL ? place.scope->call_line : 0;
    dwarf_close(dwarf);
    return out;
}

/* What is known about the function at AT. */
static struct answer ask(const struct object_debug *debug, const struct object_debug *alternate)
{
    return ask_at(debug, alternate, AT);
}

static struct made *begin(const struct made *like)
{
    struct made *m = test_copy(like, sizeof *like);
    start_unit(m);
    return m;
}

static const struct made formats[] = {
    {.version = 2, .address_bytes = 8},
    {.version = 3, .address_bytes = 8, .wide = true},
    {.version = 4, .address_bytes = 4, .big = true},
    {.version = 4, .address_bytes = 8},
    {.version = 5, .address_bytes = 8},
    {.version = 5, .address_bytes = 8, .wide = true, .big = true},
};

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
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
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
        put(&m->abbrev, 0, 1, false);
        put_unsigned(&m->abbrev, CALL_LINE);
        put_unsigned(&m->abbrev, lines[i].form);
        if (lines[i].form == 0x21)
            put_unsigned(&m->abbrev, 7);
        for (size_t k = 0; k < 4; k++)
            put_unsigned(&m->abbrev, code[k]);
        put(&m->abbrev, 0, 2, false);
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

/* They cover no code, and what follows them is found. */
TEST(units_of_types_are_passed)
{
    static const uint64_t code[] = {NAME, STRING, LOW, ADDR, HIGH, ADDR, 0};
    for (size_t f = 4; f < COUNT_OF(formats); f++) {
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

/* Every length of each section: an answer is the whole one, or marked, or none. */
TEST(every_truncation_is_marked)
{
    static const uint64_t code[] = {NAME, 0x0e, LOW, ADDR, HIGH, ADDR, 0};
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
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
                cut.own[section] = (struct object_bytes){copy, bytes};
                const struct answer got = ask(&cut, NULL);
                /* The last bytes of the abbreviations say nothing that is needed. */
                CHECK(!got.opened || got.damaged || got.depth == 2);
                free(copy);
            }
        }
        free(m);
    }
}
