/* ELF files without a table of sections: what the loader reads is enough. And symbols that are no
 * names. */
#include <stdlib.h>
#include <string.h>

#include "format/object/file.h"
#include "short_memory.h"
#include "test.h"
#include "use_object.h"

enum {
    HEAD_BYTES = 64,
    BASE_VA = 0x400000,
    NOTE_AT = 0x120,
    DYNAMIC_AT = 0x180,
    NAMES_AT = 0x200,
    HASH_AT = 0x300,
    SYMBOLS_AT = 0x400,
    FILE_BYTES = 0x800,
    DT_HASH = 4,
    DT_GNU_HASH = 0x6ffffef5,
};

struct file {
    uint8_t data[FILE_BYTES];
    bool big;
};

static void put_at(struct file *f, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        f->data[at + i] = (uint8_t)(value >> 8 * (f->big ? bytes - 1 - i : i));
}

static void put_segment(struct file *f, uint32_t index, uint32_t type, uint64_t foff,
                        uint64_t bytes)
{
    const size_t at = HEAD_BYTES + 56 * (size_t)index;
    put_at(f, at, type, 4);
    put_at(f, at + 4, 5, 4); /* read, execute */
    put_at(f, at + 8, foff, 8);
    put_at(f, at + 16, BASE_VA + foff, 8);
    put_at(f, at + 32, bytes, 8);
    put_at(f, at + 40, bytes, 8);
}

static void put_symbol(struct file *f, uint32_t number, uint32_t name, uint64_t offset)
{
    const size_t at = SYMBOLS_AT + 24 * (size_t)number;
    put_at(f, at, name, 4);
    put_at(f, at + 4, 0x12, 1); /* a global function */
    put_at(f, at + 6, 7, 2);    /* of some section   */
    put_at(f, at + 8, BASE_VA + offset, 8);
    put_at(f, at + 16, 16, 8);
}

/* One loaded segment with three symbols: none, first and second. TAG: DT_HASH, or DT_GNU_HASH whose
 * only bucket has both; no other number says how many there are. */
static void make_file(struct file *f, uint64_t tag, bool big)
{
    static const char names[] = "\0first\0second";
    static const uint32_t hash[] = {1, 3}, gnu_hash[] = {1, 1, 1, 0, 0, 0, 1, 2, 3};
    const uint64_t dynamic[] = {
        5, BASE_VA + NAMES_AT, 10, sizeof names, 6, BASE_VA + SYMBOLS_AT, tag, BASE_VA + HASH_AT, 0,
        0};
    memset(f, 0, sizeof *f);
    f->big = big;
    memcpy(f->data, "\177ELF\2\1\1", 7);
    f->data[5] = big ? 2 : 1;
    put_at(f, 16, 3, 2);
    put_at(f, 18, 62, 2);
    put_at(f, 32, HEAD_BYTES, 8);
    put_at(f, 54, 56, 2);
    put_at(f, 56, 3, 2);
    put_segment(f, 0, 1, 0, FILE_BYTES);
    put_segment(f, 1, 2, DYNAMIC_AT, sizeof dynamic);
    put_segment(f, 2, 4, NOTE_AT, 20);
    put_at(f, NOTE_AT, 4, 4);
    put_at(f, NOTE_AT + 4, 4, 4); /* a build id of 4 bytes */
    put_at(f, NOTE_AT + 8, 3, 4);
    memcpy(f->data + NOTE_AT + 12, "GNU\0\xaa\xbb\xcc\xdd", 8);
    for (size_t i = 0; i < COUNT_OF(dynamic); i++)
        put_at(f, DYNAMIC_AT + 8 * i, dynamic[i], 8);
    memcpy(f->data + NAMES_AT, names, sizeof names);
    for (size_t i = 0; i < (tag == DT_HASH ? COUNT_OF(hash) : COUNT_OF(gnu_hash)); i++)
        put_at(f, HASH_AT + 4 * i, tag == DT_HASH ? hash[i] : gnu_hash[i], 4);
    put_symbol(f, 1, 1, 0x600);
    put_symbol(f, 2, 7, 0x620);
    put_symbol(f, 3, 1, 0x640); /* one more than the table states */
}

