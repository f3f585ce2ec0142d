/* A frame of an address: its function, file and line. */
#ifndef SUITE_SUITE_LOGICAL_H
#define SUITE_SUITE_LOGICAL_H

#include <cjson/cJSON.h>

#include "base/walk_compare.h"
#include "suite/suite.h"

/* Reads one frame of an address. Fails: ERR_MALFORMED, ERR_LIMIT, ERR_MEMORY. */
enum status suite_logical_read(const cJSON *frame, struct arena *keep, struct suite_frame *out,
                               struct fault *fault);

/* Names are compared without blanks, a leading "::", and parameters after a name that is accepted
 * without them; paths with either slash, without "." and "..", and an answer
 * that is a name without a folder is compared with the last part alone. */
enum walk_match suite_logical_match(const struct suite_frame *truth,
                                    const struct suite_frame *answer);

/* Copies what FRAME refers to into KEEP; false: out of memory. */
bool suite_logical_keep(struct suite_frame *frame, struct arena *keep);

#endif
