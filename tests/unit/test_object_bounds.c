/* Headers of objects at their bounds: what the formats say of the last row, the row after it, and a
 * name that does not end. ELF: the System V ABI; PE: Microsoft's PE format; Mach-O: its headers. */
#include <stdlib.h>
#include <string.h>

#include "format/object/file.h"
#include "format/pe/pe.h"
#include "test.h"

enum { FILE_BYTES = 4096, SECTIONS_AT = 512, DATA_AT = 1024, BASE_VA = 0x400000 };

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void put_big(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

/* ---- ELF ------------------------------------------------------------------------------ */

static void put_elf_section(uint8_t *file, uint32_t index, uint32_t type, uint32_t flags,
                            uint32_t va, uint32_t foff, uint32_t bytes, uint32_t link)
{
    uint8_t *at = file + SECTIONS_AT + 40 * (size_t)index;
    const uint32_t words[] = {0, type, flags, va, foff, bytes, link, 0, 1, 0};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        put(at + 4 * i, words[i], 4);
}

/* An ELF file of 32 bits with code, one symbol, and NAMES as the names of symbols, which are the
 * last bytes of the file. */
static void make_elf(uint8_t file[FILE_BYTES], uint32_t place, uint32_t name, const char *names,
                     size_t names_bytes)
{
    memset(file, 0, FILE_BYTES);
    memcpy(file, "\177ELF\1\1\1", 7);
    put(file + 16, 2, 2); /* ET_EXEC */
    put(file + 18, 3, 2); /* EM_386 */
    put(file + 28, 52, 4);
    put(file + 32, SECTIONS_AT, 4);
    put(file + 42, 32, 2);
    put(file + 44, 1, 2);
    put(file + 46, 40, 2);
    put(file + 48, 4, 2);
    put(file + 52, 1, 4); /* PT_LOAD */
    put(file + 60, BASE_VA, 4);
    put_elf_section(file, 1, 1, 6, BASE_VA + 0x100, DATA_AT, 0x40, 0);
    put_elf_section(file, 2, 2, 0, 0, DATA_AT + 0x40, 32, 3);
    put_elf_section(file, 3, 3, 0, 0, (uint32_t)(FILE_BYTES - names_bytes), (uint32_t)names_bytes,
                    0);
    uint8_t *symbol = file + DATA_AT + 0x40 + 16;
    put(symbol, name, 4);
    put(symbol + 4, BASE_VA + 0x110, 4);
    put(symbol + 12, 0x12, 1); /* STB_GLOBAL, STT_FUNC */
    put(symbol + 14, place, 2);
    memcpy(file + FILE_BYTES - names_bytes, names, names_bytes);
}

TEST(symbols_of_elf_have_a_place_and_a_whole_name)
{
    static const struct {
        const char *name;
        uint32_t place, at;
        size_t names_bytes;
        const char *want; /* NULL: no symbol */
    } rows[] = {
        {"in the code", 1, 1, 6, "main"},
        {"SHN_ABS with the address of code", 0xfff1, 1, 6, NULL},
        {"the first reserved place", 0xff00, 1, 6, NULL},
        {"undefined", 0, 1, 6, NULL},
        {"in a section that is no code", 2, 1, 6, NULL},
        {"a name that does not end in the section", 1, 1, 5, NULL},
        {"a name after the section", 1, 6, 6, NULL},
        {"an empty name at the end", 1, 5, 6, ""},
    };
    static uint8_t file[FILE_BYTES];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct object_symbols symbols = {0};
        struct fault fault = FAULT_INIT;
        struct object_file object;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_elf(file, rows[i].place, rows[i].at, "\0main", rows[i].names_bytes);
        memset(&object, 0xff, sizeof object);
        REQUIRE(object_file_open(file, sizeof file, 0, &object, &fault) == ERR_NONE);
        CHECK_STR(object.id, "");
        CHECK_STR(object.debug_id, "");
        REQUIRE(object_file_symbols(&object, &keep, &symbols, &fault) == ERR_NONE);
        CHECK_EQ(symbols.count, rows[i].want != NULL && rows[i].want[0] != '\0');
        if (symbols.count == 1 && rows[i].want != NULL) {
            CHECK_STR(symbols.at[0].name, rows[i].want);
            CHECK_HEX(symbols.at[0].offset, 0x110);
        }
        arena_free(&keep);
    }
}

