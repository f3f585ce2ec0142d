/* Stored runs as the whole program sees them: opening a database, reading, baselines, and databases
 * as a whole.  Faces can include this header of the room and no other: what writes runs, and what
 * `study` computes with, is in store.h.
 *
 * A `struct store *` belongs to one thread.  Everything is read into the caller's arena; lists come
 * in pages by key, each with the true total of its filter.  Unless stated otherwise, a function
 * fails as the database does: ERR_IO, ERR_MEMORY, ERR_MALFORMED; ERR_ABSENT what was asked for is
 * not there. */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"
#include "model/stored.h"

struct store;

/* Fails: ERR_ABSENT (read) no such file; ERR_UNSUPPORTED newer, or (STORE_READ) older than this
 * program; ERR_MALFORMED not a database of ours, or (read) an empty file; ERR_IO. */
enum status store_open(const char *path, enum store_mode mode, struct store **out,
                       struct fault *fault);

void store_close(struct store *store); /* NULL: nothing */

/* Changes whenever anything visible to readers changed: for ETags. */
uint64_t store_version(struct store *store);

/* Changes when the process of a run in progress was killed, which changes nothing in the database.
 * Costs a query and a few system calls. */
uint64_t store_killed_runs(struct store *store);

/* What is read between the two is of one state of the database, whatever others write meanwhile,
 * and takes locks once instead of once per query. */
void store_begin_reading(struct store *store);
void store_end_reading(struct store *store);

/* ---- runs ------------------------------------------------------------------------------ */

/* WORD: an id, a uuid's start, "latest", "baseline", "latest~N"; or the newest of a branch, or of a
 * commit's start (7 digits at least).  Fails: ERR_ABSENT, ERR_USAGE. */
enum status store_find_run(struct store *store, const char *word, uint64_t *run_id,
                           struct fault *fault);

/* The head of a run, with its tools and environment.  A run whose process was killed is
 * interrupted, here and in lists, though the database says `running` until the next command that
 * writes to it.  Fails: ERR_ABSENT. */
enum status store_read_run(struct store *store, uint64_t run_id, struct arena *keep,
                           struct run_info *out, struct fault *fault);

enum status store_list_runs(struct store *store, const struct run_query *query, struct arena *keep,
                            struct run_page *out, struct fault *fault);

/* ---- cases ----------------------------------------------------------------------------- */

enum status store_list_cases(struct store *store, const struct case_query *query,
                             struct arena *keep, struct case_page *out, struct fault *fault);
/* All cases of QUERY, of all pages; its limit and texts do not count. */
enum status store_list_all_cases(struct store *store, const struct case_query *query,
                                 struct arena *keep, struct run_case **cases, uint32_t *count,
                                 struct fault *fault);

/* Finds a case of a run by its name and repeat. Fails: ERR_ABSENT. */
enum status store_find_case(struct store *store, uint64_t run_id, const char *scenario,
                            const char *variant, uint32_t repeat, uint64_t *case_id,
                            struct fault *fault);

/* Everything: claims with stacks, truth, aligned rows, findings.  Fails: ERR_ABSENT. */
enum status store_read_case(struct store *store, uint64_t case_id, struct arena *keep,
                            struct run_case *out, struct fault *fault);

/* The cases of a run that have a signature or are accepted: name, verdict, reason, signature, and
 * the finding that decided. Makes no query per case. */
enum status store_read_outcomes(struct store *store, uint64_t run_id, struct arena *keep,
                                struct run_case **out, uint32_t *count, struct fault *fault);

/* Fills the artifacts of case C->id: a part of store_read_case(). */
enum status store_read_files(struct store *store, struct run_case *c, struct arena *keep,
                             struct fault *fault);

/* A small file that a case is based on, by content. Fails: ERR_ABSENT. */
enum status store_read_artifact(struct store *store, const char *sha256, struct arena *keep,
                                struct case_artifact *out, struct fault *fault);

/* ---- sums ------------------------------------------------------------------------------ */

