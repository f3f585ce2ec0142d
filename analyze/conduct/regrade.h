/* Judges the sealed cases of an old run again with the current code. A sealed case never changes,
 * so every verdict that differs does so because of the analyser. */
#ifndef CONDUCT_REGRADE_H
#define CONDUCT_REGRADE_H

#include "model/difference.h"
#include "study/acceptance.h"
#include "study/runs.h"

/* Called before every case: NUMBER counts from 1. */
typedef void regrade_progress_fn(void *context, uint32_t number, uint32_t count,
                                 const struct run_case *c);
/* Called for a case whose folder exists but is damaged. */
typedef void regrade_fault_fn(void *context, const struct fault *fault);

struct regrade_request {
    const struct stored_run *old;
    const char *expr;                  /* an expression as for `run -k`; NULL: all */
    const char *known;                 /* as acceptance_read */
    const struct fetch_options *fetch; /* of symbol servers; NULL: the usual ones */
    const char *const *symbols;
    uint32_t symbol_count; /* more symbols and images */
    const char *cache;     /* see symbol_store_options */
    regrade_progress_fn *progress;
    regrade_fault_fn *damaged;
    void *context;
};

struct regraded {
    struct stored_run run;
    uint32_t chosen;  /* cases of the old run that match; 0: nothing was done */
    uint32_t missing; /* of them, those whose folder is gone or damaged: ERROR, without claims */
    struct acceptance known;
    struct run_diff changes; /* chosen cases, before and now */
};

/* Judges, and writes a run of its own to STORE (NULL: nowhere); an interrupted one is marked so.
 * Fails: ERR_USAGE the expression; ERR_INTERRUPTED; as the engines and the store. */
enum status regrade_run(struct store *store, const struct regrade_request *request,
                        struct arena *keep, struct regraded *out, struct fault *fault);

#endif
