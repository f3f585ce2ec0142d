/* A run as a comparison needs it: one or two passes over its cases, and only what is compared stays
 * in memory. */
#include <string.h>

#include "store/statements.h"

void store_read_facts(struct query *q, struct finding *f)
{
    const bool stated = query_get(q) != 0;
#define GET_FACT(NAME) f->facts.NAME = query_get_text_like(q, f->facts.NAME);
#define GET_NUMBER(TYPE, NAME) f->facts.NAME = (TYPE)query_get(q);
    FINDING_FACTS(GET_FACT, GET_NUMBER)
#undef GET_FACT
#undef GET_NUMBER
    if (!stated)
        finding_read_evidence(f, q->keep);
}

struct finding *store_read_deciding(struct query *q, struct arena *keep)
{
    struct finding f = {.fails = true};
    const char *cause = query_get_text(q);
    f.engine = query_get_text(q);
    f.evidence = query_get_text(q);
    finding_blame_parse(query_get_text(q), &f);
    f.module = query_get_text(q);
    f.function = query_get_text(q);
    const uint64_t level = query_get(q);
    f.level = level <= LEVEL_LINE ? (enum finding_level)level : LEVEL_PHYSICAL;
    f.against = query_get_text(q);
    f.against_truth = f.against != NULL && strcmp(f.against, FINDING_TRUTH) == 0;
    f.wrong = query_get_text(q);
    f.frame_a = (int32_t)query_get_signed(q);
    f.frame_b = (int32_t)query_get_signed(q);
    if (cause == NULL || !cause_parse(cause, &f.cause))
        f.cause = CAUSE_UNEXPLAINED;
    store_read_facts(q, &f);
    if (cause == NULL)
        return NULL;
    struct finding *kept = ARENA_NEW(keep, struct finding);
    if (kept == NULL) {
        (void)fault_no_memory(q->fault, "cases of a run");
        return NULL;
    }
    *kept = f;
    return kept;
}

static void read_case(struct query *q, enum diff_detail detail, struct diff_case *c)
{
    c->scenario = query_get_text(q);
    c->variant = query_get_text(q);
    c->kind = case_kind_parse(query_get_text(q));
    c->repeat = (uint32_t)query_get(q);
    const char *verdict = query_get_text(q);
    if (verdict == NULL || !verdict_parse(verdict, &c->verdict))
        (void)fault_set(q->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "verdict in the database");
    c->signature = query_get_text(q);
    c->has = query_get(q) != 0 ? DIFF_HAS_TRUTH : 0;
    c->reason = query_get_text(q);
    if (detail != DIFF_TIMES)
        return;
    if (run_verdict_fails(c->verdict))
        c->folder = query_get_text(q);
    else
        query_skip(q);
    c->finding = store_read_deciding(q, q->keep);
    c->second = store_read_deciding(q, q->keep);
}

static enum status read_cases(struct store *store, enum diff_detail detail, struct text_pool *texts,
                              struct arena *scratch, struct diff_side *out, uint64_t **ids,
                              struct fault *fault)
{
    struct arena *keep = texts->keep;
    const uint32_t most = out->run->case_count;
    out->cases = ARENA_ARRAY(keep, (size_t)most + 1, struct diff_case);
    *ids = ARENA_ARRAY(scratch, (size_t)most + 1, uint64_t);
    if (out->cases == NULL || *ids == NULL)
        return fault_no_memory(fault, "cases of a run");
    struct query q = query_with(store, detail != DIFF_TIMES ? SQL_READ_VERDICTS : SQL_READ_SIDE,
                                out->run->id, keep, fault);
    q.texts = texts;
    while (out->count < most && query_row(&q)) { /* a run that is being written grows meanwhile */
        (*ids)[out->count] = query_get(&q);
        read_case(&q, detail, &out->cases[out->count]);
        out->cases[out->count].index = out->count;
        out->count++;
    }
    return query_end(&q);
}

static unsigned stack_of(const char *engine)
{
    if (strcmp(engine, ENGINE_NAME_OFFSET) == 0)
        return DIFF_HAS_OFFSET;
    return strcmp(engine, ENGINE_NAME_DUMP) == 0 ? DIFF_HAS_DUMP : 0;
}

/* Stacks and times of the engines under test; with DIFF_TIMES, of all engines. */
static void read_claims(struct store *store, enum diff_detail detail, struct text_pool *texts,
                        struct diff_side *out, const uint64_t *ids, struct fault *fault)
{
    uint32_t at = 0;
    struct query q =
        query_with(store, detail == DIFF_TIMES ? SQL_READ_SIDE_TIMES : SQL_READ_SIDE_STACKS,
                   out->run->id, texts->keep, fault);
    q.texts = texts;
    while (fault->code == ERR_NONE && query_row(&q)) {
        const uint64_t id = query_get(&q);
        while (at < out->count && ids[at] < id)
            at++;
        if (at == out->count || ids[at] != id)
            continue;
        const char *engine = query_get_text(&q);
        const bool subject = query_get(&q) != 0, good = query_get(&q) == STACK_OK;
        const uint64_t total_ns = query_get(&q);
        const uint32_t frames = (uint32_t)query_get(&q);
        struct diff_series *series =
            detail == DIFF_TIMES ? diff_side_series(out, engine, subject, texts->keep, fault)
                                 : NULL;
        if (series != NULL && good)
            series->total_ns[at] = total_ns;
        if (engine != NULL && subject && good && frames > 0)
            out->cases[at].has |= stack_of(engine);
        if (subject && frames > out->cases[at].frames)
            out->cases[at].frames = frames;
    }
    (void)query_end(&q);
}

enum status store_read_side(struct store *store, const struct run_info *run,
                            enum diff_detail detail, struct arena *keep, struct diff_side *out,
                            struct fault *fault)
{
    struct arena scratch;
    struct text_pool texts;
    uint64_t *ids = NULL;
    arena_init(&scratch, 0);
    text_pool_init(&texts, keep);
    *out = (struct diff_side){.run = run};
    if (read_cases(store, detail, &texts, &scratch, out, &ids, fault) == ERR_NONE &&
        detail != DIFF_VERDICTS)
        read_claims(store, detail, &texts, out, ids, fault);
    arena_free(&scratch);
    return fault->code;
}
