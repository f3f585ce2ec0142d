/* Mach-O files made here, beside Apple's <mach-o/loader.h>, <mach-o/nlist.h>, <mach-o/stab.h> and
 * <mach-o/reloc.h>: which symbols name code, what a relocation adds, where functions start. */
#include <string.h>
#include <zlib.h>

#include "format/macho/macho.h"
#include "test.h"

enum {
    FILE_BYTES = 4096,
    CONTENTS_AT = 1024, /* of every section */
    SYMBOLS_AT = 2048,
    NAMES_AT = 3072,
    BASE = 0x10000,
    CPU_X64 = 0x01000007,
    CPU_ARM64 = 0x0100000c,
    TYPE_OBJECT = 1,
    TYPE_EXECUTE = 2,
    TYPE_DSYM = 10,

};

struct section {
    const char *segment, *name;
    uint64_t va, bytes;
    uint32_t flags, foff, relocations_foff, relocation_count;
};

struct made {
    uint8_t data[FILE_BYTES];
    size_t at, commands_at;
    bool is_64;
};

static void put_at(struct made *m, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        m->data[at + i] = i < 8 ? (uint8_t)(value >> (8 * i)) : 0;
}

static void put(struct made *m, uint64_t value, size_t bytes)
{
    REQUIRE(m->at + bytes <= CONTENTS_AT);
    put_at(m, m->at, value, bytes);
    m->at += bytes;
}

static void put_name(struct made *m, const char *name)
{
    const size_t bytes = strlen(name);
    put(m, 0, 16);
    memcpy(m->data + m->at - 16, name, bytes < 16 ? bytes : 16);
}

static void begin(struct made *m, bool is_64, uint32_t cpu, uint32_t type)
{
    memset(m, 0, sizeof *m);
    m->is_64 = is_64;
    put(m, is_64 ? 0xfeedfacf : 0xfeedface, 4);
    put(m, cpu, 4);
    put(m, 3, 4);
    put(m, type, 4);
    put(m, 0, is_64 ? 16 : 12);
    m->commands_at = m->at;
}

/* Another load command, of the bytes since FROM. */
static void count_command(struct made *m, size_t from)
{
    put_at(m, from + 4, m->at - from, 4);
    m->data[16]++;
    put_at(m, 20, m->at - m->commands_at, 4);
}

static void segment(struct made *m, const char *name, uint64_t va, const struct section *sections,
                    uint32_t count, uint32_t stated)
{
    const size_t from = m->at, word = m->is_64 ? 8 : 4;
    put(m, m->is_64 ? 0x19 : 0x1, 4);
    put(m, 0, 4);
    put_name(m, name);
    put(m, va, word);
    put(m, 0, 3 * word);
    put(m, 0, 8);
    put(m, stated, 4);
    put(m, 0, 4);
    for (uint32_t i = 0; i < count; i++) {
        put_name(m, sections[i].name);
        put_name(m, sections[i].segment);
        put(m, sections[i].va, word);
        put(m, sections[i].bytes, word);
        put(m, sections[i].foff, 4);
        put(m, 0, 4);
        put(m, sections[i].relocations_foff, 4);
        put(m, sections[i].relocation_count, 4);
        put(m, sections[i].flags, 4);
        put(m, 0, m->is_64 ? 12 : 8);
    }
    count_command(m, from);
}

struct symbol {
    const char *name;
    uint8_t type, section;
    uint64_t value;
};

static void symbols(struct made *m, const struct symbol *rows, uint32_t count)
{
    const size_t from = m->at;
    size_t name_at = NAMES_AT + 1, at = SYMBOLS_AT;
    put(m, 2, 4);
    put(m, 0, 4);
    for (uint32_t i = 0; i < count; i++) {
        put_at(m, at, name_at - NAMES_AT, 4);
        m->data[at + 4] = rows[i].type;
        m->data[at + 5] = rows[i].section;
        put_at(m, at + 8, rows[i].value, m->is_64 ? 8 : 4);
        at += m->is_64 ? 16 : 12;
        memcpy(m->data + name_at, rows[i].name, strlen(rows[i].name) + 1);
        name_at += strlen(rows[i].name) + 1;
    }
    put(m, SYMBOLS_AT, 4);
    put(m, count, 4);
    put(m, NAMES_AT, 4);
    put(m, name_at - NAMES_AT, 4);
    count_command(m, from);
}

