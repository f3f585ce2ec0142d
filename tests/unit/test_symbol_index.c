/* The symbol index compared with the lazy lookup, at the bytes of code of every PDB of the
 * fixtures. Also its behaviour on files that it did not write. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/pdb/pdb_module.h"
#include "pdb_world.h"
#include "symbol/index_layout.h"
#include "symbol/index_write.h"
#include "symbol/symbol_index.h"
#include "test.h"

#define SMALL_PDB                                                                                  \
    "corpus/symbols/plugin-call-ob2.pdb/F60E14A10E7605B14C4C44205044422E1/plugin-call-ob2.pdb"

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool same_frames(const struct symbol_frame *a, uint32_t a_count,
                        const struct symbol_frame *b, uint32_t b_count)
{
    if (a_count != b_count)
        return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (!same_text(a[i].function, b[i].function) || !same_text(a[i].file, b[i].file) ||
            !same_text(a[i].compiland, b[i].compiland) || a[i].line != b[i].line ||
            a[i].distance != b[i].distance || a[i].inlined != b[i].inlined ||
            a[i].from != b[i].from)
            return false;
    return true;
}

enum { BATCH = 256, LARGE_BYTES = 4 << 20 }; /* larger files get several workers */

struct compared {
    enum symbol_names names;
    uint32_t step;
    uint64_t addresses, frames, wrong;
    struct pdb_lookup *walk; /* forgets what it has read at each question, so it packs nothing */
    struct pdb_lookup *soon; /* packs each module at its first question */
};

enum { WALK_STEP = 32 }; /* a walk reads the whole module */

static void compare_addresses(struct compared *compared, struct pdb_world *world,
                              const struct symbol_index *index, const uint32_t *rvas,
                              uint32_t count)
{
    static struct symbol_frame lazy[SYMBOL_FRAMES_MAX], one[SYMBOL_FRAMES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = pdb_lookup(world->lookup, rvas[i], lazy);
        const uint32_t b = symbol_index_lookup(index, rvas[i], one);
        if (!same_frames(lazy, a, one, b) && compared->wrong++ < 3)
            FAIL("rva 0x%x: lazy %u frames (%s line %u), index %u (%s line %u)", rvas[i], a,
                 a && lazy[0].function ? lazy[0].function : "-", a ? lazy[0].line : 0, b,
                 b && one[0].function ? one[0].function : "-", b ? one[0].line : 0);
        if (!same_frames(lazy, a, one, pdb_lookup(compared->soon, rvas[i], one)) &&
            compared->wrong++ < 3)
            FAIL("rva 0x%x: %s line %u, packed at once %s line %u", rvas[i],
                 a && lazy[0].function ? lazy[0].function : "-", a ? lazy[0].line : 0,
                 one[0].function ? one[0].function : "-", one[0].line);
        if (i % WALK_STEP == 0 &&
            !same_frames(lazy, a, one, pdb_lookup(compared->walk, rvas[i], one)) &&
            compared->wrong++ < 3)
            FAIL("rva 0x%x: packed %s line %u, walked %s line %u", rvas[i],
                 a && lazy[0].function ? lazy[0].function : "-", a ? lazy[0].line : 0,
                 one[0].function ? one[0].function : "-", one[0].line);
        compared->addresses++;
        compared->frames += a;
    }
}

