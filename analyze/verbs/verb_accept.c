/* twinstack accept, twinstack known: known mismatches in a text file that lives in git. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "study/problem.h"
#include "verbs/common.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

struct accept_options {
    const char *db, *file, *run, *reason, *issue, *expires, *scope, *problem;
    bool update, broad;
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

static int save(const struct acceptance *acceptance, uint32_t changed, const char *what)
{
    struct fault fault = FAULT_INIT;
    if (changed > 0 && acceptance_save(acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    (void)printf("%u %s %s\n", changed, what, acceptance->path);
    return EXIT_GOOD;
}

/* Marks the item ID; false when there is none. */
static bool mark_named(const struct acceptance *acceptance, const char *id, bool *marks)
{
    bool found = false;
    for (uint32_t i = 0; i < acceptance->list.count; i++)
        if (strcmp(acceptance->list.items[i].id, id) == 0)
            found = marks[i] = true;
    if (!found)
        log_error("%s: there is no [%s]", acceptance->path != NULL ? acceptance->path : "no file",
                  id);
    return found;
}

/* Pins the items that PIN marks to what RUN shows, and reports those that no case of it needs. */
static int pin_marked(struct acceptance *acceptance, const bool *pin, const struct stored_run *run,
                      struct arena *keep, uint32_t *changed)
{
    struct fault fault = FAULT_INIT;
    bool *one = ARENA_ARRAY(keep, (size_t)acceptance->list.count + 1, bool);
    *changed = 0;
    for (uint32_t i = 0; one != NULL && i < acceptance->list.count; i++) {
        uint32_t pinned = 0;
        one[i] = pin[i];
        if (pin[i] && acceptance_pin(acceptance, one, run->cases, run->case_count, keep, &pinned,
                                     &fault) != ERR_NONE)
            return verb_fault(&fault);
        if (pin[i] && pinned == 0)
            log_warn("[%s] is not changed: nothing in run %llu needs it",
                     acceptance->list.items[i].id, (unsigned long long)run->info.id);
        *changed += pinned;
        one[i] = false;
    }
    return EXIT_GOOD;
}

