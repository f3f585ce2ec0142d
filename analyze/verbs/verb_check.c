/* twinstack check: sealed cases, or two stacks given by hand; no database, no Windows.
 *
 * The way of a case: read_cases() opens it, open_judging() brings its symbols together and
 * open_judges() those who judge, judge_cases() lets every engine claim its stacks and compares
 * them, print_report() shows what `study` makes of them, and keep_run() stores them.
 *
 * This file knows no kind of anything: one more is a row elsewhere, and `check` has it. A judge
 * goes into engine/judges.h, a file that names code into symbol/source.h, a way to write a stack
 * into stacks/notation.h, a stream of dumps into format/minidump/streams.c, a cause of differences
 * into the rules of compare/cause.c. CONTRIBUTING.md has a recipe for each but the last. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "conduct/dump_faults.h"
#include "conduct/judging.h"
#include "conduct/run_facts.h"
#include "report/report.h"
#include "stacks/claims.h"
#include "study/run_keep.h"
#include "symbol/symbol_store.h"
#include "verbs/check_explain.h"
#include "verbs/check_reporter.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/harness.h"
#include "verbs/index_note.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

struct check_options {
    bool as_json, stacks, details;
    const char *truth, *level, *launcher, *explain;        /* explain: a number; NULL: none */
    const char *dumps, *pairs, *name, *junit, *html, *out; /* of --dumps; NULL: not given */
    struct option_list symbols;
    struct harness harness;
    struct fetch_words fetch;
    const char *cache, *db; /* db: NULL: nothing is stored */
    int argc;               /* the command line, stored with the run */
    char *const *argv;
};

struct check {
    const struct check_options *options;
    struct arena *keep;
    struct run_case *cases;
    uint32_t case_count;
    struct judging judging;
    struct dump_faults dump_faults;
    struct harness harness; /* its words, and COLLECT, must outlive the judges */
    struct collect_options collect;
    struct stack_input *inputs[2]; /* of --stacks: frames point into them */
    struct truth truth;            /* of --truth */
    bool has_truth;
    uint32_t explained; /* of --explain */
    int code;           /* the worst so far */
};

