/* Reads what computations need of cases, without their stacks: heads, scores, costs and findings.
 * Of many cases at once, a statement runs over the rows of all of them, which lie side by side. */
#include <string.h>

#include "base/array.h"
#include "store/statements.h"

/* NOLINTBEGIN(bugprone-macro-parentheses) names of members */
#define READ_BOOL(NAME) s->NAME = query_get(q) != 0;
#define READ_U32(NAME) s->NAME = (uint32_t)query_get(q);
#define READ_U64(NAME) s->NAME = query_get(q);
#define READ_ROW(NAME) s->NAME = (int32_t)query_get_signed(q);
#define READ_FIELD(KIND, NAME, SUM) READ_##KIND(NAME)
/* NOLINTEND(bugprone-macro-parentheses) */

static void read_timing(struct query *q, struct case_timing *s)
{
    CASE_TIMING_FIELDS(READ_FIELD)
}

void store_read_head(struct query *q, struct run_case *c)
{
    memset(c, 0, sizeof *c);
    c->id = query_get(q);
    c->run_id = query_get(q);
    c->scenario = query_get_text(q);
    c->variant = query_get_text(q);
    c->arch = cpu_parse(query_see_text(q));
    c->kind = case_kind_parse(query_see_text(q));
    c->repeat = (uint32_t)query_get(q);
    c->folder = query_get_text(q);
    c->case_sha256 = query_get_text(q);
    c->expected_hooks = hooks_parse(query_see_text(q));
    c->got_hooks = hooks_parse(query_see_text(q));
    c->expected_code = query_get(q);
    c->got_code = query_get(q);
    c->expected_exit_code = query_get(q);
    c->got_exit_code = query_get(q);
    c->wall_ms = query_get(q);
    read_timing(q, &c->timing);
    const char *verdict = query_see_text(q);
    if (verdict == NULL || !verdict_parse(verdict, &c->result.verdict))
        (void)fault_set(q->fault, ERR_MALFORMED, FAULT_NO_OFFSET, "verdict in the database");
    c->result.reason = query_get_text(q);
    c->result.right = query_get_text(q);
    c->result.signature = query_get_text(q);
    c->known_id = query_get_text(q);
}

void store_read_cost(struct query *q, struct engine_cost *c)
{
    c->open_ns = query_get(q);
    c->unwind_ns = query_get(q);
    c->load_ns = query_get(q);
    c->resolve_ns = query_get(q);
    c->total_ns = query_get(q);
    c->peak_bytes = query_get(q);
}

enum stack_state store_stack_state(uint64_t number)
{
    return number <= STACK_SKIPPED ? (enum stack_state)number : STACK_FAILED;
}

static void read_score(struct query *q, struct engine_score *s)
{
    s->state = store_stack_state(query_get(q));
    s->reason = query_get_text(q);
    ENGINE_SCORE_FIELDS(READ_FIELD)
}

/* Texts that were read lately, by their ids: what the claims of a run share is a handful. */
enum { TEXTS_KNOWN = 32 };
struct known_texts {
    uint64_t ids[TEXTS_KNOWN];
    const char *texts[TEXTS_KNOWN];
};

static const char *text_of(const struct case_set *set, struct known_texts *known, uint64_t id)
{
    const size_t at = (size_t)(id % TEXTS_KNOWN);
    if (known->ids[at] == id)
        return known->texts[at];
    struct query q = query_with(set->store, SQL_READ_TEXT, id, set->keep, set->fault);
    q.texts = set->texts;
    known->ids[at] = id;
    known->texts[at] = query_row(&q) ? query_get_text(&q) : NULL;
    (void)query_end(&q);
    return known->texts[at];
}

/* What one row of a claim says, without stacks. BEFORE: one of the same place in another case,
 * which mostly is of the same engine. */
