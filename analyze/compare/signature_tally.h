/* How often each signature was seen, and how often before. */
#ifndef COMPARE_SIGNATURE_TALLY_H
#define COMPARE_SIGNATURE_TALLY_H

#include "base/arena.h"
#include "base/fault.h"
#include "compare/signature.h"
#include "model/stored.h"

/* Texts live in the arena that was given to signature_tally_add. */
struct signature_tally {
    struct signature_count *items; /* in order of first occurrence; ranked: most frequent first */
    uint32_t count, room;
    uint32_t *slots; /* by hash: 1 + index, 0: free; released by ranking */
    uint32_t slot_count;
    uint64_t stacks;
};

/* Counts TEXT once.  EXAMPLE is copied when the signature is new.  Fails: ERR_MEMORY. */
enum status signature_tally_add(struct signature_tally *tally, const char *text,
                                const char *example, struct arena *keep, struct fault *fault);

/* Sorts by frequency, highest first, and ranks; nothing can be added after that. */
void signature_tally_rank(struct signature_tally *tally);

/* The signature's row, or NULL; linear once ranked. */
struct signature_count *signature_tally_find(const struct signature_tally *tally, const char *text);

#endif