/* Which exit code wins when several things are wrong. */
static int worse(int a, int b)
{
    static const int order[] = {EXIT_INTERRUPTED, EXIT_DATABASE, EXIT_INPUT, EXIT_DIFFERENT};
    for (size_t i = 0; i < COUNT_OF(order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a != EXIT_GOOD ? a : b;
}

static void report_fault(struct check *c, const struct fault *fault)
{
    c->code = worse(c->code, verb_fault(fault));
}

/* --truth FILE: read as the truth of a case that holds nothing else. */
static enum status read_given_truth(struct check *c, struct fault *fault)
{
    struct case_file file;
    struct crash_case holder;
    const char *path = c->options->truth;

    if (path == NULL)
        return ERR_NONE;
    memset(&file, 0, sizeof file);
    memset(&holder, 0, sizeof holder);
    file.role = ROLE_TRUTH;
    file.path = path_base(path);
    holder.folder =
        path == file.path ? "." : arena_text(c->keep, path, (size_t)(file.path - path - 1));
    if (holder.folder != NULL && holder.folder[0] == '\0')
        holder.folder = "/";
    holder.files = &file;
    holder.file_count = 1;
    c->has_truth = truth_read(&holder, c->keep, &c->truth, fault) == ERR_NONE;
    case_close(&holder);
    return fault->code;
}

static bool set_level(struct check *c, uint32_t *ignored)
{
    const char *level = c->options->level;
    for (int i = 0; level != NULL && i <= LEVEL_LINE; i++) {
        if (strcmp(level, finding_level_name((enum finding_level)i)) == 0) {
            *ignored = (uint32_t)(LEVEL_LINE - i);
            return true;
        }
    }
    *ignored = 0;
    return level == NULL;
}

static bool set_explained(struct check *c)
{
    char *end = NULL;
    const char *word = c->options->explain;
    const uint64_t number = word != NULL ? strtoull(word, &end, 10) : 0;
    c->explained = (uint32_t)number;
    return word == NULL || (*word >= '0' && *word <= '9' && *end == '\0' && number <= UINT32_MAX);
}

static enum status open_judging(struct check *c, const struct crash_case *cases, uint32_t count,
                                struct fault *fault)
{
    const struct fetch_options fetch = fetch_options_make(&c->options->fetch);
    const struct judging_needs needs = {.symbols = c->options->symbols.items,
                                        .symbol_count = c->options->symbols.count,
                                        .cases = cases,
                                        .case_count = count,
                                        .cache = c->options->cache,
                                        .fetch = &fetch};
    return judging_open(&needs, c->keep, &c->judging, fault);
}

static enum status open_judges(struct check *c, struct fault *fault)
{
    if (harness_debugger(&c->options->harness, fault) != ERR_NONE || c->options->launcher == NULL)
        return fault->code;
    c->harness = c->options->harness;
    c->harness.launcher = c->options->launcher;
    if (!harness_options(&c->harness, &c->collect))
        return fault_set(fault, ERR_USAGE, FAULT_NO_OFFSET, "--launcher has too many words");
    return judging_open_windows(&c->judging, &c->collect, fault);
}

/* Reads the cases; those that cannot be read are reported and left out. */
static uint32_t read_cases(struct check *c, const struct option_list *words, struct crash_case *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < words->count; i++) {
        struct fault fault = FAULT_INIT;
        if (case_read(words->items[i], c->keep, &out[count], &fault) == ERR_NONE)
            count++;
        else
            report_fault(c, &fault);
    }
    return count;
}

static void judge_cases(struct check *c, const struct crash_case *cases, uint32_t count,
                        uint32_t levels_ignored)
{
    struct analysis analysis = c->judging.analysis;

    analysis.truth = c->has_truth ? &c->truth : NULL;
    analysis.levels_ignored = levels_ignored;
    analysis.dump_faults = c->options->as_json ? NULL : &c->dump_faults;
    for (uint32_t i = 0; i < count && !process_interrupted(); i++) {
        struct fault fault = FAULT_INIT;
        log_progress_of(i + 1, count, "judging %u/%u  %s.%s", i + 1, count, cases[i].scenario,
                        cases[i].variant);
        if (case_verify(&cases[i], &fault) == ERR_NONE &&
            analysis_case(&analysis, &cases[i], c->keep, &c->cases[c->case_count], &fault) ==
                ERR_NONE) {
            c->case_count++;
        } else {
            case_close(&cases[i]);
            fault_set_path(&fault, cases[i].folder);
            report_fault(c, &fault);
        }
    }
    log_progress_end();
    if (process_interrupted())
        c->code = EXIT_INTERRUPTED;
}

static void print_report(struct check *c)
{
    struct run_info info;
    struct run_figures report;
    struct report_style style = terminal_style();
    struct arena scratch;
    struct fault fault = FAULT_INIT;

    memset(&info, 0, sizeof info);
    info.state = RUN_COMPLETE;
    info.label = "check";
    info.case_count = c->case_count;
    for (uint32_t i = 0; i < c->case_count; i++) {
        const enum verdict verdict = c->cases[i].result.verdict;
        info.verdicts[verdict]++;
        if (verdict == VERDICT_ERROR)
            c->code = worse(c->code, EXIT_INPUT);
        else if (run_verdict_fails(verdict))
            c->code = worse(c->code, EXIT_DIFFERENT);
    }
    style.details = true;
    arena_init(&scratch, 0);
    if (figures_prepare(&info, c->cases, c->case_count, c->keep, &report, &fault) == ERR_NONE)
        (void)(c->options->as_json
                   ? report_json(&(struct report_job){.report = &report}, stdout, &fault)
                   : report_text(&report, &style, &scratch, stdout, &fault));
    if (fault.code != ERR_NONE)
        report_fault(c, &fault);
    arena_free(&scratch);
}

/* Says what a Windows debugger would make of the cases' dumps; it does not change the exit code. */
static void print_dump_faults(const struct dump_faults *found)
{
    if (found->count > 0)
        (void)puts("\nDUMPS THAT ARE WRONG BY THE FORMAT (`twinstack dump --lint "
                   "FILE` lists each fault)");
    for (uint32_t i = 0; i < found->count; i++) {
        const struct dump_fault_row *row = &found->rows[i];
        (void)printf("%s%s%s: %" PRIu32 " of %" PRIu32 " dumps; a Windows debugger: %s\n",
                     row->rule, row->stream != NULL ? " in " : "", text_or_empty(row->stream),
                     row->dump_count, found->dump_count, row->effect);
        (void)printf("  e.g. %s at 0x%" PRIx64 ": ", row->path, row->foff);
        check_put_clean(row->text);
        (void)putchar('\n');
    }
}

/* --db: the cases become a run, which `compare` and `gate` judge like any other. */
static void keep_run(struct check *c)
{
    struct run_info info;
    struct harness harness;
    struct collect_options options = {.victims_folder = NULL};
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    if (c->options->db == NULL || process_interrupted())
        return;
    if (!stored_open(c->options->db, STORE_WRITE, &store, &code)) {
        c->code = worse(c->code, code);
        return;
    }
    harness_init(&harness);
    (void)harness_options(&harness, &options);
    if (run_facts(&options, "check", c->options->argc, c->options->argv, c->keep, &info, &fault) !=
            ERR_NONE ||
        run_keep(store, &info, c->cases, c->case_count, c->keep, &fault) != ERR_NONE)
        c->code = worse(c->code, stored_fault(&fault, true));
    else
        (void)fprintf(stderr, "twinstack: stored as run %" PRIu64 " in %s\n", info.id,
                      c->options->db);
    stored_close(store);
}

static void check_cases(struct check *c, const struct option_list *words, uint32_t levels_ignored)
{
    struct fault fault = FAULT_INIT;
    struct crash_case *cases = ARENA_ARRAY(c->keep, words->count, struct crash_case);
    c->cases = ARENA_ARRAY(c->keep, words->count, struct run_case);

    if (cases == NULL || c->cases == NULL) {
        fault_no_memory(&fault, "cases");
        report_fault(c, &fault);
        return;
    }
    const uint32_t count = read_cases(c, words, cases);
    if (count == 0)
        return;
    if (open_judging(c, cases, count, &fault) != ERR_NONE || open_judges(c, &fault) != ERR_NONE) {
        report_fault(c, &fault);
        return;
    }
    judge_cases(c, cases, count, levels_ignored);
    if (c->case_count == 0 && !process_interrupted())
        return;
    print_report(c);
    if (c->options->explain != NULL)
        check_explain(c->cases, c->case_count, c->explained);
    keep_run(c);
    print_dump_faults(&c->dump_faults);
}

/* The next stack of a claim: as it is, if it has names, else resolved. */
static void add_stack(struct check *c, struct stack_item *item, struct engine_claim *out,
                      uint32_t *room, struct fault *fault)
{
    if (!ARENA_ROOM(c->keep, out->stacks, *room, (uint64_t)out->stack_count + 1)) {
        fault_no_memory(fault, "stacks");
        return;
    }
    stack_item_as_claim(item);
    if (item->named)
        out->stacks[out->stack_count] = item->stack;
    else
        (void)symbol_resolve_stack(c->judging.analysis.symbols, &item->stack, c->keep,
                                   &out->stacks[out->stack_count], fault);
    out->stacks[out->stack_count++].engine = out->engine;
}

/* The stacks of one file as a claim named after it. */
static enum status read_claim(struct check *c, const char *path, struct stack_input **input,
                              struct engine_claim *out, struct fault *fault)
{
    struct stack_item item;
    uint32_t room = 0;
    bool crashed_first = false;

    memset(out, 0, sizeof *out);
    out->engine = path_base(path);
    out->subject = true;
    if (stack_input_open_path(path, input, fault) != ERR_NONE)
        return fault->code;
    while (fault->code == ERR_NONE && stack_input_next(*input, c->keep, &item)) {
        if (item.fault.code != ERR_NONE)
            *fault = item.fault;
        else
            add_stack(c, &item, out, &room, fault);
        crashed_first = crashed_first || item.crashed_first;
    }
    if (crashed_first)
        stacks_order_claims(out->stacks, out->stack_count);
    if (fault->code == ERR_NONE && out->stack_count == 0)
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "stack", "the file holds none");
    fault_set_path(fault, path);
    return fault->code;
}

