/* Runs in SQLite: the schema and every SQL statement are in this room.
 *
 * - WAL; one writer, any number of read-only handles (query_only).  A handle belongs to one
 *   thread.
 * - user_version is the version of the schema; opening for writing upgrades it, one step per
 *   version; a newer database is ERR_UNSUPPORTED and is not touched.
 * - A case is written in one transaction; a run is `running` until it is finished; one that stopped
 *   early is `interrupted` and cannot be mistaken for a complete one.
 * - A finished run is never changed.
 * - Everything is read into the caller's arena; lists come in pages by key, each with the true
 *   total of its filter. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/text_pool.h"
#include "model/difference.h"
#include "model/stored.h"

struct store;

/* Fails: ERR_ABSENT (read) no such file; ERR_UNSUPPORTED newer, or (STORE_READ) older than this
 * program; ERR_MALFORMED not a database of ours, or (read) an empty file; ERR_IO. */
enum status store_open(const char *path, enum store_mode mode, struct store **out,
                       struct fault *fault);
void store_close(struct store *store);

/* Changes whenever anything visible to readers changed: for ETags. */
uint64_t store_version(struct store *store);

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

/* Runs that say `running` though their process is gone (it was killed) become interrupted. */
enum status store_end_dead_runs(struct store *store, struct fault *fault);

/* The runs of which store_end_dead_runs() would say so, in rising order; at most KILLED_RUNS_MAX.
 */
enum { KILLED_RUNS_MAX = 64 };
struct killed_runs {
    uint64_t ids[KILLED_RUNS_MAX];
    uint32_t count;
};
enum status store_find_killed_runs(struct store *store, struct killed_runs *out,
                                   struct fault *fault);

/* Sets verdict, reason and known_id of a case of a run that is still running: FLAKY and
 * acceptances are known only when all repeats are there. */
enum status store_set_verdict(struct store *store, uint64_t case_id, enum verdict verdict,
                              const char *reason, const char *known_id, struct fault *fault);

enum status store_delete_run(struct store *store, uint64_t run_id, struct fault *fault);

/* ---- runs --------------------------------------------------------------------------- */

enum status store_list_runs(struct store *store, const struct run_query *query, struct arena *keep,
                            struct run_page *out, struct fault *fault);

/* Fails: ERR_ABSENT. */
enum status store_read_run(struct store *store, uint64_t run_id, struct arena *keep,
                           struct run_info *out, struct fault *fault);

/* WORD: an id, a uuid's start, "latest", "baseline", "latest~N"; or the newest of a branch, or of a
 * commit's start (7 digits at least).  Fails: ERR_ABSENT, ERR_USAGE. */
enum status store_find_run(struct store *store, const char *word, uint64_t *run_id,
                           struct fault *fault);

/* ---- cases -------------------------------------------------------------------------- */

enum status store_list_cases(struct store *store, const struct case_query *query,
                             struct arena *keep, struct case_page *out, struct fault *fault);

/* Everything: claims with stacks, truth, aligned rows, findings.  Fails: ERR_ABSENT. */
enum status store_read_case(struct store *store, uint64_t case_id, struct arena *keep,
                            struct run_case *out, struct fault *fault);

/* Every case of a run by repeat and name: for reading a run of any size case by case. */
enum status store_list_case_ids(struct store *store, uint64_t run_id, struct arena *keep,
                                uint64_t **out, uint32_t *count, struct fault *fault);

/* The head of a case (name, verdict, reason, timing) and what PARTS (enum case_part) adds. Fails:
 * ERR_ABSENT. */
enum status store_read_parts(struct store *store, uint64_t case_id, unsigned parts,
                             struct arena *keep, struct run_case *out, struct fault *fault);

/* Finds a case of a run by its name and repeat. Fails: ERR_ABSENT. */
enum status store_find_case(struct store *store, uint64_t run_id, const char *scenario,
                            const char *variant, uint32_t repeat, uint64_t *case_id,
                            struct fault *fault);

/* Every case of a run with name, verdict, reason and signature; WITH_TIMES also what each engine's
 * time was (claims, and scores' states). Makes no query per case. */
enum status store_read_outcomes(struct store *store, uint64_t run_id, bool with_times,
                                struct arena *keep, struct run_case **out, uint32_t *count,
                                struct fault *fault);

