/* twinstack doctor: what this host has, what is missing, and what to do about it. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "conduct/run_facts.h"
#include "engine/engines.h"
#include "engine/microsoft.h"
#include "model/cpu.h"
#include "verbs/common.h"
#include "verbs/harness.h"
#include "verbs/open_store.h"
#include "verbs/verbs.h"

enum finding_state { FOUND, OPTIONAL, MISSING };

struct diagnosis {
    const char *what;
    enum finding_state state;
    const char *detail; /* what was found; else what to do */
};

enum { DIAGNOSES_MAX = 32 };

struct doctor {
    struct harness harness;
    const char *db;
    bool as_json;
    struct arena *keep;
    struct collect_options collect;
    bool prefix_busy; /* another process runs Windows programs in the prefix */
    struct diagnosis rows[DIAGNOSES_MAX];
    uint32_t row_count;
};

static void say(struct doctor *d, const char *what, enum finding_state state, const char *detail)
{
    if (d->row_count == DIAGNOSES_MAX)
        return;
    struct diagnosis *row = &d->rows[d->row_count++];
    row->what = what;
    row->state = state;
    row->detail = detail != NULL ? detail : "";
}

static void say_fault(struct doctor *d, const char *what, enum finding_state state,
                      const struct fault *fault)
{
    char text[FAULT_PATH_BYTES + 512];
    fault_describe(fault, text, sizeof text);
    say(d, what, state, arena_string(d->keep, text));
}

static void look_at_host(struct doctor *d)
{
    struct collect_host host;
    struct fault fault = FAULT_INIT;

    if (collect_describe_host(&d->collect, d->keep, &host, &fault) != ERR_NONE) {
        say_fault(d, "host", MISSING, &fault);
        return;
    }
    say(d, "host", FOUND, arena_printf(d->keep, "%s, %s", host.os, host.cpu ? host.cpu : "?"));
    if (d->collect.launcher != NULL)
        say(d, "launcher", host.wine != NULL ? FOUND : OPTIONAL,
            host.wine != NULL ? host.wine : "no Wine: install wine, or name another --launcher");
}

/* The doctor starts Windows programs only in a prefix that is free. */
static bool see_busy(void *context)
{
    bool *busy = context;
    *busy = true;
    return false;
}

/* Whether 32-bit programs run here: the victims have been asked by starting one. */
static void look_at_x86(struct doctor *d, const struct scenario *list, uint32_t count)
{
    const char *why = "no victims-x86-*.exe: `./run setup` builds them where 32-bit Wine runs";

    for (uint32_t i = 0; i < count; i++) {
        if (list[i].arch != CPU_X86)
            continue;
        if (list[i].unsupported == NULL) {
            say(d, "x86 programs", FOUND, "they run here");
            return;
        }
        if (strcmp(list[i].unsupported, COLLECT_NO_WINE32) == 0)
            why = "the victims of x86 do not run here, for want of 32-bit Wine: see `./run --help`";
    }
    say(d, "x86 programs", OPTIONAL, why);
}

/* Asks the victims for their scenarios, which proves that Windows programs run here. */
static void look_at_victims(struct doctor *d)
{
    struct scenario *list = NULL;
    uint32_t count = 0, unsupported = 0;
    struct fault fault = FAULT_INIT;

    (void)collect_list(&d->collect, d->keep, &list, &count, &fault);
    if (fault.code == ERR_TIMEOUT && d->prefix_busy) {
        fault_clear(&fault);
        d->collect.ask_victims = false;
        (void)collect_list(&d->collect, d->keep, &list, &count, &fault);
    }
    if (fault.code != ERR_NONE) {
        say_fault(d, "victims", d->prefix_busy ? OPTIONAL : MISSING, &fault);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        unsupported += list[i].unsupported != NULL;
    say(d, "victims", FOUND,
        arena_printf(d->keep, "%u scenarios in all variants, %u unsupported here%s",
                     (unsigned)count, (unsigned)unsupported,
                     d->prefix_busy ? "; not started now: another process uses the prefix" : ""));
    const char *plugins = collect_lacking_plugins(d->collect.victims_folder, d->keep);
    const char *pdbs = collect_lacking_pdbs(d->collect.victims_folder, d->keep);
    const char *builds = run_facts_not_built(d->collect.victims_folder, d->keep);
    if (plugins != NULL)
        say(d, "victims' DLLs", MISSING, arena_printf(d->keep, "%s: `./run setup`", plugins));
    if (pdbs != NULL)
        say(d, "victims' PDBs", MISSING, arena_printf(d->keep, "%s: `./run setup`", pdbs));
    if (builds != NULL)
        say(d, "victims' builds", MISSING, arena_printf(d->keep, "%s: `./run setup`", builds));
    look_at_x86(d, list, count);
}

/* Microsoft's files: one row for each processor, with the version of each file. */
static void look_at_debugger(struct doctor *d)
{
    static const enum cpu cpus[] = {CPU_X64, CPU_X86, CPU_ARM64};
    bool any = false;

    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *detail = cpu_name(cpus[i]);
        bool found = false;
        for (int k = 0; k < MICROSOFT_FILE_COUNT && detail != NULL; k++) {
            const char *path = microsoft_path((enum microsoft_file)k, cpus[i], d->keep);
            const char *version = path != NULL ? microsoft_version(path, d->keep) : NULL;
            if (path == NULL && k == MICROSOFT_MSDIA && microsoft_is_system())
                continue; /* Windows has none, and needs none */
            if (path == NULL)
                version = "is missing";
            found |= path != NULL;
            detail = arena_printf(d->keep, "%s%s %s %s", detail, k == 0 ? ":" : ",",
                                  microsoft_file_name((enum microsoft_file)k),
                                  version != NULL ? version : "of no version");
        }
        if (found)
            say(d, "debugger", FOUND,
                detail == NULL || !microsoft_is_system()
                    ? detail
                    : arena_printf(d->keep, "%s (of this Windows)", detail));
        any |= found;
    }
    if (!any)
        say(d, "debugger", OPTIONAL, microsoft_why_not);
}

