/* twinstack dump: what a minidump holds, its stacks, and how each frame was found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "engine/dump_engine.h"
#include "format/stack/foreign.h"
#include "model/names.h"
#include "symbol/store.h"
#include "verbs/dump_text.h"
#include "verbs/fetch_options.h"
#include "verbs/index_note.h"
#include "verbs/verbs.h"

enum form { FORM_TEXT, FORM_JSON, FORM_STACKWALK, FORM_COUNT };

static const char *const form_names[FORM_COUNT] = {"text", "json", "stackwalk-json"};

struct dump_request {
    const char *path, *format;
    const char *explain;
    struct option_list symbols;
    enum form form;
    bool json, stacks, plain;
    uint64_t thread; /* 0: the suspect */
    struct symbol_store *store;
    struct dump_session *session;
    struct arena *keep;
    struct fetch_words fetch;
    const char *cache;
};

/* A thread with the id of an earlier thread of the list: it cannot be asked for by id. */
static struct stack second_of_its_id(uint32_t thread_id)
{
    return (struct stack){
        .thread_id = thread_id, .state = STACK_FAILED, .stop = STOP_REPEATED_THREAD};
}

/* One thread's stack, or why it cannot be walked. */
static enum status thread_stack(struct dump_request *q, uint32_t thread_id, struct stack *out,
                                struct fault *fault)
{
    struct fault single = FAULT_INIT;
    enum status status = dump_thread_stack(q->session, thread_id, q->store, q->keep, out, &single);
    if (status == ERR_MEMORY) {
        *fault = single;
        return status;
    }
    if (status != ERR_NONE)
        *out = dump_failed_stack(thread_id, &single, q->keep);
    return ERR_NONE;
}

