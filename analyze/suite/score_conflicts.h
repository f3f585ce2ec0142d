/* Cases of which no contestant can have all right, since Windows versions disagree. */
#ifndef SUITE_SCORE_CONFLICTS_H
#define SUITE_SCORE_CONFLICTS_H

#include "suite/answer.h"

/* Makes an answer of ANSWERS, by case of SUITE, that is early or wrong SUITE_UNSUPPORTED where a
 * case that conflicts with its own is right: the contestant follows the other Windows. Its words
 * live in KEEP. Fails: ERR_MEMORY. */
enum status score_settle_conflicts(const struct suite *suite, struct suite_answer *answers,
                                   struct arena *keep, struct fault *fault);

#endif