/* How each engine did over a run's cases. Of texts that differ from case to case it has one. */
enum status store_total_engines(struct store *store, uint64_t run_id, struct arena *keep,
                                struct engine_total **out, uint32_t *count, struct fault *fault);

/* Findings of a run counted by cause, most first. */
enum status store_count_causes(struct store *store, uint64_t run_id, struct arena *keep,
                               struct cause_count **out, uint32_t *count, struct fault *fault);

/* What the hooks saw: one row per case. */
enum status store_read_hooks(struct store *store, uint64_t run_id, struct arena *keep,
                             struct hook_outcome **out, uint32_t *count, struct fault *fault);

/* The modules that a run's frames name, and which kind of symbols named them. */
enum status store_read_symbols(struct store *store, uint64_t run_id, struct arena *keep,
                               struct symbol_row **out, uint32_t *count, struct fault *fault);

enum status store_read_samples(struct store *store, uint64_t run_id, struct arena *keep,
                               struct bench_sample **out, uint32_t *count, struct fault *fault);

/* Benches of schema 16 and before have none. */
enum status store_read_bench_cases(struct store *store, uint64_t run_id, struct arena *keep,
                                   struct bench_case **out, uint32_t *count, struct fault *fault);

/* ---- what pages show ------------------------------------------------------------------- */

/* A text that is the answer to an address. All is borrowed. Longer ones are not stored. */
enum { SHOWN_MAX_BYTES = 32 << 20 };
struct shown_text {
    const char *address, *text;
    size_t bytes;
};

/* Names the program whose texts STORE reads and writes below, a sum over its sources
 * (pages/shown.h); borrowed. Before that it reads none and wants none. */
void store_set_program(struct store *store, const char *program);

/* The number of changes that the program's texts are to be made at. 0: they are there as of now, or
 * a run is in progress, or STORE cannot be written. */
uint64_t store_wants_shown(struct store *store);

/* What the texts of run RUN_ID alone count for: a sum over it, the runs before it, which are its
 * history, the benches of its commit and, WITH_BASELINES, the baselines with their runs. A text
 * that says nothing of baselines counts for the sum without them. A later run changes nothing of
 * it. 0: the run is not over, or there is none; else above every number of changes. */
uint64_t store_shown_basis(struct store *store, uint64_t run_id, bool with_baselines);

/* Stores texts that the program made of what the database held at CHANGE, in place of all that it
 * had made for a number of changes, or, if CHANGE is the basis of a run, of those of the same
 * addresses. Texts of other programs and of runs that are gone are deleted. */
enum status store_put_shown(struct store *store, uint64_t change, const struct shown_text *texts,
                            uint32_t count, struct fault *fault);

/* The text of ADDRESS, which is about run RUN_ID alone (0: not about one), in KEEP. NULL: the
 * program wrote none, what it was made of has changed since, or, unless it is about one run, a run
 * was killed, which changes nothing in the database. */
char *store_read_shown(struct store *store, const char *address, uint64_t run_id,
                       struct arena *keep, size_t *bytes);

/* ---- baselines, and databases as a whole ----------------------------------------------- */

/* One reference run per branch and platform; NULL: the one for all. */
enum status store_set_baseline(struct store *store, uint64_t run_id, const char *branch,
                               const char *platform, struct fault *fault);

/* Fails: ERR_ABSENT there is none. */
enum status store_get_baseline(struct store *store, const char *branch, const char *platform,
                               uint64_t *run_id, struct fault *fault);

/* Copies runs that TO lacks (by uuid), and baselines where TO has none; returns how many runs. */
enum status store_import(struct store *to, struct store *from, uint32_t *copied,
                         struct fault *fault);

/* A one-file copy without WAL that opens from a read-only folder; replaces PATH when it is whole.
 * Fails: ERR_USAGE a folder, or the database itself. */
enum status store_publish(struct store *store, const char *path, struct fault *fault);

/* Deletes all but the newest KEEP_RUNS finished runs and the baselines; then shrinks. */
enum status store_prune(struct store *store, uint32_t keep_runs, uint32_t *deleted,
                        struct fault *fault);

#endif
