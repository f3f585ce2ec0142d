/* twinstack gate: decides whether a run is good enough, against limits and a baseline. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compare/run_diff.h"
#include "verbs/figures_text.h"
#include "verbs/stored.h"
#include "verbs/time_limits.h"
#include "verbs/verbs.h"

enum { CHECKS_MAX = 64 };

struct gate_options {
    const char *db, *against, *min_capture, *min_exact, *min_f1, *max_slowdown;
    struct option_list engines;
    uint64_t max_new;
    bool strict, as_json, exit_zero;
};

struct check {
    const char *name;
    bool holds;
    const char *said;
};

struct gate {
    const struct gate_options *o;
    struct arena *keep;
    struct stored_run run;
    struct report_run report;
    struct check checks[CHECKS_MAX];
    uint32_t check_count;
};

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void
add(struct gate *g, const char *name, bool holds, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (g->check_count == CHECKS_MAX)
        return;
    g->checks[g->check_count].name = name;
    g->checks[g->check_count].holds = holds;
    g->checks[g->check_count++].said = arena_string(g->keep, text);
}

static bool check_metric(struct gate *g, const char *name, const char *limit_text)
{
    double limit = 0;
    if (limit_text == NULL)
        return true;
    if (!parse_share(limit_text, &limit))
        return false;
    const double value = report_metric(&g->report, name, g->keep);
    if (isnan(value))
        add(g, name, false, "nothing was measured, %.1f %% demanded", limit * 100);
    else
        add(g, name, value >= limit, "%.2f %%, at least %.2f %% demanded",
            floor(value * 10000) / 100, limit * 100);
    return true;
}

static void check_verdicts(struct gate *g)
{
    const uint32_t *v = g->run.info.verdicts;
    uint32_t failing = 0;
    for (int i = 0; i < VERDICT_COUNT; i++)
        failing += run_verdict_fails((enum verdict)i) ? v[i] : 0;
    add(g, "state", g->run.info.state == RUN_COMPLETE, "the run is %s",
        run_state_name(g->run.info.state));
    for (uint32_t i = 0; i < g->report.problem_count; i++)
        if (g->run.info.state == RUN_COMPLETE)
            add(g, "known", false, "%s", g->report.problems[i]);
    if (g->o->strict || g->o->against == NULL)
        add(g, "verdicts", failing == 0, "%u of %u cases fail", failing, g->run.info.case_count);
    else
        add(g, "errors", v[VERDICT_ERROR] == 0, "%u ERROR", v[VERDICT_ERROR]);
    if (g->o->strict)
        add(g, "unsupported", v[VERDICT_UNSUPPORTED] == 0, "%u UNSUPPORTED",
            v[VERDICT_UNSUPPORTED]);
}

/* Exhibits fail a run only when they are named here. */
static void check_engines(struct gate *g)
{
    for (uint32_t i = 0; i < g->o->engines.count; i++) {
        const char *name = g->o->engines.items[i];
        const struct engine_total *found = NULL;
        for (uint32_t e = 0; e < g->report.engine_count; e++)
            if (strcmp(g->report.engines[e].engine, name) == 0)
                found = &g->report.engines[e];
        if (found == NULL || found->judged == 0)
            add(g, name, false, "no stack of it could be judged");
        else
            add(g, name, found->exact == found->judged, "%u of %u stacks exact", found->exact,
                found->judged);
    }
}

