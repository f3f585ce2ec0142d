/* OpenMetrics text: https://github.com/prometheus/OpenMetrics, "Text format". */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "report/report.h"
#include "study/ratio.h"
#include "study/timings.h"

static void put_label(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, "%s=\"", name);
    for (; value != NULL && *value != 0; value++) {
        if (*value == '\n') {
            (void)fputs("\\n", out);
            continue;
        }
        if (*value == '\\' || *value == '"')
            (void)fputc('\\', out);
        (void)fputc(*value, out);
    }
    (void)fputc('"', out);
}

static void family(FILE *out, const char *name, const char *unit, const char *help)
{
    (void)fprintf(out, "# TYPE twinstack_%s gauge\n", name);
    if (unit != NULL)
        (void)fprintf(out, "# UNIT twinstack_%s %s\n", name, unit);
    (void)fprintf(out, "# HELP twinstack_%s %s\n", name, help);
}

static void put_verdicts(FILE *out, const struct run_figures *report)
{
    uint32_t counts[VERDICT_COUNT] = {0};
    memcpy(counts, report->verdicts, sizeof counts);
    family(out, "cases", NULL, "Cases of the run by verdict.");
    for (int v = 0; v < VERDICT_COUNT; v++) {
        (void)fputs("twinstack_cases{", out);
        put_label(out, "verdict", verdict_name((enum verdict)v));
        (void)fprintf(out, "} %u\n", counts[v]);
    }
}

static void put_shares(FILE *out, const struct run_figures *report)
{
    family(out, "share_ratio", "ratio",
           "Share of stacks or frames that are right, by engine and measure.");
    for (uint32_t i = 0; i < report->engine_count; i++) {
        struct measure measures[MEASURES];
        figures_measures(&report->engines[i], measures);
        for (int m = 0; m < MEASURES; m++) {
            if (measures[m].total == 0 || m == MEASURE_TOP1 || m == MEASURE_TOP5)
                continue;
            (void)fputs("twinstack_share_ratio{", out);
            put_label(out, "engine", report->engines[i].engine);
            (void)fputc(',', out);
            put_label(out, "measure", measures[m].name);
            (void)fprintf(out, "} %.6f\n", (double)measures[m].right / (double)measures[m].total);
        }
    }
}

static void put_times(FILE *out, const struct timings *timings)
{
    family(out, "stack_seconds", "seconds",
           "Back end time of one stack, median over cases of a processor.");
    for (uint32_t i = 0; i < timings->set_count * timings->engine_count; i++) {
        const struct timings_set *set = &timings->sets[i / timings->engine_count];
        const struct timings_engine *engine = &set->engines[i % timings->engine_count];
        if (engine->total.n == 0)
            continue;
        (void)fputs("twinstack_stack_seconds{", out);
        put_label(out, "engine", engine->engine);
        (void)fputc(',', out);
        put_label(out, "arch", cpu_name(set->arch));
        (void)fprintf(out, "} %.9f\n", engine->total.value / 1e9);
    }
}

/* How sure twinstack_speed_ratio is, and what measured it. */
static void put_ratio(FILE *out, const struct dump_ratio *ratio)
{
    if (ratio->origin == RATIO_NOT_MEASURED)
        return;
    family(out, "speed_run", NULL,
           "The run that measured the speed ratio; without a bench it has no control.");
    (void)fputs("twinstack_speed_run{", out);
    put_label(out, "origin", ratio->origin == RATIO_OF_BENCH ? "bench" : "run");
    (void)fprintf(out, "} %" PRIu64 "\n", ratio->run_id);
    if (ratio->cases > 0) { /* older benches stored none */
        family(out, "speed_cases", NULL, "Cases that the speed ratio is of.");
        (void)fprintf(out, "twinstack_speed_cases %zu\n", ratio->cases);
    }
    if (!isnan(ratio->value.low)) {
        family(out, "speed_bound_ratio", "ratio", "95 % interval of the speed ratio.");
        (void)fprintf(out,
                      "twinstack_speed_bound_ratio{bound=\"low\"} %.6f\n"
                      "twinstack_speed_bound_ratio{bound=\"high\"} %.6f\n",
                      ratio->value.low, ratio->value.high);
    }
    if (isnan(ratio->noise))
        return;
    family(out, "speed_noise_ratio", "ratio", "Of the bench against itself, a share.");
    (void)fprintf(out, "twinstack_speed_noise_ratio %.6f\n", ratio->noise);
}

enum status report_openmetrics(const struct report_job *job, FILE *out, struct fault *fault)
{
    static const enum metric metrics[] = {METRIC_CAPTURE_RATE, METRIC_EXACT, METRIC_F1,
                                          METRIC_SPEED_RATIO};
    static const char *const names[] = {"capture_ratio", "exact_ratio", "f1_ratio", "speed_ratio"};
    static const char *const helps[] = {
        "Crashes and hangs of which something was captured.",
        "Exact stacks of the engines under test.", "F1 of the frames of the engines under test.",
        "Plain dump to offsets: of the bench of this commit, else of the run."};
    const struct run_figures *report = job->report;
    family(out, "run", NULL, "The run that these figures are of; its id is the value.");
    (void)fputs("twinstack_run{", out);
    put_label(out, "commit", report->run->commit);
    (void)fputc(',', out);
    put_label(out, "platform", report->run->platform);
    (void)fprintf(out, "} %" PRIu64 "\n", report->run->id);
    family(out, "run_problems", NULL, "What fails the run as a whole, whatever its cases do.");
    (void)fprintf(out, "twinstack_run_problems %u\n", report->problem_count);
    put_verdicts(out, report);
    family(out, "cases_left_out", NULL, "Cases with the verdict ERROR and no stack to judge.");
    (void)fprintf(out, "twinstack_cases_left_out %u\n", report->left_out);
    put_shares(out, report);
    put_times(out, report->timings);
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        const double value = figures_metric(report, metrics[i]);
        if (isnan(value))
            continue;
        family(out, names[i], "ratio", helps[i]);
        (void)fprintf(out, "twinstack_%s %.6f\n", names[i], value);
    }
    put_ratio(out, report->ratio);
    (void)fputs("# EOF\n", out);
    return ferror(out) != 0 ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
                            : ERR_NONE;
}
