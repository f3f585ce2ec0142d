/* twinstack signatures: the head problems of a run or a stream: which crash signature how often,
 * since when, and how its rank changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "study/signatures.h"
#include "verbs/stored.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

enum { TOP_DEFAULT = 20 };

struct signature_options {
    const char *db, *rules, *engine, *before, *name;
    uint64_t top;
    bool as_json, show_rules;
};

static void print_text(const struct signature_list *list, uint64_t top)
{
    const struct page page = terminal_page();
    int wide = (int)strlen("first seen");
    for (uint32_t i = 0; i < list->count && i < top; i++)
        if ((int)text_width(list->items[i].first_seen) > wide)
            wide = (int)text_width(list->items[i].first_seen);
    (void)printf("most frequent problems of %s: %" PRIu64 " stacks, %u signatures\n\n"
                 " rank  count        %%  change  %-*s  signature\n",
                 list->of, list->stacks, list->count, wide, "first seen");
    for (uint32_t i = 0; i < list->count && i < top; i++) {
        const struct signature_count *b = &list->items[i];
        char change[16] = "new";
        if (b->rank_before == b->rank)
            (void)snprintf(change, sizeof change, "=");
        else if (b->rank_before != 0)
            (void)snprintf(change, sizeof change, "%+d", (int)b->rank_before - (int)b->rank);
        (void)printf("%5u %6" PRIu64 " %6.1f %%  %6s  ", b->rank, b->count,
                     100.0 * (double)b->count / (double)list->stacks, change);
        page_cell(&page, INK_PLAIN, wide, b->first_seen);
        (void)fputs("  ", stdout);
        page_cell(&page, INK_PLAIN, 0, b->text);
        page_line(&page);
    }
    if (list->count > top)
        (void)printf("... and %" PRIu64 " more signatures\n", list->count - top);
}

static int print_list(const struct signature_list *list, const struct signature_options *o)
{
    struct json j;
    if (list->bad > 0)
        log_warn("left out: %" PRIu64 " line%s no stack", list->bad,
                 list->bad == 1 ? " is" : "s are");
    if (list->stacks == 0) {
        log_error("%s holds no stack", list->of);
        return EXIT_NOTHING;
    }
    if (!o->as_json) {
        print_text(list, o->top);
        return EXIT_GOOD;
    }
    json_to_stream(&j, stdout, true);
    signatures_write_json(&j, list, o->top);
    json_newline(&j);
    return EXIT_GOOD;
}

static int print_run(const struct signature_options *o, const struct signature_request *request,
                     const char *word, struct arena *keep)
{
    struct store *store = NULL;
    struct signature_list list;
    struct fault fault = FAULT_INIT;
    bool database = false;
    int code = EXIT_GOOD;
    if (!stored_open(o->db, STORE_READ, &store, &code))
        return code;
    if (signatures_of_run(store, word, request, keep, &list, &database, &fault) != ERR_NONE)
        code = stored_fault(&fault, database);
    else
        code = print_list(&list, o);
    study_close(store);
    return code;
}

/* Files and "-" are streams; one word that is neither is a run. */
static int signatures(const struct verb *self, const struct signature_options *o,
                      const struct option_list *rest, struct arena *keep)
{
    const struct signature_request request = {
        .rules = o->rules, .engine = o->engine, .before = o->before};
    struct signature_list list;
    struct fault fault = FAULT_INIT;
    uint32_t files = 0;
    for (uint32_t i = 0; i < rest->count; i++)
        files += strcmp(rest->items[i], "-") == 0 || path_is_file(rest->items[i]);
    if (files == 0 && rest->count <= 1)
        return print_run(o, &request, rest->count > 0 ? rest->items[0] : "latest", keep);
    if (files < rest->count)
        return verb_usage_error(self, "one run, or files that exist and - for standard input");
    if (signatures_of_files(rest->items, rest->count, o->name, &request, keep, &list, &fault) !=
        ERR_NONE)
        return verb_fault(&fault);
    return print_list(&list, o);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct signature_options o = {.db = STORED_DATABASE, .name = "stream", .top = UINT64_MAX};
    const struct option_row rows[] = {
        {"--rules", OPTION_STRING, &o.rules, "FILE", "rules in place of the built-in ones"},
        {"--show-rules", OPTION_FLAG, &o.show_rules, NULL, "print the built-in rules, to edit"},
        {"--engine", OPTION_STRING, &o.engine, "NAME",
         "the engine whose stacks are counted (default: the engines under test)"},
        {"--name", OPTION_STRING, &o.name, "TEXT",
         "of a stream: where a new signature is first seen"},
        {"--before", OPTION_STRING, &o.before, "FILE",
         "what this printed earlier with --json, for the change of rank"},
        {"--top", OPTION_UINT, &o.top, "N", "how many are shown (default 20, with --json all)"},
        {"--json", OPTION_FLAG, &o.as_json, NULL, "one JSON document"},
        {"--db", OPTION_STRING, &o.db, "FILE", "database (default " STORED_DATABASE ")"},
    };
    struct option_list rest;
    struct arena keep;
    int code = EXIT_GOOD;
    arena_init(&keep, 0);
    if (options_parse(self, rows, sizeof rows / sizeof rows[0], argc, argv, &keep, &rest, &code)) {
        if (o.top == UINT64_MAX && !o.as_json)
            o.top = TOP_DEFAULT;
        if (o.show_rules)
            (void)fputs(signatures_default_rules(), stdout);
        else
            code = signatures(self, &o, &rest, &keep);
    }
    arena_free(&keep);
    return code;
}

const struct verb verb_signatures = {
    .name = "signatures",
    .summary = "the most frequent problems of a run or a stream of stacks",
    .usage = "[RUN | FILE...|-]",
    .details =
        "A stream is what `twinstack resolve --ndjson` prints, or bare offset stacks.  Ranks "
        "before "
        "and\nfirst sights come from the earlier runs of the database, or from --before.\n\n"
        "Rules are lines of a text; the first that matches a frame decides:\n\n"
        "  skip class system        skip frames of this class (own, capture, runtime, system)\n"
        "  skip function memcpy*    nor do these\n"
        "  skip module ucrtbase.dll\n"
        "  join function *assert*   goes into the signature, and so does the next frame\n"
        "  keep module ntdll.dll    goes in, whatever later rules say\n"
        "  depth 3                  how many frames make a signature\n\n"
        "example:\n  twinstack signatures --show-rules > rules.txt\n"
        "  twinstack signatures latest --rules rules.txt --top 10\n"
        "  twinstack resolve --symbols symbols --ndjson today.txt |\n"
        "    twinstack signatures - --name today --before yesterday.json --json > today.json",
    .exits =
        "  0  printed\n  2  usage\n  3  rules or stacks cannot be read, or there is no such run\n"
        "  4  database not usable\n  5  there is no stack",
    .run = run,
};
