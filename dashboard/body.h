/* The bodies of requests: counted, limited in size and in time. */
#ifndef DASHBOARD_BODY_H
#define DASHBOARD_BODY_H

#include "dashboard/exchange.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads the body whole into KEEP, with a NUL's room behind it.  Answers by itself and returns
 * false when it is too large, too slow, cut, of no stated length, or when there are too many. */
bool exchange_read_body(struct exchange *x, size_t max_bytes, char **body, size_t *bytes);

/* Gives the place of a body back; at the end of every request. */
void exchange_end_upload(struct exchange *x);

#endif
