/* The dashboard's server: civetweb on loopback, one table of routes, read-only handles.
 *
 * Safe by default: it listens only on loopback unless allow_remote is set, refuses unknown host
 * names (421), serves no file from disk, and writes nothing unless
 * allow_write is set and the request carries the token. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "base/fault.h"
#include "http/dashboard_options.h"

struct dashboard;

/* Fails: ERR_USAGE not loopback without allow_remote, or not an address; ERR_IO the address
 * is taken; and as store_open().  An absent database is fine: the pages say so. */
enum status dashboard_start(const struct dashboard_options *options, struct dashboard **out,
                            struct fault *fault);

/* Where to point a browser, with the token in the fragment (which never leaves it). */
const char *dashboard_url(const struct dashboard *dashboard);

/* Ends all answers under way and frees everything. */
void dashboard_stop(struct dashboard *dashboard);

#endif