/* A code section of 64 bytes that begins with the image. */
TEST(symbols_of_elf_are_at_or_after_the_base)
{
    static const struct {
        const char *name;
        uint32_t va;
        bool found;
        uint32_t offset;
    } rows[] = {
        {"before the base", BASE_VA - 1, false, 0},
        {"at the base", BASE_VA, true, 0},
        {"after it", BASE_VA + 1, true, 1},
        {"the last byte of the code", BASE_VA + 0x3f, true, 0x3f},
    };
    static uint8_t file[FILE_BYTES];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct object_symbols symbols = {0};
        struct fault fault = FAULT_INIT;
        struct object_file object;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_elf(file, 1, 1, "\0main", 6);
        put_elf_section(file, 1, 1, 6, BASE_VA, DATA_AT, 0x40, 0);
        put(file + DATA_AT + 0x40 + 16 + 4, rows[i].va, 4);
        REQUIRE(object_file_open(file, sizeof file, 0, &object, &fault) == ERR_NONE);
        REQUIRE(object_file_symbols(&object, &keep, &symbols, &fault) == ERR_NONE);
        CHECK_EQ(symbols.count, rows[i].found);
        if (symbols.count == 1)
            CHECK_HEX(symbols.at[0].offset, rows[i].offset);
        arena_free(&keep);
    }
}

TEST(an_elf_file_of_32_bits_has_addresses_of_4_bytes)
{
    static uint8_t file[FILE_BYTES];
    struct fault fault = FAULT_INIT;
    struct object_debug debug;
    struct byte_view mini;
    struct arena keep;
    struct elf elf;
    arena_init(&keep, 0);
    make_elf(file, 1, 1, "\0main", 6);
    memset(&elf, 0xff, sizeof elf);
    REQUIRE(elf_open(file, sizeof file, &elf, &fault) == ERR_NONE);
    CHECK(!elf.is_64 && !elf.big_endian);
    CHECK_EQ(elf.section_count, 4);
    CHECK_EQ(elf.names_section, 0);
    CHECK_EQ(elf.segment_count, 1);
    CHECK_HEX(elf.base_va, BASE_VA);
    CHECK(!elf_debug(&elf, &keep, &debug, &fault));
    CHECK_EQ(debug.address_bytes, 4);
    CHECK_EQ(elf_mini_image(&elf, &keep, &mini, &fault), ERR_ABSENT);
    arena_free(&keep);
}

TEST(the_image_in_an_image_is_unpacked)
{
    static const uint8_t
        packed[] = {0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36,
                    0x02, 0x00, 0x21, 0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc,
                    0x01, 0x00, 0x0e, 0x61, 0x20, 0x73, 0x6d, 0x61, 0x6c, 0x6c, 0x65, 0x72,
                    0x20, 0x69, 0x6d, 0x61, 0x67, 0x65, 0x00, 0x00, 0x87, 0xde, 0x28, 0x57,
                    0x00, 0x01, 0x23, 0x0f, 0xdb, 0xdf, 0x90, 0x0e, 0x90, 0x42, 0x99, 0x0d,
                    0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a}; /* by `xz`: "a smaller image"
                                                                      */
    static const struct {
        const char *name;
        size_t bytes;
        enum status status;
    } rows[] = {{"whole", sizeof packed, ERR_NONE}, {"cut", sizeof packed - 9, ERR_MALFORMED}};
    static const char names[] = "\0main\0.gnu_debugdata";
    static uint8_t file[FILE_BYTES];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct byte_view mini = {NULL, 0};
        struct arena keep;
        struct elf elf;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_elf(file, 1, 1, names, sizeof names);
        put(file + 48, 5, 2);
        put(file + 50, 3, 2);
        put_elf_section(file, 4, 1, 0, 0, 0xc00, (uint32_t)rows[i].bytes, 0);
        put(file + SECTIONS_AT + 4 * 40, 6, 4);
        memcpy(file + 0xc00, packed, sizeof packed);
        REQUIRE(elf_open(file, sizeof file, &elf, &fault) == ERR_NONE);
        CHECK_EQ(elf_mini_image(&elf, &keep, &mini, &fault), rows[i].status);
        if (rows[i].status == ERR_NONE && CHECK_EQ(mini.bytes, 15))
            CHECK_MEM(mini.data, "a smaller image", 15);
        arena_free(&keep);
    }
}

