/* Line tables and inlined functions of PDBs made record by record. */
#include <stdio.h>
#include <string.h>

#include "format/pdb/lines.h"
#include "made_world.h"
#include "test.h"

/* One block of COUNT rows of the file at FILE. With COLUMNS, the columns of all rows follow the
 * rows. */
static void put_block(struct bag *bag, uint32_t file, const uint32_t (*rows)[2], uint32_t count,
                      bool columns)
{
    bag_u32(bag, file);
    bag_u32(bag, count);
    bag_u32(bag, 12 + (columns ? 12 : 8) * count);
    for (uint32_t i = 0; i < count; i++) {
        bag_u32(bag, rows[i][0]);
        bag_u32(bag, rows[i][1] | 0x80000000);
    }
    for (uint32_t i = 0; i < count && columns; i++)
        bag_u32(bag, 0x00050003);
}

static void put_lines_head(struct bag *bag, uint32_t bytes, uint32_t flags)
{
    bag_u32(bag, 0xf2);
    bag_u32(bag, bytes);
    bag_u32(bag, 0x10);
    bag_u16(bag, 1);
    bag_u16(bag, flags);
    bag_u32(bag, 0x20);
}

static void start_lines(struct make_pdb *m)
{
    make_pdb_start(m);
    make_contribution(m, 0, 0x10, 0x20);
    struct bag *c13 = &m->c13[0];
    bag_u32(c13, 0xf4); /* two files, at 0 and at 8 */
    bag_u32(c13, 16);
    bag_u32(c13, make_name(m, "a.c"));
    bag_u32(c13, 0);
    bag_u32(c13, make_name(m, "b.h"));
    bag_u32(c13, 0);
    make_scope_end(m, 0, make_procedure(m, 0, 0x1110, 0x10, 0x20, "main"), 6);
}

TEST(a_table_has_a_block_for_each_file)
{
    static const uint32_t first[][2] = {{0, 10}, {4, 70000}}, second[][2] = {{8, 3}, {0x10, 4}};
    for (int columns = 0; columns < 2; columns++) {
        struct make_pdb m;
        struct made_world w;
        test_row(columns ? "with columns" : "without columns");
        start_lines(&m);
        put_lines_head(&m.c13[0], 12 + 2 * (12 + (columns ? 24 : 16)), (uint32_t)columns);
        put_block(&m.c13[0], 0, first, COUNT_OF(first), columns);
        put_block(&m.c13[0], 8, second, COUNT_OF(second), columns);
        made_open(&w, &m);
        made_check(&w, 0x1010, "main a.c:10");
        made_check(&w, 0x1014, "main+0x4 a.c:70000");
        made_check(&w, 0x1018, "main+0x8 b.h:3");
        made_check(&w, 0x1020, "main+0x10 b.h:4");
        made_close(&w);
    }
}

/* The flag says that columns follow, but the block ends before them: it is damaged. */
TEST(columns_that_are_missing_make_no_rows)
{
    static const uint32_t rows[][2] = {{0, 10}, {4, 11}};
    struct make_pdb m;
    struct made_world w;
    start_lines(&m);
    put_lines_head(&m.c13[0], 12 + 12 + 16, 1);
    put_block(&m.c13[0], 0, rows, COUNT_OF(rows), false);
    made_open(&w, &m);
    made_check(&w, 0x1014,
               "main+0x4 (the PDB is damaged here: inlined functions may be missing, and names "
               "and lines wrong)");
    made_close(&w);
}

TEST(rows_that_debuggers_pass_over_have_no_line)
{
    static const uint32_t hidden[] = {0xf00f00, 0xfeefee};
    for (size_t i = 0; i < COUNT_OF(hidden); i++) {
        const uint32_t rows[][2] = {{0, 10}, {4, hidden[i]}, {8, 12}};
        struct make_pdb m;
        struct made_world w;
        test_row(i == 0 ? "step over" : "step into");
        start_lines(&m);
        put_lines_head(&m.c13[0], 12 + 12 + 24, 0);
        put_block(&m.c13[0], 0, rows, COUNT_OF(rows), false);
        made_open(&w, &m);
        made_check(&w, 0x1013, "main+0x3 a.c:10");
        made_check(&w, 0x1014, "main+0x4");
        made_check(&w, 0x1018, "main+0x8 a.c:12");
        made_close(&w);
    }
}