/* gABI, chapter 5: the loader reads segments alone, so such a file runs. */
TEST(what_the_loader_reads_is_enough)
{
    static const struct {
        const char *name;
        uint64_t tag;
        bool big;
        size_t at; /* this field of the header is set to VALUE: 40, or one of 2 bytes; 0: none */
        uint64_t value;
        size_t bytes;
        enum status want;
    } rows[] = {
        {"no sections; DT_HASH", DT_HASH, false, 0, 0, FILE_BYTES, ERR_NONE},
        {"no sections; DT_GNU_HASH", DT_GNU_HASH, false, 0, 0, FILE_BYTES, ERR_NONE},
        {"the highest byte first", DT_HASH, true, 0, 0, FILE_BYTES, ERR_NONE},
        {"DT_GNU_HASH, the highest byte first", DT_GNU_HASH, true, 0, 0, FILE_BYTES, ERR_NONE},
        {"their table is after the end", DT_HASH, false, 40, 0x90000, FILE_BYTES, ERR_NONE},
        {"their table is cut off", DT_HASH, false, 40, 0x7f0, FILE_BYTES, ERR_NONE},
        {"rows of another size", DT_GNU_HASH, false, 58, 7, FILE_BYTES, ERR_NONE},
        {"the code is cut off, too", DT_HASH, false, 40, 0x90000, FILE_BYTES - 1, ERR_TRUNCATED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct file f;
        struct fault fault = FAULT_INIT;
        struct object_symbols symbols = {0};
        struct object_file object;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_file(&f, rows[i].tag, rows[i].big);
        if (rows[i].at != 0) {
            put_at(&f, 40, 0x700, 8); /* a table of two rows of 64 bytes */
            put_at(&f, 58, 64, 2);
            put_at(&f, 60, 2, 2);
            put_at(&f, rows[i].at, rows[i].value, rows[i].at == 40 ? 8 : 2);
        }
        CHECK_EQ(object_file_open(f.data, rows[i].bytes, 0, &object, &fault), rows[i].want);
        CHECK_EQ(fault.code, rows[i].want);
        if (rows[i].want == ERR_NONE) {
            CHECK_STR(object.id, "aabbccdd");
            REQUIRE(object_file_symbols(&object, &keep, &symbols, &fault) == ERR_NONE);
            REQUIRE(symbols.count == 2);
            CHECK_STR(symbols.at[0].name, "first");
            CHECK_HEX(symbols.at[0].offset, 0x600);
            CHECK_STR(symbols.at[1].name, "second");
            CHECK_HEX(symbols.at[1].bytes, 16);
        }
        arena_free(&keep);
    }
}

static enum status read_symbols(struct arena *keep, void *context, struct fault *fault)
{
    struct object_symbols symbols = {0};
    return object_file_symbols(context, keep, &symbols, fault);
}

TEST(memory_that_runs_out_while_symbols_are_read)
{
    static struct file f;
    struct fault fault = FAULT_INIT;
    struct object_file object;
    make_file(&f, DT_HASH, false);
    REQUIRE(object_file_open(f.data, FILE_BYTES, 0, &object, &fault) == ERR_NONE);
    short_memory(read_symbols, &object);
}

/* A copy of exactly that length, so that a read beyond it is detected. */
static void use_copy(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes + (bytes == 0));
    REQUIRE(copy != NULL);
    if (copy != NULL) /* the analyzer does not know what REQUIRE does */
        memcpy(copy, data, bytes);
    use_object(copy, bytes);
    free(copy);
}

