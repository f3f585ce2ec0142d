/* Files of symbol servers, by a server of this program's own: what is asked, what is kept, and what
 * is not asked again. Keys and index2.txt: Microsoft's "SymStore" and "SymSrv"; pointers: file.ptr.
 */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "fetch/fetch.h"
#include "fetch/shared_library.h"
#include "file_server.h"
#include "test.h"

#define KEY "app.pdb/ID1/app.pdb"
#define GOOD "the right file"

enum { ROUTES_MAX = 4, ASKED_MAX = 8 };

static enum status check(const void *context, const char *path, struct fault *fault)
{
    size_t bytes;
    const char *text = (const char *)test_read(path, &bytes);
    (void)context;
    return bytes == strlen(GOOD) && memcmp(text, GOOD, bytes) == 0
               ? ERR_NONE
               : fault_set(fault, ERR_MISMATCH, FAULT_NO_OFFSET, "another file");
}

static struct fetch_file the_file(void)
{
    struct fetch_file file = {.key_count = 1, .check = check};
    (void)snprintf(file.place, sizeof file.place, "%s", KEY);
    (void)snprintf(file.keys[0].path, sizeof file.keys[0].path, "%s", KEY);
    return file;
}

/* A server, and what asks it for files, with a cache of its own. */
struct asking {
    struct file_server server;
    char cache[700];
    struct fetch *fetch;
};

static void begin(struct asking *a, struct fetch_options options)
{
    struct fault fault = FAULT_INIT;
    const char *folder = NULL;

    file_serve(&a->server);
    (void)snprintf(a->cache, sizeof a->cache, "%s.cache", a->server.log);
    options.cache = a->cache;
    const struct symbol_path_element chain = {
        .chain = true, .urls = {a->server.url}, .url_count = 1};
    REQUIRE(fetch_open(&options, &a->fetch, &fault) == ERR_NONE);
    const enum status added = fetch_add(a->fetch, &chain, &folder, &fault);
    if (added == ERR_UNSUPPORTED) {
        (void)file_serve_end(&a->server);
        SKIP("libcurl");
    }
    REQUIRE(added == ERR_NONE);
    CHECK_STR(folder, a->cache);
    CHECK(fetch_has_servers(a->fetch));
}

/* Returns what the server was asked for. */
static const char *end(struct asking *a)
{
    fetch_close(a->fetch);
    return file_serve_end(&a->server);
}

