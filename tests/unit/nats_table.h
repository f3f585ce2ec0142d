/* A queue nats:// over the library of fake_nats.h, for the rows of a test. */
#ifndef NATS_TABLE_H
#define NATS_TABLE_H

#include <string.h>

#include "fake_nats.h"
#include "fetch/shared_library.h"
#include "stream/queue.h"
#include "test.h"

static struct fake_nats *nats;

/* Forgets all that was asked and stored. */
static inline void start_row(const char *name)
{
    struct fake_nats *(*get)(void) = NULL;
    void *library = library_open(FAKE_NATS);
    test_environment("TWINSTACK_LIBNATS", FAKE_NATS);
    REQUIRE(library != NULL && library_function(library, "fake_nats", &get));
    nats = get();
    memset(nats, 0, sizeof *nats);
    test_row(name);
}

static inline struct queue *opened(void)
{
    struct queue *queue = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(queue_open_nats("nats://h:1", &queue, &fault) == ERR_NONE);
    return queue;
}

static inline void closed(struct queue *queue)
{
    queue_close(queue);
    CHECK_EQ(nats->connections, 0);
    CHECK_EQ(nats->messages_held, 0);
}

/* How often the log has WORD. */
static inline unsigned times(const char *word)
{
    unsigned count = 0;
    for (const char *at = nats->log; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

static inline struct fake_stream *stream_of(const char *name)
{
    for (int i = 0; i < FAKE_STREAMS; i++)
        if (strcmp(nats->streams[i].name, name) == 0)
            return &nats->streams[i];
    return NULL;
}

#endif
