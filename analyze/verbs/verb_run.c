/* twinstack run: launch, capture both ways, analyse, judge, store, report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "compare/compare.h"
#include "report/report.h"
#include "store/store.h"
#include "verbs/acceptance.h"
#include "verbs/analysis.h"
#include "verbs/harness.h"
#include "verbs/run_facts.h"
#include "verbs/verbs.h"

enum { RUN_FOLDERS_KEPT = 10 };

struct run_options {
    struct harness harness;
    const char *expr, *variants, *keep, *db, *shard, *out, *source_root, *known;
    struct option_list symbols;
    uint64_t jobs, repeat, timeout_ms;
    bool as_json, exit_zero, no_judges;
};

struct session {
    const struct run_options *o;
    struct arena *keep;
    struct collect_options collect;
    struct scenario *scenarios; /* the chosen ones */
    uint32_t scenario_count;
    struct collected *collected;
    struct run_case *cases;
    uint32_t case_count, done_count;
    struct run_info info;
    struct store *store;
    struct symbol_store *symbols;
    struct acceptance known;
    bool time_limit;      /* a victim could not be ended in time */
    bool database_failed; /* the standing fault is the store's   */
    struct fault fault;
};

/* "ob0,ob2" holds WORD. */
static bool list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (; list != NULL && *list != '\0'; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0)
            return true;
    return false;
}

/* "2/5": the second of five parts. */
static bool parse_shard(const char *text, uint64_t *index, uint64_t *count)
{
    const char *slash = text != NULL ? strchr(text, '/') : NULL;

    *index = *count = 1;
    if (text == NULL)
        return true;
    return slash != NULL && text_parse_uint(text, (size_t)(slash - text), index) &&
           text_parse_uint(slash + 1, strlen(slash + 1), count) && *index >= 1 && *index <= *count;
}

static enum status choose_scenarios(struct session *s, uint64_t shard, uint64_t shard_count)
{
    uint32_t all = 0, taken = 0;

    if (collect_list(&s->collect, s->keep, &s->scenarios, &all, &s->fault) != ERR_NONE)
        return s->fault.code;
    for (uint32_t i = 0; i < all; i++) {
        bool selected = false;
        if (collect_select(s->o->expr, &s->scenarios[i], &selected, &s->fault) != ERR_NONE)
            return s->fault.code;
        if (!selected ||
            (s->o->variants != NULL && !list_has(s->o->variants, s->scenarios[i].variant)))
            continue;
        if (taken++ % shard_count == shard - 1)
            s->scenarios[s->scenario_count++] = s->scenarios[i];
    }
    return ERR_NONE;
}

/* Faults of the store are the database's, whatever their code. */
static int database_fault(const struct fault *fault)
{
    log_fault(fault);
    return fault->code == ERR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_DATABASE;
}

/* ---- where the cases go ------------------------------------------------------------- */

static bool is_stamp(const char *name)
{
    return strlen(name) >= 16 && strspn(name, "0123456789") == 8 && name[8] == 'T';
}

/* Runs that nobody named: the newest few are kept, for regrading; their names sort by time. */
static void prune_runs(const char *folder, struct arena *keep)
{
    const char **names = NULL;
    size_t count = 0, stamped = 0;
    struct fault ignored = FAULT_INIT;

    if (folder_list(folder, keep, &names, &count, &ignored) != ERR_NONE)
        return;
    for (size_t i = 0; i < count; i++)
        stamped += is_stamp(names[i]);
    for (size_t i = 0; i < count && stamped >= RUN_FOLDERS_KEPT; i++) {
        const char *path = path_join(keep, folder, names[i]);
        if (!is_stamp(names[i]) || path == NULL)
            continue;
        (void)path_remove(path, &ignored);
        stamped--;
    }
}

static const char *parent_of(const char *path, struct arena *keep)
{
    const char *base = path_base(path);
    return base == path ? "." : arena_text(keep, path, (size_t)(base - path));
}

static enum status choose_folder(struct session *s)
{
    char stamp[32];
    const time_t now = (time_t)(clock_wall_ns() / 1000000000U);
    const char *runs = path_join(s->keep, parent_of(s->o->db, s->keep), "runs");
    const struct tm *utc = gmtime(&now);

