/* A property of images with DWARF or symbol tables: taking a piece away never adds a wrong name or
 * line without a mark.
 *
 * A program that is built here, as PE, ELF and Mach-O, is cut in two ways: one section at a time is
 * stated shorter, and the file ends early, as if it had not been copied completely. Then all code
 * is looked up again. An answer may lack lines or names, or have a note. It must not differ in any
 * other way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "compiled.h"
#include "cut_frames.h"
#include "format/object/file.h"
#include "symbol/image_names.h"
#include "test.h"

enum {
    SHOWN_MAX = 4,
    CODE_START = 0x300, /* of Mach-O; of the others 0x1000 */
    CODE_MAX = 0x1d00,
    STEP_BYTES = 3,
    CUTS = 24,
    SECTION_BYTES = 40,
    SECTION_VIRTUAL_BYTES = 8,
    SECTION_RAW_BYTES = 16,
};

static const char source[] =
    "namespace places {\n"
    "struct point { int x; void move(volatile int *p); };\n"
    "static inline __attribute__((always_inline)) int deep(volatile int *p)\n"
    "{\n"
    "    return *p = 1;\n"
    "}\n"
    "static inline __attribute__((always_inline)) int middle(volatile int *p)\n"
    "{\n"
    "    if (*p > 4) __builtin_trap();\n"
    "    return deep(p) + 1;\n"
    "}\n"
    "__attribute__((noinline)) void point::move(volatile int *p)\n"
    "{\n"
    "    x = middle(p) + 1;\n"
    "}\n"
    "}\n"
    "static __attribute__((noinline)) int hidden(volatile int *p)\n"
    "{\n"
    "    return places::middle(p) * 3;\n"
    "}\n"
    "extern \"C\" int start(void)\n"
    "{\n"
    "    int n = 0;\n"
    "    places::point at = {0};\n"
    "    at.move(&n);\n"
    "    return hidden(&n) + at.x;\n"
    "}\n";

static uint8_t *build(const char *version, size_t *bytes)
{
    const char *const argv[] = {"x86_64-w64-mingw32-g++",
                                "-O2",
                                version,
                                "-nostdlib",
                                "-Wl,-estart",
                                "-o",
                                "cut.exe",
                                "cut.cpp",
                                NULL};
    return compile_text(argv, "cut.cpp", source, "cut.exe", NULL, bytes);
}

/* The same by a compiler for ELF, or by two programs for Mach-O. */
static uint8_t *build_by(const char *const *argv, const char *name, size_t *bytes)
{
    return compile_text(argv, "cut.cpp", source, name, "the compiler has no such target", bytes);
}

/* False if NOW claims something that WHOLE does not, and no note says that it may be wrong. */
static bool is_honest(const struct symbol_frame *now, uint32_t now_count,
                      const struct symbol_frame *whole, uint32_t whole_count)
{
    return now_count == 0 || now[0].note != NOTE_NONE ||
           frames_same_or_lost(now, now_count, whole, whole_count);
}

struct tally {
    uint32_t cuts, refused, answers, marked, wrong;
};

static struct symbol_object *open_object(const uint8_t *data, size_t bytes)
{
    struct fault fault = FAULT_INIT;
    struct object_file file;
    struct symbol_object *object = NULL;
    if (object_file_open(data, bytes, 0, &file, &fault) != ERR_NONE)
        return NULL;
    REQUIRE(symbol_object_open(&file, "cut.exe", NULL, 0, NAMES_SHORT, &object, &fault) ==
            ERR_NONE);
    return object;
}

/* Looks up all code of WHOLE in the image of DATA. */
static void ask_all(struct symbol_object *whole, const uint8_t *data, size_t bytes,
                    const char *name, uint32_t cut, struct tally *tally)
{
    static struct symbol_frame before[SYMBOL_FRAMES_MAX], now[SYMBOL_FRAMES_MAX];
    struct symbol_object *object = open_object(data, bytes);
    tally->cuts++;
    if (object == NULL) {
        tally->refused++;
        return;
    }
    for (uint32_t rva = CODE_START; rva < CODE_START + CODE_MAX; rva += STEP_BYTES) {
        const uint32_t before_count = symbol_object_lookup(whole, rva, before);
        const uint32_t count = symbol_object_lookup(object, rva, now);
        tally->answers += before_count > 0;
        tally->marked += count > 0 && now[0].note != NOTE_NONE;
        if (is_honest(now, count, before, before_count) || tally->wrong++ >= SHOWN_MAX)
            continue;
        FAIL("%s cut to 0x%x: 0x%x is %u frames, %s line %u, not %u frames, %s line %u", name, cut,
             rva, count, now[0].function != NULL ? now[0].function : "?", now[0].line, before_count,
             before_count > 0 && before[0].function != NULL ? before[0].function : "?",
             before_count > 0 ? before[0].line : 0);
    }
    symbol_object_close(object);
}

