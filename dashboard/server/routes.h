/* Every address that the server knows, in one table.  Everything else is a 404. */
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include "base/json.h"
#include "http/exchange.h"
#include "http/route.h"

/* Finds the route and fills x->route and x->query.params.  Returns 0, or the status of the
 * error: 404, or 405 when only the method is not there. */
int route_find(struct exchange *x);

/* Calls FN for each route, views included, in the order of the table. */
void route_each(void (*fn)(const struct route *route, void *context), void *context);

/* Writes the list of routes that are data: what /api/v1/endpoints answers. */
void endpoints_write(struct json *out);

#endif