/* ---- Mach-O --------------------------------------------------------------------------- */

TEST(processors_of_macho_files_are_those_of_the_system)
{
    static const struct {
        const char *name;
        uint32_t cpu, subtype;
        enum object_arch arch;
    } rows[] = {
        {"CPU_TYPE_I386", 7, 3, ARCH_I386},
        {"CPU_TYPE_X86_64, _ALL", 0x01000007, 3, ARCH_X86_64},
        {"CPU_TYPE_X86_64, _H (Haswell)", 0x01000007, 8, ARCH_X86_64H},
        {"CPU_TYPE_ARM, _V7", 12, 9, ARCH_ARMV7},
        {"CPU_TYPE_ARM, _V7S", 12, 11, ARCH_ARMV7S},
        {"CPU_TYPE_ARM, _V7K", 12, 12, ARCH_ARMV7K},
        {"CPU_TYPE_ARM, _V6", 12, 6, ARCH_ARM},
        {"CPU_TYPE_ARM64, _ALL", 0x0100000c, 0, ARCH_ARM64},
        {"CPU_TYPE_ARM64, E", 0x0100000c, 2, ARCH_ARM64E},
        {"CPU_TYPE_ARM64_32", 0x0200000c, 1, ARCH_ARM64_32},
        {"CPU_TYPE_POWERPC", 18, 0, ARCH_OTHER},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t file[32] = {0};
        struct fault fault = FAULT_INIT;
        struct macho macho;
        test_row(rows[i].name);
        const bool wide = (rows[i].cpu & 0x01000000) != 0;
        put(file, wide ? 0xfeedfacf : 0xfeedface, 4);
        put(file + 4, rows[i].cpu, 4);
        put(file + 8, rows[i].subtype, 4);
        put(file + 12, 2, 4); /* MH_EXECUTE */
        REQUIRE(macho_open(file, wide ? 32 : 28, &macho, &fault) == ERR_NONE);
        CHECK_EQ(macho_arch(&macho), rows[i].arch);
    }
}

