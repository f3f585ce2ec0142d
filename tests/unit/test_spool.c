/* A queue in a folder: what is shown of it without taking anything, and the words of reports that
 * are made of figures. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "base/files.h"
#include "base/thread.h"
#include "stream/durable.h"
#include "stream/queue.h"
#include "stream/queued_report.h"
#include "test.h"

enum { TICK_MS = 20 }; /* times of files are no finer than the ticks of the system's clock */

static struct queue *open_queue(void)
{
    struct queue *queue = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(queue_open_spool(test_scratch(), &queue, &fault) == ERR_NONE);
    return queue;
}

static void put(struct queue *queue, enum queue_channel channel, const char *id, const char *text)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(queue->transport->put(queue, channel, id, text, strlen(text), &fault) == ERR_NONE);
}

static uint64_t pending(struct queue *queue, enum queue_channel channel)
{
    uint64_t count = 99;
    REQUIRE(queue->pending(queue, channel, &count));
    return count;
}

/* Takes one message and ends it. */
static void take(struct queue *queue, enum queue_channel channel, enum queue_end end)
{
    struct queue_message *messages = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 0;
    arena_init(&keep, 0);
    REQUIRE(queue->transport->take(queue, channel, 1, 0, &keep, &messages, &count, &fault) ==
                ERR_NONE &&
            count == 1);
    CHECK_EQ(queue->transport->settle(queue, channel, &messages[0], end, &fault), ERR_NONE);
    arena_free(&keep);
}

TEST(the_oldest_message_is_the_one_that_came_first)
{
    struct queue *queue = open_queue();
    uint64_t stored_ns = 0;
    CHECK(!queue->oldest(queue, QUEUE_REPORTS, &stored_ns));
    CHECK_EQ(queue_oldest_s(queue, QUEUE_REPORTS), 0);
    const uint64_t start_ns = clock_wall_ns();
    thread_sleep_ms(TICK_MS);
    put(queue, QUEUE_REPORTS, "c", "first"); /* not the first by its name */
    thread_sleep_ms(TICK_MS);
    const uint64_t between_ns = clock_wall_ns();
    thread_sleep_ms(TICK_MS);
    put(queue, QUEUE_REPORTS, "a", "second");
    put(queue, QUEUE_REPORTS, "b", "third");
    put(queue, QUEUE_PARTIALS, "d", "of another channel");
    REQUIRE(queue->oldest(queue, QUEUE_REPORTS, &stored_ns));
    CHECK(stored_ns > start_ns && stored_ns < between_ns);
    REQUIRE(queue->oldest(queue, QUEUE_PARTIALS, &stored_ns));
    CHECK(stored_ns > between_ns);
    CHECK(!queue->oldest(queue, QUEUE_DEAD, &stored_ns));
    CHECK_EQ(pending(queue, QUEUE_REPORTS), 3);
    CHECK_EQ(pending(queue, QUEUE_PARTIALS), 1);
    take(queue, QUEUE_PARTIALS, QUEUE_DONE);
    CHECK(!queue->oldest(queue, QUEUE_PARTIALS, &stored_ns));
    CHECK_EQ(pending(queue, QUEUE_PARTIALS), 0);
    queue_close(queue);
}

struct seen {
    char text[200];
    const char *removed; /* the id of a message */
    uint64_t least_ns, most_ns;
};

static bool see(void *context, const struct queue_message *message, uint64_t stored_ns)
{
    struct seen *seen = context;
    const size_t at = strlen(seen->text);
    (void)snprintf(seen->text + at, sizeof seen->text - at, "%s=%.*s ", message->id,
                   (int)message->bytes, message->data);
    CHECK(stored_ns >= seen->least_ns && stored_ns <= seen->most_ns);
    return seen->removed != NULL && strcmp(message->id, seen->removed) == 0;
}