TEST(every_row_of_one_address_is_listed)
{
    static const uint32_t rows[][2] = {{0, 5}, {4, 6}, {4, 7}, {8, 9}};
    static const struct {
        const char *name;
        uint32_t rva, count, lines[2];
    } places[] = {
        {"one row", 0x1013, 1, {5, 0}},         {"two rows", 0x1014, 2, {6, 7}},
        {"in their middle", 0x1017, 2, {6, 7}}, {"after them", 0x1018, 1, {9, 0}},
        {"no code", 0x1040, 0, {0, 0}},
    };
    struct make_pdb m;
    struct made_world w;
    start_lines(&m);
    put_lines_head(&m.c13[0], 12 + 12 + 32, 0);
    put_block(&m.c13[0], 0, rows, COUNT_OF(rows), false);
    made_open(&w, &m);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        uint32_t lines[4] = {0};
        test_row(places[i].name);
        CHECK_EQ(pdb_lookup_lines(w.world.lookup, places[i].rva, lines, COUNT_OF(lines)),
                 places[i].count);
        for (uint32_t k = 0; k < places[i].count; k++)
            CHECK_EQ(lines[k], places[i].lines[k]);
    }
    made_close(&w);
}

/* Microsoft's debuggers print the first row at its very address and the last row after it, and of
 * two blocks the last: 1,331 functions of the fixtures show the former, strchr of
 * test_dll_vs2013.dll.pdb the latter. */
TEST(of_rows_at_one_address_the_first_has_one_byte)
{
    static const struct {
        const char *name;
        uint32_t first[3][2], second[2][2]; /* of two blocks */
        const char *before, *at, *after, *last;
    } rows[] = {
        {"two rows",
         {{0, 5}, {4, 6}, {4, 7}},
         {{8, 9}, {12, 9}},
         "+0x3 a.c:5",
         "+0x4 a.c:6",
         "+0x5 a.c:7",
         "+0x7 a.c:7"},
        {"three rows",
         {{4, 6}, {4, 7}, {4, 8}},
         {{8, 9}, {12, 9}},
         "+0x3",
         "+0x4 a.c:6",
         "+0x5 a.c:8",
         "+0x7 a.c:8"},
        {"rows of two files",
         {{0, 5}, {4, 6}, {8, 9}},
         {{4, 3}, {12, 4}},
         "+0x3 a.c:5",
         "+0x4 b.h:3",
         "+0x5 b.h:3",
         "+0x7 b.h:3"},
        {"two rows of each file",
         {{0, 5}, {4, 6}, {4, 7}},
         {{4, 3}, {4, 2}},
         "+0x3 a.c:5",
         "+0x4 b.h:3",
         "+0x5 b.h:2",
         "+0x7 b.h:2"},
        {"the first one is hidden",
         {{0, 5}, {4, 0xf00f00}, {4, 7}},
         {{8, 9}, {12, 9}},
         "+0x3 a.c:5",
         "+0x4 a.c:7",
         "+0x5 a.c:7",
         "+0x7 a.c:7"},
        {"the last one is hidden",
         {{0, 5}, {4, 6}, {4, 0xfeefee}},
         {{8, 9}, {12, 9}},
         "+0x3 a.c:5",
         "+0x4 a.c:6",
         "+0x5",
         "+0x7"},
        {"another row starts at the next byte",
         {{0, 5}, {0, 6}, {4, 7}},
         {{5, 8}, {6, 9}},
         "+0x3 a.c:6",
         "+0x4 a.c:7",
         "+0x5 b.h:8",
         "+0x7 b.h:9"},
        {"the function's first byte",
         {{0, 5}, {0, 6}, {8, 7}},
         {{9, 8}, {10, 9}},
         " a.c:5",
         "+0x4 a.c:6",
         "+0x5 a.c:6",
         "+0x7 a.c:6"},
    };
    static const uint32_t places[] = {0x1013, 0x1014, 0x1015, 0x1017};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const wants[] = {rows[i].before, rows[i].at, rows[i].after, rows[i].last};
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        start_lines(&m);
        put_lines_head(&m.c13[0], 12 + 12 + 24 + 12 + 16, 0);
        put_block(&m.c13[0], 0, rows[i].first, 3, false);
        put_block(&m.c13[0], 8, rows[i].second, 2, false);
        made_open(&w, &m);
        for (size_t k = 0; k < COUNT_OF(wants); k++) {
            char want[64];
            (void)snprintf(want, sizeof want, "main%s", wants[k]);
            made_check(&w, wants[k][0] == ' ' ? 0x1010 : places[k], want);
        }
        made_close(&w);
    }
}

