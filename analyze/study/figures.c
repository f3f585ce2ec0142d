/* Sums, ratios and medians of a run: see figures.h. */
#include "study/figures.h"

#include <math.h>
#include <string.h>

#include "compare/statistics.h"
#include "engine/engines.h"

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

struct case_references case_references(const struct run_case *c)
{
    struct case_references out = {0, 0};
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        const struct engine_score *s = &c->result.scores[i];
        const bool counts = !s->subject && s->state == STACK_OK && s->judged;
        out.judged += counts;
        out.exact += counts && s->exact;
    }
    return out;
}

bool case_is_timed(const struct run_case *c, const char *engine)
{
    const struct engine_score *s = case_score(c, engine);
    const struct engine_claim *k = case_claim(c, engine);
    return s != NULL && k != NULL && s->state == STACK_OK && s->frames > 0 &&
           k->cost.total_ns > 0 && !c->timing.crowded;
}

struct spread spread_of(double *values, size_t count)
{
    const double unknown = (double)NAN;
    if (count == 0)
        return (struct spread){0, unknown, unknown, unknown, unknown};
    const double median = statistics_median(values, count); /* sorts */
    return (struct spread){.count = count,
                           .median = median,
                           .least = values[0],
                           .p90 = statistics_quantile(values, count, 0.9),
                           .most = values[count - 1]};
}

void spread_write_json(struct json *j, const struct spread *spread)
{
    json_key_uint(j, "count", spread->count);
    json_key_number(j, "median", spread->median);
    json_key_number(j, "least", spread->least);
    json_key_number(j, "p90", spread->p90);
    json_key_number(j, "most", spread->most);
}

struct spread figures_spread(const struct run_figures *figures, case_number_fn *get,
                             const void *context, double *scratch)
{
    size_t count = 0;
    for (uint32_t i = 0; i < figures->case_count; i++) {
        const uint64_t value = get(&figures->cases[i], context);
        if (value != 0)
            scratch[count++] = (double)value;
    }
    return spread_of(scratch, count);
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

void figure_sample_take(const struct run_case *c, const char *foreign, struct figure_sample *out)
{
    const char *const names[FIGURE_WAYS] = {foreign, engine_subject(ENGINE_KIND_DUMP)->name,
                                            engine_subject(ENGINE_KIND_OFFSET)->name};
    memset(out, 0, sizeof *out);
    out->timing = c->timing;
    for (int way = 0; way < FIGURE_WAYS; way++) {
        out->timed[way] = names[way] != NULL && case_is_timed(c, names[way]);
        if (out->timed[way])
            out->costs[way] = case_claim(c, names[way])->cost;
    }
}

const struct figure_sample *figures_samples(const struct run_figures *figures, struct arena *keep,
                                            uint32_t *count)
{
    *count = figures->sample_count;
    if (figures->samples != NULL)
        return figures->samples;
    struct figure_sample *out =
        ARENA_ARRAY(keep, (size_t)figures->case_count + 1, struct figure_sample);
    const char *foreign = figures_foreign_engine(figures);
    *count = out != NULL ? figures->case_count : 0;
    for (uint32_t i = 0; i < *count; i++)
        figure_sample_take(&figures->cases[i], foreign, &out[i]);
    return out;
}

static bool has_both_ways(const struct figure_sample *s)
{
    return s->timed[FIGURE_DUMP] && s->timed[FIGURE_OFFSET];
}

static size_t collect_ms(const struct figure_sample *samples, uint32_t sample_count,
                         enum figure_way way, bool cold, double *numbers)
{
    size_t count = 0;
    for (uint32_t i = 0; i < sample_count; i++) {
        const struct engine_cost *cost = &samples[i].costs[way];
        const uint64_t ns = cold ? cost->cold_ns : cost->total_ns;
        if (has_both_ways(&samples[i]) && samples[i].timed[way] && ns != 0)
            numbers[count++] = (double)ns / 1e6;
    }
    return count;
}

/* Each engine starts cold, as a foreign tool does: modules loaded by an earlier engine must not
 * count for a later one, and a judge that keeps running is cold in few cases. Older runs have only
 * the time with everything loaded. */
static double median_ms(const struct figure_sample *samples, uint32_t sample_count,
                        enum figure_way way, double *numbers)
{
    size_t count = collect_ms(samples, sample_count, way, true, numbers);
    if (count == 0)
        count = collect_ms(samples, sample_count, way, false, numbers);
    return statistics_median(numbers, count);
}

struct way_times figures_way_times(const struct run_figures *figures, struct arena *scratch)
{
    struct way_times out = {0, (double)NAN, (double)NAN, (double)NAN};
    uint32_t count = 0;
    const struct figure_sample *samples = figures_samples(figures, scratch, &count);
    double *numbers = ARENA_ARRAY(scratch, (size_t)count + 1, double);
    if (numbers == NULL || samples == NULL)
        return out;
    for (uint32_t i = 0; i < count; i++)
        out.cases += has_both_ways(&samples[i]);
    out.foreign_ms = median_ms(samples, count, FIGURE_FOREIGN, numbers);
    out.dump_ms = median_ms(samples, count, FIGURE_DUMP, numbers);
    out.offset_ms = median_ms(samples, count, FIGURE_OFFSET, numbers);
    return out;
}

double figures_metric(const struct run_figures *figures, enum metric metric, struct arena *scratch)
{
    uint64_t judged = 0, exact = 0, truth = 0, own = 0, right = 0;
    if (metric == METRIC_CAPTURE_RATE)
        return figures->captures_expected == 0
                   ? (double)NAN
                   : (double)figures->captured / figures->captures_expected;
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
