/* twinstack signatures: the most frequent problems of a run or a stream: how often each crash
 * signature occurs, since when, and how its rank changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process.h"
#include "model/names.h"
#include "study/signatures.h"
#include "symbol/symbol_store.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/index_note.h"
#include "verbs/open_store.h"
#include "verbs/terminal.h"
#include "verbs/verbs.h"

enum { TOP_DEFAULT = 20, MAX_SIGNATURES_DEFAULT = 200000, MAX_SIGNATURES_MOST = 100000000 };

enum form { FORM_TEXT, FORM_JSON, FORM_NDJSON, FORM_COLUMNS, FORM_COUNT };

static const char *const form_names[FORM_COUNT] = {"text", "json", "ndjson", "columns"};

struct signature_options {
    const char *db, *rules, *engine, *before, *name, *format, *cache, *index;
    struct option_list roots;
    uint64_t top, jobs, max_signatures;
    enum form form; /* of --format, --json or --ndjson */
    bool as_json, as_ndjson, show_rules, merge;
    struct fetch_words fetch;
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
    if (list->floor > 0)
        (void)printf(
            "Not exact: there were more than %u signatures. Counts are at most %" PRIu64
            " too high,\nand no signature that is missing was seen more often than that.\n",
            list->count, list->floor);
}

