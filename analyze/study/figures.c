/* Sums, ratios and medians of a run: see figures.h. */
#include "study/figures.h"

#include <math.h>
#include <string.h>

#include "compare/known.h"
#include "compare/statistics.h"
#include "engine/engines.h"

static enum status add_problems(struct run_figures *r, struct arena *keep, struct fault *fault)
{
    const char **known = NULL, **all = NULL;
    uint32_t count = 0;
    r->problems = NULL;
    r->problem_count = 0;
    if (known_problems_of(r->run, r->cases, r->case_count, keep, &known, &count, fault) != ERR_NONE)
        return fault->code;
    all = ARENA_ARRAY(keep, (size_t)count + 1, const char *);
    if (all == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "problems of a run");
    if (r->run->state != RUN_COMPLETE)
        all[r->problem_count++] =
            r->run->state == RUN_RUNNING
                ? "the run is not over: cases are missing"
                : "the run was interrupted: cases are missing, `twinstack run --resume` takes them";
    for (uint32_t i = 0; i < count; i++)
        all[r->problem_count++] = arena_printf(keep, "known mismatch %s", known[i]);
    r->problems = all;
    return ERR_NONE;
}

enum status figures_prepare(const struct run_info *run, const struct run_case *cases,
                            uint32_t case_count, struct arena *keep, struct run_figures *out,
                            struct fault *fault)
{
    struct engine_total *totals = NULL;
    out->run = run;
    out->cases = cases;
    out->case_count = case_count;
    out->engine_count = 0;
    if (run_total_engines(cases, case_count, keep, &totals, &out->engine_count, fault) != ERR_NONE)
        return fault->code;
    out->engines = totals;
    out->left_out = 0;
    for (uint32_t i = 0; i < case_count; i++)
        out->left_out +=
            cases[i].result.verdict == VERDICT_ERROR && cases[i].result.score_count == 0;
    return add_problems(out, keep, fault);
}

double figures_percent(uint64_t right, uint64_t total)
{
    return floor(1000.0 * (double)right / (double)total) / 10;
}

uint32_t figures_causes(const struct run_figures *figures, struct cause_total out[CAUSE_COUNT])
{
    uint32_t all = 0;
    memset(out, 0, CAUSE_COUNT * sizeof out[0]);
    for (uint32_t i = 0; i < figures->case_count; i++) {
        bool seen[CAUSE_COUNT] = {false};
        for (uint32_t f = 0; f < figures->cases[i].result.finding_count; f++) {
            const struct finding *finding = &figures->cases[i].result.findings[f];
            struct cause_total *total = &out[finding->cause];
            all++;
            total->findings++;
            total->failing += finding->fails;
            total->cases += !seen[finding->cause];
            seen[finding->cause] = true;
            if (total->example == NULL || (finding->fails && !total->example->fails)) {
                total->example = finding;
                total->where = &figures->cases[i];
            }
        }
    }
    return all;
}

const struct engine_claim *case_claim(const struct run_case *c, const char *engine)
{
    for (uint32_t i = 0; engine != NULL && i < c->claim_count; i++)
        if (strcmp(c->claims[i].engine, engine) == 0)
            return &c->claims[i];
    return NULL;
}

const struct engine_score *case_score(const struct run_case *c, const char *engine)
{
    for (uint32_t i = 0; engine != NULL && i < c->result.score_count; i++)
        if (strcmp(c->result.scores[i].engine, engine) == 0)
            return &c->result.scores[i];
    return NULL;
}

bool case_is_timed(const struct run_case *c, const char *engine)
{
    const struct engine_score *s = case_score(c, engine);
    const struct engine_claim *k = case_claim(c, engine);
    return s != NULL && k != NULL && s->state == STACK_OK && s->frames > 0 &&
           k->cost.total_ns > 0 && !c->timing.crowded;
}

struct spread figures_spread(const struct run_figures *figures, case_number_fn *get,
                             const void *context, double *scratch)
{
    const double unknown = (double)NAN;
    struct spread out = {0, unknown, unknown, unknown, unknown};
    for (uint32_t i = 0; i < figures->case_count; i++) {
        const uint64_t value = get(&figures->cases[i], context);
        if (value != 0)
            scratch[out.count++] = (double)value;
    }
    if (out.count == 0)
        return out;
    out.median = statistics_median(scratch, out.count); /* sorts */
    out.least = scratch[0];
    out.most = scratch[out.count - 1];
    out.p90 = statistics_quantile(scratch, out.count, 0.9);
    return out;
}

void figures_measures(const struct engine_total *t, struct measure out[MEASURES])
{
    const struct measure rows[MEASURES] = {
        {"exact", t->exact, t->judged, {0, 0, 0}},
        {"top1", t->top1, t->judged, {0, 0, 0}},
        {"top5", t->top5, t->judged, {0, 0, 0}},
        {"precision", t->right_frames, t->own_frames, {0, 0, 0}},
        {"recall", t->right_frames, t->truth_frames, {0, 0, 0}},
        {"inline_recall", t->inline_right, t->inline_demanded, {0, 0, 0}},
        {"lines", t->lines_right, t->lines_judged, {0, 0, 0}},
        {"physical", t->physical_same, t->physical_judged, {0, 0, 0}},
    };
    for (int m = 0; m < MEASURES; m++) {
        out[m] = rows[m];
        out[m].share = statistics_wilson(rows[m].right, rows[m].total);
    }
}

