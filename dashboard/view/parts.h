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

/* How many entries a page is to have: at least one.  Fails: as view_get_uint(). */
enum status view_get_limit(const struct view_input *in, uint64_t fallback, uint64_t *out,
                           struct fault *fault);

/* The case that the path names, whole: params are run and case, the query may say repeat. */
enum status view_read_case(const struct view_input *in, struct run_case *out, struct fault *fault);

void view_write_truth_frame(struct json *out, const struct truth_frame *f);
void view_write_frame(struct json *out, const struct frame *f);
void view_write_evidence(struct json *out, const struct frame_evidence *e, struct arena *keep);

/* One line of a list: verdict, reason and how each engine did. */
void view_write_case_line(struct json *out, const struct run_case *c);

/* BYTES of DATA compressed (zlib) and as base64, in KEEP; NULL when there is no memory. */
const char *view_pack(const char *data, size_t bytes, struct arena *keep);

void view_write_page(struct json *out, uint64_t total, uint64_t next);

/* {"new": [...], ..., "counts": {...}} of run B against run A; the first rows of each group. */
enum status view_write_changes(const struct view_input *in, uint64_t a, uint64_t b,
                               struct json *out, struct fault *fault);

/* Findings of a run by cause, most first: [{cause, findings, cases, subject_findings}]. */
enum status view_write_causes(const struct view_input *in, uint64_t run_id, struct json *out,
                              struct fault *fault);

/* A figure's trend up to run UNTIL (0: the newest), oldest first, and the band that its history
 * keeps to (quartiles widened by 1.5 times their distance): {points: [{run, started_ns, value,
 * count}], band: {low, high}}. */
enum status view_write_trend(const struct view_input *in, const char *metric, const char *scenario,
                             const char *variant, uint64_t until, uint32_t limit, struct json *out,
                             struct fault *fault);

view_function view_overview, view_runs, view_run, view_run_cases, view_case, view_case_history;
view_function view_compare, view_trend, view_timing, view_doors, view_signatures, view_known;
view_function view_symbols, view_explain;

#endif
