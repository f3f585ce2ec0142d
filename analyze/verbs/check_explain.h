/* `check --explain FRAME`: what every engine has as one frame of the crashed thread, and by which
 * rule it found it. */
#ifndef VERBS_CHECK_EXPLAIN_H
#define VERBS_CHECK_EXPLAIN_H

#include "model/run.h"

/* Prints physical frame INDEX, 0 is the innermost, of each case on standard output. */
void check_explain(const struct run_case *cases, uint32_t count, uint32_t index);

/* Prints a text of a dump, a PDB or another program, which is not trusted; NULL prints nothing. */
void check_put_clean(const char *text);

#endif