TEST(a_file_is_asked_for_once)
{
    static const struct {
        const char *name;
        struct file_route routes[ROUTES_MAX];
        bool offline;
        enum fetch_result first, second; /* of the same file, asked twice */
        const char *asked;               /* in both turns */
    } rows[] = {
        {"it is there", {{KEY, GOOD}}, false, FETCH_LOADED, FETCH_CACHED, KEY " "},
        {"it is not there", {{NULL, NULL}}, false, FETCH_ABSENT, FETCH_ABSENT, KEY " index2.txt "},
        {"below the first two letters of its name",
         {{"index2.txt", ""}, {"ap/" KEY, GOOD}},
         false,
         FETCH_LOADED,
         FETCH_CACHED,
         KEY " index2.txt ap/" KEY " "},
        {"another file", {{KEY, "wrong"}}, false, FETCH_WRONG, FETCH_ABSENT, KEY " "},
        {"servers are not asked", {{KEY, GOOD}}, true, FETCH_OFFLINE, FETCH_OFFLINE, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asking a = {.server = {.routes = rows[i].routes}};
        char place[800];
        test_row(rows[i].name);
        begin(&a, (struct fetch_options){.offline = rows[i].offline});
        for (int turn = 0; turn < 2; turn++) {
            struct fetch_file file = the_file();
            fetch_files(a.fetch, &file, 1);
            CHECK_EQ(file.result, turn == 0 ? rows[i].first : rows[i].second);
            (void)snprintf(place, sizeof place, "%s/%s", a.cache, KEY);
            const bool kept = file.result == FETCH_LOADED || file.result == FETCH_CACHED;
            CHECK_EQ(path_is_file(place), kept);
            if (kept)
                CHECK_STR(file.path, place);
        }
        CHECK_STR(end(&a), rows[i].asked);
    }
}

/* A server that does not say whether it has two tiers may have the file. */
TEST(an_index_that_is_not_answered_is_no_missing_file)
{
    static const struct file_route routes[] = {{"index2.txt", NULL}, {NULL, NULL}};
    static const struct {
        const char *name, *status;
        enum fetch_result first, second;
    } rows[] = {
        {"out of order", "500 Internal Server Error", FETCH_UNREACHABLE, FETCH_UNREACHABLE},
        {"refused", "403 Forbidden", FETCH_REFUSED, FETCH_REFUSED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asking a = {.server = {.routes = routes, .status = rows[i].status}};
        test_row(rows[i].name);
        begin(&a, (struct fetch_options){.limit_ms = 20000});
        for (int turn = 0; turn < 2; turn++) {
            struct fetch_file file = the_file();
            fetch_files(a.fetch, &file, 1);
            CHECK_EQ(file.result, turn == 0 ? rows[i].first : rows[i].second);
        }
        (void)end(&a);
    }
}

/* Relative references: the examples of RFC 3986, 5.4, as far as they stay on the server. */
TEST(a_pointer_leads_to_a_file_of_its_server)
{
    static const struct {
        const char *text;     /* of b/c/file.ptr */
        const char *leads_to; /* NULL: refused */
        const char *says;
    } rows[] = {
        {"PATH:g", "b/c/g", ""},
        {"PATH:g\r\n", "b/c/g", ""},
        {"PATH:./g", "b/c/g", ""},
        {"PATH:../g", "b/g", ""},
        {"PATH:../../g", "g", ""},
        {"PATH:./../g", "b/g", ""},
        {"PATH:g/./h", "b/c/g/h", ""},
        {"PATH:g/../h", "b/c/h", ""},
        {"PATH:g..", "b/c/g..", ""},
        {"PATH:..g", "b/c/..g", ""},
        {"PATH:g//h", "b/c/g/h", ""},
        {"PATH:../../../g", NULL, "outside of the server"},
        {"PATH:../..", NULL, "outside of the server"},
        {"PATH:/g", NULL, "outside of the server"},
        {"PATH://g", NULL, "outside of the server"},
        {"PATH:http://g", NULL, "outside of the server"},
        {"PATH:..\\g", NULL, "outside of the server"},
        {"PATH:c:g", NULL, "outside of the server"},
        {"PATH:g?y", NULL, "outside of the server"},
        {"PATH:g#s", NULL, "outside of the server"},
        {"g", NULL, "outside of the server"},
        {"MSG: it is private", NULL, "it is private"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *to = rows[i].leads_to;
        const struct file_route routes[ROUTES_MAX] = {{"b/c/file.ptr", rows[i].text},
                                                      {to, to != NULL ? GOOD : NULL}};
        struct asking a = {.server = {.routes = routes}};
        char want[64];
        test_row(rows[i].text);
        begin(&a, (struct fetch_options){0});
        struct fetch_file file = the_file();
        (void)snprintf(file.keys[0].path, sizeof file.keys[0].path, "b/c/file.ptr");
        file.keys[0].form = FETCH_POINTER;
        fetch_files(a.fetch, &file, 1);
        CHECK_EQ(file.result, to != NULL ? FETCH_LOADED : FETCH_REFUSED);
        CHECK_HAS(file.text, rows[i].says);
        (void)snprintf(want, sizeof want, "b/c/file.ptr %s%s", to != NULL ? to : "",
                       to != NULL ? " " : "");
        CHECK_STR(end(&a), want);
    }
}

struct pointer {
    const char *before, *after;
    char letters[FETCH_KEY_BYTES], text[800];
};

static void point(const struct file_server *server, void *context)
{
    struct pointer *p = context;
    (void)snprintf(p->text, sizeof p->text, "%s%s%s%s", p->before, server->url, p->after,
                   p->letters);
}

/* Below the address of the server itself; a key has fewer than FETCH_KEY_BYTES bytes. */
TEST(a_pointer_may_name_its_server)
{
    static const struct {
        const char *name, *before; /* BEFORE: what comes before the address */
        const char *after;
        size_t letters; /* more */
        bool leads;
    } rows[] = {
        {"its address", "PATH:", "/", 3, true},
        {"an address that begins like it", "PATH:", "", 3, false},
        {"another server", "PATH:x", "/", 3, false},
        {"nothing after it", "PATH:", "/", 0, false},
        {"the longest", "PATH:", "/", FETCH_KEY_BYTES - 2, true},
        {"one more", "PATH:", "/", FETCH_KEY_BYTES - 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pointer pointer = {.before = rows[i].before, .after = rows[i].after};
        const struct file_route routes[3] = {{"b/c/file.ptr", pointer.text},
                                             {pointer.letters, GOOD}};
        struct asking a = {.server = {.routes = routes, .bound = point, .context = &pointer}};
        char want[600];
        test_row(rows[i].name);
        memset(pointer.letters, 'g', rows[i].letters);
        begin(&a, (struct fetch_options){0});
        struct fetch_file file = the_file();
        (void)snprintf(file.keys[0].path, sizeof file.keys[0].path, "b/c/file.ptr");
        file.keys[0].form = FETCH_POINTER;
        fetch_files(a.fetch, &file, 1);
        CHECK_EQ(file.result, rows[i].leads ? FETCH_LOADED : FETCH_REFUSED);
        (void)snprintf(want, sizeof want, "b/c/file.ptr %s%s", rows[i].leads ? pointer.letters : "",
                       rows[i].leads ? " " : "");
        CHECK_STR(end(&a), want);
    }
}

TEST(a_server_is_connected_to_once)
{
    static const struct file_route routes[ROUTES_MAX] = {{KEY, GOOD},
                                                         {"app.pdb/ID2/app.pdb", GOOD}};
    struct asking a = {.server = {.routes = routes, .kept = true}};
    begin(&a, (struct fetch_options){0});
    struct fetch_file first = the_file(), second = the_file();
    (void)snprintf(second.place, sizeof second.place, "app.pdb/ID2/app.pdb");
    (void)snprintf(second.keys[0].path, sizeof second.keys[0].path, "app.pdb/ID2/app.pdb");
    fetch_files(a.fetch, &first, 1);
    fetch_files(a.fetch, &second, 1);
    CHECK_EQ(first.result, FETCH_LOADED);
    CHECK_EQ(second.result, FETCH_LOADED);
    CHECK_STR(end(&a), "(connected) " KEY " app.pdb/ID2/app.pdb ");
}

/* Several at a time, and each once. */
TEST(all_files_of_a_list_are_asked_for)
{
    enum { FILES = 4 };
    static const struct file_route routes[] = {
        {"a/1/a", GOOD}, {"a/2/a", GOOD}, {"a/3/a", "wrong"}, {"a/4/a", GOOD}, {NULL, NULL}};
    static const enum fetch_result want[FILES] = {FETCH_LOADED, FETCH_LOADED, FETCH_WRONG,
                                                  FETCH_LOADED};
    struct asking a = {.server = {.routes = routes}};
    struct fetch_file files[FILES];
    begin(&a, (struct fetch_options){.parallel = 3});
    for (int i = 0; i < FILES; i++) {
        files[i] = the_file();
        (void)snprintf(files[i].place, sizeof files[i].place, "a/%d/a", i + 1);
        (void)snprintf(files[i].keys[0].path, sizeof files[i].keys[0].path, "a/%d/a", i + 1);
    }
    fetch_files(a.fetch, files, FILES);
    const char *asked = end(&a);
    CHECK_EQ(strlen(asked), FILES * strlen("a/1/a "));
    for (int i = 0; i < FILES; i++) {
        test_row(files[i].place);
        CHECK_EQ(files[i].result, want[i]);
        CHECK_HAS(asked, files[i].place);
    }
}

TEST(each_chain_has_a_cache)
{
    struct fault fault = FAULT_INIT;
    struct fetch *fetch = NULL;
    const char *folder = NULL;
    const struct symbol_path_element none = {.chain = true};
    const struct symbol_path_element chain = {
        .chain = true, .urls = {"http://127.0.0.1:1"}, .url_count = 1};
    REQUIRE(fetch_open(&(struct fetch_options){.cache = NULL}, &fetch, &fault) == ERR_NONE);
    CHECK_EQ(fetch_add(fetch, &none, &folder, &fault), ERR_NONE);
    CHECK(!fetch_has_servers(fetch));
    CHECK_EQ(fetch_add(fetch, &chain, &folder, &fault), ERR_UNSUPPORTED);
    CHECK(!fetch_has_servers(fetch) && folder == NULL);
    fetch_close(fetch);
    fault_clear(&fault);
    REQUIRE(fetch_open(&(struct fetch_options){.cache = test_scratch()}, &fetch, &fault) ==
            ERR_NONE);
    for (int i = 0; i < 64 && fault.code == ERR_NONE; i++)
        (void)fetch_add(fetch, &chain, &folder, &fault);
    if (fault.code == ERR_UNSUPPORTED)
        SKIP("libcurl");
    CHECK(fault.code == ERR_NONE && fetch_has_servers(fetch));
    CHECK_EQ(fetch_add(fetch, &chain, &folder, &fault), ERR_LIMIT); /* one more */
    fetch_close(fetch);
}

/* RFC 3986, 2.1 to 2.3 and 3.3: what a segment of a path may have stays as it is. */
TEST(a_key_is_asked_for_as_a_url_spells_it)
{
    static const struct {
        const char *name, *asked;
    } rows[] = {
        {"azAZ09", "azAZ09"},
        {"-._~!$'()*,;:@&=", "-._~!$'()*,;:@&="},
        {"a b+c", "a%20b%2Bc"},
        {"a%20b", "a%2520b"},
        {"`{[^]}", "%60%7B%5B%5E%5D%7D"},
        {"\xc3\xa4\xff", "%C3%A4%FF"},
        {"a#b?c\"<>|", "a%23b%3Fc%22%3C%3E%7C"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct file_route routes[ROUTES_MAX] = {{rows[i].asked, GOOD}};
        struct asking a = {.server = {.routes = routes}};
        char want[64];
        test_row(rows[i].asked);
        begin(&a, (struct fetch_options){0});
        struct fetch_file file = the_file();
        (void)snprintf(file.keys[0].path, sizeof file.keys[0].path, "%s", rows[i].name);
        fetch_files(a.fetch, &file, 1);
        CHECK_EQ(file.result, FETCH_LOADED);
        (void)snprintf(want, sizeof want, "14 bytes from %s/%s", a.server.url, rows[i].asked);
        CHECK_STR(file.text, want);
        (void)snprintf(want, sizeof want, "%s ", rows[i].asked);
        CHECK_STR(end(&a), want);
    }
}

TEST(a_file_has_at_most_the_bytes_of_the_limit)
{
    static const struct file_route routes[ROUTES_MAX] = {{KEY, GOOD}};
    static const struct {
        const char *name;
        uint64_t bytes;
        enum fetch_result want;
        const char *says;
    } rows[] = {{"all of them", sizeof GOOD - 1, FETCH_LOADED, " bytes from http:"},
                {"one less", sizeof GOOD - 2, FETCH_REFUSED, "larger than the limit"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asking a = {.server = {.routes = routes}};
        test_row(rows[i].name);
        begin(&a, (struct fetch_options){.limit_bytes = rows[i].bytes});
        struct fetch_file file = the_file();
        fetch_files(a.fetch, &file, 1);
        CHECK_EQ(file.result, rows[i].want);
        CHECK_HAS(file.text, rows[i].says);
        CHECK_STR(end(&a), KEY " ");
    }
}

/* It is kept beside the cache, with a note of where it came from. */
TEST(a_wrong_file_is_kept_with_a_note)
{
    static const struct file_route routes[ROUTES_MAX] = {{KEY, "wrong"}};
    struct asking a = {.server = {.routes = routes}};
    char note[700], want[400], text[400];
    size_t bytes;
    begin(&a, (struct fetch_options){0});
    struct fetch_file file = the_file();
    fetch_files(a.fetch, &file, 1);
    (void)snprintf(want, sizeof want,
                   "wrong file from %s/" KEY ": it is of another build; kept as ", a.server.url);
    CHECK_HAS(file.text, want);
    CHECK_HAS(file.path, "/.twinstack/wrong/");
    CHECK_HAS(file.path, "-app.pdb");
    CHECK(path_is_file(file.path));
    const char *end_of = strstr(file.path, "-app.pdb");
    REQUIRE(end_of != NULL);
    (void)snprintf(note, sizeof note, "%.*s.txt", (int)(end_of - file.path), file.path);
    const uint8_t *data = test_read(note, &bytes);
    (void)snprintf(text, sizeof text, "%.*s", (int)bytes, (const char *)data);
    (void)snprintf(want, sizeof want, "%s/" KEY "\nfor " KEY "\nit is of another build\n",
                   a.server.url);
    CHECK_STR(text, want);
    (void)end(&a);
}

#define FIFTY "01234567890123456789012345678901234567890123456789"

TEST(names_that_lead_elsewhere_are_no_keys)
{
    static const struct {
        const char *name, *module, *id;
        bool good;
    } rows[] = {
        {"plain", "app.pdb", "0123", true},
        {"the folder above", "..", "0123", false},
        {"hidden", ".app", "0123", false},
        {"a path", "a/b.pdb", "0123", false},
        {"a path of Windows", "a\\b", "0", false},
        {"a drive", "c:b.pdb", "0123", false},
        {"nothing", "", "0123", false},
        {"no id", "app.pdb", "", false},
        {"a pattern", "a*.pdb", "0123", false},
        {"a line end", "a\nb", "0123", false},
        {"a blank", "my app.pdb", "0", true},
        {"below the blank",
         "a\x1f"
         "b",
         "0", false},
        {"above the letters",
         "a\x7f"
         "b",
         "0", false},
        {"a question", "a?b", "0", false},
        {"quotes", "a\"b", "0", false},
        {"brackets", "a<b", "0", false},
        {"the other one", "a>b", "0", false},
        {"a bar", "a|b", "0", false},
        {"all of the longest names", FIFTY FIFTY FIFTY FIFTY, FIFTY FIFTY, true},
        {"and of the longest ids", FIFTY FIFTY FIFTY FIFTY, FIFTY FIFTY "012345678", true},
        {"too long together", FIFTY FIFTY FIFTY FIFTY, FIFTY FIFTY "0123456789", false},
        {"the longest id", "a", FIFTY FIFTY FIFTY FIFTY, true},
        {"an id that is too long", "a", FIFTY FIFTY FIFTY FIFTY "0", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char key[FETCH_KEY_BYTES], want[FETCH_KEY_BYTES];
        test_row(rows[i].name);
        CHECK_EQ(fetch_key_set(key, rows[i].module, rows[i].id, rows[i].module), rows[i].good);
        (void)snprintf(want, sizeof want, "%s/%s/%s", rows[i].module, rows[i].id, rows[i].module);
        if (rows[i].good)
            CHECK_STR(key, want);
    }
}

/* fetch.h: four attempts without a new byte, and one that brought some is free. */
TEST(a_server_that_brings_nothing_new_is_given_up)
{
    enum { BYTES = sizeof GOOD - 1 };
    static const struct file_route routes[] = {{KEY, GOOD}, {NULL, NULL}};
    static const struct {
        const char *name;
        size_t lost;
        const char *asked;
    } rows[] = {{"no byte comes", BYTES, KEY " " KEY " " KEY " " KEY " "},
                {"the same five come again", BYTES - 5, KEY " " KEY " " KEY " " KEY " " KEY " "}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asking a = {.server = {.routes = routes, .lost = rows[i].lost}};
        test_row(rows[i].name);
        begin(&a, (struct fetch_options){.limit_ms = 20000});
        struct fetch_file file = the_file();
        fetch_files(a.fetch, &file, 1);
        CHECK_EQ(file.result, FETCH_UNREACHABLE);
        CHECK_STR(end(&a), rows[i].asked);
    }
}

/* RFC 9110, 15.4: an answer may come from wherever the server leads, in five steps at most, by
 * HTTP. */
TEST(an_answer_may_lead_elsewhere)
{
    static const struct {
        const char *name, *lines;
        enum fetch_result want;
        int asked; /* how often the first address */
        const char *last;
    } rows[] = {
        {"to a file of it", "Location: /real\r\n", FETCH_LOADED, 1, "real "},
        {"to itself", "Location: /" KEY "\r\n", FETCH_REFUSED, 6, ""},
        {"by another protocol", "Location: ftp://127.0.0.1/real\r\n", FETCH_REFUSED, 1, ""},
    };
    static const struct file_route routes[] = {{KEY, NULL}, {"real", GOOD}, {NULL, NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asking a = {
            .server = {.routes = routes, .status = "302 Found", .lines = rows[i].lines}};
        char want[300] = "";
        test_row(rows[i].name);
        begin(&a, (struct fetch_options){0});
        struct fetch_file file = the_file();
        fetch_files(a.fetch, &file, 1);
        CHECK_EQ(file.result, rows[i].want);
        for (int k = 0; k < rows[i].asked; k++)
            (void)strcat(want, KEY " ");
        (void)strcat(want, rows[i].last);
        CHECK_STR(end(&a), want);
    }
}

TEST(without_its_library_no_server_is_asked)
{
    struct fault fault = FAULT_INIT;
    struct fetch *fetch = NULL;
    const char *folder = NULL;
    const struct symbol_path_element chain = {
        .chain = true, .urls = {"http://127.0.0.1:1"}, .url_count = 1};
    test_environment("TWINSTACK_LIBCURL", "/nonexistent");
    REQUIRE(fetch_open(&(struct fetch_options){.cache = test_scratch()}, &fetch, &fault) ==
            ERR_NONE);
    CHECK_EQ(fetch_add(fetch, &chain, &folder, &fault), ERR_UNSUPPORTED);
    CHECK(fault.hint != NULL && !fetch_has_servers(fetch));
    fetch_close(fetch);
}

/* POSIX, dlopen(): without a name it is the program; a mode has one of RTLD_NOW and RTLD_LAZY. */
TEST(a_library_is_opened_or_not_there)
{
    static const struct {
        const char *name, *library;
        bool there;
    } rows[] = {{"the program", NULL, true}, {"no such file", "lib-is-not-there.so", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(library_open(rows[i].library) != NULL, rows[i].there);
    }
}
