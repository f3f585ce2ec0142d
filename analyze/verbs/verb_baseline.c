/* twinstack baseline: names the run that others are compared with. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/json.h"
#include "verbs/common.h"
#include "verbs/open_store.h"
#include "verbs/verbs.h"

struct baseline_options {
    const char *db, *branch, *platform;
    bool as_json;
};

static int set(const struct verb *self, void *options, const struct option_list *words,
               struct arena *keep)
{
    const struct baseline_options *o = options;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    uint64_t id = 0;
    int code = EXIT_GOOD;
    (void)self;
    (void)keep;
    if (!stored_open(o->db, stored_to_change(o->db), &store, &code))
        return code;
    if (store_find_run(store, words->items[0], &id, &fault) != ERR_NONE ||
        store_set_baseline(store, id, o->branch, o->platform, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT && fault.code != ERR_USAGE);
    else
        (void)printf("run %" PRIu64 " is the baseline\n", id);
    stored_close(store);
    return code;
}

static int show(const struct verb *self, void *options, const struct option_list *words,
                struct arena *keep)
{
    const struct baseline_options *o = options;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    uint64_t id = 0;
    int code = EXIT_GOOD;
    (void)self;
    (void)words;
    (void)keep;
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    if (store_get_baseline(store, o->branch, o->platform, &id, &fault) != ERR_NONE)
        code = stored_fault(&fault, fault.code != ERR_ABSENT);
    else if (!o->as_json)
        (void)printf("%" PRIu64 "\n", id);
    else {
        struct json j;
        json_to_stream(&j, stdout, true);
        json_object(&j);
        json_key_uint(&j, "run", id);
        json_key_string(&j, "branch", o->branch);
        json_key_string(&j, "platform", o->platform);
        json_object_end(&j);
        json_newline(&j);
    }
    store_close(store);
    return code;
}

static const struct subcommand subcommands[] = {
    {"set", "RUN", "make RUN the baseline", 1, 1, set},
    {"show", NULL, "print the baseline's id", 0, 0, show},
    {.name = NULL},
};

static int run(const struct verb *self, int argc, char **argv)
{
    struct baseline_options o = {.db = STORED_DATABASE};
    const struct option_row rows[] = {
        {"--branch", OPTION_STRING, &o.branch, "NAME", "for this branch (default: for all)"},
        {"--platform", OPTION_STRING, &o.platform, "NAME", "for this platform (default: for all)"},
        OPTION_AS(JSON, &o.as_json, "show"),
        OPTION(DB, &o.db),
    };
    return subcommand_main(self, NULL, rows, COUNT_OF(rows), &o, argc, argv);
}

const struct verb verb_baseline = {
    .name = "baseline",
    .summary = "set or show the run that others are compared with, per branch and platform",
    .subcommands = subcommands,
    .details = "examples:\n  twinstack baseline set latest\n"
               "  twinstack baseline set 12 --branch main\n  twinstack baseline show",
    .exits = "  0  done\n  2  usage\n  3  there is no such run or baseline\n"
             "  4  database not usable",
    .run = run,
};
