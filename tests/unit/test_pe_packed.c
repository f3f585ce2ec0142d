/* PE files of one section. Debug sections that GNU tools packed: ".zdebug_...", whose bytes are
 * "ZLIB", their size as eight bytes, the highest first, and a stream of zlib (RFC 1950, 1951).
 * Links to debug files as GDB's manual has them; exports and records of PDBs as Microsoft's PE
 * format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/object/file.h"
#include "format/pe/pe.h"
#include "short_memory.h"
#include "test.h"

enum { PE_AT = 0x80, FILE_BYTES = 0x600, SECTION_AT = 0x400, TEXTS_AT = 0x500 };

static void put(uint8_t *at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* A file of 64 bits with one section of BYTES bytes, which is called NAME. */
static void make_pe(uint8_t file[FILE_BYTES], const char *name, uint32_t bytes)
{
    uint8_t *row = file + PE_AT + 24 + 240;
    memset(file, 0, FILE_BYTES);
    memcpy(file, "MZ", 2);
    put(file + 60, PE_AT, 4);
    memcpy(file + PE_AT, "PE", 2);
    put(file + PE_AT + 4, PE_MACHINE_X64, 2);
    put(file + PE_AT + 6, 1, 2);
    put(file + PE_AT + 12, TEXTS_AT, 4); /* no symbols, but the texts that follow them */
    put(file + PE_AT + 20, 240, 2);
    put(file + PE_AT + 24, 0x20b, 2);
    put(file + PE_AT + 24 + 56, 0x2000, 4);
    put(file + PE_AT + 24 + 60, 0x400, 4);
    put(file + PE_AT + 24 + 108, 16, 4);
    memcpy(row, "/4", 2);
    put(row + 8, bytes, 4);
    put(row + 12, 0x1000, 4);
    put(row + 16, bytes, 4);
    put(row + 20, SECTION_AT, 4);
    put(row + 36, 0x42000040, 4); /* data, discardable */
    put(file + TEXTS_AT, 64, 4);
    memcpy(file + TEXTS_AT + 4, name, strlen(name));
}

/* zlib's head, one stored block of five bytes, and their Adler-32. */
#define STREAM 0x78, 0x01, 0x01, 5, 0, 0xfa, 0xff, 'h', 'e', 'l', 'l', 'o', 0x06, 0x2c, 0x02, 0x15

TEST(packed_sections_are_unpacked)
{
    static const struct {
        const char *name, *section;
        uint8_t data[32], bytes;
        enum status status;
        const char *want; /* NULL: nothing */
    } rows[] = {
        {"packed",
         ".zdebug_info",
         {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, 5, STREAM},
         28,
         ERR_NONE,
         "hello"},
        {"not packed", ".debug_info", {'h', 'e', 'l', 'l', 'o'}, 5, ERR_NONE, "hello"},
        {"another magic",
         ".zdebug_info",
         {'Z', 'L', 'I', 'C', 0, 0, 0, 0, 0, 0, 0, 5, STREAM},
         28,
         ERR_MALFORMED,
         NULL},
        {"a head of eleven bytes", ".zdebug_info", {'Z', 'L', 'I', 'B'}, 11, ERR_MALFORMED, NULL},
        {"the head alone",
         ".zdebug_info",
         {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, 5},
         12,
         ERR_MALFORMED,
         NULL},
        {"a byte more than there is",
         ".zdebug_info",
         {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, 6, STREAM},
         28,
         ERR_MALFORMED,
         NULL},
        {"a byte less",
         ".zdebug_info",
         {'Z', 'L', 'I', 'B', 0, 0, 0, 0, 0, 0, 0, 4, STREAM},
         28,
         ERR_MALFORMED,
         NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static uint8_t file[FILE_BYTES];
        struct fault fault = FAULT_INIT, damage = FAULT_INIT;
        struct object_debug debug;
        struct arena keep;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, rows[i].section, rows[i].bytes);
        memcpy(file + SECTION_AT, rows[i].data, rows[i].bytes);
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        arena_init(&keep, 0);
        CHECK_EQ(pe_debug(&pe, &keep, &debug, &damage), rows[i].want != NULL);
        CHECK_EQ(damage.code, rows[i].status);
        const struct byte_view got = debug.own[DEBUG_INFO];
        if (rows[i].want != NULL && CHECK_EQ(got.bytes, strlen(rows[i].want)))
            CHECK_MEM(got.data, rows[i].want, got.bytes);
        arena_free(&keep);
    }
}