TEST(a_visit_shows_every_message_and_removes_those_that_it_is_asked_to)
{
    static const struct {
        const char *name, *removed, *want;
        uint64_t left;
    } rows[] = {
        {"all of them", NULL, "a=one b.2=two C=three ", 3},
        {"and removes one", "b.2", "a=one b.2=two C=three ", 2},
        {"which is gone", NULL, "a=one C=three ", 2},
        {"the last one, too", "C", "a=one C=three ", 1},
        {"and the first", "a", "a=one ", 0},
        {"none is left", NULL, "", 0},
    };
    struct queue *queue = open_queue();
    struct fault fault = FAULT_INIT;
    struct seen seen = {.least_ns = clock_wall_ns() - 1000000000U};
    put(queue, QUEUE_DEAD, "b.2", "two");
    put(queue, QUEUE_DEAD, "a", "one");
    put(queue, QUEUE_DEAD, "C", "three");
    put(queue, QUEUE_REPORTS, "z", "of another channel");
    seen.most_ns = clock_wall_ns() + 1000000000U;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        seen.text[0] = '\0';
        seen.removed = rows[i].removed;
        CHECK_EQ(queue->visit(queue, QUEUE_DEAD, see, &seen, &fault), ERR_NONE);
        CHECK_EQ(strlen(seen.text), strlen(rows[i].want));
        for (const char *const *word =
                 (const char *const[]){"a=one ", "b.2=two ", "C=three ", NULL};
             *word != NULL; word++) /* in whichever order files have here */
            CHECK_EQ(strstr(seen.text, *word) != NULL, strstr(rows[i].want, *word) != NULL);
        CHECK_EQ(pending(queue, QUEUE_DEAD), rows[i].left);
    }
    queue_close(queue);
}

/* The seconds are those of `date -u -d @SECONDS`. */
TEST(a_report_has_the_time_of_the_wall_clock)
{
    static const struct {
        uint64_t seconds, ns;
        const char *want;
    } rows[] = {
        {0, 0, "1970-01-01T00:00:00Z"},          {951782399, 0, "2000-02-28T23:59:59Z"},
        {951782400, 0, "2000-02-29T00:00:00Z"},  {951868800, 999999999, "2000-03-01T00:00:00Z"},
        {1700000000, 0, "2023-11-14T22:13:20Z"}, {1700000000, 999999999, "2023-11-14T22:13:20Z"},
        {1795824900, 0, "2026-11-28T00:15:00Z"}, {4102444799, 0, "2099-12-31T23:59:59Z"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[REPORT_TIME_BYTES];
        test_row(rows[i].want);
        report_time(rows[i].seconds * UINT64_C(1000000000) + rows[i].ns, text);
        CHECK_STR(text, rows[i].want);
    }
}

/* stream/queued_report.h: text goes in pieces that begin at a stack. */
TEST(a_report_is_checked_before_it_is_put)
{
    static char word63[64], word64[65], id80[81], id81[82];
    const struct {
        const char *name;
        struct report report;
        enum status want;
    } rows[] = {
        {"plain", {.id = "a-1", .stacks = "x", .bytes = 1}, ERR_NONE},
        {"empty", {.id = "a-1"}, ERR_NONE},
        {"no id", {.id = ""}, ERR_MALFORMED},
        {"an id of a path", {.id = "a/1"}, ERR_MALFORMED},
        {"a long id", {.id = id80}, ERR_NONE},
        {"one without room for what is put before it", {.id = id81}, ERR_MALFORMED},
        {"a version with a blank", {.id = "a-1", .version = "1 beta"}, ERR_NONE},
        {"a version with a line end", {.id = "a-1", .version = "1\n2"}, ERR_MALFORMED},
        {"a version of 63", {.id = "a-1", .version = word63}, ERR_NONE},
        {"a version of 64", {.id = "a-1", .version = word64}, ERR_MALFORMED},
        {"a sender of 64", {.id = "a-1", .sender = word64}, ERR_MALFORMED},
    };
    memset(word63, 'v', 63);
    memset(word64, 'v', 64);
    memset(id80, 'i', 80);
    memset(id81, 'i', 81);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(report_check(&rows[i].report, &fault), rows[i].want);
    }
}

/* ---- what the folder holds, as the head of queue_spool.c says ------------------------------- */

enum { HOUR = 3600, DAY = 24 * HOUR };

/* A file of the queue's folder, as it was AGE_S seconds ago. */
static void make_old(const char *name, int64_t age_s)
{
    char path[800];
    const time_t changed = time(NULL) - (time_t)age_s;
    struct utimbuf times = {changed, changed};
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), name);
    test_write(path, "x", 1);
    REQUIRE(utime(path, &times) == 0);
}

static bool is_there(const char *name)
{
    char path[800];
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), name);
    return path_is_file(path);
}