TEST(a_fat_file_has_as_many_slices_as_it_says)
{
    static const struct {
        const char *name;
        uint32_t magic, count, index;
        size_t bytes; /* of the file */
        bool there;
    } rows[] = {
        {"the first", 0xcafebabe, 2, 0, 256, true},
        {"the last", 0xcafebabe, 2, 1, 256, true},
        {"the one after it", 0xcafebabe, 2, 2, 256, false},
        {"the file ends in its row", 0xcafebabe, 3, 2, 8 + 3 * 20 - 1, false},
        {"the file ends with its row", 0xcafebabe, 3, 2, 8 + 3 * 20, true},
        {"the last of 64 bits", 0xcafebabf, 2, 1, 256, true},
        {"the one after it of 64 bits", 0xcafebabf, 2, 2, 256, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const size_t row = rows[i].magic == 0xcafebabf ? 32 : 20, word = row == 32 ? 8 : 4;
        struct byte_view slice;
        uint8_t file[256] = {0};
        test_row(rows[i].name);
        put_big(file, rows[i].magic, 4);
        put_big(file + 4, rows[i].count, 4);
        for (uint32_t k = 0; k < 3; k++) { /* of four bytes each */
            put_big(file + 8 + k * row + 8, 8 + 4 * (uint64_t)k, word);
            put_big(file + 8 + k * row + 8 + word, 4, word);
        }
        CHECK_EQ(macho_slice(file, rows[i].bytes, rows[i].index, &slice), rows[i].there);
        if (rows[i].there) {
            CHECK_EQ(slice.data - file, 8 + 4 * (ptrdiff_t)rows[i].index);
            CHECK_EQ(slice.bytes, 4);
        }
    }
}

/* ---- PE ------------------------------------------------------------------------------- */

enum { PE_AT = 0x80, OPTIONAL_BYTES = 112 + 17 * 8, ROWS_AT = PE_AT + 24 + OPTIONAL_BYTES };

/* An image with DIRECTORIES data directories, the one of debug data at 0x1000, and two sections. */
static void make_pe(uint8_t file[FILE_BYTES], uint32_t directories)
{
    memset(file, 0, FILE_BYTES);
    memcpy(file, "MZ", 2);
    put(file + 60, PE_AT, 4);
    memcpy(file + PE_AT, "PE\0\0", 4);
    put(file + PE_AT + 4, PE_MACHINE_X64, 2);
    put(file + PE_AT + 6, 2, 2);
    put(file + PE_AT + 20, OPTIONAL_BYTES, 2);
    uint8_t *optional = file + PE_AT + 24;
    put(optional, 0x20b, 2);
    put(optional + 24, BASE_VA, 8);
    put(optional + 56, 0x4000, 4);
    put(optional + 60, 0x400, 4);
    put(optional + 108, directories, 4);
    for (uint32_t i = 0; i < 17; i++)
        put(optional + 112 + 8 * (size_t)i, 0x11111111 * (uint64_t)(i % 15 + 1), 8);
    put(optional + 112 + 8 * PE_DIR_DEBUG, 0x1000 | (uint64_t)28 << 32, 8);
    memcpy(file + ROWS_AT, ".rdata", 6);
    put(file + ROWS_AT + 8, 0x200, 4);
    put(file + ROWS_AT + 12, 0x1000, 4);
    put(file + ROWS_AT + 16, 0x200, 4);
    put(file + ROWS_AT + 20, 0x400, 4);
    memcpy(file + ROWS_AT + 40, "/4", 2);
    put(file + ROWS_AT + 48, 0x200, 4);
    put(file + ROWS_AT + 52, 0x2000, 4);
    put(file + ROWS_AT + 56, 0x200, 4);
    put(file + ROWS_AT + 60, FILE_BYTES - 0x200, 4);
}

static uint8_t file[FILE_BYTES]; /* of the test that runs */

TEST(data_directories_are_sixteen_at_most)
{
    static const uint32_t counts[] = {0, 7, 16, 17};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct fault fault = FAULT_INIT;
        struct { /* what is after the struct stays as it was */
            struct pe pe;
            uint8_t after[16];
        } got;
        test_row(counts[i] == 0    ? "none"
                 : counts[i] == 7  ? "seven"
                 : counts[i] == 16 ? "all"
                                   : "one more");
        make_pe(file, counts[i]);
        memset(&got, 0xee, sizeof got);
        REQUIRE(pe_open(file, sizeof file, &got.pe, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < PE_DIRECTORIES; k++)
            if (k != PE_DIR_DEBUG)
                CHECK_HEX(got.pe.directories[k].rva, k < counts[i] ? 0x11111111 * (k % 15 + 1) : 0);
        for (size_t k = 0; k < sizeof got.after; k++)
            CHECK_HEX(got.after[k], 0xee);
    }
}

static void check_symbols(const struct pe_symbol *got, uint32_t count, const struct pe_symbol *want,
                          uint32_t want_count)
{
    CHECK_EQ(count, want_count);
    for (uint32_t i = 0; i < count && i < want_count; i++) {
        CHECK_HEX(got[i].rva, want[i].rva);
        CHECK_STR(got[i].name, want[i].name);
    }
}

/* Microsoft's PE format, ".edata": the numbers of functions begin at the ordinal base; an address
 * in the directory itself is that of a text, the name of another module's function. */
TEST(exports_have_their_names_or_numbers)
{
    static const struct {
        const char *name;
        uint32_t last_name_rva;
        uint16_t last_ordinal;
        enum status status; /* of what was cut off */
        struct pe_symbol want[3];
    } rows[] = {
        {"every name",
         0x1054,
         0,
         ERR_NONE,
         {{0x1100, "#11"}, {0x2000, "first"}, {0x3000, "second"}}},
        {"a name without an end",
         0x11fd,
         0,
         ERR_TRUNCATED,
         {{0x1100, "#11"}, {0x2000, "first"}, {0x3000, "#7"}}},
        {"a name of the number after the last",
         0x1054,
         6,
         ERR_NONE,
         {{0x1100, "#11"}, {0x2000, "first"}, {0x3000, "#7"}}},
    };
    static const uint32_t functions[] = {0x3000, 0x2000, 0, 0x10ff, 0x1100, 0x1000};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint32_t name_rvas[] = {0x105b, 0x1061, rows[i].last_name_rva};
        const uint16_t ordinals[] = {1, 3, rows[i].last_ordinal};
        struct fault fault = FAULT_INIT;
        struct pe_symbol *got = NULL;
        struct arena keep;
        uint32_t count = 0;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, 16);
        put(file + PE_AT + 24 + 112, 0x1000 | (uint64_t)0x100 << 32, 8); /* the directory */
        put(file + 0x410, 7, 4);
        put(file + 0x414, COUNT_OF(functions), 4);
        put(file + 0x418, COUNT_OF(name_rvas), 4);
        put(file + 0x41c, 0x1028, 4);
        put(file + 0x420, 0x1040, 4);
        put(file + 0x424, 0x104c, 4);
        for (size_t k = 0; k < COUNT_OF(functions); k++)
            put(file + 0x428 + 4 * k, functions[k], 4);
        for (size_t k = 0; k < COUNT_OF(name_rvas); k++) {
            put(file + 0x440 + 4 * k, name_rvas[k], 4);
            put(file + 0x44c + 2 * k, ordinals[k], 2);
        }
        memcpy(file + 0x454, "second\0first\0gone", 18);
        memcpy(file + 0x5fd, "cut", 3);
        memset(file + 0x600, 'x', FILE_BYTES - 0x600); /* no byte of the rest ends it */
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        arena_init(&keep, 0);
        CHECK_EQ(pe_exports(&pe, &keep, &got, &count, &fault), ERR_NONE);
        CHECK_EQ(fault.code, rows[i].status);
        check_symbols(got, count, rows[i].want, COUNT_OF(rows[i].want));
        arena_free(&keep);
    }
}

