/* Metadata made here, beside the tables of ECMA-335 (6th edition: II.22 rows, II.23.2 integers and
 * signatures, II.24.2.6 widths) and of the Portable PDB specification (sequence points, documents):
 * https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md */
#include <stdio.h>
#include <string.h>

#include "format/portable_pdb/managed_image.h"
#include "format/portable_pdb/ppdb.h"
#include "made_metadata.h"
#include "test.h"

/* II.22: bytes of a row where every index takes two, and how many of its cells are indexes. */
static const struct {
    uint8_t bytes, indexes;
} layouts[METADATA_TABLES] = {
    [0x00] = {10, 4}, [0x01] = {6, 3},  [0x02] = {14, 5}, [0x03] = {2, 1}, [0x04] = {6, 2},
    [0x05] = {2, 1},  [0x06] = {14, 3}, [0x07] = {2, 1},  [0x08] = {6, 1}, [0x09] = {4, 2},
    [0x0A] = {6, 3},  [0x0B] = {6, 2},  [0x0C] = {6, 3},  [0x0D] = {4, 2}, [0x0E] = {6, 2},
    [0x0F] = {8, 1},  [0x10] = {6, 1},  [0x11] = {2, 1},  [0x12] = {4, 2}, [0x13] = {2, 1},
    [0x14] = {6, 2},  [0x15] = {4, 2},  [0x16] = {2, 1},  [0x17] = {6, 2}, [0x18] = {6, 2},
    [0x19] = {6, 3},  [0x1A] = {2, 1},  [0x1B] = {2, 1},  [0x1C] = {8, 3}, [0x1D] = {6, 1},
    [0x1E] = {8, 0},  [0x1F] = {4, 0},  [0x20] = {22, 3}, [0x21] = {4, 0}, [0x22] = {12, 0},
    [0x23] = {20, 4}, [0x24] = {6, 1},  [0x25] = {14, 1}, [0x26] = {8, 2}, [0x27] = {14, 3},
    [0x28] = {12, 2}, [0x29] = {4, 2},  [0x2A] = {8, 2},  [0x2B] = {4, 2}, [0x2C] = {4, 2},
    [0x30] = {8, 4},  [0x31] = {4, 2},  [0x32] = {16, 4}, [0x33] = {6, 1}, [0x34] = {4, 2},
    [0x35] = {4, 2},  [0x36] = {4, 2},  [0x37] = {6, 3},
};
/* Of these the indexes lead to tables that only a PDB has, which an image cannot make large. */
static const uint8_t of_pdb_only[METADATA_TABLES] = {[0x31] = 1, [0x32] = 3, [0x35] = 1};

static const char *table_name(int table)
{
    static char text[32];
    (void)snprintf(text, sizeof text, "table 0x%02x", (unsigned)table);
    return text;
}

TEST(rows_have_the_bytes_that_ecma_335_gives_them)
{
    uint32_t counts[TABLE_DOCUMENT];
    struct metadata narrow, wide;
    struct made_metadata m;

    made_begin(&m);
    made_tables(&m, 0, NULL, 0);
    made_open(&m, &narrow);
    for (int i = 0; i < TABLE_DOCUMENT; i++)
        counts[i] = layouts[i].bytes != 0 ? 0x10000 : 0;
    made_begin(&m);
    made_foreign(&m, counts);
    made_tables(&m, 7, NULL, 0);
    made_open(&m, &wide);
    for (int i = 0; i < METADATA_TABLES; i++) {
        test_row(table_name(i));
        CHECK_EQ(narrow.tables[i].row_bytes, layouts[i].bytes);
        CHECK_EQ(wide.tables[i].row_bytes,
                 layouts[i].bytes + 2 * (layouts[i].indexes - of_pdb_only[i]));
    }
}

/* II.24.2.6: a coded index takes four bytes as soon as one of its tables has 2^(16 - tag) rows, a
 * plain one from 2^16 rows on. COLUMN of TABLE is such an index into the tables LEADS_TO. */
