/* The dashboard without a network: routes, hosts, tags, encodings, the cache, the page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/thread.h"
#include "http/exchange.h"
#include "http/hosts.h"
#include "http/query_string.h"
#include "http/response_cache.h"
#include "http/state.h"
#include "http/unpack.h"
#include "test.h"
#include "web/web.h"

TEST(a_path_matches_a_pattern_whole_or_not)
{
    static const struct {
        const char *name, *pattern, *path, *first, *second;
        bool fits;
    } rows[] = {
        {"itself", "/runs", "/runs", NULL, NULL, true},
        {"root", "/", "/", NULL, NULL, true},
        {"root is no prefix", "/", "/runs", NULL, NULL, false},
        {"no prefix", "/runs", "/runs/3", NULL, NULL, false},
        {"no trailing slash", "/runs", "/runs/", NULL, NULL, false},
        {"one word", "/runs/{run}", "/runs/3", "3", NULL, true},
        {"an empty word", "/runs/{run}", "/runs/", NULL, NULL, false},
        {"two words", "/c/{a}/{b}", "/c/null_write/ob2", "null_write", "ob2", true},
        {"escaped slash stays in its word", "/c/{a}/{b}", "/c/x%2fy/ob2", "x/y", "ob2", true},
        {"dots are words", "/c/{a}", "/c/..", "..", NULL, true},
        {"a longer literal", "/runs", "/runsx", NULL, NULL, false},
        {"bad escape", "/c/{a}", "/c/%zz", NULL, NULL, false},
        {"cut escape", "/c/{a}", "/c/%2", NULL, NULL, false},
        {"NUL in a word", "/c/{a}", "/c/a%00b", NULL, NULL, false},
        {"newline in a word", "/c/{a}", "/c/a%0ab", NULL, NULL, false},
        {"no slash at all", "/runs", "*", NULL, NULL, false},
        {"empty", "/", "", NULL, NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct http_query query = {0};
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(http_path_match(rows[i].pattern, rows[i].path, &keep, &query), rows[i].fits);
        if (rows[i].fits && rows[i].first != NULL)
            CHECK_STR(query.params[0], rows[i].first);
        if (rows[i].fits && rows[i].second != NULL)
            CHECK_STR(query.params[1], rows[i].second);
        arena_free(&keep);
    }
}

TEST(a_query_is_split_and_decoded)
{
    struct arena keep;
    struct http_query query = {0};
    struct fault fault = FAULT_INIT;
    char many[256] = "";

    arena_init(&keep, 0);
    CHECK_EQ(http_query_parse("a=1&b=x+y%26z&c&d=", &keep, &query, &fault), ERR_NONE);
    CHECK_STR(http_query_get(&query, "a"), "1");
    CHECK_STR(http_query_get(&query, "b"), "x y&z");
    CHECK(http_query_get(&query, "c") == NULL);
    CHECK(http_query_get(&query, "d") == NULL);
    CHECK(http_query_get(&query, "e") == NULL);
    CHECK_EQ(http_query_parse("a=%", &keep, &query, &fault), ERR_MALFORMED);
    fault_clear(&fault);
    CHECK_EQ(http_query_parse("a=%00", &keep, &query, &fault), ERR_MALFORMED);
    fault_clear(&fault);
    for (int i = 0; i <= HTTP_QUERY_MAX; i++)
        (void)strcat(many, "a=1&");
    CHECK_EQ(http_query_parse(many, &keep, &query, &fault), ERR_LIMIT);
    arena_free(&keep);
}

/* RFC 3986, 2.1: two of 0-9, A-F, a-f. The neighbours of each range in ASCII are none. */
TEST(an_escape_is_two_hexadecimal_digits)
{
    static const struct {
        const char *escaped, *value; /* NULL: refused */
    } rows[] = {
        {"%30", "0"},  {"%39", "9"},           {"%4A", "J"},    {"%4a", "J"},    {"%4F", "O"},
        {"%4f", "O"},  {"%C3%AF", "\xc3\xaf"}, {"%Fa", "\xfa"}, {"%fA", "\xfa"}, {"%7e", "~"},
        {"%20", " "},  {"%7f", NULL},          {"%1f", NULL},   {"%4/", NULL},   {"%4:", NULL},
        {"%4@", NULL}, {"%4G", NULL},          {"%4`", NULL},   {"%4g", NULL},   {"%/4", NULL},
        {"%:4", NULL}, {"%@4", NULL},          {"%G4", NULL},   {"%`4", NULL},   {"%g4", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct http_query query = {0};
        struct fault fault = FAULT_INIT;
        test_row(rows[i].escaped);
        arena_init(&keep, 0);
        const char *text = arena_printf(&keep, "a=%s", rows[i].escaped);
        CHECK_EQ(http_query_parse(text, &keep, &query, &fault),
                 rows[i].value != NULL ? ERR_NONE : ERR_MALFORMED);
        if (rows[i].value != NULL)
            CHECK_STR(http_query_get(&query, "a"), rows[i].value);
        arena_free(&keep);
    }
}

/* As encodeURIComponent does (ECMA-262, 19.2.6), since scripts of the pages compare the two. */
TEST(text_is_escaped_as_scripts_escape_it)
{
    static const struct {
        const char *text;
        size_t room;
        const char *escaped;
    } rows[] = {
        {"ABYZabyz0189-_.!~*'()", 64, "ABYZabyz0189-_.!~*'()"},
        {"\"#$%&+,/:;<=>?@[\\]^`{|}", 80,
         "%22%23%24%25%26%2B%2C%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E%60%7B%7C%7D"},
        {"a b\tc", 32, "a%20b%09c"},
        {"na\xc3\xafve", 32, "na%C3%AFve"},
        {"", 32, ""},
        {"a%b", 6, "a%25"}, /* where there is no room, no half of an escape */
        {"a%b", 7, "a%25"},
        {"a%b", 9, "a%25b"},
        {"a%b", 5, "a"},
        {"ab", 4, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[81];
        test_row(rows[i].escaped);
        memset(out, '?', sizeof out);
        http_escape(rows[i].text, out, rows[i].room);
        CHECK_STR(out, rows[i].escaped);
        CHECK_EQ(out[rows[i].room], '?');
    }
}

TEST(only_our_own_names_are_hosts)
{
    static const char *const names[] = {"build.example"};
    static const struct {
        const char *header;
        bool ours;
    } rows[] = {
        {"127.0.0.1:8080", true},
        {"localhost:8080", true},
        {"LOCALHOST:8080", true},
        {"[::1]:8080", true},
        {"127.9.9.9:8080", true},
        {"build.example:8080", true},
        {"build.example:8443", true}, /* the port of a proxy */
        {"build.example", true},
        {"build.example.evil:8080", false},
        {"127.0.0.1:8081", false},
        {"127.0.0.1", false},
        {"evil.example:8080", false},
        {"127.0.0.1.evil.example:8080", false},
        {"localhost.:8080", false},
        {"127.0.0.1:8080@evil:8080", false},
        {"", false},
        {"127.255.255.255:8080", true}, /* RFC 1122, 3.2.1.3: all of 127/8 */
        {"127.0.0.256:8080", false},
        {"127.0.256.0:8080", false},
        {"127.256.0.0:8080", false},
        {"126.0.0.1:8080", false},
        {"128.0.0.1:8080", false},
        {"127.0.0.1.1:8080", false},
        {"127.0.0:8080", false},
        {"1127.0.0.1:8080", false},
        {":8080", false},
        {"localhost:", false},
        {"localhost:99999", false},
        {"[::1]", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].header);
        CHECK_EQ(host_is_ours(rows[i].header, 8080, names, 1), rows[i].ours);
    }
    test_row(NULL);
    CHECK(!host_is_ours(NULL, 8080, names, 1));
    CHECK(host_is_ours("localhost", 80, NULL, 0));
}

TEST(another_sites_origin_is_not_ours)
{
    CHECK(origin_is_ours(NULL, "127.0.0.1:80"));
    CHECK(origin_is_ours("http://127.0.0.1:80", "127.0.0.1:80"));
    CHECK(!origin_is_ours("http://127.0.0.1:81", "127.0.0.1:80"));
    CHECK(!origin_is_ours("https://127.0.0.1:80", "127.0.0.1:80"));
    CHECK(!origin_is_ours("https://localhost", "localhost"));
    CHECK(origin_is_ours("https://build.example", "build.example"));
    CHECK(origin_is_ours("https://build.example:8443", "build.example:8443"));
    CHECK(!origin_is_ours("https://evil.example", "build.example"));
    CHECK(!origin_is_ours("null", "127.0.0.1:80"));
    CHECK(!origin_is_ours("http://127.0.0.1:80", NULL));
}

TEST(a_listening_address_is_split)
{
    char host[32];
    uint16_t port = 0;
    CHECK(host_split("127.0.0.1:0", host, sizeof host, &port));
    CHECK_STR(host, "127.0.0.1");
    CHECK(host_split("[::1]:65535", host, sizeof host, &port));
    CHECK_STR(host, "[::1]");
    CHECK_EQ(port, 65535);
    CHECK(!host_split("127.0.0.1", host, sizeof host, &port));
    CHECK(!host_split("127.0.0.1:65536", host, sizeof host, &port));
    CHECK(!host_split("[::1]", host, sizeof host, &port));
    CHECK(!host_split("a-name-that-is-longer-than-what-we-keep:1", host, sizeof host, &port));
}

TEST(tags_match_as_lists_and_weakly)
{
    char tag[ETAG_BYTES], other[ETAG_BYTES], header[128];
    etag_of("a", 1, tag);
    etag_of("b", 1, other);
    CHECK(strcmp(tag, other) != 0);
    CHECK(etag_matches(tag, tag));
    CHECK(!etag_matches(other, tag));
    CHECK(!etag_matches(NULL, tag));
    CHECK(etag_matches("*", tag));
    (void)snprintf(header, sizeof header, "W/%s, %s", other, tag);
    CHECK(etag_matches(header, tag));
    (void)snprintf(header, sizeof header, "W/%s", tag);
    CHECK(etag_matches(header, tag));
}

TEST(an_encoding_or_type_is_sent_to_clients_that_take_it)
{
    static const struct {
        const char *header;
        bool takes; /* accepts gzip */
    } rows[] = {
        {"gzip", true},
        {"br;q=0, gzip", true},
        {"gzip; q=0.000", false},
        {"gzip;q=0.001,br", true},
        {"gzip;q=0, br;q=1", false},
        {"gzip, deflate, br", true},
        {"deflate, gzip;q=1.0", true},
        {"gzip;q=0", false},
        {"gzip;q=0.5", true},
        {"identity", false},
        {"x-gzipped", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].header);
        CHECK_EQ(accepts(rows[i].header, "gzip"), rows[i].takes);
    }
    CHECK(!accepts(NULL, "gzip"));
}

