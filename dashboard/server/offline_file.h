/* The pages as one HTML file: one run whole and the runs around it, no server. */
#ifndef SERVER_OFFLINE_FILE_H
#define SERVER_OFFLINE_FILE_H

#include <stdio.h>

#include "base/fault.h"
#include "study/runs.h"

/* Writes the page of a stored run to OUT: the same pages and documents as the live ones, within the
 * limits of pages/offline.h; the pages say what was left out.  Fails: ERR_ABSENT no such run;
 * ERR_MEMORY; ERR_IO. */
enum status dashboard_offline_page(struct store *store, uint64_t run_id, FILE *out,
                                   struct fault *fault);

#endif
