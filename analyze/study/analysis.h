/* One sealed case through every engine and the judgement: what `run`, `check`, `regrade` and
 * `bench` have in common. */
#ifndef STUDY_ANALYSIS_H
#define STUDY_ANALYSIS_H

#include "base/fault.h"
#include "model/run.h"

struct symbol_store;

struct analysis {
    struct symbol_store *symbols; /* borrowed */
    const char *const *launcher;  /* see engine_input */
    const char *judge_folder;
    bool subjects_only;        /* judges and other exhibits are not asked */
    const struct truth *truth; /* given by hand; NULL: the case's own */
    uint32_t levels_ignored;   /* see compare_input */
    const char *source_root;   /* where sources are; NULL: where the case says, else here */
};

/* Runs the engines over CRASH, holds them against its truth and each other, and fills OUT.
 * An engine that fails is a claim that says why.  Everything lives in KEEP, which must outlive
 * OUT; so must CRASH.  Fails: ERR_MEMORY, ERR_LIMIT; a truth that cannot be
 * read is its own fault. */
enum status analysis_case(const struct analysis *analysis, const struct crash_case *crash,
                          struct arena *keep, struct run_case *out, struct fault *fault);

/* Judges stacks that are there already: OUT's claims, against CRASH (may be NULL) and TRUTH. */
enum status analysis_judge(const struct analysis *analysis, const struct crash_case *crash,
                           const struct truth *truth, struct arena *keep, struct run_case *out,
                           struct fault *fault);

/* Puts the small files that CRASH stands on into OUT's artifacts: what was sealed, but for dump
 * and images, and the sources that the truth and own frames name, as they are now.  What is not
 * there is left out.  Fails: ERR_MEMORY. */
enum status analysis_keep_files(const struct analysis *analysis, const struct crash_case *crash,
                                struct arena *keep, struct run_case *out, struct fault *fault);

/* What the record says about the dying process; 0 where it says nothing. */
void analysis_timing(const struct crash_case *crash, struct case_timing *out);

/* The folders that hold the symbols of a sealed case: the run's shared store, the case itself.
 * Adds those that are new to ROOTS (room for all). */
void analysis_add_roots(const struct crash_case *crash, struct arena *keep, const char **roots,
                        uint32_t *count);

#endif
