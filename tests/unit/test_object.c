/* ELF, Mach-O, fat files and archives, made by hand: identity, symbols, links, packed sections, and
 * every truncation. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/object/file.h"
#include "test.h"
#include "use_object.h"

enum { FILE_MAX = 8192, TEXT_VA = 0x401000, TEXT_BYTES = 64, HEAD_BYTES = 64, SECTIONS = 8 };

struct file {
    uint8_t data[FILE_MAX];
    size_t bytes;
    bool big;
};

static void put_at(struct file *f, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const size_t byte = f->big ? bytes - 1 - i : i;
        f->data[at + i] = byte < 8 ? (uint8_t)(value >> 8 * byte) : 0;
    }
}

static void put(struct file *f, uint64_t value, size_t bytes)
{
    REQUIRE(f->bytes + bytes <= FILE_MAX);
    put_at(f, f->bytes, value, bytes);
    f->bytes += bytes;
}

static void put_bytes(struct file *f, const void *data, size_t bytes)
{
    REQUIRE(f->bytes + bytes <= FILE_MAX);
    memcpy(f->data + f->bytes, data, bytes);
    f->bytes += bytes;
}

/* ---- ELF ------------------------------------------------------------------------------ */

struct section_row {
    const char *name;
    uint32_t type;
    uint64_t flags, va, foff, bytes;
    uint32_t link;
};

static const char elf_names[] = "\0.text\0.symtab\0.strtab\0.note.gnu.build-id\0.gnu_debuglink\0"
                                ".debug_str\0.shstrtab";

static void put_symbol(struct file *f, uint32_t name, uint8_t info, uint16_t section, uint64_t va,
                       uint64_t bytes)
{
    put(f, name, 4);
    put(f, info, 1);
    put(f, 0, 1);
    put(f, section, 2);
    put(f, va, 8);
    put(f, bytes, 8);
}

static uint32_t name_at(const char *name)
{
    for (size_t i = 0; i + strlen(name) < sizeof elf_names; i++)
        if (strcmp(elf_names + i, name) == 0)
            return (uint32_t)i;
    return 0;
}

/* SHF_COMPRESSED with zlib. */
static void put_packed(struct file *f, const char *text, size_t bytes)
{
    uint8_t packed[512];
    uLongf packed_bytes = sizeof packed;
    REQUIRE(compress(packed, &packed_bytes, (const Bytef *)text, (uLong)bytes) == Z_OK);
    put(f, 1, 4);
    put(f, 0, 4);
    put(f, bytes, 8);
    put(f, 1, 8);
    put_bytes(f, packed, packed_bytes);
}

static void make_elf(struct file *f, bool big)
{
    static const char names[] = "\0first\0second\0$x";
    static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct section_row rows[SECTIONS] = {{.name = ""}};
    size_t start;

    memset(f, 0, sizeof *f);
    f->big = big;
    f->bytes = HEAD_BYTES + 56;
    rows[1] = (struct section_row){".text", 1, 6, TEXT_VA, f->bytes, TEXT_BYTES, 0};
    f->bytes += TEXT_BYTES;
    start = f->bytes;
    put_symbol(f, 0, 0, 0, 0, 0);
    put_symbol(f, 7, 0x12, 1, TEXT_VA + 16, 16); /* second, global function */
    put_symbol(f, 1, 0x02, 1, TEXT_VA, 16);      /* first, local function   */
    put_symbol(f, 14, 0x00, 1, TEXT_VA + 8, 0);  /* $x: does not name code */
    put_symbol(f, 1, 0x11, 1, TEXT_VA + 4, 4);   /* an object               */
    rows[2] = (struct section_row){".symtab", 2, 0, 0, start, f->bytes - start, 3};
    rows[3] = (struct section_row){".strtab", 3, 0, 0, f->bytes, sizeof names, 0};
    put_bytes(f, names, sizeof names);
    f->bytes = (f->bytes + 3) & ~(size_t)3;
    start = f->bytes;
    put(f, 4, 4);
    put(f, 6, 4);
    put(f, 3, 4);
    put_bytes(f, "GNU\0\x01\x02\x03\xab\xcd\xef\0\0", 12);
    rows[4] = (struct section_row){".note.gnu.build-id", 7, 2, 0, start, f->bytes - start, 0};
    start = f->bytes;
    put_bytes(f, "a.debug\0", 8);
    put(f, 0x12345678, 4);
    rows[5] = (struct section_row){".gnu_debuglink", 1, 0, 0, start, f->bytes - start, 0};
    start = f->bytes;
    put_packed(f, text, sizeof text);
    rows[6] = (struct section_row){".debug_str", 1, 0x800, 0, start, f->bytes - start, 0};
    rows[7] = (struct section_row){".shstrtab", 3, 0, 0, f->bytes, sizeof elf_names, 0};
    put_bytes(f, elf_names, sizeof elf_names);
    const size_t table = f->bytes;
    for (int i = 0; i < SECTIONS; i++) {
        const struct section_row *r = &rows[i];
        put(f, name_at(r->name), 4);
        put(f, r->type, 4);
        put(f, r->flags, 8);
        put(f, r->va, 8);
        put(f, r->foff, 8);
        put(f, r->bytes, 8);
        put(f, r->link, 4);
        put(f, 0, 4);
        put(f, 1, 8);
        put(f, 0, 8);
    }
    memcpy(f->data, "\177ELF\2\1\1", 7);
    f->data[5] = big ? 2 : 1;
    put_at(f, 16, 2, 2);
    put_at(f, 18, 62, 2);
    put_at(f, 32, HEAD_BYTES, 8);
    put_at(f, 40, table, 8);
    put_at(f, 54, 56, 2);
    put_at(f, 56, 1, 2);
    put_at(f, 58, 64, 2);
    put_at(f, 60, SECTIONS, 2);
    put_at(f, 62, 7, 2);
    put_at(f, HEAD_BYTES, 1, 4); /* PT_LOAD at 0x400123: the base is the start of its page */
    put_at(f, HEAD_BYTES + 16, 0x400123, 8);
}

