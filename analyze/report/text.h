/* Parts of the terminal report that have a file of their own. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "report/page.h"
#include "report/report.h"

/* The glyph says the same as the colour, for readers and terminals without colours. */
enum ink verdict_ink(enum verdict verdict);
const char *verdict_glyph(enum verdict verdict);

/* Scenario x variant x engine, with the verdict. */
void text_print_grid(const struct page *page, const struct run_figures *report,
                     struct arena *scratch);

/* Hook x pattern, expected and seen; DETAILS: one row per scenario. */
void text_print_doors(const struct page *page, const struct run_figures *report, bool details,
                      struct arena *scratch);

/* Walk, suspension, writes and bytes in the dying process; cost of each engine; the slowest ten. */
enum status text_print_timing(const struct page *page, const struct run_figures *report,
                              struct arena *scratch, struct fault *fault);

/* "dump way (foreign) : dump way (ours) : offset way", measured. */
void text_print_headline(const struct page *page, const struct run_figures *report,
                         struct arena *scratch);

#endif
