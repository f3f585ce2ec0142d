/* The whole run as JSON; README.md here says what each member means.  And the shields badge. */
#include <math.h>
#include <string.h>

#include "report/report.h"
#include "study/run_document.h"

static enum status close_stream(struct json *j, FILE *out, struct fault *fault)
{
    json_newline(j);
    return j->failed || ferror(out) != 0
               ? fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "writing the report")
               : ERR_NONE;
}

enum status report_json(const struct run_figures *report, FILE *out, struct fault *fault)
{
    struct json j;
    json_to_stream(&j, out, true);
    run_document_write_json(&j, report);
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
enum status report_badge(const struct run_figures *report, const char *metric, FILE *out,
                         struct fault *fault)
{
    static const char *const shares[] = {"capture_rate", "exact", "f1"};
    char message[64] = "no data";
    const char *color = "lightgrey";
    bool known = strcmp(metric, "verdict") == 0 || strcmp(metric, "speed_ratio") == 0;
    struct arena scratch;
    arena_init(&scratch, 0);
    const double value = figures_metric(report, metric, &scratch);
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
        const uint32_t failing = figures_failing(report);
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
