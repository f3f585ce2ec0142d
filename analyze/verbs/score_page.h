/* Results that `twinstack score` wrote, as a page and as badges. */
#ifndef VERBS_SCORE_PAGE_H
#define VERBS_SCORE_PAGE_H

#include "suite/matrix.h"
#include "verbs/verb.h"

struct score_page {
    const char *html;   /* the file; "-": standard output; NULL: none */
    const char *badges; /* the folder, which is made; NULL: none */
};

/* Reads the RESULTS, files, and writes what PAGE asks for of them, after SCORE (NULL: none). WHOLE:
 * SUITE has all its cases, so that a case which it lacks is worth a warning. Fails: ERR_MALFORMED
 * and as file_read() with the path of a result; ERR_USAGE two badges would have one name; ERR_IO,
 * ERR_MEMORY. */
enum status score_page(const struct score_page *page, const struct suite *suite,
                       const struct score *score, const struct option_list *results, bool whole,
                       struct arena *keep, struct fault *fault);

#endif
