/* The collector of reports and the list of head problems, asked over a socket of this process: who
 * may send what, how often, where it goes, and what is counted. */
#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/cache.h"
#include "http/exchange.h"
#include "http/state.h"
#include "inbox/collect.h"
#include "inbox/problems.h"
#include "stream/totals.h"
#include "test.h"

enum { TEXT_MOST = 16 << 20 /* of a report of text */, ANSWER_BYTES = 16384 };

/* 16, 16 and 128 characters. */
#define ALICE "alice-0123456789"
#define CAROL "carol-0123456789"
static const char letters[129] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                                 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/* Requests that have ended, under the dashboard's lock: what a handler counts, it may count after
 * its answer. */
static int ended;

static int read_ended(struct dashboard *dashboard, int add)
{
    mutex_lock(dashboard->lock);
    const int now = ended += add;
    mutex_unlock(dashboard->lock);
    return now;
}

struct desk {
    struct dashboard dashboard;
    int port;
    char spool[600], senders[640];
    int status;              /* of the last answer */
    char body[ANSWER_BYTES]; /* and what it said */
};

static int begin_request(struct mg_connection *connection)
{
    const struct mg_request_info *request = mg_get_request_info(connection);
    struct fault fault = FAULT_INIT;
    struct exchange x = {.connection = connection,
                         .request = request,
                         .dashboard = request->user_data,
                         .path = request->request_uri,
                         .started_ns = clock_ns()};
    arena_init(&x.keep, 0);
    const int status =
        http_query_parse(request->query_string, &x.keep, &x.query, &fault) != ERR_NONE
            ? answer_fault(&x, &fault)
        : strcmp(x.path, "/report") == 0 ? answer_report(&x)
                                         : answer_problems(&x);
    exchange_end_upload(&x);
    arena_free(&x.keep);
    (void)read_ended(x.dashboard, 1);
    return status;
}

/* Ending a server takes civetweb two seconds, the end of the test's process takes none. */
static void open_desk(struct desk *d, const char *senders, struct dashboard_options options)
{
    const char *settings[] = {"listening_ports", "127.0.0.1:0", "num_threads", "2", NULL};
    const struct mg_callbacks callbacks = {.begin_request = begin_request};
    struct mg_server_port bound[1];
    struct fault fault = FAULT_INIT;
    memset(d, 0, sizeof *d);
    (void)snprintf(d->spool, sizeof d->spool, "%s/spool", test_scratch());
    (void)snprintf(d->senders, sizeof d->senders, "%s/senders", test_scratch());
    d->dashboard.options = options;
    d->dashboard.options.spool = d->spool;
    d->dashboard.options.senders = d->senders;
    d->dashboard.lock = mutex_new();
    d->dashboard.cache = cache_new();
    REQUIRE(d->dashboard.lock != NULL && d->dashboard.cache != NULL);
    if (senders != NULL) {
        test_write(d->senders, senders, strlen(senders));
        REQUIRE(collector_open(&d->dashboard.options, &d->dashboard.collector, &fault) == ERR_NONE);
    }
    (void)mg_init_library(MG_FEATURES_DEFAULT);
    d->dashboard.server = mg_start(&callbacks, &d->dashboard, settings);
    REQUIRE(d->dashboard.server != NULL && mg_get_server_ports(d->dashboard.server, 1, bound) == 1);
    d->port = bound[0].port;
}

static void close_desk(struct desk *d)
{
    collector_close(d->dashboard.collector);
    cache_free(d->dashboard.cache);
    mutex_free(d->dashboard.lock);
}

