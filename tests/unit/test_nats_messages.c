/* Messages and items of a queue nats://: see test_nats.c. */
#include <stdio.h>

#include "nats_table.h"

static void put(struct queue *queue, enum queue_channel channel, const char *id, const char *text)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(queue->transport->put(queue, channel, id, text, strlen(text), &fault) == ERR_NONE);
}

TEST(what_is_not_stored_is_an_error)
{
    static char data[QUEUE_MESSAGE_BYTES + QUEUE_LETTER_BYTES + 1];
    static const struct {
        const char *name;
        enum queue_channel channel;
        size_t bytes;
        natsStatus status;
        jsErrCode error;
        enum status want;
        const char *hint;
    } rows[] = {
        {"a message", QUEUE_REPORTS, 5, NATS_OK, 0, ERR_NONE, NULL},
        {"the largest", QUEUE_PARTIALS, 900000, NATS_OK, 0, ERR_NONE, NULL},
        {"one byte more", QUEUE_REPORTS, 900001, NATS_OK, 0, ERR_LIMIT, NULL},
        {"the largest letter", QUEUE_DEAD, 901024, NATS_OK, 0, ERR_NONE, NULL},
        {"one byte more of it", QUEUE_DEAD, 901025, NATS_OK, 0, ERR_LIMIT, NULL},
        {"a stream that is full", QUEUE_REPORTS, 5, NATS_ERR, JSStreamStoreFailedErr, ERR_LIMIT,
         "it is full"},
        {"a server that is full", QUEUE_REPORTS, 5, NATS_ERR, JSInsufficientResourcesErr, ERR_LIMIT,
         "it is full"},
        {"another error", QUEUE_REPORTS, 5, NATS_ERR, JSBadRequestErr, ERR_IO,
         "the queue's server refuses"},
        {"no answer", QUEUE_REPORTS, 5, NATS_TIMEOUT, 0, ERR_IO,
         "the queue's server does not answer"},
    };
    memset(data, 'x', sizeof data);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        start_row(rows[i].name);
        struct queue *queue = opened();
        nats->failing = rows[i].status != NATS_OK ? "put" : NULL;
        nats->status = rows[i].status;
        nats->error = rows[i].error;
        CHECK_EQ(queue->transport->put(queue, rows[i].channel, "-a", data, rows[i].bytes, &fault),
                 rows[i].want);
        CHECK_STR(fault.hint, rows[i].hint);
        fault_clear(&fault); /* of an item, the errors are the same */
        if (rows[i].bytes == 5)
            CHECK_EQ(
                queue->transport->item_set(queue, QUEUE_NOTES, "a", data, rows[i].bytes, &fault),
                rows[i].want);
        if (rows[i].bytes == 5)
            CHECK_STR(fault.hint, rows[i].hint);
        closed(queue);
    }
}

static uint64_t pending(struct queue *queue, enum queue_channel channel)
{
    uint64_t count = 99;
    CHECK(queue->pending(queue, channel, &count));
    return count;
}

/* "ID=TEXT*DELIVERED " of what is taken; each is ended like END. */
static void take(struct queue *queue, uint32_t most, enum queue_end end, const char *want)
{
    struct queue_message *messages = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 0;
    char text[200] = "";
    arena_init(&keep, 0);
    CHECK_EQ(
        queue->transport->take(queue, QUEUE_REPORTS, most, 0, &keep, &messages, &count, &fault),
        ERR_NONE);
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = strlen(text);
        (void)snprintf(text + at, sizeof text - at, "%s=%.*s*%u ", messages[i].id,
                       (int)messages[i].bytes, messages[i].data, (unsigned)messages[i].delivered);
        queue->transport->renew(queue, QUEUE_REPORTS, &messages[i]);
        CHECK_EQ(queue->transport->settle(queue, QUEUE_REPORTS, &messages[i], end, &fault),
                 ERR_NONE);
        CHECK(messages[i].handle == NULL);
    }
    CHECK_STR(text, want);
    arena_free(&keep);
}

TEST(a_message_is_delivered_until_it_is_done)
{
    start_row("three messages");
    struct queue *queue = opened();
    put(queue, QUEUE_REPORTS, "a", "one");
    put(queue, QUEUE_REPORTS, "b", "two");
    put(queue, QUEUE_REPORTS, "c", "three");
    put(queue, QUEUE_DEAD, "d", "of another channel");
    nats->messages[2].id[0] = '\0'; /* of a sender that gives none */
    CHECK_HAS(nats->log, "put twinstack.reports, b, two; ");
    take(queue, 2, QUEUE_DONE, "a=one*1 b=two*1 ");
    CHECK_EQ(pending(queue, QUEUE_REPORTS), 1);
    take(queue, 2, QUEUE_AGAIN, "sequence-3=three*1 ");
    take(queue, 2, QUEUE_LATER, "sequence-3=three*2 ");
    take(queue, 2, QUEUE_DONE, "");
    CHECK_EQ(pending(queue, QUEUE_REPORTS), 1);
    CHECK_EQ(pending(queue, QUEUE_DEAD), 1);
    CHECK_STR(strstr(nats->log, "read "), /* which is to be made once */
              "read TWINSTACK_REPORTS, twinstack.reports, workers, 30 s; fetch 2; renew 1; done 1; "
              "renew 2; done 2; fetch 2; renew 3; again 3; fetch 2; renew 3; fetch 2; ");
    closed(queue);
}

