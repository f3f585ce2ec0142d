/* The symbol index of images without a PDB against the lookup in their DWARF and symbol tables, at
 * the bytes of their code; and which indexes are not believed. */
#include <string.h>

#include "symbol/object.h"
#include "symbol/symbol_index.h"
#include "test.h"

enum { CANDIDATES_MAX = 256, SLICES_MAX = 4, BYTES_MAX = 100000, FOLDER_DEPTH = 8 };

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
    const uint64_t step = (end - first) / BYTES_MAX + 1;
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
    if (symbol_index_build_object(object, &key, path, NULL, &fault) == ERR_NONE) {
        REQUIRE(symbol_index_open_key(path, &key, &index, &fault) == ERR_NONE);
        compare_bytes(group, object, index);
        symbol_index_close(index);
        group->images++;
    } else {
        CHECK_EQ(fault.code, ERR_ABSENT); /* it says of no section that it holds code */
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

/* A fault of three kinds: the file is another, a file that belongs to it is another, it is damaged.
 */
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
    REQUIRE(symbol_index_build_object(object, &key, path, NULL, &fault) == ERR_NONE);
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