static const struct {
    const char *name;
    int table, column, tag_bits;
    uint64_t leads_to;
} indexes[] = {
#define B(n) (UINT64_C(1) << (n))
    {"TypeDefOrRef", 0x02, 3, 2, B(0x02) | B(0x01) | B(0x1B)},
    {"HasConstant", 0x0B, 1, 2, B(0x04) | B(0x08) | B(0x17)},
    {"HasCustomAttribute", 0x0C, 0, 5,
     B(0x06) | B(0x04) | B(0x01) | B(0x02) | B(0x08) | B(0x09) | B(0x0A) | B(0x00) | B(0x0E) |
         B(0x17) | B(0x14) | B(0x11) | B(0x1A) | B(0x1B) | B(0x20) | B(0x23) | B(0x26) | B(0x27) |
         B(0x28) | B(0x2A) | B(0x2C) | B(0x2B)},
    {"HasFieldMarshal", 0x0D, 0, 1, B(0x04) | B(0x08)},
    {"HasDeclSecurity", 0x0E, 1, 2, B(0x02) | B(0x06) | B(0x20)},
    {"MemberRefParent", 0x0A, 0, 3, B(0x02) | B(0x01) | B(0x1A) | B(0x06) | B(0x1B)},
    {"HasSemantics", 0x18, 2, 1, B(0x14) | B(0x17)},
    {"MethodDefOrRef", 0x19, 1, 1, B(0x06) | B(0x0A)},
    {"MemberForwarded", 0x1C, 1, 1, B(0x04) | B(0x06)},
    {"Implementation", 0x28, 3, 2, B(0x26) | B(0x23) | B(0x27)},
    {"CustomAttributeType", 0x0C, 1, 3, B(0x06) | B(0x0A)},
    {"ResolutionScope", 0x01, 0, 2, B(0x00) | B(0x1A) | B(0x23) | B(0x01)},
    {"TypeOrMethodDef", 0x2A, 2, 1, B(0x02) | B(0x06)},
    {"Field", 0x02, 4, 0, B(0x04)},
    {"MethodDef", 0x02, 5, 0, B(0x06)},
    {"Param", 0x06, 5, 0, B(0x08)},
    {"TypeDef", 0x29, 1, 0, B(0x02)},
    {"Event", 0x12, 1, 0, B(0x14)},
    {"Property", 0x15, 1, 0, B(0x17)},
    {"ModuleRef", 0x1C, 3, 0, B(0x1A)},
    {"AssemblyRef", 0x24, 1, 0, B(0x23)},
    {"GenericParam", 0x2C, 0, 0, B(0x2A)},
    {"HasCustomDebugInformation", 0x37, 0, 5,
     B(0x06) | B(0x04) | B(0x01) | B(0x02) | B(0x08) | B(0x09) | B(0x0A) | B(0x00) | B(0x0E) |
         B(0x17) | B(0x14) | B(0x11) | B(0x1A) | B(0x1B) | B(0x20) | B(0x23) | B(0x26) | B(0x27) |
         B(0x28) | B(0x2A) | B(0x2C) | B(0x2B)},
    {"the kickoff method", 0x36, 1, 0, B(0x06)},
#undef B
};

TEST(indexes_grow_with_the_tables_that_they_lead_to)
{
    for (size_t i = 0; i < COUNT_OF(indexes); i++)
        for (int table = 0; table < TABLE_DOCUMENT; table++) {
            const bool leads = indexes[i].leads_to >> table & 1;
            const uint32_t many = UINT32_C(1) << (16 - indexes[i].tag_bits);
            for (uint32_t rows = many - 1; rows <= many && layouts[table].bytes != 0; rows++) {
                uint32_t counts[TABLE_DOCUMENT] = {0};
                struct metadata md;
                struct made_metadata m;
                counts[table] = rows;
                made_begin(&m);
                made_foreign(&m, counts);
                made_tables(&m, 0, NULL, 0);
                made_open(&m, &md);
                test_row(indexes[i].name);
                if (!CHECK_EQ(md.tables[indexes[i].table].column_bytes[indexes[i].column],
                              leads && rows == many ? 4 : 2))
                    FAIL("%s with %u rows", table_name(table), (unsigned)rows);
            }
        }
}

