/* Debug sections of PE files that GNU tools packed: ".zdebug_...", whose bytes are "ZLIB", their
 * size as eight bytes, the highest first, and a stream of zlib (RFC 1950, 1951). */
#include <string.h>

#include "base/array.h"
#include "format/pe/pe.h"
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
        const struct object_bytes got = debug.own[DEBUG_INFO];
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
