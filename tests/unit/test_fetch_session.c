/* What a session of fetch.h remembers and says: servers, layouts, missing files, parts, locks,
 * events; and which of several servers is asked. Ranges: RFC 9110, 13.1.5 and 14. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/hash.h"
#include "fetch/fetch.h"
#include "fetch/fetch_cache.h"
#include "file_server.h"
#include "test.h"

#define KEY "app.pdb/ID1/app.pdb"
#define KEY2 "app.pdb/ID2/app.pdb"
#define GOOD "the right file"
#define TIERS "index2.txt"

enum { ROUTES_MAX = 5, GOOD_BYTES = sizeof GOOD - 1 };

/* What is wrong with a file that is not GOOD, by CONTEXT. */
struct damage {
    enum status code;
    const char *what, *hint;
};

static const struct damage other_build = {ERR_MISMATCH, "another file", "not said"};

static enum status check(const void *context, const char *path, struct fault *fault)
{
    const struct damage *damage = context;
    size_t bytes;
    const char *text = (const char *)test_read(path, &bytes);
    if (bytes == GOOD_BYTES && memcmp(text, GOOD, bytes) == 0)
        return ERR_NONE;
    return fault_set_lasting(fault, damage->code, FAULT_NO_OFFSET, damage->what, damage->hint);
}

static struct fetch_file file_of(const char *key)
{
    struct fetch_file file = {.key_count = 1, .check = check, .context = &other_build};
    (void)snprintf(file.place, sizeof file.place, "%s", key);
    (void)snprintf(file.keys[0].path, sizeof file.keys[0].path, "%s", key);
    return file;
}

/* A server that asks to wait for longer than there is time is asked once, and the limit is one that
 * a busy machine keeps. */
enum { LONG_MS = 20000 };
#define BUSY "Retry-After: 60\r\n"

static struct fetch *open_fetch(struct fetch_options options, const char *cache)
{
    struct fault fault = FAULT_INIT;
    struct fetch *fetch = NULL;
    options.cache = cache;
    REQUIRE(fetch_open(&options, &fetch, &fault) == ERR_NONE);
    return fetch;
}

/* Servers of URLS, of which the second may be NULL, as one chain. */
static void add(struct fetch *fetch, const char *first, const char *second, const char *cache)
{
    struct fault fault = FAULT_INIT;
    const char *folder = NULL;
    const struct symbol_path_element chain = {.chain = true,
                                              .cache = cache,
                                              .urls = {first, second},
                                              .url_count = second != NULL ? 2 : 1};
    const enum status added = fetch_add(fetch, &chain, &folder, &fault);
    if (added == ERR_UNSUPPORTED)
        SKIP("libcurl");
    REQUIRE(added == ERR_NONE);
}

/* FILE, asked of SERVER in a session of its own. */
static struct fetch_file get(const struct file_server *server, struct fetch_options options,
                             const char *cache, struct fetch_file file)
{
    struct fetch *fetch = open_fetch(options, cache);
    add(fetch, server->url, NULL, NULL);
    fetch_files(fetch, &file, 1);
    fetch_close(fetch);
    return file;
}

static const char *cache_folder(size_t number)
{
    static char folder[2][700];
    char *out = folder[number % 2];
    (void)snprintf(out, sizeof folder[0], "%s/cache%zu", test_scratch(), number);
    return out;
}

/* POSIX systems make the folder above with it. */
static void put(const char *path, const char *text)
{
    struct fault fault = FAULT_INIT;
    char folder[800];
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(path_base(path) - path - 1), path);
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    test_write(path, text, strlen(text));
}

static void check_text(const char *path, const char *want)
{
    size_t bytes;
    REQUIRE(path_is_file(path));
    const uint8_t *data = test_read(path, &bytes);
    CHECK_EQ(bytes, strlen(want));
    if (bytes == strlen(want))
        CHECK_MEM(data, want, bytes);
}

#define TIERED TIERS, ""