/* Each debug section in turn, stated shorter than it is. */
static void cut_sections(struct symbol_object *whole, uint8_t *data, size_t bytes,
                         struct tally *tally)
{
    struct fault fault = FAULT_INIT;
    struct pe pe;
    struct pe_section section;
    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    for (uint32_t s = 0; pe_section(&pe, s, &section); s++) {
        uint8_t *row = data + pe.section_table_foff + (size_t)s * SECTION_BYTES;
        uint8_t good[SECTION_BYTES];
        if (strncmp(pe_section_name(&pe, &section), ".debug_", 7) != 0)
            continue;
        memcpy(good, row, sizeof good);
        for (uint32_t k = 1; k < CUTS; k++) {
            const uint32_t left = (uint32_t)((uint64_t)section.virtual_bytes * k / CUTS);
            for (uint32_t i = 0; i < 4; i++)
                row[SECTION_VIRTUAL_BYTES + i] = row[SECTION_RAW_BYTES + i] =
                    (uint8_t)(left >> (8 * i));
            ask_all(whole, data, bytes, pe_section_name(&pe, &section), left, tally);
        }
        memcpy(row, good, sizeof good);
    }
}

/* Each section of an ELF file that is not loaded, stated shorter.  Source: System V ABI, 4. */
static void cut_elf_sections(struct symbol_object *whole, uint8_t *data, size_t bytes,
                             struct tally *tally)
{
    enum { ELF_SECTION_BYTES = 64, ALLOCATED = 2 };
    const uint64_t table_foff = load_u64(data + 0x28);
    const uint32_t count = load_u16(data + 0x3c);
    REQUIRE(table_foff + (uint64_t)count * ELF_SECTION_BYTES <= bytes);
    for (uint32_t s = 1; s < count; s++) {
        uint8_t *row = data + table_foff + (size_t)s * ELF_SECTION_BYTES;
        uint8_t good[ELF_SECTION_BYTES];
        char name[32];
        if ((load_u64(row + 8) & ALLOCATED) != 0)
            continue;
        memcpy(good, row, sizeof good);
        (void)snprintf(name, sizeof name, "section %u", s);
        for (uint32_t k = 1; k < CUTS; k++) {
            const uint32_t left = (uint32_t)(load_u64(good + 0x20) * k / CUTS);
            for (uint32_t i = 0; i < 4; i++)
                row[0x20 + i] = (uint8_t)(left >> (8 * i));
            ask_all(whole, data, bytes, name, left, tally);
        }
        memcpy(row, good, sizeof good);
    }
}

/* The file ends early, but after its code. */
static void cut_file(struct symbol_object *whole, const uint8_t *data, size_t bytes,
                     struct tally *tally)
{
    for (uint32_t k = 1; k < 4 * CUTS; k++) {
        const size_t left = bytes * k / (4 * (size_t)CUTS);
        uint8_t *copy = test_copy(data, left);
        ask_all(whole, copy, left, "file", (uint32_t)left, tally);
        free(copy);
    }
}

static void check_cuts(const char *version)
{
    size_t bytes;
    uint8_t *data = build(version, &bytes);
    struct symbol_object *whole = open_object(data, bytes);
    struct tally tally = {0};
    uint8_t *copy = test_copy(data, bytes);
    test_limit(60);
    REQUIRE(whole != NULL);
    cut_file(whole, data, bytes, &tally);
    cut_sections(whole, copy, bytes, &tally);
    CHECK_EQ(tally.wrong, 0);
    CHECK(tally.cuts > 200 && tally.refused < tally.cuts / 4);
    CHECK(tally.answers > 1000 && tally.marked > 100);
    symbol_object_close(whole);
    free(copy);
}

TEST(cut_dwarf_4_never_makes_a_wrong_answer_without_a_mark)
{
    check_cuts("-gdwarf-4");
}

TEST(cut_dwarf_5_never_makes_a_wrong_answer_without_a_mark)
{
    check_cuts("-gdwarf-5");
}

TEST(a_cut_elf_file_never_makes_a_wrong_answer_without_a_mark)
{
    static const char *const versions[] = {"-gdwarf-4", "-gdwarf-5", "-g0"};
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        const char *argv[] = {"clang++-19",
                              "--target=x86_64-linux-gnu",
                              "-fuse-ld=lld-19",
                              "-O2",
                              versions[i],
                              "-nostdlib",
                              "-static",
                              "-Wl,-e,start",
                              "-o",
                              "cut.elf",
                              "cut.cpp",
                              NULL};
        size_t bytes;
        struct tally tally = {0};
        test_row(versions[i]);
        test_limit(60);
        uint8_t *data = build_by(argv, "cut.elf", &bytes), *copy = test_copy(data, bytes);
        struct symbol_object *whole = open_object(data, bytes);
        REQUIRE(whole != NULL);
        cut_file(whole, data, bytes, &tally);
        cut_elf_sections(whole, copy, bytes, &tally);
        CHECK_EQ(tally.wrong, 0);
        CHECK(tally.cuts > 150 && tally.answers > 1000);
        CHECK(i + 1 == COUNT_OF(versions) || tally.marked > 100); /* names alone are just lost */
        symbol_object_close(whole);
        free(copy);
    }
}

