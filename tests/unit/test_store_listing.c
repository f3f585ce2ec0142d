/* What a symbol folder holds is read from the cache where nothing changed, and never where
 * something did. */
#include <stdio.h>
#include <string.h>
#include <utime.h>

#include "base/files.h"
#include "symbol/store_find.h"
#include "symbol/store_listing.h"
#include "test.h"

enum { FILES = 3 };

static const char *const pdb = "g16-age-trap/Native_x64_VS2022_EnabledExplicitly.pdb";
#define PDB_ID "3F1874FD0B8040EA9EAABAFD6A98BF732"

static char root[512], cache[512];

static const char *path_of(const char *name)
{
    static char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

/* Writes BYTES to the file, with a time that is long ago. */
static void put(const char *name, const void *data, size_t bytes, int64_t seconds)
{
    struct fault fault = FAULT_INIT;
    struct utimbuf times = {(time_t)seconds, (time_t)seconds};
    REQUIRE(file_write(path_of(name), data, bytes, &fault) == ERR_NONE);
    REQUIRE(utime(path_of(name), &times) == 0);
}

/* The identities of the files, in their order, "-" where there is none; USED: a cache. */
static const char *listed(bool used)
{
    static char out[400];
    const char *roots[] = {root};
    const struct symbol_store_options options = {
        .roots = roots, .root_count = 1, .cache = used ? cache : "none"};
    struct symbol_store *store = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
    store->listed_least = 1;
    store_list_files(store);
    out[0] = '\0';
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct store_file *file = &store->files[i];
        const size_t at = strlen(out);
        (void)snprintf(out + at, sizeof out - at, "%s%s:%.4s", i > 0 ? " " : "",
                       path_base(file->path), file->id.debug_id[0] ? file->id.debug_id : "-");
    }
    symbol_store_close(store);
    return out;
}

static char *data;
static size_t data_bytes;
static struct arena keep;

static void begin(void)
{
    struct fault fault = FAULT_INIT;
    (void)snprintf(root, sizeof root, "%s/root", test_scratch());
    (void)snprintf(cache, sizeof cache, "%s/cache", test_scratch());
    REQUIRE(path_remove(root, &fault) == ERR_NONE && path_remove(cache, &fault) == ERR_NONE);
    REQUIRE(folder_make(root, &fault) == ERR_NONE);
    arena_init(&keep, 0);
    REQUIRE(file_read(test_fixture(pdb), SIZE_MAX, &keep, &data, &data_bytes, &fault) == ERR_NONE);
    put("a.pdb", data, data_bytes, 1000000000);
    put("b.pdb", data, data_bytes, 1000000000);
    put("c.txt", "no symbols", 10, 1000000000);
}

/* The only file of the cache. */
static const char *cached(void)
{
    struct fault fault = FAULT_INIT;
    const char **names;
    size_t count = 0;
    const char *folder = arena_printf(&keep, "%s/index", cache);
    if (folder_list(folder, &keep, &names, &count, &fault) != ERR_NONE || count == 0)
        return NULL;
    REQUIRE(count == 1);
    return path_join(&keep, folder, names[0]);
}

#define BOTH "a.pdb:3F18 b.pdb:3F18"
#ifdef _WIN32 /* which says the number of a file only after it was opened */
#define REPLACED BOTH
#else
#define REPLACED "b.pdb:3F18"
#endif

TEST(only_files_that_changed_are_opened_again)
{
    static const struct {
        const char *name, *file;
        const char *text; /* NULL: zeros, as many as before */
        int64_t seconds;  /* its time; 0: it is removed */
        const char *want;
    } rows[] = {
        {"another of the same size and time", "a.pdb", NULL, 1000000000, REPLACED},
        {"another time", "a.pdb", NULL, 1000000001, "b.pdb:3F18"},
        {"another size", "a.pdb", "no", 1000000000, "b.pdb:3F18"},
        {"it is gone", "a.pdb", NULL, 0, "b.pdb:3F18"},
        {"a file of no kind, as it was", "c.txt", "no symbols", 1000000000, BOTH},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        begin();
        CHECK_STR(listed(true), BOTH);
        REQUIRE(cached() != NULL);
        CHECK_STR(listed(true), BOTH);
        if (rows[i].seconds == 0) {
            REQUIRE(path_remove(path_of(rows[i].file), &fault) == ERR_NONE);
        } else if (rows[i].text != NULL) {
            put(rows[i].file, rows[i].text, strlen(rows[i].text), rows[i].seconds);
        } else {
            memset(data, 0, data_bytes);
            put(rows[i].file, data, data_bytes, rows[i].seconds);
        }
        CHECK_STR(listed(true), rows[i].want);
        CHECK_STR(listed(true), rows[i].want); /* and so says the listing that this wrote */
        arena_free(&keep);
    }
}

