/* Which hook saw each crash, expected and measured: a matrix of cases by hook, in which cases with
 * one pattern share a row. */
#ifndef STUDY_HOOKS_H
#define STUDY_HOOKS_H

#include "base/slots.h"
#include "study/figures.h"

enum hook_mark { HOOK_NONE, HOOK_KEPT, HOOK_MISSED, HOOK_EXTRA };

struct hook_row {
    uint8_t marks[CASE_HOOK_COUNT]; /* enum hook_mark, by the matrix's hooks */
    const struct run_case *first;
    const char *last; /* its newest scenario */
    uint32_t cases, scenarios;
    bool differs; /* expected and seen are not the same */
};

struct hook_matrix {
    struct {
        enum case_hook hook;
        uint32_t expected, seen; /* cases */
    } hooks[CASE_HOOK_COUNT];    /* in the order in which a crash passes them */
    uint32_t hook_count;
    struct hook_row *rows; /* those that differ first, then by hooks; those that no hook saw last */
    uint32_t row_count;
};

/* A matrix that is made case by case, in the order of the run; the cases need not stay.
 * EACH_SCENARIO: no two scenarios share a row; otherwise only those that differ have one of their
 * own. */
struct hook_count {
    struct hook_matrix *out;
    struct arena *keep;
    struct slots slots; /* of the rows, by their marks and, of those of one scenario, its name */
    uint32_t room;
    bool each_scenario;
};
void hook_count_begin(struct hook_count *count, bool each_scenario, struct arena *keep,
                      struct hook_matrix *out);
enum status hook_count_add(struct hook_count *count, const struct run_case *c, struct fault *fault);
void hook_count_end(struct hook_count *count); /* after each hook_count_begin(): frees the slots */

/* Of cases that count in no matrix, as those that were not run, nothing is expected or seen. */
void hook_outcomes_reduce(struct hook_outcome *rows, uint32_t count);

/* The matrix in which no two scenarios share a row; lives in KEEP. Fails: as the database. */
enum status hooks_of_scenarios(const struct run_figures *figures, struct arena *keep,
                               struct hook_matrix *out, struct fault *fault);

#endif