static void open_made(const struct made *m, struct macho *out)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(macho_open(m->data, FILE_BYTES, out, &fault) == ERR_NONE);
}

static const uint32_t code = 0x80000000u, some_code = 0x400, zero_fill = 1;

/* nlist.h: N_STAB 0xe0, N_TYPE 0x0e, N_SECT 0x0e, N_EXT 1. Sections: 1 has code alone, 2 some, 3
 * none, 4 has no bytes in the file. */
static const struct {
    const char *name;
    struct symbol symbol;
    const char *want; /* NULL: names no code */
    uint32_t offset;
    bool global;
} symbol_rows[] = {
    {"global", {"_f", 0x0f, 1, BASE + 0x100}, "f", 0x100, true},
    {"local", {"_f", 0x0e, 1, BASE + 0x100}, "f", 0x100, false},
    {"without an underscore", {"f", 0x0e, 1, BASE + 0x100}, "f", 0x100, false},
    {"two underscores", {"__f", 0x0e, 1, BASE + 0x100}, "_f", 0x100, false},
    {"private external", {"_f", 0x1f, 1, BASE + 0x100}, "f", 0x100, true},
    {"the last byte of code", {"_f", 0x0f, 1, BASE + 0x1ff}, "f", 0x1ff, true},
    {"after the code", {"_f", 0x0f, 1, BASE + 0x200}, NULL, 0, false},
    {"before the code", {"_f", 0x0f, 1, BASE + 0xff}, NULL, 0, false},
    {"some code", {"_f", 0x0f, 2, BASE + 0x200}, "f", 0x200, true},
    {"data", {"_f", 0x0f, 3, BASE + 0x300}, NULL, 0, false},
    {"zeroes", {"_f", 0x0f, 4, BASE + 0x400}, NULL, 0, false},
    {"no section", {"_f", 0x0f, 0, BASE + 0x100}, NULL, 0, false},
    {"a section that is not there", {"_f", 0x0f, 5, BASE + 0x100}, NULL, 0, false},
    {"the header of the image",
     {"__mh_execute_header", 0x0f, 1, BASE},
     "_mh_execute_header",
     0,
     true},
    {"undefined", {"_f", 0x01, 1, BASE + 0x100}, NULL, 0, false},
    {"absolute", {"_f", 0x03, 1, BASE + 0x100}, NULL, 0, false},
    {"a symbol of a debugger", {"_f", 0x2e, 1, BASE + 0x100}, NULL, 0, false},
    {"a label of the assembler", {"ltmp0", 0x0e, 1, BASE + 0x100}, NULL, 0, false},
    {"like such a label", {"ltm", 0x0e, 1, BASE + 0x100}, "ltm", 0x100, false},
    {"without a name", {"", 0x0f, 1, BASE + 0x100}, NULL, 0, false},
};

TEST(symbols_of_macho_name_code)
{
    for (int bits = 32; bits <= 64; bits += 32)
        for (size_t i = 0; i < COUNT_OF(symbol_rows); i++) {
            const struct section sections[] = {
                {"__TEXT", "__text", BASE + 0x100, 0x100, code, 0, 0, 0},
                {"__TEXT", "__stubs", BASE + 0x200, 0x100, some_code, 0, 0, 0},
                {"__TEXT", "__const", BASE + 0x300, 0x100, 0, 0, 0, 0},
                {"__TEXT", "__zero", BASE + 0x400, 0x100, code | zero_fill, 0, 0, 0}};
            struct object_symbols out = {0};
            struct fault fault = FAULT_INIT;
            struct macho macho;
            struct arena keep;
            struct made m;
            arena_init(&keep, 0);
            begin(&m, bits == 64, CPU_X64, TYPE_EXECUTE);
            segment(&m, "__PAGEZERO", 0, NULL, 0, 0);
            segment(&m, "__TEXT", BASE, sections, 3, 3);
            segment(&m, "__DATA", BASE + 0x400, sections + 3, 1, 1);
            symbols(&m, &symbol_rows[i].symbol, 1);
            open_made(&m, &macho);
            test_row(symbol_rows[i].name);
            CHECK_HEX(macho.base_va, BASE);
            REQUIRE(macho_add_symbols(&macho, &keep, &out, &fault) == ERR_NONE);
            CHECK_EQ(out.count, symbol_rows[i].want != NULL);
            CHECK(!out.damaged);
            if (out.count == 1 && symbol_rows[i].want != NULL) {
                CHECK_STR(out.at[0].name, symbol_rows[i].want);
                CHECK_HEX(out.at[0].offset, symbol_rows[i].offset);
                CHECK_EQ(out.at[0].global, symbol_rows[i].global);
            }
            arena_free(&keep);
        }
}

