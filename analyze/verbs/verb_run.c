/* twinstack run: launch, capture both ways, analyse, judge, store, report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "compare/compare.h"
#include "report/report.h"
#include "store/store.h"
#include "study/run_facts.h"
#include "symbol/store.h"
#include "verbs/run_parts.h"
#include "verbs/stored.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

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

/* Another order for every seed, the same for the same: what depends on what ran before shows. */
static void shuffle(struct scenario *scenarios, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count; seed != 0 && i > 1; i--) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        const uint32_t k = (uint32_t)((seed >> 33) % i);
        const struct scenario swap = scenarios[i - 1];
        scenarios[i - 1] = scenarios[k];
        scenarios[k] = swap;
    }
}

static enum status choose_scenarios(struct run_session *s, uint64_t shard, uint64_t shard_count)
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
    shuffle(s->scenarios, s->scenario_count, s->o->seed);
    return ERR_NONE;
}

/* Faults of the store are the database's, whatever their code. */
static int database_fault(const struct fault *fault)
{
    log_fault(fault);
    return fault->code == ERR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_DATABASE;
}

/* ---- analysis ----------------------------------------------------------------------- */

/* "about 3 min left", from what the first ones took. */
static const char *time_left(uint64_t since_ns, uint32_t done, uint32_t all, char out[32])
{
    const uint64_t left_s =
        done == 0 ? 0 : (clock_ns() - since_ns) / done * (all - done) / 1000000000U;

    if (done == 0 || done >= all)
        out[0] = '\0';
    else if (left_s < 100)
        (void)snprintf(out, 32, "  %" PRIu64 " s left", left_s);
    else
        (void)snprintf(out, 32, "  %" PRIu64 " min left", (left_s + 59) / 60);
    return out;
}

static bool skip_stored(const void *context, const struct scenario *scenario, uint32_t repeat)
{
    return run_has_case(context, scenario, repeat);
}

static void show_progress(void *context, const struct collected *done)
{
    struct run_session *s = context;
    char left[32];

    s->taken++;
    log_progress("captured %" PRIu32 "/%" PRIu32 "%s  %s.%s", s->taken, s->to_take,
                 time_left(s->taking_since_ns, s->taken, s->to_take, left), done->scenario->name,
                 done->scenario->variant);
    if (done->outcome == COLLECT_ERROR || done->outcome == COLLECT_TIME_LIMIT)
        log_warn("scenario=%s variant=%s %s", done->scenario->name, done->scenario->variant,
                 done->why);
}

/* A scenario that left no case: unsupported here, or the harness failed. */
static enum status judge_without_case(struct run_session *s, const struct collected *done,
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

static enum status judge_case(struct run_session *s, const struct analysis *analysis,
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

static enum status judge_all(struct run_session *s, const struct analysis *analysis)
{
    const uint32_t total = s->scenario_count * (uint32_t)s->o->repeat;
    const uint64_t since_ns = clock_ns();
    char left[32];

    for (uint32_t i = 0; i < total && s->fault.code == ERR_NONE && !process_interrupted(); i++) {
        const struct collected *done = &s->collected[i];
        struct run_case *out = &s->cases[s->case_count];
        if (done->outcome == COLLECT_INTERRUPTED || done->outcome == COLLECT_SKIPPED)
            continue;
        log_progress("analysing %" PRIu32 "/%" PRIu32 "%s  %s.%s", i + 1, total,
                     time_left(since_ns, i, total, left), done->scenario->name,
                     done->scenario->variant);
        s->time_limit = s->time_limit || done->outcome == COLLECT_TIME_LIMIT;
        if ((done->outcome == COLLECT_SEALED ? judge_case(s, analysis, done, out)
                                             : judge_without_case(s, done, out)) != ERR_NONE)
            break;
        if (process_interrupted())
            break; /* an engine may have been cut short: the case is judged when the run goes on */
        out->repeat = done->repeat;
        if (store_put_case(s->store, s->info.id, out, &s->fault) != ERR_NONE) {
            s->database_failed = true;
            break;
        }
        s->case_count++;
    }
    log_progress_end();
    return s->fault.code;
}

/* Judges run beside us: under Wine in a warmed-up prefix.  Without one they are skipped. */
static enum status analyse(struct run_session *s)
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
static bool is_flaky(const struct run_session *s, const struct run_case *c,
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

static enum status mark_flaky(struct run_session *s, struct store *store)
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
        if (store != NULL && store_set_verdict(store, c->id, VERDICT_FLAKY, c->result.reason, NULL,
                                               &s->fault) != ERR_NONE)
            return s->fault.code;
    }
    return ERR_NONE;
}

static void drop_passed(struct run_session *s)
{
    struct fault ignored = FAULT_INIT;

    for (uint32_t i = 0; i < s->case_count; i++)
        if (s->o->keep != NULL && strcmp(s->o->keep, "failed") == 0 && s->cases[i].folder != NULL &&
            !run_verdict_fails(s->cases[i].result.verdict))
            (void)path_remove(s->cases[i].folder, &ignored);
}

static void append_step_summary(const struct run_figures *report, struct arena *scratch)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    FILE *out = path != NULL && path[0] != '\0' ? fopen(path, "ab") : NULL;
    struct fault ignored = FAULT_INIT;

    if (out == NULL)
        return;
    (void)report_markdown(report, 0, scratch, out, &ignored);
    (void)fclose(out);
}