/* Two stacks given by hand must be equal: a difference counts whatever its cause. */
static void judge_equality(const struct check *c, uint32_t levels_ignored)
{
    struct case_result *result = &c->cases->result;

    for (uint32_t i = 0; i < result->finding_count && result->verdict == VERDICT_PASS; i++) {
        const struct finding *finding = &result->findings[i];
        if ((uint32_t)finding->level + levels_ignored > LEVEL_LINE)
            continue;
        result->verdict = VERDICT_FAIL;
        result->reason = arena_printf(c->keep, "the stacks differ: %s, %s",
                                      cause_name(finding->cause), finding->evidence);
    }
}

static void check_stacks(struct check *c, const struct option_list *words, uint32_t levels_ignored)
{
    struct fault fault = FAULT_INIT;

    c->cases = ARENA_NEW(c->keep, struct run_case);
    if (c->cases != NULL)
        c->cases->claims = ARENA_ARRAY(c->keep, 2, struct engine_claim);
    if (c->cases == NULL || c->cases->claims == NULL)
        fault_no_memory(&fault, "stacks");
    else if (open_judging(c, NULL, 0, &fault) == ERR_NONE &&
             read_claim(c, words->items[0], &c->inputs[0], &c->cases->claims[0], &fault) ==
                 ERR_NONE)
        (void)read_claim(c, words->items[1], &c->inputs[1], &c->cases->claims[1], &fault);
    if (fault.code == ERR_NONE) {
        struct analysis analysis = c->judging.analysis;
        analysis.truth = c->has_truth ? &c->truth : NULL;
        analysis.levels_ignored = levels_ignored;
        c->cases->scenario = path_base(words->items[0]);
        c->cases->variant = path_base(words->items[1]);
        c->cases->kind = CASE_KIND_STACKS;
        c->cases->claim_count = 2;
        c->case_count = 1;
        struct engine_claim *claims = c->cases->claims;
        if (strcmp(claims[0].engine, claims[1].engine) == 0)
            claims[1].engine = arena_printf(c->keep, "%s (again)", claims[1].engine);
        if (claims[1].engine == NULL)
            fault_no_memory(&fault, "stacks");
        else if (analysis_judge(&analysis, NULL, analysis.truth, c->keep, c->cases, &fault) ==
                 ERR_NONE)
            judge_equality(c, levels_ignored);
    }
    if (fault.code != ERR_NONE)
        report_fault(c, &fault);
    else
        print_report(c);
}

