/* twinstack accept, twinstack known: known mismatches in a text file that lives in git. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "verbs/acceptance.h"
#include "verbs/stored.h"
#include "verbs/verbs.h"

struct accept_options {
    const char *db, *file, *run, *reason, *issue, *expires;
};

/* ---- accept --------------------------------------------------------------------------- */

static const struct run_case *find_failing(const struct stored_run *run, const char *name)
{
    for (uint32_t i = 0; i < run->case_count; i++) {
        char own[256];
        const struct run_case *c = &run->cases[i];
        (void)snprintf(own, sizeof own, "%.120s.%.120s", c->scenario, c->variant);
        if (strcmp(own, name) == 0 &&
            (c->result.verdict == VERDICT_FAIL || c->result.verdict == VERDICT_FLAKY))
            return c;
    }
    return NULL;
}

static int accept_cases(const struct accept_options *o, const struct stored_run *run,
                        const struct option_list *names, struct arena *keep)
{
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    memset(&acceptance, 0, sizeof acceptance);
    if (path_is_file(o->file) && acceptance_read(o->file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    const struct known_words words = {o->reason, o->issue, o->expires};
    const char *text = acceptance.text, *block = NULL;
    for (uint32_t i = 0; i < names->count; i++) {
        const struct run_case *c = find_failing(run, names->items[i]);
        if (c == NULL) {
            log_error(
                "%s does not fail in run %llu: there is nothing to accept (an ERROR never is)",
                names->items[i], (unsigned long long)run->info.id);
            return EXIT_INPUT;
        }
        if (known_add(text, &acceptance.list, c, &words, keep, &text, &block, &fault) != ERR_NONE ||
            known_parse(text, strlen(text), keep, &acceptance.list, &fault) != ERR_NONE)
            return verb_fault(&fault);
        (void)printf("%s", block);
    }
    return file_write(o->file, text, strlen(text), &fault) == ERR_NONE ? EXIT_GOOD
                                                                       : verb_fault(&fault);
}

static int accept(const struct verb *self, const struct accept_options *o,
                  const struct option_list *rest, struct arena *keep)
{
    struct store *store = NULL;
    struct stored_run run;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    if (rest->count == 0)
        return verb_usage_error(self, "name the cases: SCENARIO.VARIANT");
    if (o->reason == NULL || o->expires == NULL)
        return verb_usage_error(self, "--reason and --expires must be given");
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    if (stored_read(store, o->run, false, keep, &run, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else
        code = accept_cases(o, &run, rest, keep);
    store_close(store);
    return code;
}

static int run_accept(const struct verb *self, int argc, char **argv)
{
    struct accept_options o = {.db = STORED_DATABASE, .file = ACCEPTANCE_FILE, .run = "latest"};
    const struct option_row rows[] = {
        {"--reason", OPTION_STRING, &o.reason, "TEXT", "why it may be wrong"},
        {"--expires", OPTION_STRING, &o.expires, "DATE", "the last day, YYYY-MM-DD"},
        {"--issue", OPTION_STRING, &o.issue, "URL", "where it is worked on"},
        {"--run", OPTION_STRING, &o.run, "RUN", "where it failed (default latest)"},
        {"--known", OPTION_STRING, &o.file, "FILE", "the file (default " ACCEPTANCE_FILE ")"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code))
        code = accept(self, &o, &rest, &keep);
    arena_free(&keep);
    return code;
}

const struct verb verb_accept = {
    .name = "accept",
    .summary = "accept that a case fails for a known reason, until a day",
    .usage = "SCENARIO.VARIANT... --reason TEXT --expires DATE",
    .details = "Writes one block a case into a text file that belongs into version control: that "
               "file is\nthe truth, and the database keeps the copy that a run used.  Widen scope "
               "and cause there\nby hand: see `twinstack known --help`.\n\n"
               "example:\n"
               "  twinstack accept recursion.ob2 --reason \"the record keeps 1,024 frames\" "
               "--expires 2027-03-31",
    .exits = "  0  written\n  2  usage\n  3  a case does not fail, or the file is damaged\n"
             "  4  database not usable",
    .run = run_accept,
};

/* ---- known ---------------------------------------------------------------------------- */

static void print_list(const struct acceptance *acceptance, const char *today)
{
    for (uint32_t i = 0; i < acceptance->list.count; i++) {
        const struct known *k = &acceptance->list.items[i];
        (void)printf("%-24s %-28s until %s%s\n%24s %s\n%24s %s\n", k->id, k->scope, k->expires,
                     strcmp(k->expires, today) < 0 ? " (EXPIRED)" : "", "", k->cause, "",
                     k->reason);
    }
    (void)printf("%u known mismatch%s in %s\n", acceptance->list.count,
                 acceptance->list.count == 1 ? "" : "es",
                 acceptance->path != NULL ? acceptance->path : "no file");
}

static void write_list_json(const struct acceptance *acceptance, const char *today)
{
    struct json j;
    json_to_stream(&j, stdout, true);
    json_array(&j);
    for (uint32_t i = 0; i < acceptance->list.count; i++) {
        const struct known *k = &acceptance->list.items[i];
        json_object(&j);
        json_key_string(&j, "id", k->id);
        json_key_string(&j, "scope", k->scope);
        json_key_string(&j, "cause", k->cause);
        json_key_string(&j, "reason", k->reason);
        json_key_string(&j, "issue", k->issue);
        json_key_string(&j, "expires", k->expires);
        json_key_bool(&j, "expired", strcmp(k->expires, today) < 0);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_newline(&j);
}

/* Takes expired blocks out of the text, and keeps every other byte. */
static int prune(const struct acceptance *acceptance, const char *today, struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    bool *drop = ARENA_ARRAY(keep, (size_t)acceptance->list.count + 1, bool);
    uint32_t removed = 0;
    size_t bytes = 0;
    if (acceptance->text == NULL || drop == NULL)
        return EXIT_GOOD;
    for (uint32_t i = 0; i < acceptance->list.count; i++) {
        drop[i] = strcmp(acceptance->list.items[i].expires, today) < 0;
        removed += drop[i];
    }
    const char *out =
        known_drop(acceptance->text, acceptance->bytes, &acceptance->list, drop, keep, &bytes);
    if (removed > 0 && out != NULL && file_write(acceptance->path, out, bytes, &fault) != ERR_NONE)
        return verb_fault(&fault);
    (void)printf("%u expired, taken out of %s\n", removed, acceptance->path);
    return EXIT_GOOD;
}

static int known(const struct verb *self, const char *file, bool as_json,
                 const struct option_list *rest, struct arena *keep)
{
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    char today[16];
    uint32_t expired = 0;
    const char *what = rest->count > 0 ? rest->items[0] : "list";
    known_today(today);
    if (rest->count > 1 || (strcmp(what, "list") != 0 && strcmp(what, "prune") != 0))
        return verb_usage_error(self, "known list, or known prune");
    if (acceptance_read(file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (strcmp(what, "prune") == 0)
        return prune(&acceptance, today, keep);
    if (as_json)
        write_list_json(&acceptance, today);
    else
        print_list(&acceptance, today);
    for (uint32_t i = 0; i < acceptance.list.count; i++)
        expired += strcmp(acceptance.list.items[i].expires, today) < 0;
    return expired > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

static int run_known(const struct verb *self, int argc, char **argv)
{
    const char *file = NULL;
    bool as_json = false;
    const struct option_row rows[] = {
        {"--known", OPTION_STRING, &file, "FILE", "the file (default " ACCEPTANCE_FILE ")"},
        {"--json", OPTION_FLAG, &as_json, NULL, "as JSON"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code))
        code = known(self, file, as_json, &rest, &keep);
    arena_free(&keep);
    return code;
}

const struct verb verb_known = {
    .name = "known",
    .summary = "list the known mismatches, or take out those that expired",
    .usage = "[list|prune]",
    .details =
        "The file holds blocks like this one; '#' starts a comment:\n\n"
        "  [recursion-record]\n"
        "  scope: recursion.ob2            which cases, with * and ?\n"
        "  cause: offset:rtl=truncated     what may be wrong: engine=cause, several words allowed\n"
        "  reason: the record keeps 1,024 frames\n"
        "  issue: https://...              optional\n"
        "  expires: 2027-03-31             the last day on which it holds\n\n"
        "A failing case that is covered becomes XFAIL and fails nothing.  What passes though it "
        "is\n"
        "known to fail (XPASS), what nothing needs and what has expired fails the run.\n\n"
        "examples:\n"
        "  twinstack known --json\n"
        "  twinstack known prune",
    .exits = "  0  none has expired\n  1  one has expired\n  2  usage\n  3  the file is damaged",
    .run = run_known,
};