TEST(heaps_are_wide_each_by_its_own_bit)
{
    static const struct {
        const char *name;
        uint8_t heaps, string, guid, blob;
    } cases[] = {{"none", 0, 2, 2, 2},          {"strings", 1, 4, 2, 2},
                 {"GUIDs", 2, 2, 4, 2},         {"blobs", 4, 2, 2, 4},
                 {"all", 7, 4, 4, 4},           {"four bytes more", 0x40, 2, 2, 2},
                 {"deltas only", 0x20, 2, 2, 2}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct metadata md;
        struct made_metadata m;
        made_begin(&m);
        made_tables(&m, cases[i].heaps, NULL, 0);
        test_row(cases[i].name);
        made_open(&m, &md);
        CHECK_EQ(md.tables[0x06].column_bytes[3], cases[i].string);
        CHECK_EQ(md.tables[0x37].column_bytes[1], cases[i].guid);
        CHECK_EQ(md.tables[0x06].column_bytes[4], cases[i].blob);
    }
}

/* The examples of II.23.2. */
TEST(compressed_integers)
{
    static const struct {
        uint8_t bytes[4];
        uint32_t size, value;
    } unsigned_rows[] = {{{0x03}, 1, 0x03},
                         {{0x7F}, 1, 0x7F},
                         {{0x80, 0x80}, 2, 0x80},
                         {{0xAE, 0x57}, 2, 0x2E57},
                         {{0xBF, 0xFF}, 2, 0x3FFF},
                         {{0xC0, 0x00, 0x40, 0x00}, 4, 0x4000},
                         {{0xDF, 0xFF, 0xFF, 0xFF}, 4, 0x1FFFFFFF}};
    static const struct {
        uint8_t bytes[4];
        uint32_t size;
        int32_t value;
    } signed_rows[] = {{{0x06}, 1, 3},
                       {{0x7B}, 1, -3},
                       {{0x80, 0x80}, 2, 64},
                       {{0x01}, 1, -64},
                       {{0xC0, 0x00, 0x40, 0x00}, 4, 8192},
                       {{0x80, 0x01}, 2, -8192},
                       {{0xDF, 0xFF, 0xFF, 0xFE}, 4, 268435455},
                       {{0xC0, 0x00, 0x00, 0x01}, 4, -268435456}};
    uint32_t value;
    int32_t moved;

    for (size_t i = 0; i < COUNT_OF(unsigned_rows); i++)
        for (uint32_t cut = 0; cut <= unsigned_rows[i].size; cut++) {
            struct metadata_bytes blob = {unsigned_rows[i].bytes, cut};
            const bool whole = cut == unsigned_rows[i].size;
            CHECK_EQ(metadata_take_uint(&blob, &value), whole);
            CHECK_EQ(blob.bytes, whole ? 0 : cut);
            CHECK(!whole || value == unsigned_rows[i].value);
        }
    for (size_t i = 0; i < COUNT_OF(signed_rows); i++) {
        struct metadata_bytes blob = {signed_rows[i].bytes, signed_rows[i].size};
        CHECK(metadata_take_int(&blob, &moved));
        CHECK_EQ(moved, signed_rows[i].value);
        CHECK_EQ(blob.bytes, 0);
    }
    const uint8_t none = 0xE0; /* no form begins so */
    CHECK(!metadata_take_uint(&(struct metadata_bytes){&none, 1}, &value));
}

/* Offsets into the heap below. */
static const char strings[] = "\0N.S\0Outer\0Inner\0Go\0T\0U\0System\0List`1\0Enumerator\0";
enum {
    S_SPACE = 1,
    S_OUTER = 5,
    S_INNER = 11,
    S_GO = 17,
    S_T = 20,
    S_U = 22,
    S_SYSTEM = 24,
    S_LIST = 31,
    S_ENUMERATOR = 38
};

