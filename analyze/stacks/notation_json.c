/* The JSON form of offset stacks: one document, or one object per line.
 *
 * {schema_version, label, modules: [{index, name, code_id, debug_id, mvid, base, size, ...}],
 *  threads: [{id, name, role, stacks: [{walker, stop, walk_ns, frames: [{module, offset or address,
 *  kind, gap}]}]}]}; `frames` in place of `stacks`, and either in place of `threads`, are fine.
 *
 * Facts: the contract "Offset stack, JSON form". Only the modules that a frame names are read, so
 * that the cost depends on the stack alone. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "stacks/stack_reader.h"

struct json_module {
    uint64_t index;
    const cJSON *object;
    const struct module *module; /* once it was needed; in the arena of the stack */
};

struct json_modules {
    struct json_module *items; /* sorted by index */
    uint32_t count;
};

static int compare_modules(const void *left, const void *right)
{
    const struct json_module *a = left;
    const struct json_module *b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

static enum status list_modules(struct stack_input *input, struct fault *fault)
{
    const cJSON *array = json_get_array(input->object, "modules", fault);
    const cJSON *at;
    const size_t count = array != NULL ? (size_t)cJSON_GetArraySize(array) : 0;

    input->modules = NULL;
    if (fault->code != ERR_NONE)
        return fault->code;
    if (count > LIMIT_MODULES)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "modules");
    struct json_modules *list = ARENA_NEW(&input->scratch, struct json_modules);
    if (list == NULL ||
        (list->items = ARENA_ARRAY(&input->scratch, count + 1, struct json_module)) == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "modules");
    cJSON_ArrayForEach(at, array)
    {
        struct json_module *item = &list->items[list->count];
        item->object = at;
        item->index = json_get_uint(at, "index", list->count, fault);
        list->count++;
    }
    array_sort(list->items, list->count, sizeof *list->items, compare_modules);
    input->modules = list;
    return fault->code;
}

/* Copies an identity as model/module.h spells it: hex digits in upper case, no braces or dashes.
 * Anything else is not an identity. */
static bool copy_id(const char *text, bool upper, char *out, size_t room)
{
    size_t n = 0;
    if (text == NULL)
        return true;
    for (; *text != '\0'; text++) {
        char c = *text;
        if (c == '-' || c == '{' || c == '}')
            continue;
        if (strchr("0123456789abcdefABCDEF", c) == NULL || n + 1 >= room)
            return false;
        if (upper && c >= 'a' && c <= 'f')
            c = (char)(c - 'a' + 'A');
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

static const struct module *read_module(struct json_module *item, struct arena *keep,
                                        struct fault *fault)
{
    struct module *module = ARENA_NEW(keep, struct module);
    if (module == NULL) {
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "module");
        return NULL;
    }
    const char *name = json_get_string(item->object, "name", keep, fault);
    const char *code_id = json_get_string(item->object, "code_id", keep, fault);
    const char *debug_id = json_get_string(item->object, "debug_id", keep, fault);
    const char *mvid = json_get_string(item->object, "mvid", keep, fault);
    module->index = (uint32_t)item->index;
    module->name = name != NULL ? path_base(name) : "";
    module->path = name;
    module->pdb_name = json_get_string(item->object, "pdb_name", keep, fault);
    module->base_va = json_get_hex(item->object, "base", 0, fault);
    module->image_bytes = json_get_hex(item->object, "size", 0, fault);
    module->loaded_at_ns = json_get_uint(item->object, "loaded_at", 0, fault);
    module->unloaded_at_ns = json_get_uint(item->object, "unloaded_at", MODULE_STILL_LOADED, fault);
    char build_id[INPUT_BUILD_ID_BYTES];
    if (code_id != NULL && strlen(code_id) >= sizeof module->code_id &&
        copy_id(code_id, false, build_id, sizeof build_id)) { /* of ELF */
        for (char *c = build_id; *c != '\0'; c++)
            *c = (char)(*c >= 'A' && *c <= 'F' ? *c + ('a' - 'A') : *c);
        module->build_id = arena_string(keep, build_id);
        code_id = NULL;
    }
    if (!copy_id(code_id, false, module->code_id, sizeof module->code_id))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "code_id",
                       "expected timestamp and image size in hexadecimal");
    if (!copy_id(debug_id, true, module->debug_id, sizeof module->debug_id))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "debug_id",
                       "expected the GUID's 32 hexadecimal digits and the age");
    if (mvid != NULL && mvid[0] != '\0' && !module_mvid_parse(mvid, strlen(mvid), module->mvid))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "mvid",
                       "expected a GUID's 32 hexadecimal digits");
    /* the timestamp is in upper case, the size in lower case, so that ids compare equal */
    for (size_t i = 0; module->code_id[i] != '\0'; i++) {
        char *c = &module->code_id[i];
        if (i < 8 && *c >= 'a' && *c <= 'f')
            *c = (char)(*c - 'a' + 'A');
        else if (i >= 8 && *c >= 'A' && *c <= 'F')
            *c = (char)(*c - 'A' + 'a');
    }
    return module;
}