static void compare_file(const char *path, void *context)
{
    struct compared *compared = context;
    struct fault fault = FAULT_INIT;
    struct symbol_index *index = NULL;
    struct pdb_world world;
    uint32_t rvas[BATCH], count = 0;
    struct arena keep;
    arena_init(&keep, 0);
    const char *index_path = path_join(&keep, test_scratch(), "index");
    test_row(path_base(path));
    pdb_world_open(&world, path, compared->names);
    REQUIRE(pdb_lookup_open(&world.pdb, compared->names, &compared->walk, &fault) == ERR_NONE);
    pdb_lookup_bound(compared->walk, &world.map, 1);
    REQUIRE(pdb_lookup_open(&world.pdb, compared->names, &compared->soon, &fault) == ERR_NONE);
    pdb_lookup_expect(compared->soon, UINT64_MAX);
    REQUIRE(symbol_index_build(&world.pdb, &world.map, compared->names, 2, index_path, NULL,
                               &fault) == ERR_NONE);
    REQUIRE(symbol_index_open(index_path, &world.map, compared->names, &index, &fault) == ERR_NONE);
    CHECK_EQ(symbol_index_verify(index, &fault), ERR_NONE);
    for (uint32_t i = 0; i < world.pdb.section_final_count; i++) {
        const struct pdb_section *section = &world.pdb.sections_final[i];
        if ((section->flags & 0x20000000) == 0)
            continue;
        for (uint32_t at = 0; at < section->virtual_bytes; at += compared->step) {
            rvas[count++] = section->rva + at;
            if (count == BATCH) {
                compare_addresses(compared, &world, index, rvas, count);
                count = 0;
            }
        }
    }
    compare_addresses(compared, &world, index, rvas, count);
    symbol_index_close(index);
    pdb_lookup_close(compared->walk);
    pdb_lookup_close(compared->soon);
    pdb_world_close(&world);
    arena_free(&keep);
    test_row(NULL);
}

TEST(every_fixture_answers_as_the_lazy_lookup_does)
{
    struct compared compared = {NAMES_SHORT, 3, 0, 0, 0, NULL, NULL};
    test_limit(240);
    pdb_world_each(".pdb", compare_file, &compared);
    CHECK(compared.addresses > 500000);
    CHECK(compared.frames > compared.addresses / 2);
    CHECK_EQ(compared.wrong, 0);
}

/* Uses files of the repository, so that a clone without fixtures also detects a wrong index. */
TEST(the_corpus_answers_as_the_lazy_lookup_does)
{
    static const char *const files[] = {
        "corpus/crash-x86/crash.pdb",
        "corpus/symbols/victims-ob2.pdb/62F62FFAE0AFDE9E4C4C44205044422E1/victims-ob2.pdb",
        SMALL_PDB,
    };
    struct compared compared = {NAMES_SHORT, 1, 0, 0, 0, NULL, NULL};
    test_limit(60);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        compare_file(test_source(files[i]), &compared);
    CHECK(compared.addresses > 100000);
    CHECK(compared.frames > compared.addresses / 2);
    CHECK_EQ(compared.wrong, 0);
}

/* Gives each lexical block in the records of SYMBOLS a kind that does not exist. */
static uint32_t forge_blocks(uint8_t *data, const uint8_t *symbols, uint32_t bytes)
{
    enum { S_BLOCK32 = 0x1103, NO_KIND = 0x11f0 };
    uint32_t count = 0;
    for (uint32_t at = 4; at + 4 <= bytes; at += 2 + load_u16(symbols + at)) {
        if (load_u16(symbols + at + 2) != S_BLOCK32)
            continue;
        const size_t place = (size_t)(symbols + at + 2 - data);
        data[place] = NO_KIND & 0xff;
        data[place + 1] = NO_KIND >> 8;
        count++;
    }
    return count;
}

/* A scope of a kind that is made later states where it ends, as all do; what is inlined in it and
 * after it stays. */
TEST(scopes_of_an_unknown_kind_lose_no_inlined_call)
{
    static const char *const files[] = {
        "corpus/crash-x86/crash.pdb",
        "corpus/symbols/victims-ob2.pdb/62F62FFAE0AFDE9E4C4C44205044422E1/victims-ob2.pdb",
    };
    struct compared compared = {NAMES_SHORT, 3, 0, 0, 0, NULL, NULL};
    uint64_t blocks = 0;
    test_limit(60);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct fault fault = FAULT_INIT;
        struct pdb pdb;
        char path[512];
        size_t bytes;
        uint8_t *data = test_read(test_source(files[i]), &bytes);
        test_row(files[i]);
        REQUIRE(pdb_open(data, bytes, &pdb, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < pdb.module_count; k++) {
            struct pdb_module module;
            struct arena copies;
            arena_init(&copies, 0);
            if (pdb_module_open(&pdb, k, &copies, &module) && module.data >= data &&
                module.data < data + bytes)
                blocks += forge_blocks(data, module.data, module.symbol_bytes);
            arena_free(&copies);
        }
        pdb_close(&pdb);
        (void)snprintf(path, sizeof path, "%s/forged.pdb", test_scratch());
        test_write(path, data, bytes);
        free(data);
        compare_file(path, &compared);
    }
    CHECK(blocks > 20);
    CHECK_EQ(compared.wrong, 0);
}