static enum status print_report(struct run_session *s)
{
    struct run_figures report;
    const struct report_style style = terminal_style();
    struct arena scratch;

    arena_init(&scratch, 0);
    if (figures_prepare(&s->info, s->cases, s->case_count, s->keep, &report, &s->fault) ==
        ERR_NONE) {
        (void)(s->o->as_json ? report_json(&report, stdout, &s->fault)
                             : report_text(&report, &style, &scratch, stdout, &s->fault));
        append_step_summary(&report, &scratch);
    }
    arena_free(&scratch);
    return s->fault.code;
}

static int exit_code_of(const struct run_session *s)
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
    return error ? EXIT_INPUT : failed || s->known.problem_count > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int finish(struct run_session *s)
{
    const enum run_state state = process_interrupted() ? RUN_INTERRUPTED : RUN_COMPLETE;
    /* What repeats and acceptances make of verdicts is final only when all cases are there. */
    struct store *store = state == RUN_COMPLETE ? s->store : NULL;
    const bool whole = state == RUN_COMPLETE && s->o->expr == NULL && s->o->variants == NULL &&
                       s->o->shard == NULL;

    if (mark_flaky(s, store) != ERR_NONE ||
        acceptance_apply(&s->known, store, s->cases, s->case_count, whole, s->keep, &s->fault) !=
            ERR_NONE)
        return database_fault(&s->fault);
    stored_log_problems(&s->known);
    s->info.state = state;
    s->info.finished_ns = clock_wall_ns();
    s->info.case_count = s->case_count;
    memset(s->info.verdicts, 0, sizeof s->info.verdicts);
    for (uint32_t i = 0; i < s->case_count; i++)
        s->info.verdicts[s->cases[i].result.verdict]++;
    if (store_finish_run(s->store, s->info.id, state, s->info.finished_ns, &s->fault) != ERR_NONE)
        return database_fault(&s->fault);
    if (s->case_count > 0 && print_report(s) != ERR_NONE)
        return verb_fault(&s->fault);
    if (state == RUN_INTERRUPTED)
        log_warn("interrupted: %" PRIu32 " of %" PRIu32 " cases are judged; `twinstack run "
                 "--resume %" PRIu64 "` goes on",
                 s->case_count, s->scenario_count * (uint32_t)s->o->repeat, s->info.id);
    else
        drop_passed(s);
    return exit_code_of(s);
}

static int take_and_judge(struct run_session *s)
{
    s->collect.skip = skip_stored;
    s->collect.skip_context = s;
    s->collect.reuse_sealed = s->o->resume != NULL;
    s->to_take = s->scenario_count * (uint32_t)s->o->repeat - s->stored_count;
    s->taking_since_ns = clock_ns();
    s->case_count = s->stored_count;
    if (collect_run(&s->collect, s->scenarios, s->scenario_count, (uint32_t)s->o->repeat, s->keep,
                    show_progress, s, &s->collected, &s->fault) == ERR_INTERRUPTED)
        fault_clear(&s->fault); /* what was sealed until then waits for --resume */
    log_progress_end();
    if (s->fault.code != ERR_NONE)
        return verb_fault(&s->fault);
    const enum status status = process_interrupted() ? ERR_NONE : analyse(s);
    symbol_store_close(s->symbols);
    if (status != ERR_NONE && status != ERR_INTERRUPTED)
        return s->database_failed ? database_fault(&s->fault) : verb_fault(&s->fault);
    fault_clear(&s->fault);
    return finish(s);
}