/* Signatures of a method Go<U> of N.S.Outer/Inner<T>: II.23.2.1, element types of II.23.1.16; the
 * words are C#'s. */
static const struct {
    const char *name, *want;
    uint8_t bytes, signature[40];
} signatures[] = {
    {"no parameters", "()", 3, {0x00, 0, 0x01}},
    {"numbers",
     "(bool,char,sbyte,byte,short,ushort)",
     9,
     {0x00, 6, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07}},
    {"larger numbers",
     "(int,uint,long,ulong,float,double)",
     9,
     {0x00, 6, 0x01, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D}},
    {"string, object, native",
     "(string,object,nint,nuint,typedref)",
     8,
     {0x20, 5, 0x08, 0x0E, 0x1C, 0x18, 0x19, 0x16}},
    {"pointer to pointer", "(void**)", 6, {0x00, 1, 0x01, 0x0F, 0x0F, 0x01}},
    {"by reference", "(int&)", 5, {0x00, 1, 0x01, 0x10, 0x08}},
    {"vector of vectors", "(int[][])", 6, {0x00, 1, 0x01, 0x1D, 0x1D, 0x08}},
    {"array of rank 3", "(int[,,],long)", 9, {0x00, 2, 0x01, 0x14, 0x08, 3, 0, 0, 0x0A}},
    {"array with sizes and bounds",
     "(int[,],long)",
     13,
     {0x00, 2, 0x01, 0x14, 0x08, 2, 2, 3, 4, 2, 0x01, 0x7B, 0x0A}},
    {"variables of type and method", "(T,U)", 8, {0x10, 1, 2, 0x01, 0x13, 0, 0x1E}},
    {"variables without a name", "(!3,!!2)", 8, {0x10, 1, 2, 0x01, 0x13, 3, 0x1E, 2}},
    {"a class and a value type of here",
     "(N.S.Outer,N.S.Outer/Inner)",
     7,
     {0x00, 2, 0x01, 0x12, 1 << 2, 0x11, 2 << 2}},
    {"a class of elsewhere, and one in it",
     "(System.List`1,System.List`1/Enumerator)",
     7,
     {0x00, 2, 0x01, 0x12, 1 << 2 | 1, 0x11, 2 << 2 | 1}},
    {"a class that is spelt elsewhere", "(int[],int)", 6, {0x00, 2, 0x01, 0x12, 1 << 2 | 2, 0x08}},
    {"an instance",
     "(System.List`1<int,string>,bool)",
     10,
     {0x00, 2, 0x01, 0x15, 0x12, 1 << 2 | 1, 2, 0x08, 0x0E, 0x02}},
    {"modifiers, pinned",
     "(int,long,bool)",
     11,
     {0x00, 3, 0x01, 0x1F, 1 << 2, 0x08, 0x20, 1 << 2, 0x0A, 0x45, 0x02}},
    {"seventeen modifiers", "(int)", 38, {0x00, 1,    0x01, 0x1F, 4, 0x1F, 4, 0x1F, 4, 0x1F,
                                          4,    0x1F, 4,    0x1F, 4, 0x1F, 4, 0x1F, 4, 0x1F,
                                          4,    0x1F, 4,    0x1F, 4, 0x1F, 4, 0x1F, 4, 0x1F,
                                          4,    0x1F, 4,    0x1F, 4, 0x1F, 4, 0x08}},
    {"sentinel of a variable list", "(int,long)", 6, {0x05, 2, 0x01, 0x08, 0x41, 0x0A}},
    {"a function pointer is not spelt", "(int,...)", 5, {0x00, 3, 0x01, 0x08, 0x1B}},
    {"a type of no known form", "(...)", 4, {0x00, 1, 0x01, 0x17}},
    {"cut before its last type", "(int,...)", 4, {0x00, 2, 0x01, 0x08}},
    {"an array of rank 33", "(int...)", 6, {0x00, 1, 0x01, 0x14, 0x08, 33}},
    {"more sizes than ranks", "(int[]...)", 8, {0x00, 1, 0x01, 0x14, 0x08, 1, 2, 1}},
};