struct visitors {
    struct cache *cache;
    struct mutex *lock;
    uint32_t made, answered;
};

/* As a request for a view does. */
static void visit(void *context)
{
    struct visitors *v = context;
    struct arena keep;
    size_t bytes = 0;
    arena_init(&keep, 0);
    bool mine = false;
    while (!mine && cache_get(v->cache, "/large", 1, &keep, &bytes) == NULL)
        mine = cache_begin(v->cache, "/large", 1);
    if (mine && cache_get(v->cache, "/large", 1, &keep, &bytes) == NULL) {
        mutex_lock(v->lock);
        v->made++;
        mutex_unlock(v->lock);
        thread_sleep_ms(20); /* while the others come */
        cache_put(v->cache, "/large", 1, "answer", 6);
    }
    if (mine)
        cache_made(v->cache, "/large", 1);
    mutex_lock(v->lock);
    v->answered += cache_get(v->cache, "/large", 1, &keep, &bytes) != NULL;
    mutex_unlock(v->lock);
    arena_free(&keep);
}

TEST(a_document_is_made_once_however_many_ask)
{
    enum { VISITORS = 8 };
    struct visitors v = {.cache = cache_new(), .lock = mutex_new()};
    struct thread *threads[VISITORS];
    for (int i = 0; i < VISITORS; i++)
        threads[i] = thread_start(visit, &v);
    for (int i = 0; i < VISITORS; i++)
        thread_join(threads[i]);
    CHECK_EQ(v.made, 1);
    CHECK_EQ(v.answered, VISITORS);
    CHECK(cache_begin(v.cache, "/large", 2)); /* of another version */
    CHECK(cache_begin(v.cache, "/small", 2));
    cache_made(v.cache, "/small", 2);
    CHECK(cache_begin(v.cache, "/small", 2));
    mutex_free(v.lock);
    cache_free(v.cache);
}

