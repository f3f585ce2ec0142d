/* The result of a contestant, as a file: $defs/result of corpus/reference/schema.json. */
#ifndef SUITE_RESULT_FILE_H
#define SUITE_RESULT_FILE_H

#include <stdio.h>

#include "base/json.h"
#include "suite/score.h"

/* How many cases of one shape, and of one position in it, had each outcome. */
struct result_row {
    const char *capability, *shape, *position; /* POSITION: NULL for all of the shape */
    uint32_t counts[SUITE_OUTCOMES];
};

/* Sorted by capability, shape and position. BY_POSITION: a row for each, else one per shape. */
enum status result_rows(const struct suite *suite, const struct score *score, bool by_position,
                        struct arena *keep, struct result_row **out, uint32_t *count,
                        struct fault *fault);

/* "moments.x64: 2381 right, 14 early": of one capability, outcomes that no case had left out. */
const char *result_sum(const struct suite *suite, const struct score *score, const char *capability,
                       struct arena *keep);

/* One JSON object. WHEN: "2026-11-28"; SYSTEM, PROCESSOR: where it ran. */
struct result_context {
    const char *when, *system, *processor;
};
enum status result_write(const struct suite *suite, const struct score *score,
                         const struct result_context *context, struct json *j, struct fault *fault);

/* JUnit XML: early, wrong and no answer fail, unsupported is skipped. */
void result_junit(const struct suite *suite, const struct score *score, FILE *out);

/* What an older result says, beside SCORE: only cases that both have. */
struct result_change {
    const struct suite_case *of;
    enum suite_outcome before, now;
};
struct result_difference {
    const char *version; /* of the tool, then */
    struct result_change *worse, *better;
    uint32_t worse_count, better_count, compared;
};

/* Reads TEXT, a result of the same edition. Fails: ERR_MALFORMED; ERR_ABSENT it is of another
 * edition, so that there is nothing to compare; ERR_MEMORY. */
enum status result_compare(const struct suite *suite, const struct score *score, const char *text,
                           size_t bytes, struct arena *keep, struct result_difference *out,
                           struct fault *fault);

#endif
