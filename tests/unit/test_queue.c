/* Reports as messages, the queue in a folder, and the totals. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "base/thread.h"
#include "stream/dumps.h"
#include "stream/queue.h"
#include "stream/queued_report.h"
#include "stream/totals.h"
#include "test.h"

static const struct report good = {.id = "alice-1",
                                   .sender = "alice",
                                   .version = "1.2",
                                   .received = "2026-11-22T08:15:00Z",
                                   .stacks = "> a\nx.exe!0x1\n",
                                   .bytes = 14};

TEST(a_report_comes_back_as_it_was_and_every_truncation_of_its_head_is_refused)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct report back;
    size_t bytes = 0;
    arena_init(&keep, 0);
    char *text = report_write(&good, &keep, &bytes);
    REQUIRE(text != NULL && report_read(text, bytes, &keep, &back, &fault) == ERR_NONE);
    CHECK_STR(back.id, good.id);
    CHECK_STR(back.sender, good.sender);
    CHECK_STR(back.version, good.version);
    CHECK_STR(back.received, good.received);
    REQUIRE(back.bytes == good.bytes);
    CHECK(memcmp(back.stacks, good.stacks, good.bytes) == 0);
    for (size_t cut = 0; cut < bytes - good.bytes; cut++) {
        struct fault bad = FAULT_INIT;
        char *copy = test_copy(text, cut);
        CHECK_EQ(report_read(copy, cut, &keep, &back, &bad), ERR_TRUNCATED);
        free(copy);
    }
    arena_free(&keep);
}

TEST(a_report_with_a_bad_head_is_refused)
{
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"no JSON", "> a\nx.exe!0x1\n", ERR_MALFORMED},
        {"a newer form", "{\"schema_version\":4}\n", ERR_UNSUPPORTED},
        {"no parts", "{\"schema_version\":2,\"id\":\"a\",\"received\":\"2026-11-22T08:15:00Z\"}\n",
         ERR_MALFORMED},
        {"more bytes than parts",
         "{\"schema_version\":2,\"id\":\"a\",\"received\":\"2026-11-22T08:15:00Z\",\"parts\":1,"
         "\"bytes\":9000000,\"digest\":\"0\"}\n",
         ERR_MALFORMED},
        {"no id", "{\"schema_version\":1,\"received\":\"2026-11-22T08:15:00Z\"}\n", ERR_MALFORMED},
        {"an id that is a path",
         "{\"schema_version\":1,\"id\":\"../a\",\"received\":\"2026-11-22T08:15:00Z\"}\n",
         ERR_MALFORMED},
        {"a short time", "{\"schema_version\":1,\"id\":\"a\",\"received\":\"2026\"}\n",
         ERR_MALFORMED},
        {"a line break in a word",
         "{\"schema_version\":1,\"id\":\"a\",\"version\":\"1\\n2\","
         "\"received\":\"2026-11-22T08:15:00Z\"}\n",
         ERR_MALFORMED},
        {"a number as id", "{\"schema_version\":1,\"id\":7}\n", ERR_MALFORMED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct report report;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_EQ(report_read(rows[i].text, strlen(rows[i].text), &keep, &report, &fault),
                 rows[i].want);
        CHECK_EQ(fault.reason == FAULT_NEWER, rows[i].want == ERR_UNSUPPORTED);
        arena_free(&keep);
    }
}

/* ---- the folder ------------------------------------------------------------------------- */

static struct queue *open_spool(void)
{
    char path[600];
    struct queue *queue = NULL;
    struct fault fault = FAULT_INIT;
    (void)snprintf(path, sizeof path, "%s/spool", test_scratch());
    REQUIRE(queue_open(path, &queue, &fault) == ERR_NONE);
    return queue;
}

static void put(struct queue *queue, const char *id, const char *text)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(queue->transport->put(queue, QUEUE_REPORTS, id, text, strlen(text), &fault) ==
            ERR_NONE);
}

/* Takes up to eight reports in order. Returns how many there were. */
static uint32_t take_reports(struct queue *queue, struct arena *keep, struct queue_message **out)
{
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;
    REQUIRE(queue->transport->take(queue, QUEUE_REPORTS, 8, 0, keep, out, &count, &fault) ==
            ERR_NONE);
    return count;
}

