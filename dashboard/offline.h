/* One run as one HTML file: the same pages, the same documents, no server. */
#ifndef DASHBOARD_OFFLINE_H
#define DASHBOARD_OFFLINE_H

#include <stdio.h>

#include "base/fault.h"
#include "store/store.h"

/* Writes the page of a stored run to OUT.  At most CASES_MAX cases come with their stacks
 * (0: 2,000), failing ones first; the page says how many were left out.  KNOWN_TEXT: the
 * list of accepted differences, or NULL.  Fails: ERR_ABSENT no such run; ERR_MEMORY; ERR_IO. */
enum status dashboard_offline_page(struct store *store, uint64_t run_id, uint32_t cases_max,
                                   const char *known_text, FILE *out, struct fault *fault);

#endif
