/* Line tables of DWARF made by hand: where files are (DWARF 5, 6.2.4; DWARF 4, 6.2.4), and how
 * often a table that units share is read. */
#include <stdlib.h>
#include <string.h>

#include "dwarf_maker.h"
#include "test.h"

enum { STMT_LIST = 0x10, COMP_DIR = 0x1b, SEC_OFFSET = 0x17, UNIT_BYTES = 0x1000 };
enum { STRING_INDEX = 1, FOLDER_INDEX = 2, DATA1 = 0x0b };

/* Adds a unit of UNIT_BYTES of code at NUMBER times as many, whose line table is at offset 0. */
static void add_unit(struct made *m, uint32_t at)
{
    static const uint64_t pairs[] = {LOW,        ADDR,     HIGH,   ADDR, STMT_LIST,
                                     SEC_OFFSET, COMP_DIR, STRING, 0};
    m->start = m->info.bytes;
    number(m, 0, 4);
    number(m, m->version, 2);
    if (m->version >= 5) {
        number(m, 1, 1);
        number(m, m->address_bytes, 1);
    }
    number(m, m->abbrev.bytes, 4);
    if (m->version < 5)
        number(m, m->address_bytes, 1);
    shape(m, 1, UNIT, true, pairs);
    put_unsigned(&m->info, 1);
    number(m, BASE + at * UNIT_BYTES, m->address_bytes);
    number(m, BASE + (at + 1) * UNIT_BYTES, m->address_bytes);
    number(m, 0, 4);
    put_text(&m->info, "/unit");
    end_unit(m);
}

/* The part of a line table before its folders; the length is put by end_table(). */
static void start_table(struct part *t, uint16_t version, size_t *head_at)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    put_fixed(t, 0, 4, false);
    put_fixed(t, version, 2, false);
    if (version >= 5) {
        put_fixed(t, 8, 1, false);
        put_fixed(t, 0, 1, false);
    }
    *head_at = t->bytes;
    put_fixed(t, 0, 4, false);
    put_fixed(t, 1, 1, false); /* least step */
    put_fixed(t, 1, 1, false);
    put_fixed(t, 1, 1, false);
    put_fixed(t, 0xfb, 1, false); /* line base -5 */
    put_fixed(t, 14, 1, false);
    put_fixed(t, 13, 1, false); /* first special operation */
    memcpy(t->data + t->bytes, operands, sizeof operands);
    t->bytes += sizeof operands;
}

static void end_head(struct part *t, size_t head_at)
{
    struct part head = {.bytes = 0};
    put_fixed(&head, t->bytes - head_at - 4, 4, false);
    memcpy(t->data + head_at, head.data, 4);
}

static void end_table(struct part *t)
{
    struct part length = {.bytes = 0};
    put_fixed(&length, t->bytes - 4, 4, false);
    memcpy(t->data, length.data, 4);
}

/* A row at BASE + AT, of that file and line. */
static void put_row(struct part *t, uint64_t at, uint64_t file, uint8_t lines)
{
    put_fixed(t, 0, 1, false);
    put_unsigned(t, 9);
    put_fixed(t, 2, 1, false); /* DW_LNE_set_address */
    put_fixed(t, BASE + at, 8, false);
    put_fixed(t, 4, 1, false); /* DW_LNS_set_file */
    put_unsigned(t, file);
    put_fixed(t, 3, 1, false); /* DW_LNS_advance_line */
    put_unsigned(t, lines);
    put_fixed(t, 1, 1, false); /* DW_LNS_copy */
}

static void put_end(struct part *t, uint64_t at)
{
    put_fixed(t, 0, 1, false);
    put_unsigned(t, 9);
    put_fixed(t, 2, 1, false);
    put_fixed(t, BASE + at, 8, false);
    put_fixed(t, 0, 1, false);
    put_unsigned(t, 1);
    put_fixed(t, 1, 1, false); /* DW_LNE_end_sequence */
}

static void put_folders_5(struct part *t)
{
    static const struct {
        const char *path;
        uint8_t folder;
    } files[] = {{"a.c", 0}, {"b.c", 1}, {"c.c", 2}, {"/d/d.c", 1}};
    static const char *const folders[] = {"/unit", "sub", "/abs"};
    put_fixed(t, 1, 1, false);
    put_unsigned(t, STRING_INDEX);
    put_unsigned(t, STRING);
    put_unsigned(t, 3);
    for (size_t i = 0; i < COUNT_OF(folders); i++)
        put_text(t, folders[i]);
    put_fixed(t, 2, 1, false);
    put_unsigned(t, STRING_INDEX);
    put_unsigned(t, STRING);
    put_unsigned(t, FOLDER_INDEX);
    put_unsigned(t, DATA1);
    put_unsigned(t, COUNT_OF(files));
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        put_text(t, files[i].path);
        put_fixed(t, files[i].folder, 1, false);
    }
}

static void put_folders_4(struct part *t)
{
    static const struct {
        const char *path;
        uint8_t folder;
    } files[] = {{"a.c", 0}, {"b.c", 1}, {"c.c", 2}, {"/d/d.c", 1}};
    put_text(t, "sub");
    put_text(t, "/abs");
    put_fixed(t, 0, 1, false);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        put_text(t, files[i].path);
        put_unsigned(t, files[i].folder);
        put_unsigned(t, 0);
        put_unsigned(t, 0);
    }
    put_fixed(t, 0, 1, false);
}