TEST(a_file_without_sections_survives_truncation_and_changed_bytes)
{
    static struct file f;
    for (uint64_t tag = DT_HASH; tag != 0; tag = tag == DT_HASH ? DT_GNU_HASH : 0) {
        make_file(&f, tag, false);
        for (size_t i = 0; i <= FILE_BYTES; i++)
            use_copy(f.data, i);
        for (size_t i = 0; i < FILE_BYTES; i++) {
            const uint8_t was = f.data[i];
            f.data[i] = 0xff;
            use_object(f.data, FILE_BYTES);
            f.data[i] = was ^ 1;
            use_object(f.data, FILE_BYTES);
            f.data[i] = was;
        }
    }
}

/* "ELF for the Arm Architecture", mapping symbols; RISC-V psABI, the same; local labels of MIPS
 * ("$L1") and of TI's processors ("$C$L1"); Swift's docs/ABI/Mangling.rst: "$s", before 5.0 "$S".
 */
TEST(marks_are_no_names)
{
    static const struct {
        const char *name;
        bool named;
    } rows[] = {
        {"$a", false},      {"$t", false},    {"$d", false},
        {"$x", false},      {"$d.12", false}, {"$x.realm", false},
        {".L12", false},    {"$L4", false},   {"$xrv64i2p1_m2p0", false},
        {"$d4", true},      {"$C$L1", false}, {"$s4main3fooyyF", true},
        {"$S4mainF", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct file f;
        struct fault fault = FAULT_INIT;
        struct object_symbols symbols = {0};
        struct object_file object;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_file(&f, DT_HASH, false);
        memcpy(f.data + NAMES_AT + 1, rows[i].name, strlen(rows[i].name) + 1);
        put_at(&f, DYNAMIC_AT + 8 * 3, 64, 8); /* bytes of the names */
        put_at(&f, HASH_AT + 4, 2, 4);         /* one symbol */
        REQUIRE(object_file_open(f.data, FILE_BYTES, 0, &object, &fault) == ERR_NONE);
        REQUIRE(object_file_symbols(&object, &keep, &symbols, &fault) == ERR_NONE);
        CHECK_EQ(symbols.count, rows[i].named);
        arena_free(&keep);
    }
}

/* "64-bit PowerPC ELF ABI Supplement" 1.9: the value of a function's symbol is the address of its
 * descriptor, of which the first doubleword is the address of its code. */
TEST(a_function_of_powerpc_is_where_its_descriptor_says)
{
    enum { DESCRIPTOR_AT = 0x700, CODE_AT = 0x600, CODE_BYTES = 0x40, PPC64 = 21, RISCV = 243 };
    static const struct {
        const char *name;
        uint16_t machine;
        uint8_t type; /* of the symbol */
        uint64_t at, to;
        bool named;
    } rows[] = {
        {"a function", PPC64, 2, DESCRIPTOR_AT, CODE_AT + 8, true},
        {"code without a descriptor", PPC64, 2, CODE_AT, 0, true},
        {"data without a type", PPC64, 0, DESCRIPTOR_AT, CODE_AT + 8, false},
        {"another processor", RISCV, 2, DESCRIPTOR_AT, CODE_AT + 8, false},
        {"it leads to data", PPC64, 2, DESCRIPTOR_AT, DESCRIPTOR_AT, false},
        {"it is after the code", PPC64, 2, DESCRIPTOR_AT, CODE_AT + CODE_BYTES, false},
        {"the last 8 bytes of the file", PPC64, 2, FILE_BYTES - 8, CODE_AT, true},
        {"the last 7 bytes", PPC64, 2, FILE_BYTES - 7, CODE_AT, false},
        {"it is after the file", PPC64, 2, FILE_BYTES, CODE_AT, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct file f;
        struct fault fault = FAULT_INIT;
        struct object_symbols symbols = {0};
        struct object_file object;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_file(&f, DT_HASH, true);
        put_at(&f, 18, rows[i].machine, 2);
        put_at(&f, HEAD_BYTES + 4, 6, 4);           /* read, write */
        put_segment(&f, 2, 1, CODE_AT, CODE_BYTES); /* in place of the note */
        put_at(&f, HASH_AT + 4, 2, 4);              /* one symbol */
        put_symbol(&f, 1, 1, rows[i].at);
        put_at(&f, SYMBOLS_AT + 24 + 4, 0x10 | rows[i].type, 1);
        if (rows[i].at + 8 <= FILE_BYTES && rows[i].at != CODE_AT)
            put_at(&f, (size_t)rows[i].at, BASE_VA + rows[i].to, 8);
        REQUIRE(object_file_open(f.data, FILE_BYTES, 0, &object, &fault) == ERR_NONE);
        REQUIRE(object_file_symbols(&object, &keep, &symbols, &fault) == ERR_NONE);
        CHECK_EQ(symbols.count, rows[i].named);
        if (symbols.count == 1) {
            CHECK_STR(symbols.at[0].name, "first");
            CHECK_HEX(symbols.at[0].offset, rows[i].to != 0 ? rows[i].to : CODE_AT);
            CHECK_EQ(symbols.at[0].bytes, 16);
        }
        use_copy(f.data, FILE_BYTES);
        arena_free(&keep);
    }
}

/* A file of dwz, with the section of DWARF 5 in place of GNU's. */
TEST(elf_names_its_supplementary_file_and_its_build)
{
    enum { LINK_BYTES = 30, ID_AT = 10 };
    static const char gnu[] = ".gnu_debugaltlink";
    static const struct {
        const char *name, *head;
        uint32_t bytes;
        bool there;
    } rows[] = {
        {"as DWARF 5 has it", "\5\0\0b.dwz\0\x14", LINK_BYTES, true},
        {"of another version", "\6\0\0b.dwz\0\x14", LINK_BYTES, false},
        {"the supplementary file itself", "\5\0\1b.dwz\0\x14", LINK_BYTES, false},
        {"an id that is a byte longer", "\5\0\0b.dwz\0\x15", LINK_BYTES, false},
        {"an id of two bytes of length", "\5\0\0b.dwz\0\x94", LINK_BYTES, false},
        {"no name", "\5\0\0\0\0\0\0\0\0\x14", LINK_BYTES, false},
        {"a name without an end", "\5\0\0b.dwz\0\x14", 8, false},
        {"no id", "\5\0\0b.dwz\0\x14", 9, false},
        {"a head of two bytes", "\5\0\0b.dwz\0\x14", 2, false},
    };
    size_t bytes = 0, at = 0;
    uint8_t *data = test_read(test_fixture("images/i12-elf-dump_syms/basic.dwz"), &bytes);
    struct fault fault = FAULT_INIT;
    struct elf_section section;
    struct elf elf;
    REQUIRE(elf_open(data, bytes, &elf, &fault) == ERR_NONE);
    REQUIRE(elf_section_named(&elf, gnu, &section) && section.bytes == LINK_BYTES);
    while (memcmp(data + at, gnu, sizeof gnu) != 0)
        at++;
    memcpy(data + at, ".debug_sup", sizeof ".debug_sup");
    uint8_t *row = data; /* of the section, whose size is to be changed */
    while (load_u64(row + 24) != section.foff || load_u64(row + 32) != LINK_BYTES)
        row += 8;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char id[ELF_BUILD_ID_BYTES];
        const char *name = NULL;
        test_row(rows[i].name);
        memcpy(data + section.foff, rows[i].head, ID_AT);
        row[32] = (uint8_t)rows[i].bytes;
        CHECK_EQ(elf_alternate_link(&elf, &name, id), rows[i].there);
        if (!rows[i].there)
            continue;
        CHECK_STR(name, "b.dwz");
        CHECK_STR(id, "120a913182e97f0470822b07e562b760a07fd5f2");
    }
}