static int print_list(const struct signature_list *list, const struct signature_options *o)
{
    struct json j;
    if (list->bad > 0)
        log_warn("left out: %" PRIu64 " line%s no stack", list->bad,
                 list->bad == 1 ? " is" : "s are");
    const bool is_partial = o->form == FORM_COLUMNS || o->form == FORM_NDJSON;
    if (list->stacks == 0 && !is_partial) { /* a part of a stream may be empty */
        log_error("%s holds no stack", list->of);
        return EXIT_NOTHING;
    }
    if (o->form == FORM_TEXT) {
        print_text(list, o->top);
        return EXIT_GOOD;
    }
    if (is_partial) {
        if (signatures_write_partial(stdout, list, o->top, o->form == FORM_NDJSON))
            return EXIT_GOOD;
        log_error("output could not be written whole");
        return EXIT_INPUT;
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
    store_close(store);
    return code;
}

/* Of a stream that was not read to its end: what was counted until then. */
static int print_counted(const struct signature_list *list, const struct signature_options *o)
{
    const int code = print_list(list, o);
    if (!process_interrupted())
        return code;
    log_warn("interrupted: this is what was read until then");
    return EXIT_INTERRUPTED;
}

/* Resolves and counts in one pass. */
static int print_stacks(const struct verb *self, const struct signature_options *o,
                        const struct signature_request *request, const struct option_list *files,
                        struct arena *keep)
{
    static const char *const standard[] = {"-"};
    const bool none = files->count == 0;
    struct symbol_store_options options = {.roots = o->roots.items,
                                           .root_count = o->roots.count,
                                           .cache = o->cache,
                                           .system = true,
                                           .fetch = fetch_options_make(&o->fetch)};
    struct signature_counting counting = {.workers = (uint32_t)o->jobs,
                                          .max_signatures = (uint32_t)o->max_signatures};
    struct signature_list list;
    struct fault fault = FAULT_INIT;
    int code;
    if (!symbol_indexing_parse(o->index, &options.indexing))
        return verb_usage_error(self, "--index is auto, never or always, not '%s'", o->index);
    for (uint32_t i = 0; i < o->roots.count && counting.workers > 1; i++)
        if (path_is_file(o->roots.items[i])) {
            log_warn("-j 1: the file %s is for the first module of the input, so stacks are read "
                     "in order",
                     o->roots.items[i]);
            counting.workers = 1;
        }
    process_catch_interrupts();
    if (symbol_store_open(&options, &counting.store, &fault) != ERR_NONE)
        return verb_fault(&fault);
    fetch_options_check(counting.store);
    if (signatures_of_stacks(none ? standard : files->items, none ? 1 : files->count, o->name,
                             request, &counting, keep, &list, &fault) != ERR_NONE)
        code = verb_fault(&fault);
    else
        code = print_counted(&list, o);
    index_note_of(counting.store);
    unused_note(symbol_store_unused(counting.store, o->roots.items, o->roots.count, keep));
    symbol_store_close(counting.store);
    return code;
}

/* Checks the numbers and words, and sets the options that depend on others. */
static bool complete(const struct verb *self, struct signature_options *o)
{
    int form = name_index(form_names, FORM_COUNT, o->format);
    if (o->as_json)
        form = FORM_JSON;
    else if (o->as_ndjson)
        form = FORM_NDJSON;
    o->form = form >= 0 ? (enum form)form : FORM_TEXT;
    if (o->top == UINT64_MAX && o->form == FORM_TEXT)
        o->top = TOP_DEFAULT;
    if (o->max_signatures == UINT64_MAX)
        o->max_signatures = o->merge ? 0 : MAX_SIGNATURES_DEFAULT;
    if (form < 0)
        (void)verb_usage_error(self, "there is no format '%s': text, columns, json or ndjson",
                               o->format);
    else if (o->jobs < 1 || o->jobs > VERB_JOBS_MAX)
        (void)verb_usage_error(self, "-j is 1 to %d", VERB_JOBS_MAX);
    else if (o->max_signatures > MAX_SIGNATURES_MOST)
        (void)verb_usage_error(self, "--max-signatures is at most %d", MAX_SIGNATURES_MOST);
    else
        return true;
    return false;
}

/* Files and "-" are streams; one word that is neither is a run. */
static int signatures(const struct verb *self, void *given, const struct option_list *rest,
                      struct arena *keep)
{
    struct signature_options *o = given;
    if (o->show_rules)
        return fputs(signatures_default_rules(), stdout) < 0 ? EXIT_INPUT : EXIT_GOOD;
    if (!complete(self, o))
        return EXIT_USAGE;
    const struct signature_request request = {
        .rules = o->rules, .engine = o->engine, .before = o->before};
    struct signature_list list;
    struct fault fault = FAULT_INIT;
    uint32_t files = 0;
    for (uint32_t i = 0; i < rest->count; i++)
        files += strcmp(rest->items[i], "-") == 0 || path_is_file(rest->items[i]);
    if (o->merge && rest->count == 0)
        return verb_usage_error(self, "--merge adds up files that --format columns wrote");
    if (o->roots.count > 0 && !o->merge)
        return print_stacks(self, o, &request, rest, keep);
    if (files == 0 && rest->count <= 1 && !o->merge)
        return print_run(o, &request, rest->count > 0 ? rest->items[0] : "latest", keep);
    if (files < rest->count)
        return verb_usage_error(self, "one run, or files that exist and - for standard input");
    process_catch_interrupts();
    if (o->merge)
        (void)signatures_merged(rest->items, rest->count, o->name, &request,
                                (uint32_t)o->max_signatures, keep, &list, &fault);
    else
        (void)signatures_of_files(rest->items, rest->count, o->name, &request, keep, &list, &fault);
    return fault.code != ERR_NONE ? verb_fault(&fault) : print_counted(&list, o);
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct signature_options o = {.db = STORED_DATABASE,
                                  .name = "stream",
                                  .format = "text",
                                  .index = "auto",
                                  .top = UINT64_MAX,
                                  .jobs = 1,
                                  .max_signatures = UINT64_MAX};
    const struct option_row rows[] = {
        OPTION_AS(SYMBOLS, &o.roots, "with it, offset stacks are resolved and counted in one pass"),
        OPTION_AS(MERGE, &o.merge, "that --format columns or --ndjson wrote"),
        {"--max-signatures", OPTION_UINT, &o.max_signatures, "N",
         "count at most N (200000), the most frequent; limits the memory"},
        OPTION_AS(JOBS, &o.jobs, "stacks; default 1"),
        OPTION(RULES, &o.rules),
        {"--show-rules", OPTION_FLAG, &o.show_rules, NULL, "print the built-in rules, to edit"},
        OPTION(ENGINE, &o.engine),
        OPTION_AS(NAME, &o.name, "the stream, as where new signatures were first seen"),
        {"--before", OPTION_STRING, &o.before, "FILE",
         "earlier output of --json, for the change of rank"},
        {"--top", OPTION_UINT, &o.top, "N", "how many to print (default 20; all with --json)"},
        OPTION_WORDS(FORMAT, "text|json|columns|ndjson", &o.format,
                     "--merge reads columns and ndjson"),
        OPTION(JSON, &o.as_json),
        OPTION_AS(NDJSON, &o.as_ndjson, "for each signature, without unknown members"),
        OPTION(INDEX, &o.index),
        OPTION(CACHE, &o.cache),
        FETCH_OPTION_ROWS(o.fetch),
        OPTION(DB, &o.db),
    };
    return verb_main(self, rows, COUNT_OF(rows), signatures, &o, argc, argv);
}

const struct verb verb_signatures = {
    .name = "signatures",
    .summary = "list the most frequent problems of a run or a stream of stacks",
    .usage = "[RUN | FILE...|-]",
    .details =
        "A stream is what `twinstack resolve --ndjson` prints, or bare offset stacks.  Earlier "
        "ranks\nand first sightings come from the database's earlier runs, or from --before.\n\n"
        "With --symbols, stacks are resolved and counted in one pass; equal stacks are resolved\n"
        "once. Counts are exact up to --max-signatures; above it the least frequent signature "
        "makes\n"
        "room for a new one, and the output states how far counts may be too high. Parts of a\n"
        "stream may be counted separately, on any machine, and added up with --merge in any\n"
        "order.\n\n"
        "Rules are lines of a text; the first that matches a frame decides:\n\n"
        "  skip class system        skip frames of this class (own, capture, runtime, system)\n"
        "  skip function memcpy*    skip these as well\n"
        "  skip module ucrtbase.dll\n"
        "  join function *assert*   goes into the signature, and so does the next frame\n"
        "  forget function NAME     skipped; if it led to a hook of the capture, so are the frames "
        "before\n"
        "  keep module ntdll.dll    goes into the signature, whatever later rules say\n"
        "  depth 3                  how many frames make a signature\n\n"
        "examples:\n  twinstack signatures --symbols symbols -j 2 < today.txt\n"
        "  twinstack signatures --symbols symbols --format columns < part1.txt > part1.tsv\n"
        "  twinstack signatures --merge part1.tsv part2.tsv\n"
        "  twinstack signatures --show-rules > rules.txt\n"
        "  twinstack signatures latest --rules rules.txt --top 10\n"
        "  twinstack resolve --symbols symbols --ndjson today.txt |\n"
        "    twinstack signatures - --name today --before yesterday.json --json > today.json",
    .exits =
        "  0  printed\n  2  usage\n  3  rules or stacks cannot be read, or there is no such run\n"
        "  4  database not usable\n  5  there is no stack\n"
        "  130  interrupted: what was read until then is printed",
    .run = run,
};
