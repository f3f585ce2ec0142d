/* A draft: a case that is being made of a wrong answer. */
#ifndef SUITE_SUITE_DRAFT_H
#define SUITE_SUITE_DRAFT_H

#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/fault.h"

/* What kind of case a draft describes, and where its parts go. */
struct draft_kind {
    const char *name, *prefix; /* PREFIX: of its id, "addresses/" */
    const char *folder, *list; /* of its files, and the list of additions, below the suite's */
    bool (*has_given)(const cJSON *draft);
    bool (*has_frames)(const cJSON *draft, const cJSON *frames);
    bool is_dump;
};

/* That of an address where the draft names none that is known. */
const struct draft_kind *suite_draft_kind(const cJSON *draft);

/* The cases that a DRAFT describes, as drafts: itself, or one for each of the "threads" of a dump;
 * NULL: out of memory. */
cJSON *suite_draft_cases(const cJSON *draft);

/* What the DRAFT, or one of its cases, lacks: sentences, never freed, in a list of KEEP; NULL: out
 * of memory. */
const char *const *suite_draft_missing(const cJSON *draft, struct arena *keep, uint32_t *count);

/* The DRAFT of one case that lacks nothing as a line of a list; NULL: out of memory. Changes names
 * that are texts into lists. */
const char *suite_draft_line(cJSON *draft, struct arena *keep, struct fault *fault);

#endif
