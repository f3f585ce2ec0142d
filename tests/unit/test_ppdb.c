/* Portable PDBs and managed images of the corpus, whole, cut at every byte, and with changed bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/portable_pdb/managed_image.h"
#include "format/portable_pdb/precompiled.h"
#include "test.h"

static const char dll_file[] = "corpus/managed/shapes.dll";
static const char pdb_file[] = "corpus/managed/shapes.pdb";
static const char embedded_file[] = "corpus/managed/embedded.dll";
static const char compiled_file[] = "corpus/precompiled/net10-x64-cold/shapes.dll";
static const char older_file[] = "corpus/precompiled/net8-x64/shapes.dll";

enum { METHODS_MAX = 64 };

static const struct {
    uint32_t token;
    const char *plain, *full, *raw;
} names[] = {
    {0x06000004, "Point::.ctor", "Point::.ctor(int)", "Point::.ctor"},
    {0x06000006, "Box`1::Map", "Box`1<T>::Map<U>(System.Func`2<T,U>)", "Box`1::Map"},
    {0x06000007, "Box`1::.cctor", "Box`1<T>::.cctor()", "Box`1::.cctor"},
    {0x06000009, "Shapes::Throws", "Shapes::Throws(int)", "Shapes::Throws"},
    {0x0600000f, "Shapes::Filter", "Shapes::Filter(System.Exception)", "Shapes::Filter"},
    {0x06000022, "Shapes::Locals::Add", "Shapes::Locals::Add(int)",
     "Shapes/<>c__DisplayClass4_0::<Locals>g__Add|0"},
    {0x06000023, "Shapes::Locals::<lambda_1>", "Shapes::Locals::<lambda_1>(int)",
     "Shapes/<>c__DisplayClass4_0::<Locals>b__1"},
    {0x06000027, "Shapes::Main::<lambda_1>", "Shapes::Main::<lambda_1>(int)",
     "Shapes/<>c::<Main>b__9_1"},
    {0x06000024, "Shapes/<>c::.cctor", "Shapes/<>c::.cctor()", "Shapes/<>c::.cctor"},
    {0x06000014, "Shapes::Slow", "Shapes::Slow", "Shapes/<Slow>d__1::MoveNext"},
    {0x0600001b, "Shapes::Numbers", "Shapes::Numbers", "Shapes/<Numbers>d__3::MoveNext"},
    {0x06000000, NULL, NULL, NULL},
    {0x06ffffff, NULL, NULL, NULL},
    {0x0a000001, NULL, NULL, NULL},
};

static void open_metadata(struct metadata *md)
{
    struct fault fault = FAULT_INIT;
    struct pe pe;
    size_t bytes;
    const uint8_t *data = test_read(test_source(dll_file), &bytes);
    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    REQUIRE(managed_metadata(&pe, md, &fault) == ERR_NONE);
}

TEST(names_of_methods)
{
    struct metadata md;
    struct arena keep;

    arena_init(&keep, 0);
    open_metadata(&md);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *plain = managed_method_name(&md, names[i].token, MANAGED_SHORT, &keep);
        const char *full = managed_method_name(&md, names[i].token, MANAGED_FULL, &keep);
        const char *raw = managed_method_name(&md, names[i].token, MANAGED_RAW, &keep);
        test_row(names[i].plain);
        CHECK_EQ(plain == NULL, names[i].plain == NULL);
        if (plain != NULL && names[i].plain != NULL) {
            CHECK_STR(plain, names[i].plain);
            CHECK_STR(full, names[i].full);
            CHECK_STR(raw, names[i].raw);
        }
    }
    arena_free(&keep);
}

static const struct {
    const char *name;
    uint32_t token, il, line, kickoff;
    bool hidden, async;
} places[] = {
    {"the first statement", 0x06000009, 0x0, 40, 0, false, false},
    {"a throw", 0x06000009, 0x14, 44, 0, false, false},
    {"another document", 0x06000010, 0x6, 900, 0, false, false},
    {"all of it hidden by #line", 0x06000011, 0x6, 0, 0, false, false},
    {"a hidden point", 0x06000009, 0x6, 41, 0, true, false},
    {"hidden from its start", 0x0600000d, 0x3, 0, 0, true, false},
    {"a method without points", 0x06000008, 0x0, 0, 0, false, false},
    {"async", 0x06000014, 0x82, 51, 0x0600000a, false, true},
    {"an iterator", 0x0600001b, 0x2f, 63, 0x0600000c, false, false},
    {"no method", 0x06000000, 0, 0, 0, false, false},
    {"past the last method", 0x06010000, 0, 0, 0, false, false},
};

TEST(lines_of_methods)
{
    struct fault fault = FAULT_INIT;
    struct ppdb pdb;
    size_t bytes;
    const uint8_t *data = test_read(test_source(pdb_file), &bytes);

    REQUIRE(ppdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct ppdb_place place;
        test_row(places[i].name);
        (void)ppdb_place(&pdb, places[i].token, places[i].il, &place);
        CHECK_EQ(place.line, places[i].line);
        CHECK_EQ(place.hidden, places[i].hidden);
        CHECK_HEX(ppdb_kickoff(&pdb, places[i].token), places[i].kickoff);
        CHECK_EQ(ppdb_is_async(&pdb, places[i].token), places[i].async);
    }
}

TEST(the_pdb_belongs_to_its_image)
{
    struct fault fault = FAULT_INIT;
    uint8_t id[PPDB_ID_BYTES];
    struct byte_view unpacked;
    struct arena keep;
    struct ppdb pdb;
    struct pe pe;
    size_t bytes;

    arena_init(&keep, 0);
    const uint8_t *data = test_read(test_source(dll_file), &bytes);
    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    REQUIRE(managed_pdb_id(&pe, id));
    CHECK_EQ(managed_embedded_pdb(&pe, &keep, &unpacked, &fault), ERR_ABSENT);
    fault_clear(&fault);
    data = test_read(test_source(pdb_file), &bytes);
    REQUIRE(ppdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    CHECK_MEM(pdb.id, id, PPDB_ID_BYTES);
    data = test_read(test_source(embedded_file), &bytes);
    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    REQUIRE(managed_embedded_pdb(&pe, &keep, &unpacked, &fault) == ERR_NONE);
    REQUIRE(ppdb_open(unpacked.data, unpacked.bytes, &pdb, &fault) == ERR_NONE);
    REQUIRE(managed_pdb_id(&pe, id));
    CHECK_MEM(pdb.id, id, PPDB_ID_BYTES);
    arena_free(&keep);
}

/* "RSDS" and a GUID are 20 bytes; the age and the name that follow are not part of the identity. */
TEST(an_entry_that_ends_after_its_guid_has_an_identity)
{
    static const struct {
        const char *name;
        uint32_t bytes;
        bool has_id;
    } rows[] = {{"all of the GUID", 20, true}, {"without its last byte", 19, false}};
    static const uint8_t want[] = {'R', 'S', 'D', 'S'};
    size_t bytes, at = 0;
    const uint8_t *image = test_read(test_source(dll_file), &bytes);
    uint8_t *data = malloc(bytes);
    REQUIRE(data != NULL);
    memcpy(data, image, bytes);
    while (at + 28 <= bytes && memcmp(&data[at], want, sizeof want) != 0)
        at++;
    const size_t rsds = at;
    for (at = 0; at + 28 <= bytes && load_u32(&data[at + 24]) != rsds; at += 4)
        ;
    REQUIRE(at + 28 <= bytes && load_u32(&data[at + 12]) == 2); /* IMAGE_DEBUG_TYPE_CODEVIEW */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        uint8_t id[PPDB_ID_BYTES];
        struct pe pe;
        test_row(rows[i].name);
        data[at + 16] = (uint8_t)rows[i].bytes;
        REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
        CHECK_EQ(managed_pdb_id(&pe, id), rows[i].has_id);
        CHECK(!rows[i].has_id || memcmp(id, &data[rsds + 4], 16) == 0);
    }
    free(data);
}