/* Sends a request; a body goes with POST. TOKEN may be NULL. */
static void ask(struct desk *d, const char *target, const char *token, const char *body,
                size_t bytes)
{
    char why[256] = "";
    struct mg_connection *c = mg_connect_client("127.0.0.1", d->port, 0, why, sizeof why);
    size_t had = 0;
    const int before = read_ended(&d->dashboard, 0);
    REQUIRE(c != NULL);
    (void)mg_printf(c, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%s%s", body != NULL ? "POST" : "GET",
                    target, token != NULL ? "X-Token: " : "", token != NULL ? token : "",
                    token != NULL ? "\r\n" : "");
    if (body != NULL)
        (void)mg_printf(c, "Content-Length: %zu\r\n", bytes);
    (void)mg_printf(c, "\r\n");
    if (bytes > 0)
        (void)mg_write(c, body, bytes);
    REQUIRE(mg_get_response(c, why, sizeof why, 60000) >= 0);
    d->status = mg_get_response_info(c)->status_code;
    for (int got = 1; got > 0 && had < sizeof d->body - 1; had += got > 0 ? (size_t)got : 0)
        got = mg_read(c, d->body + had, sizeof d->body - 1 - had);
    d->body[had] = '\0';
    mg_close_connection(c);
    while (read_ended(&d->dashboard, 0) == before)
        thread_sleep_ms(1);
}

static void send_text(struct desk *d, const char *query, const char *token, const char *text)
{
    char target[300];
    (void)snprintf(target, sizeof target, "/report?%s", query);
    ask(d, target, token, text, strlen(text));
}

/* ---- the file of senders ---------------------------------------------------------------- */

/* The same text so often, then END. */
static const char *repeated(struct arena *keep, const char *text, size_t count, const char *end)
{
    const size_t bytes = strlen(text);
    char *out = arena_alloc(keep, bytes * count + strlen(end) + 1);
    REQUIRE(out != NULL);
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * bytes, text, bytes);
    memcpy(out + bytes * count, end, strlen(end) + 1);
    return out;
}

TEST(a_file_of_senders_is_read_or_refused)
{
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"name and token", "alice 0123456789abcdef\n", ERR_NONE},
        {"the last line has no end", "alice 0123456789abcdef", ERR_NONE},
        {"comments and empty lines", "# who\n\nalice 0123456789abcdef\n", ERR_NONE},
        {"only a comment", "# who\n", ERR_MALFORMED},
        {"empty", "", ERR_MALFORMED},
        {"no token", "alice\n", ERR_MALFORMED},
        {"a token of 15", "alice 0123456789abcde\n", ERR_MALFORMED},
        {"a bad line after a good one", "alice 0123456789abcdef\nbob\n", ERR_MALFORMED},
        {"a name of 24", "abcdefghijklmnopqrstuvwx 0123456789abcdef\n", ERR_NONE},
        {"a name of 25", "abcdefghijklmnopqrstuvwxy 0123456789abcdef\n", ERR_MALFORMED},
        {"the mark between name and id", "a-b 0123456789abcdef\n", ERR_MALFORMED},
        {"a name that is no id", "a/b 0123456789abcdef\n", ERR_MALFORMED},
        {"a rate of one", "alice 0123456789abcdef 1\n", ERR_NONE},
        {"a rate of none", "alice 0123456789abcdef 0\n", ERR_MALFORMED},
        {"a rate that is no number", "alice 0123456789abcdef x\n", ERR_MALFORMED},
        {"the highest rate", "alice 0123456789abcdef 60000000\n", ERR_NONE},
        {"a rate above it", "alice 0123456789abcdef 60000001\n", ERR_MALFORMED},
        {"a fourth word", "alice 0123456789abcdef 1 x\n", ERR_MALFORMED},
    };
    char path[640], spool[640];
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/senders", test_scratch());
    (void)snprintf(spool, sizeof spool, "%s/spool", test_scratch());
    const struct {
        const char *name, *text;
        enum status want;
    } long_rows[] = {
        {"a token of 128", arena_printf(&keep, "alice %s\n", letters), ERR_NONE},
        {"a token of 129", arena_printf(&keep, "alice %sb\n", letters), ERR_MALFORMED},
        {"4096 senders", repeated(&keep, "alice 0123456789abcdef\n", 4096, ""), ERR_NONE},
        {"4097 senders", repeated(&keep, "alice 0123456789abcdef\n", 4097, ""), ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows) + COUNT_OF(long_rows); i++) {
        const bool is_long = i >= COUNT_OF(rows);
        const size_t k = is_long ? i - COUNT_OF(rows) : i;
        const char *text = is_long ? long_rows[k].text : rows[k].text;
        const struct dashboard_options options = {.senders = path, .spool = spool};
        struct collector *collector = NULL;
        fault_clear(&fault);
        test_row(is_long ? long_rows[k].name : rows[k].name);
        test_write(path, text, strlen(text));
        CHECK_EQ(collector_open(&options, &collector, &fault),
                 is_long ? long_rows[k].want : rows[k].want);
        collector_close(collector);
    }
    struct collector *collector = NULL;
    const struct dashboard_options none = {.spool = spool};
    test_row("no file");
    fault_clear(&fault);
    CHECK_EQ(collector_open(&none, &collector, &fault), ERR_USAGE);
    collector_close(collector);
    arena_free(&keep);
}

