/* Which engine caused a difference, by a vote of the engines; the rules are in blame.c. */
#ifndef COMPARE_BLAME_H
#define COMPARE_BLAME_H

#include "compare/align.h"

/* Fills blame, blame_engine, witnesses and, where the vote decides, wrong. TABLE belongs to the
 * finding's thread. Texts are borrowed or live in KEEP. BLAME_UNKNOWN remains where
 * no engine is wrong or no vote is possible; BLAME_EVEN names all that voted. */
void finding_blame(const struct compare_input *in, const struct table *table, struct arena *keep,
                   struct finding *f);

/* The same for the findings of THREAD, which are those of RESULT from FIRST on; then the cells of
 * what fails are those of the column that is wrong. */
void blame_findings(const struct compare_input *in, const struct table *table, struct arena *keep,
                    struct thread_result *thread, struct case_result *result, uint32_t first);

#endif
