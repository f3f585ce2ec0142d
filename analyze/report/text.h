/* Parts of the terminal report that have a file of their own. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "report/page.h"
#include "report/report.h"
#include "study/summary.h"

/* The glyph says the same as the colour, for readers and terminals without colours. */
const char *verdict_glyph(enum verdict verdict);

/* The answer in at most 40 lines on a page of 80 columns or more. False: it does not name every
 * failing case. */
bool text_print_top(const struct page *page, const struct run_figures *report,
                    const struct summary *summary, struct arena *scratch);

/* "FAIL   13 cases: 12 PASS, 1 FAIL". */
void text_print_verdict(const struct page *page, const struct run_figures *report);

/* How right each engine is against the truth. */
void text_print_engines(const struct page *page, const struct run_figures *report,
                        struct arena *scratch);

/* What code the engines share, and why some were not asked. */
void text_print_shared(const struct page *page, const struct run_figures *report);

/* Scenario x variant x engine, with the verdict: the cases that deviate, or ALL. Builds with the
 * same marks share a row. Fails: as the database, where the run stays there. */
enum status text_print_grid(const struct page *page, const struct run_figures *report, bool all,
                            struct arena *scratch, struct fault *fault);

/* Hook x pattern, expected and seen; DETAILS: one row per scenario. */
void text_print_doors(const struct page *page, const struct run_figures *report, bool details,
                      struct arena *scratch);

/* Walk, suspension, writes and bytes in the dying process; cost of each engine; the slowest ten. */
enum status text_print_timing(const struct page *page, const struct run_figures *report,
                              struct arena *scratch, struct fault *fault);

/* The frames by module and by what named them. */
void text_print_symbols(const struct page *page, const struct run_figures *report,
                        struct arena *scratch);

/* How many stacks of managed code each way got right; nothing where the run has no such row. */
void text_print_managed(const struct page *page, const struct run_figures *report);

/* What a crash costs as a dump and as offsets: medians, one sentence, and the ratio "dump way
 * (foreign) : dump way (ours) : offset way". */
void text_print_headline(const struct page *page, const struct run_figures *report,
                         struct arena *scratch);

/* The same table with the spread, and with the parts of the warm time. */
void text_print_headline_spread(const struct page *page, const struct run_figures *report,
                                struct arena *scratch);

#endif