    if (s->o->out != NULL) {
        s->collect.out_folder = s->o->out;
        return ERR_NONE;
    }
    if (runs == NULL || utc == NULL || strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", utc) == 0)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "folder of the run");
    prune_runs(runs, s->keep);
    const char *folder = path_join(s->keep, runs, stamp);
    for (unsigned i = 2; folder != NULL && path_is_folder(folder); i++)
        folder = arena_printf(s->keep, "%s/%s-%u", runs, stamp, i);
    s->collect.out_folder = folder;
    return folder != NULL ? ERR_NONE
                          : fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "folder of the run");
}

/* ---- analysis ----------------------------------------------------------------------- */

static void show_progress(void *context, const struct collected *done)
{
    struct session *s = context;

    s->done_count++;
    log_progress("captured %" PRIu32 "/%" PRIu32 "  %s.%s", s->done_count, s->case_count,
                 done->scenario->name, done->scenario->variant);
    if (done->outcome == COLLECT_ERROR || done->outcome == COLLECT_TIME_LIMIT)
        log_warn("scenario=%s variant=%s %s", done->scenario->name, done->scenario->variant,
                 done->why);
}

/* A scenario that left no case: unsupported here, or the harness failed. */
static enum status judge_without_case(struct session *s, const struct collected *done,
                                      struct run_case *out)
{
    const struct scenario *scenario = done->scenario;
    struct crash_case *stub = ARENA_NEW(s->keep, struct crash_case);
    struct compare_input in;

    if (stub == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "case");
    memset(&in, 0, sizeof in);
    memset(out, 0, sizeof *out);
    stub->scenario = out->scenario = scenario->name;
    stub->variant = out->variant = scenario->variant;
    stub->kind = out->kind = scenario->kind;
    stub->arch = out->arch = "x64";
    stub->expect.code = out->expected_code = scenario->code;
    stub->expect.exit_code = out->expected_exit_code = scenario->exit_code;
    stub->expect.doors = scenario->doors;
    stub->expect.door_count = scenario->door_count;
    in.crash = stub;
    in.unsupported = done->outcome == COLLECT_UNSUPPORTED ? done->why : NULL;
    in.harness_error = done->outcome == COLLECT_UNSUPPORTED ? NULL : done->why;
    return compare_case(&in, s->keep, &out->result, &s->fault);
}

static enum status judge_case(struct session *s, const struct analysis *analysis,
                              const struct collected *done, struct run_case *out)
{
    struct fault fault = FAULT_INIT;
    struct crash_case *crash = ARENA_NEW(s->keep, struct crash_case);
    char why[FAULT_PATH_BYTES + 512];

    if (crash == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "case");
    if (case_read(done->folder, s->keep, crash, &fault) == ERR_NONE &&
        analysis_case(analysis, crash, s->keep, out, &fault) == ERR_NONE)
        return ERR_NONE;
    if (fault.code == ERR_MEMORY) {
        s->fault = fault;
        return fault.code;
    }
    fault_describe(&fault, why, sizeof why);
    struct collected failed = *done;
    failed.outcome = COLLECT_ERROR;
    failed.why = arena_string(s->keep, why);
    return judge_without_case(s, &failed, out);
}

static enum status judge_all(struct session *s, const struct analysis *analysis)
{
    const uint32_t total = s->scenario_count * (uint32_t)s->o->repeat;

    for (uint32_t i = 0; i < total && s->fault.code == ERR_NONE; i++) {
        const struct collected *done = &s->collected[i];
        struct run_case *out = &s->cases[s->case_count];
        if (done->outcome == COLLECT_INTERRUPTED)
            continue;
        log_progress("analysing %" PRIu32 "/%" PRIu32 "  %s.%s", i + 1, total, done->scenario->name,
                     done->scenario->variant);
        s->time_limit = s->time_limit || done->outcome == COLLECT_TIME_LIMIT;
        if ((done->outcome == COLLECT_SEALED ? judge_case(s, analysis, done, out)
                                             : judge_without_case(s, done, out)) != ERR_NONE)
            break;
        out->repeat = done->repeat;
        if (s->store != NULL && store_put_case(s->store, s->info.id, out, &s->fault) != ERR_NONE)
            break;
        s->case_count++;
    }
    log_progress_end();
    return s->fault.code;
}

