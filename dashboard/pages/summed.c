/* See summed.h. */
#include "pages/summed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/thread.h"
#include "http/response_cache.h"
#include "http/state.h"

enum { RUNS_MAX = 2 }; /* that are kept: a run, and the one beside it */

struct summed_run {
    struct arena keep;
    struct triage triage;
    uint64_t version;
    uint32_t holders; /* loans, and one while it is kept */
};

struct summed_runs {
    struct cache *cache;
    struct mutex *lock;
    struct summed_run *kept[RUNS_MAX]; /* the last one asked about is first */
};

struct summed_runs *summed_runs_new(struct cache *cache)
{
    struct summed_runs *runs = calloc(1, sizeof *runs);
    if (runs == NULL)
        return NULL;
    runs->cache = cache;
    runs->lock = mutex_new();
    if (runs->lock != NULL)
        return runs;
    free(runs);
    return NULL;
}

static void drop(struct summed_run *run)
{
    if (run == NULL || --run->holders > 0)
        return;
    arena_free(&run->keep);
    free(run);
}

void summed_runs_free(struct summed_runs *runs)
{
    if (runs == NULL)
        return;
    for (int i = 0; i < RUNS_MAX; i++)
        drop(runs->kept[i]);
    mutex_free(runs->lock);
    free(runs);
}

static void put_first(struct summed_runs *runs, int at, struct summed_run *run)
{
    for (; at > 0; at--)
        runs->kept[at] = runs->kept[at - 1];
    runs->kept[0] = run;
}

static bool find(struct summed_loan *loan, uint64_t run_id)
{
    struct summed_runs *runs = loan->runs;
    mutex_lock(runs->lock);
    for (int i = 0; i < RUNS_MAX && loan->run == NULL; i++) {
        struct summed_run *run = runs->kept[i];
        if (run == NULL || run->version != loan->version || run->triage.run.id != run_id)
            continue;
        run->holders++;
        loan->run = run;
        put_first(runs, i, run);
    }
    mutex_unlock(runs->lock);
    return loan->run != NULL;
}

static enum status make(struct summed_loan *loan, struct store *store, const char *word,
                        struct fault *fault)
{
    struct summed_runs *runs = loan->runs;
    struct summed_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return fault_no_memory(fault, "sums of a run");
    run->version = loan->version;
    run->holders = 1;
    arena_init(&run->keep, REQUEST_ARENA_BYTES);
    if (triage_make(store, word, &run->keep, &run->triage, fault) != ERR_NONE) {
        drop(run);
        return fault->code;
    }
    run->holders++;
    loan->run = run;
    mutex_lock(runs->lock);
    drop(runs->kept[RUNS_MAX - 1]);
    put_first(runs, RUNS_MAX - 1, run);
    mutex_unlock(runs->lock);
    return ERR_NONE;
}

enum status summed_borrow(struct summed_loan *loan, struct store *store, uint64_t run_id,
                          struct arena *keep, const struct triage **out, struct fault *fault)
{
    const char *word = arena_printf(keep, "%" PRIu64, run_id);
    const char *key = arena_printf(keep, "sums of run %" PRIu64, run_id);
    struct triage *mine = ARENA_NEW(keep, struct triage);
    *out = NULL;
    if (word == NULL || key == NULL || mine == NULL)
        return fault_no_memory(fault, "sums of a run");
    if (loan->run != NULL && loan->run->triage.run.id != run_id)
        return ERR_NONE;
    while (loan->run == NULL && !find(loan, run_id)) {
        if (!cache_begin(loan->runs->cache, key, loan->version))
            continue;
        if (!find(loan, run_id)) /* made since the look above */
            (void)make(loan, store, word, fault);
        cache_made(loan->runs->cache, key, loan->version);
        if (fault->code != ERR_NONE)
            return fault->code;
    }
    *mine = loan->run->triage;
    mine->figures.store = store; /* the one that it was made from is another request's now */
    *out = mine;
    return ERR_NONE;
}

void summed_give_back(struct summed_loan *loan)
{
    mutex_lock(loan->runs->lock);
    drop(loan->run);
    loan->run = NULL;
    mutex_unlock(loan->runs->lock);
}
