/* A case: a line of a list, and the frames of a truth or of an answer. */
#ifndef SUITE_SUITE_CASE_H
#define SUITE_SUITE_CASE_H

#include <cjson/cJSON.h>

#include "suite/suite.h"

/* Reads one line of a list. *IS_READ is false for a kind that is not asked yet, of which only the
 * id is read. Fails: ERR_MALFORMED, ERR_MEMORY. */
enum status suite_case_read(const char *line, size_t bytes, struct arena *keep,
                            struct suite_case *out, bool *is_read, struct fault *fault);

/* The frames of an answer or of a truth. Of a moment: objects with "ip" and "sp" (numbers of 64
 * bits as "0x..."); SP may be absent or null in an answer: see SUITE_NO_SP. Of a dump: the same,
 * without those that are "inlined", which share the next one's place. Of an address: objects
 * with "function", and "file" (a text, a list of accepted ones, or null), "line" and "inlined". */
#define SUITE_NO_SP UINT64_MAX
enum { SUITE_WALK_MAX = 1024 };
enum status suite_walk_read(const cJSON *array, enum suite_kind kind, struct arena *keep,
                            struct suite_walk *out, struct fault *fault);

#endif
