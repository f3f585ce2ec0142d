/* The user's cache: where it is, which keys it takes, and what it deletes. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/cache.h"
#include "base/files.h"
#include "base/thread.h"

static struct cache open_cache(struct arena *keep, uint64_t limit_bytes)
{
    struct cache cache;
    cache_locate(test_scratch(), keep, &cache);
    cache.limit_bytes = limit_bytes;
    return cache;
}

static enum status put(const struct cache *cache, enum cache_kind kind, const char *key,
                       size_t bytes, struct arena *keep)
{
    static const char zeroes[4096];
    struct fault fault = FAULT_INIT;
    const char *partial = cache_partial(cache, keep);
    REQUIRE(partial != NULL);
    test_write(partial, zeroes, bytes);
    (void)cache_publish(cache, partial, kind, key, &fault);
    CHECK(!path_is_file(partial));
    return fault.code;
}

/* Makes KEY the most recently used. Files written within one tick of the file system's clock have
 * no order, so this waits for the next tick. */
static void use(const struct cache *cache, const char *key, uint64_t *latest, struct arena *keep)
{
    const char *path = cache_path(cache, CACHE_INDEX, key, keep);
    uint64_t bytes, used;
    do {
        thread_sleep_ms(1);
        path_touch(path);
        REQUIRE(path_stat(path, &bytes, &used));
    } while (used <= *latest);
    *latest = used;
}

static const struct {
    const char *name, *key;
    bool good;
} keys[] = {
    {"a file name", "app.pdb.1234.short.7.twindex", true},
    {"folders, as on a symbol server", "app.pdb/0123ABCD1/app.pdb", true},
    {"a name that begins with dots", "...a", true},
    {"nothing", "", false},
    {"an absolute path", "/etc/passwd", false},
    {"the folder above", "../index/a", false},
    {"the folder above, in the middle", "a/../../b", false},
    {"the folder above, at the end", "a/..", false},
    {"this folder", "./a", false},
    {"two slashes", "a//b", false},
    {"a slash at the end", "a/", false},
    {"a backslash", "a\\..\\b", false},
    {"a drive", "c:a", false},
};

TEST(keys_stay_inside_the_folder)
{
    struct arena keep;
    arena_init(&keep, 0);
    const struct cache cache = open_cache(&keep, UINT64_MAX);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        test_row(keys[i].name);
        CHECK_EQ(cache_path(&cache, CACHE_DOWNLOAD, keys[i].key, &keep) != NULL, keys[i].good);
        CHECK_EQ(put(&cache, CACHE_DOWNLOAD, keys[i].key, 1, &keep),
                 keys[i].good ? ERR_NONE : ERR_USAGE);
    }
    arena_free(&keep);
}

TEST(files_in_folders_of_folders_are_listed)
{
    static const char *const deep[] = {"1", "1/2", "1/2/3/4", "1/2/3/4/5/6/7/8"};
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct cache_item *items = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < COUNT_OF(deep); i++) {
        test_row(deep[i]);
        arena_init(&keep, 0);
        const struct cache cache = open_cache(&keep, UINT64_MAX);
        REQUIRE(cache_trim(&cache, 0, NULL, NULL, NULL, &fault) == ERR_NONE);
        REQUIRE(path_remove(path_join(&keep, cache.folder, "download"), &fault) == ERR_NONE);
        CHECK_EQ(put(&cache, CACHE_DOWNLOAD, deep[i], 10, &keep), ERR_NONE);
        REQUIRE(cache_list(&cache, &keep, &items, &count, &fault) == ERR_NONE);
        if (CHECK_EQ(count, 1))
            CHECK_STR(items[0].key, deep[i]);
        arena_free(&keep);
    }
}

