/* twinstack report: a stored run as something to read, for people and for other programs. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "server/offline_file.h"
#include "verbs/stored.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

enum output {
    OUT_JSON,
    OUT_JUNIT,
    OUT_CTRF,
    OUT_MARKDOWN,
    OUT_OPENMETRICS,
    OUT_BADGE,
    OUT_FOLDED,
    OUT_SPEEDSCOPE,
    OUT_HTML,
    OUT_COUNT
};

struct report_options {
    const char *db, *badge, *engine;
    const char *paths[OUT_COUNT];
    bool details, exit_zero, as_text;
    uint64_t columns;
};

/* The input of a writer. */
struct job {
    const struct report_options *options;
    const struct run_figures *report;
    struct store *store;
    struct arena *scratch;
    enum output output;
};

static enum status write_output(const void *context, FILE *out, struct fault *fault)
{
    const struct job *job = context;
    switch (job->output) {
    case OUT_JSON:
        return report_json(job->report, out, fault);
    case OUT_JUNIT:
        return report_junit(job->report, out, fault);
    case OUT_CTRF:
        return report_ctrf(job->report, out, fault);
    case OUT_MARKDOWN:
        return report_markdown(job->report, 0, job->scratch, out, fault);
    case OUT_OPENMETRICS:
        return report_openmetrics(job->report, job->scratch, out, fault);
    case OUT_BADGE:
        return report_badge(job->report, job->options->badge, out, fault);
    case OUT_FOLDED:
        return report_folded(job->report, job->options->engine, job->scratch, out, fault);
    case OUT_SPEEDSCOPE:
        return report_speedscope(job->report, job->options->engine, job->scratch, out, fault);
    case OUT_HTML:
        return dashboard_offline_page(job->store, job->report->run->id, out, fault);
    case OUT_COUNT:
        break;
    }
    return ERR_NONE;
}

static bool wants_output(const struct report_options *o)
{
    for (int i = 0; i < OUT_COUNT; i++)
        if (o->paths[i] != NULL)
            return true;
    return false;
}

/* CI systems that show a summary give the name of its file in the environment. */
static void append_step_summary(const struct run_figures *report, struct arena *scratch)
{
    struct fault fault = FAULT_INIT;
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    if (path == NULL || path[0] == 0)
        return;
    FILE *out = fopen(path, "ab");
    if (out == NULL) {
        log_warn("what=step_summary path=%s cannot be appended to", path);
        return;
    }
    (void)report_markdown(report, 0, scratch, out, &fault);
    (void)fclose(out);
}

static bool prints_text(const struct report_options *o)
{
    return o->as_text || !wants_output(o);
}

static enum status write_all(const struct report_options *o, struct store *store,
                             const struct run_figures *report, struct arena *keep,
                             struct fault *fault)
{
    for (int i = 0; i < OUT_COUNT && fault->code == ERR_NONE; i++) {
        const struct job job = {o, report, store, keep, (enum output)i};
        if (o->paths[i] != NULL)
            (void)stored_write(o->paths[i], write_output, &job, fault);
    }
    if (fault->code == ERR_NONE && prints_text(o)) {
        struct report_style style = terminal_style();
        style.details = o->details;
        style.db = strcmp(o->db, STORED_DATABASE) != 0 ? o->db : NULL;
        if (o->columns != 0)
            style.columns = (uint32_t)o->columns;
        (void)report_text(report, &style, keep, stdout, fault);
    }
    append_step_summary(report, keep);
    return fault->code;
}

/* Every output takes one case after the other, or only cases that deviate, so that a run of any
 * size stays in the database. Only reports for people and badges add up more than the database
 * does. */
static enum figures_use use_of(const struct report_options *o)
{
    const char *summary = getenv("GITHUB_STEP_SUMMARY");
    if (o->details && prints_text(o))
        return FIGURES_OF_DETAILS;
    if (prints_text(o) || o->paths[OUT_MARKDOWN] != NULL || o->paths[OUT_BADGE] != NULL ||
        (summary != NULL && summary[0] != '\0'))
        return FIGURES_OF_REPORT;
    return o->paths[OUT_JSON] != NULL || o->paths[OUT_OPENMETRICS] != NULL ? FIGURES_OF_TIMES
                                                                           : FIGURES_OF_SUMS;
}

static bool shows_symbols(const struct report_options *o)
{
    return o->paths[OUT_JSON] != NULL || o->details;
}