TEST(a_cut_macho_file_never_makes_a_wrong_answer_without_a_mark)
{
    const char *compile[] = {
        "clang++-19", "--target=x86_64-apple-macos11", "-O2", "-c", "-o", "cut.o", "cut.cpp", NULL};
    const char *link[] = {"ld64.lld-19", "-arch", "x86_64", "-platform_version",
                          "macos",       "11",    "11",     "-e",
                          "_start",      "-o",    "cut",    "cut.o",
                          NULL};
    size_t bytes;
    struct tally tally = {0};
    test_limit(60);
    (void)build_by(compile, "cut.o", &bytes);
    const uint8_t *data = build_by(link, "cut", &bytes);
    struct symbol_object *whole = open_object(data, bytes);
    REQUIRE(whole != NULL);
    cut_file(whole, data, bytes, &tally);
    CHECK_EQ(tally.wrong, 0);
    CHECK(tally.cuts > 50 && tally.answers > 100);
    symbol_object_close(whole);
}

/* Names by exports alone: the PDB of this library is not given. */
TEST(a_cut_image_without_dwarf_never_makes_a_wrong_answer_without_a_mark)
{
    static const char path[] =
        "corpus/symbols/plugin-call-ob2.dll/97B9A0349000/plugin-call-ob2.dll";
    struct tally tally = {0};
    size_t bytes;
    const uint8_t *data = test_read(test_source(path), &bytes);
    struct symbol_object *whole = open_object(data, bytes);
    REQUIRE(whole != NULL);
    cut_file(whole, data, bytes, &tally);
    CHECK_EQ(tally.wrong, 0);
    CHECK(tally.cuts > 50 && tally.answers > 100 && tally.marked > 10);
    symbol_object_close(whole);
}

/* The mark reaches the frame of a stack, through the store of symbols. */
TEST(a_frame_in_a_cut_image_has_the_mark)
{
    size_t bytes;
    const uint8_t *data = build("-gdwarf-5", &bytes);
    struct module module = {.name = "cut.exe", .image_bytes = 0x10000};
    const char *const roots[] = {test_scratch()};
    const struct symbol_store_options options = {
        .names = NAMES_SHORT, .roots = roots, .root_count = 1};
    char path[600];
    struct pe pe;
    struct fault fault = FAULT_INIT;
    REQUIRE(pe_open(data, bytes, &pe, &fault) == ERR_NONE);
    pe_code_id(&pe, module.code_id);
    (void)snprintf(path, sizeof path, "%s/cut.exe", test_scratch());
    for (uint32_t cut = 0; cut < 2; cut++) {
        struct symbol_store *store = NULL;
        struct arena keep;
        struct frame frame = {.module = &module, .module_name = module.name, .offset = 0x1010};
        const struct stack in = {.frames = &frame, .frame_count = 1};
        struct stack out;
        arena_init(&keep, 0);
        test_row(cut ? "cut" : "whole");
        test_write(path, data, cut ? bytes - bytes / 16 : bytes);
        REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
        REQUIRE(symbol_resolve_stack(store, &in, &keep, &out, &fault) == ERR_NONE);
        REQUIRE(out.frame_count > 0);
        CHECK_EQ(out.frames[0].note, cut ? NOTE_IMAGE_PART_DAMAGED : NOTE_NONE);
        symbol_store_close(store);
        arena_free(&keep);
    }
}

/* Images that are not cut have no mark, whatever DWARF their compilers write. */
TEST(whole_images_have_no_mark)
{
    static const char *const versions[] = {"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
                                           "-g0"};
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        size_t bytes;
        test_row(versions[i]);
        const uint8_t *data = build(versions[i], &bytes);
        struct symbol_object *object = open_object(data, bytes);
        uint32_t answers = 0;
        REQUIRE(object != NULL);
        for (uint32_t rva = 0x1000; rva < 0x1000 + CODE_MAX; rva++) {
            const uint32_t count = symbol_object_lookup(object, rva, frames);
            answers += count;
            for (uint32_t k = 0; k < count; k++)
                CHECK_EQ(frames[k].note, NOTE_NONE);
        }
        CHECK(answers > 50);
        symbol_object_close(object);
    }
}