/* The limits are those of queue.h: a day, 25 hours, 14 days. */
TEST(what_is_old_is_forgotten_when_a_queue_is_opened)
{
    static const struct {
        const char *name;
        int64_t age_s;
        bool stays;
    } rows[] = {
        {"reports/done/a", 23 * HOUR, true},   {"reports/done/b", 25 * HOUR, false},
        {"partials/done/a", 23 * HOUR, true},  {"partials/done/b", 25 * HOUR, false},
        {"dead/done/b", 25 * HOUR, false},     {"shadow/done/b", 25 * HOUR, false},
        {"reports/tries/a", 13 * DAY, true},   {"reports/tries/b", 15 * DAY, false},
        {"partials/tries/b", 15 * DAY, false}, {"dead/tries/b", 15 * DAY, false},
        {"shadow/tries/a", 13 * DAY, true},    {"shadow/tries/b", 15 * DAY, false},
        {"notes/a", 24 * HOUR + 1800, true},   {"notes/b", 25 * HOUR + 1800, false},
        {"parts/a", 13 * DAY, true},           {"parts/b", 15 * DAY, false},
        {"shadow/ready/a", 13 * DAY, true},    {"shadow/ready/b", 15 * DAY, false},
        {"reports/ready/a", 400 * DAY, true},  {"partials/ready/a", 400 * DAY, true},
        {"dead/ready/a", 400 * DAY, true},     {"reports/taken/c", 400 * DAY, true},
        {"reports/done/c", -2 * HOUR, true}, /* of the future */
    };
    struct fault fault = FAULT_INIT;
    queue_close(open_queue());
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        make_old(rows[i].name, rows[i].age_s);
    struct queue *queue = open_queue();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(is_there(rows[i].name), rows[i].stays);
    }
    test_row("not at every message");
    make_old("reports/done/d", 25 * HOUR);
    struct queue_message m = {.id = "a"};
    CHECK_EQ(queue->transport->settle(queue, QUEUE_REPORTS, &m, QUEUE_DONE, &fault), ERR_NONE);
    CHECK(is_there("reports/done/d"));
    queue_close(queue);
}

/* A lease is of 30 seconds. */
TEST(a_message_whose_lease_is_over_is_delivered_again)
{
    static const struct {
        const char *name;
        int64_t age_s; /* of the taken message */
        bool renewed;
        uint32_t want;
    } rows[] = {
        {"just taken", 0, false, 0},
        {"some seconds ago", 3, false, 0},
        {"long over", 90, false, 1},
        {"over, and renewed", 90, true, 0},
        {"of a clock that went back", -90, false, 0},
    };
    struct queue *queue = open_queue();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue_message *messages = NULL, m = {.id = "a"};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 99;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_old("reports/taken/a", rows[i].age_s);
        make_old("reports/taken/b#1-2.tmp", 90);
        if (rows[i].renewed)
            queue->transport->renew(queue, QUEUE_REPORTS, &m);
        CHECK_EQ(
            queue->transport->take(queue, QUEUE_REPORTS, 8, 0, &keep, &messages, &count, &fault),
            ERR_NONE);
        CHECK_EQ(count, rows[i].want);
        if (count == 1)
            CHECK_STR(messages[0].id, "a");
        CHECK(is_there("reports/taken/a")); /* by the first taker or by this one */
        arena_free(&keep);
    }
    test_row("a lease begins when it is taken, not when it was put");
    make_old("partials/ready/q", 90);
    take(queue, QUEUE_PARTIALS, QUEUE_LATER);
    struct queue_message *messages = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 99;
    arena_init(&keep, 0);
    CHECK_EQ(queue->transport->take(queue, QUEUE_PARTIALS, 8, 0, &keep, &messages, &count, &fault),
             ERR_NONE);
    CHECK_EQ(count, 0);
    arena_free(&keep);
    queue_close(queue);
}