/* A segment that states more sections than it has room for has those that fit; after it comes the
 * next segment. */
TEST(sections_are_counted_over_all_segments)
{
    const struct section sections[] = {{"__TEXT", "__text", 0x11, 0x12, 0x13, 0x14, 0x15, 0x16},
                                       {"__TEXT", "a_name_of_16_byt", 2, 2, 2, 2, 2, 2},
                                       {"__DATA", "__data", 3, 3, 3, 3, 3, 3}};
    for (int bits = 32; bits <= 64; bits += 32) {
        struct macho_section got;
        struct macho macho;
        struct made m;
        begin(&m, bits == 64, CPU_X64, TYPE_EXECUTE);
        segment(&m, "__EMPTY", 0, NULL, 0, 1);
        segment(&m, "__TEXT", BASE, sections, 2, 3);
        segment(&m, "__DATA", BASE, sections + 2, 1, 1);
        open_made(&m, &macho);
        for (uint32_t i = 0; i < 3; i++) {
            REQUIRE(macho_section(&macho, i, &got));
            CHECK_STR(got.name, sections[i].name);
            CHECK_STR(got.segment, sections[i].segment);
            CHECK_HEX(got.va, sections[i].va);
            CHECK_HEX(got.bytes, sections[i].bytes);
            CHECK_HEX(got.flags, sections[i].flags);
            CHECK_HEX(got.foff, sections[i].foff);
            CHECK_HEX(got.relocations_foff, sections[i].relocations_foff);
            CHECK_HEX(got.relocation_count, sections[i].relocation_count);
        }
        CHECK(!macho_section(&macho, 3, &got));
    }
}

/* The file ends with the last byte of its load commands, or before. */
TEST(load_commands_end_with_the_file)
{
    static const uint8_t uuid[16] = {0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xf0};
    struct fault fault = FAULT_INIT;
    char text[MACHO_UUID_BYTES];
    struct macho macho;
    struct made m;
    begin(&m, true, CPU_ARM64, TYPE_EXECUTE);
    put(&m, 0x1b, 4);
    put(&m, 0, 4);
    memcpy(m.data + m.at, uuid, sizeof uuid);
    m.at += sizeof uuid;
    count_command(&m, m.commands_at);
    REQUIRE(macho_open(m.data, m.at, &macho, &fault) == ERR_NONE);
    macho_uuid(&macho, text);
    CHECK_STR(text, "AB0102030405060708090A0B0C0D0EF0");
    CHECK_EQ(macho_arch(&macho), ARCH_ARM64);
    CHECK_EQ(macho_open(m.data, m.at - 1, &macho, &fault), ERR_TRUNCATED);
    fault_clear(&fault);
    put_at(&m, m.commands_at + 4, 25, 4); /* a command longer than all of them */
    CHECK_EQ(macho_open(m.data, m.at + 8, &macho, &fault), ERR_MALFORMED);
    fault_clear(&fault);
    put_at(&m, m.commands_at + 4, 7, 4);
    CHECK_EQ(macho_open(m.data, m.at, &macho, &fault), ERR_MALFORMED);
}

