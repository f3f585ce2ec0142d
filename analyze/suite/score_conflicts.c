/* See score_conflicts.h. */
#include "suite/score_conflicts.h"

#include <stdlib.h>
#include <string.h>

/* Sorted by id, those that are right. */
struct right {
    const char *id;
};

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct right *)a)->id, ((const struct right *)b)->id);
}

static bool is_bad(const struct suite_answer *answer)
{
    return answer->outcome == SUITE_EARLY || answer->outcome == SUITE_WRONG;
}

enum status score_settle_conflicts(const struct suite *suite, struct suite_answer *answers,
                                   struct arena *keep, struct fault *fault)
{
    struct right *rows = ARENA_ARRAY(keep, (size_t)suite->count + 1, struct right);
    uint32_t count = 0;
    if (rows == NULL)
        return fault_no_memory(fault, "score");
    for (uint32_t i = 0; i < suite->count; i++)
        if (suite->cases[i].conflict_count > 0 && answers[i].outcome == SUITE_RIGHT)
            rows[count++] = (struct right){suite->cases[i].id};
    if (count == 0)
        return ERR_NONE;
    qsort(rows, count, sizeof *rows, by_id);
    for (uint32_t i = 0; i < suite->count; i++) {
        const struct suite_case *c = &suite->cases[i];
        for (uint32_t k = 0; k < c->conflict_count && is_bad(&answers[i]); k++) {
            const struct right key = {c->conflicts[k]};
            if (bsearch(&key, rows, count, sizeof *rows, by_id) == NULL)
                continue;
            answers[i] = (struct suite_answer){
                .outcome = SUITE_UNSUPPORTED,
                .words = arena_printf(keep, "it is right in %s, of another Windows", key.id)};
            if (answers[i].words == NULL)
                return fault_no_memory(fault, "score");
        }
    }
    return ERR_NONE;
}
