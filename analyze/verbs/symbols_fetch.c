/* See symbols_fetch.h. */
#include "verbs/symbols_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process.h"
#include "fetch/fetch.h"
#include "format/minidump/minidump.h"
#include "stacks/stack_input.h"
#include "symbol/symbol_store.h"

/* The modules that state an identity, each once. */
struct wanted {
    struct arena *keep;
    const struct module **modules;
    uint32_t count, room;
};

static bool is_same(const struct module *a, const struct module *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->debug_id, b->debug_id) == 0 &&
           strcmp(a->code_id, b->code_id) == 0 &&
           strcmp(a->build_id != NULL ? a->build_id : "", b->build_id != NULL ? b->build_id : "") ==
               0;
}

/* MODULE need not outlive the call. */
static void add_module(struct wanted *wanted, const struct module *module)
{
    if ((module->debug_id[0] == '\0' && module->code_id[0] == '\0' && module->build_id == NULL) ||
        module->name == NULL)
        return;
    for (uint32_t i = 0; i < wanted->count; i++)
        if (is_same(wanted->modules[i], module))
            return;
    struct module *copy = ARENA_NEW(wanted->keep, struct module);
    if (!ARENA_ROOM(wanted->keep, wanted->modules, wanted->room, (uint64_t)wanted->count + 1) ||
        copy == NULL)
        return;
    *copy = *module;
    copy->name = arena_string(wanted->keep, module->name);
    copy->pdb_name = arena_string(wanted->keep, module->pdb_name);
    copy->build_id = arena_string(wanted->keep, module->build_id);
    wanted->modules[wanted->count++] = copy;
}

static int read_dump(const char *path, struct wanted *wanted)
{
    struct fault fault = FAULT_INIT;
    struct file_map map;
    struct minidump dump;

    if (file_map(path, &map, &fault) != ERR_NONE)
        return verb_fault(&fault);
    if (minidump_read(map.data, map.bytes, wanted->keep, &dump, &fault) == ERR_NONE)
        for (uint32_t i = 0; i < dump.module_count; i++)
            add_module(wanted, &dump.modules[i].module);
    file_unmap(&map);
    fault_set_path(&fault, path);
    return fault.code != ERR_NONE ? verb_fault(&fault) : EXIT_GOOD;
}

static int read_stack(const char *path, struct wanted *wanted)
{
    struct fault fault = FAULT_INIT;
    struct stack_input *input;
    struct stack_item item;
    struct arena scratch;

    if (stack_input_open_path(path, &input, &fault) != ERR_NONE)
        return verb_fault(&fault);
    arena_init(&scratch, 0);
    while (stack_input_next(input, &scratch, &item)) {
        for (uint32_t i = 0; item.fault.code == ERR_NONE && i < item.stack.frame_count; i++)
            if (item.stack.frames[i].module != NULL)
                add_module(wanted, item.stack.frames[i].module);
        if (item.fault.code != ERR_NONE && fault.code == ERR_NONE)
            fault = item.fault;
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    stack_input_close(input);
    fault_set_path(&fault, path);
    return fault.code != ERR_NONE ? verb_fault(&fault) : EXIT_GOOD;
}

struct outcome {
    struct json *json; /* NULL: text */
    bool failed;
};

static void print_file(void *context, const struct fetch_file *file)
{
    static const char *const words[] = {"cached", "fetched",     "absent", "offline",
                                        "wrong",  "unreachable", "refused"};
    struct outcome *outcome = context;
    const char *word = words[file->result];

    if (file->result >= FETCH_WRONG)
        outcome->failed = true;
    if (outcome->json == NULL) {
        (void)printf("%-11s  %s\n", word, file->place);
        return;
    }
    json_object(outcome->json);
    json_key_string(outcome->json, "file", file->place);
    json_key_string(outcome->json, "result", word);
    json_key_string(outcome->json, "path", file->path[0] != '\0' ? file->path : NULL);
    json_key_string(outcome->json, "text", file->text[0] != '\0' ? file->text : NULL);
    json_object_end(outcome->json);
}

static int fetch_all(const struct symbols_fetch *request, const struct wanted *wanted)
{
    const struct symbol_store_options options = {
        .roots = request->roots.items,
        .root_count = request->roots.count,
        .system = true,
        .cache = request->cache,
        .fetch = fetch_options_make(&request->fetch),
    };
    struct fault fault = FAULT_INIT;
    struct symbol_store *store;
    struct json json;
    struct outcome outcome = {request->json ? &json : NULL, false};

    if (symbol_store_open(&options, &store, &fault) != ERR_NONE)
        return verb_fault(&fault);
    fetch_options_check(store);
    if (request->json)
        json_print_list(&json, "files");
    (void)symbol_store_fetch(store, wanted->modules, wanted->count, print_file, &outcome, &fault);
    if (request->json)
        json_print_list_end(&json);
    symbol_store_close(store);
    if (fault.code != ERR_NONE)
        return verb_fault(&fault);
    if (process_interrupted())
        return EXIT_INTERRUPTED;
    return outcome.failed ? EXIT_INPUT : EXIT_GOOD;
}

int symbols_fetch(const struct symbols_fetch *request)
{
    struct arena keep;
    struct wanted wanted = {.keep = &keep};
    int code = EXIT_GOOD;

    arena_init(&keep, 0);
    process_catch_interrupts();
    for (uint32_t i = 0; i < request->dumps.count && code == EXIT_GOOD; i++)
        code = read_dump(request->dumps.items[i], &wanted);
    for (uint32_t i = 0; i < request->stacks.count && code == EXIT_GOOD; i++)
        code = read_stack(request->stacks.items[i], &wanted);
    if (code == EXIT_GOOD && wanted.count == 0) {
        log_warn("no module there states an identity");
        code = EXIT_NOTHING;
    } else if (code == EXIT_GOOD) {
        code = fetch_all(request, &wanted);
    }
    arena_free(&keep);
    return code;
}