static void settle(struct queue *queue, struct queue_message *message, enum queue_end end)
{
    struct fault fault = FAULT_INIT;
    CHECK_EQ(queue->transport->settle(queue, QUEUE_REPORTS, message, end, &fault), ERR_NONE);
}

TEST(a_message_is_delivered_until_it_is_settled_and_known_afterwards)
{
    struct queue *queue = open_spool();
    struct queue_message *m = NULL;
    struct arena keep;
    uint64_t pending = 0;
    arena_init(&keep, 0);
    put(queue, "one", "first");
    put(queue, "one", "first again");
    put(queue, "two", "second");
    CHECK(queue->pending(queue, QUEUE_REPORTS, &pending) && pending == 2);
    REQUIRE(take_reports(queue, &keep, &m) == 2);
    CHECK_STR(m[0].data, "first");
    CHECK_EQ(m[0].delivered, 1);
    struct queue_message *none = NULL;
    CHECK_EQ(take_reports(queue, &keep, &none), 0); /* both are already taken */
    put(queue, "one", "first again");
    settle(queue, &m[0], QUEUE_DONE);
    settle(queue, &m[1], QUEUE_AGAIN);
    put(queue, "one", "first again"); /* ignored: an id is known for a day */
    REQUIRE(take_reports(queue, &keep, &m) == 1);
    CHECK_STR(m[0].id, "two");
    CHECK_EQ(m[0].delivered, 2);
    struct fault fault = FAULT_INIT;
    CHECK_EQ(queue_bury(queue, QUEUE_REPORTS, &m[0], "a reason", &fault), ERR_NONE);
    CHECK(queue->pending(queue, QUEUE_REPORTS, &pending) && pending == 0);
    CHECK(queue->pending(queue, QUEUE_DEAD, &pending) && pending == 1);
    uint32_t count = 0;
    REQUIRE(queue->transport->take(queue, QUEUE_DEAD, 8, 0, &keep, &m, &count, &fault) == ERR_NONE);
    REQUIRE(count == 1);
    CHECK(strncmp(m[0].data, "reason: a reason\n", 17) == 0);
    CHECK(strstr(m[0].data, "\n\nsecond") != NULL);
    queue_close(queue);
    arena_free(&keep);
}

TEST(ids_are_names_of_files)
{
    static const struct {
        const char *id;
        bool want;
    } rows[] = {{"a", true},      {"A-b_c.9", true}, {"", false},     {".", false},
                {"..", false},    {"a/b", false},    {"a b", false},  {".tmp", false},
                {"azAZ09", true}, {"a@", false},     {"a[", false},   {"a`", false},
                {"a{", false},    {"a:", false},     {"a\x80", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].id);
        CHECK_EQ(queue_id_is_valid(rows[i].id), rows[i].want);
    }
}

TEST(an_id_has_a_file_name_of_its_own_on_every_system)
{
    static const struct {
        const char *id, *file;
    } rows[] = {
        {"a", "a"},     {"A-b_c.9", "=a-b_c=09"},     {"a.tmp", "a=0tmp"}, {"dot.", "dot=0"},
        {"UP", "=u=p"}, {"-1-alice-x", "-1-alice-x"}, {"a0", "a0"},
    };
    static const char *const others[] = {
        "", "A", "a.tmp", "a=", "=-", "a=09=", "==", "x#1.tmp", "=0a", ".tmp", "=A"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char file[QUEUE_FILE_BYTES], id[QUEUE_ID_BYTES];
        test_row(rows[i].id);
        queue_file_name(rows[i].id, file);
        CHECK_STR(file, rows[i].file);
        CHECK(queue_file_id(file, id));
        CHECK_STR(id, rows[i].id);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char id[QUEUE_ID_BYTES];
        test_row(others[i]);
        CHECK(!queue_file_id(others[i], id));
    }
}

TEST(an_id_is_claimed_by_one_report)
{
    static const struct {
        const char *name, *id, *digest;
        enum status want;
    } rows[] = {
        {"the first", "a", "1", ERR_NONE},          {"again", "a", "1", ERR_NONE},
        {"another", "a", "2", ERR_MISMATCH},        {"another id", "A", "2", ERR_NONE},
        {"another, again", "a", "2", ERR_MISMATCH}, {"the first, again", "a", "1", ERR_NONE},
    };
    struct queue *queue = open_spool();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(queue_claim(queue, rows[i].id, rows[i].digest, &fault), rows[i].want);
    }
    queue_close(queue);
}