TEST(the_next_subsection_is_aligned)
{
    static const uint32_t rows[][2] = {{0, 10}};
    for (uint32_t bytes = 1; bytes <= 4; bytes++) {
        struct make_pdb m;
        struct made_world w;
        char name[16];
        (void)snprintf(name, sizeof name, "%u bytes", bytes);
        test_row(name);
        start_lines(&m);
        bag_u32(&m.c13[0], 0xf1); /* symbols: must be skipped */
        bag_u32(&m.c13[0], bytes);
        for (uint32_t i = 0; i < bytes; i++)
            bag_u8(&m.c13[0], 0xee);
        bag_align(&m.c13[0]);
        put_lines_head(&m.c13[0], 12 + 12 + 8, 0);
        put_block(&m.c13[0], 0, rows, COUNT_OF(rows), false);
        made_open(&w, &m);
        made_check(&w, 0x1010, "main a.c:10");
        made_close(&w);
    }
}

TEST(a_contribution_ends_before_its_end)
{
    struct pdb_contribution found;
    struct make_pdb m;
    struct made_world w;
    start_lines(&m);
    made_open(&w, &m);
    CHECK(pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, 0x10}, &found));
    CHECK(pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, 0x2f}, &found));
    CHECK(!pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, 0x30}, &found));
    CHECK(!pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, 0xf}, &found));
    made_close(&w);
}

/* GNU ld lists the contributions object by object, Microsoft's and LLVM's linkers by place. */
TEST(contributions_are_found_in_any_order)
{
    enum { COUNT = 4, BYTES = 0x10 };
    static const struct {
        const char *name;
        uint32_t offsets[COUNT];
    } rows[] = {
        {"by place", {0x10, 0x30, 0x50, 0x80}},
        {"the first two are exchanged", {0x30, 0x10, 0x50, 0x80}},
        {"those in the middle are", {0x10, 0x50, 0x30, 0x80}},
        {"the last two are", {0x10, 0x30, 0x80, 0x50}},
        {"the first one is last", {0x30, 0x50, 0x80, 0x10}},
        {"from the end", {0x80, 0x50, 0x30, 0x10}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pdb_contribution found;
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_pdb_start(&m);
        for (uint32_t k = 0; k < COUNT; k++)
            make_contribution(&m, rows[i].offsets[k] >= 0x50, rows[i].offsets[k], BYTES);
        made_open(&w, &m);
        for (uint32_t k = 0; k < COUNT; k++) {
            const uint32_t start = rows[i].offsets[k], end = start + BYTES;
            CHECK(!pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, start - 1}, &found));
            CHECK(!pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, end}, &found));
            for (uint32_t at = start; at < end; at += BYTES - 1)
                if (CHECK(pdb_contribution_at(&w.world.pdb, (struct pdb_place){1, at}, &found))) {
                    CHECK_EQ(found.start.offset, start);
                    CHECK_EQ(found.module, start >= 0x50);
                }
        }
        made_close(&w);
    }
}

/* Adds a function id to the IPI stream: LF_FUNC_ID (0x1601) without scope and type. */
static uint32_t put_id(struct make_pdb *m, const char *name)
{
    const uint32_t at = m->ids.bytes;
    bag_u16(&m->ids, 0);
    bag_u16(&m->ids, 0x1601);
    bag_u32(&m->ids, 0);
    bag_u32(&m->ids, 0);
    bag_text(&m->ids, name);
    bag_align(&m->ids);
    m->ids.at[at] = (uint8_t)(m->ids.bytes - at - 2);
    return 0x1000 + m->id_count++;
}

static uint32_t put_site(struct make_pdb *m, uint32_t kind, uint32_t id, const char *annotations,
                         uint32_t bytes)
{
    const uint32_t record = make_record(m, 0, kind);
    struct bag *bag = &m->symbols[0];
    bag_u32(bag, 0);
    bag_u32(bag, 0);
    bag_u32(bag, id);
    if (kind == 0x115d)
        bag_u32(bag, 7); /* invocations */
    bag_put(bag, annotations, bytes);
    make_record_end(m, 0, record);
    return record;
}