/* ---- reports ------------------------------------------------------------------------------ */

TEST(a_report_is_stored_or_refused_with_a_reason)
{
    static const struct {
        const char *name, *query, *token, *text;
        int status;
        const char *says;
    } rows[] = {
        {"stored under sender and id", "id=r1", ALICE, "x.exe!0x1\n", 200,
         "{\"data\":{\"id\":\"alice-r1\",\"stored\":true},"},
        {"sent again", "id=r1", ALICE, "x.exe!0x1\n", 200, "\"id\":\"alice-r1\""},
        {"another body", "id=r1", ALICE, "x.exe!0x2\n", 409, "\"key\":\"other_report\""},
        {"another sender has this id", "id=r1", CAROL, "x.exe!0x2\n", 200, "\"carol-r1\""},
        {"a token of 128", "id=r1", letters, "x.exe!0x2\n", 200, "\"bob-r1\""},
        {"said to be stacks", "id=r2&kind=stacks", ALICE, "x.exe!0x1\n", 200, "\"alice-r2\""},
        {"an empty body", "id=r7", ALICE, "", 200, "\"alice-r7\""},
        {"of a version", "id=r3&version=1.2", ALICE, "x.exe!0x1\n", 200, "\"alice-r3\""},
        {"an id of 48", "id=012345678901234567890123456789012345678901234567", ALICE, "a!0x1\n",
         200, "\"stored\":true"},
        {"an id of 49", "id=0123456789012345678901234567890123456789012345678", ALICE, "a!0x1\n",
         400, "\"key\":\"bad_id\""},
        {"no id", "kind=stacks", ALICE, "x.exe!0x1\n", 400, "\"key\":\"bad_id\""},
        {"an id that leaves the folder", "id=..%2Fx", ALICE, "a!0x1\n", 400, "\"bad_id\""},
        {"another kind", "id=r4&kind=dumps", ALICE, "x.exe!0x1\n", 400, "\"key\":\"bad_kind\""},
        {"a version of 63",
         "id=r5&version=vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv", ALICE,
         "x.exe!0x1\n", 200, "\"alice-r5\""},
        {"a version of 64",
         "id=r6&version=vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv", ALICE,
         "x.exe!0x1\n", 400, "\"key\":\"bad_report\""},
        {"no token", "id=r4", NULL, "x.exe!0x1\n", 401, "\"key\":\"token\""},
        {"a token that begins like another", "id=r4", ALICE "0", "x.exe!0x1\n", 401, "\"token\""},
        {"the beginning of a token", "id=r4", "alice-012345678", "x.exe!0x1\n", 401, "\"token\""},
        {"a last character that differs", "id=r4", "alice-0123456788", "a!0x1\n", 401, "\"token\""},
        {"a part that repeated is a token", "id=r4", "bbbbbbbbbbbbbbbb", "a!0x1\n", 401,
         "\"token\""},
    };
    struct desk d;
    char senders[400];
    (void)snprintf(senders, sizeof senders, "alice %s\nbob %s\ncarol %s\n", ALICE, letters, CAROL);
    open_desk(&d, senders, (struct dashboard_options){.dump_age_ms = 1000, .dump_mib = 1});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        send_text(&d, rows[i].query, rows[i].token, rows[i].text);
        CHECK_EQ(d.status, rows[i].status);
        CHECK_HAS(d.body, rows[i].says);
    }
    /* Eight of them are new, one is a repetition; the bytes of both are counted. */
    struct arena keep;
    arena_init(&keep, 0);
    const char *metrics = collector_metrics(d.dashboard.collector, &keep);
    REQUIRE(metrics != NULL);
    test_row("metrics");
    CHECK_HAS(metrics, "twinstack_reports_total{result=\"stored\"} 9\n");
    CHECK_HAS(metrics, "twinstack_reports_total{result=\"refused\"} 11\n");
    CHECK_HAS(metrics, "twinstack_reports_total{result=\"failed\"} 0\n");
    CHECK_HAS(metrics, "twinstack_report_bytes_total 76\n"); /* 7 * 10 + 6 */
    CHECK_HAS(metrics, "twinstack_queue_pending{channel=\"reports\"} 8\n");
    CHECK_HAS(metrics, "twinstack_queue_pending{channel=\"partials\"} 0\n");
    CHECK_HAS(metrics, "twinstack_queue_pending{channel=\"dead\"} 0\n");
    CHECK_HAS(metrics, "twinstack_queue_pending{channel=\"shadow\"} 0\n");
    CHECK_HAS(metrics, "twinstack_queue_oldest_seconds{channel=\"dead\"} 0\n");
    CHECK_HAS(metrics, "twinstack_dumps_deleted_total 0\n");
    arena_free(&keep);
    close_desk(&d);
}

