/* The symbol index must give the answers of the lookup that it was built from, at the bytes of
 * code: for images without a PDB the lookup in their DWARF and symbol tables, for Breakpad files
 * the lookup in their records. An index of anything else is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiled.h"
#include "symbol/breakpad_export.h"
#include "symbol/symbol_index.h"
#include "symbol/symbol_object.h"
#include "test.h"

enum { CANDIDATES_MAX = 256, SLICES_MAX = 4, FOLDER_DEPTH = 8 };

/* So many places of each file are compared. The plain program compares answers; the sanitized one
 * looks for what may not be read, which fewer places show, except in a soak. */
static uint64_t places_most(void)
{
#if defined TEST_SANITIZED || defined _WIN32 /* not optimised */
    if (getenv("TWINSTACK_SOAK") == NULL)
        return 5000;
#endif
    return 100000;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_frames(const struct symbol_frame *a, const struct symbol_frame *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!same_text(a[i].function, b[i].function) || !same_text(a[i].file, b[i].file) ||
            a[i].line != b[i].line || a[i].distance != b[i].distance || a[i].from != b[i].from ||
            a[i].inlined != b[i].inlined)
            return false;
    return true;
}

struct group { /* files that may belong together */
    struct object_candidate candidates[CANDIDATES_MAX];
    uint32_t count;
    uint64_t images, addresses, frames, wrong;
};

/* Lists the slices of all object files below FOLDER. */
static void list_files(struct group *group, const char *folder, struct arena *keep, int depth)
{
    struct fault fault = FAULT_INIT;
    const char **names;
    size_t count;

    REQUIRE(folder_list(folder, keep, &names, &count, &fault) == ERR_NONE);
    for (size_t i = 0; i < count; i++) {
        const char *path = path_join(keep, folder, names[i]);
        struct file_map map;
        if (path_is_folder(path) && depth > 0)
            list_files(group, path, keep, depth - 1);
        if (!path_is_file(path) || file_map(path, &map, &fault) != ERR_NONE)
            continue;
        for (uint32_t s = 0; s < SLICES_MAX && group->count < CANDIDATES_MAX; s++) {
            struct object_candidate *c = &group->candidates[group->count];
            struct fault ignored = FAULT_INIT;
            if (!object_candidate_read(map.data, map.bytes, s, c, &ignored))
                break;
            c->path = path;
            c->name = names[i];
            group->count++;
        }
        file_unmap(&map);
    }
}

static void compare_bytes(struct group *group, struct symbol_object *object,
                          const struct symbol_index *index)
{
    static struct symbol_frame lazy[SYMBOL_FRAMES_MAX], found[SYMBOL_FRAMES_MAX];
    uint32_t first;
    uint64_t end;

    symbol_index_range(index, &first, &end);
    const uint64_t step = (end - first) / places_most() + 1;
    for (uint64_t at = first; at < end; at += step) {
        const uint32_t a = symbol_object_lookup(object, (uint32_t)at, lazy);
        const uint32_t b = symbol_index_lookup(index, (uint32_t)at, found);
        if ((a != b || !same_frames(lazy, found, a)) && group->wrong++ < 3)
            FAIL("0x%llx: %u frames (%s line %u), index %u (%s line %u)", (unsigned long long)at, a,
                 a > 0 && lazy[0].function != NULL ? lazy[0].function : "-",
                 a > 0 ? lazy[0].line : 0, b,
                 b > 0 && found[0].function != NULL ? found[0].function : "-",
                 b > 0 ? found[0].line : 0);
        CHECK(symbol_index_covers(index, (uint32_t)at));
        group->addresses++;
        group->frames += a;
    }
    CHECK(!symbol_index_covers(index, (uint32_t)end));
}

static enum status build_index(struct symbol_object *object, const struct symbol_index_key *key,
                               const char *path, struct fault *fault)
{
    struct code_pieces pieces;
    symbol_object_pieces(object, &pieces);
    return symbol_index_build_pieces(&pieces, key, path, NULL, fault);
}