TEST(sites_of_both_kinds_nest)
{
    static const uint32_t rows[][2] = {{0, 10}};
    for (uint32_t kind = 0x114d; kind <= 0x115d; kind += 0x10) {
        struct make_pdb m;
        struct made_world w;
        test_row(kind == 0x114d ? "S_INLINESITE" : "S_INLINESITE2");
        make_pdb_start(&m);
        make_contribution(&m, 0, 0x10, 0x20);
        make_checksum(&m, 0, "a.c");
        make_lines(&m, 0, 0x10, 0x20, 0, rows, COUNT_OF(rows));
        const uint32_t outer = put_id(&m, "outer"), inner = put_id(&m, "inner");
        struct bag *c13 = &m.c13[0];
        bag_u32(c13, 0xf6);
        bag_u32(c13, 28);
        bag_u32(c13, 0);
        bag_u32(c13, outer);
        bag_u32(c13, 0);
        bag_u32(c13, 100);
        bag_u32(c13, inner);
        bag_u32(c13, 0);
        bag_u32(c13, 200);
        const uint32_t procedure = make_procedure(&m, 0, 0x1110, 0x10, 0x20, "main");
        const uint32_t one = put_site(&m, kind, outer, "\x0c\x10\x04\0", 4); /* 16 bytes at 4 */
        const uint32_t two = put_site(&m, kind, inner, "\x06\x04\x0c\x02\x08\0", 6);
        make_scope_end(&m, 0, two, 0x114e);
        make_scope_end(&m, 0, one, 0x114e);
        make_scope_end(&m, 0, procedure, 6);
        made_open(&w, &m);
        made_check(&w, 0x1013, "main+0x3 a.c:10");
        made_check(&w, 0x1014, "outer a.c:100 < main+0x4 a.c:10");
        made_check(&w, 0x1018, "inner a.c:202 < outer a.c:100 < main+0x8 a.c:10");
        made_check(&w, 0x101a, "outer a.c:100 < main+0xa a.c:10");
        made_check(&w, 0x1024, "main+0x14 a.c:10");
        made_close(&w);
    }
}

TEST(inlinees_whose_code_comes_from_more_files)
{
    static const uint32_t rows[][2] = {{0, 10}};
    struct make_pdb m;
    struct made_world w;
    make_pdb_start(&m);
    make_contribution(&m, 0, 0x10, 0x20);
    make_checksum(&m, 0, "a.c");
    make_lines(&m, 0, 0x10, 0x20, 0, rows, COUNT_OF(rows));
    const uint32_t outer = put_id(&m, "?A0x12ab::outer<?A0x0::t>"), inner = put_id(&m, "inner");
    struct bag *c13 = &m.c13[0];
    const uint32_t words[] = {0xf6, 44, 1, outer, 0, 100, 2, 0, 0, inner, 0, 200, 0};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        bag_u32(c13, words[i]);
    const uint32_t procedure = make_procedure(&m, 0, 0x1110, 0x10, 0x20, "main");
    const uint32_t one = put_site(&m, 0x114d, outer, "\x0c\x10\x04\0", 4);
    const uint32_t two = put_site(&m, 0x114d, inner, "\x0c\x02\x08\0", 4);
    make_scope_end(&m, 0, two, 0x114e);
    make_scope_end(&m, 0, one, 0x114e);
    make_scope_end(&m, 0, procedure, 6);
    made_open(&w, &m);
    made_check(&w, 0x1018,
               "inner a.c:200 < `anonymous namespace'::outer<`anonymous namespace'::t> a.c:100 < "
               "main+0x8 a.c:10");
    made_close(&w);
}

/* Microsoft's debuggers use the first record: seen in basic32.pdb (common_strnlen_c). */
TEST(of_two_records_of_an_inlinee_the_first_counts)
{
    static const uint32_t rows[][2] = {{0, 10}};
    struct make_pdb m;
    struct made_world w;
    make_pdb_start(&m);
    make_contribution(&m, 0, 0x10, 0x20);
    make_checksum(&m, 0, "a.c");
    make_lines(&m, 0, 0x10, 0x20, 0, rows, COUNT_OF(rows));
    const uint32_t outer = put_id(&m, "outer"), inner = put_id(&m, "inner");
    struct bag *c13 = &m.c13[0];
    const uint32_t words[] = {0xf6, 52,    0, outer, 0,     100, inner, 0,
                              200,  outer, 0, 101,   inner, 0,   199};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        bag_u32(c13, words[i]);
    const uint32_t procedure = make_procedure(&m, 0, 0x1110, 0x10, 0x20, "main");
    const uint32_t one = put_site(&m, 0x114d, outer, "\x0c\x10\x04\0", 4);
    const uint32_t two = put_site(&m, 0x114d, inner, "\x0c\x02\x08\0", 4);
    make_scope_end(&m, 0, two, 0x114e);
    make_scope_end(&m, 0, one, 0x114e);
    make_scope_end(&m, 0, procedure, 6);
    made_open(&w, &m);
    for (int i = 0; i < 10; i++) /* walked, and then packed */
        made_check(&w, 0x1018, "inner a.c:200 < outer a.c:100 < main+0x8 a.c:10");
    made_close(&w);
}