/* The debug directory has entries of 28 bytes; the second one, of type 2, leads to a PDB. */
TEST(the_debug_directory_ends_where_it_says)
{
    enum { ENTRY_BYTES = 28, RSDS_AT = 0x480 };
    static const struct {
        const char *name;
        uint32_t bytes;
        bool there;
    } rows[] = {{"two entries", 2 * ENTRY_BYTES, true},
                {"one entry and a byte less than another", 2 * ENTRY_BYTES - 1, false},
                {"one entry", ENTRY_BYTES, false},
                {"none", 0, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static uint8_t file[FILE_BYTES];
        struct pe_codeview codeview;
        struct fault fault = FAULT_INIT;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, ".rdata", 0x100);
        put(file + PE_AT + 24 + 112 + 8 * PE_DIR_DEBUG, 0x1000, 4);
        put(file + PE_AT + 24 + 112 + 8 * PE_DIR_DEBUG + 4, rows[i].bytes, 4);
        put(file + SECTION_AT + ENTRY_BYTES + 12, 2, 4);
        put(file + SECTION_AT + ENTRY_BYTES + 16, 30, 4);
        put(file + SECTION_AT + ENTRY_BYTES + 24, RSDS_AT, 4);
        memcpy(file + RSDS_AT, "RSDS", 4);
        put(file + RSDS_AT + 20, 3, 4);
        memcpy(file + RSDS_AT + 24, "a.pdb", 6);
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        CHECK_EQ(pe_codeview(&pe, &codeview), rows[i].there);
        if (rows[i].there)
            CHECK_EQ(codeview.age, 3);
    }
}

/* Native images of .NET have two records, and other types surround them: 12 is VC_FEATURE, 13 POGO,
 * 16 REPRO, 20 EX_DLLCHARACTERISTICS. */
TEST(the_last_record_that_is_readable_names_the_pdb)
{
    enum { ENTRY_BYTES = 28, DATA_AT = 0x540, DATA_BYTES = 32, OUTSIDE = FILE_BYTES - 4 };
    static const struct {
        const char *name;
        struct {
            uint32_t type, age, foff; /* foff 0: where the record is */
        } entries[5];
        uint32_t first, last; /* 0: none */
        bool are_mapped;      /* their rvas lead to the records */
    } rows[] = {
        {"one", {{2, 1, 0}}, 1, 1, false},
        {"two", {{2, 1, 0}, {2, 2, 0}}, 1, 2, false},
        {"between other types",
         {{12, 1, 0}, {13, 2, 0}, {2, 3, 0}, {16, 4, 0}, {20, 5, 0}},
         3,
         3,
         false},
        {"the first is outside the file", {{2, 1, OUTSIDE}, {2, 2, 0}}, 2, 2, false},
        {"the last is outside the file", {{2, 1, 0}, {2, 2, 0}, {2, 3, OUTSIDE}}, 1, 2, false},
        {"all are outside the file", {{2, 1, OUTSIDE}, {2, 2, 0xffffffff}}, 0, 0, false},
        {"the last has another magic", {{2, 1, 0}, {2, 2, SECTION_AT}}, 1, 1, false},
        {"outside the file, and mapped", {{2, 1, OUTSIDE}}, 1, 1, true},
        {"of another magic, and mapped", {{2, 1, SECTION_AT}}, 1, 1, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static uint8_t file[FILE_BYTES];
        char id[DEBUG_ID_BYTES], want[DEBUG_ID_BYTES];
        struct fault fault = FAULT_INIT;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, ".rdata", FILE_BYTES - SECTION_AT);
        put(file + PE_AT + 24 + 112 + 8 * PE_DIR_DEBUG, 0x1000, 4);
        for (uint32_t k = 0; k < 5 && rows[i].entries[k].type != 0; k++) {
            uint8_t *entry = file + SECTION_AT + k * ENTRY_BYTES;
            const uint32_t at = DATA_AT + k * DATA_BYTES;
            put(file + PE_AT + 24 + 112 + 8 * PE_DIR_DEBUG + 4, (k + 1) * ENTRY_BYTES, 4);
            put(entry + 12, rows[i].entries[k].type, 4);
            put(entry + 16, DATA_BYTES, 4);
            put(entry + 20, rows[i].are_mapped ? 0x1000 + at - SECTION_AT : 0, 4);
            put(entry + 24, rows[i].entries[k].foff != 0 ? rows[i].entries[k].foff : at, 4);
            memcpy(file + at, "RSDS", 4);
            put(file + at + 20, rows[i].entries[k].age, 4);
        }
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        (void)snprintf(want, sizeof want, "%032d%x", 0, (unsigned)rows[i].last);
        pe_debug_id(&pe, id);
        CHECK_STR(id, rows[i].last != 0 ? want : "");
        (void)snprintf(want, sizeof want, "%032d%x", 0, (unsigned)rows[i].first);
        pe_first_debug_id(&pe, id);
        CHECK_STR(id, rows[i].first != 0 ? want : "");
    }
}

