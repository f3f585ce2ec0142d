/* Shared by the files that read a suite. */
#ifndef SUITE_SUITE_PARTS_H
#define SUITE_SUITE_PARTS_H

#include <cjson/cJSON.h>

#include "base/walk.h"
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

/* Reads one frame of an address. Fails: ERR_MALFORMED, ERR_LIMIT, ERR_MEMORY. */
enum status suite_logical_read(const cJSON *frame, struct arena *keep, struct suite_frame *out,
                               struct fault *fault);

/* Names are compared without blanks, a leading "::", and parameters after a name that is accepted
 * without them; paths with either slash, without "." and "..", and an answer
 * that is a name without a folder is compared with the last part alone. */
enum walk_match suite_logical_match(const struct suite_frame *truth,
                                    const struct suite_frame *answer);

/* What kind of case a draft describes, and where its parts go. */
struct draft_kind {
    const char *name, *prefix; /* PREFIX: of its id, "addresses/" */
    const char *folder, *list; /* of its files, and the list of additions, below the suite's */
    bool (*has_given)(const cJSON *draft);
    bool (*has_frames)(const cJSON *draft, const cJSON *frames);
};

/* That of an address where the draft names none that is known. */
const struct draft_kind *suite_draft_kind(const cJSON *draft);

/* What the DRAFT lacks: sentences, never freed, in a list of KEEP; NULL: out of
 * memory. */
const char *const *suite_draft_missing(const cJSON *draft, struct arena *keep, uint32_t *count);

/* The DRAFT that lacks nothing as a line of a list; NULL: out of memory. Changes names that are
 * texts into lists. */
const char *suite_draft_line(cJSON *draft, struct arena *keep, struct fault *fault);

/* Copies what FRAME refers to into KEEP; false: out of memory. */
bool suite_logical_keep(struct suite_frame *frame, struct arena *keep);

#endif