static void look_at_judge(struct doctor *d, const struct engine *judge,
                          const struct engine_input *in)
{
    struct fault fault = FAULT_INIT;
    const char *why = NULL;

    if (!judge->available(judge, in, &why))
        say(d, judge->name, OPTIONAL, why);
    else if (judge->starts != NULL && !d->prefix_busy &&
             judge->starts(judge, in, d->keep, &fault) != ERR_NONE)
        say_fault(d, judge->name, OPTIONAL, &fault);
    else
        say(d, judge->name, FOUND, "ready");
}

static void look_at_judges(struct doctor *d)
{
    struct collect_session *windows = NULL;
    struct fault fault = FAULT_INIT;
    struct case_file files[2]; /* of a case that has every input of a judge */
    struct crash_case full;
    const struct opened_case opened = {.crash = &full};
    struct engine_input in = {.opened = &opened};

    memset(files, 0, sizeof files);
    memset(&full, 0, sizeof full);
    files[0].role = ROLE_RECORD;
    files[1].role = ROLE_DUMP;
    full.files = files;
    full.file_count = 2;
    if (collect_session_open(&d->collect, &windows, &fault) == ERR_NONE) {
        in.launcher = collect_session_launcher(windows);
        in.judge_folder = d->collect.victims_folder;
    } else if (d->prefix_busy) { /* whether a judge is ready does not depend on the prefix */
        in.launcher = d->collect.launcher;
        in.judge_folder = d->collect.victims_folder;
    }
    for (uint32_t i = 0; i < engine_count; i++)
        if (engines[i]->kind == ENGINE_KIND_JUDGE)
            look_at_judge(d, engines[i], &in);
    collect_session_close(windows);
}

static void look_at_database(struct doctor *d)
{
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;

    if (!path_is_file(d->db)) {
        say(d, "database", OPTIONAL, arena_printf(d->keep, "%s is made by the first run", d->db));
    } else if (store_open(d->db, STORE_READ_OLD, &store, &fault) != ERR_NONE) {
        say_fault(d, "database", MISSING, &fault);
    } else {
        say(d, "database", FOUND, d->db);
        store_close(store);
    }
}

static void print_text(const struct doctor *d)
{
    static const char *const words[] = {"ok", "none", "MISSING"};
    for (uint32_t i = 0; i < d->row_count; i++)
        (void)printf("%-8s %-24s %s\n", words[d->rows[i].state], d->rows[i].what,
                     d->rows[i].detail);
}

static void print_json(const struct doctor *d)
{
    static const char *const words[] = {"ok", "none", "missing"};
    struct json j;

    json_print_list(&j, "checks");
    for (uint32_t i = 0; i < d->row_count; i++) {
        json_object(&j);
        json_key_string(&j, "what", d->rows[i].what);
        json_key_string(&j, "state", words[d->rows[i].state]);
        json_key_string(&j, "detail", d->rows[i].detail);
        json_object_end(&j);
    }
    json_print_list_end(&j);
}

static int examine(const struct verb *self, void *given, const struct option_list *words,
                   struct arena *keep)
{
    struct doctor *d = given;
    struct fault fault = FAULT_INIT;

    if (!verb_takes_no_words(self, words))
        return EXIT_USAGE;
    process_catch_interrupts();
    d->keep = keep;
    if (!harness_options(&d->harness, &d->collect))
        return verb_usage_error(self, "--launcher has too many words");
    if (harness_debugger(&d->harness, &fault) != ERR_NONE)
        say_fault(d, "debugger", MISSING, &fault);
    else
        look_at_debugger(d);
    d->collect.ask_victims = true;
    d->collect.keeps_waiting = see_busy;
    d->collect.wait_context = &d->prefix_busy;
    look_at_host(d);
    look_at_victims(d);
    look_at_judges(d);
    look_at_database(d);
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    if (d->as_json)
        print_json(d);
    else
        print_text(d);
    for (uint32_t i = 0; i < d->row_count; i++)
        if (d->rows[i].state == MISSING)
            return EXIT_INPUT;
    return EXIT_GOOD;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct doctor d;
    const struct option_row rows[] = {
        OPTION(DB, &d.db),
        OPTION(JSON, &d.as_json),
        HARNESS_ROWS(d.harness),
        HARNESS_DEBUGGER_ROW(d.harness),
    };

    memset(&d, 0, sizeof d);
    d.db = STORED_DATABASE;
    harness_init(&d.harness);
    return verb_main(self, rows, COUNT_OF(rows), examine, &d, argc, argv);
}

const struct verb verb_doctor = {
    .name = "doctor",
    .summary = "show what this host has, what is missing, and how to fix it",
    .usage = "[--db FILE] [--json]",
    .details = "Asks the victims for their scenarios (unless a run is using the Wine prefix), asks "
               "every\njudge whether it is ready, and opens the database.",
    .exits =
        "  0  this host has everything that a run needs\n  2  usage\n  3  something is missing",
    .run = run,
};
