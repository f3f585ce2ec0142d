/* The sums of one transaction, in memory. Consecutive partial results have mostly the same
 * signatures: adding them up here first writes each of them to the database once per transaction
 * instead of once per partial result.
 *
 * Only totals.c uses this. */
#ifndef STREAM_TOTALS_SUMS_H
#define STREAM_TOTALS_SUMS_H

#include "base/slots.h"
#include "stream/partial.h"

enum { TOTALS_SUMS_BYTES = 64 << 20 }; /* of texts; then they should be written and cleared */

struct totals_sum {
    const char *text, *hour, *version; /* the key; "" where not stated */
    const char *first_seen, *last_seen, *example;
    uint64_t count, error;
    uint64_t hash;
};

struct totals_sums {
    struct arena keep; /* of the texts */
    struct totals_sum *rows;
    uint32_t count, room;
    struct slots slots; /* by hash */
};

void totals_sums_init(struct totals_sums *sums);
void totals_sums_free(struct totals_sums *sums);

/* Forgets all rows and keeps the memory for the next ones. */
void totals_sums_clear(struct totals_sums *sums);

/* Adds the rows of PARTIAL and copies what it keeps of them. Of a signature that was seen several
 * times, the example is that of the first time. Fails: ERR_MEMORY; then the sums are incomplete. */
enum status totals_sums_add(struct totals_sums *sums, const struct partial *partial,
                            struct fault *fault);

#endif