/* Letters: r ready, t taken, d done, n tries. */
TEST(a_settled_message_leaves_only_what_is_needed)
{
    static const struct {
        const char *name;
        enum queue_end end;
        const char *want;
        uint32_t delivered; /* the next time; 0: never */
    } rows[] = {
        {"done", QUEUE_DONE, "d", 0},
        {"again", QUEUE_AGAIN, "rn", 2},
        {"later", QUEUE_LATER, "tn", 0},
    };
    static const char *const parts[] = {"ready", "taken", "done", "tries"};
    struct queue *queue = open_queue();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue_message *messages = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 0;
        char have[8] = "", name[64], id[8];
        arena_init(&keep, 0);
        test_row(rows[i].name);
        (void)snprintf(id, sizeof id, "m%zu", i);
        put(queue, QUEUE_PARTIALS, id, "text");
        take(queue, QUEUE_PARTIALS, rows[i].end);
        for (size_t k = 0; k < COUNT_OF(parts); k++) {
            (void)snprintf(name, sizeof name, "partials/%s/%s", parts[k], id);
            if (is_there(name))
                (void)snprintf(have + strlen(have), sizeof have - strlen(have), "%c", "rtdn"[k]);
        }
        CHECK_STR(have, rows[i].want);
        put(queue, QUEUE_PARTIALS, id, "the same id is known");
        CHECK_EQ(
            queue->transport->take(queue, QUEUE_PARTIALS, 8, 0, &keep, &messages, &count, &fault),
            ERR_NONE);
        CHECK_EQ(count, rows[i].delivered != 0);
        if (count == 1) {
            CHECK_EQ(messages[0].delivered, rows[i].delivered);
            CHECK_EQ(messages[0].bytes, 4);
            CHECK_STR(messages[0].data, "text");
        }
        arena_free(&keep);
    }
    test_row("its lease was over and it was ready again");
    struct fault fault = FAULT_INIT;
    struct queue_message late = {.id = "z"};
    put(queue, QUEUE_REPORTS, "z", "x");
    CHECK_EQ(queue->transport->settle(queue, QUEUE_REPORTS, &late, QUEUE_DONE, &fault), ERR_NONE);
    CHECK_EQ(pending(queue, QUEUE_REPORTS), 0);
    queue_close(queue);
}

TEST(at_most_so_many_are_taken_and_an_empty_channel_is_waited_for)
{
    enum { WAIT_FOR_MS = 120 };
    static const struct {
        uint32_t most, want;
    } rows[] = {{1, 1}, {2, 2}, {3, 2}, {3, 0}}; /* of five messages */
    struct queue *queue = open_queue();
    for (char id[] = "a"; id[0] <= 'e'; id[0]++)
        put(queue, QUEUE_REPORTS, id, "x");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue_message *messages = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 99;
        char name[16];
        arena_init(&keep, 0);
        (void)snprintf(name, sizeof name, "%zu", i);
        test_row(name);
        const uint64_t start_ns = clock_ns();
        CHECK_EQ(queue->transport->take(queue, QUEUE_REPORTS, rows[i].most, WAIT_FOR_MS, &keep,
                                        &messages, &count, &fault),
                 ERR_NONE);
        CHECK_EQ(count, rows[i].want);
        if (rows[i].want == 0)
            CHECK(clock_ns() - start_ns >= (uint64_t)WAIT_FOR_MS * 1000000U);
        arena_free(&keep);
    }
    queue_close(queue);
}

/* As a message was named before ids were escaped: it would never be taken. */
TEST(a_queue_with_names_of_an_unreleased_version_is_not_opened)
{
    static const struct {
        const char *name;
        bool is_old;
    } rows[] = {
        {"a.12345678.tmp", true}, {"Ab.c", true}, {"plain-1_2", false}, {"Two words", false},
        {".DS_Store", false},     {"=a", false},  {"a#1-2.tmp", false},
    };
    queue_close(open_queue());
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue *queue = NULL;
        struct fault fault = FAULT_INIT, ignored = FAULT_INIT;
        char name[100], path[700];
        test_row(rows[i].name);
        (void)snprintf(name, sizeof name, "dead/ready/%s", rows[i].name);
        make_old(name, 0);
        CHECK_EQ(queue_open_spool(test_scratch(), &queue, &fault),
                 rows[i].is_old ? ERR_UNSUPPORTED : ERR_NONE);
        if (rows[i].is_old)
            CHECK_HAS(fault.hint, "name a new folder");
        queue_close(queue);
        (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), name);
        REQUIRE(path_remove(path, &ignored) == ERR_NONE);
    }
}

/* POSIX, dup(): it returns the lowest number that is not open. */
TEST(a_folder_is_closed_when_it_is_on_the_disk)
{
    static const struct {
        const char *name, *folder; /* NULL: the test's */
    } rows[] = {{"a folder", NULL}, {"no folder", "/no/such/folder"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const int before = dup(STDOUT_FILENO);
        test_row(rows[i].name);
        REQUIRE(before >= 0 && close(before) == 0);
        durable_folder(rows[i].folder != NULL ? rows[i].folder : test_scratch());
        const int after = dup(STDOUT_FILENO);
        CHECK_EQ(after, before);
        (void)close(after);
    }
}