/* A name that ends with a zero, zeros up to a place that four divides, and a checksum. */
TEST(a_link_to_a_debug_file_has_a_name_and_a_checksum)
{
    static const struct {
        const char *name, *data;
        uint32_t bytes, foff;
        const char *want; /* NULL: no link */
    } rows[] = {
        {"three letters", "abc\0\1\2\3\4", 8, SECTION_AT, "abc"},
        {"four letters and padding", "abcd\0\0\0\0\1\2\3\4", 12, SECTION_AT, "abcd"},
        {"a byte after it", "abcd\0\0\0\0\1\2\3\4\5", 13, SECTION_AT, "abcd"},
        {"a byte too few", "abcd\0\0\0\0\1\2\3\4", 11, SECTION_AT, NULL},
        {"a name without an end", "abcdefgh", 8, SECTION_AT, NULL},
        {"no name", "\0\0\0\0\1\2\3\4", 8, SECTION_AT, NULL},
        {"no bytes", "abc\0\1\2\3\4", 0, SECTION_AT, NULL},
        {"the last bytes of the file", "abc\0\1\2\3\4", 8, FILE_BYTES - 8, "abc"},
        {"a byte after the file", "abc\0\1\2\3\4", 8, FILE_BYTES - 7, NULL},
        {"a section after the file", "abc\0\1\2\3\4", 8, FILE_BYTES + 1, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static uint8_t file[FILE_BYTES];
        struct fault fault = FAULT_INIT;
        struct object_file object;
        const char *name = NULL;
        uint32_t crc = 0;
        test_row(rows[i].name);
        make_pe(file, ".gnu_debuglink", rows[i].bytes);
        put(file + PE_AT + 24 + 240 + 20, rows[i].foff, 4);
        for (uint32_t at = rows[i].foff; at < FILE_BYTES && at < rows[i].foff + rows[i].bytes; at++)
            file[at] = (uint8_t)rows[i].data[at - rows[i].foff];
        uint8_t *copy = test_copy(file, sizeof file);
        REQUIRE(object_file_open(copy, sizeof file, 0, &object, &fault) == ERR_NONE);
        if (CHECK_EQ(object_file_link(&object, &name, &crc), rows[i].want != NULL) &&
            rows[i].want != NULL) {
            CHECK_STR(name, rows[i].want);
            CHECK_HEX(crc, 0x04030201);
        }
        free(copy);
    }
}

TEST(tables_of_exports_have_limits)
{
    enum { HEAD = SECTION_AT, BYTES = 0x100 };
    static const struct {
        const char *name;
        uint32_t rva, functions, names, rvas_rva, names_rva, ordinals_rva, raw_bytes;
        enum status status;
        uint32_t count;
    } rows[] = {
        {"one of a name", 0x1000, 1, 1, 0x1040, 0x1050, 0x1060, BYTES, ERR_NONE, 1},
        {"the table ends with the section", 0x1000, 1, 0, 0x10fc, 0, 0, BYTES, ERR_NONE, 1},
        {"and a byte later", 0x1000, 1, 0, 0x10fd, 0, 0, BYTES, ERR_TRUNCATED, 0},
        {"more than 65,536", 0x1000, 65537, 0, 0x1040, 0, 0, BYTES, ERR_MALFORMED, 0},
        {"65,536 that are not there", 0x1000, 65536, 0, 0x1040, 0, 0, BYTES, ERR_TRUNCATED, 0},
        {"more than 65,536 names", 0x1000, 1, 65537, 0x1040, 0x1050, 0x1060, BYTES, ERR_MALFORMED,
         0},
        {"65,536 names that are not there", 0x1000, 1, 65536, 0x1040, 0x1050, 0x1060, BYTES,
         ERR_TRUNCATED, 0},
        {"names elsewhere", 0x1000, 1, 1, 0x1040, 0x9000, 0x1060, BYTES, ERR_TRUNCATED, 0},
        {"ordinals elsewhere", 0x1000, 1, 1, 0x1040, 0x1050, 0x9000, BYTES, ERR_TRUNCATED, 0},
        {"a head of 39 bytes", 0x10d9, 0, 0, 0, 0, 0, BYTES, ERR_TRUNCATED, 0},
        {"in no section", 0x9000, 1, 1, 0x1040, 0x1050, 0x1060, BYTES, ERR_TRUNCATED, 0},
        {"a debug file, without the bytes", 0x1000, 1, 1, 0x1040, 0x1050, 0x1060, 0, ERR_NONE, 0},
        {"no directory", 0, 1, 1, 0x1040, 0x1050, 0x1060, BYTES, ERR_NONE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static uint8_t file[FILE_BYTES];
        struct fault fault = FAULT_INIT;
        struct pe_symbol *got = NULL;
        struct arena keep;
        struct pe pe;
        uint32_t count = 9;
        test_row(rows[i].name);
        make_pe(file, ".edata", BYTES);
        put(file + PE_AT + 24 + 240 + 16, rows[i].raw_bytes, 4);
        put(file + PE_AT + 24 + 112 + 8 * PE_DIR_EXPORT, rows[i].rva, 4);
        put(file + PE_AT + 24 + 112 + 8 * PE_DIR_EXPORT + 4, 0x40, 4);
        const uint32_t words[] = {7,
                                  rows[i].functions,
                                  rows[i].names,
                                  rows[i].rvas_rva,
                                  rows[i].names_rva,
                                  rows[i].ordinals_rva};
        for (size_t k = 0; k < COUNT_OF(words); k++)
            put(file + HEAD + 16 + 4 * k, words[k], 4);
        put(file + HEAD + 0x40, 0x2000, 4); /* the function */
        put(file + HEAD + 0xfc, 0x2000, 4);
        put(file + HEAD + 0x50, 0x1070, 4);
        memcpy(file + HEAD + 0x70, "work", 5);
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        arena_init(&keep, 0);
        CHECK_EQ(pe_exports(&pe, &keep, &got, &count, &fault), rows[i].status);
        if (CHECK_EQ(count, rows[i].count) && count == 1) {
            CHECK_HEX(got[0].rva, 0x2000);
            CHECK_STR(got[0].name, rows[i].names == 1 ? "work" : "#7");
        }
        arena_free(&keep);
    }
}

static enum status read_exports(struct arena *keep, void *context, struct fault *fault)
{
    struct pe_symbol *got = NULL;
    uint32_t count = 0;
    const enum status status = pe_exports(context, keep, &got, &count, fault);
    if (status == ERR_NONE)
        CHECK_EQ(count, 2);
    return status;
}

TEST(memory_that_runs_out_while_exports_are_read)
{
    static uint8_t file[FILE_BYTES];
    struct fault fault = FAULT_INIT;
    struct pe pe;
    make_pe(file, ".edata", 0x100);
    put(file + PE_AT + 24 + 112 + 8 * PE_DIR_EXPORT, 0x1000, 4);
    put(file + PE_AT + 24 + 112 + 8 * PE_DIR_EXPORT + 4, 0x28, 4);
    put(file + SECTION_AT + 20, 2, 4); /* two functions without a name */
    put(file + SECTION_AT + 28, 0x1040, 4);
    put(file + SECTION_AT + 0x40, 0x2000, 4);
    put(file + SECTION_AT + 0x44, 0x2010, 4);
    REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
    short_memory(read_exports, &pe);
}

/* Before RSDS: "NB10", a zero, the time, the age, the path. As a key of symbol servers, the time
 * has eight digits and the age as many as it needs. */
TEST(an_nb10_record_names_its_pdb)
{
    static uint8_t file[FILE_BYTES];
    struct fault fault = FAULT_INIT;
    struct object_file object;
    make_pe(file, ".rdata", 0x100);
    put(file + PE_AT + 24 + 112 + 8 * PE_DIR_DEBUG, 0x1000, 4);
    put(file + PE_AT + 24 + 112 + 8 * PE_DIR_DEBUG + 4, 28, 4);
    put(file + SECTION_AT + 12, 2, 4);
    put(file + SECTION_AT + 16, 22, 4);
    put(file + SECTION_AT + 24, SECTION_AT + 0x40, 4);
    memcpy(file + SECTION_AT + 0x40, "NB10", 4);
    put(file + SECTION_AT + 0x48, 0x0a5b6c7d, 4);
    put(file + SECTION_AT + 0x4c, 0x1c, 4);
    memcpy(file + SECTION_AT + 0x50, "a.pdb", 6);
    REQUIRE(object_file_open(file, sizeof file, 0, &object, &fault) == ERR_NONE);
    CHECK_STR(object.debug_id, "0A5B6C7D1c");
}