/* accept --update [ID...] */
static int update(const struct accept_options *o, const struct stored_run *run,
                  const struct option_list *ids, struct arena *keep)
{
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    uint32_t changed = 0;
    if (acceptance_read(o->file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    bool *pin = ARENA_ARRAY(keep, (size_t)acceptance.list.count + 1, bool);
    if (pin == NULL)
        return EXIT_INPUT;
    for (uint32_t i = 0; i < acceptance.list.count; i++)
        pin[i] = ids->count == 0;
    for (uint32_t w = 0; w < ids->count; w++)
        if (!mark_named(&acceptance, ids->items[w], pin))
            return EXIT_INPUT;
    const int code = pin_marked(&acceptance, pin, run, keep, &changed);
    return code == EXIT_GOOD ? save(&acceptance, changed, "pinned in") : code;
}

/* An acceptance for many cases lists what is wrong in all of them. */
static int pin_last(struct acceptance *acceptance, const struct stored_run *run, struct arena *keep,
                    const char **block)
{
    bool *pin = ARENA_ARRAY(keep, (size_t)acceptance->list.count + 1, bool);
    const size_t head = (size_t)(*block - acceptance->text);
    uint32_t changed = 0;
    if (pin == NULL)
        return EXIT_INPUT;
    pin[acceptance->list.count - 1] = true;
    const int code = pin_marked(acceptance, pin, run, keep, &changed);
    *block = acceptance->text + head;
    return code;
}

static int accept_cases(const struct accept_options *o, const struct stored_run *run,
                        const struct option_list *names, struct arena *keep)
{
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    if (acceptance_read_or_new(o->file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    const struct known_words words = {o->reason, o->issue, o->expires, o->scope, o->broad};
    const char *block = NULL;
    for (uint32_t i = 0; i < names->count; i++) {
        const struct run_case *c = find_failing(run, names->items[i]);
        if (c == NULL) {
            log_error(
                "%s does not fail in run %llu: there is nothing to accept (an ERROR never is)",
                names->items[i], (unsigned long long)run->info.id);
            return EXIT_INPUT;
        }
        if (acceptance_add(&acceptance, c, &words, keep, &block, &fault) != ERR_NONE)
            return verb_fault(&fault);
        if (o->scope != NULL && pin_last(&acceptance, run, keep, &block) != EXIT_GOOD)
            return EXIT_INPUT;
        (void)printf("%s", block);
    }
    return acceptance_save(&acceptance, &fault) == ERR_NONE ? EXIT_GOOD : verb_fault(&fault);
}

/* accept --problem KEY */
static int accept_problem(const struct accept_options *o, struct store *store, struct arena *keep)
{
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    const struct known_words words = {o->reason, o->issue, o->expires, NULL, o->broad};
    struct triage *triage = ARENA_NEW(keep, struct triage);
    const char *block = NULL;
    uint32_t count = 0;
    if (triage == NULL)
        return EXIT_INPUT;
    if (triage_make(store, o->run, keep, triage, &fault) != ERR_NONE)
        return stored_fault(&fault, fault.code != ERR_ABSENT);
    if (acceptance_read_or_new(o->file, keep, &acceptance, &fault) != ERR_NONE ||
        problem_accept(&acceptance, triage, o->problem, &words, keep, &block, &count, &fault) !=
            ERR_NONE ||
        acceptance_save(&acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    (void)printf("%s", block);
    return EXIT_GOOD;
}

static int accept(const struct verb *self, void *given, const struct option_list *rest,
                  struct arena *keep)
{
    const struct accept_options *o = given;
    struct store *store = NULL;
    struct stored_run run;
    struct fault fault = FAULT_INIT;
    int code = EXIT_GOOD;
    if (o->update && (o->reason != NULL || o->expires != NULL || o->issue != NULL ||
                      o->scope != NULL || o->broad || o->problem != NULL))
        return verb_usage_error(self, "--update changes pins only");
    if (o->problem != NULL && (rest->count > 0 || o->scope != NULL))
        return verb_usage_error(self, "--problem names the cases: give no other");
    if (rest->count == 0 && !o->update && o->problem == NULL)
        return verb_usage_error(self, "name the cases: SCENARIO.VARIANT");
    if (!o->update && (o->reason == NULL || o->expires == NULL))
        return verb_usage_error(self, "--reason and --expires must be given");
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    if (o->problem != NULL)
        code = accept_problem(o, store, keep);
    else if (study_read_run(store, o->run, keep, &run, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else
        code = o->update ? update(o, &run, rest, keep) : accept_cases(o, &run, rest, keep);
    store_close(store);
    return code;
}

static int run_accept(const struct verb *self, int argc, char **argv)
{
    struct accept_options o = {.db = STORED_DATABASE, .file = ACCEPTANCE_FILE, .run = "latest"};
    const struct option_row rows[] = {
        {"--reason", OPTION_STRING, &o.reason, "TEXT", "why the failure is acceptable"},
        {"--expires", OPTION_STRING, &o.expires, "DATE", "the last day, YYYY-MM-DD"},
        {"--issue", OPTION_STRING, &o.issue, "URL", "the issue or discussion of it"},
        {"--scope", OPTION_STRING, &o.scope, "PATTERN",
         "accept all cases that match, with * and ?: 'recursion.*' (default: this case)"},
        {"--problem", OPTION_STRING, &o.problem, "KEY",
         "accept all cases of a problem as one; the page of the problem shows its key"},
        {"--broad", OPTION_FLAG, &o.broad, NULL,
         "allow a scope of more than one scenario, or more than 180 days"},
        {"--update", OPTION_FLAG, &o.update, NULL,
         "pin known mismatches (ID...; default: all) to what the run shows"},
        OPTION_AS(RUN, &o.run, "where it failed; default latest"),
        OPTION(KNOWN, &o.file),
        OPTION(DB, &o.db),
    };
    return verb_main(self, rows, COUNT_OF(rows), accept, &o, argc, argv);
}

const struct verb verb_accept = {
    .name = "accept",
    .summary = "accept that a case fails for a known reason, until a given day",
    .usage = "SCENARIO.VARIANT...|--problem KEY --reason TEXT --expires DATE | --update [ID...]",
    .details =
        "Writes one block per case into a text file that belongs in version control.  That "
        "file\ndecides; the database only keeps the copy that a run used.  To accept more "
        "causes, edit\nthe file: see `twinstack known --help`.  A block is pinned: a case in "
        "which more is\nwrong, or another frame differs, goes beyond what was accepted and "
        "fails.  --update pins\nthe block to what the run shows now.\n\n"
        "examples:\n"
        "  twinstack accept recursion.ob2 --reason \"the record keeps 1,024 frames\" "
        "--expires 2027-03-31\n"
        "  twinstack accept --update recursion-record",
    .exits = "  0  written\n  2  usage\n  3  a case does not fail, or the file is damaged\n"
             "  4  database not usable",
    .run = run_accept,
};

/* ---- known ---------------------------------------------------------------------------- */

static void print_list(const struct acceptance *acceptance, const char *today)
{
    const struct page page = terminal_page();
    for (uint32_t i = 0; i < acceptance->list.count; i++) {
        const struct known *k = &acceptance->list.items[i];
        const bool expired = acceptance_is_expired(k, today);
        const char *const rows[][2] = {{"scope", k->scope}, {"cause", k->cause},
                                       {"pins", k->pins},   {"reason", k->reason},
                                       {"issue", k->issue}, {"until", k->expires}};
        page_cellf(&page, expired ? INK_BAD : INK_TITLE, 0, "[%s]%s", k->id,
                   expired ? " has EXPIRED" : "");
        if (!acceptance_is_pinned(k))
            page_cellf(&page, INK_WARN, 0, " unpinned: fails runs from %s on",
                       acceptance_pinned_from());
        page_line(&page);
        for (size_t r = 0; r < COUNT_OF(rows); r++) {
            if (rows[r][1] == NULL || *rows[r][1] == '\0')
                continue;
            page_cellf(&page, INK_DIM, 10, "  %s", rows[r][0]);
            page_wrap(&page, INK_PLAIN, 10, rows[r][1]);
        }
        for (const char *at = k->frames; at != NULL && *at != '\0';) {
            const size_t size = strcspn(at, "\n");
            page_cell(&page, INK_DIM, 10, "  frame");
            page_cellf(&page, INK_PLAIN, 0, "%.*s", (int)size, at);
            page_line(&page);
            at += size + (at[size] == '\n');
        }
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
        json_object(&j);
        acceptance_write_json(&j, &acceptance->list.items[i], today);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_newline(&j);
}

struct known_options {
    const char *file;
    bool as_json;
};

static int list(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    const struct known_options *o = options;
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    char today[16];
    uint32_t expired = 0;
    (void)self;
    (void)words;
    if (acceptance_read(o->file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    acceptance_today(today);
    if (o->as_json)
        write_list_json(&acceptance, today);
    else
        print_list(&acceptance, today);
    for (uint32_t i = 0; i < acceptance.list.count; i++)
        expired += acceptance_is_expired(&acceptance.list.items[i], today);
    return expired > 0 ? EXIT_DIFFERENT : EXIT_GOOD;
}

/* Takes expired blocks out of the text, and keeps every other byte. */
static int prune(const struct verb *self, void *options, const struct option_list *words,
                 struct arena *keep)
{
    const struct known_options *o = options;
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    char today[16];
    uint32_t removed = 0;
    (void)self;
    (void)words;
    if (acceptance_read(o->file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    bool *drop = ARENA_ARRAY(keep, (size_t)acceptance.list.count + 1, bool);
    if (acceptance.text == NULL || drop == NULL)
        return EXIT_GOOD;
    acceptance_today(today);
    for (uint32_t i = 0; i < acceptance.list.count; i++) {
        drop[i] = acceptance_is_expired(&acceptance.list.items[i], today);
        removed += drop[i];
    }
    if (acceptance_drop(&acceptance, drop, keep, &fault) != ERR_NONE)
        return verb_fault(&fault);
    return save(&acceptance, removed, "expired, taken out of");
}

/* Lets those that WORDS name end yesterday: from now on they fail runs, until they are pruned. */
static int expire(const struct verb *self, void *options, const struct option_list *words,
                  struct arena *keep)
{
    const struct known_options *o = options;
    struct acceptance acceptance;
    struct fault fault = FAULT_INIT;
    char day[TEXT_DATE_BYTES];
    (void)self;
    if (acceptance_read(o->file, keep, &acceptance, &fault) != ERR_NONE)
        return verb_fault(&fault);
    bool *end = ARENA_ARRAY(keep, (size_t)acceptance.list.count + 1, bool);
    if (end == NULL)
        return EXIT_INPUT;
    text_utc_date(clock_wall_ns() / 1000000000U - (uint64_t)24 * 60 * 60, day);
    for (uint32_t w = 0; w < words->count; w++)
        if (!mark_named(&acceptance, words->items[w], end))
            return EXIT_INPUT;
    if (acceptance_end(&acceptance, end, day, keep, &fault) != ERR_NONE)
        return verb_fault(&fault);
    return save(&acceptance, words->count, "ended yesterday in");
}

static const struct subcommand known_subcommands[] = {
    {"list", NULL, "print the known mismatches (the default)", 0, 0, list},
    {"expire", "ID...", "make these expire as of yesterday", 1, SUBCOMMAND_WORDS_MAX, expire},
    {"prune", NULL, "remove those that have expired", 0, 0, prune},
    {.name = NULL},
};

static int run_known(const struct verb *self, int argc, char **argv)
{
    struct known_options o = {.file = NULL};
    const struct option_row rows[] = {
        OPTION(KNOWN, &o.file),
        OPTION_AS(JSON, &o.as_json, "list"),
    };
    return subcommand_main(self, "list", rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_known = {
    .name = "known",
    .summary = "list the known mismatches, expire some, or remove the expired ones",
    .subcommands = known_subcommands,
    .details =
        "The file holds blocks like this one; '#' starts a comment:\n\n"
        "  [recursion-record]\n"
        "  scope: recursion.ob2            which cases, with * and ?; several words, lines: each\n"
        "  cause: offset:rtl=truncated     what may be wrong: engine=cause, several words allowed\n"
        "  pins: offset:rtl=2/5            how much may be wrong: functions/lines of each engine\n"
        "  frame: offset:rtl function dive one per frame that may differ: engine, level, function\n"
        "  reason: the record keeps 1,024 frames\n"
        "  issue: https://...              optional\n"
        "  broad: yes                      for many scenarios ('rec*.ob2'), or more than 180 days\n"
        "  expires: 2027-03-31             the last day on which it holds\n\n"
        "A failing case that is covered becomes XFAIL and does not fail the run.  These do: a "
        "case\n"
        "that passes though it is known to fail (XPASS), a block that no case needs, a block that\n"
        "has expired, or is broad without saying so, and, from 2027-03-01 on, a block without "
        "pins\n"
        "and frames, which `twinstack accept --update` writes.\n\n"
        "examples:\n"
        "  twinstack known --json\n"
        "  twinstack known expire recursion.ob2\n"
        "  twinstack known prune",
    .exits = "  0  none has expired\n  1  one has expired\n  2  usage\n"
             "  3  the file is damaged, or has no such ID",
    .run = run_known,
};
