/* twinstack regrade: yesterday's cases, judged by today's code.  A sealed case never changes, so
 * every verdict that differs differs because of the analyser. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "collect/collect.h"
#include "compare/run_diff.h"
#include "verbs/acceptance.h"
#include "verbs/analysis.h"
#include "verbs/stored.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

struct regrade_options {
    const char *db, *known, *expr;
    struct option_list symbols;
    bool as_json, dry, exit_zero;
};

struct session {
    const struct regrade_options *o;
    struct arena *keep;
    struct store *store; /* NULL when dry */
    struct stored_run old;
    struct run_info info;
    struct run_case *cases;
    uint32_t case_count, missing;
    struct symbol_store *symbols;
    struct acceptance known;
    struct fault fault;
};

/* As `run -k` chooses.  A case does not know its scenario's group. */
static bool is_chosen(const struct session *s, const struct run_case *c)
{
    const struct scenario scenario = {
        .name = c->scenario, .variant = c->variant, .kind = c->kind != NULL ? c->kind : ""};
    struct fault fault = FAULT_INIT;
    bool chosen = false;
    return collect_select(s->o->expr, &scenario, &chosen, &fault) == ERR_NONE && chosen;
}

/* A slip in the expression is no empty choice. */
static enum status check_expr(struct session *s)
{
    const struct scenario any = {.name = "", .variant = "", .kind = ""};
    bool chosen = false;
    return collect_select(s->o->expr, &any, &chosen, &s->fault);
}

static bool is_on_disk(const struct run_case *c)
{
    return c->folder != NULL && path_is_folder(c->folder);
}

/* Opens one symbol store over the folders of all cases. */
static enum status open_symbols(struct session *s, struct crash_case *crashes)
{
    const char **roots =
        ARENA_ARRAY(s->keep, (size_t)s->old.case_count * 4 + s->o->symbols.count + 1, const char *);
    uint32_t count = 0;
    if (roots == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "symbols");
    for (; count < s->o->symbols.count; count++)
        roots[count] = s->o->symbols.items[count];
    for (uint32_t i = 0; crashes != NULL && i < s->old.case_count; i++)
        if (crashes[i].folder != NULL)
            analysis_add_roots(&crashes[i], s->keep, roots, &count);
    const struct symbol_store_options options = {
        .roots = roots, .root_count = count, .names = NAMES_SHORT};
    return symbol_store_open(&options, &s->symbols, &s->fault);
}

