/* PDBs made record by record: kinds and forms that no fixture has. Each file is queried lazily and
 * through its index, and both must give the same answer. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "made_world.h"
#include "symbol/symbol_store.h"
#include "test.h"

TEST(every_kind_of_procedure_is_one)
{
    static const struct {
        const char *name;
        uint32_t kind, end;
    } rows[] = {
        {"S_GPROC32", 0x1110, 6},           {"S_LPROC32", 0x110f, 6},
        {"S_GPROC32_ID", 0x1147, 0x114f},   {"S_LPROC32_ID", 0x1146, 0x114f},
        {"S_LPROC32_DPC", 0x1155, 6},       {"S_LPROC32_DPC_ID", 0x1156, 0x114f},
        {"S_GPROC32EX", 0x1172, 6},         {"S_LPROC32EX", 0x1173, 6},
        {"S_GPROC32EX_ID", 0x1174, 0x114f}, {"S_LPROC32EX_ID", 0x1175, 0x114f},
        {"S_THUNK32", 0x1102, 6},           {"S_GMANPROC", 0x112a, 6},
        {"S_LMANPROC", 0x112b, 6},          {"S_GPROC32_ST", 0x100b, 6},
        {"S_LPROC32_ST", 0x100a, 6},        {"S_GMANPROC_ST", 0x101a, 6},
        {"S_LMANPROC_ST", 0x101b, 6},       {"S_GPROC32_16t", 0x0205, 6},
        {"S_LPROC32_16t", 0x0204, 6},       {"S_THUNK32_ST", 0x0206, 6},
        {"S_GPROCMIPS", 0x1115, 6},         {"S_LPROCMIPS", 0x1114, 6},
        {"S_GPROCMIPS_ID", 0x1149, 0x114f}, {"S_LPROCMIPS_ID", 0x1148, 0x114f},
        {"S_GPROCMIPS_ST", 0x1011, 6},      {"S_LPROCMIPS_ST", 0x1010, 6},
        {"S_GPROCIA64", 0x1119, 6},         {"S_LPROCIA64", 0x1118, 6},
        {"S_GPROCIA64_ID", 0x114b, 0x114f}, {"S_LPROCIA64_ID", 0x114a, 0x114f},
        {"S_GPROCIA64_ST", 0x1016, 6},      {"S_LPROCIA64_ST", 0x1015, 6},
    };
    static const uint32_t blocks[] = {512, 1024, 4096, 8192};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_pdb_start(&m);
        m.block_bytes = blocks[i % COUNT_OF(blocks)];
        make_contribution(&m, 0, 0x10, 0x40);
        const uint32_t one = make_procedure(&m, 0, rows[i].kind, 0x10, 0x20, "first");
        make_scope_end(&m, 0, one, rows[i].end);
        const uint32_t two = make_procedure(&m, 0, rows[i].kind, 0x30, 0x20, "second");
        make_scope_end(&m, 0, two, rows[i].end);
        made_open(&w, &m);
        made_check(&w, 0x100f, "-");
        made_check(&w, 0x1010, "first");
        made_check(&w, 0x102f, "first+0x1f");
        made_check(&w, 0x1030, "second");
        made_check(&w, 0x104f, "second+0x1f");
        made_close(&w);
    }
}

/* Separated code: parent, end, bytes, flags, offset, parent's offset, section, parent's. */
static void put_separated(struct make_pdb *m, uint32_t offset, uint32_t bytes, uint32_t parent)
{
    const uint32_t record = make_record(m, 0, 0x1132);
    struct bag *bag = &m->symbols[0];
    bag_u32(bag, 0);
    bag_u32(bag, 0);
    bag_u32(bag, bytes);
    bag_u32(bag, 0);
    bag_u32(bag, offset);
    bag_u32(bag, parent);
    bag_u16(bag, 1);
    bag_u16(bag, 1);
    make_record_end(m, 0, record);
    make_scope_end(m, 0, record, 6);
}

