/* Figures and names as people read them. */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include <stdint.h>

#include "base/arena.h"
#include "model/run.h"
#include "study/headline.h"

/* "1.2 ms", "34 µs", "5.6 s": three digits at most; "-" for NaN. */
const char *duration_text(double ns, char out[24]);
const char *bytes_text(double bytes, char out[24]); /* "1.2 MB" */

/* How many decimals of VALUE make three digits: 2 for 1.23, 1 for 12.3, 0 from 123 on. */
int decimals_of(double value);

/* The median of a cell of the headline, with its number of cases where it has fewer than the row;
 * "too few (3)", "not measured", or "–" for a step that is not done. */
enum { HEADLINE_TEXT = 64 };
const char *headline_median_text(const struct headline_row *row, const struct headline_cell *cell,
                                 char out[HEADLINE_TEXT]);
/* A time or size of ROW; what is left over may be negative. */
const char *headline_amount_text(const struct headline_row *row, double value, char out[24]);

/* "scenario.variant", followed by "#2" from the second repeat on. */
const char *case_name(const struct run_case *c, char out[160]);
const char *diff_case_name(const struct diff_case *c, char out[160]);

/* RFC 3339, UTC, seconds. */
const char *time_text(uint64_t ns, char out[32]);

#endif
