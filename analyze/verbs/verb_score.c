/* twinstack score: asks an unwinder or a symbolizer the cases of a reference suite. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "collect/collect.h"
#include "conduct/run_facts.h"
#include "verbs/common.h"
#include "verbs/open_store.h"
#include "verbs/score_page.h"
#include "verbs/score_text.h"
#include "verbs/verbs.h"

enum { MIB = 1 << 20 };

struct score_options {
    const char *command, *suite, *expr, *expect, *junit;
    struct score_page page;
    const char *cache;
    uint64_t jobs, limit_ms, memory_mib;
    bool as_json, details, no_cache;
};

static void show(void *context, uint32_t done, uint32_t all)
{
    (void)context;
    log_progress_of(done, all, "asked %u/%u (%u %%)", (unsigned)done, (unsigned)all,
                    (unsigned)((uint64_t)done * 100 / all));
}

static enum status print_result(const struct suite *suite, const struct score *score,
                                struct arena *keep, struct fault *fault)
{
    const struct collect_options none = {0};
    struct run_info info;
    struct json j;
    char today[TEXT_DATE_BYTES];
    if (run_facts(&none, NULL, 0, NULL, keep, &info, fault) != ERR_NONE)
        return fault->code;
    text_utc_date(clock_wall_ns() / 1000000000U, today);
    const struct result_context context = {today, info.platform, info.cpu};
    json_to_stream(&j, stdout, true);
    return result_write(suite, score, &context, &j, fault);
}

struct junit_of {
    const struct suite *suite;
    const struct score *score;
};

static enum status write_junit(const void *context, FILE *out, struct fault *fault)
{
    const struct junit_of *of = context;
    (void)fault;
    result_junit(of->suite, of->score, out);
    return ERR_NONE;
}

/* Whether the score is worse than an older one; -1: that cannot be said, which was reported. */
static int is_worse(const struct score_options *o, const struct suite *suite,
                    const struct score *score, struct arena *keep)
{
    struct result_difference difference = {0};
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    if (file_read(o->expect, RESULT_BYTES_MAX, keep, &text, &bytes, &fault) == ERR_NONE)
        (void)result_compare(suite, score, text, bytes, keep, &difference, &fault);
    if (fault.code != ERR_NONE) {
        fault_set_path(&fault, o->expect);
        log_fault(&fault);
        return -1;
    }
    if (!o->as_json)
        score_text_difference(&difference);
    if (difference.compared == 0) {
        log_error("%s: it has none of these cases", o->expect);
        return -1;
    }
    return difference.worse_count > 0;
}

static bool is_paged(const struct score_options *o)
{
    return o->page.html != NULL || o->page.badges != NULL;
}