static void compare_image(struct group *group, const struct object_candidate *image,
                          enum symbol_names names, struct arena *keep)
{
    const char *path = path_join(keep, test_scratch(), "index");
    struct fault fault = FAULT_INIT;
    struct symbol_object *object;
    struct symbol_index *index;
    struct object_file file;
    struct file_map map;

    test_row(image->name);
    REQUIRE(file_map(image->path, &map, &fault) == ERR_NONE);
    REQUIRE(object_file_open(map.data, map.bytes, image->slice, &file, &fault) == ERR_NONE);
    REQUIRE(symbol_object_open(&file, image->path, group->candidates, group->count, names, &object,
                               &fault) == ERR_NONE);
    struct symbol_index_key key = symbol_index_key(&map, names);
    key.is_image = true;
    if (build_index(object, &key, path, &fault) == ERR_NONE) {
        REQUIRE(symbol_index_open_key(path, &key, &index, &fault) == ERR_NONE);
        compare_bytes(group, object, index);
        symbol_index_close(index);
        group->images++;
    } else {
        CHECK_EQ(fault.code, ERR_ABSENT); /* no section is marked as code */
    }
    symbol_object_close(object);
    file_unmap(&map);
    test_row(NULL);
}

static const struct {
    const char *name, *folder;
    uint32_t images;
} groups[] = {
    {"Mach-O, x64, dSYM and overlapping functions", "i01-macho-x64-crash", 4},
    {"Mach-O, arm64, dSYM and debug map", "i02-macho-arm64-simple", 2},
    {"Mach-O, fat", "i03-macho-fat", 2},
    {"ELF, x64, DWARF packed and not", "i10-elf-crash", 5},
    {"ELF, arm64, .dwo, .dwp and debug links", "i11-elf-simple-aarch64", 4},
    {"ELF, x64, dwz, mini debug information", "i12-elf-dump_syms", 5},
    {"ELF, dynamic symbols", "i13-elf-debuglink-dynsym", 1},
    {"PE with DWARF and a debug link", "i20-pe-dwarf", 2},
};

static void compare_groups(enum symbol_names names)
{
    test_limit(240);
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        static struct group group;
        struct arena keep;
        arena_init(&keep, 0);
        memset(&group, 0, sizeof group);
        list_files(&group, path_join(&keep, test_fixture("images"), groups[i].folder), &keep,
                   FOLDER_DEPTH);
        for (uint32_t k = 0; k < group.count; k++)
            if (group.candidates[k].is_code)
                compare_image(&group, &group.candidates[k], names, &keep);
        test_row(groups[i].name);
        CHECK(group.images >= groups[i].images);
        CHECK(group.frames > 0);
        CHECK_EQ(group.wrong, 0);
        arena_free(&keep);
    }
}

TEST(every_byte_has_the_answer_of_the_lookup)
{
    compare_groups(NAMES_SHORT);
}

TEST(full_names_too)
{
    compare_groups(NAMES_FULL);
}

static const char *index_path(void)
{
    static char path[4096];
    (void)snprintf(path, sizeof path, "%s/index", test_scratch());
    return path;
}

static bool is_answer(const struct breakpad_frame *frames, const struct symbol_frame *found,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!same_text(frames[i].name, found[i].function) ||
            !same_text(frames[i].file, found[i].file) || frames[i].line != found[i].line ||
            frames[i].distance != found[i].distance || found[i].inlined != (i + 1 < count) ||
            found[i].from != (frames[i].is_public ? SYMBOLS_BREAKPAD_PUBLIC : SYMBOLS_BREAKPAD))
            return false;
    return true;
}

/* Compares at every byte if there are less than places_most() bytes of code. Returns the frame
 * count. */
