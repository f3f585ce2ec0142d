/* twinstack run: launch, capture both ways, analyse, judge, store, report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "conduct/run_facts.h"
#include "conduct/run_session.h"
#include "report/report.h"
#include "study/ratio.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/harness.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

/* What the command line asks for. */
struct run_options {
    struct harness harness;
    const char *expr, *keep, *db, *shard, *out, *source_root, *known, *resume, *cache;
    struct option_list symbols, variants;
    struct fetch_words fetch_words;
    struct fetch_options fetch;
    uint64_t jobs, repeat, timeout_ms, seed;
    bool as_json, exit_zero, no_judges;
};

/* One run, its options, and what the progress line needs. */
struct command {
    struct run_options o;
    struct run_request request;
    struct run_session session;
    struct arena *keep;
    uint64_t since_ns;
    uint32_t all, had, captured, judged, failing; /* cases so far; had: before it was resumed */
};

/* A fault of the store exits with the code of the database, whatever its kind. */
static int fault_exit(const struct run_session *s)
{
    if (!s->database_failed)
        return verb_fault(&s->fault);
    log_fault(&s->fault);
    return s->fault.code == ERR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_DATABASE;
}

/* ---- progress ----------------------------------------------------------------------- */

/* "about 3 min left", from the time that the first DONE took. */
static const char *time_left(uint64_t since_ns, uint32_t done, uint32_t all, char out[32])
{
    const uint64_t left_s =
        done == 0 ? 0 : (clock_ns() - since_ns) / done * (all - done) / 1000000000U;

    if (done == 0 || done >= all)
        out[0] = '\0';
    else if (left_s < 100)
        (void)snprintf(out, 32, ", %" PRIu64 " s left", left_s);
    else
        (void)snprintf(out, 32, ", %" PRIu64 " min left", (left_s + 59) / 60);
    return out;
}

/* "judged 12/480 (2 %), captured 14, 1 failing, 5 min left  null_write.ob2" */
static void show(struct command *c, const char *scenario, const char *variant)
{
    const uint32_t done = c->judged - c->had, all = c->all - c->had;
    char left[32], failing[32] = "";

    if (c->failing > 0)
        (void)snprintf(failing, sizeof failing, ", %" PRIu32 " failing", c->failing);
    log_progress_of(c->judged, c->all,
                    "judged %" PRIu32 "/%" PRIu32 " (%" PRIu32 " %%), captured %" PRIu32
                    "%s%s  %s.%s",
                    c->judged, c->all, c->all > 0 ? c->judged * 100 / c->all : 0, c->captured,
                    failing, time_left(c->since_ns, done, all, left), scenario, variant);
}

static void show_capture(void *context, const struct collected *done, uint32_t taken,
                         uint32_t to_take)
{
    struct command *c = context;

    c->had = c->session.stored_count;
    c->all = to_take + c->had;
    c->captured = taken + c->had;
    if (c->judged < c->had)
        c->judged = c->had;
    show(c, done->scenario->name, done->scenario->variant);
    if (done->outcome == COLLECT_ERROR || done->outcome == COLLECT_TIME_LIMIT)
        log_warn("scenario=%s variant=%s %s", done->scenario->name, done->scenario->variant,
                 done->why);
}

/* A failing case is reported at once. */
static void show_judged(void *context, const struct run_case *done, uint32_t number, uint32_t count)
{
    struct command *c = context;

    c->judged = number;
    c->all = count;
    if (run_verdict_fails(done->result.verdict)) {
        c->failing++;
        log_progress_news("%s %s.%s: %s", verdict_name(done->result.verdict), done->scenario,
                          done->variant, done->result.reason != NULL ? done->result.reason : "");
    }
    show(c, done->scenario, done->variant);
}

/* ---- the report --------------------------------------------------------------------- */

/* What printed commands must name; NULL: they find the database by themselves. */
static const char *own_database(const struct command *c)
{
    return strcmp(c->o.db, STORED_DATABASE) != 0 ? c->o.db : NULL;
}

static enum status print_report(struct command *c)
{
    struct run_figures report;
    struct run_session *s = &c->session;
    struct report_style style = terminal_style();
    struct arena scratch;

