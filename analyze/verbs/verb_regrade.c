/* twinstack regrade: judges stored cases again with the current code. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/log.h"
#include "base/process.h"
#include "conduct/regrade.h"
#include "fetch/fetch.h"
#include "study/ratio.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

struct regrade_options {
    const char *db, *known, *expr, *cache;
    struct option_list symbols;
    struct fetch_words fetch;
    bool as_json, dry, exit_zero;
};

static void show_progress(void *context, uint32_t number, uint32_t count, const struct run_case *c)
{
    (void)context;
    log_progress_of(number, count, "judging %u/%u  %s.%s", number, count, c->scenario, c->variant);
}

static void show_damaged(void *context, const struct fault *fault)
{
    (void)context;
    log_fault(fault);
}

static void print_changes(const struct regraded *done)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < done->changes.row_count; i++) {
        const struct diff_row *row = &done->changes.rows[i];
        if (row->group == DIFF_SAME || row->group == DIFF_STILL || row->a == NULL || row->b == NULL)
            continue;
        changed++;
        (void)printf("%-8s %s.%s: %s -> %s: %s\n", diff_group_name(row->group), row->b->scenario,
                     row->b->variant, verdict_name(row->a->verdict), verdict_name(row->b->verdict),
                     row->b->reason != NULL ? row->b->reason : "");
    }
    (void)printf("%u of %u cases have another verdict or cause\n", changed, done->run.case_count);
}

static int print_result(const struct regrade_options *o, const struct regraded *done,
                        struct store *store, struct arena *keep)
{
    struct run_figures figures;
    struct fault fault = FAULT_INIT;
    if (figures_prepare(&done->run.info, done->run.cases, done->run.case_count, keep, &figures,
                        &fault) != ERR_NONE)
        return verb_fault(&fault);
    ratio_make(&figures, store, keep);
    if (o->as_json) {
        if (report_json(&(struct report_job){.report = &figures}, stdout, &fault) != ERR_NONE)
            return verb_fault(&fault);
    } else {
        const struct report_style style = terminal_style();
        if (report_text(&figures, &style, keep, stdout, &fault) != ERR_NONE)
            return verb_fault(&fault);
        (void)fputs("\nREGRADED\n", stdout);
        print_changes(done);
    }
    const int code = stored_verdicts_exit(&figures);
    if (o->exit_zero)
        return EXIT_GOOD;
    return code == EXIT_GOOD && done->known.problem_count > 0 ? EXIT_DIFFERENT : code;
}

static int regrade_run_of(const struct regrade_options *o, struct store *store, const char *word,
                          struct arena *keep)
{
    struct stored_run old;
    struct regraded done;
    struct fault fault = FAULT_INIT;
    if (study_read_run(store, word, keep, &old, &fault) != ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    const struct fetch_options fetch = fetch_options_make(&o->fetch);
    const struct regrade_request request = {.old = &old,
                                            .expr = o->expr,
                                            .known = o->known,
                                            .fetch = &fetch,
                                            .symbols = o->symbols.items,
                                            .symbol_count = o->symbols.count,
                                            .cache = o->cache,
                                            .progress = show_progress,
                                            .damaged = show_damaged};
    const enum status status = regrade_run(o->dry ? NULL : store, &request, keep, &done, &fault);
    log_progress_end();
    if (status != ERR_NONE)
        return verb_fault(&fault);
    if (done.chosen == 0) {
        log_error("nothing matches in run %" PRIu64, old.info.id);
        return EXIT_NOTHING;
    }
    stored_log_problems(&done.known);
    return print_result(o, &done, store, keep);
}

static int regrade(const struct verb *self, void *given, const struct option_list *words,
                   struct arena *keep)
{
    const struct regrade_options *o = given;
    struct store *store = NULL;
    const char *word;
    int code = EXIT_GOOD;
    process_catch_interrupts();
    if (stored_open_for(self, words, o->db, o->dry ? STORE_READ : stored_to_change(o->db), &store,
                        &word, &code))
        code = regrade_run_of(o, store, word, keep);
    stored_close(store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct regrade_options o = {.db = STORED_DATABASE};
    const struct option_row rows[] = {
        OPTION(ONLY, &o.expr),           OPTION_AS(SYMBOLS, &o.symbols, "beside those of the run"),
        OPTION(CACHE, &o.cache),         FETCH_OPTION_ROWS(o.fetch),
        OPTION(KNOWN, &o.known),         OPTION(DRY, &o.dry),
        OPTION(PROGRESS, NULL),          OPTION_AS(JSON, &o.as_json, "the report of the new run"),
        OPTION(EXIT_ZERO, &o.exit_zero), OPTION(DB, &o.db),
    };
    return verb_main(self, rows, COUNT_OF(rows), regrade, &o, argc, argv);
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