TEST(cold_parts_have_the_name_of_their_procedure)
{
    static const uint32_t rows[][2] = {{0, 10}, {4, 11}}, cold[][2] = {{0, 20}};
    struct make_pdb m;
    struct made_world w;
    make_pdb_start(&m);
    make_contribution(&m, 0, 0x10, 0x20);
    make_contribution(&m, 1, 0x30, 0x10);
    make_contribution(&m, 0, 0x100, 0x10);
    make_checksum(&m, 0, "c:\\a.c");
    make_lines(&m, 0, 0x10, 0x20, 0, rows, COUNT_OF(rows));
    make_lines(&m, 0, 0x100, 0x10, 0, cold, COUNT_OF(cold));
    make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x10, 0x20, "hot"), 6);
    make_scope_end(&m, 1, make_procedure(&m, 1, 0x1110, 0x30, 0x10, "between"), 6);
    put_separated(&m, 0x100, 0x10, 0x10);
    made_open(&w, &m);
    made_check(&w, 0x1013, "hot+0x3 a.c:10");
    made_check(&w, 0x1014, "hot+0x4 a.c:11");
    made_check(&w, 0x1030, "between");
    made_check(&w, 0x1108, "hot+0x8 a.c:20");
    made_close(&w);
}

TEST(procedures_with_names_of_other_compilers_are_readable)
{
    static const struct {
        const char *name, *want;
    } rows[] = {
        {"_Z5riskyi.cold.1", "risky"},
        {"_ZN4core3fmt9Formatter3new17h0123456789abcdefE", "core::fmt::Formatter::new"},
        {"alloc::vec::Vec$LT$T$GT$::push", "alloc::vec::Vec<T>::push"},
        {"#f$exit_thunk", "[thunk]:f`exit thunk'"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_pdb_start(&m);
        make_contribution(&m, 0, 0x10, 0x20);
        make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x10, 0x20, rows[i].name), 6);
        made_open(&w, &m);
        made_check(&w, 0x1010, rows[i].want);
        made_close(&w);
    }
}

/* A jump of an incremental link: kind, bytes, offset, target's offset, section, target's. */
static void put_trampoline(struct make_pdb *m, uint32_t module, uint32_t offset, uint32_t target)
{
    const uint32_t record = make_record(m, module, 0x112c);
    struct bag *bag = &m->symbols[module];
    bag_u16(bag, 0);
    bag_u16(bag, 5);
    bag_u32(bag, offset);
    bag_u32(bag, target);
    bag_u16(bag, 1);
    bag_u16(bag, 1);
    make_record_end(m, module, record);
}

TEST(jumps_of_incremental_links_have_the_name_of_their_target)
{
    struct make_pdb m;
    struct made_world w;
    make_pdb_start(&m);
    make_contribution(&m, 1, 0x5, 0xf);
    make_contribution(&m, 0, 0x20, 0x10);
    make_public(&m, 0x30, "?run@app@@YAXXZ");
    make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x20, 0x10, "app::start"), 6);
    put_trampoline(&m, 1, 0x5, 0x20);
    put_trampoline(&m, 1, 0xa, 0x30); /* a public */
    put_trampoline(&m, 1, 0xf, 0x5);  /* another jump */
    made_open(&w, &m);
    made_check(&w, 0x1005, "app::start (a jump of an incremental link to this function)");
    made_check(&w, 0x1009, "app::start+0x4 (a jump of an incremental link to this function)");
    made_check(&w, 0x100a, "app::run (a jump of an incremental link to this function)");
    made_check(&w, 0x1010, "?+0x1");
    made_check(&w, 0x1020, "app::start");
    made_close(&w);
}

/* PSGSIHDR: jumps of one size after each other, and the rva of each one's target, which is a place
 * if it is in a section. */
TEST(jumps_of_the_table_of_publics)
{
    enum { FIRST = 5, SIZE = 5 };
    static const uint32_t targets[] = {0x1020, 0x1fff, 0xfff, 0x2000, 0x1000};
    static const struct {
        const char *name;
        struct pdb_place at;
        uint32_t start, target; /* UINT32_MAX: no jump */
    } rows[] = {
        {"before the first", {1, 4}, UINT32_MAX, 0},
        {"the first byte", {1, 5}, 5, 0x20},
        {"its last byte", {1, 9}, 5, 0x20},
        {"the second, to the last byte of the section", {1, 10}, 10, 0xfff},
        {"to before the section", {1, 15}, UINT32_MAX, 0},
        {"to after the section", {1, 20}, UINT32_MAX, 0},
        {"the last, to the first byte of the section", {1, 29}, 25, 0},
        {"after the last", {1, 30}, UINT32_MAX, 0},
        {"in another section", {2, 5}, UINT32_MAX, 0},
    };
    struct make_pdb m;
    struct pdb pdb;
    struct fault fault = FAULT_INIT;
    size_t bytes;
    make_pdb_start(&m);
    make_public(&m, 0x20, "_target");
    m.jumps_offset = FIRST;
    m.jump_bytes = SIZE;
    for (size_t i = 0; i < COUNT_OF(targets); i++)
        bag_u32(&m.jumps, targets[i]);
    const uint8_t *data = make_pdb_file(&m, &bytes);
    REQUIRE(pdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const bool found = rows[i].start != UINT32_MAX;
        struct pdb_jump jump;
        test_row(rows[i].name);
        if (CHECK_EQ(pdb_jump_at(&pdb, rows[i].at, &jump), found) && found) {
            CHECK_EQ(jump.start.section, 1);
            CHECK_HEX(jump.start.offset, rows[i].start);
            CHECK_EQ(jump.bytes, SIZE);
            CHECK_EQ(jump.target.section, 1);
            CHECK_HEX(jump.target.offset, rows[i].target);
        }
    }
    pdb_close(&pdb);
    make_pdb_free(&m);
}