TEST(the_cache_answers_for_its_version_alone)
{
    struct cache *cache = cache_new();
    struct arena keep;
    size_t bytes = 0;
    char *big = calloc(1, CACHE_ENTRY_BYTES + 1);

    REQUIRE(cache != NULL && big != NULL);
    arena_init(&keep, 0);
    CHECK(cache_get(cache, "/a", 1, &keep, &bytes) == NULL);
    char *exact = test_copy("/a", sizeof "/a"); /* a reader past its end is seen with sanitizers */
    cache_put(cache, exact, 1, "one", 3);
    free(exact);
    CHECK_STR(cache_get(cache, "/a", 1, &keep, &bytes), "one");
    CHECK_EQ(bytes, 3);
    CHECK(cache_get(cache, "/a", 2, &keep, &bytes) == NULL);
    CHECK(cache_get(cache, "/b", 1, &keep, &bytes) == NULL);
    cache_put(cache, "/a", 2, "two", 3);
    CHECK_STR(cache_get(cache, "/a", 2, &keep, &bytes), "two");
    cache_put(cache, "/big", 1, big, CACHE_ENTRY_BYTES + 1);
    CHECK(cache_get(cache, "/big", 1, &keep, &bytes) == NULL);
    arena_free(&keep);
    cache_free(cache);
    free(big);
}

