/* All cases of a suite, asked of one contestant. */
#ifndef SUITE_SCORE_H
#define SUITE_SCORE_H

#include "suite/score_cache.h"

struct score_request {
    struct contestant_request contestant;
    uint32_t jobs;      /* so many processes of it, at least 1 */
    struct cache cache; /* where answers are kept; FOLDER NULL: each case is asked */
    /* Called from one thread at a time; NULL. */
    void (*progress)(void *context, uint32_t done, uint32_t all);
    void *context;
};

struct score {
    struct contestant_name name;
    struct suite_answer *answers; /* by case; what the contestant cannot is SUITE_UNSUPPORTED */
    uint64_t wall_ns, peak_bytes; /* of what was asked now */
    uint32_t cached; /* so many answers were known from before. A crash, a time-out or garbage
                        never is */
};

/* Asks all. Texts live in KEEP. Fails: ERR_INTERRUPTED, and as contestant_open(): a contestant that
 * does not start is a fault, one that crashes at every case is not. */
enum status score_all(const struct score_request *request, struct arena *keep, struct score *out,
                      struct fault *fault);

#endif