/* Part of an inlined function can be in another file: one with a macro, or an included file. */
TEST(an_inlined_line_of_another_file)
{
    static const uint32_t rows[][2] = {{0, 10}};
    struct make_pdb m;
    struct made_world w;
    make_pdb_start(&m);
    make_contribution(&m, 0, 0x10, 0x20);
    struct bag *c13 = &m.c13[0];
    bag_u32(c13, 0xf4); /* two files, at 0 and at 8 */
    bag_u32(c13, 16);
    bag_u32(c13, make_name(&m, "a.c"));
    bag_u32(c13, 0);
    bag_u32(c13, make_name(&m, "b.h"));
    bag_u32(c13, 0);
    make_lines(&m, 0, 0x10, 0x20, 0, rows, COUNT_OF(rows));
    const uint32_t outer = put_id(&m, "outer");
    const uint32_t words[] = {0xf6, 16, 0, outer, 0, 100};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        bag_u32(c13, words[i]);
    const uint32_t procedure = make_procedure(&m, 0, 0x1110, 0x10, 0x20, "main");
    const uint32_t one = put_site(&m, 0x114d, outer, "\x0b\x04\x05\x08\x0b\x24\x04\x08\0\0", 10);
    make_scope_end(&m, 0, one, 0x114e);
    make_scope_end(&m, 0, procedure, 6);
    made_open(&w, &m);
    made_check(&w, 0x1013, "main+0x3 a.c:10");
    made_check(&w, 0x1014, "outer a.c:100 < main+0x4 a.c:10");
    made_check(&w, 0x1018, "outer b.h:101 < main+0x8 a.c:10");
    made_check(&w, 0x1020, "main+0x10 a.c:10");
    made_close(&w);
}

TEST(annotations_of_every_kind)
{
    static const struct {
        const char *name, *bytes;
        uint32_t count;
        const char *want; /* start-end:line@file ... */
    } rows[] = {
        {"offset", "\x01\x05", 2, "5-64:0"},
        {"move, twice", "\x03\x05\x03\x03", 4, "5-8:0 8-64:0"},
        {"length closes and advances", "\x03\x05\x04\x03\x03\x02", 6, "5-8:0 a-64:0"},
        {"line up and down", "\x06\x06\x03\x01\x06\x03\x03\x01", 8, "1-2:3 2-64:2"},
        {"move and line", "\x0b\x25", 2, "5-64:1"},
        {"move and line down", "\x0b\x35", 2, "5-64:-1"},
        {"length and move", "\x0c\x03\x05\x0c\x02\x01", 6, "5-8:0 6-8:0"},
        {"file", "\x05\x18\x03\x01", 4, "1-64:0@18"},
        {"line's end, kind of range, columns are passed over",
         "\x07\x01\x08\x01\x09\x02\x0a\x02\x0d\x04\x03\x05", 12, "5-64:0"},
        {"rows of a separated part are not of this one", "\x03\x05\x04\x03\x02\x01\x03\x01\x04\x02",
         10, "5-8:0"},
        {"back from a separated part", "\x02\x01\x0c\x02\x01\x02\x00\x01\x05", 9, "5-64:0"},
        {"two-byte operand", "\x03\x81\x00\x04\x02", 5, "100-102:0"},
        {"four-byte operand", "\x03\xc0\x01\x00\x00\x04\x02", 7, "10000-10002:0"},
        {"every bit of a four-byte operand", "\x03\xdf\x02\x03\x04\x04\x02", 7,
         "1f020304-1f020306:0"},
        {"every bit of a move with a line", "\x0b\x2f", 2, "f-64:1"},
        {"a row without code is none", "\x03\x05\x03\x00\x04\x03", 6, "5-8:0"},
        {"an operand that is cut", "\x03\x05\x03\x81", 4, "5-64:0"},
        {"no operand of that form", "\x03\x05\x03\xff\xff\xff\xff", 7, "5-64:0"},
        {"zeros end it", "\x03\x05\0\0\x03\x05", 6, "5-64:0"},
        {"an operation that is none", "\x03\x05\x0e\x01\x03\x01", 6, "5-64:0"},
        {"nothing", "", 0, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pdb_inline_row out[64];
        char text[256] = "";
        test_row(rows[i].name);
        const uint32_t count =
            pdb_inline_rows((const uint8_t *)rows[i].bytes, rows[i].count, UINT32_MAX, 0x64, out);
        for (uint32_t k = 0; k < count; k++) {
            const size_t at = strlen(text);
            (void)snprintf(text + at, sizeof text - at, "%s%x-%x:%d", k != 0 ? " " : "",
                           out[k].start, out[k].end, out[k].line_delta);
            if (out[k].file != UINT32_MAX)
                (void)snprintf(text + strlen(text), sizeof text - strlen(text), "@%x", out[k].file);
        }
        CHECK_STR(text, rows[i].want);
    }
}