    style.db = own_database(c);
    arena_init(&scratch, 0);
    if (figures_prepare(&s->info, s->cases, s->case_count, s->keep, &report, &s->fault) ==
        ERR_NONE) {
        ratio_make(&report, s->store, s->keep);
        (void)(c->o.as_json
                   ? report_json(&(struct report_job){.report = &report}, stdout, &s->fault)
                   : report_text(&report, &style, &scratch, stdout, &s->fault));
        stored_append_summary(&report, &scratch);
    }
    arena_free(&scratch);
    return s->fault.code;
}

static int exit_code_of(const struct command *c)
{
    const struct run_session *s = &c->session;
    bool failed = false, error = false;

    for (uint32_t i = 0; i < s->case_count; i++) {
        error = error || s->cases[i].result.verdict == VERDICT_ERROR;
        failed = failed || run_verdict_fails(s->cases[i].result.verdict);
    }
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    if (c->o.exit_zero)
        return EXIT_GOOD;
    if (s->time_limit)
        return EXIT_TIME_LIMIT;
    if (error)
        return EXIT_INPUT;
    return failed || s->known.problem_count > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int run_in_store(struct command *c, int argc, char *const *argv)
{
    struct run_session *s = &c->session;
    struct diff_fact changed = {.name = NULL};

    c->since_ns = clock_ns();
    const enum status status = run_session_run(s, argc, argv, &changed);
    log_progress_end();
    if (changed.name != NULL)
        log_error("run %" PRIu64 " began with %s %s, here it is %s", s->info.id, changed.name,
                  changed.a != NULL ? changed.a : "(unknown)",
                  changed.b != NULL ? changed.b : "(unknown)");
    if (status != ERR_NONE)
        return fault_exit(s);
    if (s->info.commit == NULL)
        log_warn("the commit is unknown: git knows none here, and GITHUB_SHA is not set (in a "
                 "container, `git config --global --add safe.directory '*'` helps)");
    stored_log_problems(&s->known);
    if (s->case_count > 0 && print_report(c) != ERR_NONE)
        return verb_fault(&s->fault);
    if (s->info.state == RUN_INTERRUPTED)
        log_warn("interrupted: %" PRIu32 " of %" PRIu32 " cases are judged; `twinstack run "
                 "--resume %" PRIu64 "%s%s` goes on",
                 s->case_count, s->scenario_count * s->request->repeat, s->info.id,
                 own_database(c) != NULL ? " --db " : "",
                 own_database(c) != NULL ? own_database(c) : "");
    else
        run_session_drop_passed(s);
    return exit_code_of(c);
}

static int check_options(const struct verb *self, const struct run_options *o, struct arena *keep,
                         struct run_request *request)
{
    struct run_selection selection = {.known = true, .expr = o->expr};
    struct fault fault = FAULT_INIT;

    for (uint32_t i = 0; i < o->variants.count; i++)
        if (!run_selection_add_variants(o->variants.items[i], keep, &selection)) {
            (void)fault_no_memory(&fault, "selection of a run");
            return verb_fault(&fault);
        }
    if (o->shard != NULL && !run_selection_parse_shard(o->shard, &selection))
        return verb_usage_error(self, "--shard is I/N with I from 1 to N, not '%s'", o->shard);
    if (o->repeat == 0 || o->repeat > 1000 || o->jobs > 64)
        return verb_usage_error(self, "--repeat is 1 to 1000, -j at most 64");
    if (o->keep != NULL && strcmp(o->keep, "all") != 0 && strcmp(o->keep, "failed") != 0)
        return verb_usage_error(self, "--keep is all or failed, not '%s'", o->keep);
    *request =
        (struct run_request){.selection = selection,
                             .repeat = (uint32_t)o->repeat,
                             .seed = o->seed,
                             .db = o->db,
                             .out = o->out,
                             .known = o->known,
                             .fetch = &o->fetch,
                             .symbols = o->symbols.items,
                             .symbol_count = o->symbols.count,
                             .cache = o->cache,
                             .resume = o->resume,
                             .no_judges = o->no_judges,
                             .keep_failed_only = o->keep != NULL && strcmp(o->keep, "failed") == 0};
    return EXIT_GOOD;
}

/* What is missing is said before the first case fails for it, or is not run. */
static void warn_of_missing_files(const struct command *c)
{
    static const char anew[] = "build the victims again: `./run setup`";
    const char *folder = c->session.collect.victims_folder;
    const char *plugins = collect_lacking_plugins(folder, c->keep);
    const char *pdbs = collect_lacking_pdbs(folder, c->keep);
    const char *builds = c->o.variants.count == 0 ? run_facts_not_built(folder, c->keep) : NULL;
    if (plugins != NULL)
        log_warn("DLLs that victims load are missing: %s; %s", plugins, anew);
    if (pdbs != NULL)
        log_warn("functions of victims will have no names: %s; %s", pdbs, anew);
    if (builds != NULL)
        log_warn("builds without a program, which are not run: %s; %s", builds, anew);
}

/* The session holds the run to resume, if there is one. */
static int run_scenarios(const struct verb *self, struct command *c, int argc, char *const *argv)
{
    struct run_session *s = &c->session;
    struct run_options *o = &c->o;
    o->fetch = fetch_options_make(&o->fetch_words);
    const int code = check_options(self, o, c->keep, &c->request);

    if (code != EXIT_GOOD)
        return code;
    s->collect.source_root = o->source_root;
    s->collect.jobs = (uint32_t)o->jobs;
    s->collect.timeout_ms = o->timeout_ms;
    if (!harness_options(&o->harness, &s->collect))
        return verb_usage_error(self, "--launcher has too many words");
    if (harness_debugger(&o->harness, &s->fault) != ERR_NONE ||
        harness_writer(&o->harness, s->keep, &s->collect, &s->fault) != ERR_NONE)
        return verb_fault(&s->fault);
    if (run_session_choose(s) != ERR_NONE)
        return verb_fault(&s->fault);
    if (s->scenario_count == 0) {
        log_error("nothing matches; `twinstack list` shows what there is");
        return EXIT_NOTHING;
    }
    if (run_session_open(s) != ERR_NONE)
        return fault_exit(s);
    warn_of_missing_files(c);
    return run_in_store(c, argc, argv);
}

/* Fills O from the words of a command line; options that they do not mention keep their values. */
static bool take_words(const struct verb *self, struct run_options *o, int argc, char **argv,
                       struct arena *keep, int *code)
{
    const struct option_row rows[] = {
        OPTION_AS(ONLY, &o->expr, "see below"),
        OPTION(VARIANT, &o->variants),
        OPTION_AS(JOBS, &o->jobs, "default: one per processor"),
        {"--repeat", OPTION_UINT, &o->repeat, "N",
         "run each case N times; differing results are FLAKY"},
        OPTION_AS(TIMEOUT, &o->timeout_ms, "of a victim, in place of its own"),
        {"--shard", OPTION_STRING, &o->shard, "I/N", "run the I-th of N equal parts"},
        OPTION(DB, &o->db),
        OPTION_AS(OUT, &o->out, "default: runs/ beside the database"),
        {"--keep", OPTION_STRING, &o->keep, "all|failed", "which cases stay on disk (default all)"},
        OPTION_AS(SYMBOLS, &o->symbols, "beside those of the victims, e.g. a symbol share"),
        OPTION(CACHE, &o->cache),
        FETCH_OPTION_ROWS(o->fetch_words),
        {"--source-root", OPTION_STRING, &o->source_root, "DIR",
         "source paths in PDBs compare relative to it"},
        {"--seed", OPTION_UINT, &o->seed, "N", "shuffle the order by this seed (default: by name)"},
        {"--resume", OPTION_STRING, &o->resume, "RUN|last",
         "continue an interrupted run with its own options"},
        OPTION_AS(KNOWN, &o->known, "default known.txt, where there is one"),
        {"--no-judges", OPTION_FLAG, &o->no_judges, NULL,
         "do not run the judges that are Windows programs"},
        OPTION(PROGRESS, NULL),
        OPTION_AS(JSON, &o->as_json, "the report"),
        OPTION(EXIT_ZERO, &o->exit_zero),
        HARNESS_ROWS(o->harness),
        HARNESS_DEBUGGER_ROW(o->harness),
        HARNESS_WRITER_ROW(o->harness),
    };
    struct option_list rest;

    if (!options_parse(self, rows, COUNT_OF(rows), argc, argv, keep, &rest, code))
        return false;
    if (rest.count > 0)
        *code = verb_usage_error(self, "'%s' is too many; did you mean -k?", rest.items[0]);
    return rest.count == 0;
}

static void set_defaults(struct run_options *o)
{
    memset(o, 0, sizeof *o);
    o->repeat = 1;
    o->db = "build/twinstack.db";
    harness_init(&o->harness);
}

/* --resume: first the words of the old run, then those of this command line, which override them.
 */
static int resume(const struct verb *self, struct command *c, int argc, char **argv)
{
    struct run_options *o = &c->o;
    int then_count = 0, code = EXIT_GOOD;
    char **then = NULL;

    if (o->expr != NULL || o->variants.count > 0 || o->shard != NULL || o->repeat != 1 ||
        o->seed != 0 || o->out != NULL || o->known != NULL)
        return verb_usage_error(self, "--resume takes selection, --repeat, --seed, --out and "
                                      "--known from the run itself");
    if (!path_is_file(o->db)) {
        log_error("%s: there is no such database, and so no run to resume", o->db);
        return EXIT_DATABASE;
    }
    c->request = (struct run_request){.db = o->db, .resume = o->resume};
    if (run_session_open(&c->session) != ERR_NONE)
        return fault_exit(&c->session);
    if (run_session_find_resumed(&c->session, &then_count, &then) != ERR_NONE)
        return verb_fault(&c->session.fault);
    set_defaults(o);
    if (!take_words(self, o, then_count, then, c->keep, &code) ||
        !take_words(self, o, argc, argv, c->keep, &code))
        return code;
    return run_scenarios(self, c, argc, argv);
}

static int run(const struct verb *self, int argc, char **argv)
{
    static const struct fault none = FAULT_INIT;
    struct arena keep;
    struct command c;
    int code = EXIT_GOOD;

    memset(&c, 0, sizeof c);
    set_defaults(&c.o);
    arena_init(&keep, 0);
    c.keep = c.session.keep = &keep;
    c.session.request = &c.request;
    c.session.fault = none;
    c.session.progress = (struct run_progress){&c, show_capture, show_judged};
    if (take_words(self, &c.o, argc, argv, &keep, &code)) {
        process_catch_interrupts();
        code =
            c.o.resume != NULL ? resume(self, &c, argc, argv) : run_scenarios(self, &c, argc, argv);
    }
    stored_close(c.session.store);
    c.session.store = NULL;
    run_session_close(&c.session);
    arena_free(&keep);
    return code;
}

const struct verb verb_run = {
    .name = "run",
    .summary = "capture every crash both ways, judge, store and report",
    .usage = "[-k EXPR] [OPTION...]",
    .details =
        "EXPR is made of words, `and`, `or`, `not` and parentheses; a word matches when it is "
        "part\n"
        "of SCENARIO.VARIANT or is the scenario's kind (crash, hang, calm) or group (A1, unwind,\n"
        "...: see `list --help`).\n"
        "Every case is sealed in DIR/cases/SCENARIO.VARIANT and can be checked again anywhere.\n"
        "Ctrl-C marks the run interrupted; --resume adds the missing cases to the same "
        "run.\n"
        "In GitHub Actions the Markdown report is appended to the step summary.\n\n"
        "examples:\n"
        "  twinstack run\n"
        "  twinstack run -k 'hang or stack_overflow' --variant ob2 --repeat 5\n"
        "  twinstack run --resume last\n"
        "  twinstack run --shard 1/3 -j 4 --json > report.json",
    .exits = "  0    all as expected\n  1    a verdict failed\n  2    usage\n"
             "  3    a victim did not start or signal, or an engine could not read its case\n"
             "  4    the database is not usable\n  5    nothing selected\n"
             "  124  a victim could not be killed in time\n  130  interrupted",
    .run = run,
};
