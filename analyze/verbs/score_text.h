/* The score of a contestant in a terminal. */
#ifndef VERBS_SCORE_TEXT_H
#define VERBS_SCORE_TEXT_H

#include "suite/result_file.h"

/* COMMAND, FOLDER: as they were given, for the command that repeats a case; FOLDER: NULL: not
 * given. DETAILS: a row per position, and every case that is not right. */
struct score_style {
    const char *command, *folder;
    bool details;
};

/* Writes what the contestant is, its sums per shape, and where it is wrong, to stdout. Fails:
 * ERR_MEMORY. */
enum status score_text(const struct suite *suite, const struct score *score,
                       const struct score_style *style, struct arena *keep, struct fault *fault);

/* Writes what changed since an older result. */
void score_text_difference(const struct result_difference *difference);

#endif
