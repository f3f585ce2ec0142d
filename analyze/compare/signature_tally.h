/* How often each signature was seen, in bounded memory.
 *
 * Up to `limit` signatures the counts are exact. Above it the tally keeps the most frequent ones
 * ("Space-Saving": Metwally, Agrawal, El Abbadi, Efficient Computation of Frequent and Top-k
 * Elements in Data Streams, 2005): a new signature replaces the least frequent one and inherits its
 * count as its error. Then
 *
 *     count - error <= true count <= count
 *
 * holds for every signature that is kept, and no signature that is missing was seen more often
 * than `floor`, which is at most stacks / limit.
 *
 * Tallies add up: signature_tally_join() adds the row of another tally, and its floor for every
 * signature that it lacks. The sum depends neither on the order of the tallies nor on how they are
 * grouped, because a join removes nothing. */
#ifndef COMPARE_SIGNATURE_TALLY_H
#define COMPARE_SIGNATURE_TALLY_H

#include "base/arena.h"
#include "base/fault.h"
#include "compare/signature.h"
#include "model/stored.h"

struct signature_item;

struct signature_tally {
    struct signature_item *items; /* owned */
    uint32_t count, room;
    uint32_t *slots; /* owned; by hash: 1 + index, 0: free */
    uint32_t slot_count;
    uint32_t *heap;  /* owned; indexes of items, least frequent first; NULL: not full yet */
    uint32_t limit;  /* set by the owner before the first call; 0: none */
    uint32_t joined; /* tallies that were joined */
    uint64_t stacks;
    uint64_t floor;      /* 0: exact */
    uint64_t last_floor; /* of the tally whose join began last */
};

void signature_tally_free(struct signature_tally *tally);

/* Counts TEXT, COUNT times. EXAMPLE is copied when the signature is new. Fails: ERR_MEMORY. */
enum status signature_tally_add(struct signature_tally *tally, const char *text, uint64_t count,
                                const char *example, struct fault *fault);

/* Begins the join of another tally, of STACKS stacks and with FLOOR. Its rows follow. */
void signature_tally_join(struct signature_tally *tally, uint64_t stacks, uint64_t floor);

/* Adds a row of the tally whose join began last. Of `first_seen` and `example` the smaller pair is
 * kept, so times must be written so that they sort. A tally with a limit cannot be joined into.
 * Fails: ERR_MALFORMED the tally has the signature twice; ERR_MEMORY. */
enum status signature_tally_join_row(struct signature_tally *tally,
                                     const struct signature_count *row, struct fault *fault);

/* The signatures by count, highest first, with their ranks, in KEEP; at most MOST of them. When
 * signatures are left out, *FLOOR is the highest count among them if that exceeds the tally's
 * floor. Fails: ERR_MEMORY. */
enum status signature_tally_rank(struct signature_tally *tally, uint32_t most, struct arena *keep,
                                 struct signature_count **out, uint32_t *count, uint64_t *floor,
                                 struct fault *fault);

/* The rank of TEXT; 0: not in the tally, or added since it was ranked. */
uint32_t signature_tally_rank_of(const struct signature_tally *tally, const char *text);

#endif