/* --dumps: a crash reporter. */
static void check_dumps(struct check *c, const char *stacks)
{
    const struct check_options *o = c->options;
    struct fault fault = FAULT_INIT;

    if (open_judging(c, NULL, 0, &fault) != ERR_NONE) {
        report_fault(c, &fault);
        return;
    }
    const struct check_reporter_options options = {
        .request = {o->dumps, stacks, o->pairs, o->name, c->judging.analysis.symbols},
        .junit = o->junit,
        .html = o->html,
        .db = o->db,
        .out = o->out,
        .argc = o->argc,
        .argv = o->argv,
        .as_json = o->as_json,
        .details = o->details};
    c->code = check_reporter(&options, c->keep);
}

/* What cannot be given together; EXIT_GOOD: nothing. */
static int check_words(const struct verb *self, const struct check_options *o, uint32_t words)
{
    const bool reporter = o->pairs != NULL || o->name != NULL || o->junit != NULL ||
                          o->html != NULL || o->out != NULL || o->details;

    if (o->dumps == NULL && reporter)
        return verb_usage_error(self, "--pairs, --name, --junit, --html, --out and "
                                      "--details need --dumps");
    if (o->explain != NULL && (o->stacks || o->as_json))
        return verb_usage_error(self, "--explain is for cases, as text");
    if (o->dumps != NULL && (!o->stacks || words != 1))
        return verb_usage_error(self, "--dumps DIR needs --stacks with one folder or file");
    if (o->dumps != NULL && (o->truth != NULL || o->level != NULL))
        return verb_usage_error(self, "--truth and --level are not for --dumps");
    if (o->dumps == NULL && o->stacks && words != 2)
        return verb_usage_error(self, "--stacks needs two stacks, not %u", words);
    if (o->dumps == NULL && o->stacks && o->db != NULL)
        return verb_usage_error(self, "--db stores cases, not two stacks");
    return words == 0 ? verb_usage_error(self, "no case was named") : EXIT_GOOD;
}

static int check(const struct verb *self, void *given, const struct option_list *words,
                 struct arena *keep)
{
    const struct check_options *options = given;
    process_catch_interrupts();
    struct check c;
    struct fault fault = FAULT_INIT;
    uint32_t levels_ignored = 0;