/* crossgen names "app.ni.pdb" before the PDB of the compiler, which alone is portable. */
TEST(a_native_image_belongs_to_the_portable_pdb)
{
    enum { ENTRY_BYTES = 28, OTHER_TYPE = 19 }; /* a checksum, whose data are 39 bytes */
    static const struct {
        const char *name;
        uint16_t minor; /* of its own record */
        bool other_first, is_own;
    } rows[] = {
        {"the other is first", 0x504d, true, true},
        {"the other is last", 0x504d, false, true},
        {"none is portable", 0, true, true},
        {"none is portable, and the other is last", 0, false, false},
    };
    struct pe_debug_entry entry;
    struct fault fault = FAULT_INIT;
    struct pe pe;
    size_t bytes;
    uint32_t own = UINT32_MAX, other = UINT32_MAX;
    const uint8_t *image = test_read(test_source(dll_file), &bytes);
    uint8_t *data = malloc(bytes);
    REQUIRE(data != NULL && pe_open(image, bytes, &pe, &fault) == ERR_NONE);
    for (uint32_t i = 0; pe_debug_entry(&pe, i, &entry); i++) {
        own = entry.type == PE_DEBUG_CODEVIEW ? i : own;
        other = entry.type == OTHER_TYPE ? i : other;
    }
    REQUIRE(own == 0 && other != UINT32_MAX);
    const uint8_t *rows_at = pe_at(&pe, pe.directories[PE_DIR_DEBUG].rva, ENTRY_BYTES);
    REQUIRE(rows_at != NULL && pe_debug_entry(&pe, other, &entry) && entry.data.bytes >= 24);
    const size_t at[] = {(size_t)(rows_at - image), (size_t)(rows_at - image) + other * ENTRY_BYTES,
                         (size_t)(entry.data.data - image)};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t id[PPDB_ID_BYTES], want[PPDB_ID_BYTES];
        test_row(rows[i].name);
        memcpy(data, image, bytes);
        memcpy(data + at[2], "RSDS", 4);
        uint8_t *const entry_own = data + at[rows[i].other_first];
        uint8_t *const entry_other = data + at[!rows[i].other_first];
        memcpy(entry_own, image + at[0], ENTRY_BYTES);
        memcpy(entry_other, image + at[1], ENTRY_BYTES);
        entry_other[12] = PE_DEBUG_CODEVIEW;
        entry_own[10] = (uint8_t)rows[i].minor;
        entry_own[11] = (uint8_t)(rows[i].minor >> 8);
        entry_other[10] = entry_other[11] = 0;
        REQUIRE(managed_pdb_id(&pe, want)); /* PE is of the file as it was */
        struct pe with_two = pe;
        with_two.data = data;
        REQUIRE(managed_pdb_id(&with_two, id));
        CHECK_EQ(memcmp(id, want, PPDB_ID_BYTES) == 0, rows[i].is_own);
    }
    free(data);
}

