/* A page of the results of several tools, and badges: files that need no server. */
#ifndef SUITE_RESULT_PAGE_H
#define SUITE_RESULT_PAGE_H

#include <stdio.h>

#include "suite/matrix.h"

/* Writes HTML: the tools, what is wrong in one of them only, a table of shapes and tools for each
 * capability, and each case that a tool has not right. Any text may be hostile: it is escaped.
 * HOME: a link back to where the page is part of, relative; NULL: it is part of nothing. Fails:
 * ERR_MEMORY. */
enum status result_page(const struct matrix *matrix, const char *home, FILE *out,
                        struct fault *fault);

struct suite_badge {
    const char *tool, *version, *edition, *capability;
    uint32_t counts[MATRIX_OUTCOMES]; /* of all cases of the capability */
};

/* "3312 right, 15 early", or "not covered" where there is no answer; NULL: out of memory. */
const char *suite_badge_words(const struct suite_badge *badge, struct arena *keep);

/* "tool-1.2-moments.x64.svg": lower-case, and what is not safe in a name of a file is a hyphen;
 * NULL: out of memory. */
const char *suite_badge_file_name(const struct suite_badge *badge, struct arena *keep);

/* Writes SVG. WORDS: of suite_badge_words(). */
void suite_badge_write(const struct suite_badge *badge, const char *words, FILE *out);

/* The badges of each tool, for each capability of the suite. Fails: ERR_MEMORY. */
enum status suite_badges(const struct matrix *matrix, struct arena *keep, struct suite_badge **out,
                         uint32_t *count, struct fault *fault);

#endif
