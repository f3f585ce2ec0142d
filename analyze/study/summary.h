/* What a report starts with: which cases fail and why, and what this host could not show. Cases
 * with the same answer share a group, so that one fault is one row, however many cases it hits. */
#ifndef STUDY_SUMMARY_H
#define STUDY_SUMMARY_H

#include "base/json.h"
#include "study/failures.h"
#include "study/figures.h"

struct case_group {
    const struct run_case **cases;  /* in the order of the run */
    uint32_t count;                 /* at least 1 */
    const struct run_case *example; /* the same one that pages name: see struct failure */
    const char *reason;             /* of the example, in this group; "": none is known */
    const struct failure *failure;  /* of failing cases: what they have in common; else NULL */
};

struct case_groups {
    struct case_group *rows; /* largest first, else in the order of the run */
    uint32_t count;
    uint32_t cases; /* in all groups */
};

struct summary {
    struct failures failures;
    struct case_groups failing;   /* one per row of `failures` */
    struct case_groups not_shown; /* UNSUPPORTED, by reason */
};

/* Borrows FIGURES; the groups live in KEEP.  Fails: ERR_MEMORY. */
enum status summary_make(const struct run_figures *figures, struct arena *keep, struct summary *out,
                         struct fault *fault);

/* The cases of GROUP as text: "null_write (ob0, ob2), recursion (all 4 builds) and 7 more cases"
 * names at most MOST scenarios.  Returns NULL when KEEP is full. */
const char *summary_names(const struct run_figures *figures, const struct case_group *group,
                          uint32_t most, struct arena *keep);

/* Which way is right in C, the example of many or the case itself: "in fiber.ob2 neither way is
 * right". NULL: not known, or no memory. */
const char *summary_right(const struct run_case *c, struct arena *keep);

/* The command that shows more about a case: checks its files or, when none were kept, runs it
 * again. NULL: no memory. */
const char *summary_command(const struct run_case *c, struct arena *keep);

/* Cases of one scenario with the same verdict and the same marks of every engine. */
struct grid_row {
    const struct run_case **cases; /* in the order of the run */
    uint32_t count;
    bool named; /* the first row of its scenario */
    bool all;   /* every build of its scenario, and there are several */
};

struct grid_rows {
    struct grid_row *rows; /* by scenario, then in the order of the run */
    uint32_t count;
    uint32_t cases; /* in all rows */
};

/* The rows of the grid: those that deviate (the verdict is not the promised one, or an engine under
 * test is not exact), or ALL.  Borrows FIGURES; the rows live in KEEP.  Fails: ERR_MEMORY. */
enum status summary_rows(const struct run_figures *figures, bool all, struct arena *keep,
                         struct grid_rows *out, struct fault *fault);

/* All rows of the grid, in their order, some at a time: of a run that stays in the database, those
 * of one scenario. EACH returns false to stop; its rows are gone afterwards. Fails: ERR_MEMORY; as
 * the database. */
typedef bool grid_rows_fn(void *context, const struct grid_rows *rows);
enum status summary_each_rows(const struct run_figures *figures, grid_rows_fn *each, void *context,
                              struct fault *fault);

/* The members "failing", "failing_left" (cases in groups that are not written), "not_shown" and
 * "headline" of an object: see report/README.md.  Of each kind of groups at most MOST, the largest
 * (0: all). */
void summary_write_json(struct json *j, const struct run_figures *figures, uint32_t most);

#endif
