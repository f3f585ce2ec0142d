/* One problem of a run, as its page shows it and as it is accepted: a group of failing cases, or of
 * accepted ones (failures.h), named by its key. */
#ifndef STUDY_PROBLEM_H
#define STUDY_PROBLEM_H

#include "study/acceptance.h"
#include "study/triage.h"

enum {
    PROBLEM_ROWS_MOST = 200,   /* scenarios of a matrix at one time */
    PROBLEM_CASES_MOST = 2000, /* that are accepted together */
};

/* True when ITEM of TRIAGE is of the problem KEY. */
bool problem_has(const struct triage *triage, const struct triage_item *item, const char *key);

/* The problem KEY with its cases as a matrix of scenarios and builds: {failure_write_members(),
 * "new", "matrix": {"variants", "rows": [{"scenario", "cases": [...], "of": [...]}], "rows_before",
 * "rows_left", "variants_hit"}}; AFTER scenarios come before the rows; `cases` are of this problem,
 * `of` all that the run has, one number for each variant. null: the run has no such problem. Fails:
 * ERR_MEMORY. */
enum status problem_write_json(struct json *j, const struct triage *triage, const char *key,
                               uint32_t after, struct arena *keep, struct fault *fault);

/* Adds one acceptance of all cases of the problem KEY that can be accepted; *BLOCK is the text that
 * was added, *COUNT how many cases it is for. Fails: ERR_ABSENT the run has no such problem;
 * ERR_USAGE none can be accepted, more than PROBLEM_CASES_MOST, or as acceptance_add(); as the
 * database. */
enum status problem_accept(struct acceptance *acceptance, const struct triage *triage,
                           const char *key, const struct known_words *words, struct arena *keep,
                           const char **block, uint32_t *count, struct fault *fault);

#endif