TEST(a_server_without_a_collector_takes_nothing)
{
    struct desk d;
    open_desk(&d, NULL, (struct dashboard_options){0});
    send_text(&d, "id=r1", ALICE, "x.exe!0x1\n");
    CHECK_EQ(d.status, 403);
    CHECK_HAS(d.body, "\"key\":\"collect_off\"");
    close_desk(&d);
}

TEST(a_report_of_text_has_sixteen_mebibytes_at_most)
{
    struct desk d;
    char *text = malloc((size_t)TEXT_MOST + 1);
    REQUIRE(text != NULL);
    for (size_t i = 0; i <= TEXT_MOST; i++)
        text[i] = "> 1\nx.exe!0x1\n\n"[i % 15];
    open_desk(&d, "alice " ALICE "\n", (struct dashboard_options){.dump_mib = 1});
    ask(&d, "/report?id=most", ALICE, text, (size_t)TEXT_MOST);
    CHECK_EQ(d.status, 200);
    ask(&d, "/report?id=more", ALICE, text, (size_t)TEXT_MOST + 1);
    CHECK_EQ(d.status, 413);
    CHECK_HAS(d.body, "\"key\":\"too_large\"");
    close_desk(&d);
    free(text);
}

/* A bucket holds what comes in ten seconds, and at least one. */
TEST(a_sender_has_its_own_rate)
{
    static const struct {
        const char *name, *rate;
        int sent; /* at once */
    } rows[] = {
        {"one a minute", "1", 1},
        {"six a minute: one in ten seconds, and the next is due", "6", 2},
        {"twelve a minute", "12", 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct desk d;
        char senders[200], query[40];
        int sent = 0;
        test_row(rows[i].name);
        (void)snprintf(senders, sizeof senders, "alice %s %s\ncarol %s\n", ALICE, rows[i].rate,
                       CAROL);
        open_desk(&d, senders, (struct dashboard_options){.dump_mib = 1});
        const uint64_t start_ns = clock_ns();
        do {
            (void)snprintf(query, sizeof query, "id=%zu-%d", i, sent++);
            send_text(&d, query, ALICE, "x.exe!0x1\n");
        } while (d.status == 200 && sent < 20);
        /* On a machine that needs seconds for this, more would be due. */
        if (clock_ns() - start_ns < UINT64_C(1000000000)) {
            CHECK_EQ(sent, rows[i].sent + 1);
            CHECK_HAS(d.body, "\"key\":\"too_many\"");
        }
        CHECK_EQ(d.status, 429);
        (void)snprintf(query, sizeof query, "id=%zu", i);
        send_text(&d, query, CAROL, "x.exe!0x1\n"); /* the others are not slowed down */
        CHECK_EQ(d.status, 200);
        close_desk(&d);
    }
}

TEST(dumps_are_kept_as_they_came_and_up_to_the_limit)
{
    enum { DUMP_BYTES = 400 << 10 };
    struct desk d;
    struct arena keep;
    size_t bytes = 0;
    char path[700], *dump = malloc(DUMP_BYTES);
    REQUIRE(dump != NULL);
    memset(dump, 'd', DUMP_BYTES);
    arena_init(&keep, 0);
    open_desk(&d, "alice " ALICE "\n",
              (struct dashboard_options){.dump_mib = 1, .dump_age_ms = 3600000});
    ask(&d, "/report?kind=dump&id=one", ALICE, dump, DUMP_BYTES);
    CHECK_EQ(d.status, 200);
    CHECK_HAS(d.body, "\"id\":\"alice-one\"");
    (void)snprintf(path, sizeof path, "%s/dumps/alice-one.dmp", d.spool);
    const uint8_t *kept = test_read(path, &bytes);
    CHECK_EQ(bytes, DUMP_BYTES);
    CHECK_MEM(kept, dump, bytes);
    test_row("sent again");
    ask(&d, "/report?kind=dump&id=one", ALICE, dump, DUMP_BYTES);
    CHECK_EQ(d.status, 200);
    test_row("another dump has this id");
    ask(&d, "/report?kind=dump&id=one", ALICE, dump, DUMP_BYTES - 1);
    CHECK_EQ(d.status, 409);
    (void)test_read(path, &bytes);
    CHECK_EQ(bytes, DUMP_BYTES);
    test_row("stacks have ids of their own");
    send_text(&d, "id=one", ALICE, "x.exe!0x1\n");
    CHECK_EQ(d.status, 200);
    test_row("two of 400 KiB fit into 1 MiB, three do not");
    ask(&d, "/report?kind=dump&id=two", ALICE, dump, DUMP_BYTES);
    CHECK_HAS(collector_metrics(d.dashboard.collector, &keep), "dumps_deleted_total 0\n");
    ask(&d, "/report?kind=dump&id=three", ALICE, dump, DUMP_BYTES);
    CHECK_HAS(collector_metrics(d.dashboard.collector, &keep), "dumps_deleted_total 1\n");
    close_desk(&d);
    arena_free(&keep);
    free(dump);
}

/* ---- head problems ------------------------------------------------------------------------ */

/* One partial result: COUNT times SIGNATURE, of one hour and version. */
static void add(struct totals *totals, const char *of, const char *hour, const char *version,
                const char *signature, uint64_t count)
{
    const struct signature_count row = {
        .text = signature, .example = "x!0x1", .first_seen = hour, .count = count};
    const struct partial p = {.of = of,
                              .hour = hour,
                              .version = version,
                              .stacks = count,
                              .bad = 1,
                              .rows = &row,
                              .count = 1};
    struct fault fault = FAULT_INIT;
    bool is_new = false;
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    REQUIRE(totals_add(totals, &p, &is_new, &fault) == ERR_NONE && is_new);
    REQUIRE(totals_end(totals, &fault) == ERR_NONE);
}

/* One report of version 1.1 in which the dump's stack was cut off. */
static void add_shadow(struct totals *totals)
{
    struct shadow_engine engine = {.engine = "dump",
                                   .against = "offset:rtl",
                                   .result = SHADOW_DIFFERS,
                                   .cause = "truncated",
                                   .module = "ntdll.dll",
                                   .ns = 3000};
    const struct shadow s = {.id = "a-1",
                             .hour = "2026-11-22T09",
                             .version = "1.1",
                             .verdict = "fail",
                             .engines = &engine,
                             .count = 1};
    struct fault fault = FAULT_INIT;
    bool is_new = false;
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    REQUIRE(totals_add_shadow(totals, &s, &is_new, &fault) == ERR_NONE && is_new);
    REQUIRE(totals_end(totals, &fault) == ERR_NONE);
}

/* poke 5 + 2, worker 4, leaf 1; of 3 hours and 2 versions. */
static void write_totals(const char *path)
{
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "a-1", "2026-11-22T08", "1.0", "poke | main", 5);
    add(totals, "a-2", "2026-11-22T09", "1.1", "poke | main", 2);
    add(totals, "a-3", "2026-11-22T09", "1.1", "worker | main", 4);
    add(totals, "a-4", "2026-11-23T10", "1.1", "leaf", 1);
    add_shadow(totals);
    totals_close(totals);
}