TEST(sources)
{
    struct fault fault = FAULT_INIT;
    struct byte_view source;
    struct arena keep;
    struct ppdb pdb;
    size_t bytes, source_bytes;
    const uint8_t *data = test_read(test_source(pdb_file), &bytes);
    const uint8_t *want = test_read(test_source("corpus/managed/shapes.cs"), &source_bytes);

    arena_init(&keep, 0);
    REQUIRE(ppdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
    CHECK_STR(ppdb_document(&pdb, 1, &keep), "Z:\\src\\shapes.cs");
    CHECK(ppdb_document(&pdb, 99, &keep) == NULL);
    REQUIRE(ppdb_source(&pdb, 1, &keep, &source, &fault));
    CHECK_EQ(source.bytes, source_bytes);
    CHECK_MEM(source.data, want, source_bytes);
    const struct metadata_bytes link = ppdb_source_link(&pdb);
    CHECK_HAS(arena_text(&keep, (const char *)link.data, link.bytes), "documents");
    arena_free(&keep);
}

static const struct {
    const char *name, *file;
    uint32_t rva, token, begin_rva, il;
} compiled[] = {
    {"the prologue", compiled_file, 0x2460, 0x0600000e, 0x2460, UINT32_MAX - 1},
    {"code of a statement", compiled_file, 0x2473, 0x0600000e, 0x2460, 0x2},
    {"a filter, moved away", compiled_file, 0x4f90, 0x0600000e, 0x2460, UINT32_MAX},
    {"an instance for one type", compiled_file, 0x2c20, 0x06000006, 0x2c20, UINT32_MAX - 1},
    {"after the last function", compiled_file, 0x5030, 0, 0, 0},
    {"before the first", compiled_file, 0x1000, 0, 0, 0},
    {"the linker's code", compiled_file, 11504, 0, 0, 0},
    {"version 9", older_file, 0x24cc, 0x0600000e, 0x24b0, 0x2},
    {"IL alone", dll_file, 0x2073, 0, 0, 0},
};

TEST(methods_of_compiled_code)
{
    for (size_t i = 0; i < COUNT_OF(compiled); i++) {
        struct fault fault = FAULT_INIT;
        struct precompiled_place place = {0};
        struct precompiled code;
        struct arena keep;
        struct pe pe;
        size_t bytes;
        const uint8_t *data = test_read(test_source(compiled[i].file), &bytes);

        test_row(compiled[i].name);
        arena_init(&keep, 0);
        REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
        const enum status opened = precompiled_open(&pe, &keep, &code, &fault);
        CHECK_EQ(opened, compiled[i].file == dll_file ? ERR_ABSENT : ERR_NONE);
        const bool found = opened == ERR_NONE && precompiled_find(&code, compiled[i].rva, &place);
        CHECK_EQ(found, compiled[i].token != 0);
        CHECK_HEX(place.token, compiled[i].token);
        CHECK_HEX(place.begin_rva, compiled[i].begin_rva);
        CHECK_HEX(place.il, compiled[i].il);
        arena_free(&keep);
    }
}

static void read_code(const struct pe *pe, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct precompiled_place place;
    struct precompiled code;

    if (precompiled_open(pe, keep, &code, &fault) == ERR_NONE)
        for (uint32_t rva = 0; rva < 0x6000; rva += 0x33)
            (void)precompiled_find(&code, rva, &place);
}

static void read_all(const uint8_t *data, size_t bytes, void *context)
{
    struct fault fault = FAULT_INIT;
    struct byte_view unpacked = {data, bytes};
    char mvid[MVID_BYTES];
    struct arena keep;
    struct metadata md;
    struct ppdb pdb;
    struct pe pe;

    (void)context;
    arena_init(&keep, 16 << 20);
    if (!ppdb_recognize(data, bytes) && pe_open(data, bytes, &pe, &fault) == ERR_NONE) {
        (void)managed_mvid(&pe, mvid);
        read_code(&pe, &keep);
        if (managed_metadata(&pe, &md, &fault) == ERR_NONE)
            for (uint32_t row = 1; row < METHODS_MAX; row++)
                (void)managed_method_name(&md, 0x06000000 | row, MANAGED_FULL, &keep);
        fault_clear(&fault);
        (void)managed_embedded_pdb(&pe, &keep, &unpacked, &fault);
        fault_clear(&fault);
    }
    if (unpacked.data != NULL &&
        ppdb_open(unpacked.data, unpacked.bytes, &pdb, &fault) == ERR_NONE) {
        for (uint32_t row = 0; row < METHODS_MAX; row++) {
            struct byte_view source;
            struct ppdb_place place;
            (void)ppdb_place(&pdb, 0x06000000 | row, 0xFFFF, &place);
            (void)ppdb_kickoff(&pdb, 0x06000000 | row);
            (void)ppdb_is_async(&pdb, 0x06000000 | row);
            (void)ppdb_document(&pdb, row, &keep);
            (void)ppdb_source(&pdb, row, &keep, &source, &fault);
        }
    }
    arena_free(&keep);
}

/* A portable PDB whose "#Pdb" states that the image has FOREIGN_ROWS rows in the table of the set
 * FOREIGN, and whose "#~" has one row of each table of the set VALID. */
struct made {
    uint8_t data[512];
    size_t bytes;
};

static void put(struct made *m, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        m->data[m->bytes++] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
}

static void put_stream(struct made *m, uint32_t foff, uint32_t bytes, const char name[8])
{
    put(m, foff, 4);
    put(m, bytes, 4);
    for (size_t i = 0; i < (name[3] == '\0' ? 4U : 8U); i++)
        put(m, (uint8_t)name[i], 1);
}

enum { MADE_PDB_AT = 56, MADE_TABLES_AT = MADE_PDB_AT + 36 };

static void make(struct made *m, uint64_t foreign, uint32_t foreign_rows, uint64_t valid,
                 const uint16_t *rows, size_t row_words)
{
    const uint32_t tables_bytes = (uint32_t)(24 + row_words * 2 + 8);
    m->bytes = 0;
    put(m, 0x424A5342, 4);
    put(m, 0x10001, 4);
    put(m, 0, 4);
    put(m, 4, 4);
    put(m, 0, 4);
    put(m, 0x20000, 4);
    put_stream(m, MADE_PDB_AT, 36, "#Pdb\0\0\0");
    put_stream(m, MADE_TABLES_AT, tables_bytes, "#~\0\0\0\0\0");
    put(m, 0, MADE_PDB_AT - m->bytes);
    put(m, 0, 24);
    put(m, foreign, 8);
    put(m, foreign_rows, 4);
    put(m, 0, 8);
    put(m, valid, 8);
    put(m, 0, 8);
    for (int table = 0; table < METADATA_TABLES; table++)
        if (valid >> table & 1)
            put(m, 1, 4);
    for (size_t i = 0; i < row_words; i++)
        put(m, rows[i], 2);
    put(m, 0, 8);
}

TEST(counts_of_tables_that_are_not_there)
{
    static const struct {
        const char *name;
        int table;
        uint32_t rows;
        enum status want;
    } cases[] = {
        {"methods of the image", TABLE_METHOD_DEF, 3, ERR_NONE},
        {"as many methods as tokens, ECMA-335, II.22", TABLE_METHOD_DEF, (1 << 24) - 1, ERR_NONE},
        {"more methods than tokens", TABLE_METHOD_DEF, 1 << 24, ERR_MALFORMED},
        {"documents, which only a PDB has", TABLE_DOCUMENT, 3, ERR_MALFORMED},
        {"four billion documents", TABLE_DOCUMENT, UINT32_MAX, ERR_MALFORMED},
        {"a table of no known form", 63, 1, ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault = FAULT_INIT;
        struct made m;
        struct ppdb pdb;
        test_row(cases[i].name);
        make(&m, UINT64_C(1) << cases[i].table, cases[i].rows, 0, NULL, 0);
        CHECK_EQ(ppdb_open(m.data, m.bytes, &pdb, &fault), cases[i].want);
    }
}

/* A row that says "no method", which every token without a row in the table would find. */
TEST(a_row_of_no_method_is_no_answer)
{
    static const uint16_t rows[] = {0, 1, 0, 0, 0}; /* StateMachineMethod; CustomDebugInformation */
    const uint64_t valid =
        UINT64_C(1) << TABLE_STATE_MACHINE_METHOD | UINT64_C(1) << TABLE_CUSTOM_DEBUG_INFORMATION;
    struct fault fault = FAULT_INIT;
    struct made m;
    struct ppdb pdb;

    test_limit(5);
    make(&m, 0, 0, valid, rows, COUNT_OF(rows));
    REQUIRE(ppdb_open(m.data, m.bytes, &pdb, &fault) == ERR_NONE);
    CHECK_EQ(pdb.md.tables[TABLE_STATE_MACHINE_METHOD].count, 1);
    CHECK_EQ(ppdb_kickoff(&pdb, 0x06000000), 0);
    CHECK(!ppdb_is_async(&pdb, 0x06000000));
}

TEST(every_truncation_is_answered)
{
    static const char *const files[] = {dll_file, pdb_file, embedded_file, compiled_file,
                                        older_file};
    test_limit(120);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        size_t bytes;
        const uint8_t *data = test_read(test_source(files[i]), &bytes);
        test_row(files[i]);
        test_truncations(data, bytes, read_all, NULL);
        test_flips(data, bytes, read_all, NULL);
    }
}