static enum status check_baseline(struct gate *g, struct store *store, bool *usable,
                                  struct fault *fault)
{
    struct stored_run before;
    struct run_diff diff;
    struct diff_limits limits;
    double slowdown = INFINITY;
    *usable = g->o->max_slowdown == NULL || parse_share(g->o->max_slowdown, &slowdown);
    if (!*usable || g->o->against == NULL)
        return ERR_NONE;
    if (stored_read_before(store, g->o->against, &g->run.info, g->keep, &before, fault) !=
            ERR_NONE ||
        time_limits_read(store, &g->run.info, isinf(slowdown) ? 0 : slowdown, g->keep, &limits,
                         fault) != ERR_NONE ||
        run_diff_make(&before.info, before.cases, before.case_count, &g->run.info, g->run.cases,
                      g->run.case_count, &limits, g->keep, &diff, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < diff.fact_count; i++)
        add(g, "environment", !g->o->strict, "%s: %s -> %s", diff.facts[i].name,
            diff.facts[i].a != NULL ? diff.facts[i].a : "(unknown)",
            diff.facts[i].b != NULL ? diff.facts[i].b : "(unknown)");
    add(g, "new failures", diff.counts[DIFF_NEW] <= g->o->max_new,
        "%u new since run %" PRIu64 ", at most %" PRIu64 " allowed (%u fixed, %u still failing)",
        diff.counts[DIFF_NEW], before.info.id, g->o->max_new, diff.counts[DIFF_FIXED],
        diff.counts[DIFF_STILL]);
    if (g->o->strict)
        add(g, "cases gone", diff.counts[DIFF_GONE] == 0, "%u gone since run %" PRIu64,
            diff.counts[DIFF_GONE], before.info.id);
    for (uint32_t i = 0; i < diff.time_count && g->o->max_slowdown != NULL; i++) {
        const struct diff_time *t = &diff.times[i];
        if (!t->subject)
            continue;
        if (t->change.change == CHANGE_TOO_FEW)
            add(g, t->engine, !g->o->strict, "no verdict on time: %u samples are too few",
                t->cases);
        else
            add(g, t->engine, t->change.change != CHANGE_SLOWER,
                "time %+.1f %%, at most %.1f %% allowed, p %.4f", t->change.effect * 100,
                t->change.threshold * 100, t->change.p);
    }
    return ERR_NONE;
}

static bool print_checks(const struct gate *g)
{
    bool all = true;
    struct json j;
    for (uint32_t i = 0; i < g->check_count; i++)
        all = all && g->checks[i].holds;
    if (!g->o->as_json) {
        for (uint32_t i = 0; i < g->check_count; i++)
            (void)printf("%s %-20s %s\n", g->checks[i].holds ? "✓" : "✗", g->checks[i].name,
                         g->checks[i].said);
        (void)printf("gate of run %" PRIu64 ": %s\n", g->run.info.id, all ? "open" : "CLOSED");
        return all;
    }
    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "run", g->run.info.id);
    json_key_bool(&j, "open", all);
    json_key(&j, "checks");
    json_array(&j);
    for (uint32_t i = 0; i < g->check_count; i++) {
        json_object(&j);
        json_key_string(&j, "name", g->checks[i].name);
        json_key_bool(&j, "holds", g->checks[i].holds);
        json_key_string(&j, "said", g->checks[i].said);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
    return all;
}

static int decide(const struct verb *self, struct gate *g, struct store *store, const char *word)
{
    struct fault fault = FAULT_INIT;
    bool usable = true;
    if (stored_read(store, word, false, g->keep, &g->run, &fault) != ERR_NONE ||
        report_prepare(&g->run.info, g->run.cases, g->run.case_count, g->keep, &g->report,
                       &fault) != ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    check_verdicts(g);
    if (!check_metric(g, "capture_rate", g->o->min_capture) ||
        !check_metric(g, "exact", g->o->min_exact) || !check_metric(g, "f1", g->o->min_f1))
        return verb_usage_error(self, "limits are shares such as 99%%");
    check_engines(g);
    if (check_baseline(g, store, &usable, &fault) != ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    if (!usable)
        return verb_usage_error(self, "--max-slowdown is a share such as 5%%");
    return print_checks(g) || g->o->exit_zero ? EXIT_GOOD : EXIT_DIFFERENT;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct gate_options o = {.db = STORED_DATABASE};
    const struct option_row rows[] = {
        {"--against", OPTION_STRING, &o.against, "RUN", "baseline, an id, a file: what to beat"},
        {"--max-new", OPTION_UINT, &o.max_new, "N", "new failures allowed (default 0)"},
        {"--max-slowdown", OPTION_STRING, &o.max_slowdown, "SHARE", "of the subjects' times"},
        {"--min-capture", OPTION_STRING, &o.min_capture, "SHARE",
         "deaths of which a case was taken"},
        {"--min-exact", OPTION_STRING, &o.min_exact, "SHARE", "exact stacks of the subjects"},
        {"--min-f1", OPTION_STRING, &o.min_f1, "SHARE", "F1 of the subjects' frames"},
        {"--engine", OPTION_LIST, &o.engines, "NAME", "this exhibit's stacks must be exact too"},
        {"--strict", OPTION_FLAG, &o.strict, NULL,
         "also: old failures, UNSUPPORTED, cases gone, another environment, too few samples"},
        {"--exit-zero", OPTION_FLAG, &o.exit_zero, NULL, "say it, but do not fail"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "one JSON document"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    struct store *store = NULL;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        if (rest.count > 1)
            code = verb_usage_error(self, "one run at a time: '%s'", rest.items[1]);
        else if (stored_open(o.db, STORE_READ, &store, &code)) {
            struct gate g = {.o = &o, .keep = &keep};
            code = decide(self, &g, store, rest.count > 0 ? rest.items[0] : "latest");
        }
        store_close(store);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_gate = {
    .name = "gate",
    .summary = "decide whether a run is good enough: limits, and a baseline not to fall behind",
    .usage = "[RUN] [--against baseline] [--min-f1 99%] ...",
    .details = "Without --against every failing case closes the gate; with it only new ones do, "
               "unless\n--strict is given.  Every check is printed with its figures.\n\n"
               "example:\n  twinstack gate --against baseline --min-capture 99% --max-slowdown 5%",
    .exits = "  0  open\n  1  closed\n  2  usage\n  3  there is no such run\n"
             "  4  database not usable",
    .run = run,
};