TEST(what_is_asked_for_again_and_again_stays_in_the_cache)
{
    static const char *const frequent[] = {"/a", "/b", "/c", "/d"};
    struct cache *cache = cache_new();
    REQUIRE(cache != NULL);
    for (size_t k = 0; k < COUNT_OF(frequent); k++)
        cache_put(cache, frequent[k], 1, "x", 1);
    for (int i = 0; i < 4 * CACHE_SLOTS; i++) {
        char key[32];
        struct arena keep;
        size_t bytes = 0;
        (void)snprintf(key, sizeof key, "/api/v1/runs/%d", i);
        test_row(key);
        cache_put(cache, key, 1, "once", 4);
        arena_init(&keep, 0);
        for (size_t k = 0; k < COUNT_OF(frequent); k++)
            CHECK(cache_get(cache, frequent[k], 1, &keep, &bytes) != NULL);
        arena_free(&keep);
    }
    cache_free(cache);
}

TEST(the_cache_is_bounded_whatever_is_asked)
{
    struct cache *cache = cache_new();
    char *document = calloc(1, CACHE_ENTRY_BYTES), key[32];
    size_t kept = 0;
    REQUIRE(cache != NULL && document != NULL);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof key, "/api/v1/runs/%d", i);
        cache_put(cache, key, 1, document, CACHE_ENTRY_BYTES - (size_t)i);
    }
    for (int i = 0; i < 200; i++) {
        size_t bytes = 0;
        struct arena keep;
        (void)snprintf(key, sizeof key, "/api/v1/runs/%d", i);
        arena_init(&keep, 0);
        if (cache_get(cache, key, 1, &keep, &bytes) != NULL)
            kept += bytes;
        arena_free(&keep);
    }
    CHECK(kept <= CACHE_TOTAL_BYTES);
    CHECK(kept > CACHE_TOTAL_BYTES / 2);
    free(document);
    cache_free(cache);
}

TEST(assets_are_found_by_their_whole_path)
{
    const struct web_asset *page = web_asset_find("/");
    REQUIRE(page != NULL);
    CHECK_HAS(page->mime, "text/html");
    CHECK(!page->immutable);
    CHECK(web_asset_find("/assets/") == NULL);
    CHECK(web_asset_find("/assets/../") == NULL);
    CHECK(web_asset_find("") == NULL);
    for (size_t i = 0; i < web_asset_count; i++) {
        test_row(web_assets[i].path);
        CHECK(web_assets[i].gzip_bytes > 2 && web_assets[i].gzip[0] == 0x1f);
        CHECK(web_assets[i].brotli_bytes > 0 &&
              web_assets[i].brotli_bytes < web_assets[i].plain_bytes);
        CHECK_EQ(web_assets[i].immutable, strncmp(web_assets[i].path, "/assets/", 8) == 0);
    }
}

