/* Runs summed up, each once for all views that ask about it: of 100,000 cases that takes seconds,
 * and a page has several answers of one run. */
#ifndef PAGES_SUMMED_H
#define PAGES_SUMMED_H

#include "study/triage.h"

struct cache;
struct summed_run;
struct summed_runs;

/* NULL when out of memory.  CACHE, which is borrowed, knows which run is being summed up. */
struct summed_runs *summed_runs_new(struct cache *cache);
void summed_runs_free(struct summed_runs *runs);

/* What one request holds of them: the run that it asks about first. */
struct summed_loan {
    struct summed_runs *runs;
    uint64_t version; /* of the database, as store_pool_version() */
    struct summed_run *run;
};

/* Run RUN_ID at the version of LOAN, summed up from STORE unless it is there; it waits while
 * another thread does so.  OUT is in KEEP, reads its cases from STORE, and lives until
 * summed_give_back(). NULL in *OUT: LOAN holds another run, and the caller sums this one up. Fails:
 * as triage_make. */
enum status summed_borrow(struct summed_loan *loan, struct store *store, uint64_t run_id,
                          struct arena *keep, const struct triage **out, struct fault *fault);
void summed_give_back(struct summed_loan *loan);

#endif