/* Bytes after the last block make a file that is large enough for its memory to be given back. */
TEST(a_large_file_whose_memory_is_given_back_too)
{
    enum { LARGE_FILE_BYTES = 100 << 20 };
    struct compared compared = {NAMES_SHORT, 1, 0, 0, 0, NULL, NULL};
    struct fault fault = FAULT_INIT;
    char path[512];
    size_t bytes;
    uint8_t *data = test_read(test_source(SMALL_PDB), &bytes);
    (void)snprintf(path, sizeof path, "%s/large.pdb", test_scratch());
    FILE *file = file_open(path, "wb");
    REQUIRE(file != NULL && fwrite(data, 1, bytes, file) == bytes);
    REQUIRE(fseek(file, LARGE_FILE_BYTES - 1, SEEK_SET) == 0 && fputc(0, file) == 0);
    REQUIRE(fclose(file) == 0);
    compare_file(path, &compared);
    CHECK(compared.frames > 1000);
    CHECK_EQ(compared.wrong, 0);
    CHECK_EQ(path_remove(path, &fault), ERR_NONE);
}

TEST(full_names_too)
{
    struct compared compared = {NAMES_FULL, 61, 0, 0, 0, NULL, NULL};
    test_limit(240);
    pdb_world_each(".pdb", compare_file, &compared);
    CHECK_EQ(compared.wrong, 0);
}

static void compare_threads(const char *path, void *context)
{
    static const uint32_t threads[] = {1, 2, 4};
    struct fault fault = FAULT_INIT;
    struct pdb_world world;
    struct arena keep;
    uint8_t *first = NULL;
    size_t first_bytes = 0, bytes = 0;
    arena_init(&keep, 0);
    const char *index = path_join(&keep, test_scratch(), "index");
    test_row(path_base(path));
    pdb_world_open(&world, path, NAMES_SHORT);
    for (size_t i = 0; world.map.bytes >= LARGE_BYTES && i < COUNT_OF(threads); i++) {
        REQUIRE(symbol_index_build(&world.pdb, &world.map, NAMES_SHORT, threads[i], index, NULL,
                                   &fault) == ERR_NONE);
        uint8_t *data = test_read(index, &bytes);
        if (i == 0) {
            first = data;
            first_bytes = bytes;
            ++*(uint32_t *)context;
            continue;
        }
        CHECK_EQ(bytes, first_bytes);
        CHECK(bytes == first_bytes && memcmp(data, first, bytes) == 0);
        free(data);
    }
    free(first);
    pdb_world_close(&world);
    arena_free(&keep);
}

TEST(the_number_of_threads_changes_no_byte)
{
    uint32_t files = 0;
    test_limit(120);
    pdb_world_each(".pdb", compare_threads, &files);
    CHECK(files > 0);
}

/* Builds the index of a small PDB and reads the file back. */
static uint8_t *small_index(struct pdb_world *world, struct arena *keep, const char **path,
                            size_t *bytes)
{
    struct fault fault = FAULT_INIT;
    pdb_world_open(world, test_source(SMALL_PDB), NAMES_SHORT);
    *path = path_join(keep, test_scratch(), "index");
    REQUIRE(symbol_index_build(&world->pdb, &world->map, NAMES_SHORT, 1, *path, NULL, &fault) ==
            ERR_NONE);
    return test_read(*path, bytes);
}

TEST(an_index_of_something_else_is_said_to_be_so)
{
    struct arena keep;
    struct pdb_world world;
    const char *path;
    size_t bytes;
    arena_init(&keep, 0);
    (void)small_index(&world, &keep, &path, &bytes);
    struct file_map newer = world.map, longer = world.map;
    newer.modified_ns++;
    longer.bytes++;
    const struct {
        const char *name;
        const struct file_map *pdb;
        enum symbol_names names;
        enum status want;
    } rows[] = {
        {"the same", &world.map, NAMES_SHORT, ERR_NONE},
        {"other names", &world.map, NAMES_FULL, ERR_MISMATCH},
        {"a newer PDB", &newer, NAMES_SHORT, ERR_MISMATCH},
        {"a longer PDB", &longer, NAMES_SHORT, ERR_MISMATCH},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct symbol_index *index;
        test_row(rows[i].name);
        CHECK_EQ(symbol_index_open(path, rows[i].pdb, rows[i].names, &index, &fault), rows[i].want);
        symbol_index_close(index);
    }
    pdb_world_close(&world);
    arena_free(&keep);
}