TEST(no_string_closes_the_offline_pages_data)
{
    static const char data[] = "{\"a\":\"</script><script>x</script><!--\"}";
    char path[512];
    struct fault fault = FAULT_INIT;
    size_t bytes = 0;

    (void)snprintf(path, sizeof path, "%s/page.html", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    CHECK_EQ(web_offline_page(out, data, sizeof data - 1, &fault), ERR_NONE);
    (void)fclose(out);
    const char *page = (const char *)test_read(path, &bytes);
    char *text = malloc(bytes + 1);
    REQUIRE(text != NULL);
    memcpy(text, page, bytes);
    text[bytes] = '\0';
    CHECK_HAS(text, "\\u003c/script>\\u003cscript>x\\u003c/script>\\u003c!--");
    CHECK(strstr(text, "</script><script>x") == NULL);
    free(text);
}

TEST(a_server_that_ends_is_known_to_all)
{
    struct dashboard d = {.lock = mutex_new()};
    CHECK(!dashboard_is_stopping(&d));
    d.stopping = true;
    CHECK(dashboard_is_stopping(&d));
    CHECK(dashboard_is_stopping(&d)); /* its lock was given back */
    mutex_free(d.lock);
}

enum { PLAIN_BYTES = 40000, PACKED_BYTES = 4 * PLAIN_BYTES };

struct unpacked_body {
    char data[2 * PLAIN_BYTES];
    size_t bytes, pieces, keeps; /* keeps: pieces until there is no room */
};

static bool keep_piece(void *context, const char *data, size_t bytes)
{
    struct unpacked_body *body = context;
    if (body->pieces++ == body->keeps)
        return false;
    memcpy(body->data + body->bytes, data, bytes);
    body->bytes += bytes;
    return true;
}

/* LEVEL 0 leaves the bytes as they are. */
static size_t pack(char *data, size_t bytes, bool as_gzip, int level, char *out)
{
    z_stream stream = {.next_in = (Bytef *)data,
                       .avail_in = (uInt)bytes,
                       .next_out = (Bytef *)out,
                       .avail_out = PACKED_BYTES};
    REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + (as_gzip ? 16 : 0), 8,
                         Z_DEFAULT_STRATEGY) == Z_OK);
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    (void)deflateEnd(&stream);
    return stream.total_out;
}

/* PIECE bytes at a time. */
static enum unpacked unpack_in(enum packing packing, const char *data, size_t bytes, size_t piece,
                               size_t max_bytes, struct unpacked_body *out)
{
    struct unpack *unpack = unpack_new(packing, max_bytes, keep_piece, out);
    enum unpacked got = UNPACKED_OK;
    size_t counted = 0;
    REQUIRE(unpack != NULL);
    for (size_t at = 0; at < bytes && got == UNPACKED_OK; at += piece)
        got = unpack_add(unpack, data + at, bytes - at < piece ? bytes - at : piece);
    if (got == UNPACKED_OK)
        got = unpack_end(unpack, &counted);
    if (got == UNPACKED_OK)
        CHECK_EQ(counted, out->bytes);
    unpack_free(unpack);
    return got;
}

static char plain_body[PLAIN_BYTES], packed_body[2 * PACKED_BYTES];
static struct unpacked_body got_body;