static void read_claim(struct query *q, const struct case_set *set, struct known_texts *known,
                       const struct engine_claim *before, struct engine_claim *k,
                       struct engine_score *s)
{
    k->engine = query_get_text_like(q, before->engine);
    k->kind =
        k->engine == before->engine && k->engine != NULL ? before->kind : engine_kind_of(k->engine);
    k->shares = query_get_text_like(q, before->shares);
    const uint64_t shares = query_get(q);
    if (k->shares == NULL && shares != 0)
        k->shares = text_of(set, known, shares);
    k->version = query_get_text_like(q, before->version);
    k->subject = query_get(q) != 0;
    k->skipped = query_get(q) != 0;
    k->why = query_get_text(q);
    store_read_cost(q, &k->cost);
    s->engine = k->engine;
    s->kind = k->kind;
    s->subject = k->subject;
    read_score(q, s);
    k->cost.cold_ns = query_get(q);
}

/* C has COUNT claims, which are all. */
static void put_claims(const struct case_set *set, struct run_case *c,
                       const struct engine_claim *claims, const struct engine_score *scores,
                       uint32_t count)
{
    c->claims = ARENA_ARRAY(set->keep, (size_t)count + 1, struct engine_claim);
    c->result.scores = ARENA_ARRAY(set->keep, (size_t)count + 1, struct engine_score);
    if (c->claims == NULL || c->result.scores == NULL) {
        (void)fault_no_memory(set->fault, "case from the database");
        return;
    }
    memcpy(c->claims, claims, count * sizeof *claims);
    memcpy(c->result.scores, scores, count * sizeof *scores);
    c->claim_count = c->result.score_count = count;
}

void store_read_scores(const struct case_set *set)
{
    static const struct engine_claim no_claim = {.engine = NULL};
    static const struct engine_score no_score = {.engine = NULL};
    struct engine_claim claims[CLAIMS_MAX];
    struct engine_score scores[CLAIMS_MAX];
    uint32_t used = 0; /* of claims, by cases before this one */
    struct known_texts known = {.ids = {0}};
    struct run_case *last = NULL;
    uint32_t at = 0, count = 0;
    struct query q = store_begin_set(set, SQL_READ_CLAIMS);
    while (query_row(&q)) {
        struct run_case *c = store_case_of(set, query_get(&q), &at);
        if (c != last && last != NULL)
            put_claims(set, last, claims, scores, count);
        count = c != last ? 0 : count;
        last = c;
        if (c == NULL)
            continue;
        if (count == CLAIMS_MAX) {
            (void)fault_set(set->fault, ERR_LIMIT, FAULT_NO_OFFSET, "engines in one case");
            break;
        }
        const struct engine_claim before = count < used ? claims[count] : no_claim;
        claims[count] = no_claim;
        scores[count] = no_score;
        read_claim(&q, set, &known, &before, &claims[count], &scores[count]);
        count++;
        used = count > used ? count : used;
    }
    (void)query_end(&q);
    if (last != NULL)
        put_claims(set, last, claims, scores, count);
    store_read_ways(set);
}

/* Findings repeat the texts of the one before them. */
struct finding_before {
    struct finding f;
    const char *blame;
};

static void read_finding(struct query *q, const struct case_set *set, struct known_texts *known,
                         struct finding_before *before)
{
    struct finding *f = &before->f;
    const uint64_t level = query_get(q);
    f->level = level <= LEVEL_LINE ? (enum finding_level)level : LEVEL_PHYSICAL;
    const char *cause = query_see_text(q);
    if (cause == NULL || !cause_parse(cause, &f->cause))
        f->cause = CAUSE_UNEXPLAINED;
    f->engine = query_get_text_like(q, f->engine);
    f->against = query_get_text_like(q, f->against);
    f->against_truth = f->against != NULL && strcmp(f->against, FINDING_TRUTH) == 0;
    f->wrong = query_get_text_like(q, f->wrong);
    f->frame_a = (int32_t)query_get_signed(q);
    f->frame_b = (int32_t)query_get_signed(q);
    f->thread_id = (uint32_t)query_get(q);
    f->row = (uint32_t)query_get(q);
    f->fails = query_get(q) != 0;
    f->evidence = query_get_text_like(q, f->evidence);
    const uint64_t evidence = query_get(q);
    if (f->evidence == NULL && evidence != 0)
        f->evidence = text_of(set, known, evidence);
    before->blame = query_get_text_like(q, before->blame);
    finding_blame_parse(before->blame, f);
    f->witnesses = query_get_text_like(q, f->witnesses);
    f->module = query_get_text_like(q, f->module);
    f->function = query_get_text_like(q, f->function);
    store_read_facts(q, f);
}

