/* See badge.h. */
#include "report/badge.h"

#include <math.h>
#include <string.h>

#include "report/report.h"
#include "study/lanes.h"
#include "study/ratio.h"

static const char *const badge_colors[BADGE_COLOR_COUNT] = {
    [BADGE_LIGHT_GREY] = "lightgrey",
    [BADGE_BRIGHT_GREEN] = "brightgreen",
    [BADGE_GREEN] = "green",
    [BADGE_YELLOW] = "yellow",
    [BADGE_RED] = "red",
    [BADGE_BLUE] = "blue",
};

static enum badge_color share_color(double share)
{
    if (isnan(share))
        return BADGE_LIGHT_GREY;
    if (share >= 0.995)
        return BADGE_BRIGHT_GREEN;
    if (share >= 0.95)
        return BADGE_GREEN;
    return share >= 0.8 ? BADGE_YELLOW : BADGE_RED;
}

/* A badge is green only when every build was run. */
static void put_not_run(const struct run_figures *report, uint32_t failing, struct badge *out)
{
    struct run_figures alone = *report; /* for since when there is no room */
    struct arena scratch;
    alone.store = NULL;
    arena_init(&scratch, 0);
    const char *text = lanes_not_run(&alone, &scratch);
    const size_t used = strlen(out->message);
    if (text != NULL) {
        (void)snprintf(out->message + used, sizeof out->message - used, ", not run: %s", text);
        out->color = failing > 0 ? out->color : BADGE_YELLOW;
    }
    arena_free(&scratch);
}

/* Pass or fail, or why that is not known. */
static void badge_of_verdict(const struct run_figures *report, const char *name, struct badge *out)
{
    (void)name;
    const uint32_t failing = figures_failing(report);
    const uint32_t passing = figures_passing(report);
    out->label = "stacks";
    out->color = failing > 0 ? BADGE_RED : BADGE_BRIGHT_GREEN;
    (void)snprintf(out->message, sizeof out->message,
                   failing > 0 ? "%u of %u fail" : "%u of %u pass", failing > 0 ? failing : passing,
                   report->total_cases);
    put_not_run(report, failing, out);
    if (report->problem_count > 0 && failing == 0) {
        out->color = BADGE_RED;
        (void)snprintf(out->message, sizeof out->message, "known mismatches out of date");
    }
    if (report->run->state != RUN_COMPLETE) {
        out->color = BADGE_LIGHT_GREY;
        (void)snprintf(out->message, sizeof out->message, "%s", run_state_name(report->run->state));
    }
}

/* A ratio is worth nothing without its interval, the number of cases, and where it was measured. */
static void badge_of_speed(const struct run_figures *report, const char *name, struct badge *out)
{
    (void)name;
    const struct dump_ratio *ratio = report->ratio;
    char text[RATIO_TEXT];
    out->label = "plain dump : offsets";
    if (ratio->origin != RATIO_NOT_MEASURED) {
        const char *platform = report->run->platform;
        out->color = BADGE_BLUE;
        (void)snprintf(out->message, sizeof out->message, "%s, %s, %s", ratio_text(ratio, text),
                       ratio->arch != CPU_UNKNOWN ? cpu_name(ratio->arch) : "all processors",
                       platform != NULL ? platform : "system not known");
    }
}

static void badge_of_share(const struct run_figures *report, const char *name, struct badge *out)
{
    enum metric metric = METRIC_COUNT;
    (void)metric_parse(name, &metric);
    const double value = figures_metric(report, metric);
    out->label = metric_name(metric);
    out->color = share_color(value);
    if (!isnan(value))
        figures_share_text(value, out->message, sizeof out->message);
}

static const struct {
    const char *name;
    void (*make)(const struct run_figures *report, const char *name, struct badge *out);
} badges[] = {
#define BADGE_ROW(NAME, MAKE) {NAME, MAKE},
    BADGES(BADGE_ROW)
#undef BADGE_ROW
};

enum status report_make_badge(const struct run_figures *report, const char *name, struct badge *out,
                              struct fault *fault)
{
    *out = (struct badge){.color = BADGE_LIGHT_GREY, .message = "no data"};
    for (size_t i = 0; i < BADGES_COUNT; i++) {
        if (strcmp(name, badges[i].name) == 0) {
            badges[i].make(report, name, out);
            return ERR_NONE;
        }
    }
    return fault_set_lasting(fault, ERR_USAGE, FAULT_NO_OFFSET, "badge", BADGE_NAMES);
}

enum status report_badge(const struct report_job *job, FILE *out, struct fault *fault)
{
    struct badge badge;
    if (report_make_badge(job->report, job->badge, &badge, fault) != ERR_NONE)
        return fault->code;
    struct json j;
    json_to_stream(&j, out, false);
    json_object(&j);
    json_key(&j, "schemaVersion");
    json_uint(&j, 1);
    json_key_string(&j, "label", badge.label);
    json_key_string(&j, "message", badge.message);
    json_key_string(&j, "color", badge_colors[badge.color]);
    json_object_end(&j);
    return report_end_json(&j, out, fault);
}