TEST(rearranged_images_go_through_both_tables)
{
    /* {rva after, rva before}: what was at 0x1100 is now at [0x1000, 0x1010), then comes an
     * insertion, then what was at 0x1000. The second table is the inverse. */
    static const uint32_t to_source[][2] = {{0x1000, 0x1100}, {0x1010, 0}, {0x1020, 0x1000}};
    static const uint32_t from_source[][2] = {{0x1000, 0x1020}, {0x1010, 0}, {0x1100, 0x1000}};
    struct make_pdb m;
    struct made_world w;
    uint32_t rva = 0;
    make_pdb_start(&m);
    for (size_t i = 0; i < COUNT_OF(to_source); i++) {
        bag_u32(&m.omap_to_source, to_source[i][0]);
        bag_u32(&m.omap_to_source, to_source[i][1]);
        bag_u32(&m.omap_from_source, from_source[i][0]);
        bag_u32(&m.omap_from_source, from_source[i][1]);
    }
    make_contribution(&m, 0, 0, 0x10);
    make_contribution(&m, 0, 0x100, 0x10);
    make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0, 0x10, "moved back"), 6);
    make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x100, 0x10, "moved to front"), 6);
    made_open(&w, &m);
    made_check(&w, 0xfff, "-");
    made_check(&w, 0x1004, "moved to front+0x4");
    made_check(&w, 0x1012, "-");
    made_check(&w, 0x1025, "moved back+0x5");
    CHECK(pdb_rva_of_place(&w.world.pdb, (struct pdb_place){1, 4}, &rva));
    CHECK_HEX(rva, 0x1024);
    CHECK(pdb_rva_of_place(&w.world.pdb, (struct pdb_place){1, 0x104}, &rva));
    CHECK_HEX(rva, 0x1004);
    CHECK(!pdb_rva_of_place(&w.world.pdb, (struct pdb_place){1, 0x14}, &rva));
    made_close(&w);
}