uint64_t case_total_ns(const struct run_case *c, const void *engine)
{
    return case_is_timed(c, engine) ? case_claim(c, engine)->cost.total_ns : 0;
}

const char *figures_foreign_engine(const struct run_figures *figures)
{
    for (uint32_t n = 0; n < engine_count; n++)
        for (uint32_t i = 0; engines[n]->reads_dump && i < figures->engine_count; i++)
            if (strcmp(figures->engines[i].engine, engines[n]->name) == 0 &&
                figures->engines[i].stacks > 0)
                return engines[n]->name;
    return NULL;
}

static bool has_both_ways(const struct run_case *c)
{
    return case_is_timed(c, engine_subject(ENGINE_KIND_DUMP)->name) &&
           case_is_timed(c, engine_subject(ENGINE_KIND_OFFSET)->name);
}

static size_t collect_ms(const struct run_figures *figures, const char *engine, bool cold,
                         double *numbers)
{
    size_t count = 0;
    for (uint32_t i = 0; engine != NULL && i < figures->case_count; i++) {
        const struct run_case *c = &figures->cases[i];
        if (!has_both_ways(c) || !case_is_timed(c, engine))
            continue;
        const struct engine_cost *cost = &case_claim(c, engine)->cost;
        const uint64_t ns = cold ? cost->cold_ns : cost->total_ns;
        if (ns != 0)
            numbers[count++] = (double)ns / 1e6;
    }
    return count;
}

/* Each engine starts cold, as a foreign tool does: modules loaded by an earlier engine must not
 * count for a later one, and a judge that stays is cold in few cases. Older runs have only the time
 * with everything loaded. */
static double median_ms(const struct run_figures *figures, const char *engine, double *numbers)
{
    size_t count = collect_ms(figures, engine, true, numbers);
    if (count == 0)
        count = collect_ms(figures, engine, false, numbers);
    return statistics_median(numbers, count);
}

struct way_times figures_way_times(const struct run_figures *figures, struct arena *scratch)
{
    struct way_times out = {0, (double)NAN, (double)NAN, (double)NAN};
    double *numbers = ARENA_ARRAY(scratch, (size_t)figures->case_count + 1, double);
    if (numbers == NULL)
        return out;
    for (uint32_t i = 0; i < figures->case_count; i++)
        out.cases += has_both_ways(&figures->cases[i]);
    out.foreign_ms = median_ms(figures, figures_foreign_engine(figures), numbers);
    out.dump_ms = median_ms(figures, engine_subject(ENGINE_KIND_DUMP)->name, numbers);
    out.offset_ms = median_ms(figures, engine_subject(ENGINE_KIND_OFFSET)->name, numbers);
    return out;
}

static double capture_rate(const struct run_figures *figures)
{
    uint32_t wanted = 0, captured = 0;
    for (uint32_t i = 0; i < figures->case_count; i++) {
        const struct run_case *c = &figures->cases[i];
        const enum verdict v = c->result.verdict;
        if (v == VERDICT_UNSUPPORTED || v == VERDICT_ERROR ||
            v == VERDICT_NOT_CAPTURED_AS_EXPECTED || c->kind == CASE_KIND_CALM)
            continue;
        wanted++;
        captured += c->timing.record_bytes > 0 || c->timing.dump_bytes > 0;
    }
    return wanted == 0 ? (double)NAN : (double)captured / wanted;
}

double figures_metric(const struct run_figures *figures, enum metric metric, struct arena *scratch)
{
    uint64_t judged = 0, exact = 0, truth = 0, own = 0, right = 0;
    if (metric == METRIC_CAPTURE_RATE)
        return capture_rate(figures);
    if (metric == METRIC_SPEED_RATIO) {
        const struct way_times ratio = figures_way_times(figures, scratch);
        return ratio.dump_ms / ratio.offset_ms;
    }
    for (uint32_t i = 0; i < figures->engine_count; i++) {
        const struct engine_total *t = &figures->engines[i];
        if (!t->subject)
            continue;
        judged += t->judged;
        exact += t->exact;
        truth += t->truth_frames;
        own += t->own_frames;
        right += t->right_frames;
    }
    if (metric == METRIC_EXACT && judged > 0)
        return (double)exact / (double)judged;
    if (metric == METRIC_F1 && truth + own > 0)
        return 2 * (double)right / (double)(truth + own);
    return (double)NAN;
}

uint32_t figures_passing(const struct run_figures *figures)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < figures->case_count; i++)
        count += figures->cases[i].result.verdict == VERDICT_PASS ||
                 figures->cases[i].result.verdict == VERDICT_NOT_CAPTURED_AS_EXPECTED;
    return count;
}

uint32_t figures_failing(const struct run_figures *figures)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < figures->case_count; i++)
        count += run_verdict_fails(figures->cases[i].result.verdict);
    return count;
}