/* What the listing says counts, so nothing was opened. */
TEST(files_that_did_not_change_are_not_opened)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    uint32_t altered = 0;
    begin();
    CHECK_STR(listed(true), BOTH);
    const char *path = cached();
    REQUIRE(file_read(path, SIZE_MAX, &keep, &text, &bytes, &fault) == ERR_NONE);
    for (size_t i = 0; i + 4 <= bytes; i++)
        if (memcmp(text + i, "3F18", 4) == 0) {
            text[i] = '4';
            altered++;
        }
    CHECK_EQ(altered, 2);
    REQUIRE(file_write(path, text, bytes, &fault) == ERR_NONE);
    CHECK_STR(listed(true), "a.pdb:4F18 b.pdb:4F18");
    arena_free(&keep);
}

TEST(a_new_file_is_seen_and_a_fresh_one_is_not_trusted)
{
    begin();
    CHECK_STR(listed(true), BOTH);
    put("aa.pdb", data, data_bytes, (int64_t)(clock_wall_ns() / 1000000000));
    CHECK_STR(listed(true), "a.pdb:3F18 aa.pdb:3F18 b.pdb:3F18");
    /* within the same second, and of the same size */
    const int64_t now = (int64_t)(clock_wall_ns() / 1000000000);
    put("aa.pdb", data, data_bytes, now);
    CHECK_STR(listed(true), "a.pdb:3F18 aa.pdb:3F18 b.pdb:3F18");
    memset(data, 0, data_bytes);
    put("aa.pdb", data, data_bytes, now);
    CHECK_STR(listed(true), BOTH);
    arena_free(&keep);
}

TEST(without_a_cache_nothing_is_kept)
{
    begin();
    CHECK_STR(listed(false), BOTH);
    CHECK(cached() == NULL);
    memset(data, 0, data_bytes);
    put("a.pdb", data, data_bytes, 1000000000);
    CHECK_STR(listed(false), "b.pdb:3F18");
    arena_free(&keep);
}

TEST(more_files_than_there_is_room_for_are_said)
{
    static const struct {
        const char *name;
        uint32_t most, count;
        bool cut;
    } rows[] = {{"room for one", 1, 1, true}, {"room for all", 2, 2, false}};
    for (size_t i = 0; i < COUNT_OF(rows) * 2; i++) { /* read, and then from the cache */
        const char *roots[] = {root};
        const struct symbol_store_options options = {
            .roots = roots, .root_count = 1, .cache = cache};
        struct symbol_store *store = NULL;
        struct fault fault = FAULT_INIT;
        test_row(rows[i / 2].name);
        if (i % 2 == 0)
            begin();
        REQUIRE(symbol_store_open(&options, &store, &fault) == ERR_NONE);
        store->listed_least = 1;
        store->files_most = rows[i / 2].most;
        store_list_files(store);
        CHECK_EQ(store->file_count, rows[i / 2].count);
        CHECK_EQ(store->files_cut, rows[i / 2].cut);
        CHECK(cached() != NULL);
        symbol_store_close(store);
        if (i % 2 == 1)
            arena_free(&keep);
    }
}

static void list_damaged(const uint8_t *bytes, size_t count, void *context)
{
    struct fault fault = FAULT_INIT;
    const char *path = context;
    REQUIRE(file_write(path, bytes, count, &fault) == ERR_NONE);
    const char *got = listed(true);
    if (strlen(got) > 200)
        test_row(got);
}

static void list_cut(const uint8_t *bytes, size_t count, void *context)
{
    list_damaged(bytes, count, context);
    CHECK_STR(listed(true), BOTH);
}

TEST(a_damaged_listing_is_ignored_and_written_again)
{
    struct fault fault = FAULT_INIT;
    char *good = NULL;
    size_t bytes = 0;
    begin();
    CHECK_STR(listed(true), BOTH);
    char *path = arena_string(&keep, cached());
    REQUIRE(path != NULL);
    REQUIRE(file_read(path, SIZE_MAX, &keep, &good, &bytes, &fault) == ERR_NONE);
    test_truncations((const uint8_t *)good, bytes, list_cut, path);
    test_flips((const uint8_t *)good, bytes, list_damaged, path);
    arena_free(&keep);
}

/* By the PDB that the image states, or by the module's name with .pdb in place of its extension or
 * after it. */
TEST(a_pdb_is_of_a_module_by_its_name)
{
    static const struct {
        const char *name, *pdb, *module, *stated;
        bool fits;
    } rows[] = {
        {"its extension replaced", "x/app.pdb", "app.exe", NULL, true},
        {"appended", "x/app.exe.pdb", "app.exe", NULL, true},
        {"in other letters", "x/APP.pdb", "app.exe", NULL, true},
        {"stated", "x/other.pdb", "app.exe", "C:\\build\\Other.pdb", true},
        {"another", "x/other.pdb", "app.exe", NULL, false},
        {"one letter", "x/a.pdb", "a.exe", NULL, true},
        {"one letter, another", "x/b.pdb", "a.exe", NULL, false},
        {"a beginning of the name", "x/ap.pdb", "app.exe", NULL, false},
        {"no name", "x/.pdb", "app.exe", NULL, false},
        {"neither has a name", "x/.pdb", ".exe", NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct module module = {.name = rows[i].module, .pdb_name = rows[i].stated};
        test_row(rows[i].name);
        CHECK_EQ(store_pdb_name_fits(rows[i].pdb, &module), rows[i].fits);
    }
}