TEST(a_rearranged_image_without_its_tables_is_refused)
{
    static const struct {
        const char *name;
        uint32_t to_words, from_words; /* two are a row */
        enum status status;
        const char *what;
    } rows[] = {
        {"none", 0, 0, ERR_NONE, NULL},
        {"both", 2, 2, ERR_NONE, NULL},
        {"half a row to the source", 1, 2, ERR_TRUNCATED, "PDB OMAP table"},
        {"half a row from the source", 2, 1, ERR_TRUNCATED, "PDB OMAP table"},
        {"to the source alone", 2, 0, ERR_MALFORMED, "PDB with one OMAP table of two"},
        {"from the source alone", 0, 2, ERR_MALFORMED, "PDB with one OMAP table of two"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct make_pdb m;
        struct pdb pdb;
        size_t bytes;
        test_row(rows[i].name);
        make_pdb_start(&m);
        for (uint32_t k = 0; k < rows[i].to_words; k++)
            bag_u32(&m.omap_to_source, 0x1000);
        for (uint32_t k = 0; k < rows[i].from_words; k++)
            bag_u32(&m.omap_from_source, 0x1000);
        const uint8_t *data = make_pdb_file(&m, &bytes);
        CHECK_EQ(pdb_open(data, bytes, &pdb, &fault), rows[i].status);
        if (rows[i].what != NULL)
            CHECK_STR(fault.what, rows[i].what);
        else if (fault.code == ERR_NONE)
            pdb_close(&pdb);
        make_pdb_free(&m);
    }
}

static void make_plain(struct make_pdb *m)
{
    static const uint32_t rows[][2] = {{0, 7}};
    make_pdb_start(m);
    make_contribution(m, 0, 0x10, 0x20);
    make_contribution(m, 1, 0x30, 0x10);
    make_checksum(m, 0, "a.c");
    make_lines(m, 0, 0x10, 0x20, 0, rows, COUNT_OF(rows));
    make_public(m, 0x10, "_one");
    make_scope_end(m, 0, make_procedure(m, 0, 0x1110, 0x10, 0x20, "one"), 6);
    make_scope_end(m, 1, make_procedure(m, 1, 0x1110, 0x30, 0x10, "two"), 6);
}

TEST(parts_that_a_writer_left_out)
{
    static const struct {
        const char *name, *at_11, *at_31;
        bool sections, contributions, names;
    } rows[] = {
        {"nothing", "one+0x1 a.c:7", "two+0x1", false, false, false},
        {"section headers: no rva means anything", "-", "-", true, false, false},
        {"contributions: procedures say what is whose", "one+0x1 a.c:7", "two+0x1", false, true,
         false},
        {"names of files: lines without them are lost",
         "one+0x1 (the PDB is damaged here: inlined functions may be missing, and names and lines "
         "wrong)",
         "two+0x1", false, false, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_plain(&m);
        m.without_sections = rows[i].sections;
        m.without_contributions = rows[i].contributions;
        if (rows[i].contributions) /* a procedure without bytes covers nothing */
            make_scope_end(&m, 1, make_procedure(&m, 1, 0x1110, 0x11, 0, "empty"), 6);
        m.without_names = rows[i].names;
        made_open(&w, &m);
        made_check(&w, 0x1011, rows[i].at_11);
        made_check(&w, 0x1031, rows[i].at_31);
        made_close(&w);
    }
}

/* Finds the block that starts with FIRST. Returns the offset at which the directory holds
 * the number of the next block. */
static size_t place_of_next_block(const uint8_t *data, size_t bytes, uint32_t block_bytes,
                                  const char *first)
{
    size_t at = 0;
    while (memcmp(data + at, first, strlen(first)) != 0)
        at += block_bytes;
    const uint32_t block = (uint32_t)(at / block_bytes);
    for (at = bytes - 8; load_u32(data + at) != block || load_u32(data + at + 4) != block + 1;)
        at -= 4;
    return at + 4;
}

TEST(section_headers_that_are_cut_give_no_places)
{
    struct make_pdb m;
    struct pdb pdb;
    struct pdb_place place;
    struct fault fault = FAULT_INIT;
    size_t bytes;
    make_pdb_start(&m);
    m.block_bytes = 512;
    m.more_sections = 30; /* three blocks of headers */
    make_contribution(&m, 0, 0x10, 0x20);
    const uint8_t *data = make_pdb_file(&m, &bytes);
    REQUIRE(pdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    CHECK(pdb_place_of_rva(&pdb, 0x1010, &place));
    pdb_close(&pdb);
    bag_patch_u32(&m.file, (uint32_t)place_of_next_block(data, bytes, 512, ".text"), 1U << 20);
    REQUIRE(pdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    CHECK(!pdb_place_of_rva(&pdb, 0x1010, &place));
    pdb_close(&pdb);
    make_pdb_free(&m);
}

/* C11: one file, one table of two rows; names are NUL-terminated or start with their length. */
enum { C11_FILE = 4, C11_TABLES = 20, C11_TABLE = 24, C11_START = 28, C11_END = 32 };

static void make_old_lines(struct make_pdb *m, uint32_t signature)
{
    make_plain(m);
    m->c13[0].bytes = 0;
    bag_patch_u32(&m->symbols[0], 0, signature);
    struct bag *bag = &m->c11[0];
    bag_u16(bag, 1);  /* files */
    bag_u16(bag, 1);  /* sections */
    bag_u32(bag, 20); /* the file */
    bag_u32(bag, 0x10);
    bag_u32(bag, 0x2f);
    bag_u32(bag, 1);
    bag_u16(bag, 1); /* its tables; at 20 */
    bag_u16(bag, 0);
    bag_u32(bag, 44); /* the table */
    bag_u32(bag, 0x10);
    bag_u32(bag, 0x2f);
    if (signature == 4)
        bag_text(bag, "c:\\old.c");
    else
        bag_pascal(bag, "old.cxx");
    bag_align(bag);
    bag_patch_u32(bag, C11_TABLE, bag->bytes);
    bag_u16(bag, 1); /* section */
    bag_u16(bag, 2); /* rows */
    bag_u32(bag, 0x10);
    bag_u32(bag, 0x18);
    bag_u16(bag, 3);
    bag_u16(bag, 60000);
}

TEST(old_lines_of_both_signatures)
{
    for (uint32_t signature = 2; signature <= 4; signature += 2) {
        struct make_pdb m;
        struct made_world w;
        test_row(signature == 4 ? "names that end with NUL" : "names that start with a length");
        make_old_lines(&m, signature);
        made_open(&w, &m);
        made_check(&w, 0x1011, signature == 4 ? "one+0x1 old.c:3" : "one+0x1 old.cxx:3");
        made_check(&w, 0x1018, signature == 4 ? "one+0x8 old.c:60000" : "one+0x8 old.cxx:60000");
        made_check(&w, 0x102f, signature == 4 ? "one+0x1f old.c:60000" : "one+0x1f old.cxx:60000");
        made_close(&w);
    }
}

/* A table that says what cannot be has no lines. Its last byte is part of it. */
TEST(old_lines_that_are_damaged)
{
    static const struct {
        const char *name;
        uint32_t at, value;
        const char *at_10, *at_11;
    } rows[] = {
        {"its range has one byte", C11_END, 0x10, "one old.c:3", "one+0x1"},
        {"its range ends before it starts", C11_END, 0x0f, "one", "one+0x1"},
        {"it is after the end", C11_TABLE, 0x1000, "one", "one+0x1"},
        {"its file is after the end", C11_FILE, 0x1000, "one", "one+0x1"},
        {"its file has no tables", C11_TABLES, 0, "one", "one+0x1"},
        {"it has a row more than there is", 0, 1 | 3 << 16, "one", "one+0x1"},
        {"it is of a section that is not there", 0, 9 | 2 << 16, "one", "one+0x1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_old_lines(&m, 4);
        bag_patch_u32(&m.c11[0], rows[i].at != 0 ? rows[i].at : load_u32(m.c11[0].at + C11_TABLE),
                      rows[i].value);
        made_open(&w, &m);
        made_check(&w, 0x1010, rows[i].at_10);
        made_check(&w, 0x1011, rows[i].at_11);
        made_close(&w);
    }
}

TEST(of_publics_at_one_place_the_first_record_counts)
{
    struct make_pdb m;
    struct made_world w;
    make_pdb_start(&m);
    make_contribution(&m, 0, 0x10, 0x40);
    make_public(&m, 0x10, "?before@@YAXXZ");
    make_public(&m, 0x20, "?first@@YAXXZ");
    make_public(&m, 0x20, "?second@@YAXXZ");
    make_public(&m, 0x20, "?third@@YAXXZ");
    const uint32_t second = m.public_map.at[8];
    bag_patch_u32(&m.public_map, 8, m.public_map.at[4]); /* swaps two rows of the map */
    bag_patch_u32(&m.public_map, 4, second);
    made_open(&w, &m);
    made_check(&w, 0x1011, "before+0x1");
    made_check(&w, 0x1020, "first");
    made_check(&w, 0x102f, "first+0xf");
    made_close(&w);
}

/* The procedure that names folded code also gives its line, when each has a table. */
TEST(folded_code_does_not_mix_one_name_with_anothers_line)
{
    static const uint32_t first[][2] = {{0, 10}, {8, 11}}, second[][2] = {{0, 20}, {4, 21}};
    static const uint32_t third[][2] = {{0, 30}};
    static const struct {
        const char *name;
        uint32_t procedures;
        const char *at_0, *at_9;
    } rows[] = {
        {"two procedures, two tables", 2, "one a.c:10", "one+0x9 a.c:11"},
        {"one procedure, two tables", 1, "one a.c:20", "one+0x9 a.c:11"},
        {"three procedures, two tables", 3, "one a.c:20", "one+0x9 a.c:11"},
    };
    static const char *const names[] = {"one", "two", "three"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_pdb_start(&m);
        make_contribution(&m, 0, 0x10, 0x20);
        make_contribution(&m, 0, 0x30, 0x10);
        make_checksum(&m, 0, "c:\\a.c");
        make_lines(&m, 0, 0x30, 0x10, 0, third, COUNT_OF(third));
        make_lines(&m, 0, 0x10, 0x20, 0, first, COUNT_OF(first));
        make_lines(&m, 0, 0x10, 0x20, 0, second, COUNT_OF(second));
        make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x30, 0x10, "other"), 6);
        for (uint32_t k = 0; k < rows[i].procedures; k++)
            make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x10, 0x20, names[k]), 6);
        made_open(&w, &m);
        made_check(&w, 0x1010, rows[i].at_0);
        made_check(&w, 0x1019, rows[i].at_9);
        made_check(&w, 0x1030, "other a.c:30");
        made_close(&w);
    }
}

static bool is_name(void *context, const char *name)
{
    return strcmp(context, name) == 0;
}

TEST(every_name_of_a_folded_function_is_known)
{
    static const struct {
        char name[16];
        uint32_t offset;
        bool known;
    } rows[] = {
        {"first", 0x1014, true},      {"second", 0x1014, true},    {"published", 0x1014, true},
        {"neighbour", 0x1014, false}, {"neighbour", 0x1030, true}, {"first", 0x1030, false},
        {"second", 0x1105, true}, /* a jump to `second` */
        {"first", 0x1f00, false},
    };
    const struct symbol_store_options options = {.names = NAMES_SHORT};
    const struct module module = {.name = "made.exe", .unloaded_at_ns = MODULE_STILL_LOADED};
    struct fault fault = FAULT_INIT;
    struct symbol_store *store = NULL;
    struct make_pdb m;
    size_t bytes;
    char path[600];
    make_pdb_start(&m);
    make_contribution(&m, 0, 0x10, 0x20);
    make_contribution(&m, 0, 0x30, 0x10);
    make_contribution(&m, 1, 0x105, 5);
    make_public(&m, 0x10, "?published@@YAXXZ");
    make_public(&m, 0x30, "?neighbour@@YAXXZ");
    make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x10, 0x20, "first"), 6);
    make_scope_end(&m, 0, make_procedure(&m, 0, 0x1110, 0x30, 0x10, "neighbour"), 6);
    make_scope_end(&m, 1, make_procedure(&m, 1, 0x1110, 0x10, 0x20, "second"), 6);
    put_trampoline(&m, 1, 0x105, 0x10);
    const uint8_t *data = make_pdb_file(&m, &bytes);
    (void)snprintf(path, sizeof path, "%s/made.pdb", test_scratch());
    test_write(path, data, bytes);
    make_pdb_free(&m);
    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    REQUIRE(symbol_store_bind_pdb(store, "made.exe", path, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char name[16];
        memcpy(name, rows[i].name, sizeof name);
        test_row(name);
        CHECK_EQ(
            symbol_each_name(symbol_store_module(store, &module), rows[i].offset, is_name, name),
            rows[i].known);
    }
    symbol_store_close(store);
}