/* Of one finding alone, most of the room would stay empty in each case of a long list. */
static void trim_findings(const struct case_set *set, struct run_case *c, uint32_t *room)
{
    if (c != NULL)
        arena_trim(set->keep, c->result.findings, room, c->result.finding_count,
                   sizeof *c->result.findings);
}

void store_read_findings(const struct case_set *set)
{
    struct finding_before before = {.blame = NULL};
    struct known_texts known = {.ids = {0}};
    struct run_case *last = NULL;
    uint32_t at = 0, room = 0;
    struct query q = store_begin_set(set, SQL_READ_FINDINGS);
    while (query_row(&q)) {
        struct run_case *c = store_case_of(set, query_get(&q), &at);
        if (c != last)
            trim_findings(set, last, &room);
        room = c != last ? 0 : room;
        last = c;
        if (c == NULL)
            continue;
        struct case_result *out = &c->result;
        if (!store_grow(&out->findings, out->finding_count, &room, sizeof *out->findings, set->keep,
                        set->fault))
            break;
        read_finding(&q, set, &known, &before);
        out->findings[out->finding_count++] = before.f;
    }
    (void)query_end(&q);
    trim_findings(set, last, &room);
}

static void read_heads(const struct case_set *set)
{
    uint32_t at = 0;
    struct query q = store_begin_set(set, SQL_READ_CASE);
    while (query_row(&q)) {
        struct run_case *c = store_case_of(set, query_get(&q), &at);
        q.column = 0; /* the id is a part of the head */
        if (c != NULL)
            store_read_head(&q, c);
    }
    (void)query_end(&q);
}

/* Cases whose rows lie side by side. */
static void read_set(const struct case_set *set, unsigned parts)
{
    read_heads(set);
    if (set->fault->code == ERR_NONE && (parts & CASE_SCORES) != 0)
        store_read_scores(set);
    if (set->fault->code == ERR_NONE && (parts & CASE_FINDINGS) != 0)
        store_read_findings(set);
    for (uint32_t i = 0; i < set->count && set->fault->code == ERR_NONE; i++)
        if (set->cases[i]->run_id == 0)
            (void)fault_set(set->fault, ERR_ABSENT, FAULT_NO_OFFSET, "case");
}

static int by_id(const void *a, const void *b)
{
    struct run_case *const *x = a, *const *y = b;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

enum status store_read_batch(struct store *store, const uint64_t *ids, uint32_t count,
                             unsigned parts, struct arena *keep, struct run_case *out,
                             struct fault *fault)
{
    enum { APART = 16 }; /* a gap that is not read over: other cases lie there */
    struct run_case *cases[CASE_BATCH];
    for (uint32_t i = 0; i < count; i++) {
        memset(&out[i], 0, sizeof out[i]);
        out[i].id = ids[i];
        cases[i] = &out[i];
    }
    array_sort(cases, count, sizeof *cases, by_id);
    for (uint32_t from = 0, to; from < count && fault->code == ERR_NONE; from = to) {
        for (to = from + 1; to < count && cases[to]->id - cases[to - 1]->id <= APART;)
            to++;
        const struct case_set set = {store, &cases[from], to - from, keep, NULL, fault};
        read_set(&set, parts);
    }
    return fault->code;
}
