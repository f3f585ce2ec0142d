/* A libnats that is a table in memory, for tests of what this program asks it: see fake_nats.c. */
#ifndef FAKE_NATS_H
#define FAKE_NATS_H

#include <nats/nats.h>

enum { FAKE_STREAMS = 8, FAKE_MESSAGES = 16, FAKE_TEXT = 128 };

struct fake_stream {
    char name[FAKE_TEXT], subject[FAKE_TEXT];
    jsStreamConfig config;
    uint64_t last; /* number of its newest message; the first one has 1 */
    uint64_t skip; /* what its reader was given by a server that is gone; 0: nothing */
};

struct fake_message {
    struct fake_stream *stream; /* NULL: this place is free */
    char id[FAKE_TEXT], subject[FAKE_TEXT], data[FAKE_TEXT];
    int bytes;
    uint64_t number, delivered;
    bool is_taken;
};

struct fake_nats {
    char log[4096];      /* what was asked, "word argument, argument; " */
    const char *failing; /* the word of the log that fails; NULL: none does */
    natsStatus status;   /* and how */
    jsErrCode error;     /* of the next js_Publish; 0: none */
    int64_t room;        /* in bytes, of all streams; 0: no limit */
    bool is_reader_gone; /* js_GetConsumerInfo finds none */
    int connections, messages_held;
    struct fake_stream streams[FAKE_STREAMS];
    struct fake_message messages[FAKE_MESSAGES];
};

/* The one that all functions work on. */
struct fake_nats *fake_nats(void);

#endif