/* Judges run beside us: under Wine in a warmed-up prefix.  Without one they are skipped. */
static enum status analyse(struct session *s)
{
    struct analysis analysis;
    struct collect_session *windows = NULL;
    struct symbol_store_options options;
    struct fault no_launcher = FAULT_INIT;
    const char *store = path_join(s->keep, s->collect.out_folder, "symbols");
    const char **roots = ARENA_ARRAY(s->keep, (size_t)s->o->symbols.count + 1, const char *);

    memset(&analysis, 0, sizeof analysis);
    memset(&options, 0, sizeof options);
    if (store == NULL || roots == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbols");
    if (folder_make(store, &s->fault) != ERR_NONE)
        return s->fault.code;
    roots[0] = store;
    for (uint32_t i = 0; i < s->o->symbols.count; i++)
        roots[i + 1] = s->o->symbols.items[i];
    options.roots = roots;
    options.root_count = s->o->symbols.count + 1;
    options.names = NAMES_SHORT;
    if (symbol_store_open(&options, &s->symbols, &s->fault) != ERR_NONE)
        return s->fault.code;
    analysis.symbols = s->symbols;
    analysis.subjects_only = false;
    if (!s->o->no_judges && !process_interrupted() &&
        collect_session_open(&s->collect, &windows, &no_launcher) == ERR_NONE) {
        analysis.launcher = collect_session_launcher(windows);
        analysis.judge_folder = s->collect.victims_folder;
    }
    (void)judge_all(s, &analysis);
    collect_session_close(windows);
    return s->fault.code;
}

/* ---- the run as a whole ------------------------------------------------------------- */

/* Both verdicts among the repeats of C, as they were before any was called FLAKY. */
static bool is_flaky(const struct session *s, const struct run_case *c,
                     const enum verdict *verdicts)
{
    bool passed = false, failed = false;

    for (uint32_t i = 0; i < s->case_count; i++) {
        if (strcmp(c->scenario, s->cases[i].scenario) != 0 ||
            strcmp(c->variant, s->cases[i].variant) != 0)
            continue;
        passed = passed || verdicts[i] == VERDICT_PASS;
        failed = failed || verdicts[i] == VERDICT_FAIL;
    }
    return passed && failed;
}

static enum status mark_flaky(struct session *s)
{
    enum verdict *verdicts = ARENA_ARRAY(s->keep, s->case_count, enum verdict);

    if (verdicts == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "verdicts");
    for (uint32_t i = 0; i < s->case_count; i++)
        verdicts[i] = s->cases[i].result.verdict;
    for (uint32_t i = 0; i < s->case_count && s->o->repeat > 1; i++) {
        struct run_case *c = &s->cases[i];
        if ((verdicts[i] != VERDICT_PASS && verdicts[i] != VERDICT_FAIL) ||
            !is_flaky(s, c, verdicts))
            continue;
        c->result.reason =
            arena_printf(s->keep, "%s in this repeat, not in all: %s", verdict_name(verdicts[i]),
                         c->result.reason != NULL ? c->result.reason : "");
        c->result.verdict = VERDICT_FLAKY;
        if (store_set_verdict(s->store, c->id, VERDICT_FLAKY, c->result.reason, NULL, &s->fault) !=
            ERR_NONE)
            return s->fault.code;
    }
    return ERR_NONE;
}

static void drop_passed(struct session *s)
{
    struct fault ignored = FAULT_INIT;

    for (uint32_t i = 0; i < s->case_count; i++)
        if (s->o->keep != NULL && strcmp(s->o->keep, "failed") == 0 && s->cases[i].folder != NULL &&
            !run_verdict_fails(s->cases[i].result.verdict))
            (void)path_remove(s->cases[i].folder, &ignored);
}

static void append_step_summary(const struct report_run *report, struct arena *scratch)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    FILE *out = path != NULL && path[0] != '\0' ? fopen(path, "ab") : NULL;
    struct fault ignored = FAULT_INIT;

    if (out == NULL)
        return;
    (void)report_markdown(report, 0, scratch, out, &ignored);
    (void)fclose(out);
}

static enum status print_report(struct session *s)
{
    struct report_run report;
    struct report_style style;
    struct arena scratch;