TEST(items_are_added_once_replaced_and_removed)
{
    struct queue *queue = open_spool();
    const struct transport *t = queue->transport;
    struct fault fault = FAULT_INIT;
    struct queue_item have = {NULL, 0};
    struct arena keep;
    arena_init(&keep, 0);
    CHECK_EQ(t->item_get(queue, QUEUE_PARTS, "n", &keep, &have, &fault), ERR_ABSENT);
    fault_clear(&fault);
    CHECK_EQ(t->item_add(queue, QUEUE_PARTS, "n", "a\0b", 3, &keep, &have, &fault), ERR_NONE);
    CHECK(have.bytes == 3 && memcmp(have.data, "a\0b", 4) == 0);
    CHECK_EQ(t->item_add(queue, QUEUE_PARTS, "n", "other", 5, &keep, &have, &fault), ERR_NONE);
    CHECK(have.bytes == 3 && memcmp(have.data, "a\0b", 4) == 0);
    CHECK_EQ(t->item_set(queue, QUEUE_PARTS, "n", "other", 5, &fault), ERR_NONE);
    CHECK_EQ(t->item_get(queue, QUEUE_PARTS, "n", &keep, &have, &fault), ERR_NONE);
    CHECK_STR(have.data, "other");
    CHECK_EQ(t->item_get(queue, QUEUE_NOTES, "n", &keep, &have, &fault), ERR_ABSENT);
    fault_clear(&fault);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(t->item_set(queue, QUEUE_PARTS, "n", NULL, 0, &fault), ERR_NONE);
    CHECK_EQ(t->item_get(queue, QUEUE_PARTS, "n", &keep, &have, &fault), ERR_ABSENT);
    queue_close(queue);
    arena_free(&keep);
}

static const char *listed(const char *folder)
{
    static char out[600];
    const char **names = NULL;
    size_t count = 0;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(folder_list(folder, &keep, &names, &count, &fault) == ERR_NONE);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++)
        (void)snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i > 0 ? " " : "",
                       names[i]);
    arena_free(&keep);
    return out;
}

TEST(what_a_dead_process_left_is_removed)
{
    char path[700];
    queue_close(open_spool());
    static const char *const names[] = {"alice-1", "alice-d#4194999-1f.tmp"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)snprintf(path, sizeof path, "%s/spool/reports/ready/%s", test_scratch(), names[i]);
        test_write(path, "x", 1);
    }
    queue_close(open_spool());
    *strrchr(path, '/') = '\0';
    CHECK_STR(listed(path), "alice-1");
}

TEST(dead_letters_of_two_channels_have_two_files)
{
    struct queue *queue = open_spool();
    struct fault fault = FAULT_INIT;
    uint64_t pending = 0;
    static const enum queue_channel channels[] = {QUEUE_REPORTS, QUEUE_PARTIALS, QUEUE_SHADOW};
    for (size_t i = 0; i < COUNT_OF(channels); i++) {
        struct queue_message m = {.id = "sequence-1", .data = "x", .bytes = 1, .delivered = 1};
        CHECK_EQ(queue_bury(queue, channels[i], &m, "why", &fault), ERR_NONE);
        m.delivered = 2; /* the worker died before it was settled: the same letter */
        CHECK_EQ(queue_bury(queue, channels[i], &m, "why", &fault), ERR_NONE);
    }
    CHECK(queue->pending(queue, QUEUE_DEAD, &pending) && pending == 3);
    queue_close(queue);
}