/* The same, "COFF Symbol Table": rows of 18 bytes; a name of eight letters has no end. */
TEST(the_table_of_symbols_may_end_with_the_file)
{
    static const struct pe_symbol want[] = {{0x1010, "eightlet"}, {0x2020, "f"}};
    enum { ROW_BYTES = 18, TABLE_AT = FILE_BYTES - 3 * ROW_BYTES };
    for (uint32_t more = 0; more < 2; more++) {
        struct fault fault = FAULT_INIT;
        struct pe_symbol *got = NULL;
        struct arena keep;
        uint32_t count = 0;
        struct pe pe;
        test_row(more == 0 ? "to the last byte" : "a row more than there is");
        make_pe(file, 16);
        put(file + PE_AT + 12, TABLE_AT, 4);
        put(file + PE_AT + 16, 3 + more, 4);
        uint8_t *row = file + TABLE_AT;
        memcpy(row, "f", 1); /* later in the image, so it comes second */
        put(row + 8, 0x20, 4);
        put(row + 12, 2, 2);
        put(row + 14, 0x20, 2); /* a function */
        row[16] = 3;            /* static */
        row[17] = 1;            /* with a row of its own */
        row += 2 * (size_t)ROW_BYTES;
        memcpy(row, "eightlet", 8);
        put(row + 8, 0x10, 4);
        put(row + 12, 1, 2);
        put(row + 14, 0x20, 2);
        row[16] = 2;                               /* external */
        void *copy = test_copy(file, sizeof file); /* a sanitizer detects a row too many */
        REQUIRE(pe_open(copy, sizeof file, &pe, &fault) == ERR_NONE);
        arena_init(&keep, 0);
        CHECK_EQ(pe_coff_functions(&pe, &keep, &got, &count, &fault),
                 more == 0 ? ERR_NONE : ERR_TRUNCATED);
        check_symbols(got, count, want, more == 0 ? COUNT_OF(want) : 0);
        free(copy);
        arena_free(&keep);
    }
}