#define DAMAGED                                                                                    \
    " (the PDB is damaged here: inlined functions may be missing, and names and lines wrong)"

TEST(an_object_file_that_is_cut_says_so_in_its_frames)
{
    static const struct {
        const char *name;
        uint32_t record_bytes, block_bytes; /* the sizes stated; 0: no such part */
        const char *want;
    } rows[] = {
        {"whole", 0, 0, "f+0x1"},
        {"a record longer than the stream", 100, 0, "f+0x1" DAMAGED},
        {"a record without a kind", 1, 0, "f+0x1" DAMAGED},
        {"lines of more bytes than there are", 0, 100, "f+0x1" DAMAGED},
        {"a block of lines shorter than its head", 0, 4, "f+0x1" DAMAGED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct make_pdb m;
        struct made_world w;
        test_row(rows[i].name);
        make_pdb_start(&m);
        for (uint32_t module = 0; module < 2; module++) {
            make_contribution(&m, module, module * 0x10, 0x10);
            const uint32_t record =
                make_procedure(&m, module, 0x1110, module * 0x10, 0x10, module == 0 ? "f" : "g");
            make_scope_end(&m, module, record, 0x0006);
        }
        if (rows[i].record_bytes != 0) {
            bag_u16(&m.symbols[0], rows[i].record_bytes);
            bag_u16(&m.symbols[0], 0x1110);
        }
        if (rows[i].block_bytes != 0) {
            bag_u32(&m.c13[0], 0xf2);
            bag_u32(&m.c13[0], 24);
            bag_u32(&m.c13[0], 0x100); /* other code's lines: any line may be damaged */
            bag_u16(&m.c13[0], 1);
            bag_u16(&m.c13[0], 0);
            bag_u32(&m.c13[0], 0x10);
            bag_u32(&m.c13[0], 0);
            bag_u32(&m.c13[0], 0);
            bag_u32(&m.c13[0], rows[i].block_bytes);
        }
        made_open(&w, &m);
        made_check(&w, MAKE_CODE_RVA + 1, rows[i].want);
        made_check(&w, MAKE_CODE_RVA + 0x11, "g+0x1");
        made_close(&w);
    }
}
