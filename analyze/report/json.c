/* The whole run as JSON; README.md here says what each member means.  And the shields badge. */
#include <math.h>
#include <string.h>

#include "report/figures.h"

enum { REPORT_SCHEMA_VERSION = 1 };

static void write_interval(struct json *j, const char *key, uint64_t right, uint64_t total)
{
    const struct interval w = statistics_wilson(right, total);
    json_key(j, key);
    json_object(j);
    json_key_uint(j, "right", right);
    json_key_uint(j, "total", total);
    json_key_number(j, "value", w.value);
    json_key_number(j, "low", w.low);
    json_key_number(j, "high", w.high);
    json_object_end(j);
}

static void write_engine(struct json *j, const struct engine_total *t)
{
    json_object(j);
    json_key_string(j, "engine", t->engine);
    json_key_bool(j, "subject", t->subject);
    json_key_string(j, "shares", t->shares);
    json_key_string(j, "version", t->version);
    json_key_string(j, "skip_reason", t->stacks == 0 ? t->skip_reason : NULL);
    json_key_uint(j, "cases", t->cases);
    json_key_uint(j, "stacks", t->stacks);
    write_interval(j, "exact", t->exact, t->judged);
    write_interval(j, "top1", t->top1, t->judged);
    write_interval(j, "top5", t->top5, t->judged);
    write_interval(j, "precision", t->right_frames, t->own_frames);
    write_interval(j, "recall", t->right_frames, t->truth_frames);
    write_interval(j, "inline_recall", t->inline_right, t->inline_demanded);
    write_interval(j, "lines", t->lines_right, t->lines_judged);
    write_interval(j, "physical", t->physical_same, t->physical_judged);
    json_object_end(j);
}

static enum status close_stream(struct json *j, FILE *out, struct fault *fault)
{
    json_newline(j);
    return j->failed || ferror(out) != 0
               ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
               : ERR_NONE;
}

enum status report_json(const struct report_run *report, FILE *out, struct fault *fault)
{
    struct json j;
    json_to_stream(&j, out, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_key(&j, "run");
    run_info_write_json(&j, report->run);
    json_key_bool(&j, "fails", failing_cases(report) > 0 || report->problem_count > 0);
    json_key(&j, "problems");
    json_array(&j);
    for (uint32_t i = 0; i < report->problem_count; i++)
        json_string(&j, report->problems[i]);
    json_array_end(&j);
    json_key(&j, "engines");
    json_array(&j);
    for (uint32_t i = 0; i < report->engine_count; i++)
        write_engine(&j, &report->engines[i]);
    json_array_end(&j);
    json_key(&j, "cases");
    json_array(&j);
    for (uint32_t i = 0; i < report->case_count; i++)
        run_case_write_json(&j, &report->cases[i], false);
    json_array_end(&j);
    json_object_end(&j);
    return close_stream(&j, out, fault);
}

static const char *share_color(double share)
{
    if (isnan(share))
        return "lightgrey";
    return share >= 0.995  ? "brightgreen"
           : share >= 0.95 ? "green"
           : share >= 0.8  ? "yellow"
                           : "red";
}

/* https://shields.io/badges/endpoint-badge */
enum status report_badge(const struct report_run *report, const char *metric, FILE *out,
                         struct fault *fault)
{
    static const char *const shares[] = {"capture_rate", "exact", "f1"};
    char message[64] = "no data";
    const char *color = "lightgrey";
    bool known = strcmp(metric, "verdict") == 0 || strcmp(metric, "speed_ratio") == 0;
    struct arena scratch;
    arena_init(&scratch, 0);
    const double value = report_metric(report, metric, &scratch);
    arena_free(&scratch);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(metric, shares[i]) == 0) {
            known = true;
            color = share_color(value);
            if (!isnan(value))
                (void)snprintf(message, sizeof message, "%.1f %%", floor(value * 1000) / 10);
        }
    if (!known)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "badge",
                              "verdict, capture_rate, exact, f1 or speed_ratio");
    if (strcmp(metric, "verdict") == 0) {
        const uint32_t failing = failing_cases(report);
        uint32_t passing = 0;
        for (uint32_t i = 0; i < report->case_count; i++)
            passing += report->cases[i].result.verdict == VERDICT_PASS ||
                       report->cases[i].result.verdict == VERDICT_NOT_CAPTURED_AS_EXPECTED;
        color = failing > 0 ? "red" : "brightgreen";
        (void)snprintf(message, sizeof message, failing > 0 ? "%u of %u fail" : "%u of %u pass",
                       failing > 0 ? failing : passing, report->case_count);
        if (report->problem_count > 0 && failing == 0) {
            color = "red";
            (void)snprintf(message, sizeof message, "known mismatches out of date");
        }
        if (report->run->state != RUN_COMPLETE) {
            color = "lightgrey";
            (void)snprintf(message, sizeof message, "%s", run_state_name(report->run->state));
        }
    } else if (strcmp(metric, "speed_ratio") == 0 && !isnan(value)) {
        color = "blue";
        (void)snprintf(message, sizeof message, "%.1f : 1", value);
    }
    struct json j;
    json_to_stream(&j, out, false);
    json_object(&j);
    json_key(&j, "schemaVersion");
    json_uint(&j, 1);
    json_key_string(&j, "label",
                    strcmp(metric, "verdict") == 0       ? "stacks"
                    : strcmp(metric, "speed_ratio") == 0 ? "dump : offset"
                                                         : metric);
    json_key_string(&j, "message", message);
    json_key_string(&j, "color", color);
    json_object_end(&j);
    return close_stream(&j, out, fault);
}