static struct symbol_index *open_written(const uint8_t *data, size_t bytes,
                                         const struct pdb_world *world)
{
    char path[800];
    struct symbol_index *index;
    struct fault fault = FAULT_INIT;
    (void)snprintf(path, sizeof path, "%s/changed", test_scratch());
    test_write(path, data, bytes);
    (void)symbol_index_open(path, &world->map, NAMES_SHORT, &index, &fault);
    return index;
}

TEST(damage_is_noticed)
{
    struct arena keep;
    struct pdb_world world;
    const char *path;
    size_t bytes;
    arena_init(&keep, 0);
    uint8_t *data = small_index(&world, &keep, &path, &bytes);
    for (size_t i = 0; i < bytes; i += 7) {
        data[i] ^= 0x10;
        CHECK(open_written(data, bytes, &world) == NULL);
        data[i] ^= 0x10;
    }
    for (size_t i = 0; i < bytes; i += 31)
        CHECK(open_written(data, i, &world) == NULL);
    pdb_world_close(&world);
    arena_free(&keep);
}

static void use_forged(const uint8_t *data, size_t bytes, const struct pdb_world *world)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    uint8_t *copy = test_copy(data, bytes);
    uint32_t first;
    uint64_t end;

    if (bytes >= INDEX_HEADER_BYTES) {
        store_u64(copy + HEADER_BODY_SUM,
                  index_sum(copy + INDEX_HEADER_BYTES, bytes - INDEX_HEADER_BYTES));
        store_u64(copy + HEADER_SUM, index_sum(copy, HEADER_SUM));
    }
    struct symbol_index *index = open_written(copy, bytes, world);
    if (index != NULL) {
        symbol_index_range(index, &first, &end);
        for (uint32_t i = 0; i < BATCH; i++) {
            const uint32_t rva =
                first + (uint32_t)((end - first) * i / (BATCH - 1)); /* the last is past the end */
            const uint32_t count = symbol_index_lookup(index, rva, frames);
            for (uint32_t k = 0; k < count; k++)
                CHECK(symbols_from_name(frames[k].from) != NULL);
        }
        symbol_index_close(index);
    }
    free(copy);
}

/* A program that can write to the cache can also forge matching checksums. */
TEST(forged_indexes_do_no_harm)
{
    struct arena keep;
    struct pdb_world world;
    const char *path;
    size_t bytes;
    arena_init(&keep, 0);
    static const uint8_t changes[] = {0xff, 0x80, 0x01};
    uint8_t *data = small_index(&world, &keep, &path, &bytes);
    for (size_t i = 0; i < bytes; i++) {
        data[i] ^= changes[i % COUNT_OF(changes)];
        use_forged(data, bytes, &world);
        data[i] ^= changes[i % COUNT_OF(changes)];
        if (i % 31 == 0)
            use_forged(data, i, &world);
    }
    pdb_world_close(&world);
    arena_free(&keep);
}

/* The three functions of the worked example at the heads of index_write.c and index_pack.c. */
static void write_example(const char *path)
{
    const struct symbol_index_key key = {.file_bytes = 1, .names = NAMES_SHORT, .is_image = true};
    struct symbol_index_cost cost = {0};
    struct fault fault = FAULT_INIT;
    struct piece_worker w;
    REQUIRE(index_worker_open_empty(&w));
    const uint32_t main_name = index_text(&w, "main"), main_file = index_file_text(&w, "main.rs");
    const uint32_t main = index_root(&w, main_name, main_file, SYMBOLS_DWARF, 0x1000, 0);
    const uint32_t helper_name = index_text(&w, "helper");
    const uint32_t helper =
        index_inlined(&w, main, helper_name, index_file_text(&w, "util.rs"), 12);
    const uint32_t worker =
        index_root(&w, index_text(&w, "worker"), main_file, SYMBOLS_DWARF, 0x1080, 0);
    index_claim(&w, 0x1000);
    index_piece(&w, 0x1000, main, 10);
    index_piece(&w, 0x1010, main, 12);
    index_piece(&w, 0x1018, helper, 3);
    index_piece(&w, 0x1020, main, 13);
    index_piece(&w, 0x1080, worker, 20);
    REQUIRE(!w.failed);
    REQUIRE(index_write_pieces(&w, &key, 0x1000, 0x1100, path, &cost, &fault) == ERR_NONE);
    index_worker_close(&w);
}