static void check_elf(bool big)
{
    struct object_symbols symbols = {0};
    struct fault fault = FAULT_INIT;
    struct object_debug debug;
    struct object_file file;
    struct arena keep;
    const char *link;
    uint32_t crc;
    struct file *f = calloc(1, sizeof *f);

    REQUIRE(f != NULL);
    arena_init(&keep, 0);
    make_elf(f, big);
    REQUIRE(object_file_open(f->data, f->bytes, 0, &file, &fault) == ERR_NONE);
    CHECK_EQ(file.kind, OBJECT_ELF);
    CHECK_STR(file.id, "010203abcdef");
    CHECK_STR(file.debug_id, "AB030201EFCD000000000000000000000");
    CHECK_HEX(file.as.elf.base_va, 0x400000);
    CHECK_EQ(object_file_arch(&file), ARCH_X86_64);
    REQUIRE(object_file_link(&file, &link, &crc));
    CHECK_STR(link, "a.debug");
    CHECK_HEX(crc, 0x12345678);
    REQUIRE(object_file_symbols(&file, &keep, &symbols, &fault) == ERR_NONE);
    object_symbols_sort(&symbols);
    REQUIRE(symbols.count == 2);
    CHECK_STR(symbols.at[0].name, "first");
    CHECK_HEX(symbols.at[0].offset, 0x1000);
    CHECK_STR(object_symbol_before(&symbols, 0x101f)->name, "second");
    CHECK(object_symbol_before(&symbols, 0xfff) == NULL);
    CHECK(!object_file_debug(&file, &keep, &debug, &fault)); /* no .debug_info */
    REQUIRE(debug.own[DEBUG_STR].bytes == 49);
    CHECK_EQ(debug.own[DEBUG_STR].data[47], 'a');
    CHECK(object_is_code(&debug, TEXT_VA + TEXT_BYTES - 1));
    CHECK(!object_is_code(&debug, TEXT_VA + TEXT_BYTES));
    arena_free(&keep);
    free(f);
}

TEST(elf_of_either_byte_order_is_read)
{
    test_row("little-endian");
    check_elf(false);
    test_row("big-endian");
    check_elf(true);
}

/* The System V ABI, of e_shnum and e_shstrndx: a number that does not fit is 0, or 0xffff, and in
 * sh_size, or sh_link, of section 0. */