TEST(the_pdb_is_found_by_place_in_the_file_or_by_address)
{
    static const struct {
        const char *name;
        uint32_t foff, rva;
        bool there;
    } rows[] = {{"by its place in the file", 0x480, 0, true},
                {"mapped, and at no place in the file", 0, 0x1080, true},
                {"mapped, and its place is after the end", FILE_BYTES, 0x1080, true},
                {"another place and no address", 0x4c0, 0, false},
                {"neither", 0, 0x3000, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pe_codeview codeview;
        struct fault fault = FAULT_INIT;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, 16);
        put(file + 0x40c, 2, 4); /* IMAGE_DEBUG_TYPE_CODEVIEW */
        put(file + 0x410, 30, 4);
        put(file + 0x414, rows[i].rva, 4);
        put(file + 0x418, rows[i].foff, 4);
        memcpy(file + 0x480, "RSDS0123456789abcdef\x07\0\0\0a.pdb", 30);
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        char id[DEBUG_ID_BYTES] = "none";
        CHECK_EQ(pe_codeview(&pe, &codeview), rows[i].there);
        pe_debug_id(&pe, id);
        CHECK_EQ(id[0] != '\0', rows[i].there);
        if (rows[i].there) {
            CHECK_EQ(codeview.age, 7);
            CHECK_STR(codeview.pdb_path, "a.pdb");
        }
    }
}

/* CV_INFO_PDB70 and CV_INFO_PDB20: 24 and 16 bytes before the path, which ends with a zero. */
TEST(a_record_of_a_pdb_has_a_whole_head)
{
    static const char rsds[] = "RSDS0123456789abcdef\x07\0\0\0a.pdb";
    static const char nb10[] = "NB10\0\0\0\0\x78\x56\x34\x12\x07\0\0\0a.pdb";
    static const struct {
        const char *name, *data;
        uint32_t bytes;
        const char *path; /* NULL: no record */
    } rows[] = {
        {"with a path", rsds, 30, "a.pdb"},   {"whose path has no end", rsds, 29, ""},
        {"a head alone", rsds, 24, ""},       {"a byte less", rsds, 23, NULL},
        {"the older one", nb10, 22, "a.pdb"}, {"whose path has no end", nb10, 21, ""},
        {"its head alone", nb10, 16, ""},     {"a byte less", nb10, 15, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pe_codeview codeview;
        struct fault fault = FAULT_INIT;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, 16);
        put(file + 0x40c, 2, 4);
        put(file + 0x410, rows[i].bytes, 4);
        put(file + 0x418, FILE_BYTES - rows[i].bytes, 4); /* the last bytes of the file */
        memcpy(file + FILE_BYTES - rows[i].bytes, rows[i].data, rows[i].bytes);
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        if (!CHECK_EQ(pe_codeview(&pe, &codeview), rows[i].path != NULL) || rows[i].path == NULL)
            continue;
        CHECK_STR(codeview.pdb_path, rows[i].path);
        CHECK_EQ(codeview.age, 7);
        CHECK_EQ(codeview.nb10, rows[i].data == nb10);
        CHECK_HEX(codeview.signature, codeview.nb10 ? 0x12345678 : 0);
        if (!codeview.nb10)
            CHECK_MEM(codeview.guid, rows[i].data + 4, 16);
    }
}