TEST(a_packed_body_is_unpacked_and_its_damage_is_known)
{
    static const struct {
        const char *name;
        enum packing packing; /* as the request says */
        bool as_gzip;
        int level, members;
        size_t piece, max_bytes, keeps, cut; /* cut: bytes less */
        int flip;                            /* a byte that is another one; -1: none is */
        bool tail;                           /* a byte too many */
        enum unpacked want;
    } rows[] = {
        {"gzip", PACKING_GZIP, true, 9, 1, 1024, PLAIN_BYTES, 99, 0, -1, false, UNPACKED_OK},
        {"deflate", PACKING_DEFLATE, false, 9, 1, 1024, PLAIN_BYTES, 99, 0, -1, false, UNPACKED_OK},
        {"as it is", PACKING_GZIP, true, 0, 1, 99999, PLAIN_BYTES, 99, 0, -1, false, UNPACKED_OK},
        {"byte by byte", PACKING_GZIP, true, 9, 1, 1, PLAIN_BYTES, 99999, 0, -1, false,
         UNPACKED_OK},
        {"two members", PACKING_GZIP, true, 9, 2, 7, 2 * PLAIN_BYTES, 99999, 0, -1, false,
         UNPACKED_OK},
        {"two streams of deflate", PACKING_DEFLATE, false, 9, 2, 1024, 2 * PLAIN_BYTES, 99, 0, -1,
         false, UNPACKED_DAMAGED},
        {"one byte above the limit", PACKING_GZIP, true, 9, 1, 1024, PLAIN_BYTES - 1, 99, 0, -1,
         false, UNPACKED_TOO_LARGE},
        {"two members above the limit", PACKING_GZIP, true, 9, 2, 1024, 2 * PLAIN_BYTES - 1, 99, 0,
         -1, false, UNPACKED_TOO_LARGE},
        {"no room for the second piece", PACKING_GZIP, true, 9, 1, 1024, PLAIN_BYTES, 1, 0, -1,
         false, UNPACKED_NOT_KEPT},
        {"the other packing", PACKING_DEFLATE, true, 9, 1, 1024, PLAIN_BYTES, 99, 0, -1, false,
         UNPACKED_DAMAGED},
        {"zlib for gzip", PACKING_GZIP, false, 9, 1, 1024, PLAIN_BYTES, 99, 0, -1, false,
         UNPACKED_DAMAGED},
        {"a cut checksum", PACKING_GZIP, true, 9, 1, 1024, PLAIN_BYTES, 99, 1, -1, false,
         UNPACKED_DAMAGED},
        {"another magic", PACKING_GZIP, true, 9, 1, 1024, PLAIN_BYTES, 99, 0, 0, false,
         UNPACKED_DAMAGED},
        {"a byte after the end", PACKING_GZIP, true, 9, 1, 1024, PLAIN_BYTES, 99, 0, -1, true,
         UNPACKED_DAMAGED},
        {"a byte after the end, alone", PACKING_DEFLATE, false, 9, 1, 1, PLAIN_BYTES, 99999, 0, -1,
         true, UNPACKED_DAMAGED},
    };
    for (size_t i = 0; i < sizeof plain_body; i++)
        plain_body[i] = (char)(i * i >> 7);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t bytes = 0;
        test_row(rows[i].name);
        for (int m = 0; m < rows[i].members; m++)
            bytes += pack(plain_body, sizeof plain_body, rows[i].as_gzip, rows[i].level,
                          packed_body + bytes);
        if (rows[i].tail)
            packed_body[bytes++] = 'x';
        if (rows[i].flip >= 0)
            packed_body[rows[i].flip] ^= 1;
        got_body = (struct unpacked_body){.keeps = rows[i].keeps};
        CHECK_EQ(unpack_in(rows[i].packing, packed_body, bytes - rows[i].cut, rows[i].piece,
                           rows[i].max_bytes, &got_body),
                 rows[i].want);
        CHECK(got_body.bytes <= rows[i].max_bytes);
        if (rows[i].want != UNPACKED_OK)
            continue;
        CHECK_EQ(got_body.bytes, (size_t)rows[i].members * PLAIN_BYTES);
        for (int m = 0; m < rows[i].members; m++)
            CHECK(memcmp(got_body.data + (size_t)m * PLAIN_BYTES, plain_body, PLAIN_BYTES) == 0);
    }
}

TEST(a_packed_body_that_is_cut_anywhere_is_damaged)
{
    char plain[] = "a stack, a stack, a stack";
    for (int as_gzip = 0; as_gzip < 2; as_gzip++) {
        const size_t bytes = pack(plain, sizeof plain, as_gzip, 9, packed_body);
        for (size_t size = 0; size < bytes; size++) {
            got_body = (struct unpacked_body){.keeps = 99};
            CHECK_EQ(unpack_in(as_gzip ? PACKING_GZIP : PACKING_DEFLATE, packed_body, size, 5,
                               PLAIN_BYTES, &got_body),
                     UNPACKED_DAMAGED);
        }
    }
}

TEST(a_content_encoding_is_known_or_not)
{
    static const struct {
        const char *name;
        bool known;
        enum packing packing;
    } rows[] = {
        {NULL, true, PACKING_NONE},     {"identity", true, PACKING_NONE},
        {"gzip", true, PACKING_GZIP},   {"GZip", true, PACKING_GZIP},
        {"x-gzip", true, PACKING_GZIP}, {"deflate", true, PACKING_DEFLATE},
        {"br", false, PACKING_NONE},    {"gzip, gzip", false, PACKING_NONE},
        {"", false, PACKING_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum packing packing = PACKING_GZIP;
        test_row(rows[i].name != NULL ? rows[i].name : "none");
        CHECK_EQ(packing_parse(rows[i].name, &packing), rows[i].known);
        CHECK_EQ(packing, rows[i].packing);
    }
}
