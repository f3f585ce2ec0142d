/* Where `twinstack resolve` has its names from. */
#ifndef VERBS_RESOLVE_SYMBOLS_H
#define VERBS_RESOLVE_SYMBOLS_H

#include <stdint.h>

#include "library/twinstack.h"
#include "verbs/fetch_options.h"
#include "verbs/verb.h"

/* The options of the command line. */
struct resolve_symbols {
    struct option_list pdbs, csvs, roots;
    uint64_t csv_base;
    const char *arch, *cache;
    struct fetch_words fetch;
};

/* Opens them with OPTIONS, whose other members the caller has set. A symbol path of the environment
 * that cannot be used is warned of. Fails: as twinstack_open() and the bindings. */
enum twinstack_status resolve_symbols_open(const struct resolve_symbols *o,
                                           struct twinstack_options *options,
                                           struct twinstack_symbols **out,
                                           struct twinstack_error *error);

#endif
