/* twinstack report: a stored run as something to read, for people and for other programs. */
#include <string.h>

#include "base/array.h"
#include "report/badge.h"
#include "server/offline_file.h"
#include "verbs/common.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

/* The page is not written from the figures; the others are rows of report/report.h. */
static const struct report_format formats[] = {REPORT_FORMATS(REPORT_FORMAT){
    "--html", "this whole run, and the runs around it", false, false, NULL}};

enum {
    FORMATS = COUNT_OF(formats),
    OPTIONS_BEFORE = 9,
    OPTIONS_MAX = FORMATS + OPTIONS_BEFORE + 2
};

struct report_options {
    const char *db, *badge, *engine;
    const char *paths[FORMATS];
    bool details, exit_zero, as_text, cost;
    const char *full_dumps;
    struct option_list terms;
    uint64_t columns;
};

/* The input of a writer. */
struct work {
    struct report_job job;
    const struct report_format *format;
    struct store *store;
};

static enum status write_format(const void *context, FILE *out, struct fault *fault)
{
    const struct work *work = context;
    return work->format->write != NULL
               ? work->format->write(&work->job, out, fault)
               : dashboard_offline_page(work->store, work->job.report->run->id, out, fault);
}

static bool wants_file(const struct report_options *o)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (o->paths[i] != NULL)
            return true;
    return false;
}

/* True when WRITE is asked for. */
static bool wants(const struct report_options *o, report_fn *write)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (o->paths[i] != NULL && formats[i].write == write)
            return true;
    return false;
}

static bool prints_text(const struct report_options *o)
{
    return o->as_text || (!wants_file(o) && !o->cost);
}

static struct report_style style_of(const struct report_options *o)
{
    struct report_style style = terminal_style();
    style.details = o->details;
    style.db = strcmp(o->db, STORED_DATABASE) != 0 ? o->db : NULL;
    if (o->columns != 0)
        style.columns = (uint32_t)o->columns;
    return style;
}

static enum status print_cost(const struct report_options *o, const struct run_figures *report,
                              const struct cost_question *asked, struct arena *keep,
                              struct fault *fault)
{
    const struct report_style style = style_of(o);
    struct costs costs;
    cost_make(report, asked->full, &costs);
    return report_cost(&costs, &asked->terms, &style, keep, stdout, fault);
}

static enum status write_all(const struct report_options *o, struct store *store,
                             const struct run_figures *report, const struct cost_question *cost,
                             struct arena *keep, struct fault *fault)
{
    for (size_t i = 0; i < FORMATS && fault->code == ERR_NONE; i++) {
        const struct work work = {{.report = report,
                                   .badge = o->badge,
                                   .engine = o->engine,
                                   .cost = cost,
                                   .scratch = keep},
                                  &formats[i],
                                  store};
        if (o->paths[i] != NULL)
            (void)stored_write(o->paths[i], write_format, &work, fault);
    }
    if (fault->code == ERR_NONE && prints_text(o)) {
        const struct report_style style = style_of(o);
        (void)report_text(report, &style, keep, stdout, fault);
    }
    if (fault->code == ERR_NONE && o->cost)
        (void)print_cost(o, report, cost, keep, fault);
    stored_append_summary(report, keep);
    return fault->code;
}

/* Every format takes one case after the other, or only cases that deviate, so that a run of any
 * size stays in the database. */
static enum status read_figures(const struct report_options *o, struct store *store,
                                const char *word, struct arena *keep, struct run_info *run,
                                struct run_figures *out, struct fault *fault)
{
    bool figures = stored_summary_path() != NULL || o->cost || prints_text(o);
    bool with_symbols = o->details;
    struct symbol_row *symbols = NULL;
    for (size_t i = 0; i < FORMATS; i++)
        if (o->paths[i] != NULL) {
            figures = figures || formats[i].figures;
            with_symbols = with_symbols || formats[i].symbols;
        }
    if ((figures ? figures_read(store, word, NULL, keep, run, out, fault)
                 : figures_read_head(store, word, keep, run, out, fault)) == ERR_NONE &&
        with_symbols &&
        store_read_symbols(store, run->id, keep, &symbols, &out->symbol_count, fault) == ERR_NONE)
        out->symbols = symbols;
    return fault->code;
}

/* "mbit_s=100": see study/cost.h. Returns the first that is none, or NULL. */
static const char *take_terms(const struct report_options *o, struct cost_terms *terms,
                              struct arena *keep)
{
    *terms = cost_terms_default;
    for (size_t i = 0; i < o->terms.count; i++) {
        const char *equals = strchr(o->terms.items[i], '=');
        const char *name =
            equals != NULL
                ? arena_printf(keep, "%.*s", (int)(equals - o->terms.items[i]), o->terms.items[i])
                : NULL;
        if (name == NULL || !cost_term_set(terms, name, equals + 1))
            return o->terms.items[i];
    }
    return NULL;
}