TEST(what_a_server_said_is_remembered)
{
    static const struct {
        const char *name;
        struct file_route routes[ROUTES_MAX];
        const char *status, *lines;
        bool same_session, same_file;
        struct fetch_options options;
        enum fetch_result first, second;
        const char *asked;
    } rows[] = {
        {"it has one tier",
         {{NULL, NULL}},
         NULL,
         NULL,
         true,
         false,
         {.limit_ms = 0},
         FETCH_ABSENT,
         FETCH_ABSENT,
         KEY " " TIERS " " KEY2 " "},
        {"also in the next session",
         {{NULL, NULL}},
         NULL,
         NULL,
         false,
         false,
         {.limit_ms = 0},
         FETCH_ABSENT,
         FETCH_ABSENT,
         KEY " " TIERS " " KEY2 " "},
        {"it has two tiers",
         {{TIERED}, {"ap/" KEY, GOOD}, {"ap/" KEY2, GOOD}},
         NULL,
         NULL,
         true,
         false,
         {.limit_ms = 0},
         FETCH_LOADED,
         FETCH_LOADED,
         KEY " " TIERS " ap/" KEY " ap/" KEY2 " "},
        {"the next session asks",
         {{TIERED}, {"ap/" KEY, GOOD}, {"ap/" KEY2, GOOD}},
         NULL,
         NULL,
         false,
         false,
         {.limit_ms = 0},
         FETCH_LOADED,
         FETCH_LOADED,
         KEY " " TIERS " ap/" KEY " " KEY2 " " TIERS " ap/" KEY2 " "},
        {"two tiers, and the file is in none",
         {{TIERED}},
         NULL,
         NULL,
         true,
         false,
         {.limit_ms = 0},
         FETCH_ABSENT,
         FETCH_ABSENT,
         KEY " " TIERS " ap/" KEY " ap/" KEY2 " "},
        {"absent an hour ago",
         {{NULL, NULL}},
         NULL,
         NULL,
         true,
         true,
         {.missing_ms = 1},
         FETCH_ABSENT,
         FETCH_ABSENT,
         KEY " " TIERS " " KEY " "},
        {"and in the next session",
         {{NULL, NULL}},
         NULL,
         NULL,
         false,
         true,
         {.missing_ms = 1},
         FETCH_ABSENT,
         FETCH_ABSENT,
         KEY " " TIERS " " KEY " " TIERS " "},
        {"refused is not absent",
         {{KEY, NULL}},
         "403 Forbidden",
         NULL,
         true,
         true,
         {.limit_ms = 0},
         FETCH_REFUSED,
         FETCH_REFUSED,
         KEY " " KEY " "},
        {"who does not answer is not asked again",
         {{KEY, NULL}, {KEY2, GOOD}},
         NULL,
         BUSY,
         true,
         false,
         {.limit_ms = LONG_MS},
         FETCH_UNREACHABLE,
         FETCH_UNREACHABLE,
         KEY " "},
        {"but in the next session",
         {{KEY, NULL}, {KEY2, GOOD}},
         NULL,
         BUSY,
         false,
         false,
         {.limit_ms = LONG_MS},
         FETCH_UNREACHABLE,
         FETCH_LOADED,
         KEY " " KEY2 " "},
        {"it asks to wait for longer than there is time",
         {{KEY, NULL}},
         NULL,
         "Retry-After: 2\r\n",
         true,
         true,
         {.limit_ms = 1500},
         FETCH_UNREACHABLE,
         FETCH_UNREACHABLE,
         KEY " "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct file_server server = {
            .routes = rows[i].routes, .status = rows[i].status, .lines = rows[i].lines};
        const char *cache = cache_folder(i);
        test_row(rows[i].name);
        file_serve(&server);
        struct fetch *fetch = open_fetch(rows[i].options, cache);
        add(fetch, server.url, NULL, NULL);
        struct fetch_file first = file_of(KEY), second = file_of(rows[i].same_file ? KEY : KEY2);
        fetch_files(fetch, &first, 1);
        thread_sleep_ms(20); /* a file system counts in jiffies */
        if (!rows[i].same_session) {
            fetch_close(fetch);
            fetch = open_fetch(rows[i].options, cache);
            add(fetch, server.url, NULL, NULL);
        }
        fetch_files(fetch, &second, 1);
        CHECK_EQ(first.result, rows[i].first);
        CHECK_EQ(second.result, rows[i].second);
        fetch_close(fetch);
        CHECK_STR(file_serve_end(&server), rows[i].asked);
    }
}

/* fetch.h: the caches of all chains first, then the servers in their order, up to the one that has
 * the file. */
TEST(servers_are_asked_in_their_order)
{
    static const struct {
        const char *name, *first, *second; /* the file that each has; NULL: none */
        bool one_chain;
        const char *cached; /* what the second cache has */
        enum fetch_result want;
        size_t cache;
        const char *asked[2];
    } rows[] = {
        {"the first has it", GOOD, GOOD, false, NULL, FETCH_LOADED, 0, {KEY " ", ""}},
        {"the second has it",
         NULL,
         GOOD,
         false,
         NULL,
         FETCH_LOADED,
         1,
         {KEY " " TIERS " ", KEY " "}},
        {"of one chain", NULL, GOOD, true, NULL, FETCH_LOADED, 0, {KEY " " TIERS " ", KEY " "}},
        {"the first of one chain", GOOD, GOOD, true, NULL, FETCH_LOADED, 0, {KEY " ", ""}},
        {"none has it",
         NULL,
         NULL,
         false,
         NULL,
         FETCH_ABSENT,
         0,
         {KEY " " TIERS " ", KEY " " TIERS " "}},
        {"the first has another file",
         "wrong",
         GOOD,
         false,
         NULL,
         FETCH_LOADED,
         1,
         {KEY " ", KEY " "}},
        {"only the first, another file",
         "wrong",
         NULL,
         false,
         NULL,
         FETCH_WRONG,
         0,
         {KEY " ", KEY " " TIERS " "}},
        {"the second cache has it", GOOD, GOOD, false, GOOD, FETCH_CACHED, 1, {"", ""}},
        {"the second cache has another file",
         GOOD,
         GOOD,
         false,
         "wrong",
         FETCH_LOADED,
         0,
         {KEY " ", ""}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct file_route first[2] = {{rows[i].first != NULL ? KEY : NULL, rows[i].first}};
        const struct file_route second[2] = {{rows[i].second != NULL ? KEY : NULL, rows[i].second}};
        struct file_server servers[2] = {{.routes = first}, {.routes = second}};
        const char *caches[2] = {cache_folder(2 * i), cache_folder(2 * i + 1)};
        char path[800];
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/" KEY, caches[1]);
        if (rows[i].cached != NULL)
            put(path, rows[i].cached);
        file_serve(&servers[0]);
        file_serve(&servers[1]);
        struct fetch *fetch = open_fetch((struct fetch_options){0}, NULL);
        add(fetch, servers[0].url, rows[i].one_chain ? servers[1].url : NULL, caches[0]);
        if (!rows[i].one_chain)
            add(fetch, servers[1].url, NULL, caches[1]);
        struct fetch_file file = file_of(KEY);
        fetch_files(fetch, &file, 1);
        fetch_close(fetch);
        CHECK_EQ(file.result, rows[i].want);
        (void)snprintf(path, sizeof path, "%s/" KEY, caches[rows[i].cache]);
        if (file.result == FETCH_LOADED || file.result == FETCH_CACHED)
            CHECK_STR(file.path, path);
        CHECK_STR(file_serve_end(&servers[0]), rows[i].asked[0]);
        CHECK_STR(file_serve_end(&servers[1]), rows[i].asked[1]);
    }
}

/* What is in a cache is used as it is, or not at all. */
TEST(a_wrong_file_of_the_cache_is_put_aside)
{
    static const struct file_route routes[] = {{NULL, NULL}};
    static const struct {
        const char *name;
        bool offline;
        struct damage damage;
        enum fetch_result want;
        const char *says; /* after the path in the cache; NULL: nothing is said */
    } rows[] = {
        {"of another build",
         true,
         {ERR_MISMATCH, "what", "hint"},
         FETCH_WRONG,
         ": it is of another build; kept as "},
        {"a hint",
         true,
         {ERR_MALFORMED, "what", "it is cut"},
         FETCH_WRONG,
         ": it is cut; kept as "},
        {"what it is",
         true,
         {ERR_MALFORMED, "a header", NULL},
         FETCH_WRONG,
         ": a header; kept as "},
        {"neither", true, {ERR_MALFORMED, NULL, NULL}, FETCH_WRONG, ": it is damaged; kept as "},
        {"no server has another", false, {ERR_MALFORMED, NULL, NULL}, FETCH_ABSENT, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct file_server server = {.routes = routes};
        const char *cache = cache_folder(i);
        char path[800], want[400];
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/" KEY, cache);
        put(path, "wrong");
        file_serve(&server);
        struct fetch_file file = file_of(KEY);
        file.context = &rows[i].damage;
        file = get(&server, (struct fetch_options){.offline = rows[i].offline}, cache, file);
        CHECK_EQ(file.result, rows[i].want);
        CHECK(!path_is_file(path));
        (void)snprintf(want, sizeof want, "wrong file from %.120s%s", path,
                       rows[i].says != NULL ? rows[i].says : "");
        if (rows[i].says != NULL) {
            CHECK_HAS(file.text, want);
            CHECK_HAS(file.path, "/.twinstack/wrong/");
            check_text(file.path, "wrong");
        } else {
            CHECK_STR(file.text, "");
        }
        (void)file_serve_end(&server);
    }
}

/* fetch.h: two processes do not download the same file; a file appears whole or not at all. */
TEST(a_cache_that_cannot_take_a_file_refuses_it)
{
    static const struct file_route routes[] = {{KEY, GOOD}, {NULL, NULL}};
    static const struct {
        const char *name, *in_the_way; /* a file below the cache; NULL: the file is locked */
        bool asked;
        const char *says;
    } rows[] = {
        {"another process loads it", NULL, false, ": another process is downloading it"},
        {"no folder for locks", ".twinstack/lock", false, ": the cache cannot be written"},
        {"no folder for the file", "app.pdb", true, KEY ": "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct file_server server = {.routes = routes};
        struct fault fault = FAULT_INIT;
        struct file_lock lock = {.handle = -1};
        const char *cache = cache_folder(i);
        char path[800];
        test_row(rows[i].name);
        file_serve(&server);
        const uint32_t limit_ms = rows[i].asked ? LONG_MS : 300; /* the lock is waited for */
        struct fetch *fetch = open_fetch((struct fetch_options){.limit_ms = limit_ms}, cache);
        add(fetch, server.url, NULL, NULL);
        if (rows[i].in_the_way == NULL) {
            REQUIRE(fetch_cache_lock(cache, KEY, 0, &lock, &fault) == ERR_NONE);
        } else {
            (void)snprintf(path, sizeof path, "%s/%s", cache, rows[i].in_the_way);
            (void)path_remove(path, &fault); /* a folder, or nothing yet */
            test_write(path, "", 0);
        }
        struct fetch_file file = file_of(KEY);
        fetch_files(fetch, &file, 1);
        CHECK_EQ(file.result, FETCH_REFUSED);
        CHECK_HAS(file.text, rows[i].says);
        if (rows[i].in_the_way == NULL)
            file_lock_release(&lock);
        fetch_close(fetch);
        CHECK_STR(file_serve_end(&server), rows[i].asked ? KEY " " : "");
    }
}

/* fetch.h: part/HASH is a download that is not finished, HASH.txt what is needed to resume it. */
static void part_paths(const char *cache, const char *url, char part[800], char note[800])
{
    char whole[200];
    (void)snprintf(whole, sizeof whole, "%s/" KEY, url);
    (void)snprintf(part, 800, "%s/.twinstack/part/%016" PRIx64, cache,
                   hash_text(HASH_START, whole));
    (void)snprintf(note, 800, "%s.txt", part);
}

TEST(a_download_that_was_cut_goes_on_in_the_next_session)
{
    static const struct file_route routes[] = {{KEY, GOOD}, {NULL, NULL}};
    static const struct {
        const char *name, *part, *of, *validator; /* OF: after the server's address in the note */
        const char *asked;
    } rows[] = {
        {"nine bytes are there", "the right", "/" KEY, "\n\"1\"", KEY "+9 "},
        {"of an older file", "the right", "/" KEY, "\n\"0\"", KEY " "},
        {"of another address", "the right", "/other", "\n\"1\"", KEY " "},
        {"without a validator", "the right", "/" KEY, "\n", KEY " "},
        {"a note that is cut", "the right", "/" KEY, "", KEY " "},
        {"no note", "the right", NULL, NULL, KEY " "},
        {"a note alone", NULL, "/" KEY, "\n\"1\"", KEY " "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct file_server server = {.routes = routes, .resumes = true};
        const char *cache = cache_folder(i);
        char part[800], note[800], text[300];
        test_row(rows[i].name);
        file_serve(&server);
        part_paths(cache, server.url, part, note);
        (void)snprintf(text, sizeof text, "%s%s%s", server.url,
                       rows[i].of != NULL ? rows[i].of : "",
                       rows[i].of != NULL ? rows[i].validator : "");
        if (rows[i].part != NULL)
            put(part, rows[i].part);
        if (rows[i].of != NULL)
            put(note, text);
        const struct fetch_file file = get(&server, (struct fetch_options){0}, cache, file_of(KEY));
        CHECK_EQ(file.result, FETCH_LOADED);
        if (file.result == FETCH_LOADED)
            check_text(file.path, GOOD);
        CHECK(!path_is_file(part) && !path_is_file(note));
        CHECK_STR(file_serve_end(&server), rows[i].asked);
    }
}

TEST(a_download_that_is_cut_leaves_its_part)
{
    static const struct file_route routes[] = {{KEY, GOOD}, {NULL, NULL}};
    static const struct {
        const char *name;
        bool resumes;
        const char *lines;
        enum fetch_result want;
        const char *asked;
    } rows[] = {{"there is no time to go on", false, BUSY, FETCH_UNREACHABLE, KEY " "},
                {"the rest comes", true, NULL, FETCH_LOADED, KEY " " KEY "+9 "}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct file_server server = {.routes = routes,
                                     .lines = rows[i].lines,
                                     .lost = GOOD_BYTES - 9,
                                     .resumes = rows[i].resumes};
        const char *cache = cache_folder(i);
        char part[800], note[800], text[300];
        test_row(rows[i].name);
        file_serve(&server);
        part_paths(cache, server.url, part, note);
        const struct fetch_file file =
            get(&server, (struct fetch_options){.limit_ms = LONG_MS}, cache, file_of(KEY));
        CHECK_EQ(file.result, rows[i].want);
        (void)snprintf(text, sizeof text, "%s/" KEY "\n\"1\"", server.url);
        if (file.result == FETCH_UNREACHABLE) {
            check_text(part, "the right");
            check_text(note, text);
        } else {
            check_text(file.path, GOOD);
            CHECK(!path_is_file(part) && !path_is_file(note));
        }
        CHECK_STR(file_serve_end(&server), rows[i].asked);
    }
}

struct heard {
    char kinds[16];              /* a letter for each event */
    struct fetch_event progress; /* the last one */
    char of[FETCH_KEY_BYTES], name[FETCH_KEY_BYTES], text[400];
};

static void hear(void *context, const struct fetch_event *event)
{
    struct heard *h = context;
    const size_t n = strlen(h->kinds);
    REQUIRE(n + 1 < sizeof h->kinds);
    h->kinds[n] = "PLF"[event->kind];
    if (event->kind == FETCH_EVENT_PROGRESS) {
        CHECK(event->text == NULL);
        h->progress = *event;
        (void)snprintf(h->of, sizeof h->of, "%s", event->name);
        return;
    }
    (void)snprintf(h->name, sizeof h->name, "%s", event->name);
    (void)snprintf(h->text, sizeof h->text, "%s", event->text);
}

TEST(a_user_hears_of_what_comes_and_what_is_wrong)
{
    static const struct {
        const char *name, *body;
        bool is_there;
        const char *kinds, *says;
    } rows[] = {
        {"a file", GOOD, true, "PL", "14 bytes from http://"},
        {"none", NULL, false, "", ""},
        {"another file", "wrong", true, "PF", "wrong file from http://"},
        {"no answer", NULL, true, "F", "/" KEY ": it answered 500"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct file_route routes[3] = {{rows[i].is_there ? KEY : NULL, rows[i].body},
                                             {rows[i].is_there ? KEY2 : NULL, rows[i].body}};
        struct file_server server = {.routes = routes, .lines = BUSY};
        struct heard h = {.kinds = ""};
        const char *cache = cache_folder(i);
        test_row(rows[i].name);
        file_serve(&server);
        struct fetch *fetch = open_fetch(
            (struct fetch_options){.limit_ms = LONG_MS, .event = hear, .context = &h}, cache);
        add(fetch, server.url, NULL, NULL);
        struct fetch_file file = file_of(KEY);
        fetch_files(fetch, &file, 1);
        CHECK_STR(h.kinds, rows[i].kinds);
        CHECK_HAS(h.text, rows[i].says);
        CHECK_STR(h.text, file.text);
        CHECK_STR(h.name, rows[i].kinds[0] != '\0' ? KEY : "");
        for (int turn = 0; turn < 2 && rows[i].kinds[0] == 'P'; turn++) {
            struct fetch_file second = file_of(KEY2);
            CHECK_STR(h.of, turn == 0 ? KEY : KEY2);
            CHECK_EQ(h.progress.bytes, strlen(rows[i].body));
            CHECK_EQ(h.progress.total_bytes, strlen(rows[i].body));
            CHECK_EQ(h.progress.running, 1);
            thread_sleep_ms(120); /* at most ten a second */
            fetch_files(fetch, &second, 1);
        }
        fetch_close(fetch);
        (void)file_serve_end(&server);
    }
}
