/* The options of verbs that may ask symbol servers, and the messages about downloads on stderr. */
#ifndef VERBS_FETCH_OPTIONS_H
#define VERBS_FETCH_OPTIONS_H

#include "fetch/fetch.h"
#include "symbol/store.h"
#include "verbs/verb.h"

struct fetch_words {
    bool offline;
    uint64_t limit_ms, missing_ms; /* 0: the usual one */
};

/* The rows for these options; W is a struct fetch_words. */
#define FETCH_OPTION_ROWS(w)                                                                       \
    {"--offline", OPTION_FLAG, &(w).offline, NULL, "ask no symbol server"},                        \
        {"--fetch-limit", OPTION_DURATION_MS, &(w).limit_ms, "TIME",                               \
         "time limit of one download, retries included (10m)"},                                    \
        {"--fetch-again", OPTION_DURATION_MS, &(w).missing_ms, "TIME",                             \
         "how long to remember that a server lacks a file (1h)"}

/* For symbol_store_options.fetch; progress, downloads and their faults go to stderr. */
struct fetch_options fetch_options_make(const struct fetch_words *words);

/* Says which part of _NT_SYMBOL_PATH or TWINSTACK_SYMBOLS is not used, if any. */
void fetch_options_check(const struct symbol_store *store);

#endif