TEST(section_0_of_elf_has_what_does_not_fit)
{
    enum { COUNT_AT = 60, NAMES_AT = 62, NAMES = 7, SIZE_AT = 32, LINK_AT = 40 };
    static const struct {
        const char *name;
        uint16_t count, names;
        uint64_t size;
        uint32_t link, want;
        bool named;
    } rows[] = {
        {"nothing", SECTIONS, NAMES, 99, 1, SECTIONS, true},
        {"both", 0, 0xffff, SECTIONS, NAMES, SECTIONS, true},
        {"the count", 0, NAMES, SECTIONS, 0, SECTIONS, true},
        {"the place of the names", SECTIONS, 0xffff, 0, NAMES, SECTIONS, true},
        {"a section after all", 0, 0xffff, SECTIONS, SECTIONS, SECTIONS, false},
        {"a million and more", 0, 0xffff, 1 << 20, NAMES, 0, false},
        {"more than the file has", 0, 0xffff, SECTIONS + 1, NAMES, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct file f;
        struct fault fault = FAULT_INIT;
        struct elf_section section;
        struct elf elf;
        test_row(rows[i].name);
        make_elf(&f, false);
        const size_t table = f.bytes - (size_t)SECTIONS * 64;
        put_at(&f, COUNT_AT, rows[i].count, 2);
        put_at(&f, NAMES_AT, rows[i].names, 2);
        put_at(&f, table + SIZE_AT, rows[i].size, 8);
        put_at(&f, table + LINK_AT, rows[i].link, 4);
        REQUIRE(elf_open(f.data, f.bytes, &elf, &fault) == ERR_NONE);
        CHECK_EQ(elf.section_count, rows[i].want);
        CHECK_EQ(elf_section_named(&elf, ".symtab", &section), rows[i].named);
    }
}

/* What readelf prints of this file: -x .gnu_debugaltlink, and -n. */
TEST(elf_names_its_alternate_file_and_its_build)
{
    size_t bytes = 0;
    const uint8_t *data = test_read(test_fixture("images/i12-elf-dump_syms/basic.dwz"), &bytes);
    char id[ELF_BUILD_ID_BYTES];
    const char *name = NULL;
    struct elf elf;
    struct fault fault = FAULT_INIT;
    REQUIRE(elf_open(data, bytes, &elf, &fault) == ERR_NONE);
    REQUIRE(elf_alternate_link(&elf, &name, id));
    CHECK_STR(name, "basic.dwz");
    CHECK_STR(id, "120a913182e97f0470822b07e562b760a07fd5f2");
    CHECK(elf_build_id(&elf, id));
    CHECK_STR(id, "b060ad20c6b47781552708aa192e7739fac7c84a");
}

/* ---- Mach-O --------------------------------------------------------------------------- */

enum { MACHO_TEXT_FOFF = 0x200, MACHO_BASE = 0x1000 };

static void put_macho_symbol(struct file *f, uint32_t name, uint8_t type, uint8_t section,
                             uint64_t value)
{
    put(f, name, 4);
    put(f, type, 1);
    put(f, section, 1);
    put(f, 0, 2);
    put(f, value, 8);
}

/* An image with two functions, one of them from the debug map. */
static void make_macho(struct file *f, uint32_t cpu)
{
    static const char names[] = "\0_main\0_other\0/b/x.o\0/b/lib.a(y.o)";
    static const uint8_t starts[] = {0x80, 0x04, 0x10, 0, 0}; /* 0x200, 0x210 */

    memset(f, 0, sizeof *f);
    put(f, 0xfeedfacf, 4);
    put(f, cpu, 4);
    put(f, 0, 4);
    put(f, 2, 4);
    put(f, 4, 4);                  /* commands */
    put(f, 24 + 152 + 24 + 16, 4); /* bytes of commands */
    put(f, 0, 8);
    put(f, 0x1b, 4);
    put(f, 24, 4);
    put_bytes(f, "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
    put(f, 0x19, 4);
    put(f, 152, 4);
    put_bytes(f, "__TEXT\0\0\0\0\0\0\0\0\0", 16);
    put(f, MACHO_BASE, 8);
    put(f, 0x1000, 8);
    put(f, 0, 8);
    put(f, 0x1000, 8);
    put(f, 5, 4);
    put(f, 5, 4);
    put(f, 1, 4);
    put(f, 0, 4);
    put_bytes(f, "__text\0\0\0\0\0\0\0\0\0", 16);
    put_bytes(f, "__TEXT\0\0\0\0\0\0\0\0\0", 16);
    put(f, MACHO_BASE + MACHO_TEXT_FOFF, 8);
    put(f, 0x40, 8);
    put(f, MACHO_TEXT_FOFF, 4);
    put(f, 0, 12);
    put(f, 0x80000400, 4);
    put(f, 0, 12);
    const size_t symtab = f->bytes;
    f->bytes += 24 + 16;
    f->bytes = MACHO_TEXT_FOFF + 0x40;
    const size_t symbols = f->bytes;
    put_macho_symbol(f, 1, 0x0f, 1, MACHO_BASE + 0x200);
    put_macho_symbol(f, 7, 0x0e, 1, MACHO_BASE + 0x210);
    put_macho_symbol(f, 14, 0x66, 0, 0); /* N_OSO */
    put_macho_symbol(f, 1, 0x24, 1, MACHO_BASE + 0x200);
    put_macho_symbol(f, 0, 0x24, 0, 0x10);
    put_macho_symbol(f, 21, 0x66, 0, 0);
    put_macho_symbol(f, 7, 0x24, 1, MACHO_BASE + 0x210);
    put_macho_symbol(f, 0, 0x24, 0, 0x20);
    const size_t texts = f->bytes;
    put_bytes(f, names, sizeof names);
    const size_t list = f->bytes;
    put_bytes(f, starts, sizeof starts);
    put_at(f, symtab, 2, 4);
    put_at(f, symtab + 4, 24, 4);
    put_at(f, symtab + 8, symbols, 4);
    put_at(f, symtab + 12, 8, 4);
    put_at(f, symtab + 16, texts, 4);
    put_at(f, symtab + 20, sizeof names, 4);
    put_at(f, symtab + 24, 0x26, 4);
    put_at(f, symtab + 28, 16, 4);
    put_at(f, symtab + 32, list, 4);
    put_at(f, symtab + 36, sizeof starts, 4);
}

static void make_fat(struct file *f, const struct file *a, const struct file *b)
{
    const struct file *const slices[] = {a, b};
    size_t foff = 48;

    memset(f, 0, sizeof *f);
    f->big = true;
    put(f, 0xcafebabe, 4);
    put(f, 2, 4);
    for (int i = 0; i < 2; i++) {
        put(f, 0, 8);
        put(f, foff, 4);
        put(f, slices[i]->bytes, 4);
        put(f, 0, 4);
        foff += slices[i]->bytes;
    }
    for (int i = 0; i < 2; i++)
        put_bytes(f, slices[i]->data, slices[i]->bytes);
}

TEST(macho_symbols_and_debug_map_are_read)
{
    struct object_symbols symbols = {0};
    struct fault fault = FAULT_INIT;
    struct macho_mapped *mapped;
    struct object_file file;
    struct arena keep;
    uint32_t *starts, count;
    struct file *f = calloc(1, sizeof *f);

    REQUIRE(f != NULL);
    arena_init(&keep, 0);
    make_macho(f, 0x01000007);
    REQUIRE(object_file_open(f->data, f->bytes, 0, &file, &fault) == ERR_NONE);
    CHECK_STR(file.id, "00112233445566778899aabbccddeeff");
    CHECK_STR(file.debug_id, "00112233445566778899AABBCCDDEEFF0");
    CHECK_EQ(object_file_arch(&file), ARCH_X86_64);
    CHECK_HEX(file.as.macho.base_va, MACHO_BASE);
    REQUIRE(object_file_symbols(&file, &keep, &symbols, &fault) == ERR_NONE);
    object_symbols_sort(&symbols);
    REQUIRE(symbols.count == 2);
    CHECK_STR(symbols.at[0].name, "main");
    CHECK_STR(symbols.at[1].name, "other");
    REQUIRE(macho_function_starts(&file.as.macho, &keep, &starts, &count, &fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_HEX(starts[1], 0x210);
    REQUIRE(macho_debug_map(&file.as.macho, &keep, &mapped, &count, &fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_STR(mapped[0].object, "/b/x.o");
    CHECK_STR(mapped[0].name, "_main");
    CHECK_HEX(mapped[1].offset, 0x210);
    CHECK_HEX(mapped[1].bytes, 0x20);
    arena_free(&keep);
    free(f);
}

/* The members have symbols and debug data, not the archive. */
static void check_archive(const char *data, size_t bytes)
{
    struct object_symbols symbols = {0};
    struct fault fault = FAULT_INIT;
    struct object_debug debug;
    struct object_file file;
    struct arena keep;
    const char *link;
    uint32_t crc;

    arena_init(&keep, 0);
    REQUIRE(object_file_open(data, bytes, 0, &file, &fault) == ERR_NONE);
    CHECK_EQ(file.kind, OBJECT_ARCHIVE);
    CHECK_EQ(object_file_arch(&file), ARCH_NONE);
    CHECK_EQ(object_file_symbols(&file, &keep, &symbols, &fault), ERR_NONE);
    CHECK_EQ(symbols.count, 0);
    CHECK(!object_file_debug(&file, &keep, &debug, &fault));
    CHECK(!object_file_link(&file, &link, &crc));
    arena_free(&keep);
}

TEST(fat_files_have_slices_and_archives_members)
{
    static const char archive[] = "!<arch>\n"
                                  "#1/4            0           0     0     644     7         `\n"
                                  "x.o\0abc\n"
                                  "y.o/            0           0     0     644     2         `\n"
                                  "de";
    struct file *parts = calloc(3, sizeof *parts);
    struct fault fault = FAULT_INIT;
    struct archive_member member;
    struct object_file file;
    uint64_t at = 0;

    REQUIRE(parts != NULL);
    make_macho(&parts[0], 0x01000007);
    make_macho(&parts[1], 0x0100000c);
    make_fat(&parts[2], &parts[0], &parts[1]);
    REQUIRE(object_file_open(parts[2].data, parts[2].bytes, 1, &file, &fault) == ERR_NONE);
    CHECK_EQ(object_file_arch(&file), ARCH_ARM64);
    CHECK_EQ(object_file_open(parts[2].data, parts[2].bytes, 2, &file, &fault), ERR_ABSENT);
    REQUIRE(archive_next(archive, sizeof archive - 1, &at, &member));
    CHECK_STR(member.name, "x.o");
    CHECK_EQ(member.data.bytes, 3);
    REQUIRE(archive_next(archive, sizeof archive - 1, &at, &member));
    CHECK_STR(member.name, "y.o");
    CHECK_MEM(member.data.data, "de", 2);
    CHECK(!archive_next(archive, sizeof archive - 1, &at, &member));
    check_archive(archive, sizeof archive - 1);
    free(parts);
}

/* ---- damage --------------------------------------------------------------------------- */

/* A copy of exactly that length, so that a read beyond it is detected. */
static void use_copy(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes + (bytes == 0));
    REQUIRE(copy != NULL);
    memcpy(copy, data, bytes);
    use_object(copy, bytes);
    free(copy);
}

static void check_damage(const struct file *f)
{
    struct file *copy = malloc(sizeof *copy);
    REQUIRE(copy != NULL);
    for (size_t i = 0; i <= f->bytes; i++)
        use_copy(f->data, i);
    for (size_t i = 0; i < f->bytes; i++) {
        *copy = *f;
        copy->data[i] = 0xff;
        use_copy(copy->data, f->bytes);
        copy->data[i] = (uint8_t)(f->data[i] ^ 1);
        use_copy(copy->data, f->bytes);
    }
    free(copy);
}

TEST(objects_survive_every_truncation_and_changed_bytes)
{
    struct file *f = calloc(3, sizeof *f);

    REQUIRE(f != NULL);
    make_elf(&f[0], false);
    test_row("ELF");
    check_damage(&f[0]);
    make_macho(&f[1], 0x01000007);
    test_row("Mach-O");
    check_damage(&f[1]);
    make_fat(&f[2], &f[1], &f[1]);
    test_row("fat");
    check_damage(&f[2]);
    free(f);
}

/* <elf.h>: of a file without sections the loaded segments (type 1) that are executed (flag 1) are
 * its code. One that leaves the address space is damage. */
TEST(code_of_a_file_without_sections_is_in_its_segments)
{
    enum { LOAD = 1, NOTE = 4, EXECUTE = 1, READ = 4 };
    static const struct {
        const char *name;
        uint32_t type, flags;
        uint64_t va, bytes;
        size_t count;
    } rows[] = {
        {"code", LOAD, READ | EXECUTE, 0x1000, 0x10, 1},
        {"data", LOAD, READ, 0x1000, 0x10, 0},
        {"it is not loaded", NOTE, READ | EXECUTE, 0x1000, 0x10, 0},
        {"no bytes", LOAD, READ | EXECUTE, 0x1000, 0, 0},
        {"its end is the last address", LOAD, READ | EXECUTE, UINT64_MAX - 0x10, 0x10, 1},
        {"its end is one later", LOAD, READ | EXECUTE, UINT64_MAX - 0xf, 0x10, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct file f;
        struct fault fault = FAULT_INIT;
        struct object_debug debug;
        struct arena keep;
        struct elf elf;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        memset(&f, 0, sizeof f);
        put_bytes(&f, "\177ELF\2\1\1", 7); /* 64 bits, the lowest byte first */
        put_at(&f, 16, 2, 2);              /* ET_EXEC */
        put_at(&f, 18, 62, 2);             /* EM_X86_64 */
        put_at(&f, 32, HEAD_BYTES, 8);     /* segments: one of 56 bytes */
        put_at(&f, 54, 56, 2);
        put_at(&f, 56, 1, 2);
        put_at(&f, HEAD_BYTES, rows[i].type, 4);
        put_at(&f, HEAD_BYTES + 4, rows[i].flags, 4);
        put_at(&f, HEAD_BYTES + 16, rows[i].va, 8);
        put_at(&f, HEAD_BYTES + 40, rows[i].bytes, 8);
        REQUIRE(elf_open(f.data, HEAD_BYTES + 56, &elf, &fault) == ERR_NONE);
        (void)elf_debug(&elf, &keep, &debug, &fault);
        REQUIRE(debug.code_count == rows[i].count);
        if (rows[i].count > 0)
            CHECK_HEX(debug.code[0].end_va - debug.code[0].start_va, rows[i].bytes);
        arena_free(&keep);
    }
}

TEST(what_cannot_be_unpacked_is_nothing)
{
    static const uint8_t text[] = "no packed bytes";
    static const enum object_packing kinds[] = {PACKED_ZLIB, PACKED_DEFLATE, PACKED_ZSTD,
                                                PACKED_XZ};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct byte_view out = {text, 5};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        arena_init(&keep, 0);
        CHECK(object_unpack(kinds[i], (struct byte_view){text, sizeof text}, 64, &keep, &out,
                            &fault) != ERR_NONE);
        CHECK_EQ(out.bytes, 0);
        arena_free(&keep);
    }
}

/* How much `xz` unpacks to is known only at its end. */
TEST(xz_of_more_than_is_expected)
{
    enum { UNPACKED_BYTES = 300000 };
    static const uint8_t packed[] = {
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x00, 0xff, 0x12, 0xd9, 0x41, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe4, 0x93, 0xdf, 0x00, 0x6f, 0x5d,
        0x00, 0x30, 0xef, 0xfb, 0xbf, 0xfe, 0xa3, 0xb1, 0x5e, 0xe5, 0xf8, 0x3f, 0xb2, 0xaa, 0x26,
        0x55, 0xf8, 0x68, 0x70, 0x41, 0x70, 0x15, 0x0f, 0x8d, 0xfd, 0x1e, 0x4c, 0x1b, 0x8a, 0x42,
        0xb7, 0x19, 0xf4, 0x69, 0x18, 0x71, 0xae, 0x66, 0x23, 0x8a, 0x8a, 0x4d, 0x2f, 0xa3, 0x0d,
        0xd9, 0x7f, 0xa6, 0xe3, 0x8c, 0x23, 0x11, 0x53, 0xe0, 0x59, 0x18, 0xc5, 0x75, 0x8a, 0xe2,
        0x77, 0xf8, 0xb6, 0x94, 0x7f, 0x0c, 0x6a, 0xc0, 0xde, 0x74, 0x49, 0x64, 0xe2, 0xe9, 0x5c,
        0x53, 0xb2, 0x04, 0xd8, 0xf7, 0x44, 0x0c, 0xab, 0x5f, 0x0d, 0x6d, 0x46, 0xe9, 0xe5, 0xc3,
        0x76, 0x88, 0xb7, 0x96, 0x57, 0xac, 0xb6, 0x4d, 0xe1, 0x69, 0x1d, 0x6f, 0xfb, 0x4b, 0x88,
        0x10, 0x6c, 0x35, 0x8c, 0x40, 0xc1, 0x00, 0x00, 0x00, 0x00, 0x01, 0x83, 0x01, 0xe0, 0xa7,
        0x12, 0x00, 0x15, 0xe1, 0xad, 0x14, 0xa8, 0x00, 0x0a, 0xfc, 0x02, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x59, 0x5a}; /* by `xz --check=none`: 300,000 letters "a" */
    struct byte_view out = {NULL, 0};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    size_t same = 0;
    arena_init(&keep, 0);
    REQUIRE(object_unpack(PACKED_XZ, (struct byte_view){packed, sizeof packed}, 0, &keep, &out,
                          &fault) == ERR_NONE);
    REQUIRE(out.bytes == UNPACKED_BYTES);
    while (same < out.bytes && out.data[same] == 'a')
        same++;
    CHECK_EQ(same, UNPACKED_BYTES);
    arena_free(&keep);
}
