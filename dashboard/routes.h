/* Every address that the server knows, in one table: what is not in it is not there. */
#ifndef DASHBOARD_ROUTES_H
#define DASHBOARD_ROUTES_H

#include "dashboard/exchange.h"

typedef int route_handler(struct exchange *x);

enum route_flag {
    ROUTE_OPEN = 1 << 0,   /* needs no token even when other machines may ask */
    ROUTE_WRITES = 1 << 1, /* 403 unless --allow-write, and the token         */
    ROUTE_BODY = 1 << 2,   /* parses what a client sends: on a deep stack     */
};

struct route {
    const char *method;  /* "GET" also answers HEAD */
    const char *pattern; /* see view_path_match()   */
    route_handler *handler;
    unsigned flags;          /* of enum route_flag        */
    const struct view *view; /* for answer_view; else NULL                */
    const char *summary;     /* what it is; NULL for pages                */
};

/* Finds the route and fills x->route and x->query.params.  Returns 0, or the status of the
 * error: 404, or 405 when only the method is not there. */
int route_find(struct exchange *x);

/* Calls FN for each route, views included, in the order of the table. */
void route_each(void (*fn)(const struct route *route, void *context), void *context);

/* Writes the list of routes that are data: what /api/v1/endpoints answers. */
void endpoints_write(struct json *out); /* api.c */

/* Handlers; each file says its own. */
route_handler answer_page, answer_embedded, answer_view; /* routes.c, api.c */
route_handler answer_health, answer_metrics, answer_artifact, answer_endpoints; /* api.c */
route_handler answer_badge;                                         /* badge.c         */
route_handler answer_events;                                        /* events.c        */
route_handler answer_resolve;                                       /* resolve.c       */
route_handler answer_baseline, answer_known_add, answer_known_drop; /* writes.c */

#endif