static enum status read_figures(const struct report_options *o, struct store *store,
                                const char *word, struct arena *keep, struct run_info *run,
                                struct run_figures *out, struct fault *fault)
{
    struct symbol_row *symbols = NULL;
    if (figures_read(store, word, use_of(o), keep, run, out, fault) == ERR_NONE &&
        shows_symbols(o) &&
        store_read_symbols(store, run->id, keep, &symbols, &out->symbol_count, fault) == ERR_NONE)
        out->symbols = symbols;
    return fault->code;
}

static int report(const struct verb *self, void *given, const struct option_list *rest,
                  struct arena *keep)
{
    const struct report_options *o = given;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    struct run_info run;
    struct run_figures prepared;
    int code = EXIT_GOOD;
    if (rest->count > 1)
        return verb_usage_error(self, "one run at a time: '%s'", rest->items[1]);
    if (o->columns != 0 && (o->columns < 60 || o->columns > 1000))
        return verb_usage_error(self, "--columns is 60 to 1000");
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    const char *word = rest->count > 0 ? rest->items[0] : "latest";
    if (read_figures(o, store, word, keep, &run, &prepared, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else if (write_all(o, store, &prepared, keep, &fault) != ERR_NONE)
        code = verb_fault(&fault);
    else
        code = o->exit_zero ? EXIT_GOOD : stored_verdicts_exit(&prepared);
    store_close(store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct report_options o = {.db = STORED_DATABASE, .badge = "verdict"};
    const struct option_row rows[] = {
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
        {"--text", OPTION_FLAG, &o.as_text, NULL,
         "print the readable report even when files are written"},
        {"--details", OPTION_FLAG, &o.details, NULL,
         "also print the cases that went as expected, every finding, hooks and times"},
        {"--columns", OPTION_UINT, &o.columns, "N",
         "width of the text (default: the terminal's, else 100)"},
        {"--json", OPTION_STRING, &o.paths[OUT_JSON], "FILE|-",
         "everything, in the documented schema"},
        {"--junit", OPTION_STRING, &o.paths[OUT_JUNIT], "FILE|-", "JUnit XML"},
        {"--ctrf", OPTION_STRING, &o.paths[OUT_CTRF], "FILE|-", "CTRF JSON"},
        {"--md", OPTION_STRING, &o.paths[OUT_MARKDOWN], "FILE|-", "Markdown, limited in length"},
        {"--openmetrics", OPTION_STRING, &o.paths[OUT_OPENMETRICS], "FILE|-", "OpenMetrics text"},
        {"--badge", OPTION_STRING, &o.paths[OUT_BADGE], "FILE|-", "shields endpoint JSON"},
        {"--badge-of", OPTION_STRING, &o.badge, "METRIC",
         "verdict (default), capture_rate, exact, f1, speed_ratio"},
        {"--folded", OPTION_STRING, &o.paths[OUT_FOLDED], "FILE|-", "all stacks, as folded lines"},
        {"--speedscope", OPTION_STRING, &o.paths[OUT_SPEEDSCOPE], "FILE|-",
         "all stacks, for speedscope"},
        {"--html", OPTION_STRING, &o.paths[OUT_HTML], "FILE|-",
         "the dashboard as one file that needs no server: this whole run, and the runs around it"},
        {"--engine", OPTION_STRING, &o.engine, "NAME",
         "the engine whose stacks are written (default: the first engine under test)"},
        {"--exit-zero", OPTION_FLAG, &o.exit_zero, NULL, "exit with 0 even when cases fail"},
    };
    return verb_main(self, rows, COUNT_OF(rows), report, &o, argc, argv);
}

const struct verb verb_report = {
    .name = "report",
    .summary = "show a stored run, or write it for CI, dashboards and flame graphs",
    .usage = "[RUN] [--junit FILE] [--md FILE] ...",
    .details = "RUN is an id, the start of a uuid or commit, a branch (its newest run), latest "
               "(default),\n"
               "latest~N or baseline.  `twinstack db list` shows what there is.\n"
               "Appends the Markdown to $GITHUB_STEP_SUMMARY when that is set.\n\n"
               "examples:\n"
               "  twinstack report\n"
               "  twinstack report 12 --details\n"
               "  twinstack report --junit build/junit.xml --md - --badge build/badge.json",
    .exits = "  0  no case fails\n  1  a case fails, the run is not complete, or its known "
             "mismatches are out\n     of date\n  2  usage\n"
             "  3  a case is an ERROR, or there is no such run\n  4  database not usable",
    .run = run,
};