TEST(a_section_of_debug_data_may_end_with_the_file)
{
    static const struct {
        const char *name;
        const char *section;                      /* its name in the table of sections */
        bool named;                               /* the table of long names is there */
        uint32_t raw_bytes, virtual_bytes, bytes; /* BYTES of .debug_info are found */
        enum status status;
    } rows[] = {{"to the last byte", "/4", true, 0x200, 0x200, 0x200, ERR_NONE},
                {"padded", "/4", true, 0x200, 0x1ff, 0x1ff, ERR_NONE},
                {"no size but the padded one", "/4", true, 0x200, 0, 0x200, ERR_NONE},
                {"a name in base 64", "//AAAAAE", true, 0x200, 0x200, 0x200, ERR_NONE},
                {"no digit of base 64", "//AAAA.E", true, 0x200, 0x200, 0, ERR_TRUNCATED},
                {"no byte", "/4", true, 0, 0, 0, ERR_NONE},
                {"one byte after the last", "/4", true, 0x201, 0x201, 0, ERR_TRUNCATED},
                {"its name is lost", "/4", false, 0x200, 0x200, 0, ERR_TRUNCATED}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT, damage = FAULT_INIT;
        struct object_debug debug;
        struct arena keep;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, 16);
        memcpy(file + ROWS_AT + 40, rows[i].section, strlen(rows[i].section));
        put(file + PE_AT + 12, rows[i].named ? 0x800 : FILE_BYTES, 4); /* symbols: none */
        put(file + 0x800, 16, 4); /* and the names after them */
        memcpy(file + 0x804, ".debug_info", 12);
        put(file + ROWS_AT + 56, rows[i].raw_bytes, 4);
        put(file + ROWS_AT + 48, rows[i].virtual_bytes, 4);
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        arena_init(&keep, 0);
        CHECK_EQ(pe_debug(&pe, &keep, &debug, &damage), rows[i].bytes > 0);
        CHECK_EQ(debug.own[DEBUG_INFO].bytes, rows[i].bytes);
        CHECK_EQ(damage.code, rows[i].status);
        arena_free(&keep);
    }
}

/* Microsoft's PE format, "Section Flags": code is 0x20, what may be executed 0x20000000. */
TEST(code_is_in_sections_that_say_so)
{
    static const struct {
        const char *name;
        uint32_t flags[2], rva[2], bytes[2];
        size_t count;
        uint32_t want[2]; /* the addresses at which it begins */
    } rows[] = {
        {"data and code", {0x40000040, 0x60000020}, {0x1000, 0x2000}, {8, 8}, 1, {0x2000, 0}},
        {"both, in the order of addresses",
         {0x20, 0x20},
         {0x2000, 0x1000},
         {8, 8},
         2,
         {0x1000, 0x2000}},
        {"executed alone", {0x20000000, 0x40}, {0x1000, 0x2000}, {8, 8}, 1, {0x1000, 0}},
        {"one has no bytes", {0x20, 0x20}, {0x1000, 0x2000}, {0, 8}, 1, {0x2000, 0}},
        {"none", {0x40, 0x40}, {0x1000, 0x2000}, {8, 8}, 0, {0, 0}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT, damage = FAULT_INIT;
        struct object_debug debug;
        struct arena keep;
        struct pe pe;
        test_row(rows[i].name);
        make_pe(file, 16);
        for (size_t k = 0; k < 2; k++) {
            uint8_t *section = file + ROWS_AT + 40 * k;
            put(section + 8, rows[i].bytes[k], 4);
            put(section + 12, rows[i].rva[k], 4);
            put(section + 16, rows[i].bytes[k], 4);
            put(section + 36, rows[i].flags[k], 4);
        }
        REQUIRE(pe_open(file, sizeof file, &pe, &fault) == ERR_NONE);
        arena_init(&keep, 0);
        (void)pe_debug(&pe, &keep, &debug, &damage);
        CHECK_EQ(debug.code_count, rows[i].count);
        for (size_t k = 0; k < debug.code_count && k < rows[i].count; k++) {
            CHECK_HEX(debug.code[k].start_va, BASE_VA + rows[i].want[k]);
            CHECK_HEX(debug.code[k].end_va, BASE_VA + rows[i].want[k] + 8);
        }
        arena_free(&keep);
    }
}
