/* Stored runs as the faces ask for them: whole, and as the sides of a comparison.  store/archive.h,
 * which comes with this header, opens databases and reads parts of runs.
 *
 * Everything is read into the caller's arena.  Unless stated otherwise, a function fails as the
 * database does: ERR_IO, ERR_MEMORY, ERR_MALFORMED; ERR_ABSENT what was asked for is not there. */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/difference.h"
#include "model/stored.h"
#include "store/archive.h"
#include "study/figures.h"

/* A run with all its cases, however many they are. */
struct stored_run {
    struct run_info info;
    struct run_case *cases;
    uint32_t case_count;
};

/* Runs of STORE whose process was killed end as interrupted, so that their sums and texts can be
 * written. What cannot be ended stays for the next time. */
void study_end_killed_runs(struct store *store);

/* Reads run WORD: an id, the start of a uuid or commit, a branch, "latest", "latest~N",
 * "baseline". Claims are without stacks. Fails also: ERR_USAGE. */
enum status study_read_run(struct store *store, const char *word, struct arena *keep,
                           struct stored_run *out, struct fault *fault);

/* A run with what a comparison needs of its cases. */
struct run_side {
    struct run_info info;
    struct diff_side side;      /* borrows `info` of this struct: do not copy it */
    struct symbol_row *symbols; /* with DIFF_STACKS and DIFF_TIMES, of a run that has ended */
    uint32_t symbol_count;
    const struct dump_ratio *ratio; /* with DIFF_STACKS and DIFF_TIMES, of a run named by a word */
};

/* What WORD names as "FILE" or "FILE:RUN"; *path is NULL where it names a run of the database that
 * is open.  Both live as long as WORD and KEEP. */
void study_split_word(const char *word, struct arena *keep, const char **path, const char **run);

/* Reads run WORD (as study_read_run) for a comparison; WORD may also name a database file (its
 * latest run) or "FILE:RUN". Only for words that the user of this machine typed: it opens files. */
enum status study_read_side(struct store *store, const char *word, enum diff_detail detail,
                            struct arena *keep, struct run_side *out, struct fault *fault);

/* As study_read_side for what NOW is compared with: "baseline" is that of NOW's branch and
 * platform, else the one for all. */
enum status study_read_side_before(struct store *store, const char *word,
                                   const struct run_info *now, enum diff_detail detail,
                                   struct arena *keep, struct run_side *out, struct fault *fault);

/* Reads run RUN_ID of the database for a comparison. */
enum status study_read_side_of(struct store *store, uint64_t run_id, enum diff_detail detail,
                               struct arena *keep, struct run_side *out, struct fault *fault);

#endif