/* The run whose dumps have all memory, if one is named. */
static enum status read_full(const struct report_options *o, struct store *store,
                             struct arena *keep, struct cost_question *asked, struct fault *fault)
{
    struct run_info *run = ARENA_NEW(keep, struct run_info);
    struct run_figures *full = ARENA_NEW(keep, struct run_figures);
    if (o->full_dumps == NULL)
        return ERR_NONE;
    if (run == NULL || full == NULL)
        return fault_no_memory(fault, "figures of full dumps");
    asked->full = full;
    return figures_read(store, o->full_dumps, NULL, keep, run, full, fault);
}

static int report(const struct verb *self, void *given, const struct option_list *rest,
                  struct arena *keep)
{
    const struct report_options *o = given;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    struct run_info run;
    struct run_figures prepared;
    struct cost_question asked = {.full = NULL};
    int code = EXIT_GOOD;
    if (rest->count > 1)
        return verb_usage_error(self, "one run at a time: '%s'", rest->items[1]);
    if (o->columns != 0 && (o->columns < 60 || o->columns > 1000))
        return verb_usage_error(self, "--columns is 60 to 1000");
    if ((o->terms.count > 0 || o->full_dumps != NULL) && !o->cost && !wants(o, report_json))
        return verb_usage_error(self, "%s is about --cost and --json: give one of them",
                                o->terms.count > 0 ? "--term" : "--full-dumps");
    const char *no_term = take_terms(o, &asked.terms, keep);
    if (no_term != NULL)
        return verb_usage_error(self,
                                "--term '%s' is none of mbit_s=N, hours_kept=N, gb_month=PRICE, "
                                "core_hour=PRICE",
                                no_term);
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    store_begin_reading(store);
    const char *word = rest->count > 0 ? rest->items[0] : "latest";
    if (read_figures(o, store, word, keep, &run, &prepared, &fault) != ERR_NONE ||
        read_full(o, store, keep, &asked, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else if (write_all(o, store, &prepared, &asked, keep, &fault) != ERR_NONE)
        code = verb_fault(&fault);
    else
        code = o->exit_zero ? EXIT_GOOD : stored_verdicts_exit(&prepared);
    store_close(store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct report_options o = {.db = STORED_DATABASE, .badge = "verdict"};
    struct option_row rows[OPTIONS_MAX] = {
        OPTION(DB, &o.db),
        {"--text", OPTION_FLAG, &o.as_text, NULL,
         "print the readable report even when files are written"},
        OPTION_AS(DETAILS, &o.details, "every case and finding, hooks and times"),
        {"--columns", OPTION_UINT, &o.columns, "N",
         "width of the text (default: the terminal's, else 100)"},
        {"--badge-of", OPTION_STRING, &o.badge, "METRIC",
         &(BADGES(BADGE_COMMA_NAME) " (default: verdict)")[2]},
        {"--cost", OPTION_FLAG, &o.cost, NULL,
         "print what a million crashes cost: as dumps, and as offsets"},
        {"--term", OPTION_LIST, &o.terms, "NAME=N",
         "of --cost and --json: mbit_s, hours_kept, gb_month, core_hour"},
        {"--full-dumps", OPTION_STRING, &o.full_dumps, "RUN",
         "of --cost and --json: a run whose dumps have all memory"},
        OPTION_AS(ENGINE, &o.engine,
                  "for --folded and --speedscope; default: the first engine under test"),
    };
    size_t count = OPTIONS_BEFORE;
    for (size_t i = 0; i < FORMATS; i++) {
        const bool json = strcmp(formats[i].option, "--json") == 0;
        rows[count++] =
            (struct option_row){formats[i].option, json ? OPTION_FLAG_OR_FILE : OPTION_STRING,
                                &o.paths[i], json ? NULL : "FILE|-", formats[i].help};
    }
    rows[count++] = OPTION(EXIT_ZERO, &o.exit_zero);
    return verb_main(self, rows, count, report, &o, argc, argv);
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
               "  twinstack report --cost --term mbit_s=100\n"
               "  twinstack report --junit build/junit.xml --md - --badge build/badge.json",
    .exits = "  0  no case fails\n  1  a case fails, the run is not complete, or its known "
             "mismatches are out\n     of date\n  2  usage\n"
             "  3  a case is an ERROR, or there is no such run\n  4  database not usable",
    .run = run,
};