    memset(&c, 0, sizeof c);
    c.options = options;
    c.keep = keep;
    if (!set_level(&c, &levels_ignored))
        return verb_usage_error(self, "--level is physical, function or line, not '%s'",
                                options->level);
    if (!set_explained(&c))
        return verb_usage_error(self, "--explain takes the number of a frame, not '%s'",
                                options->explain);
    c.code = check_words(self, options, words->count);
    if (c.code != EXIT_GOOD)
        return c.code;
    if (read_given_truth(&c, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (options->dumps != NULL)
        check_dumps(&c, words->items[0]);
    else if (options->stacks)
        check_stacks(&c, words, levels_ignored);
    else
        check_cases(&c, words, levels_ignored);
    for (int i = 0; i < 2; i++)
        if (c.inputs[i] != NULL)
            stack_input_close(c.inputs[i]);
    index_note_of(c.judging.analysis.symbols);
    if (c.judging.analysis.symbols != NULL && options->dumps == NULL)
        unused_note(symbol_store_unused(c.judging.analysis.symbols, options->symbols.items,
                                        options->symbols.count, keep));
    judging_close(&c.judging);
    return c.code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct check_options o;
    const struct option_row rows[] = {
        OPTION_AS(STACKS, &o.stacks,
                  "the words are stacks, not cases: two, or with --dumps a folder or file of many"),
        OPTION_AS(DUMPS, &o.dumps,
                  "judge the reporter that made the stacks by these dumps of the same crashes"),
        {"--pairs", OPTION_STRING, &o.pairs, "FILE",
         "with --dumps: CSV of dump,stack,thread, where names do not say what belongs together"},
        OPTION_AS(NAME, &o.name, "with --dumps: the reporter; default: the name of the stacks"),
        OPTION_AS(DETAILS, &o.details, "with --dumps: a line for each pair"),
        OPTION_AS(JUNIT, &o.junit, "with --dumps"),
        OPTION_AS(HTML, &o.html, "with --dumps: the dashboard of the pairs"),
        OPTION_AS(OUT, &o.out, "with --dumps: a sealed case of each pair"),
        OPTION_AS(TRUTH, &o.truth, "compare with this one"),
        {"--level", OPTION_STRING, &o.level, "LEVEL",
         "how deep to look: physical, function or line (default)"},
        OPTION_AS(EXPLAIN, &o.explain, "of every engine that states it; 0 is the innermost"),
        OPTION_AS(SYMBOLS, &o.symbols, "beside those of the case"),
        OPTION_AS(DB, &o.db, "also store the verdicts there as a run, for `compare` and `gate`"),
        OPTION(CACHE, &o.cache),
        FETCH_OPTION_ROWS(o.fetch),
        OPTION_AS(LAUNCHER, &o.launcher,
                  "asks the judges that need one; default: they are not asked"),
        OPTION_AS(VICTIMS, &o.harness.victims, "where those judges are"),
        OPTION_AS(PREFIX, &o.harness.prefix, "for those judges"),
        HARNESS_DEBUGGER_ROW(o.harness),
        OPTION(PROGRESS, NULL),
        OPTION(JSON, &o.as_json),
    };

    memset(&o, 0, sizeof o);
    harness_init(&o.harness);
    o.argc = argc;
    o.argv = argv;
    return verb_main(self, rows, COUNT_OF(rows), check, &o, argc, argv);
}

const struct verb verb_check = {
    .name = "check",
    .summary = "check sealed cases, two given stacks, or a crash reporter; no Windows",
    .usage = "CASE... | --stacks A B | --dumps DIR --stacks DIR|FILE",
    .details = "A CASE is a folder with case.json and its seal, as `run` leaves it.  "
               "Every file's "
               "hash is\n"
               "verified before anything is read from it.  Stacks are text "
               "(module!0xOFFSET lines), "
               "JSON or a\n"
               "record file; '-' is standard input.  With --db, the cases become a "
               "run like those of "
               "`run`.\n\n"
               "With --dumps, each stack is compared with the dump of its name: the stem of "
               "its file, or its\n"
               "label in one file of many.  The dump's own walk decides, as far as the images "
               "are there.\n"
               "What is wrong is named where it is proved.  With --db, the pairs become a run.\n\n"
               "examples:\n"
               "  twinstack check corpus/cases/*\n"
               "  twinstack check build/runs/*/cases/stack_overflow.ob2 --json\n"
               "  twinstack check app.imported --db app.db && twinstack gate --db "
               "app.db\n"
               "  twinstack check --stacks before.txt after.txt --level physical\n"
               "  twinstack check --dumps dumps --stacks stacks --symbols symbols",
    .exits = "  0  all as expected\n  1  a difference that no rule allows; a dump without a "
             "stack\n  2 "
             " usage\n"
             "  3  a case is missing, damaged, changed after it was sealed, or "
             "of a newer twinstack; with --dumps, a pair is not judged\n"
             "  4  the database of --db is not usable\n"
             "  5  with --dumps, there is no pair",
    .run = run,
};
