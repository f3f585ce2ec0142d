/* The options of verbs that may ask symbol servers, and the messages about downloads on stderr. */
#ifndef VERBS_FETCH_OPTIONS_H
#define VERBS_FETCH_OPTIONS_H

#include "verbs/common.h"

struct fetch_options;
struct symbol_store;
struct twinstack_options;

struct fetch_words {
    bool offline;
    uint64_t limit_ms, missing_ms; /* 0: the usual one */
};

/* The rows for these options; W is a struct fetch_words. */
#define FETCH_OPTION_ROWS(w)                                                                       \
    OPTION(OFFLINE, &(w).offline), OPTION(FETCH_LIMIT, &(w).limit_ms),                             \
        OPTION(FETCH_AGAIN, &(w).missing_ms)

/* For symbol_store_options.fetch; progress, downloads and their faults go to stderr. */
struct fetch_options fetch_options_make(const struct fetch_words *words);

/* The same for libtwinstack. */
void fetch_options_fill(struct twinstack_options *out, const struct fetch_words *words);

/* Says which part of _NT_SYMBOL_PATH or TWINSTACK_SYMBOLS is not used, if any. */
void fetch_options_check(const struct symbol_store *store);
void fetch_options_warn(const char *text);

#endif