TEST(signatures_are_spelt_as_in_csharp)
{
    static const uint8_t vector_of_int[] = {2, 0x1D, 0x08};
    for (size_t i = 0; i < COUNT_OF(signatures); i++) {
        uint8_t blobs[64] = {0};
        struct metadata md;
        struct arena keep;
        struct made_metadata m;
        char want[128];
        const uint32_t bytes = signatures[i].bytes;
        memcpy(blobs + 1, vector_of_int, sizeof vector_of_int);
        blobs[4] = (uint8_t)bytes;
        memcpy(blobs + 5, signatures[i].signature, bytes);
        const struct made_row rows[] = {
            {0x01, "222", {0, S_LIST, S_SYSTEM}}, /* no scope, then one that is nested in it */
            {0x01, "222", {1 << 2 | 3, S_ENUMERATOR, 0}},
            {0x02, "422222", {0, S_OUTER, S_SPACE, 0, 1, 1}},
            {0x02, "422222", {0, S_INNER, 0, 0, 1, 2}},
            {0x06, "422222", {0, 0, 0, S_T, 0, 1}},
            {0x06, "422222", {0, 0, 0, S_GO, 4, 1}},
            {0x1B, "2", {1}},
            {0x29, "22", {2, 1}},
            {0x2A, "2222", {0, 0, 2 << 1, S_T}},
            {0x2A, "2222", {0, 0, 2 << 1 | 1, S_U}},
        };
        made_begin(&m);
        made_stream(&m, "#Strings", strings, sizeof strings);
        made_stream(&m, "#Blob", blobs, sizeof blobs);
        made_tables(&m, 0, rows, COUNT_OF(rows));
        made_open(&m, &md);
        arena_init(&keep, 0);
        test_row(signatures[i].name);
        (void)snprintf(want, sizeof want, "N.S.Outer/Inner<T>::Go<U>%s", signatures[i].want);
        CHECK_STR(managed_method_name(&md, 0x06000002, MANAGED_FULL, &keep), want);
        CHECK_STR(managed_method_name(&md, 0x06000002, MANAGED_SHORT, &keep),
                  "N.S.Outer/Inner::Go");
        CHECK_STR(managed_method_name(&md, 0x06000001, MANAGED_SHORT, &keep), "N.S.Outer::T");
        CHECK(managed_method_name(&md, 0x06000003, MANAGED_SHORT, &keep) == NULL);
        arena_free(&keep);
    }
}

/* "Sequence Points Blob": the signature of the locals, the document if the row names none, then for
 * each point the distance in IL, lines, columns, and the place relative to the last visible one. */
