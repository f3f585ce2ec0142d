/* A report as it is in a queue: one line of JSON, then the stacks as they came.
 *
 *     {"schema_version":1,"id":...,"sender":...,"version":...,"received":...}
 *
 * A record that is larger than a message is in the queue's parts, and its message has no body:
 *
 *     {"schema_version":2,...,"parts":N,"bytes":...,"digest":...}
 *
 * Small reports of one sender and version that came within a moment go together, in one message
 * with all bodies. The id of such a group says how many there are and is made of theirs; after a
 * death it is SPLIT: each of its reports goes alone, under the id -mNUMBER-GROUP.
 *
 *     {"schema_version":3,"id":"-gCOUNT-HASH",...,"members":["ID",BYTES,...],"split":true}
 *
 * Everything but the id is from the network. */
#ifndef STREAM_QUEUED_REPORT_H
#define STREAM_QUEUED_REPORT_H

#include "base/arena.h"
#include "base/fault.h"
#include "stream/queue.h"

enum {
    REPORT_TIME_BYTES = 24,
    REPORT_WORD_BYTES = 64,
    /* of a report, in one message or part; never changed: where a report is cut is in its ids */
    REPORT_PART_BYTES = QUEUE_MESSAGE_BYTES - 1024,
    REPORT_PARTS_MAX = 128,
    REPORT_SMALL_BYTES = 64 << 10, /* larger ones never go with others; never changed */
    REPORT_GROUP_BYTES = 256 << 10,
    REPORT_MEMBERS_MAX = 1024
};

struct report_member {
    const char *id;
    size_t bytes;
};

struct report {
    const char *id;       /* see queue_id_is_valid() */
    const char *sender;   /* the name of the token; NULL: none */
    const char *version;  /* of the program; NULL: not stated */
    const char *received; /* 2026-11-22T08:15:00Z */
    const char *stacks;   /* text, one JSON object per line, or a record */
    size_t bytes;
    const char *digest; /* SHA-256 of a record in parts; NULL: it is in the message */
    uint32_t parts;
    const struct report_member *members; /* of a group, in the order of their bodies */
    uint32_t member_count;
    bool is_split;
};

/* The message in KEEP; NULL: out of memory. */
char *report_write(const struct report *report, struct arena *keep, size_t *bytes);

/* Reads a message; the stacks are borrowed from it. Fails: ERR_TRUNCATED, ERR_MALFORMED,
 * ERR_UNSUPPORTED, ERR_MEMORY. */
enum status report_read(const char *text, size_t bytes, struct arena *keep, struct report *out,
                        struct fault *fault);

/* The message of COUNT small reports; one is a message by itself. ID is what the message is put
 * under. NULL: out of memory. */
char *report_write_group(const struct report *const *reports, uint32_t count, struct arena *keep,
                         char id[QUEUE_ID_BYTES], size_t *bytes);
/* Member N of GROUP, whose body is at AT of the group's, as a report of its own. Its id is that of
 * the sender; report_member_id() is that of its message. */
struct report report_member_at(const struct report *group, uint32_t n, size_t at);
void report_member_id(const char *group, uint32_t n, char out[QUEUE_ID_BYTES]);
/* How many reports have their result under the id OF; and of which group OF was a member, NULL:
 * of none. */
uint64_t report_count_of(const char *of);
const char *report_group_of(const char *of);
/* True for a record, which is one stack, whole or in parts. */
bool report_is_record(const struct report *report);

/* Stores the parts of a record, and sets how many there are. Fails: as item_add(). */
enum status report_put_parts(struct queue *queue, struct report *report, struct fault *fault);

/* Takes a record that is in parts from QUEUE; others are as they are. Fails: ERR_ABSENT it was
 * counted before, and its parts are gone; ERR_MALFORMED the parts are not there, or are not what
 * was sent; ERR_IO, ERR_MEMORY. */
enum status report_assemble(struct queue *queue, struct report *report, struct arena *keep,
                            struct fault *fault);
/* Removes the parts, once nothing needs them any more; that they were there is remembered for
 * QUEUE_KEEP_S. */
void report_drop_parts(struct queue *queue, const struct report *report);

/* The UTC time of the wall clock. */
void report_time(uint64_t wall_ns, char out[REPORT_TIME_BYTES]);

/* Fails: ERR_MALFORMED the id or a word is not valid, or one stack is larger than a message. */
enum status report_check(const struct report *report, struct fault *fault);

/* Puts a report that was checked into QUEUE. A record that is larger than a message goes in parts;
 * other reports in pieces that begin at a stack, with ids ID, -1-ID, -2-ID, ... Repeating it with
 * the same bytes adds nothing. Returns when all of it is stored. Fails: as the transport's put().
 */
enum status report_put(struct queue *queue, const struct report *report, struct fault *fault);

#endif
