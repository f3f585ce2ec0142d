/* A queue in a folder: what is shown of it without taking anything, what an earlier version left,
 * and the words of reports that are made of figures. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "stream/queue.h"
#include "stream/report.h"
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

/* Ids that this program makes begin with '-'; what a collector before ledger.h noted does not. */
TEST(notes_of_an_earlier_version_are_seen)
{
    static const struct {
        const char *name, *note;
        enum queue_shelf shelf;
        bool has;
    } rows[] = {
        {"nothing", NULL, QUEUE_NOTES, false},
        {"a page of this version", "-ids-1", QUEUE_NOTES, false},
        {"a part of a report", "alice-1", QUEUE_PARTS, false},
        {"a report's id", "alice-1", QUEUE_NOTES, true},
        {"and a page", "-ids-2", QUEUE_NOTES, true},
    };
    struct queue *queue = open_queue();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        if (rows[i].note != NULL)
            REQUIRE(queue->transport->item_set(queue, rows[i].shelf, rows[i].note, "x", 1,
                                               &fault) == ERR_NONE);
        CHECK_EQ(queue->has_old_ids(queue), rows[i].has);
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

/* stream/report.h: text goes in pieces that begin at a stack. */
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
