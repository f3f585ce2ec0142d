/* Sums over runs: computed once when a run ends, read by pages and reports. See store.h. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "model/metric.h"
#include "store/statements.h"

/* ---- making --------------------------------------------------------------------------- */

enum status store_sum_run(struct store *store, uint64_t run_id, struct fault *fault)
{
    static const enum sql sums[] = {SQL_SUM_ENGINES, SQL_SUM_CAUSES,     SQL_SUM_SYMBOLS,
                                    SQL_SUM_FIGURES, SQL_FORGET_MEDIANS, SQL_SUM_MEDIANS};
    for (size_t i = 0; i < COUNT_OF(sums); i++) {
        struct query q = query_with(store, sums[i], run_id, NULL, fault);
        (void)query_run(&q);
    }
    return fault->code;
}

enum status store_sum_missing(struct store *store, struct fault *fault)
{
    uint64_t ids[256];
    uint32_t count = 0;
    if (database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    do {
        count = 0;
        struct query q = query_begin(store, SQL_RUNS_WITHOUT_SUMS, NULL, fault);
        while (count < COUNT_OF(ids) && query_row(&q))
            ids[count++] = query_get(&q);
        (void)query_end(&q);
        for (uint32_t i = 0; i < count; i++)
            (void)store_sum_run(store, ids[i], fault);
    } while (fault->code == ERR_NONE && count == COUNT_OF(ids));
    return database_end(&store->database, fault->code, fault);
}

/* ---- reading -------------------------------------------------------------------------- */

/* KEPT is for a run that has ended, LIVE for one that has not; the columns are the same. */
static struct query begin_sums(struct store *store, uint64_t run_id, enum sql kept, enum sql live,
                               struct arena *keep, struct fault *fault)
{
    struct query state = query_with(store, SQL_RUN_STATE, run_id, keep, fault);
    const char *word = query_row(&state) ? query_get_text(&state) : NULL;
    (void)query_end(&state);
    const bool going = word != NULL && strcmp(word, run_state_name(RUN_RUNNING)) == 0;
    struct query q = query_with(store, going ? live : kept, run_id, keep, fault);
    return q;
}

/* NOLINTBEGIN(bugprone-macro-parentheses) names of members */
#define READ_SUM_NONE(NAME)
#define READ_SUM_COUNT(NAME) t->NAME = (uint32_t)query_get(q);
#define READ_SUM_JUDGED(NAME) t->NAME = (uint32_t)query_get(q);
#define READ_SUM_FRAMES(NAME) t->NAME = query_get(q);
#define READ_SUM(KIND, NAME, SUM) READ_SUM_##SUM(NAME)
/* NOLINTEND(bugprone-macro-parentheses) */

static void read_engine_row(struct query *q, struct engine_total *t)
{
    (void)query_get(q); /* the run   */
    (void)query_get(q); /* the place */
    t->engine = query_get_text(q);
    t->kind = engine_kind_of(t->engine);
    t->shares = query_get_text(q);
    t->version = query_get_text(q);
    t->subject = query_get(q) != 0;
    t->cases = (uint32_t)query_get(q);
    t->stacks = (uint32_t)query_get(q);
    t->skipped = (uint32_t)query_get(q);
    ENGINE_SCORE_FIELDS(READ_SUM)
    t->skip_reason = query_get_text(q);
}

enum status store_total_engines(struct store *store, uint64_t run_id, struct arena *keep,
                                struct engine_total **out, uint32_t *count, struct fault *fault)
{
    struct query q = begin_sums(store, run_id, SQL_READ_ENGINES, SQL_COUNT_ENGINES, keep, fault);
    struct engine_total *total;
    while ((total = query_row_of(&q, out, count, sizeof *total)) != NULL)
        read_engine_row(&q, total);
    return query_end(&q);
}

enum status store_count_causes(struct store *store, uint64_t run_id, struct arena *keep,
                               struct cause_count **out, uint32_t *count, struct fault *fault)
{
    struct query q = begin_sums(store, run_id, SQL_READ_CAUSES, SQL_COUNT_CAUSES, keep, fault);
    struct cause_count *c;
    while ((c = query_row_of(&q, out, count, sizeof *c)) != NULL) {
        (void)query_get(&q); /* the run */
        const char *word = query_get_text(&q);
        c->findings = query_get(&q);
        c->cases = query_get(&q);
        c->subject_findings = query_get(&q);
        if (word == NULL || !cause_parse(word, &c->cause))
            (*count)--;
    }
    return query_end(&q);
}

enum status store_read_symbols(struct store *store, uint64_t run_id, struct arena *keep,
                               struct symbol_row **out, uint32_t *count, struct fault *fault)
{
    struct query q = begin_sums(store, run_id, SQL_READ_SYMBOLS, SQL_COUNT_SYMBOLS, keep, fault);
    struct symbol_row *s;
    while ((s = query_row_of(&q, out, count, sizeof *s)) != NULL) {
        (void)query_get(&q); /* the run */
        s->module = query_get_text(&q);
        s->code_id = query_get_text(&q);
        s->debug_id = query_get_text(&q);
        const uint64_t symbols = query_get(&q);
        s->symbols = symbols < SYMBOLS_COUNT ? (enum symbols_from)symbols : SYMBOLS_NONE;
        s->frames = query_get(&q);
        s->inlined = query_get(&q);
    }
    return query_end(&q);
}

enum status store_count_captures(struct store *store, uint64_t run_id, uint32_t *expected,
                                 uint32_t *captured, struct fault *fault)
{
    struct query q = query_with(store, SQL_COUNT_CAPTURES, run_id, NULL, fault);
    if (query_row(&q)) {
        *expected = (uint32_t)query_get(&q);
        *captured = (uint32_t)query_get(&q);
    }
    return query_end(&q);
}

enum { TREND_DEFAULT = 50 };

struct metric_query {
    enum sql of_cases, of_run; /* of some cases; of whole runs, from their sums */
};

/* The metrics that are not listed are medians. */
static struct metric_query query_of(enum metric metric)
{
    switch (metric) {
    case METRIC_CAPTURE_RATE:
        return (struct metric_query){SQL_TREND_CASES, SQL_TREND_RUN_CASES};
    case METRIC_EXACT:
    case METRIC_F1:
        return (struct metric_query){SQL_TREND_SCORES, SQL_TREND_RUN_SCORES};
    case METRIC_SPEED_RATIO:
        return (struct metric_query){SQL_TREND_COST, SQL_TREND_RUN_COST};
    default:
        return (struct metric_query){SQL_TREND_MEDIAN, SQL_TREND_RUN_MEDIAN};
    }
}

static void read_scores(struct query *q, bool is_f1, struct trend_point *out)
{
    const double judged = query_get_number(q), exact = query_get_number(q);
    const double truth = query_get_number(q), own = query_get_number(q);
    const double right = query_get_number(q);
    out->count = (uint64_t)(is_f1 ? truth : judged);
    if (is_f1 && truth + own > 0)
        out->value = 2 * right / (truth + own);
    else if (!is_f1 && judged > 0)
        out->value = exact / judged;
}

/* A whole run with few pairs has no ratio, as in its report. */
static double read_ratio(struct query *q, bool whole, uint64_t pairs)
{
    const double dump = query_get_number(q), offset = query_get_number(q);
    return whole && pairs < MEASUREMENT_LEAST ? (double)NAN : dump / offset;
}

static void read_trend_row(struct query *q, enum metric metric, bool whole, struct trend_point *out)
{
    const enum sql sql = query_of(metric).of_cases;
    out->run_id = query_get(q);
    out->started_ns = query_get(q);
    out->commit = query_get_text(q);
    out->branch = query_get_text(q);
    out->platform = query_get_text(q);
    out->cases = (uint32_t)query_get(q);
    out->value = (double)NAN;
    if (sql == SQL_TREND_SCORES) {
        read_scores(q, metric == METRIC_F1, out);
        return;
    }
    out->count = query_get(q);
    if (sql != SQL_TREND_CASES) /* a median */
        out->arch = cpu_order[query_get(q) % CPU_COUNT];
    if (sql == SQL_TREND_COST) {
        out->value = read_ratio(q, whole, out->count);
        return;
    }
    const double value = query_get_number(q);
    if (sql == SQL_TREND_MEDIAN)
        out->value = value;
    else if (out->count > 0)
        out->value = value / (double)out->count;
}

enum status store_read_trend(struct store *store, const struct trend_query *query,
                             struct arena *keep, struct trend_point **out, uint32_t *count,
                             struct fault *fault)
{
    const uint32_t limit = query->limit == 0 ? TREND_DEFAULT : query->limit;
    const struct metric_query sql = query_of(query->metric);
    const bool whole = query->scenario == NULL && query->variant == NULL;
    struct query q = query_begin(store, whole ? sql.of_run : sql.of_cases, keep, fault);
    query_text(&q, query->scenario);
    query_text(&q, query->variant);
    query_int(&q, limit > STORE_PAGE_MAX ? STORE_PAGE_MAX : limit);
    query_text(&q, query->branch);
    query_text(&q, query->platform);
    query_int(&q, query->until);
    if (sql.of_cases == SQL_TREND_MEDIAN)
        query_text(&q, metric_name(query->metric));
    struct trend_point *point;
    while ((point = query_row_of(&q, out, count, sizeof *point)) != NULL)
        read_trend_row(&q, query->metric, whole, point);
    for (uint32_t i = 0; i < *count / 2;
         i++) { /* the rows come newest first and are returned oldest first */
        const struct trend_point swap = (*out)[i];
        (*out)[i] = (*out)[*count - 1 - i];
        (*out)[*count - 1 - i] = swap;
    }
    return query_end(&q);
}

static enum status list_words(struct store *store, enum sql sql, struct arena *keep,
                              const char ***out, uint32_t *count, struct fault *fault)
{
    struct query q = query_begin(store, sql, keep, fault);
    const char **word;
    while ((word = query_row_of(&q, out, count, sizeof *word)) != NULL)
        *word = query_get_text(&q);
    return query_end(&q);
}

enum status store_list_branches(struct store *store, struct arena *keep, const char ***out,
                                uint32_t *count, struct fault *fault)
{
    return list_words(store, SQL_LIST_BRANCHES, keep, out, count, fault);
}

enum status store_list_platforms(struct store *store, struct arena *keep, const char ***out,
                                 uint32_t *count, struct fault *fault)
{
    return list_words(store, SQL_LIST_PLATFORMS, keep, out, count, fault);
}
