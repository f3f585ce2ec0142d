/* `twinstack symbols fetch`: downloads the symbols of dumps and stacks into a cache. */
#ifndef VERBS_SYMBOLS_FETCH_H
#define VERBS_SYMBOLS_FETCH_H

#include "verbs/fetch_options.h"

struct symbols_fetch {
    struct option_list roots;         /* symbol paths */
    struct option_list dumps, stacks; /* what to fetch for */
    struct fetch_words fetch;
    const char *cache;
    bool json;
};

/* Prints one row per file, and returns the exit code: 3 when a server did not answer, refused or
 * sent a wrong file; 5 when no module states an identity. */
int symbols_fetch(const struct symbols_fetch *request);

#endif