static const struct {
    const char *name;
    uint16_t document;
    uint32_t il, want_document, line, column;
    bool hidden;
    uint8_t bytes, points[24];
} places[] = {

    {"the first point", 2, 0, 2, 10, 3, false, 6, {0, 0, 0, 5, 10, 3}},
    {"before the first point", 2, 3, 0, 0, 0, false, 6, {0, 4, 0, 5, 10, 3}},
    {"a point that begins where it is asked", 2, 4, 2, 10, 3, false, 6, {0, 4, 0, 5, 10, 3}},
    {"the document from the blob", 0, 0, 3, 10, 3, false, 7, {0, 3, 0, 0, 5, 10, 3}},
    {"one byte before the second point",
     2,
     6,
     2,
     10,
     3,
     false,
     11,
     {0, 0, 0, 5, 10, 3, 7, 0, 5, 0x02, 0x04}},
    {"one line and two columns further",
     2,
     7,
     2,
     11,
     5,
     false,
     11,
     {0, 0, 0, 5, 10, 3, 7, 0, 5, 0x02, 0x04}},
    {"back: a line and two columns",
     2,
     7,
     2,
     9,
     1,
     false,
     11,
     {0, 0, 0, 5, 10, 3, 7, 0, 5, 0x7F, 0x7D}},
    {"a statement over two lines",
     2,
     7,
     2,
     11,
     5,
     false,
     11,
     {0, 0, 0, 5, 10, 3, 7, 1, 0x7B, 0x02, 0x04}},
    {"distances add up",
     2,
     9,
     2,
     12,
     3,
     false,
     16,
     {0, 0, 0, 5, 10, 3, 7, 0, 5, 0x02, 0x00, 2, 0, 5, 0x02, 0x00}},
    {"a hidden point keeps the line before", 2, 7, 2, 10, 3, true, 9, {0, 0, 0, 5, 10, 3, 7, 0, 0}},
    {"visible after hidden counts from the last visible",
     2,
     9,
     2,
     11,
     3,
     false,
     14,
     {0, 0, 0, 5, 10, 3, 7, 0, 0, 2, 0, 5, 0x02, 0x00}},
    {"another document in the middle",
     2,
     7,
     4,
     11,
     3,
     false,
     13,
     {0, 0, 0, 5, 10, 3, 0, 4, 7, 0, 5, 0x02, 0x00}},
    {"before the other document",
     2,
     6,
     2,
     10,
     3,
     false,
     13,
     {0, 0, 0, 5, 10, 3, 0, 4, 7, 0, 5, 0x02, 0x00}},
    {"a line of four bytes is past what a line can be",
     2,
     0,
     0,
     0,
     0,
     false,
     9,
     {0, 0, 0, 5, 0xDF, 0xFF, 0xFF, 0xFF, 3}},
    {"the largest line", 2, 0, 2, 0xFFFFFF, 3, false, 9, {0, 0, 0, 5, 0xC0, 0xFF, 0xFF, 0xFF, 3}},
    {"a column of 65,534", 2, 0, 2, 10, 0xFFFE, false, 9, {0, 0, 0, 5, 10, 0xC0, 0x00, 0xFF, 0xFE}},
    {"a column that is none", 2, 0, 2, 10, 0, false, 9, {0, 0, 0, 5, 10, 0xC0, 0x00, 0xFF, 0xFF}},
    {"cut in the middle of the second point",
     2,
     7,
     2,
     10,
     3,
     false,
     10,
     {0, 0, 0, 5, 10, 3, 7, 0, 5, 0x02}},
    {"no points", 2, 0, 0, 0, 0, false, 0, {0}},

};

TEST(sequence_points)
{
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct fault fault = FAULT_INIT;
        uint8_t blobs[40] = {0, places[i].bytes};
        static const uint32_t counts[TABLE_DOCUMENT] = {[TABLE_METHOD_DEF] = 1};
        struct ppdb_place got;
        struct ppdb pdb;
        struct made_metadata m;
        const struct made_row rows[] = {
            {TABLE_METHOD_DEBUG_INFORMATION, "22", {0, 0}},
            {TABLE_METHOD_DEBUG_INFORMATION, "22", {places[i].document, 1}}};
        memcpy(blobs + 2, places[i].points, places[i].bytes);
        made_begin(&m);
        made_stream(&m, "#Blob", blobs, sizeof blobs);
        made_foreign(&m, counts);
        made_tables(&m, 0, rows, COUNT_OF(rows));
        test_row(places[i].name);
        REQUIRE(ppdb_open(m.data, m.bytes, &pdb, &fault) == ERR_NONE);
        CHECK(ppdb_place(&pdb, 0x06000002, places[i].il, &got));
        CHECK_EQ(got.document, places[i].want_document);
        CHECK_EQ(got.line, places[i].line);
        CHECK_EQ(got.column, places[i].column);
        CHECK_EQ(got.hidden, places[i].hidden);
        CHECK(!ppdb_place(&pdb, 0x06000003, 0, &got));
        CHECK(!ppdb_place(&pdb, 0x0A000002, 0, &got));
    }
}