static const struct module *module_of(const struct stack_input *input, const cJSON *member,
                                      struct arena *keep, struct fault *fault)
{
    const struct json_modules *list = input->modules;
    if (!cJSON_IsNumber(member) || !(member->valuedouble >= 0)) {
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "module of a frame",
                       "expected an index into modules, or null");
        return NULL;
    }
    uint32_t low = 0, high = list->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((double)list->items[middle].index < member->valuedouble)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == list->count || (double)list->items[low].index != member->valuedouble) {
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "module of a frame",
                       "no module has that index");
        return NULL;
    }
    struct json_module *item = &list->items[low];
    if (item->module == NULL)
        item->module = read_module(item, keep, fault);
    return item->module;
}

static void read_frame(struct stack_input *input, const cJSON *object, struct arena *keep,
                       struct fault *fault)
{
    struct frame frame = {.found_by = FOUND_GIVEN, .identity = IDENTITY_UNCHECKED};
    const cJSON *module = cJSON_GetObjectItemCaseSensitive(object, "module");
    const cJSON *offset = cJSON_GetObjectItemCaseSensitive(object, "offset");
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(object, "kind");
    const cJSON *gap = cJSON_GetObjectItemCaseSensitive(object, "gap");

    if (!cJSON_IsObject(object)) {
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frame", "expected an object");
        return;
    }
    if (cJSON_IsNumber(gap) && gap->valuedouble >= 1 && gap->valuedouble < UINT32_MAX)
        input->builder.left_out += (uint64_t)gap->valuedouble;
    frame.kind = input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN;
    if (cJSON_IsString(kind)) {
        if (!pc_kind_parse(kind->valuestring, &frame.kind))
            fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "kind of a frame",
                           "expected interrupted or return");
    }
    if (module != NULL && !cJSON_IsNull(module)) {
        frame.module = module_of(input, module, keep, fault);
        if (frame.module == NULL)
            return;
        frame.module_name = frame.module->name;
        frame.offset = json_get_hex(object, "offset", 0, fault);
        if (offset == NULL || cJSON_IsNull(offset))
            fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frame",
                           "a frame in a module needs an offset");
        const uint64_t method = json_get_hex(object, "method", 0, fault);
        if (method != 0 && (method >> 24 != 6 || frame.offset > UINT32_MAX))
            fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "method of a frame",
                           "expected a token 0x06...... and an offset in its IL");
        else
            frame.method_token = (uint32_t)method;
        frame.pc_va = method != 0                  ? 0
                      : frame.module->base_va != 0 ? frame.module->base_va + frame.offset
                                                   : 0;
    } else {
        frame.offset =
            json_get_hex(object, "address", json_get_hex(object, "offset", 0, fault), fault);
        frame.pc_va = frame.offset;
    }
    builder_add(&input->builder, frame);
}

static void name_stack(struct stack_input *input, const cJSON *walk, struct arena *keep,
                       struct stack *out, struct fault *fault)
{
    const cJSON *thread = input->thread != NULL ? input->thread : input->object;
    const char *walker = json_get_string(walk, "walker", keep, fault);
    const char *label = json_get_string(walk, "label", keep, fault);

    if (label == NULL)
        label = json_get_string(input->object, "label", keep, fault);
    out->thread_id = (uint32_t)json_get_uint(thread, "id", 0, fault);
    out->thread_name = json_get_string(thread, "name", keep, fault);
    stack_set_role_text(out, json_get_string(thread, "role", keep, fault));
    stack_set_stop_text(out, json_get_string(walk, "stop", keep, fault));
    out->walk_ns = json_get_uint(walk, "walk_ns", 0, fault);
    out->sample = (uint32_t)json_get_uint(walk, "sample", 0, fault);
    out->engine = walker != NULL ? arena_printf(keep, "offset:%s", walker) : NULL;
    out->label = label;
    if (input->many)
        out->label = arena_printf(keep, "%s%sthread %u%s%s", label != NULL ? label : "",
                                  label != NULL ? " " : "", (unsigned)out->thread_id,
                                  walker != NULL ? " " : "", walker != NULL ? walker : "");
}

/* Reads the stack whose frames are the member `frames` of WALK. */
static void read_stack(struct stack_input *input, const cJSON *walk, struct arena *keep,
                       struct stack_item *out)
{
    struct fault *fault = &out->fault;
    const cJSON *frames = json_get_array(walk, "frames", fault);
    const cJSON *at;
    struct stack named = {0};

