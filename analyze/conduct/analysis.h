/* Analyses one sealed case: runs the engines and judges their stacks. Used by `run`, `check`,
 * `regrade` and `bench`. */
#ifndef CONDUCT_ANALYSIS_H
#define CONDUCT_ANALYSIS_H

#include "base/fault.h"
#include "model/run.h"

struct dump_faults;
struct engine;
struct engine_input;
struct judge_pool;
struct symbol_store;

struct analysis {
    struct symbol_store *symbols; /* borrowed */
    const char *const *launcher;  /* see engine_input */
    const char *judge_folder;
    struct judge_pool *judges;       /* see engine_input */
    const struct truth *truth;       /* replaces the case's own; NULL: it is used */
    uint32_t levels_ignored;         /* see compare_input */
    const char *source_root;         /* where sources are; NULL: where the case says, else here */
    struct dump_faults *dump_faults; /* gets those of the dumps; NULL: they are not looked for */
};

/* Runs the engines over CRASH, compares their stacks with its truth and with each other, and fills
 * OUT. The claim of an engine that fails says why. Everything lives in KEEP, which must outlive
 * OUT; so must CRASH. Fails: ERR_MEMORY, ERR_LIMIT; and as truth_read(). */
enum status analysis_case(const struct analysis *analysis, const struct crash_case *crash,
                          struct arena *keep, struct run_case *out, struct fault *fault);

/* Only asks ASKED about an opened case: OUT gets their claims. Fails: ERR_MEMORY. */
enum status analysis_ask(const struct engine_input *in, const struct engine *const *asked,
                         uint32_t count, struct arena *keep, struct run_case *out,
                         struct fault *fault);

/* Judges existing stacks: compares the claims of OUT with TRUTH and with each other; CRASH may be
 * NULL. */
enum status analysis_judge(const struct analysis *analysis, const struct crash_case *crash,
                           const struct truth *truth, struct arena *keep, struct run_case *out,
                           struct fault *fault);

/* Adds the small files that CRASH is based on to OUT's artifacts: the sealed ones except dump and
 * images, and the sources that the truth and own frames name, as they are now. Missing files are
 * left out. Fails: ERR_MEMORY. */
enum status analysis_keep_files(const struct analysis *analysis, const struct crash_case *crash,
                                struct arena *keep, struct run_case *out, struct fault *fault);

/* The times that the record states of the dying process; 0 where it states none. */
void analysis_timing(const struct crash_case *crash, struct case_timing *out);

#endif
