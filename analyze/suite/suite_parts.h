/* Shared by the files that read a suite. */
#ifndef SUITE_SUITE_PARTS_H
#define SUITE_SUITE_PARTS_H

#include <cjson/cJSON.h>

#include "suite/suite.h"

/* Reads one line of a list. *IS_MOMENT is false for another kind of case, of which only the id is
 * read. Fails: ERR_MALFORMED, ERR_MEMORY. */
enum status suite_case_read(const char *line, size_t bytes, struct arena *keep,
                            struct suite_case *out, bool *is_moment, struct fault *fault);

/* The frames of an answer or of a truth: objects with "ip" and "sp" (numbers of 64 bits as
 * "0x..."). SP may be absent or null in an answer: see SUITE_NO_SP. */
#define SUITE_NO_SP UINT64_MAX
enum { SUITE_WALK_MAX = 1024 };
enum status suite_walk_read(const cJSON *array, struct arena *keep, struct suite_walk *out,
                            struct fault *fault);

#endif