    memset(&style, 0, sizeof style);
    style.color = file_is_terminal(stdout) && getenv("NO_COLOR") == NULL;
    arena_init(&scratch, 0);
    if (report_prepare(&s->info, s->cases, s->case_count, s->keep, &report, &s->fault) ==
        ERR_NONE) {
        (void)(s->o->as_json ? report_json(&report, stdout, &s->fault)
                             : report_text(&report, &style, &scratch, stdout, &s->fault));
        append_step_summary(&report, &scratch);
    }
    arena_free(&scratch);
    return s->fault.code;
}

static int exit_code_of(const struct session *s)
{
    bool failed = false, error = false;

    for (uint32_t i = 0; i < s->case_count; i++) {
        error = error || s->cases[i].result.verdict == VERDICT_ERROR;
        failed = failed || run_verdict_fails(s->cases[i].result.verdict);
    }
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    if (s->o->exit_zero)
        return EXIT_GOOD;
    if (s->time_limit)
        return EXIT_TIME_LIMIT;
    return error ? EXIT_INPUT : failed || s->known.problems > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int finish(struct session *s)
{
    const enum run_state state = process_interrupted() ? RUN_INTERRUPTED : RUN_COMPLETE;

    if (mark_flaky(s) != ERR_NONE || acceptance_apply(&s->known, s->store, s->cases, s->case_count,
                                                      s->keep, &s->fault) != ERR_NONE)
        return database_fault(&s->fault);
    s->info.state = state;
    s->info.finished_ns = clock_wall_ns();
    s->info.case_count = s->case_count;
    for (uint32_t i = 0; i < s->case_count; i++)
        s->info.verdicts[s->cases[i].result.verdict]++;
    if (store_finish_run(s->store, s->info.id, state, s->info.finished_ns, &s->fault) != ERR_NONE)
        return database_fault(&s->fault);
    if (print_report(s) != ERR_NONE)
        return verb_fault(&s->fault);
    drop_passed(s);
    return exit_code_of(s);
}

static int take_and_judge(struct session *s)
{
    s->case_count = s->scenario_count * (uint32_t)s->o->repeat; /* for the progress line */
    s->cases = ARENA_ARRAY(s->keep, s->case_count, struct run_case);
    if (s->cases == NULL)
        fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    else if (collect_run(&s->collect, s->scenarios, s->scenario_count, (uint32_t)s->o->repeat,
                         s->keep, show_progress, s, &s->collected, &s->fault) == ERR_INTERRUPTED)
        fault_clear(&s->fault); /* what was sealed until then is judged and stored */
    log_progress_end();
    s->case_count = 0;
    if (s->fault.code != ERR_NONE)
        return verb_fault(&s->fault);
    const enum status status = analyse(s);
    symbol_store_close(s->symbols);
    if (status != ERR_NONE && status != ERR_INTERRUPTED)
        return s->database_failed ? database_fault(&s->fault) : verb_fault(&s->fault);
    fault_clear(&s->fault);
    return finish(s);
}

static int run_in_store(struct session *s, int argc, char *const *argv)
{
    if (run_facts(&s->collect, "run", argc, argv, s->keep, &s->info, &s->fault) != ERR_NONE)
        return verb_fault(&s->fault);
    if (acceptance_read(s->o->known, s->keep, &s->known, &s->fault) != ERR_NONE)
        return verb_fault(&s->fault);
    s->info.known_text = s->known.text;
    s->collect.tools = s->info.tools;
    s->collect.tool_count = s->info.tool_count;
    if (store_begin_run(s->store, &s->info, s->keep, &s->fault) != ERR_NONE)
        return database_fault(&s->fault);
    const int code = take_and_judge(s);
    if (s->info.state == RUN_RUNNING) { /* it broke off: never mistaken for complete */
        struct fault ignored = FAULT_INIT;
        (void)store_finish_run(s->store, s->info.id, RUN_INTERRUPTED, clock_wall_ns(), &ignored);
    }
    return code;
}

static int run_scenarios(const struct verb *self, struct run_options *o, struct arena *keep,
                         int argc, char *const *argv)
{
    uint64_t shard = 1, shard_count = 1;
    struct fault fault = FAULT_INIT;
    struct session s;

    memset(&s, 0, sizeof s);
    s.o = o;
    s.keep = keep;
    s.fault = fault;
    s.collect.source_root = o->source_root;
    s.collect.jobs = (uint32_t)o->jobs;
    s.collect.timeout_ms = o->timeout_ms;
    if (!harness_options(&o->harness, &s.collect))
        return verb_usage_error(self, "--launcher has too many words");
    if (!parse_shard(o->shard, &shard, &shard_count))
        return verb_usage_error(self, "--shard is I/N with I from 1 to N, not '%s'", o->shard);
    if (o->repeat == 0 || o->repeat > 1000 || o->jobs > 64)
        return verb_usage_error(self, "--repeat is 1 to 1000, -j at most 64");
    if (o->keep != NULL && strcmp(o->keep, "all") != 0 && strcmp(o->keep, "failed") != 0)
        return verb_usage_error(self, "--keep is all or failed, not '%s'", o->keep);
    if (choose_scenarios(&s, shard, shard_count) != ERR_NONE || choose_folder(&s) != ERR_NONE)
        return verb_fault(&s.fault);
    if (s.scenario_count == 0) {
        log_error("nothing matches; `twinstack list` shows what there is");
        return EXIT_NOTHING;
    }
    if (folder_make(parent_of(o->db, keep), &s.fault) != ERR_NONE ||
        store_open(o->db, STORE_WRITE, &s.store, &s.fault) != ERR_NONE)
        return database_fault(&s.fault);
    const int code = run_in_store(&s, argc, argv);
    store_close(s.store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct run_options o;
    const struct option_row rows[] = {
        {"-k", OPTION_STRING, &o.expr, "EXPR", "only scenarios that match"},
        {"--variant", OPTION_STRING, &o.variants, "LIST", "only these variants: ob0,ob2"},
        {"-j", OPTION_UINT, &o.jobs, "N", "so many at a time (default: one a processor)"},
        {"--repeat", OPTION_UINT, &o.repeat, "N", "each so often; disagreement is FLAKY"},
        {"--timeout", OPTION_DURATION_MS, &o.timeout_ms, "TIME",
         "limit of one victim, e.g. 20s, in place of its own"},
        {"--shard", OPTION_STRING, &o.shard, "I/N", "the I-th of N equal parts"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default build/twinstack.db)"},
        {"--out", OPTION_STRING, &o.out, "DIR",
         "cases go here (default: runs/ beside the database)"},
        {"--keep", OPTION_STRING, &o.keep, "all|failed", "which cases stay on disk (default all)"},
        {"--symbols", OPTION_LIST, &o.symbols, "DIR|FILE", "more symbols, e.g. a symbol share"},
        {"--source-root", OPTION_STRING, &o.source_root, "DIR",
         "source paths in PDBs compare relative to it"},
        {"--known", OPTION_STRING, &o.known, "FILE",
         "known mismatches (default known.txt, where there is one)"},
        {"--no-judges", OPTION_FLAG, &o.no_judges, NULL,
         "do not ask Windows programs for a second opinion"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "the report as one JSON document"},
        {"--exit-zero", OPTION_FLAG, &o.exit_zero, NULL, "verdicts do not decide the exit code"},
        HARNESS_ROWS(o.harness),
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;

    memset(&o, 0, sizeof o);
    o.repeat = 1;
    o.db = "build/twinstack.db";
    harness_init(&o.harness);
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        process_catch_interrupts();
        code = rest.count > 0
                   ? verb_usage_error(self, "'%s' is too many; did you mean -k?", rest.items[0])
                   : run_scenarios(self, &o, &keep, argc, argv);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_run = {
    .name = "run",
    .summary = "takes every crash both ways, judges, stores and reports",
    .usage = "[-k EXPR] [OPTION...]",
    .details =
        "EXPR is made of words, `and`, `or`, `not` and parentheses; a word matches when it is "
        "part\n"
        "of SCENARIO.VARIANT or is the scenario's kind (crash, hang, calm) or group (A1, ...).\n"
        "Every case is sealed in DIR/cases/SCENARIO.VARIANT and can be checked again anywhere.\n"
        "In GitHub Actions the Markdown report is appended to the step summary.\n\n"
        "examples:\n"
        "  twinstack run\n"
        "  twinstack run -k 'hang or stack_overflow' --variant ob2 --repeat 5\n"
        "  twinstack run --shard 1/3 -j 4 --json > report.json",
    .exits = "  0    all as expected\n  1    a verdict failed\n  2    usage\n"
             "  3    a victim did not start or signal, or an engine could not read its case\n"
             "  4    the database is not usable\n  5    nothing selected\n"
             "  124  a victim could not be ended in time\n  130  interrupted",
    .run = run,
};