/* One line table of units, and what is read from it. */
struct lines {
    struct part *table; /* owned, like the units */
    struct made *m;
    struct object_debug debug;
    struct dwarf *dwarf;
};

/* UNITS of the table, and the table up to its rows. */
static void begin_lines(struct lines *l, uint16_t version, uint32_t units)
{
    size_t head_at;
    *l = (struct lines){.table = calloc(1, sizeof *l->table), .m = calloc(1, sizeof *l->m)};
    REQUIRE(l->table != NULL && l->m != NULL);
    l->m->version = version;
    l->m->address_bytes = 8;
    for (uint32_t i = 0; i < units; i++)
        add_unit(l->m, i);
    start_table(l->table, version, &head_at);
    if (version >= 5)
        put_folders_5(l->table);
    else
        put_folders_4(l->table);
    end_head(l->table, head_at);
}

static void open_lines(struct lines *l)
{
    struct fault fault = FAULT_INIT;
    end_table(l->table);
    l->debug = sections_of(l->m);
    l->debug.own[DEBUG_LINE] = (struct byte_view){l->table->data, l->table->bytes};
    const struct dwarf_input input = {.debug = &l->debug};
    REQUIRE(dwarf_open(&input, &l->dwarf, &fault) == ERR_NONE);
}

static void close_lines(struct lines *l)
{
    dwarf_close(l->dwarf);
    free(l->table);
    free(l->m);
}

TEST(files_are_in_the_folders_of_their_table)
{
    static const char *const want[] = {"/unit/a.c", "/unit/sub/b.c", "/abs/c.c", "/d/d.c"};
    static const uint16_t versions[] = {4, 5};
    for (size_t v = 0; v < COUNT_OF(versions); v++) {
        struct lines l;
        test_row(versions[v] == 4 ? "version 4" : "version 5");
        begin_lines(&l, versions[v], 1);
        for (uint32_t i = 0; i < COUNT_OF(want); i++)
            put_row(l.table, 0x10 * i, i + (versions[v] == 4), 10);
        put_end(l.table, 0x40);
        open_lines(&l);
        for (uint32_t i = 0; i < COUNT_OF(want); i++) {
            struct dwarf_place place;
            dwarf_at(l.dwarf, 0x10 * i + 3, &place);
            CHECK_STR(place.file, want[i]);
            CHECK_EQ(place.line, 11 + 10 * i);
            CHECK_EQ(place.damaged, false);
        }
        close_lines(&l);
    }
}

/* The table has 4,104 bytes, of which 4,100 count. All units may read 8 times the section and 4,096
 * bytes: 65,600, which 16 units reach and the 17th passes. */
TEST(a_table_that_units_share_is_read_so_often_only)
{
    enum { TABLE_BYTES = 4104, UNITS = 20, READ = 17 };
    struct lines l;
    begin_lines(&l, 4, UNITS);
    put_row(l.table, 0, 1, 6);
    put_end(l.table, UNITS * UNIT_BYTES);
    put_fixed(l.table, 0, 1, false); /* an operation that is not known fills it up */
    const size_t left = TABLE_BYTES - l.table->bytes - 2;
    put_unsigned(l.table, left);
    put_fixed(l.table, 0x80, 1, false);
    l.table->bytes = TABLE_BYTES;
    open_lines(&l);
    for (uint32_t i = 0; i < UNITS; i++) {
        struct dwarf_place place;
        dwarf_at(l.dwarf, i * UNIT_BYTES + 5, &place);
        CHECK_EQ(place.line, i < READ ? 7 : 0);
        CHECK_EQ(place.damaged, i >= READ);
    }
    close_lines(&l);
}

/* Several rows at one address, the first of the table among them, and a gap between sequences. */
TEST(every_line_of_an_address_is_listed)
{
    static const struct {
        const char *name;
        uint32_t offset, max, count, lines[3];
    } rows[] = {
        {"the first rows", 0, 8, 2, {3, 5}},
        {"after them, before the next", 0xf, 8, 2, {3, 5}},
        {"three at one address", 0x10, 8, 3, {6, 8, 9}},
        {"the first of them alone", 0x10, 1, 1, {6}},
        {"one row", 0x20, 8, 1, {10}},
        {"after the end of a sequence", 0x30, 8, 0, {0}},
        {"the first of the next sequence", 0x40, 8, 1, {4}},
        {"its end", 0x50, 8, 0, {0}},
    };
    struct lines l;
    begin_lines(&l, 4, 1);
    put_row(l.table, 0, 1, 2); /* lines count from 1 */
    put_row(l.table, 0, 1, 2);
    put_row(l.table, 0x10, 1, 1);
    put_row(l.table, 0x10, 1, 2);
    put_row(l.table, 0x10, 1, 1);
    put_row(l.table, 0x20, 1, 1);
    put_end(l.table, 0x30);
    put_row(l.table, 0x40, 1, 3);
    put_end(l.table, 0x50);
    open_lines(&l);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t got[8] = {0};
        test_row(rows[i].name);
        CHECK_EQ(dwarf_lines(l.dwarf, rows[i].offset, got, rows[i].max), rows[i].count);
        for (uint32_t k = 0; k < rows[i].count; k++)
            CHECK_EQ(got[k], rows[i].lines[k]);
    }
    close_lines(&l);
}
