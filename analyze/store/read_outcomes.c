/* Which cases of a run have a signature, and since when a case fails. */
#include <string.h>

#include "store/statements.h"

/* The finding that decided a failing case, and an independent one; the others are not read. */
static void read_deciding(struct query *q, struct arena *keep, struct case_result *out)
{
    struct finding *first = store_read_deciding(q, keep);
    const struct finding *second = store_read_deciding(q, keep);
    out->findings = first;
    out->finding_count = first != NULL;
    if (second == NULL || first == NULL)
        return;
    struct finding *both = ARENA_ARRAY(keep, 2, struct finding);
    if (both == NULL) {
        (void)fault_no_memory(q->fault, "cases of a run");
        return;
    }
    both[0] = *first;
    both[1] = *second;
    out->findings = both;
    out->finding_count = 2;
}

enum status store_read_outcomes(struct store *store, uint64_t run_id, struct arena *keep,
                                struct run_case **out, uint32_t *count, struct fault *fault)
{
    struct text_pool texts;
    text_pool_init(&texts, keep);
    struct query q = query_with(store, SQL_READ_OUTCOMES, run_id, keep, fault);
    q.texts = &texts;
    struct run_case *c;
    while ((c = query_row_of(&q, out, count, sizeof *c)) != NULL) {
        c->id = query_get(&q);
        c->run_id = run_id;
        c->scenario = query_get_text(&q);
        c->variant = query_get_text(&q);
        c->repeat = (uint32_t)query_get(&q);
        const char *verdict = query_get_text(&q);
        if (verdict == NULL || !verdict_parse(verdict, &c->result.verdict))
            (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "verdict in the database");
        c->result.reason = query_get_text(&q);
        c->result.right = query_get_text(&q);
        c->result.signature = query_get_text(&q);
        c->known_id = query_get_text(&q);
        c->folder = query_get_text(&q);
        read_deciding(&q, keep, &c->result);
    }
    return query_end(&q);
}

enum status store_read_history(struct store *store, const struct diff_case *c,
                               const struct run_info *run, struct arena *keep,
                               struct case_history *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    struct query q = query_begin(store, SQL_READ_HISTORY, keep, fault);
    query_text(&q, c->scenario);
    query_text(&q, c->variant);
    query_int(&q, c->repeat);
    query_int(&q, run->id);
    query_text(&q, run->branch);
    while (out->good_run == 0 && query_row(&q)) {
        const uint64_t id = query_get(&q);
        const char *commit = query_get_text(&q), *word = query_get_text(&q);
        enum verdict verdict = VERDICT_PASS;
        if (word != NULL && verdict_parse(word, &verdict) &&
            (run_verdict_fails(verdict) ||
             (c->verdict == VERDICT_XFAIL && verdict == VERDICT_XFAIL))) {
            out->failing_run = id;
            out->failing_commit = commit;
        } else {
            out->good_run = id;
            out->good_commit = commit;
        }
    }
    return query_end(&q);
}