/* All threads in the dump's order, or those asked for with the suspect first. */
static enum status all_stacks(struct dump_request *q, bool suspect_first, struct stack **out,
                              uint32_t *count, struct fault *fault)
{
    const struct minidump *dump = dump_minidump(q->session);
    const char *why;
    uint32_t suspect = q->thread != 0 ? (uint32_t)q->thread : dump_suspect(q->session, &why);
    *count = 0;
    *out = ARENA_ARRAY(q->keep, (size_t)dump->thread_count + 1, struct stack);
    if (*out == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks");
    enum status status = ERR_NONE;
    if (suspect_first)
        status = thread_stack(q, suspect, &(*out)[(*count)++], fault);
    bool all = !suspect_first || q->stacks;
    for (uint32_t i = 0; all && status == ERR_NONE && i < dump->thread_count; i++) {
        const uint32_t id = dump->threads[i].id;
        if (minidump_thread_find(dump, id) != &dump->threads[i])
            (*out)[(*count)++] = second_of_its_id(id);
        else if (!suspect_first || id != suspect)
            status = thread_stack(q, id, &(*out)[(*count)++], fault);
    }
    return status;
}

/* rust-minidump does not walk the thread that wrote the dump, and programs that read its output
 * expect that. */
static int print_stackwalk(struct dump_request *q, struct fault *fault)
{
    const struct minidump *dump = dump_minidump(q->session);
    struct stack *stacks;
    struct registers regs;
    struct json j;
    struct fault ignored = FAULT_INIT;
    enum pc_kind kind;
    uint32_t count, crashed = UINT32_MAX;
    const char *why;
    uint32_t suspect = dump_suspect(q->session, &why);
    if (all_stacks(q, false, &stacks, &count, fault) != ERR_NONE)
        return verb_fault(fault);
    for (uint32_t i = 0; i < count; i++) {
        if (dump->breakpad.present && (dump->breakpad.validity & 1) != 0 &&
            stacks[i].thread_id == dump->breakpad.dump_thread_id)
            stacks[i].frame_count = 0;
        if (stacks[i].thread_id == suspect && crashed == UINT32_MAX)
            crashed = i;
    }
    bool known = dump_registers(q->session, suspect, &regs, &kind, &ignored) == ERR_NONE;
    json_to_stream(&j, stdout, true);
    foreign_stack_write(&j, dump, stacks, count, crashed, known ? &regs : NULL);
    json_newline(&j);
    return EXIT_GOOD;
}

static int print_explain(struct dump_request *q, const struct verb *self, struct fault *fault)
{
    struct unwind_stack walk;
    struct stack resolved;
    const char *why;
    uint64_t index = 0;
    uint32_t thread = q->thread != 0 ? (uint32_t)q->thread : dump_suspect(q->session, &why);
    char *end;
    index = strtoull(q->explain, &end, 10);
    if (end == q->explain || *end != '\0')
        return verb_usage_error(self, "--explain takes the number of a frame, not '%s'",
                                q->explain);
    if (dump_walk(q->session, thread, q->keep, &walk, fault) != ERR_NONE)
        return verb_fault(fault);
    if (index >= walk.frame_count)
        return verb_usage_error(self, "thread %" PRIu32 " has frames 0 to %" PRIu32, thread,
                                walk.frame_count - 1);
    if (q->json) {
        struct json j;
        json_to_stream(&j, stdout, true);
        dump_write_explain(&j, q->session, &walk, (uint32_t)index);
        json_newline(&j);
        return EXIT_GOOD;
    }
    bool named = thread_stack(q, thread, &resolved, fault) == ERR_NONE;
    dump_print_explain(stdout, q->session, &walk, (uint32_t)index, named ? &resolved : NULL);
    return EXIT_GOOD;
}

static void write_stacks(const struct stack *stacks, uint32_t count)
{
    struct json j;
    json_to_stream(&j, stdout, true);
    json_object(&j);
    json_key_uint(&j, "schema_version", 1);
    json_key(&j, "threads");
    json_array(&j);
    for (uint32_t i = 0; i < count; i++) {
        json_object(&j);
        json_key_uint(&j, "id", stacks[i].thread_id);
        json_key_string(&j, "name", stacks[i].thread_name);
        json_key_string(&j, "role", stack_role_text(&stacks[i]));
        json_key_string(&j, "state", stack_state_name(stacks[i].state));
        json_key_string(&j, "stop", stack_stop_text(&stacks[i]));
        json_key_uint(&j, "left_out", stacks[i].left_out);
        json_key(&j, "stack");
        stack_write_json(&j, &stacks[i]);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_newline(&j);
}

static int print_dump(struct dump_request *q, struct fault *fault)
{
    struct stack *stacks;
    uint32_t count;
    if (!q->stacks && dump_tell(q->session, q->keep, fault) != ERR_NONE)
        return verb_fault(fault);
    if (q->json && !q->stacks) {
        struct json j;
        json_to_stream(&j, stdout, true);
        minidump_write_json(&j, dump_minidump(q->session));
        json_newline(&j);
        return EXIT_GOOD;
    }
    if (all_stacks(q, true, &stacks, &count, fault) != ERR_NONE)
        return verb_fault(fault);
    if (q->json) {
        write_stacks(stacks, count);
        return EXIT_GOOD;
    }
    if (!q->stacks)
        dump_print_summary(stdout, q->path, q->session);
    for (uint32_t i = 0; i < count; i++)
        dump_print_stack(stdout, &stacks[i]);
    return EXIT_GOOD;
}

/* Prints what could be read of a damaged dump, and that it is damaged. */
static int report_damage(const struct dump_request *q)
{
    const struct minidump *dump = dump_minidump(q->session);
    for (uint32_t i = 0; i < dump->stream_count; i++) {
        struct fault fault = dump->streams[i].fault;
        if (fault.code == ERR_NONE)
            continue;
        fault_set_path(&fault, q->path);
        return verb_fault(&fault);
    }
    return EXIT_GOOD;
}

/* The form that --format and --json ask for. */
static bool choose_form(const struct verb *self, struct dump_request *q)
{
    const int form = q->format != NULL ? name_index(form_names, FORM_COUNT, q->format)
                     : q->json         ? FORM_JSON
                                       : FORM_TEXT;
    if (form < 0) {
        (void)verb_usage_error(self, "there is no format '%s'", q->format);
        return false;
    }
    q->form = q->json && form == FORM_TEXT ? FORM_JSON : (enum form)form;
    q->json = q->form == FORM_JSON;
    return true;
}

static int dump(const struct verb *self, void *given, const struct option_list *words,
                struct arena *keep)
{
    struct dump_request *q = given;
    struct fault fault = FAULT_INIT;
    if (!choose_form(self, q))
        return EXIT_USAGE;
    if (words->count != 1)
        return verb_usage_error(self, "one minidump file is expected, not %" PRIu32, words->count);
    q->path = words->items[0];
    q->keep = keep;
    struct symbol_store_options options = {.roots = q->symbols.items,
                                           .root_count = q->symbols.count,
                                           .names = NAMES_SHORT,
                                           .system = true,
                                           .indexing = INDEXING_IMAGES,
                                           .cache = q->cache,
                                           .fetch = fetch_options_make(&q->fetch)};
    int code;
    if (symbol_store_open(&options, &q->store, &fault) != ERR_NONE)
        return verb_fault(&fault);
    fetch_options_check(q->store);
    if (dump_open(q->path, q->store, q->keep, &q->session, &fault) != ERR_NONE) {
        symbol_store_close(q->store);
        return verb_fault(&fault);
    }
    if (q->plain)
        dump_ignore_code_map(q->session);
    if (q->form == FORM_STACKWALK)
        code = print_stackwalk(q, &fault);
    else if (q->explain != NULL)
        code = print_explain(q, self, &fault);
    else
        code = print_dump(q, &fault);
    if (code == EXIT_GOOD)
        code = report_damage(q);
    dump_close(q->session);
    index_note_of(q->store);
    symbol_store_close(q->store);
    return code;
}

static int run(const struct verb *self, int argc, char **argv)
{
    struct dump_request q = {.keep = NULL};
    const struct option_row rows[] = {
        {"--stacks", OPTION_FLAG, &q.stacks, NULL, "every thread's stack, the crashed one first"},
        {"--symbols", OPTION_LIST, &q.symbols, "DIR|FILE|SRV",
         "symbol store, folder, file, or server: srv*CACHE*URL; may be repeated"},
        OPTION_CACHE(&q.cache),
        FETCH_OPTION_ROWS(q.fetch),
        {"--thread", OPTION_UINT, &q.thread, "ID", "this thread instead of the crashed one"},
        {"--plain", OPTION_FLAG, &q.plain, NULL,
         "without the code map of generated code that our capture adds"},
        {"--explain", OPTION_STRING, &q.explain, "FRAME",
         "how the walk found that frame and its caller"},
        {"--json", OPTION_FLAG, &q.json, NULL, "one JSON document: all streams, or the stacks"},
        {"--format", OPTION_STRING, &q.format, "text|json|stackwalk-json",
         "output format; stackwalk-json is rust-minidump's schema"},
    };
    return verb_main(self, rows, COUNT_OF(rows), dump, &q, argc, argv);
}

const struct verb verb_dump = {
    .name = "dump",
    .summary = "show what a minidump holds, and its stacks",
    .usage = "FILE [--stacks] [--symbols DIR|FILE]... [--explain FRAME] [--json]",
    .details =
        "Reads a minidump of any writer and walks its threads without Windows.  Without options "
        "it\n"
        "prints a summary and the crashed thread's stack.  Each frame says how it was found:\n"
        "context, unwind, leaf, frame_pointer, frame_size or scan.\n\n"
        "--json reports every stream: in the member that its row names (reported_in; told_in is\n"
        "an older name of that), as the row's content, or, if only the stream's writer knows what\n"
        "it means, as text if it is text, else as the first 16 KiB of its bytes.\n"
        "Windows CE's dumps are reported this way too; their stacks are not walked.\n\n"
        "examples:\n"
        "  twinstack dump crash.dmp --symbols symbols/\n"
        "  twinstack dump crash.dmp --stacks --json\n"
        "  twinstack dump crash.dmp --explain 2\n"
        "  twinstack dump crash.dmp --format stackwalk-json > stack.json",
    .exits = "  0  printed\n  2  usage\n  3  the file is missing, not a minidump, or damaged (what "
             "can be read is "
             "printed)",
    .run = run,
};