/* The bytes that the heads of index_pack.c and index_write.c state. */
TEST(the_example_of_an_index_has_its_bytes)
{
    static const uint8_t blob[] = {
        0x18, 0, 0x20, 0, 0, 0, 0x2f, 0, 0x23, 0, 0,    0,    0,    0,    0, 0, 0,
        0,    0, 0,    0, 0, 0, 0,    3, 0,    0, 0x82, 0,    0,    1,    1, 1, 0,
        0,    0, 0,    0, 0, 0, 0,    0, 0,    0, 0x1c, 0x29, 0xa0, 0x14, 0, 0, 0,
    };
    static const char strings[] = "\0main\0main.rs\0helper\0util.rs\0worker";
    static const uint8_t files[] = {6, 0, 0, 0, 0x15, 0, 0, 0};
    static const uint8_t groups[] = {0, 0, 0, 0, 0x20, 0, 0, 0};
    static const uint8_t widths[] = {2, 23, 2, 5};
    static const uint8_t slots[96 * 4] = {[32 * 4] = 0x0c,
                                          0,
                                          0,
                                          0x0a,
                                          0,
                                          0x10,
                                          0,
                                          0,
                                          0x32,
                                          0,
                                          0,
                                          0x74,
                                          0x0c,
                                          0,
                                          0,
                                          0xea,
                                          0x80,
                                          0x10,
                                          0,
                                          0};
    static const struct {
        const char *name;
        enum index_section section;
        const void *want;
        uint64_t bytes;
    } rows[] = {
        {"groups", INDEX_GROUPS, groups, sizeof groups},
        {"blob", INDEX_BLOB, blob, sizeof blob},
        {"scopes", INDEX_SCOPES, slots, sizeof slots},
        {"files", INDEX_FILES, files, sizeof files},
        {"strings", INDEX_STRINGS, strings, sizeof strings},
    };
    struct arena keep;
    size_t bytes;
    arena_init(&keep, 0);
    const char *path = path_join(&keep, test_scratch(), "example");
    write_example(path);
    const uint8_t *data = test_read(path, &bytes);
    CHECK(memcmp(data + HEADER_SLOT_WIDTHS, widths, sizeof widths) == 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t *head = data + HEADER_SECTIONS + 16 * (size_t)rows[i].section;
        test_row(rows[i].name);
        CHECK_EQ(load_u64(head + 8), rows[i].bytes);
        CHECK(memcmp(data + load_u64(head), rows[i].want, (size_t)rows[i].bytes) == 0);
    }
    arena_free(&keep);
}

/* The lookup that the head of symbol_index.c follows. */
TEST(the_example_of_an_index_has_its_frames)
{
    static struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const struct symbol_index_key key = {.file_bytes = 1, .names = NAMES_SHORT, .is_image = true};
    struct symbol_index *index = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    const char *path = path_join(&keep, test_scratch(), "example");
    write_example(path);
    REQUIRE(symbol_index_open_key(path, &key, &index, &fault) == ERR_NONE);
    REQUIRE(symbol_index_lookup(index, 0x101a, frames) == 2);
    CHECK_STR(frames[0].function, "helper");
    CHECK_STR(frames[0].file, "util.rs");
    CHECK_EQ(frames[0].line, 3);
    CHECK(frames[0].inlined);
    CHECK_STR(frames[1].function, "main");
    CHECK_STR(frames[1].file, "main.rs");
    CHECK_EQ(frames[1].line, 12);
    CHECK_EQ(frames[1].distance, 26);
    CHECK(!frames[1].inlined && frames[1].from == SYMBOLS_DWARF);
    symbol_index_close(index);
    arena_free(&keep);
}