/* It is new to the queue, however often; an id is as long as its mark leaves room for. */
TEST(a_dead_letter_is_put_back_under_an_id_of_its_own)
{
    static const struct {
        const char *name, *id;
        enum status want;
        size_t id_bytes; /* of the id that it has then */
    } rows[] = {
        {"of a sender", "alice-1", ERR_NONE, 11 + 7},
        {"put back before", "-r01234567-alice-1", ERR_NONE, 11 + 7},
        {"the longest",
         "a2345678901234567890123456789012345678901234567890123456789012345678901234"
         "567890",
         ERR_NONE, 11 + 80},
        {"too long",
         "a2345678901234567890123456789012345678901234567890123456789012345678901234"
         "5678901234567890",
         ERR_LIMIT, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue *queue = open_spool();
        struct queue_letter letter = {
            .channel = QUEUE_PARTIALS, .delivered = 5, .data = "body", .bytes = 4};
        struct queue_message *messages = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 0;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        (void)snprintf(letter.id, sizeof letter.id, "%s", rows[i].id);
        CHECK_EQ(queue_letter_retry(queue, &letter, &fault), rows[i].want);
        fault_clear(&fault);
        REQUIRE(queue->transport->take(queue, QUEUE_PARTIALS, 2, 0, &keep, &messages, &count,
                                       &fault) == ERR_NONE);
        CHECK_EQ(count, rows[i].want == ERR_NONE ? 1 : 0);
        if (count == 1) {
            const char *plain = rows[i].id[0] == '-' ? rows[i].id + 11 : rows[i].id;
            REQUIRE(strlen(messages[0].id) == rows[i].id_bytes && messages[0].bytes == 4);
            CHECK(strncmp(messages[0].id, "-r", 2) == 0);
            CHECK_STR(messages[0].id + 11, plain);
            CHECK_MEM(messages[0].data, "body", 4);
            CHECK_EQ(
                queue->transport->settle(queue, QUEUE_PARTIALS, &messages[0], QUEUE_DONE, &fault),
                ERR_NONE);
        }
        queue_close(queue);
        arena_free(&keep);
    }
}

TEST(a_build_or_a_machine_without_a_server_says_so)
{
    struct queue *queue = NULL;
    struct fault fault = FAULT_INIT;
    const enum status status = queue_open("nats://127.0.0.1:1", &queue, &fault);
    CHECK(status == ERR_UNSUPPORTED || status == ERR_IO);
    CHECK(queue == NULL && fault.hint != NULL);
}

/* ---- the folder of dumps ---------------------------------------------------------------- */

TEST(dumps_are_deleted_by_age_and_above_a_number_of_bytes)
{
    static const struct {
        const char *name;
        uint64_t age_ms, bytes_max;
        const char *left; /* of the files a to d, which were written in this order */
    } rows[] = {
        {"room for all", 3600000, 40, "a.dmp b.dmp c.dmp x.dmp.1.tmp"},
        {"room for one less", 3600000, 39, "b.dmp c.dmp x.dmp.1.tmp"},
        {"an upload is not deleted", 3600000, 0, "x.dmp.1.tmp"},
        {"all are too old", 0, 1000, "x.dmp.1.tmp"},
    };
    static const char *const files[] = {"a.dmp", "b.dmp", "c.dmp", "x.dmp.1.tmp"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char folder[600], path[700], left[100] = "";
        const char **names = NULL;
        size_t count = 0;
        uint64_t deleted = 0;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(folder, sizeof folder, "%s/dumps%zu", test_scratch(), i);
        REQUIRE(folder_make(folder, &fault) == ERR_NONE);
        for (size_t k = 0; k < COUNT_OF(files); k++) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, files[k]);
            test_write(path, "0123456789", 10);
            thread_sleep_ms(5);
        }
        CHECK_EQ(dumps_trim(folder, rows[i].age_ms, rows[i].bytes_max, &deleted, &fault), ERR_NONE);
        REQUIRE(folder_list(folder, &keep, &names, &count, &fault) == ERR_NONE);
        for (size_t k = 0; k < count; k++)
            (void)snprintf(left + strlen(left), sizeof left - strlen(left), "%s%s",
                           k > 0 ? " " : "", names[k]);
        CHECK_STR(left, rows[i].left);
        CHECK_EQ(deleted, COUNT_OF(files) - count);
        arena_free(&keep);
    }
    struct fault fault = FAULT_INIT;
    uint64_t deleted = 0;
    CHECK_EQ(dumps_trim("no-such-folder", 0, 0, &deleted, &fault), ERR_ABSENT);
}

/* ---- totals ----------------------------------------------------------------------------- */

static void add(struct totals *totals, const char *id, const char *hour, const char *version,
                uint64_t count, bool want_new)
{
    const struct signature_count row = {
        .text = "poke | main", .example = "x!0x1", .first_seen = hour, .count = count};
    const struct partial p = {
        .of = id, .hour = hour, .version = version, .stacks = count, .rows = &row, .count = 1};
    struct fault fault = FAULT_INIT;
    bool is_new = false;
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    REQUIRE(totals_add(totals, &p, &is_new, &fault) == ERR_NONE);
    REQUIRE(totals_end(totals, &fault) == ERR_NONE);
    CHECK_EQ(is_new, want_new);
}