static uint64_t compare_breakpad(const void *data, size_t bytes, enum status want)
{
    const char *path = index_path();
    const struct symbol_index_key key = {bytes, 1, NAMES_SHORT, true, 0};
    static struct symbol_frame found[SYMBOL_FRAMES_MAX];
    static struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    struct fault fault = FAULT_INIT;
    struct symbol_index *index;
    struct code_pieces pieces;
    struct breakpad file;
    uint64_t total = 0, end, wrong = 0;
    uint32_t first;

    REQUIRE(breakpad_read(data, bytes, &file, &fault) == ERR_NONE);
    if (breakpad_pieces(&file, &pieces, &fault) == ERR_NONE)
        (void)symbol_index_build_pieces(&pieces, &key, path, NULL, &fault);
    pieces.close(pieces.self);
    CHECK_EQ(fault.code, want);
    if (want == ERR_NONE) {
        REQUIRE(symbol_index_open_key(path, &key, &index, &fault) == ERR_NONE);
        symbol_index_range(index, &first, &end);
        const uint64_t step = (end - first) / places_most() + 1;
        for (uint64_t at = first; at < end; at += step) {
            const uint32_t a = breakpad_lookup(&file, at, frames);
            const uint32_t b = symbol_index_lookup(index, (uint32_t)at, found);
            if ((a != b || !is_answer(frames, found, a)) && wrong++ < 3)
                FAIL("0x%llx: %u frames, index %u", (unsigned long long)at, a, b);
            total += a;
        }
        symbol_index_close(index);
    }
    breakpad_close(&file);
    return total;
}

TEST(breakpad_files_of_the_fixtures)
{
    struct fault fault = FAULT_INIT;
    const char **names;
    struct arena keep;
    size_t count, files = 0;

    test_limit(120);
    arena_init(&keep, 0);
    const char *folder = test_fixture("images/i30-breakpad");
    REQUIRE(folder_list(folder, &keep, &names, &count, &fault) == ERR_NONE);
    for (size_t i = 0; i < count; i++) {
        struct file_map map;
        if (strstr(names[i], ".sym") == NULL)
            continue;
        test_row(names[i]);
        REQUIRE(file_map(path_join(&keep, folder, names[i]), &map, &fault) == ERR_NONE);
        CHECK(compare_breakpad(map.data, map.bytes, ERR_NONE) > 0);
        file_unmap(&map);
        files++;
    }
    test_row(NULL);
    CHECK(files >= 8);
    arena_free(&keep);
}