TEST(head_problems_are_listed_in_pages)
{
    static const struct {
        const char *name, *query;
        int status;
        const char *says[6], *omits;
    } rows[] = {
        {"all",
         "",
         200,
         {"{\"data\":{\"stacks\":12,\"bad\":4,\"reports\":4,\"total\":3,"
          "\"first_hour\":\"2026-11-22T08\",\"last_hour\":\"2026-11-23T10\","
          "\"hours\":[{\"hour\":\"2026-11-22T08\",\"count\":5},"
          "{\"hour\":\"2026-11-22T09\",\"count\":6},"
          "{\"hour\":\"2026-11-23T10\",\"count\":1}],\"problems\":[{\"rank\":1,",
          "{\"rank\":1,\"signature\":\"poke | main\",\"count\":7,\"error\":0,"
          "\"first_seen\":\"2026-11-22T08\",\"last_seen\":\"2026-11-22T09\",\"new\":false,"
          "\"versions\":\"1.0, 1.1\",\"example\":\"x!0x1\",\"judged\":0,\"agreed\":0,"
          "\"hours\":[{\"hour\":\"2026-11-22T08\",\"count\":5},"
          "{\"hour\":\"2026-11-22T09\",\"count\":2}]}",
          "{\"rank\":2,\"signature\":\"worker | main\",\"count\":4,",
          "{\"rank\":3,\"signature\":\"leaf\",\"count\":1,",
          "\"hours\":[{\"hour\":\"2026-11-23T10\",\"count\":1}]}],\"next\":null,",
          "\"shadow\":{\"reports\":1,\"verdicts\":[{\"verdict\":\"fail\",\"count\":1}],\"engines\":"
          "["
          "{\"engine\":\"dump\",\"against\":\"offset:rtl\",\"same\":0,\"differs\":1,\"failed\":0,"
          "\"median_ns\":3000,\"hours\":[{\"hour\":\"2026-11-22T09\",\"judged\":1,\"agreed\":0}]}],"
          "\"causes\":[{\"engine\":\"dump\",\"result\":\"differs\",\"cause\":\"truncated\","
          "\"module\":\"ntdll.dll\",\"count\":1,\"first_hour\":\"2026-11-22T09\","
          "\"last_hour\":\"2026-11-22T09\",\"report\":\"a-1\"}]}},\"meta\":"},
         "\"rank\":4"},
        {"the first", "?limit=1", 200, {"\"rank\":1,", "\"total\":3", "\"next\":1,"}, "\"rank\":2"},
        {"the second",
         "?limit=1&after=1",
         200,
         {"\"problems\":[{\"rank\":2,\"signature\":\"worker | main\"", "\"next\":2,"},
         "\"rank\":3"},
        {"the last ones", "?after=1", 200, {"\"rank\":2,", "\"rank\":3,", "\"next\":null"}, NULL},
        {"after the last", "?after=3", 200, {"\"problems\":[],\"next\":null"}, NULL},
        {"far after it", "?after=2147483647", 200, {"\"problems\":[],\"next\":null"}, NULL},
        {"too far", "?after=2147483648", 400, {"\"key\":\"bad_after\""}, NULL},
        {"no rank", "?after=x", 400, {"\"key\":\"bad_after\""}, NULL},
        {"none at all", "?limit=0", 400, {"\"key\":\"bad_limit\""}, NULL},
        {"the most", "?limit=500", 200, {"\"rank\":3"}, NULL},
        {"more", "?limit=501", 400, {"\"key\":\"bad_limit\""}, NULL},
        {"no number", "?limit=x", 400, {"\"key\":\"bad_limit\""}, NULL},
        {"of a version",
         "?version=1.0",
         200,
         {"\"stacks\":5,", "\"count\":5,", "\"total\":1,", "\"shadow\":{\"reports\":0,"},
         "worker"},
        {"new since a day",
         "?baseline=2026-11-23",
         200,
         {"\"signature\":\"leaf\",\"count\":1,\"error\":0,\"first_seen\":\"2026-11-23T10\","
          "\"last_seen\":\"2026-11-23T10\",\"new\":true"},
         "\"new\":true,\"versions\":\"1.0"},
    };
    struct desk d;
    char path[640];
    (void)snprintf(path, sizeof path, "%s/totals.db", test_scratch());
    write_totals(path);
    open_desk(&d, NULL, (struct dashboard_options){.totals = path});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char target[200];
        test_row(rows[i].name);
        (void)snprintf(target, sizeof target, "/problems%s", rows[i].query);
        ask(&d, target, NULL, NULL, 0);
        CHECK_EQ(d.status, rows[i].status);
        for (size_t k = 0; k < COUNT_OF(rows[i].says) && rows[i].says[k] != NULL; k++)
            CHECK_HAS(d.body, rows[i].says[k]);
        CHECK(rows[i].omits == NULL || strstr(d.body, rows[i].omits) == NULL);
    }
    struct arena keep;
    arena_init(&keep, 0);
    test_row("metrics");
    CHECK_STR(problems_metrics(&d.dashboard, &keep), "# TYPE twinstack_counted_reports gauge\n"
                                                     "twinstack_counted_reports 4\n"
                                                     "# TYPE twinstack_counted_stacks gauge\n"
                                                     "twinstack_counted_stacks 12\n"
                                                     "# TYPE twinstack_counted_bad_lines gauge\n"
                                                     "twinstack_counted_bad_lines 4\n"
                                                     "# TYPE twinstack_signatures gauge\n"
                                                     "twinstack_signatures 3\n");
    arena_free(&keep);
    close_desk(&d);
}

TEST(without_totals_no_problem_is_listed)
{
    static const char *const files[] = {NULL, "no-such-folder/totals.db"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct desk d;
        struct arena keep;
        arena_init(&keep, 0);
        open_desk(&d, NULL, (struct dashboard_options){.totals = files[i]});
        ask(&d, "/problems", NULL, NULL, 0);
        CHECK_EQ(d.status, 200);
        CHECK_HAS(d.body, "\"stacks\":0,\"bad\":0,\"reports\":0,\"total\":0,\"first_hour\":null,"
                          "\"last_hour\":null,\"hours\":[],\"problems\":[],\"next\":null,");
        CHECK_STR(problems_metrics(&d.dashboard, &keep), "");
        arena_free(&keep);
        close_desk(&d);
    }
    struct desk d;
    char path[640];
    (void)snprintf(path, sizeof path, "%s/text.db", test_scratch());
    test_write(path, "not a database, and long enough to be read as one", 49);
    open_desk(&d, NULL, (struct dashboard_options){.totals = path});
    ask(&d, "/problems", NULL, NULL, 0);
    CHECK_EQ(d.status, 422);
    close_desk(&d);
}