    name_stack(input, walk, keep, &named, fault);
    out->label = named.label;
    if (frames == NULL && fault->code == ERR_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack",
                       "there are no threads, stacks or frames");
    cJSON_ArrayForEach(at, frames)
    {
        if (fault->code == ERR_NONE)
            read_frame(input, at, keep, fault);
    }
    for (uint32_t i = 0; input->modules != NULL && i < input->modules->count; i++)
        input->modules->items[i].module = NULL; /* they live in KEEP */
    if (builder_finish(input, true, keep, &out->stack) != ERR_NONE)
        fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stack");
    named.frames = out->stack.frames;
    named.frame_count = out->stack.frame_count;
    named.left_out = out->stack.left_out;
    out->stack = named;
    if (fault->code != ERR_NONE) {
        if (fault->offset == FAULT_NO_OFFSET)
            fault->offset = input->document_offset;
        fault_set_path(fault, input->name);
    }
}

/* Moves to the first walk at or after the given thread; a thread without `stacks` is its own. */
static void seek_walk(struct stack_input *input, const cJSON *thread)
{
    input->walk = NULL;
    for (; thread != NULL; thread = thread->next) {
        const cJSON *walks = cJSON_GetObjectItemCaseSensitive(thread, "stacks");
        input->thread = thread;
        input->walk = cJSON_IsArray(walks) ? walks->child : thread;
        if (input->walk != NULL)
            return;
    }
    input->thread = NULL;
}

static void start_object(struct stack_input *input, const cJSON *object, struct fault *fault)
{
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(object, "threads");

    arena_reset(&input->scratch);
    input->object = object;
    input->thread = input->walk = NULL;
    input->many = false;
    if (!cJSON_IsObject(object)) {
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack", "expected an object");
        return;
    }
    if (json_get_uint(object, "schema_version", 1, fault) > 1)
        fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "schema_version",
                       "made by a newer program");
    if (list_modules(input, fault) != ERR_NONE)
        return;
    if (cJSON_IsArray(threads)) {
        seek_walk(input, threads->child);
        input->many = input->walk != NULL && (threads->child->next != NULL ||
                                              (input->walk != input->thread && input->walk->next));
    } else {
        const cJSON *walks = cJSON_GetObjectItemCaseSensitive(object, "stacks");
        input->walk = cJSON_IsArray(walks) ? walks->child : object;
        input->many = input->walk != NULL && input->walk != object && input->walk->next != NULL;
    }
}

/* Moves past the walk that was returned. */
static void next_walk(struct stack_input *input)
{
    const cJSON *walk = input->walk;
    if (walk == input->object)
        input->walk = NULL;
    else if (walk != input->thread && walk->next != NULL)
        input->walk = walk->next;
    else
        seek_walk(input, input->thread != NULL ? input->thread->next : NULL);
}

/* Reads the next document.  False at the end; *out has a fault when it is bad. */
static bool next_document(struct stack_input *input, struct stack_item *out)
{
    struct stack_line line = {NULL, 0, input->offset, false};
    char *text;

    cJSON_Delete(input->document);
    input->document = NULL;
    if (input->form == INPUT_JSON) {
        if (input->reported ||
            input_read_rest(input, LIMIT_JSON_BYTES, &text, &line.bytes, &out->fault) != ERR_NONE) {
            const bool first = !input->reported;
            input->reported = true;
            return first;
        }
        line.at = text;
        input->reported = true;
    } else {
        do {
            if (!input_read_line(input, &line))
                return false;
            while (!line.too_long && line.bytes > 0 && strchr(" \t\r", line.at[0]) != NULL &&
                   line.at[0] != '\0') {
                line.at++;
                line.bytes--;
            }
        } while (!line.too_long && (line.bytes == 0 || line.at[0] == '#'));
    }
    input->document_offset = line.offset;
    if (line.too_long) {
        item_fault(input, out, ERR_LIMIT, line.offset, "line", "longer than 1 MiB");
    } else if (json_parse(line.at, line.bytes, &input->document, &out->fault) != ERR_NONE) {
        if (out->fault.offset != FAULT_NO_OFFSET)
            out->fault.offset += line.offset;
        fault_set_path(&out->fault, input->name);
    }
    return true;
}

/* Moves to the next object, of the document's array or of the next document.  False at the end
 * or when *out has a fault. */
static bool next_object(struct stack_input *input, struct stack_item *out)
{
    const cJSON *object = NULL;

    if (input->object != NULL && input->object != input->document)
        object = input->object->next; /* the document is an array of objects */
    while (object == NULL) {
        input->object = NULL;
        if (!next_document(input, out) || out->fault.code != ERR_NONE)
            return false;
        object = cJSON_IsArray(input->document) ? input->document->child : input->document;
    }
    start_object(input, object, &out->fault);
    if (out->fault.code == ERR_NONE)
        return true;
    input->walk = NULL;
    if (out->fault.offset == FAULT_NO_OFFSET)
        out->fault.offset = input->document_offset;
    fault_set_path(&out->fault, input->name);
    return false;
}

bool input_next_json(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    while (input->walk == NULL) /* an object without threads gives no stack */
        if (!next_object(input, out))
            return out->fault.code != ERR_NONE;
    read_stack(input, input->walk, keep, out);
    next_walk(input);
    return true;
}
