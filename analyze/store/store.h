/* Runs in SQLite: the schema and every SQL statement are in this room.
 *
 * - WAL; one writer, any number of read-only handles (query_only).  A handle belongs to one
 *   thread.
 * - user_version is the version of the schema; opening for writing upgrades it, one step per
 *   version; a newer database is ERR_UNSUPPORTED and is not touched.
 * - A case is written in one transaction; a run is `running` until it is finished; one that stopped
 *   early is `interrupted` and cannot be mistaken for a complete one.
 * - A finished run is never changed.
 *
 * Reading is in archive.h, except for what only computations need. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "store/archive.h"

/* Another database to read, of any age, for the program that STORE names. Fails as store_open(). */
enum status store_open_beside(const struct store *store, const char *path, struct store **out,
                              struct fault *fault);

/* ---- writing ------------------------------------------------------------------------ */

/* Writes the head of a run (state RUN_RUNNING), fills run->id, and run->uuid when NULL. */
enum status store_begin_run(struct store *store, struct run_info *run, struct arena *keep,
                            struct fault *fault);

/* Writes a case with all its stacks, rows and findings: whole or not at all.  Fills c->id. */
enum status store_put_case(struct store *store, uint64_t run_id, struct run_case *c,
                           struct fault *fault);

/* Stores how far the run is. */
enum status store_put_pace(struct store *store, uint64_t run_id, const struct run_pace *pace,
                           struct fault *fault);

/* Sets the state and the time; the run is never changed again. */
enum status store_finish_run(struct store *store, uint64_t run_id, enum run_state state,
                             uint64_t finished_ns, struct fault *fault);

/* Continues an interrupted run (state RUN_RUNNING). Fails: ERR_USAGE it is complete. */
enum status store_resume_run(struct store *store, uint64_t run_id, struct fault *fault);

/* Runs that say `running` though their process is gone (it was killed) become interrupted; not of a
 * database that is only read. */
enum status store_end_dead_runs(struct store *store, struct fault *fault);

/* Sets verdict, reason and known_id of a case of a run that is still running: FLAKY and
 * acceptances are known only when all repeats are there. */
enum status store_set_verdict(struct store *store, uint64_t case_id, enum verdict verdict,
                              const char *reason, const char *known_id, struct fault *fault);

enum status store_delete_run(struct store *store, uint64_t run_id, struct fault *fault);

enum status store_put_samples(struct store *store, uint64_t run_id,
                              const struct bench_sample *samples, uint32_t count,
                              struct fault *fault);
enum status store_put_bench_cases(struct store *store, uint64_t run_id,
                                  const struct bench_case *cases, uint32_t count,
                                  struct fault *fault);

/* A run in some database. */
struct store_part {
    struct store *from;
    uint64_t run_id;
};

/* Makes one complete run RUN, which ended at RUN->finished_ns, of the cases of all PARTS: all of it
 * or nothing. */
enum status store_merge(struct store *to, const struct store_part *parts, uint32_t count,
                        struct run_info *run, struct arena *keep, struct fault *fault);

/* ---- reading, for what computes ------------------------------------------------------ */

/* Every case of a run by repeat and name: for reading a run of any size case by case. */
enum status store_list_case_ids(struct store *store, uint64_t run_id, struct arena *keep,
                                uint64_t **out, uint32_t *count, struct fault *fault);

/* The head of a case (name, verdict, reason, timing) and what PARTS (enum case_part) adds. Fails:
 * ERR_ABSENT. */
enum status store_read_parts(struct store *store, uint64_t case_id, unsigned parts,
                             struct arena *keep, struct run_case *out, struct fault *fault);

/* The same of COUNT cases, at most CASE_BATCH, in OUT in the order of IDS: a few statements for all
 * of them, where their numbers are close to each other. PARTS without CASE_STACKS. */
enum { CASE_BATCH = 128 };
enum status store_read_batch(struct store *store, const uint64_t *ids, uint32_t count,
                             unsigned parts, struct arena *keep, struct run_case *out,
                             struct fault *fault);

/* The cases of a run that should have been captured, and those of them that were. */
enum status store_count_captures(struct store *store, uint64_t run_id, uint32_t *expected,
                                 uint32_t *captured, struct fault *fault);

/* A run with what a comparison needs of its cases. OUT borrows RUN, which the store has. */
enum status store_read_side(struct store *store, const struct run_info *run,
                            enum diff_detail detail, struct arena *keep, struct diff_side *out,
                            struct fault *fault);

/* Since when CASE fails in RUN, which the store has, by the complete runs of its branch.  Looks at
 * a bounded number of runs. */
enum status store_read_history(struct store *store, const struct diff_case *c,
                               const struct run_info *run, struct arena *keep,
                               struct case_history *out, struct fault *fault);

/* A figure of each finished run that fits, oldest first. */
enum status store_read_trend(struct store *store, const struct trend_query *query,
                             struct arena *keep, struct trend_point **out, uint32_t *count,
                             struct fault *fault);

/* The branches, and the platforms, of finished runs in alphabetical order; at most 100. */
enum status store_list_branches(struct store *store, struct arena *keep, const char ***out,
                                uint32_t *count, struct fault *fault);
enum status store_list_platforms(struct store *store, struct arena *keep, const char ***out,
                                 uint32_t *count, struct fault *fault);

#endif