/* Room for all cases, and what stands around them: a new run, or one that goes on. */
static enum status begin(struct run_session *s, const struct run_info *now)
{
    s->case_count = s->scenario_count * (uint32_t)s->o->repeat;
    s->cases = ARENA_ARRAY(s->keep, (size_t)s->case_count + 1, struct run_case);
    if (s->cases == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    if (s->o->resume != NULL)
        return run_take_up(s, now);
    s->info = *now;
    s->info.known_text = s->known.text;
    if (run_choose_folder(s) != ERR_NONE)
        return s->fault.code;
    s->database_failed = store_begin_run(s->store, &s->info, s->keep, &s->fault) != ERR_NONE;
    return s->fault.code;
}

static int run_in_store(struct run_session *s, int argc, char *const *argv)
{
    struct run_info now;

    if (run_facts(&s->collect, "run", argc, argv, s->keep, &now, &s->fault) != ERR_NONE)
        return verb_fault(&s->fault);
    if ((s->o->resume != NULL
             ? acceptance_parse(s->info.known_text, s->keep, &s->known, &s->fault)
             : acceptance_read(s->o->known, s->keep, &s->known, &s->fault)) != ERR_NONE)
        return verb_fault(&s->fault);
    s->collect.tools = now.tools;
    s->collect.tool_count = now.tool_count;
    if (begin(s, &now) != ERR_NONE)
        return s->database_failed ? database_fault(&s->fault) : verb_fault(&s->fault);
    s->info.state = RUN_RUNNING;
    const int code = take_and_judge(s);
    if (s->info.state == RUN_RUNNING) { /* it broke off: never mistaken for complete */
        struct fault ignored = FAULT_INIT;
        (void)store_finish_run(s->store, s->info.id, RUN_INTERRUPTED, clock_wall_ns(), &ignored);
    }
    return code;
}

static bool open_store(struct run_session *s)
{
    return s->store != NULL ||
           (folder_make(run_parent_of(s->o->db, s->keep), &s->fault) == ERR_NONE &&
            store_open(s->o->db, STORE_WRITE, &s->store, &s->fault) == ERR_NONE &&
            store_end_dead_runs(s->store, &s->fault) == ERR_NONE);
}

static int check_options(const struct verb *self, const struct run_options *o, uint64_t *shard,
                         uint64_t *shard_count)
{
    if (!parse_shard(o->shard, shard, shard_count))
        return verb_usage_error(self, "--shard is I/N with I from 1 to N, not '%s'", o->shard);
    if (o->repeat == 0 || o->repeat > 1000 || o->jobs > 64)
        return verb_usage_error(self, "--repeat is 1 to 1000, -j at most 64");
    if (o->keep != NULL && strcmp(o->keep, "all") != 0 && strcmp(o->keep, "failed") != 0)
        return verb_usage_error(self, "--keep is all or failed, not '%s'", o->keep);
    return EXIT_GOOD;
}

/* The database is open; S holds the run to resume, if any. */
static int run_scenarios(const struct verb *self, struct run_session *s, struct run_options *o,
                         int argc, char *const *argv)
{
    uint64_t shard = 1, shard_count = 1;
    const int code = check_options(self, o, &shard, &shard_count);

    if (code != EXIT_GOOD)
        return code;
    s->collect.source_root = o->source_root;
    s->collect.jobs = (uint32_t)o->jobs;
    s->collect.timeout_ms = o->timeout_ms;
    if (!harness_options(&o->harness, &s->collect))
        return verb_usage_error(self, "--launcher has too many words");
    if (choose_scenarios(s, shard, shard_count) != ERR_NONE)
        return verb_fault(&s->fault);
    if (s->scenario_count == 0) {
        log_error("nothing matches; `twinstack list` shows what there is");
        return EXIT_NOTHING;
    }
    if (!open_store(s))
        return database_fault(&s->fault);
    return run_in_store(s, argc, argv);
}

/* Fills O from words; what O holds already stands where they say nothing. */
static bool take_words(const struct verb *self, struct run_options *o, int argc, char **argv,
                       struct arena *keep, int *code)
{
    const struct option_row rows[] = {
        {"-k", OPTION_STRING, &o->expr, "EXPR", "only scenarios that match"},
        {"--variant", OPTION_STRING, &o->variants, "LIST", "only these variants: ob0,ob2"},
        {"-j", OPTION_UINT, &o->jobs, "N", "so many at a time (default: one a processor)"},
        {"--repeat", OPTION_UINT, &o->repeat, "N", "each so often; disagreement is FLAKY"},
        {"--timeout", OPTION_DURATION_MS, &o->timeout_ms, "TIME",
         "limit of one victim, e.g. 20s, in place of its own"},
        {"--shard", OPTION_STRING, &o->shard, "I/N", "the I-th of N equal parts"},
        {"--db", OPTION_STRING, &o->db, "FILE", "database (default build/twinstack.db)"},
        {"--out", OPTION_STRING, &o->out, "DIR",
         "cases go here (default: runs/ beside the database)"},
        {"--keep", OPTION_STRING, &o->keep, "all|failed", "which cases stay on disk (default all)"},
        {"--symbols", OPTION_LIST, &o->symbols, "DIR|FILE", "more symbols, e.g. a symbol share"},
        {"--source-root", OPTION_STRING, &o->source_root, "DIR",
         "source paths in PDBs compare relative to it"},
        {"--seed", OPTION_UINT, &o->seed, "N", "another order for each N (default: by name)"},
        {"--resume", OPTION_STRING, &o->resume, "RUN|last",
         "go on with a run that was interrupted, by its own options"},
        {"--known", OPTION_STRING, &o->known, "FILE",
         "known mismatches (default known.txt, where there is one)"},
        {"--no-judges", OPTION_FLAG, &o->no_judges, NULL,
         "do not ask Windows programs for a second opinion"},
        {"--json", OPTION_FLAG, &o->as_json, NULL, "the report as one JSON document"},
        {"--exit-zero", OPTION_FLAG, &o->exit_zero, NULL, "verdicts do not decide the exit code"},
        HARNESS_ROWS(o->harness),
    };
    struct option_list rest;

