/* The ids of a sender that are remembered: 16 bytes of each, for QUEUE_REMEMBER_S at least.
 *
 * They are items of the queue, in pages that are numbered without a gap. A page is added by one
 * collector and never by two, so any number of collectors agree on what has come. Small reports
 * come in groups: their page holds the message of the group until that is stored, so any collector
 * that finds the page stores it. Then the page holds only the ids:
 *
 *     #ids 1 COUNT MESSAGE          and a line break; MESSAGE: the id of the message, or nothing
 *     COUNT times 16 bytes          the start of the SHA-256 of the id, and of the body
 *     the message
 *
 * One thread at a time may call what takes a fault; LOCK guards the table. */
#ifndef STREAM_LEDGER_H
#define STREAM_LEDGER_H

#include "base/thread.h"
#include "stream/queue.h"

enum { LEDGER_PAGE_IDS = 1024 };

struct ledger;

struct ledger_id {
    uint64_t id, body;
};

struct ledger_id ledger_id_of(const char *id, const void *body, size_t bytes);

/* Reads the pages of SENDER and stores what they still hold. Fails: ERR_UNSUPPORTED a newer version
 * wrote a page, so nothing is acknowledged until this program is as new; and as put() and
 * item_get(). */
enum status ledger_open(struct queue *queue, const char *sender, struct mutex *lock,
                        struct ledger **out, struct fault *fault);
void ledger_free(struct ledger *ledger);

enum ledger_state { LEDGER_NEW, LEDGER_KNOWN, LEDGER_OTHER };
/* With LOCK held. OTHER: the id is that of another body. */
enum ledger_state ledger_find(const struct ledger *ledger, const struct ledger_id *id);

/* True when a page holds a message that may not be stored: no id is KNOWN for sure until
 * ledger_finish() has stored it. With LOCK held. */
bool ledger_is_unfinished(const struct ledger *ledger);
enum status ledger_finish(struct ledger *ledger, struct fault *fault);

/* Adds a page of COUNT ids, and stores the message unless ID is NULL. *AGAIN: another collector has
 * added a page, so nothing was done; its ids are in the table now. Fails: as put() and item_add();
 * then the ids may nevertheless be on a page. */
enum status ledger_add(struct ledger *ledger, const struct ledger_id *ids, uint32_t count,
                       const char *id, const void *data, size_t bytes, bool *again,
                       struct fault *fault);

#endif