static enum status read_crashes(struct session *s, struct crash_case **out)
{
    struct crash_case *crashes =
        ARENA_ARRAY(s->keep, (size_t)s->old.case_count + 1, struct crash_case);
    if (crashes == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    for (uint32_t i = 0; i < s->old.case_count; i++) {
        const struct run_case *c = &s->old.cases[i];
        struct fault fault = FAULT_INIT;
        if (!is_chosen(s, c) || !is_on_disk(c))
            continue;
        if (case_read(c->folder, s->keep, &crashes[i], &fault) != ERR_NONE ||
            case_verify(&crashes[i], &fault) != ERR_NONE) {
            log_fault(&fault);
            memset(&crashes[i], 0, sizeof crashes[i]);
        }
    }
    *out = crashes;
    return ERR_NONE;
}

/* What left no case has nothing to be judged again: it is taken over as it is. */
static enum status take_over(struct session *s, const struct run_case *old, struct run_case *out)
{
    *out = *old;
    out->known_id = NULL;
    if (out->folder != NULL) {
        out->result.verdict = VERDICT_ERROR;
        out->result.reason = arena_printf(s->keep, "the case is gone or damaged: %s", old->folder);
        s->missing++;
    }
    out->id = 0;
    return ERR_NONE;
}

static enum status judge_all(struct session *s, const struct crash_case *crashes)
{
    const struct analysis analysis = {.symbols = s->symbols};
    s->cases = ARENA_ARRAY(s->keep, (size_t)s->old.case_count + 1, struct run_case);
    if (s->cases == NULL || crashes == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "cases");
    for (uint32_t i = 0; i < s->old.case_count && s->fault.code == ERR_NONE; i++) {
        const struct run_case *old = &s->old.cases[i];
        struct run_case *out = &s->cases[s->case_count];
        if (!is_chosen(s, old))
            continue;
        if (process_interrupted())
            return fault_set(&s->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "regrade");
        log_progress("judging %u/%u  %s.%s", i + 1, s->old.case_count, old->scenario, old->variant);
        if (crashes[i].folder == NULL)
            (void)take_over(s, old, out);
        else if (analysis_case(&analysis, &crashes[i], s->keep, out, &s->fault) != ERR_NONE)
            break;
        out->repeat = old->repeat;
        s->case_count++;
        if (s->store != NULL && store_put_case(s->store, s->info.id, out, &s->fault) != ERR_NONE)
            break;
    }
    log_progress_end();
    return s->fault.code;
}

/* The same run as before, but for who judged it. */
static enum status begin(struct session *s)
{
    s->info = s->old.info;
    s->info.uuid = NULL;
    s->info.label = arena_printf(s->keep, "regrade of %" PRIu64, s->old.info.id);
    s->info.started_ns = clock_wall_ns();
    s->info.tools = ARENA_ARRAY(s->keep, (size_t)s->old.info.tool_count + 1, struct named_version);
    if (s->info.label == NULL || s->info.tools == NULL)
        return fault_set(&s->fault, ERR_MEMORY, FAULT_NO_OFFSET, "regrade");
    for (uint32_t i = 0; i < s->old.info.tool_count; i++) {
        s->info.tools[i] = s->old.info.tools[i];
        if (strcmp(s->info.tools[i].name, "twinstack") == 0)
            s->info.tools[i].version = TWINSTACK_VERSION;
    }
    memset(s->info.verdicts, 0, sizeof s->info.verdicts);
    if (acceptance_read(s->o->known, s->keep, &s->known, &s->fault) != ERR_NONE)
        return s->fault.code;
    s->info.known_text = s->known.text;
    return s->store != NULL ? store_begin_run(s->store, &s->info, s->keep, &s->fault) : ERR_NONE;
}

static enum status finish(struct session *s)
{
    if (s->fault.code == ERR_NONE)
        (void)acceptance_apply(&s->known, s->store, s->cases, s->case_count, false, s->keep,
                               &s->fault);
    struct fault fault = FAULT_INIT;
    s->info.finished_ns = clock_wall_ns();
    s->info.state = s->fault.code == ERR_NONE ? RUN_COMPLETE : RUN_INTERRUPTED;
    s->info.case_count = s->case_count;
    for (uint32_t i = 0; i < s->case_count; i++)
        s->info.verdicts[s->cases[i].result.verdict]++;
    if (s->store != NULL && store_finish_run(s->store, s->info.id, s->info.state,
                                             s->info.finished_ns, &fault) != ERR_NONE)
        log_fault(&fault);
    return s->fault.code;
}

/* Only what was judged again can have changed. */
static uint32_t print_changes(struct session *s)
{
    struct run_diff diff;
    struct run_case *before = ARENA_ARRAY(s->keep, (size_t)s->old.case_count + 1, struct run_case);
    uint32_t count = 0, changed = 0;
    for (uint32_t i = 0; before != NULL && i < s->old.case_count; i++)
        if (is_chosen(s, &s->old.cases[i]))
            before[count++] = s->old.cases[i];
    if (before == NULL || run_diff_make(&s->old.info, before, count, &s->info, s->cases,
                                        s->case_count, 0, s->keep, &diff, &s->fault) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < diff.row_count; i++) {
        const struct diff_row *row = &diff.rows[i];
        if (row->group == DIFF_SAME || row->group == DIFF_STILL || row->a == NULL || row->b == NULL)
            continue;
        changed++;
        if (!s->o->as_json)
            (void)printf("%-8s %s.%s: %s -> %s: %s\n", diff_group_name(row->group),
                         row->b->scenario, row->b->variant, verdict_name(row->a->result.verdict),
                         verdict_name(row->b->result.verdict),
                         row->b->result.reason != NULL ? row->b->result.reason : "");
    }
    if (!s->o->as_json)
        (void)printf("%u of %u cases have another verdict or cause\n", changed, s->case_count);
    return changed;
}

static int print_result(struct session *s)
{
    struct report_run report;
    bool failed = s->known.problems > 0, error = false;
    for (uint32_t i = 0; i < s->case_count; i++) {
        failed = failed || run_verdict_fails(s->cases[i].result.verdict);
        error = error || s->cases[i].result.verdict == VERDICT_ERROR;
    }
    if (report_prepare(&s->info, s->cases, s->case_count, s->keep, &report, &s->fault) != ERR_NONE)
        return verb_fault(&s->fault);
    if (s->o->as_json) {
        if (report_json(&report, stdout, &s->fault) != ERR_NONE)
            return verb_fault(&s->fault);
    } else {
        const struct report_style style = terminal_style();
        if (report_text(&report, &style, s->keep, stdout, &s->fault) != ERR_NONE)
            return verb_fault(&s->fault);
        (void)fputs("\nREGRADED\n", stdout);
    }
    (void)print_changes(s);
    if (s->o->exit_zero)
        return EXIT_GOOD;
    return error ? EXIT_INPUT : failed ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int regrade(struct session *s, struct store *store, const char *word)
{
    struct crash_case *crashes = NULL;
    if (check_expr(s) != ERR_NONE)
        return verb_fault(&s->fault);
    if (stored_read(store, word, false, s->keep, &s->old, &s->fault) != ERR_NONE)
        return stored_fault(&s->fault, s->fault.code != ERR_ABSENT);
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < s->old.case_count; i++)
        chosen += is_chosen(s, &s->old.cases[i]);
    if (chosen == 0) {
        log_error("nothing matches in run %" PRIu64, s->old.info.id);
        return EXIT_NOTHING;
    }
    if (read_crashes(s, &crashes) != ERR_NONE || open_symbols(s, crashes) != ERR_NONE ||
        begin(s) != ERR_NONE)
        return verb_fault(&s->fault);
    (void)judge_all(s, crashes);
    const enum status status = finish(s);
    symbol_store_close(s->symbols);
    return status != ERR_NONE ? verb_fault(&s->fault) : print_result(s);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct regrade_options o = {.db = STORED_DATABASE};
    const struct option_row rows[] = {
        {"-k", OPTION_STRING, &o.expr, "EXPR", "only cases that match; see `run --help`"},
        {"--symbols", OPTION_LIST, &o.symbols, "DIR|FILE", "more symbols and images"},
        {"--known", OPTION_STRING, &o.known, "FILE", "known mismatches (default known.txt)"},
        {"--dry", OPTION_FLAG, &o.dry, NULL, "do not store the new run"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "the new run as one JSON document"},
        {"--exit-zero", OPTION_FLAG, &o.exit_zero, NULL, "verdicts do not decide the exit code"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    struct store *store = NULL;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        process_catch_interrupts();
        if (rest.count > 1)
            code = verb_usage_error(self, "one run at a time: '%s'", rest.items[1]);
        else if (stored_open(o.db, o.dry ? STORE_READ : STORE_WRITE, &store, &code)) {
            struct session s = {.o = &o, .keep = &keep, .store = o.dry ? NULL : store};
            s.fault.offset = FAULT_NO_OFFSET;
            code = regrade(&s, store, rest.count > 0 ? rest.items[0] : "latest");
        }
        store_close(store);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_regrade = {
    .name = "regrade",
    .summary = "judge the sealed cases of an old run with today's code",
    .usage = "[RUN]",
    .details = "Needs no Windows: judges that are Windows programs are skipped.  The result is a "
               "run of\nits own; the old one stays as it is.\n\n"
               "examples:\n  twinstack regrade\n  twinstack regrade 12 -k 'hang and ob2' --dry",
    .exits = "  0    all as expected\n  1    a verdict failed\n  2    usage\n"
             "  3    a case is gone or damaged, or there is no such run\n"
             "  4    database not usable\n  5    nothing selected\n  130  interrupted",
    .run = run,
};