    if (!options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, keep, &rest, code))
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

/* --resume: the words of the run itself, and over them those that were given now. */
static int resume(const struct verb *self, struct run_session *s, struct run_options *o, int argc,
                  char **argv)
{
    int then_count = 0, code = EXIT_GOOD;
    char **then = NULL;

    if (o->expr != NULL || o->variants != NULL || o->shard != NULL || o->repeat != 1 ||
        o->seed != 0 || o->out != NULL || o->known != NULL)
        return verb_usage_error(self, "--resume takes selection, --repeat, --seed, --out and "
                                      "--known from the run itself");
    if (!path_is_file(o->db)) {
        log_error("%s: there is no such database, and so no run to resume", o->db);
        return EXIT_DATABASE;
    }
    if (!open_store(s))
        return database_fault(&s->fault);
    if (run_find_resumed(s, &then_count, &then) != ERR_NONE)
        return verb_fault(&s->fault);
    set_defaults(o);
    if (!take_words(self, o, then_count, then, s->keep, &code) ||
        !take_words(self, o, argc, argv, s->keep, &code))
        return code;
    return run_scenarios(self, s, o, argc, argv);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct run_options o;
    struct arena keep;
    static const struct fault none = FAULT_INIT;
    struct run_session s;
    int code = EXIT_GOOD;

    set_defaults(&o);
    arena_init(&keep, 0);
    memset(&s, 0, sizeof s);
    s.o = &o;
    s.keep = &keep;
    s.fault = none;
    if (take_words(self, &o, argc, argv, &keep, &code)) {
        process_catch_interrupts();
        code = o.resume != NULL ? resume(self, &s, &o, argc, argv)
                                : run_scenarios(self, &s, &o, argc, argv);
    }
    store_close(s.store);
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
        "of SCENARIO.VARIANT or is the scenario's kind (crash, hang, calm) or group (A1, unwind,\n"
        "...: see `list --help`).\n"
        "Every case is sealed in DIR/cases/SCENARIO.VARIANT and can be checked again anywhere.\n"
        "Ctrl-C marks the run interrupted; --resume takes only what is missing, into the same "
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
             "  124  a victim could not be ended in time\n  130  interrupted",
    .run = run,
};
