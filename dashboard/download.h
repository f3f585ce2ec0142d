/* The dump of a case, as a download. */
#ifndef DASHBOARD_DOWNLOAD_H
#define DASHBOARD_DOWNLOAD_H

#include <stdint.h>

#include "dashboard/route.h"

route_handler answer_dump;

/* What a Range line asks of a file of BYTES.  RANGE_WHOLE: all of it, also where the line is
 * malformed or lists several parts; RANGE_NONE: nothing that the file has. */
enum range { RANGE_WHOLE, RANGE_PART, RANGE_NONE };
enum range download_range(const char *header, uint64_t bytes, uint64_t *begin, uint64_t *count);

#endif
