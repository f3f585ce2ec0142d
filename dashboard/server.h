/* The dashboard's server: civetweb on loopback, one table of routes, read-only handles.
 *
 * Safe by default: only loopback addresses unless told, names that are not ours are
 * refused (421), no file of the disk is ever served, and nothing is written unless
 * allow_write is set and the request carries the token. */
#ifndef DASHBOARD_SERVER_H
#define DASHBOARD_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

struct dashboard;

struct dashboard_options {
    const char *listen;       /* "127.0.0.1:0"; port 0: any free one                       */
    bool allow_remote;        /* other addresses than loopback; then all data needs the token */
    const char *const *hosts; /* further names that clients may call us by                 */
    uint32_t host_count;
    const char *database;
    const char *known_file; /* the file of known mismatches; NULL: none is shown */
    bool allow_write;
    const char *const *symbol_roots; /* for the resolve page */
    uint32_t symbol_root_count;
};

/* Fails: ERR_USAGE not loopback without allow_remote, or not an address; ERR_IO the address
 * is taken; and as store_open().  An absent database is fine: the pages say so. */
enum status dashboard_start(const struct dashboard_options *options, struct dashboard **out,
                            struct fault *fault);

/* Where to point a browser, with the token in the fragment (which never leaves it). */
const char *dashboard_url(const struct dashboard *dashboard);

/* Ends all answers under way and frees everything. */
void dashboard_stop(struct dashboard *dashboard);

#endif