TEST(a_message_whose_end_is_not_stored_is_not_done)
{
    static const struct {
        const char *failing;
        enum queue_end end;
        enum status want;
    } rows[] = {{"done", QUEUE_DONE, ERR_IO},    {"again", QUEUE_AGAIN, ERR_IO},
                {"done", QUEUE_AGAIN, ERR_NONE}, {"again", QUEUE_DONE, ERR_NONE},
                {"done", QUEUE_LATER, ERR_NONE}, {"again", QUEUE_LATER, ERR_NONE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct queue_message *messages = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 0;
        arena_init(&keep, 0);
        start_row(rows[i].failing);
        struct queue *queue = opened();
        put(queue, QUEUE_REPORTS, "a", "one");
        REQUIRE(queue->transport->take(queue, QUEUE_REPORTS, 1, 0, &keep, &messages, &count,
                                       &fault) == ERR_NONE &&
                count == 1);
        nats->failing = rows[i].failing;
        nats->status = NATS_TIMEOUT;
        CHECK_EQ(queue->transport->settle(queue, QUEUE_REPORTS, messages, rows[i].end, &fault),
                 rows[i].want);
        closed(queue);
        arena_free(&keep);
    }
}

/* A server that was killed and came back: see is_reader_lost(). */
TEST(a_reader_that_is_lost_is_made_anew)
{
    static const struct {
        const char *name;
        uint64_t skip; /* what the reader believes to have delivered, of two messages */
        bool has_reader;
        unsigned forgotten;
        const char *want; /* of the take after the one that finds nothing */
    } rows[] = {
        {"it is ahead", 3, true, 1, "a=one*1 b=two*1 "},
        {"it has delivered all", 2, true, 0, ""},
        {"there is none", 2, false, 1, "a=one*1 b=two*1 "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        start_row(rows[i].name);
        struct queue *queue = opened();
        take(queue, 2, QUEUE_DONE, "");
        CHECK_EQ(times("forget"), 0);
        closed(queue);
        queue = opened(); /* which has not looked yet */
        put(queue, QUEUE_REPORTS, "a", "one");
        put(queue, QUEUE_REPORTS, "b", "two");
        struct fake_stream *stream = stream_of("TWINSTACK_REPORTS");
        stream->skip = rows[i].skip;
        struct fault fault = FAULT_INIT;
        struct queue_message *messages = NULL;
        struct arena keep;
        uint32_t count = 99;
        arena_init(&keep, 0);
        nats->is_reader_gone = !rows[i].has_reader;
        CHECK_EQ(
            queue->transport->take(queue, QUEUE_REPORTS, 2, 0, &keep, &messages, &count, &fault),
            ERR_NONE);
        CHECK_EQ(count, 0);
        nats->is_reader_gone = false;
        CHECK_EQ(times("forget TWINSTACK_REPORTS, workers; "), rows[i].forgotten);
        take(queue, 2, QUEUE_DONE, rows[i].want);
        closed(queue);
        arena_free(&keep);
    }
}

TEST(a_reader_is_looked_up_again_after_an_error)
{
    struct queue_message *messages = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    uint32_t count = 99;
    arena_init(&keep, 0);
    start_row("the connection is lost");
    struct queue *queue = opened();
    put(queue, QUEUE_REPORTS, "a", "one");
    nats->failing = "fetch";
    nats->status = NATS_CONNECTION_CLOSED;
    CHECK_EQ(queue->transport->take(queue, QUEUE_REPORTS, 2, 0, &keep, &messages, &count, &fault),
             ERR_IO);
    CHECK_EQ(count, 0);
    CHECK_STR(fault.hint, "the connection is closed");
    fault_clear(&fault);
    nats->failing = "read";
    CHECK_EQ(queue->transport->take(queue, QUEUE_REPORTS, 2, 0, &keep, &messages, &count, &fault),
             ERR_IO);
    nats->failing = NULL;
    take(queue, 2, QUEUE_DONE, "a=one*1 ");
    CHECK_EQ(times("read "), 3);
    closed(queue);
    arena_free(&keep);
}

struct seen {
    char text[200];
    const char *removed;
};

static bool see(void *context, const struct queue_message *message, uint64_t stored_ns)
{
    struct seen *seen = context;
    const size_t at = strlen(seen->text);
    (void)snprintf(seen->text + at, sizeof seen->text - at, "%s=%.*s@%u ", message->id,
                   (int)message->bytes, message->data, (unsigned)stored_ns);
    return seen->removed != NULL && strcmp(seen->removed, message->id) == 0;
}

TEST(a_visit_shows_what_is_there_and_removes_what_it_is_asked_to)
{
    static const struct {
        const char *name, *removed, *want;
        uint64_t oldest_ns; /* afterwards; 0: there is none */
    } rows[] = {
        {"all of them", NULL, "a=one@1000 b=two@2000 sequence-3=three@3000 ", 1000},
        {"and removes one", "b", "a=one@1000 b=two@2000 sequence-3=three@3000 ", 1000},
        {"the first", "a", "a=one@1000 sequence-3=three@3000 ", 3000},
        {"the last", "sequence-3", "sequence-3=three@3000 ", 0},
        {"none is left", NULL, "", 0},
    };
    struct fault fault = FAULT_INIT;
    uint64_t stored_ns = 0;
    start_row("");
    struct queue *queue = opened();
    put(queue, QUEUE_DEAD, "a", "one");
    put(queue, QUEUE_DEAD, "b", "two");
    put(queue, QUEUE_DEAD, "c", "three");
    nats->messages[2].id[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seen seen = {.removed = rows[i].removed};
        test_row(rows[i].name);
        CHECK_EQ(queue->visit(queue, QUEUE_DEAD, see, &seen, &fault), ERR_NONE);
        CHECK_STR(seen.text, rows[i].want);
        CHECK_EQ(queue->oldest(queue, QUEUE_DEAD, &stored_ns), rows[i].oldest_ns != 0);
        CHECK_EQ(stored_ns, rows[i].oldest_ns);
    }
    test_row("a removal that fails");
    put(queue, QUEUE_DEAD, "e", "four");
    nats->failing = "delete";
    nats->status = NATS_TIMEOUT;
    struct seen seen = {.removed = "e"};
    CHECK_EQ(queue->visit(queue, QUEUE_DEAD, see, &seen, &fault), ERR_IO);
    closed(queue);
}

/* ---- items ----------------------------------------------------------------------------- */

/* The subject of "a" is half of what `printf a | sha256sum` prints. */
#define SUBJECT_A "ca978112ca1bbdcafac231b39a23dc4d"

TEST(an_item_is_the_first_one_until_it_is_set)
{
    struct fault fault = FAULT_INIT;
    struct queue_item have = {NULL, 0};
    struct arena keep;
    arena_init(&keep, 0);
    start_row("none");
    struct queue *queue = opened();
    const struct transport *t = queue->transport;
    CHECK_EQ(t->item_get(queue, QUEUE_NOTES, "a", &keep, &have, &fault), ERR_ABSENT);
    fault_clear(&fault);
    test_row("it is added");
    CHECK_EQ(t->item_add(queue, QUEUE_NOTES, "a", "one", 3, &keep, &have, &fault), ERR_NONE);
    CHECK_STR(have.data, "one");
    CHECK_EQ(have.bytes, 3);
    test_row("by another one, later");
    CHECK_EQ(t->item_add(queue, QUEUE_NOTES, "a", "second", 6, &keep, &have, &fault), ERR_NONE);
    CHECK_STR(have.data, "one");
    CHECK_EQ(have.bytes, 3);
    test_row("on another shelf");
    CHECK_EQ(t->item_get(queue, QUEUE_PARTS, "a", &keep, &have, &fault), ERR_ABSENT);
    fault_clear(&fault);
    test_row("it is set");
    CHECK_EQ(t->item_set(queue, QUEUE_NOTES, "a", "other", 5, &fault), ERR_NONE);
    CHECK_EQ(t->item_get(queue, QUEUE_NOTES, "a", &keep, &have, &fault), ERR_NONE);
    CHECK_STR(have.data, "other");
    test_row("it is removed");
    CHECK_EQ(t->item_set(queue, QUEUE_NOTES, "a", NULL, 0, &fault), ERR_NONE);
    CHECK_EQ(t->item_get(queue, QUEUE_NOTES, "a", &keep, &have, &fault), ERR_ABSENT);
    fault_clear(&fault);
    CHECK_HAS(nats->log, "put twinstack.notes." SUBJECT_A ", -, second; get TWINSTACK_NOTES, "
                         "twinstack.notes." SUBJECT_A
                         "; get TWINSTACK_PARTS, twinstack.parts." SUBJECT_A "; ");
    CHECK_HAS(nats->log, "purge TWINSTACK_NOTES, twinstack.notes." SUBJECT_A "; ");
    static const char *const failing[] = {"get", "purge"};
    for (size_t i = 0; i < COUNT_OF(failing); i++) {
        test_row(failing[i]);
        nats->failing = failing[i];
        nats->status = NATS_TIMEOUT;
        CHECK_EQ(i == 0 ? t->item_get(queue, QUEUE_NOTES, "a", &keep, &have, &fault)
                        : t->item_set(queue, QUEUE_NOTES, "a", NULL, 0, &fault),
                 ERR_IO);
        fault_clear(&fault);
    }
    closed(queue);
    arena_free(&keep);
}
