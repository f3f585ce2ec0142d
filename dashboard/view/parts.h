/* What the views share. */
#ifndef VIEW_PARTS_H
#define VIEW_PARTS_H

#include "view/view.h"

/* The run that parameter or query word WORD names; NULL: the latest. */
enum status view_find_run(const struct view_input *in, const char *word, uint64_t *run_id,
                          struct fault *fault);

/* A number of the query; FALLBACK when absent.  Fails: ERR_USAGE not a number or over MAX. */
enum status view_get_uint(const struct view_input *in, const char *name, uint64_t fallback,
                          uint64_t max, uint64_t *out, struct fault *fault);

/* Splits "null_write.ob2" at its last dot.  Fails: ERR_ABSENT no dot. */
enum status view_split_case(const struct view_input *in, const char *name, const char **scenario,
                            const char **variant, struct fault *fault);

/* All cases of a run, page after page, into KEEP, at most MAX; *total is the true number.
 * Without findings, and without scores unless asked. */
enum status view_all_cases(const struct view_input *in, uint64_t run_id, bool scores, uint32_t max,
                           struct run_case **out, uint32_t *count, uint64_t *total,
                           struct fault *fault);

/* One line of a list: verdict, reason and how each engine did. */
void view_write_case_line(struct json *out, const struct run_case *c);

void view_write_page(struct json *out, uint64_t total, uint64_t next);

/* {"new": [...], "fixed": [...], "changed": [...], "still": [...]} of run B against run A. */
enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault);

/* Findings of a run by cause, most first: [{cause, findings, cases, subject_findings}]. */
enum status view_write_causes(const struct view_input *in, uint64_t run_id, struct json *out,
                              struct fault *fault);

/* A figure's trend, oldest first, and the band that its history keeps to (quartiles widened
 * by 1.5 times their distance): {points: [{run, started_ns, value, count}], band: {low, high}}. */
enum status view_write_trend(const struct view_input *in, const char *metric, const char *scenario,
                             const char *variant, uint32_t limit, struct json *out,
                             struct fault *fault);

view_function view_overview, view_runs, view_run, view_run_cases, view_case, view_case_history;
view_function view_compare, view_trend, view_timing, view_doors, view_signatures, view_known;
view_function view_symbols;

enum { VIEW_CASES_MAX = 20000 };

#endif