TEST(breakpad_files_made_for_it)
{
    static const struct {
        const char *name, *records;
        enum status want;
        bool has_frames;
    } rows[] = {
        {"no record", "", ERR_ABSENT, false},
        {"one public names the rest", "PUBLIC 1000 0 f\n", ERR_NONE, true},
        {"a public ends where a function starts",
         "PUBLIC 1000 0 f\nFUNC 1010 8 0 g\n1010 8 3 0\nPUBLIC 1020 0 h\n", ERR_NONE, true},
        {"lines with a gap", "FILE 0 a.c\nFUNC 1000 30 0 f\n1000 8 1 0\n1010 8 2 0\n", ERR_NONE,
         true},
        {"two functions at one address", "FUNC 1000 30 0 f\nFUNC 1000 40 0 g\n", ERR_NONE, true},
        {"a function in another", "FUNC 1000 40 0 f\nFUNC 1010 8 0 g\n", ERR_NONE, true},
        {"calls in calls",
         "FILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 g\nINLINE_ORIGIN 1 h\nFUNC 1000 40 0 f\n"
         "INLINE 0 7 0 0 1008 10\nINLINE 1 8 1 1 100a 4 1010 2\n1000 20 5 0\n1020 20 6 1\n",
         ERR_NONE, true},
        {"a call without an origin", "FUNC 1000 10 0 f\nINLINE 0 7 0 9 1004 4\n", ERR_NONE, true},
        {"records too far apart", "PUBLIC 1000 0 f\nPUBLIC 3000000 0 g\n", ERR_LIMIT, false},
        {"past 4 GiB", "PUBLIC 1000 0 f\nPUBLIC 100001000 0 g\n", ERR_LIMIT, false},
        {"a line number of more than 24 bits", "FUNC 1000 10 0 f\n1000 10 16777216 0\n", ERR_LIMIT,
         false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[1024];
        test_row(rows[i].name);
        const int bytes = snprintf(
            text, sizeof text, "MODULE windows x86_64 3249D99D0C4049318610F4E4FB0B69361 a.pdb\n%s",
            rows[i].records);
        CHECK_EQ(compare_breakpad(text, (size_t)bytes, rows[i].want) > 0, rows[i].has_frames);
    }
}

/* An index of another file, of another spelling of names, or of another debug file is refused. */
TEST(an_index_of_something_else_is_refused)
{
    const char *image_path = test_fixture("images/i20-pe-dwarf/hello-dwarf.exe");
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct symbol_object *object;
    struct symbol_index *index;
    struct object_file file;
    struct file_map map;

    arena_init(&keep, 0);
    const char *path = path_join(&keep, test_scratch(), "index");
    REQUIRE(file_map(image_path, &map, &fault) == ERR_NONE);
    REQUIRE(object_file_open(map.data, map.bytes, 0, &file, &fault) == ERR_NONE);
    REQUIRE(symbol_object_open(&file, image_path, NULL, 0, NAMES_SHORT, &object, &fault) ==
            ERR_NONE);
    struct symbol_index_key key = symbol_index_key(&map, NAMES_SHORT);
    key.is_image = true;
    REQUIRE(build_index(object, &key, path, &fault) == ERR_NONE);
    const struct {
        const char *name;
        struct symbol_index_key key;
        enum status want;
    } rows[] = {
        {"its own", key, ERR_NONE},
        {"another size",
         {key.file_bytes + 1, key.file_modified_ns, NAMES_SHORT, true, 0},
         ERR_MISMATCH},
        {"another time",
         {key.file_bytes, key.file_modified_ns + 1, NAMES_SHORT, true, 0},
         ERR_MISMATCH},
        {"another spelling",
         {key.file_bytes, key.file_modified_ns, NAMES_FULL, true, 0},
         ERR_MISMATCH},
        {"a PDB", {key.file_bytes, key.file_modified_ns, NAMES_SHORT, false, 0}, ERR_MISMATCH},
        {"another debug file",
         {key.file_bytes, key.file_modified_ns, NAMES_SHORT, true, 1},
         ERR_MISMATCH},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        fault = (struct fault)FAULT_INIT;
        CHECK_EQ(symbol_index_open_key(path, &rows[i].key, &index, &fault), rows[i].want);
        if (fault.code == ERR_NONE)
            symbol_index_close(index);
    }
    symbol_object_close(object);
    file_unmap(&map);
    arena_free(&keep);
}

/* How often an export of these symbols asks. */
static uint32_t count_pieces(const uint8_t *data, size_t bytes)
{
    struct fault fault = FAULT_INIT;
    struct symbol_object *object;
    struct object_file file;
    struct code_pieces pieces;
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    uint32_t count = 0;

    REQUIRE(object_file_open(data, bytes, 0, &file, &fault) == ERR_NONE);
    REQUIRE(symbol_object_open(&file, "long.dll", NULL, 0, NAMES_SHORT, &object, &fault) ==
            ERR_NONE);
    REQUIRE(object->exports.count == 2 && object->code.code_count > 0);
    const uint64_t base_va = object->code.base_va;
    const uint64_t end = object->code.code[0].end_va - base_va;
    symbol_object_pieces(object, &pieces);
    for (uint64_t at = object->code.code[0].start_va - base_va; at < end; count++) {
        struct code_piece piece = {.start = (uint32_t)at, .frames = frames};
        REQUIRE(pieces.at(pieces.self, &piece) && piece.end > at);
        at = piece.end;
    }
    symbol_object_close(object);
    return count;
}

TEST(code_after_the_last_export_is_one_piece)
{
    static const char source[] = "__declspec(dllexport) int first(int a) { return a + 1; }\n"
                                 "__declspec(dllexport) int second(int a) { return a + 2; }\n"
                                 "__asm__(\".space 4000000, 0xcc\");\n";
    static const char *const compilers[] = {"x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc"};

    for (size_t i = 0; i < COUNT_OF(compilers); i++) {
        const char *const argv[] = {compilers[i],  "-O1",     "-fno-toplevel-reorder",
                                    "-s",          "-shared", "-nostdlib",
                                    "-Wl,-e,none", "-o",      "long.dll",
                                    "long.c",      NULL};
        size_t bytes;
        test_row(compilers[i]);
        uint8_t *data = compile_text(argv, "long.c", source, "long.dll", NULL, &bytes);
        CHECK(count_pieces(data, bytes) < 16);
        free(data);
    }
}