static int finish(const struct score_options *o, const struct suite *suite,
                  const struct score *score, const struct option_list *words, struct arena *keep)
{
    const struct score_style style = {o->command, o->suite, o->details};
    struct fault fault = FAULT_INIT;
    if (o->as_json)
        (void)print_result(suite, score, keep, &fault);
    else
        (void)score_text(suite, score, &style, keep, &fault);
    if (fault.code == ERR_NONE && o->junit != NULL)
        (void)stored_write(o->junit, write_junit, &(struct junit_of){suite, score}, &fault);
    if (fault.code == ERR_NONE && is_paged(o))
        (void)score_page(&o->page, suite, score, words, o->expr == NULL, keep, &fault);
    if (fault.code != ERR_NONE)
        return verb_fault(&fault);
    if (o->expect == NULL)
        return EXIT_GOOD;
    const int worse = is_worse(o, suite, score, keep);
    if (worse < 0)
        return EXIT_NOT_JUDGED;
    return worse > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

/* With --expect, what keeps a commit from being judged has a code of its own. */
static int give_up(const struct score_options *o, const struct fault *fault)
{
    const int code = verb_fault(fault);
    return o->expect != NULL && code == EXIT_INPUT ? EXIT_NOT_JUDGED : code;
}

/* The results are there already: no program is asked. */
static int page(const struct verb *self, const struct score_options *o,
                const struct option_list *words, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct suite suite;

    if (o->expect != NULL || o->junit != NULL || o->as_json || o->details)
        return verb_usage_error(self, "--cmd is missing: without it, results are shown by --html "
                                      "and --badges, and take --suite and -k alone");
    if (words->count == 0)
        return verb_usage_error(self, "a result is missing: make one with --cmd COMMAND --json -o "
                                      "FILE");
    if (suite_open(o->suite != NULL ? o->suite : VERB_SUITE, o->expr, keep, &suite, &fault) !=
        ERR_NONE)
        return verb_fault(&fault);
    if (suite.count == 0) {
        log_warn("no case of the suite is selected");
        return EXIT_NOTHING;
    }
    if (score_page(&o->page, &suite, NULL, words, o->expr == NULL, keep, &fault) != ERR_NONE)
        return verb_fault(&fault);
    return EXIT_GOOD;
}

static int score(const struct verb *self, void *given, const struct option_list *words,
                 struct arena *keep)
{
    const struct score_options *o = given;
    struct fault fault = FAULT_INIT;
    struct suite suite;
    struct score result;

    if (is_paged(o) && o->command == NULL)
        return page(self, o, words, keep);
    if (!is_paged(o) && !verb_takes_no_words(self, words))
        return EXIT_USAGE;
    if (o->command == NULL)
        return verb_usage_error(self, "--cmd is missing: the program to ask");
    if (o->jobs < 1 || o->jobs > VERB_JOBS_MAX)
        return verb_usage_error(self, "-j takes 1 to %d", VERB_JOBS_MAX);
    process_catch_interrupts();
    if (suite_open(o->suite != NULL ? o->suite : VERB_SUITE, o->expr, keep, &suite, &fault) !=
        ERR_NONE)
        return give_up(o, &fault);
    if (suite.count == 0) {
        log_warn("no case of the suite is selected");
        return o->expect != NULL ? EXIT_NOT_JUDGED : EXIT_NOTHING;
    }
    struct score_request request = {
        .contestant = {o->command, &suite, (uint32_t)o->limit_ms, o->memory_mib * MIB},
        .jobs = (uint32_t)o->jobs,
        .progress = show};
    if (!o->no_cache)
        cache_locate(o->cache, keep, &request.cache);
    const enum status code = score_all(&request, keep, &result, &fault);
    log_progress_end();
    if (code == ERR_NONE && result.cached > 0)
        log_note("%" PRIu32 " of %" PRIu32 " answers are from before, since neither the program "
                 "nor the suite has changed; --no-cache asks again",
                 result.cached, suite.count);
    return code == ERR_NONE ? finish(o, &suite, &result, words, keep) : give_up(o, &fault);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct score_options o = {.jobs = 1, .limit_ms = 20000, .memory_mib = 4096};
    const struct option_row rows[] = {
        {"--cmd", OPTION_STRING, &o.command, "COMMAND", "the program to ask, with its words"},
        OPTION_AS(SUITE, &o.suite, "default " VERB_SUITE),
        OPTION_AS(ONLY, &o.expr, "id, shape or position: 'epilogue and not push'"),
        OPTION_AS(JOBS, &o.jobs, "processes of it; default 1"),
        OPTION_AS(TIMEOUT, &o.limit_ms, "of one answer; default 20s"),
        {"--memory", OPTION_UINT, &o.memory_mib, "MIB",
         "the most memory of one process (4096; 0: any; not on Windows)"},
        OPTION_AS(CACHE, &o.cache, "answers are kept there, too"),
        {"--no-cache", OPTION_FLAG, &o.no_cache, NULL, "ask each case, and keep no answer"},
        {"--expect", OPTION_STRING, &o.expect, "FILE",
         "a result (--json -o FILE): exit 1 if a case is worse than there"},
        OPTION(JUNIT, &o.junit),
        OPTION_AS(HTML, &o.page.html, "of the answers and of the results that are given"),
        {"--badges", OPTION_STRING, &o.page.badges, "DIR",
         "write an SVG per tool and capability, of the same"},
        OPTION(JSON, &o.as_json),
        OPTION_AS(DETAILS, &o.details, "a row per position, and every case"),
        OPTION(PROGRESS, NULL),
    };
    return verb_main(self, rows, COUNT_OF(rows), score, &o, argc, argv);
}

const struct verb verb_score = {
    .name = "score",
    .summary = "score any unwinder or symbolizer by the reference suite",
    .usage = "--cmd COMMAND [--suite DIR] [-k EXPR] [--expect FILE]\n"
             "       twinstack score --html FILE [--badges DIR] [--suite DIR] [-k EXPR] [--cmd "
             "COMMAND] RESULT...",
    .details =
        "Asks a program the cases of the reference suite, a line of JSON each, and compares its\n"
        "answers with those that are known. The protocol: corpus/reference/README.md. `right`: "
        "the\n"
        "truth, to its end; `early`: its beginning, and no more; `wrong`: another frame. A crash,\n"
        "a hang or garbage costs the one case. There is no grand total, since shapes are not\n"
        "equally frequent anywhere. --html shows the results of several tools side by side, those\n"
        "cases first where only one of them is wrong, and what the program of --cmd answered.\n"
        "A program that has not changed is asked only what it has not answered: see\n"
        "corpus/reference/README.md for what a change is. A crash is asked again.\n\n"
        "examples:\n"
        "  twinstack score --cmd 'python3 corpus/reference/adapters/ours.py build/bin/twinstack'\n"
        "  twinstack score --cmd ./mine --json -o mine.json\n"
        "  twinstack score --cmd ./mine --expect mine.json\n"
        "  twinstack score --html results.html corpus/reference/results/*.json",
    .exits = "  0    all were asked; with --expect, no case is worse\n"
             "  1    --expect: a case is worse\n"
             "  2    usage\n"
             "  3    the suite or a result cannot be read, or the program does not start\n"
             "  5    no case is selected\n"
             "  125  --expect: nothing could be judged, which `git bisect run` skips",
    .run = run,
};