TEST(totals_count_each_id_once)
{
    char path[600];
    struct totals *totals = NULL;
    struct totals_list list;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/totals.db", test_scratch());
    CHECK_EQ(totals_open(path, false, &totals, &fault), ERR_ABSENT);
    fault_clear(&fault);
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "b", "2026-11-22T09", "1.1", 5, true);
    add(totals, "a", "2026-11-22T08", "1.0", 2, true);
    add(totals, "b", "2026-11-22T09", "1.1", 5, false);
    const struct totals_query query = {.top = 10, .baseline = "2026-11-22T09"};
    REQUIRE(totals_read(totals, &query, &keep, &list, &fault) == ERR_NONE);
    REQUIRE(list.count == 1);
    CHECK_EQ(list.stacks, 7);
    CHECK_EQ(list.reports, 2);
    CHECK_EQ(list.rows[0].count, 7);
    CHECK_STR(list.rows[0].first_seen, "2026-11-22T08");
    CHECK_STR(list.rows[0].last_seen, "2026-11-22T09");
    CHECK_STR(list.rows[0].versions, "1.0, 1.1");
    CHECK(!list.rows[0].is_new);
    REQUIRE(list.rows[0].hour_count == 2);
    CHECK_STR(list.rows[0].hours[0].hour, "2026-11-22T08");
    totals_close(totals);
    test_write(path, "not a database, and long enough to be read as one", 49);
    CHECK_EQ(totals_open(path, true, &totals, &fault), ERR_UNSUPPORTED);
    arena_free(&keep);
}

static void run_sql(const char *path, const char *sql, char *out, size_t room)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    out[0] = '\0';
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const size_t at = strlen(out);
        (void)snprintf(out + at, room - at, "%s%s", at > 0 ? " " : "",
                       (const char *)sqlite3_column_text(statement, 0));
    }
    REQUIRE(sqlite3_finalize(statement) == SQLITE_OK);
    REQUIRE(sqlite3_close(db) == SQLITE_OK);
}

/* On a new day, hours of long ago become days, and days of longer ago months; nothing is lost. */
TEST(old_hours_are_added_up)
{
    static const char *const hours[] = {
        "2020-01-01T05", "2020-01-01T06", "2020-01-31T23", "2020-02-01T00", "", "2999-12-31T23"};
    static const char *const tables[] = {"tally", "total"};
    char path[600], id[8], sql[96], said[256], now[TEXT_DATE_BYTES], recent[TEXT_DATE_BYTES + 8],
        today[TEXT_DATE_BYTES];
    struct totals *totals = NULL;
    struct totals_list list;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/folded.db", test_scratch());
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    for (int i = 0; i < 6; i++) {
        (void)snprintf(id, sizeof id, "id%d", i);
        add(totals, id, hours[i], "1.0", 1u << i, true);
    }
    /* between the two limits: 100 days ago */
    text_utc_date(clock_wall_ns() / 1000000000U - 100 * 86400, now);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(recent, sizeof recent, "%sT0%d", now, i);
        (void)snprintf(id, sizeof id, "new%d", i);
        add(totals, id, recent, "1.0", 100, true);
    }
    totals_close(totals);
    text_utc_date(clock_wall_ns() / 1000000000U - 86400, today);
    (void)snprintf(sql, sizeof sql, "UPDATE report SET day = '%s'", today);
    run_sql(path, sql, said, sizeof said);
    text_utc_date(clock_wall_ns() / 1000000000U, today);
    (void)snprintf(recent, sizeof recent, "%sT00", today);
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "today", recent, "1.0", 128, true);
    add(totals, "later", "2020-01-15T12", "1.0", 64, true); /* stays until the next day */
    REQUIRE(totals_read(totals, &(struct totals_query){.top = 10}, &keep, &list, &fault) ==
            ERR_NONE);
    CHECK_EQ(list.stacks, 255 + 200);
    CHECK_EQ(list.rows[0].count, 255 + 200);
    CHECK_EQ(list.reports, 10);
    totals_close(totals);
    for (int t = 0; t < 2; t++) {
        char want[256];
        test_row(tables[t]);
        (void)snprintf(sql, sizeof sql, "SELECT hour || '=' || %s FROM %s ORDER BY hour",
                       t == 0 ? "count" : "stacks", tables[t]);
        (void)snprintf(want, sizeof want,
                       "=16 2020-01=7 2020-01-15T12=64 2020-02=8 %s=200 %s=128 2999-12-31T23=32",
                       now, recent);
        run_sql(path, sql, said, sizeof said);
        CHECK_STR(said, want);
    }
    arena_free(&keep);
}

