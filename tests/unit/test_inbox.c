/* The collector of reports, asked over a socket of this process: who may send what, how often,
 * where it goes, and what is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "http/state.h"
#include "inbox/reports_inbox.h"
#include "inbox_desk.h"
#include "test.h"

enum { TEXT_MOST = 16 << 20 /* of a report of text */ };

/* 16, 16 and 128 characters. */
#define ALICE "alice-0123456789"
#define CAROL "carol-0123456789"
static const char letters[129] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                                 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

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
        {"1 MiB", repeated(&keep, "#23456789abcdef\n", 65534, "# 678901\nalice 0123456789abcdef\n"),
         ERR_NONE}, /* 65,534 * 16 + 32 */
        {"a byte more",
         repeated(&keep, "#23456789abcdef\n", 65534, "# 6789012\nalice 0123456789abcdef\n"),
         ERR_LIMIT},
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

/* RFC 9110, 15.6.4: 503 is for now, so the sender keeps the report; 4xx would make it give up. */
TEST(a_report_that_finds_no_disk_has_failed_and_is_sent_again)
{
    static const struct {
        const char *name, *target, *body;
        bool has_disk;
        int status;
        const char *says;
        uint32_t stored, refused, failed; /* so far */
    } rows[] = {
        {"stacks", "/report?id=a", "x.exe!0x1\n", false, 503, "\"key\":\"not_stored\"", 0, 0, 1},
        {"a dump", "/report?kind=dump&id=a", "MDMP", false, 503, "\"hint\":\"send it again\"", 0, 0,
         2},
        {"what would be refused", "/report?id=%2F", "x.exe!0x1\n", false, 400, "\"bad_id\"", 0, 1,
         2},
        {"stacks again", "/report?id=a", "x.exe!0x1\n", true, 200, "\"alice-a\"", 1, 1, 2},
        {"the dump again", "/report?kind=dump&id=a", "MDMP", true, 200, "\"alice-a\"", 2, 1, 2},
    };
    struct desk d;
    struct fault fault = FAULT_INIT;
    char aside[620];
    bool has_disk = true;
    open_desk(&d, "alice " ALICE "\n", (struct dashboard_options){.dump_mib = 1});
    (void)snprintf(aside, sizeof aside, "%s-aside", d.spool);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char want[200];
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        if (has_disk && !rows[i].has_disk) { /* a file is where the folder was */
            REQUIRE(path_rename(d.spool, aside, &fault) == ERR_NONE);
            test_write(d.spool, "", 0);
        } else if (!has_disk && rows[i].has_disk) {
            REQUIRE(path_remove(d.spool, &fault) == ERR_NONE);
            REQUIRE(path_rename(aside, d.spool, &fault) == ERR_NONE);
        }
        has_disk = rows[i].has_disk;
        ask(&d, rows[i].target, ALICE, rows[i].body, strlen(rows[i].body));
        CHECK_EQ(d.status, rows[i].status);
        CHECK_HAS(d.body, rows[i].says);
        (void)snprintf(want, sizeof want,
                       "twinstack_reports_total{result=\"stored\"} %u\n"
                       "twinstack_reports_total{result=\"refused\"} %u\n"
                       "twinstack_reports_total{result=\"failed\"} %u\n",
                       rows[i].stored, rows[i].refused, rows[i].failed);
        CHECK_HAS(collector_metrics(d.dashboard.collector, &keep), want);
        arena_free(&keep);
    }
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

/* RFC 9110, 8.6 (one length), 10.1.1 (the client waits to be invited), 15.5.12, 15.5.14, 15.5.16;
 * RFC 9112, 6.3 (no second end of a body). */
TEST(a_body_has_one_length_and_no_more_than_the_most)
{
#define TEN "Content-Length: 10\r\n"
#define WAITS "Expect: 100-Continue\r\n"
    static const struct {
        const char *name, *lines, *body;
        int status;
        const char *says;
    } rows[] = {
        {"ten bytes", TEN, "x.exe!0x1\n", 200, "\"stored\":true"},
        {"no byte", "Content-Length: 0\r\n", "", 200, "\"stored\":true"},
        {"no length", "", "", 411, "\"key\":\"length_required\""},
        {"two ends", TEN "Transfer-Encoding: chunked\r\n", "", 411, "\"length_required\""},
        {"no number", "Content-Length: 10x\r\n", "", 400, "\"key\":\"bad_length\""},
        {"two lengths", TEN TEN, "", 400, "\"key\":\"bad_length\""},
        {"packed otherwise", TEN "Content-Encoding: br\r\n", "", 415, "\"key\":\"encoding\""},
        {"no gzip", TEN "Content-Encoding: gzip\r\n", "x.exe!0x1\n", 400, "\"key\":\"packing\""},
        {"not packed", TEN "Content-Encoding: Identity\r\n", "x.exe!0x1\n", 200, "\"stored\":true"},
        {"is invited", TEN WAITS, "", 100, ""},
        {"the most, 64 MiB", "Content-Length: 67108864\r\n" WAITS, "", 100, ""},
        {"one more", "Content-Length: 67108865\r\n" WAITS, "", 413, "\"key\":\"too_large\""},
        {"a wrong id is not invited", TEN WAITS, NULL, 400, "\"key\":\"bad_id\""},
    };
#undef TEN
#undef WAITS
    struct desk d;
    open_desk(&d, "alice " ALICE "\n", (struct dashboard_options){.dump_mib = 1});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char lines[200], target[40] = "/report";
        const char *body = rows[i].body != NULL ? rows[i].body : "";
        test_row(rows[i].name);
        (void)snprintf(lines, sizeof lines, "X-Token: " ALICE "\r\n%s", rows[i].lines);
        if (rows[i].body != NULL)
            (void)snprintf(target, sizeof target, "/report?id=%zu", i);
        ask_with(&d, target, lines, body, strlen(body));
        CHECK_EQ(d.status, rows[i].status);
        CHECK_HAS(d.body, rows[i].says);
        CHECK_EQ(d.dashboard.uploads, 0);
    }
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
