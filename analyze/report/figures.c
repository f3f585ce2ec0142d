/* Sums, ratios and words: see figures.h and report.h. */
#include "report/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "compare/known.h"

static enum status add_problems(struct report_run *r, struct arena *keep, struct fault *fault)
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

enum status report_prepare(const struct run_info *run, const struct run_case *cases,
                           uint32_t case_count, struct arena *keep, struct report_run *out,
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
    return add_problems(out, keep, fault);
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
    return s != NULL && k != NULL && s->state == STACK_OK && s->frames > 0 && k->cost.total_ns > 0;
}

size_t collect_numbers(const struct report_run *report, case_number_fn *get, const void *context,
                       double *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const uint64_t value = get(&report->cases[i], context);
        if (value != 0)
            out[count++] = (double)value;
    }
    return count;
}

uint64_t case_total_ns(const struct run_case *c, const void *engine)
{
    return case_is_timed(c, engine) ? case_claim(c, engine)->cost.total_ns : 0;
}

const char *foreign_dump_engine(const struct report_run *report)
{
    static const char *const names[] = {"judge:dbghelp", "judge:winedbg", "judge:lldb"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (uint32_t i = 0; i < report->engine_count; i++)
            if (strcmp(report->engines[i].engine, names[n]) == 0 && report->engines[i].stacks > 0)
                return names[n];
    return NULL;
}

static bool has_both_ways(const struct run_case *c)
{
    return case_is_timed(c, "dump") && case_is_timed(c, "offset:rtl");
}

/* All ways from nothing, as a foreign tool starts: what one has loaded is no merit of the next.
 * Older runs know the time with everything loaded alone. */
static uint64_t from_nothing_ns(const struct engine_cost *cost)
{
    return cost->cold_ns != 0 ? cost->cold_ns : cost->total_ns;
}

static double median_ms(const struct report_run *report, const char *engine, double *numbers)
{
    size_t count = 0;
    for (uint32_t i = 0; engine != NULL && i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        if (has_both_ways(c) && case_is_timed(c, engine))
            numbers[count++] = (double)from_nothing_ns(&case_claim(c, engine)->cost) / 1e6;
    }
    return statistics_median(numbers, count);
}

struct report_ratio report_ratio(const struct report_run *report, struct arena *scratch)
{
    struct report_ratio out = {0, (double)NAN, (double)NAN, (double)NAN};
    double *numbers = ARENA_ARRAY(scratch, (size_t)report->case_count + 1, double);
    if (numbers == NULL)
        return out;
    for (uint32_t i = 0; i < report->case_count; i++)
        out.cases += has_both_ways(&report->cases[i]);
    out.foreign_ms = median_ms(report, foreign_dump_engine(report), numbers);
    out.dump_ms = median_ms(report, "dump", numbers);
    out.offset_ms = median_ms(report, "offset:rtl", numbers);
    return out;
}

static double capture_rate(const struct report_run *report)
{
    uint32_t wanted = 0, captured = 0;
    for (uint32_t i = 0; i < report->case_count; i++) {
        const struct run_case *c = &report->cases[i];
        const enum verdict v = c->result.verdict;
        if (v == VERDICT_UNSUPPORTED || v == VERDICT_ERROR ||
            v == VERDICT_NOT_CAPTURED_AS_EXPECTED ||
            (c->kind != NULL && strcmp(c->kind, "calm") == 0))
            continue;
        wanted++;
        captured += c->timing.record_bytes > 0 || c->timing.dump_bytes > 0;
    }
    return wanted == 0 ? (double)NAN : (double)captured / wanted;
}

double report_metric(const struct report_run *report, const char *metric, struct arena *scratch)
{
    uint64_t judged = 0, exact = 0, truth = 0, own = 0, right = 0;
    if (strcmp(metric, "capture_rate") == 0)
        return capture_rate(report);
    if (strcmp(metric, "speed_ratio") == 0) {
        const struct report_ratio ratio = report_ratio(report, scratch);
        return ratio.dump_ms / ratio.offset_ms;
    }
    for (uint32_t i = 0; i < report->engine_count; i++) {
        const struct engine_total *t = &report->engines[i];
        if (!t->subject)
            continue;
        judged += t->judged;
        exact += t->exact;
        truth += t->truth_frames;
        own += t->own_frames;
        right += t->right_frames;
    }
    if (strcmp(metric, "exact") == 0 && judged > 0)
        return (double)exact / (double)judged;
    if (strcmp(metric, "f1") == 0 && truth + own > 0)
        return 2 * (double)right / (double)(truth + own);
    return (double)NAN;
}

uint32_t failing_cases(const struct report_run *report)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->case_count; i++)
        count += run_verdict_fails(report->cases[i].result.verdict);
    return count;
}

static const char *scaled(double value, const char *const units[], const double scales[],
                          size_t unit_count, char out[24])
{
    size_t unit = 0;
    if (isnan(value)) {
        (void)snprintf(out, 24, "-");
        return out;
    }
    while (unit + 1 < unit_count && value >= scales[unit + 1] * 0.9995)
        unit++;
    const double shown = value / scales[unit];
    const int digits = unit == 0 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
    (void)snprintf(out, 24, "%.*f %s", digits, shown, units[unit]);
    return out;
}

const char *duration_text(double ns, char out[24])
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    static const double scales[] = {1, 1e3, 1e6, 1e9};
    return scaled(ns, units, scales, 4, out);
}

const char *bytes_text(double bytes, char out[24])
{
    static const char *const units[] = {"B", "KB", "MB", "GB"};
    static const double scales[] = {1, 1e3, 1e6, 1e9};
    return scaled(bytes, units, scales, 4, out);
}

const char *case_name(const struct run_case *c, char out[160])
{
    if (c->repeat > 0)
        (void)snprintf(out, 160, "%.90s.%.50s#%u", c->scenario, c->variant, c->repeat + 1);
    else
        (void)snprintf(out, 160, "%.90s.%.50s", c->scenario, c->variant);
    return out;
}

const char *time_text(uint64_t ns, char out[32])
{
    const time_t seconds = (time_t)(ns / 1000000000u);
    const struct tm *utc = gmtime(&seconds);
    if (utc == NULL || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", utc) == 0)
        out[0] = 0;
    return out;
}
