/* What the files of `twinstack run` share. */
#ifndef VERBS_RUN_PARTS_H
#define VERBS_RUN_PARTS_H

#include "store/store.h"
#include "study/acceptance.h"
#include "study/analysis.h"
#include "verbs/harness.h"

/* What the command line asks for. */
struct run_options {
    struct harness harness;
    const char *expr, *variants, *keep, *db, *shard, *out, *source_root, *known, *resume;
    struct option_list symbols;
    uint64_t jobs, repeat, timeout_ms, seed;
    bool as_json, exit_zero, no_judges;
};

/* One run from its first case to its report. */
struct run_session {
    const struct run_options *o;
    struct arena *keep;
    struct collect_options collect;
    struct scenario *scenarios; /* the chosen ones */
    uint32_t scenario_count;
    struct collected *collected;
    struct run_case *cases;
    uint32_t case_count;
    uint32_t stored_count;   /* of cases: the run's from before, when it is resumed */
    uint32_t taken, to_take; /* victims: for the progress line                      */
    uint64_t taking_since_ns;
    struct run_info info;
    struct store *store;
    struct symbol_store *symbols;
    struct acceptance known;
    bool time_limit;      /* a victim could not be ended in time */
    bool database_failed; /* the standing fault is the store's   */
    struct fault fault;
};

/* The folder that holds PATH. */
const char *run_parent_of(const char *path, struct arena *keep);

/* Chooses where the cases go: --out, or a folder beside the database that is named by the time at
 * which the run began. */
enum status run_choose_folder(struct run_session *s);

/* ---- an interrupted run, taken up again ---- */

/* Finds the run that --resume names ("last": the newest that is not complete), reads it and its
 * command line's words (after the verb's name) into S.  Fails: ERR_ABSENT; ERR_USAGE it is
 * complete, or was no `run`. */
enum status run_find_resumed(struct run_session *s, int *argc, char ***argv);

/* Reads the cases that the run has already, and where the others lie.  Fails: ERR_USAGE what it
 * runs on is not what it began on. */
enum status run_take_up(struct run_session *s, const struct run_info *now);

/* True when the run has that case already. */
bool run_has_case(const struct run_session *s, const struct scenario *scenario, uint32_t repeat);

#endif
