/* Parts of the report for people, which the terminal and Markdown share: see sheet.h. */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include "report/report.h"
#include "report/sheet.h"
#include "study/summary.h"

/* The glyph says the same as the colour, for readers and terminals without colours. */
const char *verdict_glyph(enum verdict verdict);

/* What fails and why, one entry per group; returns how many cases found no room. ELSEWHERE: where
 * these are listed, or NULL. */
size_t document_failing(struct sheet *s, const struct run_figures *report,
                        const struct case_groups *failing, const char *elsewhere);

/* The same, one entry per case. */
void document_failing_cases(struct sheet *s, const struct run_figures *report);

/* What this host could not show, one row per reason; or each reason with all its cases. */
void document_not_shown(struct sheet *s, const struct case_groups *groups);
void document_not_shown_names(struct sheet *s, const struct run_figures *report,
                              const struct case_groups *groups);

/* ALL: also rows of causes that fail no case, which are otherwise one line. */
void document_causes(struct sheet *s, const struct run_figures *report, bool all);

/* The snapshots that a .NET runtime refused, with their HRESULT. */
void document_refused(struct sheet *s, const struct run_figures *report);

/* Fails: as the database, where the run stays there. */
enum status document_findings(struct sheet *s, const struct run_figures *report,
                              struct fault *fault);

/* How right each engine is against the truth: those under test and the first of the others, at
 * most MOST (0: all). Returns how many are left out. */
#define DOCUMENT_ALL_AGAIN UINT32_MAX /* below a table that has not all */
size_t document_engines(struct sheet *s, const struct run_figures *report, uint32_t most);

/* How right the two ways are over the same cases; false and nothing where no case has both. */
bool document_accuracy(struct sheet *s, const struct run_figures *report);

/* What code the engines share, and why some were not asked. */
void document_shared(struct sheet *s, const struct run_figures *report);

/* Scenario x variant x engine, with the verdict: the cases that deviate, or ALL. Builds with the
 * same marks share a row. Fails: as the database, where the run stays there. */
enum status document_grid(struct sheet *s, const struct run_figures *report, bool all,
                          struct fault *fault);

/* Hook x pattern, expected and seen; DETAILS: one row per scenario. */
void document_hooks(struct sheet *s, const struct run_figures *report, bool details);

/* What a crash costs as a dump and as offsets: medians, one sentence, and which way is faster, in
 * lanes and states. SPREAD: also least and most, the parts, and without system modules. Ratios that
 * exceed MOST_LINES of S are counted (0: no limit). */
void document_speed(struct sheet *s, const struct run_figures *report, bool spread,
                    uint32_t most_lines);

/* What happens to one crash, from `report --cost`: a column per step, and a row for each of the two
 * ways of which every step is known. False and nothing where none is, or where it would exceed
 * MOST_LINES (0: no limit). */
bool document_time_line(struct sheet *s, const struct run_figures *report, uint32_t most_lines);

/* Walk, suspension, writes and bytes in the dying process; cost of each engine; the slowest ten. */
enum status document_timing(struct sheet *s, const struct run_figures *report, struct fault *fault);

/* The frames by module and by what named them. */
void document_symbols(struct sheet *s, const struct run_figures *report);

/* How many stacks of managed code each way got right; nothing where the run has no such row. */
void document_managed(struct sheet *s, const struct run_figures *report);

#endif