TEST(the_least_recently_used_go_first)
{
    struct fault fault = FAULT_INIT;
    struct cache_item *items;
    struct arena keep;
    uint64_t latest = 0;
    uint32_t count;

    arena_init(&keep, 0);
    const struct cache cache = open_cache(&keep, 300);
    CHECK_EQ(put(&cache, CACHE_INDEX, "a", 100, &keep), ERR_NONE);
    CHECK_EQ(put(&cache, CACHE_INDEX, "b", 100, &keep), ERR_NONE);
    CHECK_EQ(put(&cache, CACHE_INDEX, "c", 100, &keep), ERR_NONE);
    use(&cache, "b", &latest, &keep);
    use(&cache, "c", &latest, &keep);
    use(&cache, "a", &latest, &keep);
    CHECK_EQ(put(&cache, CACHE_DOWNLOAD, "d/1/d", 150, &keep), ERR_NONE);
    REQUIRE(cache_list(&cache, &keep, &items, &count, &fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_STR(items[0].key, "a");
    CHECK_EQ(items[0].bytes, 100);
    CHECK_STR(items[1].key, "d/1/d");
    CHECK_EQ(items[1].kind, CACHE_DOWNLOAD);

    test_row("a file over the limit stays alone");
    CHECK_EQ(put(&cache, CACHE_INDEX, "large", 400, &keep), ERR_NONE);
    REQUIRE(cache_list(&cache, &keep, &items, &count, &fault) == ERR_NONE);
    REQUIRE(count == 1);
    CHECK_STR(items[0].key, "large");

    test_row("clear");
    uint64_t bytes;
    CHECK_EQ(cache_trim(&cache, 0, NULL, &count, &bytes, &fault), ERR_NONE);
    CHECK_EQ(count, 1);
    CHECK_EQ(bytes, 400);
    arena_free(&keep);
}

TEST(a_used_file_is_touched_once_an_hour)
{
    struct arena keep;
    uint64_t bytes, before, after;

    arena_init(&keep, 0);
    const struct cache cache = open_cache(&keep, UINT64_MAX);
    REQUIRE(put(&cache, CACHE_INDEX, "a", 1, &keep) == ERR_NONE);
    const char *path = cache_path(&cache, CACHE_INDEX, "a", &keep);
    REQUIRE(path_stat(path, &bytes, &before));
    thread_sleep_ms(20);
    cache_used(path, before);
    REQUIRE(path_stat(path, &bytes, &after));
    CHECK_EQ(after, before);
    cache_used(path, before - UINT64_C(3700) * 1000000000);
    REQUIRE(path_stat(path, &bytes, &after));
    CHECK(after > before);
    arena_free(&keep);
}

TEST(without_a_folder_nothing_is_kept)
{
    static const char *const words[] = {"", "none"};
    struct fault fault = FAULT_INIT;
    struct cache_item *items;
    struct cache cache;
    struct arena keep;
    uint32_t count;

    arena_init(&keep, 0);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        test_row(words[i]);
        cache_locate(words[i], &keep, &cache);
        CHECK(cache.folder == NULL);
        CHECK(cache_path(&cache, CACHE_INDEX, "a", &keep) == NULL);
        CHECK(cache_partial(&cache, &keep) == NULL);
        CHECK_EQ(cache_list(&cache, &keep, &items, &count, &fault), ERR_NONE);
        CHECK_EQ(count, 0);
    }
    arena_free(&keep);
}

/* What `twinstack cache --help` states: XDG_CACHE_HOME, LOCALAPPDATA, HOME, the first that has a
 * text. */
TEST(the_folder_is_the_users_own)
{
    static const struct {
        const char *name, *given, *own, *xdg, *local, *home, *want; /* NULL: not set; no folder */
    } rows[] = {
        {"the one that is given", "/g", "/o", "/x", "/l", "/h", "/g"},
        {"the one of ours", NULL, "/o", "/x", "/l", "/h", "/o"},
        {"none is wanted", NULL, "none", "/x", "/l", "/h", NULL},
        {"of XDG", NULL, NULL, "/x", "/l", "/h", "/x/twinstack"},
        {"of Windows", NULL, NULL, "", "/l", "/h", "/l/twinstack"},
        {"of the user", NULL, NULL, "", "", "/h", "/h/.cache/twinstack"},
        {"of no user", NULL, NULL, NULL, NULL, "", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cache cache;
        struct arena keep;
        test_row(rows[i].name);
        test_environment("TWINSTACK_CACHE", rows[i].own);
        test_environment("XDG_CACHE_HOME", rows[i].xdg);
        test_environment("LOCALAPPDATA", rows[i].local);
        test_environment("HOME", rows[i].home);
        arena_init(&keep, 0);
        cache_locate(rows[i].given, &keep, &cache);
        CHECK_STR(cache.folder, rows[i].want);
        arena_free(&keep);
    }
}

TEST(the_limit_is_in_mebibytes)
{
    static const struct {
        const char *text; /* NULL: not set */
        uint64_t bytes;
    } rows[] = {
        {NULL, UINT64_C(8192) << 20},
        {"", UINT64_C(8192) << 20},
        {"3", 3 << 20},
        {"0", 0},
        {"many", UINT64_C(8192) << 20},
        {"17592186044415", UINT64_C(17592186044415) << 20}, /* 2 ^ 44 - 1 */
        {"17592186044416", UINT64_C(8192) << 20},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cache cache;
        struct arena keep;
        test_row(rows[i].text);
        test_environment("TWINSTACK_CACHE_LIMIT", rows[i].text);
        arena_init(&keep, 0);
        cache_locate("none", &keep, &cache);
        CHECK_EQ(cache.limit_bytes, rows[i].bytes);
        arena_free(&keep);
    }
}

enum { WRITERS = 4, ROUNDS = 50 };

static void publish_often(void *context)
{
    const struct cache *cache = context;
    struct arena keep;

    arena_init(&keep, 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct fault fault = FAULT_INIT;
        char text[64];
        const char *partial = cache_partial(cache, &keep);
        (void)snprintf(text, sizeof text, "%0*d", 50, i);
        if (partial == NULL || file_write(partial, text, 50, &fault) != ERR_NONE)
            continue;
        (void)cache_publish(cache, partial, CACHE_INDEX, i % 2 == 0 ? "even" : "odd", &fault);
    }
    arena_free(&keep);
}

TEST(writers_side_by_side_leave_whole_files)
{
    struct thread *threads[WRITERS];
    struct fault fault = FAULT_INIT;
    struct cache_item *items;
    struct arena keep;
    uint32_t count;

    arena_init(&keep, 0);
    struct cache cache = open_cache(&keep, 60); /* there is room for only one of two files */
    for (int i = 0; i < WRITERS; i++)
        REQUIRE((threads[i] = thread_start(publish_often, &cache)) != NULL);
    for (int i = 0; i < WRITERS; i++)
        thread_join(threads[i]);
    REQUIRE(cache_list(&cache, &keep, &items, &count, &fault) == ERR_NONE);
    CHECK(count >= 1 && count <= 2);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ(items[i].bytes, 50);
    arena_free(&keep);
}
