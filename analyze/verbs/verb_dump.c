/* twinstack dump: what a minidump holds, its stacks, and how each frame was found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "library/twinstack.h"
#include "model/names.h"
#include "verbs/common.h"
#include "verbs/fetch_options.h"
#include "verbs/index_note.h"
#include "verbs/library_fault.h"
#include "verbs/verbs.h"

enum form { FORM_TEXT, FORM_JSON, FORM_STACKWALK, FORM_COUNT };

static const char *const form_names[FORM_COUNT] = {"text", "json", "stackwalk-json"};

struct dump_request {
    const char *format;
    const char *explain;
    struct option_list symbols;
    enum form form;
    bool json, stacks, plain, lint;
    uint64_t thread; /* 0: the suspect */
    struct fetch_words fetch;
    const char *cache;
};

/* The form that --format and --json ask for. */
static bool choose_form(const struct verb *self, struct dump_request *q)
{
    int form = q->json ? FORM_JSON : FORM_TEXT;
    if (q->format != NULL)
        form = name_index(form_names, FORM_COUNT, q->format);
    if (form < 0) {
        (void)verb_usage_error(self, "there is no format '%s'", q->format);
        return false;
    }
    q->form = q->json && form == FORM_TEXT ? FORM_JSON : (enum form)form;
    return true;
}

static enum twinstack_dump_part part_of(const struct dump_request *q)
{
    if (q->form == FORM_STACKWALK)
        return TWINSTACK_DUMP_STACKWALK;
    if (q->lint)
        return TWINSTACK_DUMP_LINT;
    if (q->explain != NULL)
        return strcmp(q->explain, "all") == 0 ? TWINSTACK_DUMP_WALK : TWINSTACK_DUMP_FRAME;
    return q->stacks ? TWINSTACK_DUMP_STACKS : TWINSTACK_DUMP_SUMMARY;
}

/* What to ask the library for. False: the user asks for something that does not exist. */
static bool choose_part(const struct verb *self, const struct dump_request *q,
                        struct twinstack_dump_request *out)
{
    char *end = NULL;
    const uint64_t frame = q->explain != NULL ? strtoull(q->explain, &end, 10) : 0;

    *out = (struct twinstack_dump_request){
        .size = sizeof *out,
        .part = part_of(q),
        .json = q->form != FORM_TEXT,
        .thread_id = (uint32_t)q->thread,
        .frame = frame < UINT32_MAX ? (uint32_t)frame : UINT32_MAX,
    };
    if (out->part != TWINSTACK_DUMP_FRAME || (end != q->explain && *end == '\0'))
        return true;
    (void)verb_usage_error(self, "--explain takes the number of a frame or all, not '%s'",
                           q->explain);
    return false;
}

/* Prints what could be read, and then whether the dump is damaged. */
static int print_dump(const struct verb *self, const struct twinstack_dump_request *request,
                      struct twinstack_dump *dump)
{
    struct twinstack_error error;
    const char *text;
    size_t bytes;

    enum twinstack_status status = twinstack_dump_write(dump, request, &text, &bytes, &error);
    if (status == TWINSTACK_USAGE)
        return verb_usage_error(self, "%s", error.text);
    if (status == TWINSTACK_OK) {
        (void)fwrite(text, 1, bytes, stdout);
        status = twinstack_dump_damage(dump, &error);
    }
    if (status != TWINSTACK_OK)
        return library_fault(status, &error);
    return request->part == TWINSTACK_DUMP_LINT && twinstack_dump_fault_count(dump) > 0
               ? EXIT_DIFFERENT
               : EXIT_GOOD;
}

static int dump(const struct verb *self, void *given, const struct option_list *words,
                struct arena *keep)
{
    struct dump_request *q = given;
    struct twinstack_dump_request request;
    struct twinstack_error error;
    struct twinstack_symbols *symbols;
    struct twinstack_dump *dump;
    uint64_t ns = 0;