/* One result whose time is far ahead comes from a clock that was wrong for a moment. */
TEST(the_day_follows_the_data_and_one_result_does_not_move_it_far)
{
    static const struct {
        const char *name, *hour;
        uint32_t results;
        const char *want; /* the day of the last id */
    } rows[] = {
        {"the first result", "2020-01-01T05", 1, "2020-01-01"},
        {"one 500 days ahead", "2021-05-15T05", 1, "2020-01-01"},
        {"then as before", "2020-01-01T06", 1, "2020-01-01"},
        {"63 of them, and one as before", "2021-05-15T05", 63, "2020-01-01"},
        {"the next day", "2020-01-02T00", 1, "2020-01-02"},
        {"the day before", "2020-01-01T07", 1, "2020-01-02"},
        {"a clock of a collector that is ahead of ours", "2999-01-01T00", 63, "2020-01-02"},
        {"again the next day", "2020-01-03T00", 1, "2020-01-03"},
        {"no time", "", 1, "2020-01-03"},
        {"the end of a month", "2020-02-28T00", 64, "2020-02-28"},
        {"a leap day", "2020-02-29T00", 1, "2020-02-29"},
        {"the day after it", "2020-03-01T00", 1, "2020-03-01"},
        {"many of a later time: the reducer has been off", "2021-05-15T05", 64, "2021-05-15"},
    };
    char path[600], said[4096], id[32];
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t number = 0;
    (void)snprintf(path, sizeof path, "%s/days.db", test_scratch());
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        for (uint32_t n = 0; n < rows[i].results; n++) {
            (void)snprintf(id, sizeof id, "id%06u", (unsigned)number++);
            add(totals, id, rows[i].hour, "1.0", 1, true);
        }
        run_sql(path, "SELECT max(day) FROM report", said, sizeof said);
        CHECK_STR(said, rows[i].want);
        run_sql(path, "SELECT count(*) FROM total WHERE hour LIKE '2020-01-01T%'", said,
                sizeof said);
        CHECK_STR(said, i == 0 ? "1" : i < 2 ? "1" : i < 5 ? "2" : i < 9 ? "3" : "0");
    }
    totals_close(totals);
}

/* A slice has no time of its own: however many come, the clock here does not move the day, since
 * that would add up hours and keep ids until that clock's date. */
TEST(slices_do_not_move_the_day)
{
    enum { SLICES = 200 };
    char path[600], said[64], of[32], digest[65];
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    (void)snprintf(path, sizeof path, "%s/sliced.db", test_scratch());
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "id", "2020-01-01T05", "1.0", 1, true);
    memset(digest, 'a', sizeof digest - 1);
    digest[sizeof digest - 1] = '\0';
    for (uint32_t i = 0; i < SLICES; i++) {
        const char *whole = NULL;
        size_t bytes = 0;
        struct arena keep;
        arena_init(&keep, 0);
        (void)snprintf(of, sizeof of, "alice-%u", (unsigned)i);
        const struct slice slice = {of, digest, 0, 2, "x", 1};
        REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
        CHECK_EQ(totals_add_slice(totals, &slice, &keep, &whole, &bytes, &fault), ERR_NONE);
        REQUIRE(totals_end(totals, &fault) == ERR_NONE);
        arena_free(&keep);
    }
    totals_close(totals);
    run_sql(path, "SELECT count(*) FROM slice", said, sizeof said);
    CHECK_STR(said, "200");
    run_sql(path, "SELECT DISTINCT day FROM slice", said, sizeof said);
    CHECK_STR(said, "2020-01-01");
    run_sql(path, "SELECT hour FROM total", said, sizeof said);
    CHECK_STR(said, "2020-01-01T05");
}