/* A run with what a comparison needs of its cases. OUT borrows RUN, which the store has. */
enum status store_read_side(struct store *store, const struct run_info *run, struct arena *keep,
                            struct diff_side *out, struct fault *fault);

/* Since when CASE fails in RUN, which the store has, by the complete runs of its branch.  Looks at
 * a bounded number of runs. */
enum status store_read_history(struct store *store, const struct diff_case *c,
                               const struct run_info *run, struct arena *keep,
                               struct case_history *out, struct fault *fault);

/* Fills the artifacts of case C->id: a part of store_read_case(). */
enum status store_read_files(struct store *store, struct run_case *c, struct arena *keep,
                             struct fault *fault);

/* A small file that a case is based on, by content. Fails: ERR_ABSENT. */
enum status store_read_artifact(struct store *store, const char *sha256, struct arena *keep,
                                struct case_artifact *out, struct fault *fault);

/* How each engine did over a run's cases. Of texts that differ from case to case it has one. */
enum status store_total_engines(struct store *store, uint64_t run_id, struct arena *keep,
                                struct engine_total **out, uint32_t *count, struct fault *fault);

/* Every engine of every case of a run that gave a stack, by case, then engine. */
enum status store_read_costs(struct store *store, uint64_t run_id, struct arena *keep,
                             struct case_cost **out, uint32_t *count, struct fault *fault);

/* Findings of a run counted by cause, most first. */
enum status store_count_causes(struct store *store, uint64_t run_id, struct arena *keep,
                               struct cause_count **out, uint32_t *count, struct fault *fault);

/* What the hooks saw: one row per case. */
enum status store_read_hooks(struct store *store, uint64_t run_id, struct arena *keep,
                             struct hook_outcome **out, uint32_t *count, struct fault *fault);

/* The signatures of a run's cases, in alphabetical order: the first run in the store that has each,
 * and its rank (1: most cases) in the complete run before this one; 0: it had none. */
enum status store_read_signatures(struct store *store, uint64_t run_id, struct arena *keep,
                                  struct signature_row **out, uint32_t *count, struct fault *fault);

/* The modules that a run's frames name, and which kind of symbols named them. */
enum status store_read_symbols(struct store *store, uint64_t run_id, struct arena *keep,
                               struct symbol_row **out, uint32_t *count, struct fault *fault);

/* A figure of each finished run that fits, oldest first. */
enum status store_read_trend(struct store *store, const struct trend_query *query,
                             struct arena *keep, struct trend_point **out, uint32_t *count,
                             struct fault *fault);

/* The branches, and the platforms, of finished runs in alphabetical order; at most 100. */
enum status store_list_branches(struct store *store, struct arena *keep, const char ***out,
                                uint32_t *count, struct fault *fault);
enum status store_list_platforms(struct store *store, struct arena *keep, const char ***out,
                                 uint32_t *count, struct fault *fault);

/* ---- baseline ----------------------------------------------------------------------- */

/* One reference run per branch and platform; NULL: the one for all. */
enum status store_set_baseline(struct store *store, uint64_t run_id, const char *branch,
                               const char *platform, struct fault *fault);
/* Fails: ERR_ABSENT there is none. */
enum status store_get_baseline(struct store *store, const char *branch, const char *platform,
                               uint64_t *run_id, struct fault *fault);

/* ---- bench samples ------------------------------------------------------------------ */

enum status store_put_samples(struct store *store, uint64_t run_id,
                              const struct bench_sample *samples, uint32_t count,
                              struct fault *fault);
enum status store_read_samples(struct store *store, uint64_t run_id, struct arena *keep,
                               struct bench_sample **out, uint32_t *count, struct fault *fault);

/* ---- whole databases ---------------------------------------------------------------- */

/* Copies runs that TO lacks (by uuid), and baselines where TO has none; returns how many runs. */
enum status store_import(struct store *to, struct store *from, uint32_t *copied,
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
/* A one-file copy without WAL that opens from a read-only folder; replaces PATH when it is whole.
 * Fails: ERR_USAGE a folder, or the database itself. */
enum status store_publish(struct store *store, const char *path, struct fault *fault);
/* Deletes all but the newest KEEP_RUNS finished runs and the baselines; then shrinks. */
enum status store_prune(struct store *store, uint32_t keep_runs, uint32_t *deleted,
                        struct fault *fault);

#endif