    (void)keep;
    if (!choose_form(self, q))
        return EXIT_USAGE;
    if (words->count != 1)
        return verb_usage_error(self, "one minidump file is expected, not %" PRIu32, words->count);
    if (!choose_part(self, q, &request))
        return EXIT_USAGE;
    struct twinstack_options options = {.size = sizeof options,
                                        .paths = q->symbols.items,
                                        .path_count = q->symbols.count,
                                        .indexing = TWINSTACK_INDEX_IMAGES,
                                        .cache = q->cache,
                                        .system = 1};
    fetch_options_fill(&options, &q->fetch);
    enum twinstack_status status = twinstack_open(&options, &symbols, &error);
    if (status != TWINSTACK_OK)
        return library_fault(status, &error);
    if (twinstack_path_fault(symbols, &error) != TWINSTACK_OK)
        fetch_options_warn(error.text);
    status = twinstack_dump_open(symbols, words->items[0], &dump, &error);
    if (status != TWINSTACK_OK) {
        twinstack_close(symbols);
        return library_fault(status, &error);
    }
    if (q->plain)
        twinstack_dump_ignore_code_map(dump);
    const int code = print_dump(self, &request, dump);
    twinstack_dump_close(dump);
    const uint32_t built = twinstack_indexes_built(symbols, &ns);
    index_note(built, ns);
    unused_note(twinstack_unused(symbols));
    twinstack_close(symbols);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct dump_request q = {.format = NULL};
    const struct option_row rows[] = {
        OPTION_AS(STACKS, &q.stacks, "print that of every thread, the crashed one first"),
        OPTION(SYMBOLS, &q.symbols),
        OPTION(CACHE, &q.cache),
        FETCH_OPTION_ROWS(q.fetch),
        {"--thread", OPTION_UINT, &q.thread, "ID", "this thread instead of the crashed one"},
        {"--plain", OPTION_FLAG, &q.plain, NULL,
         "without the code map of generated code that our capture adds"},
        OPTION_AS(EXPLAIN, &q.explain, "all: every frame of the walk"),
        {"--lint", OPTION_FLAG, &q.lint, NULL,
         "what is wrong by the format, and what a Windows debugger makes of it"},
        OPTION_AS(JSON, &q.json, "all streams, or the stacks"),
        OPTION_WORDS(FORMAT, "text|json|stackwalk-json", &q.format,
                     "stackwalk-json is rust-minidump's schema"),
    };
    return verb_main(self, rows, COUNT_OF(rows), dump, &q, argc, argv);
}

const struct verb verb_dump = {
    .name = "dump",
    .summary = "show what a minidump holds, and its stacks",
    .usage = "FILE [--stacks] [--symbols DIR|FILE]... [--explain FRAME|all | --lint] [--json]",
    .details =
        "Reads a minidump from any writer and walks its threads without Windows.  Without options "
        "it\n"
        "prints a summary and the crashed thread's stack.  Each frame says how it was found:\n"
        "context, unwind, leaf, frame_pointer, frame_size or scan.\n\n"
        "--json reports every stream. `reported_in` names the member of\n"
        "the document that has the stream's facts; a stream without one has them in `content`.\n"
        "What only a stream's writer understands is printed there as text if it is text,\n"
        "otherwise as the first 16 KiB.\n"
        "--lint reports what is wrong by the format, even where this program reads what was "
        "meant.\n"
        "Streams of Windows CE are reported as bytes.\n\n"
        "examples:\n"
        "  twinstack dump crash.dmp --symbols symbols/\n"
        "  twinstack dump crash.dmp --stacks --json\n"
        "  twinstack dump crash.dmp --explain 2\n"
        "  twinstack dump crash.dmp --lint\n"
        "  twinstack dump crash.dmp --format stackwalk-json > stack.json",
    .exits = "  0  printed\n  1  --lint: there are faults\n  2  usage\n  3  the file is missing, "
             "not a minidump, or damaged (what "
             "can be read is "
             "printed)",
    .run = run,
};
