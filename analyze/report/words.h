/* Figures and names as people read them. */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include <stdint.h>

#include "base/arena.h"
#include "model/run.h"

/* "1.2 ms", "34 µs", "5.6 s": three digits at most; "-" for NaN. */
const char *duration_text(double ns, char out[24]);
const char *bytes_text(double bytes, char out[24]); /* "1.2 MB" */

/* "scenario.variant", followed by "#2" from the second repeat on. */
const char *case_name(const struct run_case *c, char out[160]);

/* RFC 3339, UTC, seconds. */
const char *time_text(uint64_t ns, char out[32]);

/* Text for a Markdown table cell: names come from dumps, so nothing in them may be markup. */
const char *markdown_text(const char *text, struct arena *keep);

#endif