/* Distances in ULEB128 from the header on; 0 ends them. */
TEST(functions_start_where_the_list_says)
{
    static const struct {
        const char *name;
        uint8_t bytes[12], size, count;
        uint32_t want[3];
    } rows[] = {
        {"none", {0}, 0, 0, {0}},
        {"one", {0x10}, 1, 1, {0x10}},
        {"one of two bytes", {0x80, 0x01}, 2, 1, {0x80}},
        {"distances add up", {0x10, 0xf0, 0x01, 0x20}, 4, 3, {0x10, 0x100, 0x120}},
        {"0 ends them", {0x10, 0x00, 0x20}, 3, 1, {0x10}},
        {"of 32 bits", {0xff, 0xff, 0xff, 0xff, 0x0f}, 5, 1, {0xffffffff}},
        {"past 32 bits", {0x10, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6, 1, {0x10}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct macho macho;
        uint32_t *starts, count;
        struct arena keep;
        struct made m;
        arena_init(&keep, 0);
        begin(&m, true, CPU_X64, TYPE_EXECUTE);
        put(&m, 0x26, 4);
        put(&m, 16, 4);
        put(&m, FILE_BYTES - rows[i].size, 4);
        put(&m, rows[i].size, 4);
        count_command(&m, m.commands_at);
        memcpy(m.data + FILE_BYTES - rows[i].size, rows[i].bytes, rows[i].size);
        open_made(&m, &macho);
        test_row(rows[i].name);
        REQUIRE(macho_function_starts(&macho, &keep, &starts, &count, &fault) == ERR_NONE);
        CHECK_EQ(count, rows[i].count);
        for (uint32_t k = 0; k < count && k < rows[i].count; k++)
            CHECK_HEX(starts[k], rows[i].want[k]);
        arena_free(&keep);
    }
}

/* stab.h: N_OSO 0x66 names an object; N_FUN 0x24 a function, then one without a name its size. */
TEST(the_debug_map_pairs_names_and_sizes)
{
    static const struct symbol rows[] = {
        {"_lost", 0x24, 1, BASE + 0x10},
        {"", 0x24, 0, 8}, /* before any object */
        {"/x/a.o", 0x66, 0, 0},
        {"", 0x24, 0, 8}, /* a size without a name */
        {"_first", 0x24, 1, BASE},
        {"", 0x24, 0, 0x10},
        {"_none", 0x24, 1, BASE + 0x20},
        {"", 0x24, 0, 0}, /* of no bytes */
        {"_under", 0x24, 1, BASE - 1},
        {"", 0x24, 0, 8},
        {"_f", 0x0f, 1, BASE + 0x30}, /* no symbol of a debugger */
        {"/x/b.o", 0x66, 0, 0},
        {"_second", 0x24, 1, BASE + 0x30},
        {"", 0x24, 0, 1},
        {"", 0x24, 0, 2},
        {"", 0x66, 0, 0}, /* the end of the objects */
        {"_after", 0x24, 1, BASE + 0x40},
        {"", 0x24, 0, 8},
    };
    struct fault fault = FAULT_INIT;
    struct macho_mapped *mapped;
    struct macho_name *names;
    struct macho macho;
    struct arena keep;
    struct made m;
    uint32_t count;

    arena_init(&keep, 0);
    begin(&m, true, CPU_X64, TYPE_EXECUTE);
    segment(&m, "__TEXT", BASE, NULL, 0, 0);
    symbols(&m, rows, COUNT_OF(rows));
    open_made(&m, &macho);
    REQUIRE(macho_debug_map(&macho, &keep, &mapped, &count, &fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_STR(mapped[0].object, "/x/a.o");
    CHECK_STR(mapped[0].name, "_first");
    CHECK_HEX(mapped[0].offset, 0);
    CHECK_HEX(mapped[0].bytes, 0x10);
    CHECK_STR(mapped[1].object, "/x/b.o");
    CHECK_STR(mapped[1].name, "_second");
    CHECK_HEX(mapped[1].offset, 0x30);
    CHECK_HEX(mapped[1].bytes, 1);
    REQUIRE(macho_names(&macho, &keep, &names, &count, &fault) == ERR_NONE);
    REQUIRE(count == 1);
    CHECK_STR(names[0].name, "_f");
    CHECK_HEX(names[0].va, BASE + 0x30);
    arena_free(&keep);
}

/* reloc.h: u32 address, then 24 bits symbol, 1 relative, 2 length, 1 external, 4 type. Type 0 is
 * UNSIGNED; SUBTRACTOR is 5 for x86_64 and 1 for arm64. Symbol 0 is at 0x30. */
#define WORD(relative, length, external, type)                                                     \
    ((uint32_t)(relative) << 24 | (uint32_t)(length) << 25 | (uint32_t)(external) << 27 |          \
     (uint32_t)(type) << 28)

TEST(relocations_of_debug_data)
{
    static const struct {
        const char *name;
        uint32_t cpu, type, place, word;
        uint64_t want; /* of the eight bytes, which are 0x0000000100000002 */
    } rows[] = {
        {"eight bytes", CPU_X64, TYPE_OBJECT, 0, WORD(0, 3, 1, 0), 0x100000032},
        {"four bytes", CPU_X64, TYPE_OBJECT, 4, WORD(0, 2, 1, 0), 0x3100000002},
        {"four bytes before others", CPU_X64, TYPE_OBJECT, 0, WORD(0, 2, 1, 0), 0x100000032},
        {"two bytes are left alone", CPU_X64, TYPE_OBJECT, 0, WORD(0, 1, 1, 0), 0x100000002},
        {"of a section, not of a symbol", CPU_X64, TYPE_OBJECT, 0, WORD(0, 3, 0, 0), 0x100000002},
        {"SUBTRACTOR of x86_64", CPU_X64, TYPE_OBJECT, 0, WORD(0, 3, 1, 5), 0xffffffd2},
        {"SUBTRACTOR of arm64", CPU_ARM64, TYPE_OBJECT, 0, WORD(0, 3, 1, 1), 0xffffffd2},
        {"x86_64's type 1 is a branch", CPU_X64, TYPE_OBJECT, 0, WORD(0, 3, 1, 1), 0x100000002},
        {"arm64's type 5 is a page", CPU_ARM64, TYPE_OBJECT, 0, WORD(0, 3, 1, 5), 0x100000002},
        {"the last place", CPU_X64, TYPE_OBJECT, 4, WORD(0, 2, 1, 5), 0xffffffd100000002},
        {"one byte past the data", CPU_X64, TYPE_OBJECT, 5, WORD(0, 2, 1, 0), 0x100000002},
        {"a place after the data", CPU_X64, TYPE_OBJECT, 9, WORD(0, 2, 1, 0), 0x100000002},
        {"a symbol that is not there", CPU_X64, TYPE_OBJECT, 0, WORD(0, 3, 1, 0) + 1, 0x100000002},
        {"an image is relocated already", CPU_X64, TYPE_EXECUTE, 0, WORD(0, 3, 1, 0), 0x100000002},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct section section = {"__DWARF",   "__debug_info",   0, 8, 0,
                                        CONTENTS_AT, CONTENTS_AT + 64, 1};
        const struct symbol symbol = {"_f", 0x0f, 1, 0x30};
        struct fault fault = FAULT_INIT;
        struct object_debug debug;
        struct macho macho;
        struct arena keep;
        uint64_t got = 0;
        struct made m;
        arena_init(&keep, 0);
        begin(&m, true, rows[i].cpu, rows[i].type);
        segment(&m, "", 0, &section, 1, 1);
        symbols(&m, &symbol, 1);
        put_at(&m, SYMBOLS_AT + 24, 0x40, 8); /* where another symbol would have its value */
        put_at(&m, CONTENTS_AT, 0x100000002, 8);
        put_at(&m, CONTENTS_AT + 64, rows[i].place, 4);
        put_at(&m, CONTENTS_AT + 68, rows[i].word, 4);
        open_made(&m, &macho);
        test_row(rows[i].name);
        REQUIRE(macho_debug(&macho, &keep, &debug, &fault));
        CHECK_EQ(debug.address_bytes, 8);
        REQUIRE(debug.own[DEBUG_INFO].bytes == 8);
        for (int k = 7; k >= 0; k--)
            got = got << 8 | debug.own[DEBUG_INFO].data[k];
        CHECK_HEX(got, rows[i].want);
        arena_free(&keep);
    }
}

/* "ZLIB" and the size, highest byte first, then a zlib stream. */
TEST(packed_debug_data)
{
    static const char text[] = "debug data, debug data, debug data";
    static const struct {
        const char *name, *magic;
        int cut, more;
        enum status want;
    } rows[] = {
        {"whole", "ZLIB", 0, 0, ERR_NONE},
        {"another magic", "ZLIC", 0, 0, ERR_MALFORMED},
        {"shorter than its head", "ZLIB", -1, 0, ERR_MALFORMED},
        {"a size that it does not have", "ZLIB", 0, 1, ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct section section = {"__DWARF", "__zdebug_info", 0, 0, 0, CONTENTS_AT, 0, 0};
        uint8_t packed[128];
        uLongf bytes = sizeof packed;
        struct fault fault = FAULT_INIT;
        struct object_debug debug;
        struct macho macho;
        struct arena keep;
        struct made m;
        REQUIRE(compress(packed, &bytes, (const Bytef *)text, sizeof text) == Z_OK);
        section.bytes = rows[i].cut < 0 ? 11 : 12 + bytes;
        arena_init(&keep, 0);
        begin(&m, true, CPU_X64, TYPE_DSYM);
        segment(&m, "__DWARF", 0, &section, 1, 1);
        memcpy(m.data + CONTENTS_AT, rows[i].magic, 4);
        m.data[CONTENTS_AT + 11] = (uint8_t)(sizeof text + (size_t)rows[i].more);
        memcpy(m.data + CONTENTS_AT + 12, packed, bytes);
        open_made(&m, &macho);
        test_row(rows[i].name);
        CHECK_EQ(macho_debug(&macho, &keep, &debug, &fault), rows[i].want == ERR_NONE);
        CHECK_EQ(fault.code, rows[i].want);
        if (rows[i].want == ERR_NONE && CHECK_EQ(debug.own[DEBUG_INFO].bytes, sizeof text))
            CHECK_MEM(debug.own[DEBUG_INFO].data, text, sizeof text);
        arena_free(&keep);
    }
}

/* Old versions of dsymutil write 0 for the size of each section; a section ends where the next one
 * starts, and the last one stays as it is. */
TEST(sizes_that_dsymutil_left_out)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t first_bytes;
        uint32_t want;
        uint64_t end_va;
    } rows[] = {
        {"all are 0", TYPE_DSYM, 0, 1, BASE + 0x200},
        {"they are known", TYPE_DSYM, 0x80, 1, BASE + 0x180},
        {"an image that has no code", TYPE_EXECUTE, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct section sections[] = {
            {"__TEXT", "__const", BASE + 0x200, 0, 0, 0, 0, 0},
            {"__DATA", "__data", BASE + 0x300, 0, 0, 0, 0, 0},
            {"__TEXT", "__text", BASE + 0x100, rows[i].first_bytes, code, 0, 0, 0}};
        struct fault fault = FAULT_INIT;
        struct object_debug debug;
        struct macho macho;
        struct arena keep;
        struct made m;
        arena_init(&keep, 0);
        begin(&m, true, CPU_X64, rows[i].type);
        segment(&m, "__TEXT", BASE, sections, COUNT_OF(sections), COUNT_OF(sections));
        open_made(&m, &macho);
        test_row(rows[i].name);
        CHECK(!macho_debug(&macho, &keep, &debug, &fault)); /* no debug data, but code */
        CHECK_EQ(debug.code_count, rows[i].want);
        if (debug.code_count == 1) {
            CHECK_HEX(debug.code[0].start_va, BASE + 0x100);
            CHECK_HEX(debug.code[0].end_va, rows[i].end_va);
        }
        arena_free(&keep);
    }
}

/* ar(5): a name of 16 bytes that ends with '/' or blanks, or "#1/" and its length, which BSD writes
 * before the bytes; members begin at even places. */
TEST(members_of_archives)
{
    static const struct {
        const char *name, *field, *size;
        char data[10];
        const char *want;
        uint32_t bytes;
    } rows[] = {
        {"System V", "a.o/            ", "2         ", "xy", "a.o", 2},
        {"blanks", "a b.o           ", "2         ", "xy", "a b.o", 2},
        {"all sixteen bytes", "sixteen_bytes.o/", "2         ", "xy", "sixteen_bytes.o", 2},
        {"BSD", "#1/8            ", "10        ", "long.o\0\0xy", "long.o", 2},
        {"BSD, nothing but a name", "#1/4            ", "4         ", "ab.o", "ab.o", 0},
        {"BSD, a name longer than the member", "#1/5            ", "4         ", "ab.o", NULL, 0},
        {"longer than the archive", "a.o/            ", "99        ", "xy", NULL, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t file[256] = "!<arch>\n";
        struct archive_member member;
        uint64_t at = 0;
        memset(file + 8, ' ', 60);
        memcpy(file + 8, rows[i].field, 16);
        memcpy(file + 8 + 48, rows[i].size, 10);
        memcpy(file + 8 + 58, "`\n", 2);
        memcpy(file + 68, rows[i].data, sizeof rows[i].data);
        test_row(rows[i].name);
        const bool there = archive_next(file, 68 + sizeof rows[i].data, &at, &member);
        CHECK_EQ(there, rows[i].want != NULL);
        if (there && rows[i].want != NULL) {
            CHECK_STR(member.name, rows[i].want);
            CHECK_EQ(member.data.bytes, rows[i].bytes);
            CHECK_EQ(rows[i].bytes == 0 || member.data.data[0] == 'x', true);
        }
    }
}
