/* What the server is started with.  All text is borrowed and must outlive it. */
#ifndef HTTP_DASHBOARD_OPTIONS_H
#define HTTP_DASHBOARD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

enum { DUMP_MIB_LEAST = LIMIT_REPORT_DUMP_BYTES >> 20 /* of one dump */, DUMP_MIB_DEFAULT = 16384 };
#define DUMP_AGE_MS_DEFAULT (UINT64_C(14) * 24 * 3600 * 1000)

struct dashboard_options {
    const char *listen;       /* "127.0.0.1:0"; port 0: any free one                       */
    bool allow_remote;        /* other addresses than loopback; then all data needs the token */
    const char *const *hosts; /* further names that clients may call us by                 */
    uint32_t host_count;
    const char *database;
    bool wait;              /* while there is no database, answer as for an empty one */
    const char *known_file; /* the file of known mismatches; NULL: none is shown */
    bool allow_write;
    const char *const *symbol_roots; /* for the resolve page */
    uint32_t symbol_root_count;
    bool allow_symbols;                /* others may send symbol files of theirs to resolve with */
    const char *cache;                 /* see symbol_store_options */
    const struct fetch_options *fetch; /* of symbol servers; NULL: the usual ones */
    bool collect;                      /* take reports */
    const char *senders;               /* a file of lines NAME TOKEN; NULL: none */
    const char *queue;              /* where reports go: see stream/queue.h; NULL: into the spool */
    const char *spool;              /* a folder; dumps are kept there */
    uint64_t dump_age_ms, dump_mib; /* dumps beyond these are deleted, the oldest first */
    const char *suite;  /* the folder of the reference suite, with results; NULL: none */
    const char *totals; /* what a reducer writes; NULL: no head problems are shown */
};

#endif
