/* A run's cases as a comparison needs them: two passes over the run instead of two queries per
 * case. */
#include <string.h>

#include "store/query.h"

/* The claims of one case, gathered before they get arrays of their size. */
struct gathered {
    uint64_t case_id;
    uint32_t count;
    struct case_timing timing;
    struct engine_claim claims[CLAIMS_MAX];
    struct engine_score scores[CLAIMS_MAX];
};

static void hand_over(struct gathered *g, struct run_case *cases, uint32_t count, uint32_t *at,
                      struct arena *keep, struct fault *fault)
{
    while (*at < count && cases[*at].id < g->case_id)
        (*at)++;
    if (*at == count || cases[*at].id != g->case_id)
        return;
    struct run_case *c = &cases[*at];
    c->timing = g->timing;
    if (g->count == 0)
        return;
    c->claims = ARENA_ARRAY(keep, g->count, struct engine_claim);
    c->result.scores = ARENA_ARRAY(keep, g->count, struct engine_score);
    if (c->claims == NULL || c->result.scores == NULL) {
        (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "times of a run");
        return;
    }
    memcpy(c->claims, g->claims, g->count * sizeof *g->claims);
    memcpy(c->result.scores, g->scores, g->count * sizeof *g->scores);
    c->claim_count = c->result.score_count = g->count;
}

/* A case without claims has one row, with NULL for the engine. */
static void read_claim(struct query *q, struct gathered *g)
{
    struct engine_claim claim = {.engine = query_get_text(q)};
    struct engine_score score = {.engine = claim.engine};
    claim.kind = score.kind = engine_kind_of(claim.engine);
    score.subject = claim.subject = query_get(q) != 0;
    score.state = query_get(q) == STACK_OK ? STACK_OK : STACK_FAILED;
    claim.cost.total_ns = query_get(q);
    claim.cost.cold_ns = query_get(q);
    score.frames = (uint32_t)query_get(q);
    claim.cost.open_ns = query_get(q);
    claim.cost.unwind_ns = query_get(q);
    claim.cost.load_ns = query_get(q);
    claim.cost.resolve_ns = query_get(q);
    claim.cost.peak_bytes = query_get(q);
    if (claim.engine == NULL)
        return;
    if (g->count == CLAIMS_MAX) {
        (void)fault_set(q->fault, ERR_LIMIT, FAULT_NO_OFFSET, "engines in one case");
        return;
    }
    g->claims[g->count] = claim;
    g->scores[g->count++] = score;
}

static void read_timing(struct query *q, struct case_timing *out)
{
    out->walk_ns = query_get(q);
    out->stop_walk_ns = query_get(q);
    out->stop_dump_ns = query_get(q);
    out->record_write_ns = query_get(q);
    out->dump_write_ns = query_get(q);
    out->record_bytes = query_get(q);
    out->dump_bytes = query_get(q);
    out->dump_tuned_ns = query_get(q);
    out->dump_tuned_bytes = query_get(q);
    out->stop_copy_ns = query_get(q);
    out->stop_tuned_ns = query_get(q);
    out->capture_now_ns = query_get(q);
    out->hang_late_ns = query_get(q);
    out->crowded = query_get(q) != 0;
}

static enum status read_times(struct store *store, uint64_t run_id, struct text_pool *texts,
                              struct run_case *cases, uint32_t count, struct fault *fault)
{
    struct gathered g = {.count = 0};
    struct arena *keep = texts->keep;
    uint32_t at = 0;
    struct query q = query_begin(store, SQL_READ_TIMES, keep, fault);
    q.texts = texts;
    query_int(&q, run_id);
    while (fault->code == ERR_NONE && query_row(&q)) {
        const uint64_t id = query_get(&q);
        if (id != g.case_id) {
            hand_over(&g, cases, count, &at, keep, fault);
            g.case_id = id;
            g.count = 0;
        }
        read_claim(&q, &g);
        read_timing(&q, &g.timing);
    }
    hand_over(&g, cases, count, &at, keep, fault);
    return query_end(&q) == ERR_NONE
               ? store_read_run_ways(store, run_id, texts, cases, count, fault)
               : fault->code;
}

/* The finding that decided a failing case; the others are not read. */
static void read_worst(struct query *q, struct arena *keep, struct case_result *out,
                       struct fault *fault)
{
    struct finding f = {.frame_a = -1, .frame_b = -1, .fails = true};
    const char *cause = query_get_text(q);
    f.engine = query_get_text(q);
    f.evidence = query_get_text(q);
    finding_blame_parse(query_get_text(q), &f);
    f.module = query_get_text(q);
    f.function = query_get_text(q);
    if (cause == NULL)
        return;
    if (!cause_parse(cause, &f.cause))
        f.cause = CAUSE_UNEXPLAINED;
    out->findings = ARENA_NEW(keep, struct finding);
    if (out->findings == NULL) {
        (void)fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases of a run");
        return;
    }
    out->findings[0] = f;
    out->finding_count = 1;
}

enum status store_read_outcomes(struct store *store, uint64_t run_id, bool with_times,
                                struct arena *keep, struct run_case **out, uint32_t *count,
                                struct fault *fault)
{
    struct text_pool texts;
    uint32_t room = 0;
    *out = NULL;
    *count = 0;
    text_pool_init(&texts, keep);
    struct query q = query_begin(store, SQL_READ_OUTCOMES, keep, fault);
    q.texts = &texts;
    query_int(&q, run_id);
    while (query_row(&q) && store_grow(out, *count, &room, sizeof **out, keep, fault)) {
        struct run_case *c = &(*out)[(*count)++];
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
        read_worst(&q, keep, &c->result, fault);
    }
    if (query_end(&q) != ERR_NONE)
        return fault->code;
    return with_times ? read_times(store, run_id, &texts, *out, *count, fault) : ERR_NONE;
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
        if (word != NULL && verdict_parse(word, &verdict) && run_verdict_fails(verdict)) {
            out->failing_run = id;
            out->failing_commit = commit;
        } else {
            out->good_run = id;
            out->good_commit = commit;
        }
    }
    return query_end(&q);
}
