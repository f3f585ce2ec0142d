/* twinstack review: the failing cases of a run one by one, each accepted, left failing, or skipped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "report/words.h"
#include "study/acceptance.h"
#include "verbs/common.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

enum { ANSWER_BYTES = 1024, DAYS_DEFAULT = 90, FINDINGS_SHOWN = 3 };

struct review_options {
    const char *db, *known;
};

struct review {
    struct arena *keep;
    const struct stored_run *run;
    const char *path;
    struct acceptance acceptance;
    uint32_t failing, accepted, rejected;
    struct fault fault;
};

static bool is_failing(const struct run_case *c)
{
    return c->result.verdict == VERDICT_FAIL || c->result.verdict == VERDICT_FLAKY;
}

/* Asks for one line; false at the end of input. */
static bool ask(const char *prompt, char out[ANSWER_BYTES])
{
    (void)printf("%s", prompt);
    (void)fflush(stdout);
    if (fgets(out, ANSWER_BYTES, stdin) == NULL) {
        (void)putchar('\n');
        return false;
    }
    out[strcspn(out, "\r\n")] = '\0';
    return true;
}

static void say(const char *word, const char *text)
{
    const struct page page = terminal_page();
    if (text == NULL || text[0] == '\0')
        return;
    (void)printf("  %s", word);
    page_wrap(&page, INK_PLAIN, 4, text);
}

static void show(const struct review *r, const struct run_case *c, uint32_t number)
{
    const struct page page = terminal_page();
    char name[160];
    uint32_t shown = 0;
    (void)printf("\n[%u of %u] ", number, r->failing);
    page_cell(&page, INK_PLAIN, 0, case_name(c, name));
    (void)printf("  %s\n", verdict_name(c->result.verdict));
    say("", c->result.reason);
    say("right: ", c->result.right);
    for (uint32_t i = 0; i < c->result.finding_count && shown < FINDINGS_SHOWN; i++) {
        const struct finding *finding = &c->result.findings[i];
        if (!finding->fails)
            continue;
        (void)printf("  %s:\n", cause_name(finding->cause));
        say("  ", finding->evidence);
        shown++;
    }
    say("to see it: twinstack check ", c->folder);
}

/* In DAYS_DEFAULT days, "YYYY-MM-DD". */
static void some_day(char out[TEXT_DATE_BYTES])
{
    text_utc_date(clock_wall_ns() / 1000000000U + (uint64_t)DAYS_DEFAULT * 24 * 60 * 60, out);
}

static enum status write_block(struct review *r, const struct run_case *c,
                               const struct known_words *words)
{
    struct acceptance *a = &r->acceptance;
    const char *block = NULL;
    if (acceptance_add(a, c, words, r->keep, &block, &r->fault) != ERR_NONE)
        return r->fault.code;
    return acceptance_save(a, &r->fault);
}

/* Asks until the answers make a valid block. False: end of input, or a fault. */
static bool accept_one(struct review *r, const struct run_case *c)
{
    char reason[ANSWER_BYTES], issue[ANSWER_BYTES], expires[ANSWER_BYTES], day[TEXT_DATE_BYTES],
        prompt[64];

    some_day(day);
    (void)snprintf(prompt, sizeof prompt, "  last day [%s]: ", day);
    for (;;) {
        if (!ask("  reason: ", reason) || !ask("  issue (may stay empty): ", issue) ||
            !ask(prompt, expires))
            return false;
        const struct known_words words = {.reason = reason,
                                          .issue = issue[0] != '\0' ? issue : NULL,
                                          .expires = expires[0] != '\0' ? expires : day};
        if (write_block(r, c, &words) == ERR_NONE) {
            (void)printf("  written to %s\n", r->path);
            r->accepted++;
            return true;
        }
        if (r->fault.code != ERR_USAGE && r->fault.code != ERR_MALFORMED)
            return false;
        (void)verb_fault(&r->fault);
        fault_clear(&r->fault);
    }
}

/* False when the review ends here. */
static bool decide(struct review *r, const struct run_case *c)
{
    char answer[ANSWER_BYTES];
    while (ask("a accept, r leave it failing, s skip, q quit > ", answer)) {
        const char key = answer[0] != '\0' && answer[1] == '\0' ? answer[0] : '?';
        if (key == 'a')
            return accept_one(r, c);
        r->rejected += key == 'r';
        if (key == 'r' || key == 's')
            return true;
        if (key == 'q')
            return false;
    }
    return false;
}

static int review_all(struct review *r)
{
    char today[16];
    uint32_t number = 0;

    if (acceptance_read_or_new(r->path, r->keep, &r->acceptance, &r->fault) != ERR_NONE)
        return verb_fault(&r->fault);
    acceptance_today(today);
    for (uint32_t i = 0; i < r->run->case_count; i++)
        r->failing += is_failing(&r->run->cases[i]);
    for (uint32_t i = 0; i < r->run->case_count; i++) {
        const struct run_case *c = &r->run->cases[i];
        if (!is_failing(c))
            continue;
        number++;
        if (acceptance_match(&r->acceptance, c, today) != NULL) {
            r->accepted++; /* accepted after the run, perhaps a moment ago */
            continue;
        }
        show(r, c, number);
        if (!decide(r, c))
            break;
    }
    if (r->fault.code != ERR_NONE)
        return verb_fault(&r->fault);
    (void)printf("\n%u failing in run %" PRIu64 ": %u accepted, %u left failing, %u undecided\n",
                 r->failing, r->run->info.id, r->accepted, r->rejected,
                 r->failing - r->accepted - r->rejected);
    return r->accepted == r->failing ? EXIT_GOOD : EXIT_DIFFERENT;
}

static int review(const struct verb *self, void *given, const struct option_list *words,
                  struct arena *keep)
{
    const struct review_options *o = given;
    struct stored_run run;
    struct review r = {.keep = keep, .path = o->known, .run = &run, .fault = FAULT_INIT};
    struct store *store = NULL;
    const char *word;
    int code = EXIT_GOOD;

    if (!stored_open_for(self, words, o->db, STORE_READ, &store, &word, &code))
        return code;
    if (study_read_run(store, word, keep, &run, &r.fault) != ERR_NONE)
        code = stored_fault(&r.fault, r.fault.code != ERR_ABSENT);
    store_close(store); /* a slow reviewer must not keep the database open */
    return code == EXIT_GOOD ? review_all(&r) : code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct review_options o = {.db = STORED_DATABASE, .known = ACCEPTANCE_FILE};
    const struct option_row rows[] = {
        OPTION(KNOWN, &o.known),
        OPTION(DB, &o.db),
    };
    return verb_main(self, rows, COUNT_OF(rows), review, &o, argc, argv);
}

const struct verb verb_review = {
    .name = "review",
    .summary = "look at the failing cases of a run one by one: accept, leave failing, skip",
    .usage = "[RUN]",
    .details = "Asks for each FAIL and FLAKY; an ERROR is never accepted.  Each acceptance is "
               "written at\nonce, as `twinstack accept` does; the run itself is not changed.\n\n"
               "example:\n  twinstack review latest --known known.txt",
    .exits = "  0  every failing case is accepted\n  1  some case is not\n  2  usage\n"
             "  3  the file is damaged, or there is no such run\n  4  database not usable",
    .run = run,
};