/* Documents, embedded sources, SourceLink and state machines of one PDB. The GUIDs are those of the
 * specification, as it prints them. */
TEST(documents_and_custom_information)
{
    static const uint8_t guids[] = {
        0x0E, 0x8A, 0x57, 0x1B, 0x69, 0x26, 0x46, 0x6E, 0xB4, 0xAD, 0x8A, 0xB0,
        0x46, 0x11, 0xF5, 0xFE, 0xCC, 0x11, 0x05, 0x56, 0xA0, 0x91, 0x4D, 0x38,
        0x9F, 0xEC, 0x25, 0xAB, 0x9A, 0x35, 0x1A, 0x6A, 0x54, 0xFD, 0x2A, 0xC5,
        0xE9, 0x25, 0x40, 0x1A, 0x9C, 0x2A, 0xF9, 0x4F, 0x17, 0x10, 0x72, 0xF8,
    };
    static const uint8_t blobs[] = {
        0,                                              /* the empty blob */
        2, 'c',  ':',                                   /* 1: a part */
        4, 'a',  '.', 'c', 's',                         /* 4: a part */
        4, '\\', 1,   0,   4,                           /* 9: "c:", "", "a.cs", with '\' between */
        3, 0,    1,   4,                                /* 14: the same without a separator */
        6, 0,    0,   0,   0,   'h',  'i',              /* 18: a source that is not packed */
        4, 0,    0,   0,   0,                           /* 25: an empty one */
        3, 0,    0,   0,                                /* 30: too short to be one */
        2, '{',  '}',                                   /* 34: SourceLink */
        8, 2,    0,   0,   0,   0x73, 0x73, 0x03, 0x00, /* 37: packed: two letters, 'tt' */
    };
    enum {
        EMBEDDED = 1,
        LINK = 2,
        STEPPING = 3,
        DOCUMENT_TAG = 22,
        MODULE_TAG = 7,
        METHOD_TAG = 0
    };
    static const struct made_row rows[] = {
        {0x30, "2222", {9, 0, 0, 0}},
        {0x30, "2222", {14, 0, 0, 0}},
        {0x30, "2222", {0, 0, 0, 0}},
        {0x30, "2222", {4, 0, 0, 0}},
        {0x36, "22", {3, 1}},
        {0x36, "22", {5, 2}},
        {0x37, "222", {1 << 5 | MODULE_TAG, LINK, 34}},
        {0x37, "222", {1 << 5 | DOCUMENT_TAG, LINK, 34}},
        {0x37, "222", {1 << 5 | DOCUMENT_TAG, EMBEDDED, 18}},
        {0x37, "222", {2 << 5 | DOCUMENT_TAG, EMBEDDED, 25}},
        {0x37, "222", {3 << 5 | DOCUMENT_TAG, EMBEDDED, 30}},
        {0x37, "222", {5 << 5 | METHOD_TAG, STEPPING, 0}},
    };
    uint8_t raw_guids[sizeof guids];
    struct fault fault = FAULT_INIT;
    struct byte_view source;
    struct arena keep;
    struct ppdb pdb;
    struct made_metadata m;

    for (size_t i = 0; i < sizeof guids; i++) { /* the first three parts are numbers */
        static const uint8_t from[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
        raw_guids[i] = guids[i / 16 * 16 + from[i % 16]];
    }
    made_begin(&m);
    made_stream(&m, "#Blob", blobs, sizeof blobs);
    made_stream(&m, "#GUID", raw_guids, sizeof raw_guids);
    made_foreign(&m, (const uint32_t[TABLE_DOCUMENT]){[TABLE_METHOD_DEF] = 9});
    made_tables(&m, 0, rows, COUNT_OF(rows));
    REQUIRE(ppdb_open(m.data, m.bytes, &pdb, &fault) == ERR_NONE);
    arena_init(&keep, 0);
    CHECK_STR(ppdb_document(&pdb, 1, &keep), "c:\\\\a.cs");
    CHECK_STR(ppdb_document(&pdb, 2, &keep), "c:a.cs");
    CHECK(ppdb_document(&pdb, 3, &keep) == NULL);
    CHECK(ppdb_document(&pdb, 5, &keep) == NULL);
    REQUIRE(ppdb_source(&pdb, 1, &keep, &source, &fault));
    CHECK_EQ(source.bytes, 2);
    CHECK_MEM(source.data, "hi", 2);
    CHECK(ppdb_source(&pdb, 2, &keep, &source, &fault));
    CHECK_EQ(source.bytes, 0);
    CHECK(!ppdb_source(&pdb, 3, &keep, &source, &fault));
    CHECK(!ppdb_source(&pdb, 4, &keep, &source, &fault));
    const struct metadata_bytes link = ppdb_source_link(&pdb);
    CHECK_EQ(link.bytes, 2);
    CHECK_MEM(link.data, "{}", 2);
    CHECK_HEX(ppdb_kickoff(&pdb, 0x06000003), 0x06000001);
    CHECK_HEX(ppdb_kickoff(&pdb, 0x06000005), 0x06000002);
    CHECK_HEX(ppdb_kickoff(&pdb, 0x06000004), 0);
    CHECK(ppdb_is_async(&pdb, 0x06000005));
    CHECK(!ppdb_is_async(&pdb, 0x06000003));
    arena_free(&keep);
}

TEST(heaps_and_cells_end_where_they_say)
{
    static const uint8_t heap[] = {0, 'a', 'b', 0, 'c'};
    static const uint8_t blobs[] = {0, 2, 'x', 'y', 3, 'z', 'w', 0x81};
    static const uint8_t guids[47] = {1, [16] = 2, [32] = 3};
    static const struct {
        uint32_t offset;
        const char *want;
    } texts[] = {{0, ""}, {1, "ab"}, {2, "b"}, {3, ""}, {4, ""}, {5, ""}, {UINT32_MAX, ""}};
    static const struct {
        uint32_t offset, bytes;
    } pieces[] = {{0, 0}, {1, 2}, {4, 3}, {6, 0}, {7, 0}, {8, 0}, {UINT32_MAX, 0}};
    static const struct made_row rows[] = {
        {0x29, "22", {1, 9}}, {0x29, "22", {2, 8}}, {0x29, "22", {2, 7}}, {0x29, "22", {4, 6}}};
    static const uint32_t found[] = {0, 1, 2, 0, 4, 0};
    struct metadata md;
    struct made_metadata m;

    made_begin(&m);
    made_stream(&m, "#Strings", heap, sizeof heap);
    made_stream(&m, "#Blob", blobs, sizeof blobs);
    made_stream(&m, "#GUID", guids, sizeof guids);
    made_tables(&m, 0, rows, COUNT_OF(rows));
    made_open(&m, &md);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        CHECK_STR(metadata_string(&md, texts[i].offset), texts[i].want);
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        CHECK_EQ(metadata_blob(&md, pieces[i].offset).bytes, pieces[i].bytes);
    CHECK(metadata_guid(&md, 0) == NULL);
    CHECK(metadata_guid(&md, 2) != NULL && metadata_guid(&md, 2)[0] == 2);
    CHECK(metadata_guid(&md, 3) == NULL); /* a byte is missing */
    CHECK_EQ(metadata_cell(&md, TABLE_NESTED_CLASS, 0, 0), 0);
    CHECK_EQ(metadata_cell(&md, TABLE_NESTED_CLASS, 4, 1), 6);
    CHECK_EQ(metadata_cell(&md, TABLE_NESTED_CLASS, 5, 0), 0);
    CHECK_EQ(metadata_cell(&md, TABLE_NESTED_CLASS, 1, 2), 0);
    CHECK_EQ(metadata_cell(&md, TABLE_MODULE, 1, 0), 0);
    for (uint32_t value = 0; value < COUNT_OF(found); value++)
        CHECK_EQ(metadata_find(&md, TABLE_NESTED_CLASS, 0, value), found[value]);
}
