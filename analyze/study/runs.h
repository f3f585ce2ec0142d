/* Stored runs as the faces ask for them.  The database is opened here and handed around as a
 * `struct store *`, which belongs to one thread; its own headers are not seen by faces.
 *
 * Everything is read into the caller's arena.  Unless stated otherwise, a function fails as the
 * database does: ERR_IO, ERR_MEMORY, ERR_MALFORMED; ERR_ABSENT what was asked for is not there. */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"
#include "model/stored.h"
#include "study/figures.h"

struct store;

/* Fails: ERR_ABSENT (read) no such file; ERR_UNSUPPORTED newer, or (STORE_READ) older than this
 * program; ERR_MALFORMED not a database of ours, or (read) an empty file; ERR_IO. */
enum status study_open(const char *path, enum store_mode mode, struct store **out,
                       struct fault *fault);
void study_close(struct store *store); /* NULL: nothing */

/* Changes whenever anything visible to readers changed: for ETags. */
uint64_t study_version(struct store *store);

/* Changes when the process of a run in progress was killed, which changes nothing in the database.
 * Costs a query and a few system calls. */
uint64_t study_killed_runs(struct store *store);

/* ---- whole runs --------------------------------------------------------------------- */

/* A run with all its cases, however many they are. */
struct stored_run {
    struct run_info info;
    struct run_case *cases;
    uint32_t case_count;
};

enum run_detail {
    RUN_OUTCOMES, /* name, verdict, reason, signature, the times: two queries in all */
    RUN_CASES,    /* also scores, findings, timing, claims without stacks                     */
    RUN_STACKS,   /* everything                                                               */
};

/* Reads run WORD: an id, the start of a uuid or commit, a branch, "latest", "latest~N",
 * "baseline".  Fails also: ERR_USAGE. */
enum status study_read_run(struct store *store, const char *word, enum run_detail detail,
                           struct arena *keep, struct stored_run *out, struct fault *fault);

/* A run with what a comparison needs of its cases. */
struct run_side {
    struct run_info info;
    struct diff_side side; /* borrows `info` of this struct: do not copy it */
};

/* What WORD names as "FILE" or "FILE:RUN"; *path is NULL where it names a run of the database that
 * is open.  Both live as long as WORD and KEEP. */
void study_split_word(const char *word, struct arena *keep, const char **path, const char **run);

/* Reads run WORD (as study_read_run) for a comparison; WORD may also name a database file (its
 * latest run) or "FILE:RUN". Only for words that the user of this machine typed: it opens files. */
enum status study_read_side(struct store *store, const char *word, struct arena *keep,
                            struct run_side *out, struct fault *fault);

/* As study_read_side for what NOW is compared with: "baseline" is that of NOW's branch and
 * platform, else the one for all. */
enum status study_read_side_before(struct store *store, const char *word,
                                   const struct run_info *now, struct arena *keep,
                                   struct run_side *out, struct fault *fault);

/* Reads run RUN_ID of the database for a comparison. */
enum status study_read_side_of(struct store *store, uint64_t run_id, struct arena *keep,
                               struct run_side *out, struct fault *fault);

/* The figures of run WORD, over all its cases.  RUN keeps what OUT borrows. */
enum status study_read_figures(struct store *store, const char *word, struct arena *keep,
                               struct stored_run *run, struct run_figures *out,
                               struct fault *fault);

/* ---- parts of runs ------------------------------------------------------------------ */

enum status study_find_run(struct store *store, const char *word, uint64_t *run_id,
                           struct fault *fault);
/* The head of a run, with its tools and environment. A run whose process was killed is interrupted,
 * here and in lists. */
enum status study_read_info(struct store *store, uint64_t run_id, struct arena *keep,
                            struct run_info *out, struct fault *fault);
enum status study_list_runs(struct store *store, const struct run_query *query, struct arena *keep,
                            struct run_page *out, struct fault *fault);
enum status study_list_cases(struct store *store, const struct case_query *query,
                             struct arena *keep, struct case_page *out, struct fault *fault);
enum status study_find_case(struct store *store, uint64_t run_id, const char *scenario,
                            const char *variant, uint32_t repeat, uint64_t *case_id,
                            struct fault *fault);
/* Everything: claims with stacks, truth, aligned rows, findings, files. */
enum status study_read_case(struct store *store, uint64_t case_id, struct arena *keep,
                            struct run_case *out, struct fault *fault);
/* Every case of a run with name, verdict, reason and signature; WITH_TIMES also engines' times. */
enum status study_read_outcomes(struct store *store, uint64_t run_id, bool with_times,
                                struct arena *keep, struct run_case **out, uint32_t *count,
                                struct fault *fault);
/* Fills the artifacts of case C->id. */
enum status study_read_files(struct store *store, struct run_case *c, struct arena *keep,
                             struct fault *fault);
enum status study_read_artifact(struct store *store, const char *sha256, struct arena *keep,
                                struct case_artifact *out, struct fault *fault);

/* ---- sums and lists over one run, made by the database ------------------------------- */

enum status study_total_engines(struct store *store, uint64_t run_id, struct arena *keep,
                                struct engine_total **out, uint32_t *count, struct fault *fault);
/* By case, then engine. */
enum status study_read_costs(struct store *store, uint64_t run_id, struct arena *keep,
                             struct case_cost **out, uint32_t *count, struct fault *fault);
/* Most findings first. */
enum status study_count_causes(struct store *store, uint64_t run_id, struct arena *keep,
                               struct cause_count **out, uint32_t *count, struct fault *fault);
enum status study_read_hooks(struct store *store, uint64_t run_id, struct arena *keep,
                             struct hook_outcome **out, uint32_t *count, struct fault *fault);
enum status study_read_signatures(struct store *store, uint64_t run_id, struct arena *keep,
                                  struct signature_row **out, uint32_t *count, struct fault *fault);
enum status study_read_symbols(struct store *store, uint64_t run_id, struct arena *keep,
                               struct symbol_row **out, uint32_t *count, struct fault *fault);
enum status study_read_samples(struct store *store, uint64_t run_id, struct arena *keep,
                               struct bench_sample **out, uint32_t *count, struct fault *fault);

/* ---- baselines, and databases as a whole -------------------------------------------- */

/* One reference run per branch and platform; NULL: the one for all. */
enum status study_set_baseline(struct store *store, uint64_t run_id, const char *branch,
                               const char *platform, struct fault *fault);
enum status study_get_baseline(struct store *store, const char *branch, const char *platform,
                               uint64_t *run_id, struct fault *fault);

/* Copies runs that TO lacks (by uuid), and baselines where TO has none. */
enum status study_import(struct store *to, struct store *from, uint32_t *copied,
                         struct fault *fault);
/* A one-file copy that opens from a read-only folder; replaces PATH when it is whole.
 * Fails: ERR_USAGE a folder, or the database itself. */
enum status study_publish(struct store *store, const char *path, struct fault *fault);
/* Deletes all but the newest KEEP_RUNS finished runs and the baselines; then shrinks. */
enum status study_prune(struct store *store, uint32_t keep_runs, uint32_t *deleted,
                        struct fault *fault);

#endif
