/* Our own JSON, as a document or with an object per line, of offsets and of names.
 *
 * Offsets: {schema_version, label, modules: [{index, name, code_id, debug_id, mvid, base, size,
 * ...}], threads: [{id, name, role, stacks: [{walker, stop, walk_ns, frames: [{module, offset or
 * address, kind, gap}]}]}]}, where `module` is an index. Only the modules that a frame names are
 * read, so that the cost depends on the stack alone. Facts: the contract "Offset stack, JSON form".
 *
 * Names, as `resolve`, `dump --stacks` and the judges print them: frames state the module's name,
 * and function, file, line and inline_depth. json_documents.c says where `frames` may be. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "stacks/json_documents.h"

struct json_module {
    uint64_t index;
    const cJSON *object;
    const struct module *module; /* once it was needed; in the arena of the stack */
};

struct json_modules {
    struct json_module *items; /* sorted by index */
    uint32_t count;
};

ARRAY_ORDER(compare_modules, struct json_module, index)

static void list_modules(struct stack_input *input, struct fault *fault)
{
    const cJSON *array = json_get_array(input->object, "modules", fault);
    const cJSON *at;
    const size_t count = array != NULL ? (size_t)cJSON_GetArraySize(array) : 0;

    if (fault->code != ERR_NONE)
        return;
    if (count > LIMIT_MODULES) {
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "modules");
        return;
    }
    struct json_modules *list = ARENA_NEW(&input->scratch, struct json_modules);
    if (list == NULL ||
        (list->items = ARENA_ARRAY(&input->scratch, count + 1, struct json_module)) == NULL) {
        fault_no_memory(fault, "modules");
        return;
    }
    cJSON_ArrayForEach(at, array)
    {
        struct json_module *item = &list->items[list->count];
        item->object = at;
        item->index = json_get_uint(at, "index", list->count, fault);
        list->count++;
    }
    array_sort(list->items, list->count, sizeof *list->items, compare_modules);
    input->modules = list;
    input->object_label = json_get_string(input->object, "label", &input->scratch, fault);
}

static const struct json_facts *read_facts(struct stack_input *input, struct fault *fault)
{
    const cJSON *thread = input->thread != NULL ? input->thread : input->object;
    if (input->facts.of != thread)
        input->facts =
            (struct json_facts){.of = thread,
                                .id = json_get_uint(thread, "id", 0, fault),
                                .name = json_get_string(thread, "name", &input->scratch, fault),
                                .role = json_get_string(thread, "role", &input->scratch, fault)};
    return &input->facts;
}

static const struct module *read_module(struct json_module *item, struct arena *keep,
                                        struct fault *fault)
{
    struct module *module = ARENA_NEW(keep, struct module);
    if (module == NULL) {
        fault_no_memory(fault, "module");
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
    const size_t code_bytes = code_id != NULL ? strlen(code_id) : 0;
    const size_t debug_bytes = debug_id != NULL ? strlen(debug_id) : 0;
    if (code_bytes >= sizeof module->code_id &&
        input_copy_id(code_id, code_bytes, 0, build_id, sizeof build_id)) /* of ELF */
        module->build_id = arena_string(keep, build_id);
    else if (!input_copy_id(code_id, code_bytes, 8, module->code_id, sizeof module->code_id))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "code_id",
                       "expected timestamp and image size in hexadecimal");
    if (!input_copy_id(debug_id, debug_bytes, 32, module->debug_id, sizeof module->debug_id))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "debug_id",
                       "expected the GUID's 32 hexadecimal digits and the age");
    if (module_debug_id_is_none(module->debug_id))
        module->debug_id[0] = '\0';
    if (mvid != NULL && mvid[0] != '\0' && !module_mvid_parse(mvid, strlen(mvid), module->mvid))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "mvid",
                       "expected a GUID's 32 hexadecimal digits");
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
        if (frame.method_token != 0)
            frame.type_arguments = json_get_string(object, "type_arguments", keep, fault);
        const bool has_address = method == 0 && frame.module->base_va != 0;
        frame.pc_va = has_address ? frame.module->base_va + frame.offset : 0;
    } else {
        frame.offset =
            json_get_hex(object, "address", json_get_hex(object, "offset", 0, fault), fault);
        frame.pc_va = frame.offset;
        if (gap == NULL && offset == NULL &&
            cJSON_GetObjectItemCaseSensitive(object, "address") == NULL)
            fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frame",
                           "a frame needs an `offset` in a `module`, or an `address`");
    }
    builder_add(&input->builder, frame);
}

/* What the stack cost the program that made it, if that states it. */
static void read_times(const cJSON *times, struct engine_cost *out, struct fault *fault)
{
    if (times == NULL)
        return;
    out->unwind_ns = json_get_uint(times, "unwind_ns", 0, fault);
    out->resolve_ns = json_get_uint(times, "resolve_ns", 0, fault);
    out->system_ns = json_get_uint(times, "resolve_system_ns", 0, fault);
}

/* Why its walker found each caller where it did, of those that state it. */
static void read_evidence(const cJSON *rows, struct arena *keep, struct stack *out,
                          struct fault *fault)
{
    const cJSON *at;
    struct frame_evidence *list =
        ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(rows) + 1, struct frame_evidence);
    if (list == NULL) {
        fault_no_memory(fault, "evidence of frames");
        return;
    }
    cJSON_ArrayForEach(at, rows)
    {
        const uint64_t index = json_get_uint(at, "index", out->evidence_count, fault);
        if (index > UINT32_MAX ||
            (out->evidence_count > 0 && index <= list[out->evidence_count - 1].index)) {
            fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "evidence of a frame",
                           "its rows are in the order of their index, each once");
            return;
        }
        list[out->evidence_count++] = (struct frame_evidence){
            .index = (uint32_t)index,
            .sp_va = json_get_hex(at, "sp", 0, fault),
            .where = json_get_string(at, "where", keep, fault),
            .function_begin_rva = (uint32_t)json_get_hex(at, "function_begin", 0, fault),
            .function_end_rva = (uint32_t)json_get_hex(at, "function_end", 0, fault),
            .unwind_data_va = json_get_hex(at, "unwind_data", 0, fault),
            .return_slot_va = json_get_hex(at, "return_slot", 0, fault),
            .caller_sp_va = json_get_hex(at, "caller_sp", 0, fault)};
    }
    out->evidence = list;
}

static void name_stack(struct stack_input *input, const cJSON *walk, struct arena *keep,
                       struct stack *out, struct fault *fault)
{
    const struct json_facts *facts = read_facts(input, fault);
    const char *walker = json_get_string(walk, "walker", keep, fault);
    const char *label = json_get_string(walk, "label", keep, fault);

    if (label == NULL)
        label = arena_string(keep, input->object_label);
    out->thread_id = (uint32_t)facts->id;
    out->thread_name = arena_string(keep, facts->name);
    stack_set_role_text(out, facts->role);
    stack_set_stop_text(out, json_get_string(walk, "stop", keep, fault));
    out->walk_ns = json_get_uint(walk, "walk_ns", 0, fault);
    out->sample = (uint32_t)json_get_uint(walk, "sample", 0, fault);
    out->left_out = (uint32_t)json_get_uint(walk, "left_out", 0, fault);
    read_times(json_get_object(walk, "times", fault), &out->cost, fault);
    const cJSON *evidence = cJSON_GetObjectItemCaseSensitive(walk, "evidence");
    if (cJSON_IsArray(evidence))
        read_evidence(evidence, keep, out, fault);
    if (json_get_bool(walk, "crashed", false, fault))
        out->role = THREAD_ROLE_SUSPECT;
    out->engine = walker != NULL ? arena_printf(keep, "offset:%s", walker) : NULL;
    out->label = label;
    if (input->many)
        out->label = arena_printf(keep, "%s%sthread %u%s%s", label != NULL ? label : "",
                                  label != NULL ? " " : "", (unsigned)out->thread_id,
                                  walker != NULL ? " " : "", walker != NULL ? walker : "");
}

static enum found_by found_of(const char *word)
{
    static const enum found_by all[] = {
        FOUND_CONTEXT,    FOUND_UNWIND, FOUND_LEAF, FOUND_FRAME_POINTER,
        FOUND_FRAME_SIZE, FOUND_SCAN,   FOUND_CFI};
    for (size_t i = 0; word != NULL && i < COUNT_OF(all); i++)
        if (strcmp(word, found_by_name(all[i])) == 0)
            return all[i];
    return FOUND_GIVEN;
}

/* Only of exports does it matter where another program has its names from: they are the nearest
 * ones, and may be of another function. */
static enum symbols_from symbols_of(const cJSON *from, const char *function, struct arena *keep,
                                    struct fault *fault)
{
    const char *stated = json_get_string(from, "symbols", keep, fault);
    if (function == NULL)
        return SYMBOLS_NONE;
    const bool is_export = stated != NULL && strcmp(stated, symbols_from_name(SYMBOLS_EXPORT)) == 0;
    return is_export ? SYMBOLS_EXPORT : SYMBOLS_PDB;
}

/* POSITION counts where the frames are not numbered. */
static void read_named_frame(const cJSON *from, uint32_t position, struct arena *keep,
                             struct frame *out, struct fault *fault)
{
    out->index = (uint32_t)json_get_uint(from, "index", position, fault);
    out->inline_depth = (uint16_t)json_get_uint(from, "inline_depth", 0, fault);
    out->kind = out->index == 0 ? PC_INTERRUPTED : PC_RETURN;
    out->found_by = out->inline_depth > 0
                        ? FOUND_INLINED
                        : found_of(json_get_string(from, "found_by", keep, fault));
    out->identity = IDENTITY_UNCHECKED;
    out->module_name = json_get_string(from, "module", keep, fault);
    out->offset =
        json_get_hex(from, "module_offset", json_get_hex(from, "offset", 0, fault), fault);
    if (out->module_name == NULL)
        out->pc_va = out->offset;
    out->function = json_get_string(from, "function", keep, fault);
    out->file = json_get_string(from, "file", keep, fault);
    out->line = (uint32_t)json_get_uint(from, "line", 0, fault);
    out->symbols = symbols_of(from, out->function, keep, fault);
    if (out->function == NULL && !cJSON_HasObjectItem(from, "offset") &&
        !cJSON_HasObjectItem(from, "module_offset"))
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "frame",
                       "a frame needs `offset`, `module_offset` or `function`");
}

/* True for frames with names: an offset frame states its module by a number. */
static bool are_named(const cJSON *frames)
{
    const cJSON *at;
    cJSON_ArrayForEach(at, frames)
    {
        if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(at, "module")) ||
            cJSON_HasObjectItem(at, "inline_depth"))
            return true;
    }
    return false;
}

static void read_named(const cJSON *frames, struct arena *keep, struct stack *out,
                       struct fault *fault)
{
    const cJSON *at;
    out->frames = ARENA_ARRAY(keep, (size_t)cJSON_GetArraySize(frames) + 1, struct frame);
    if (out->frames == NULL) {
        fault_no_memory(fault, "frames");
        return;
    }
    cJSON_ArrayForEach(at, frames)
    {
        const uint32_t position = out->frame_count++;
        read_named_frame(at, position, keep, &out->frames[position], fault);
    }
}

static void read_offsets(struct stack_input *input, const cJSON *frames, struct arena *keep,
                         struct stack *out, struct fault *fault)
{
    const cJSON *at;
    cJSON_ArrayForEach(at, frames)
    {
        if (fault->code == ERR_NONE)
            read_frame(input, at, keep, fault);
    }
    for (uint32_t i = 0; input->modules != NULL && i < input->modules->count; i++)
        input->modules->items[i].module = NULL; /* they live in KEEP */
    json_end_walk(input, keep, out, fault);
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    struct fault *fault = &out->fault;
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(walk, "stack");
    const cJSON *frames = json_get_array(cJSON_IsObject(inner) ? inner : walk, "frames", fault);

    out->named = are_named(frames);
    name_stack(input, walk, keep, &out->stack, fault);
    out->label = out->stack.label;
    if (frames == NULL && fault->code == ERR_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack",
                       "there are no threads, stacks or frames");
    if (out->named)
        read_named(frames, keep, &out->stack, fault);
    else
        read_offsets(input, frames, keep, &out->stack, fault);
}

static bool is_object(const cJSON *object)
{
    (void)object;
    return true;
}

static bool is_document(struct stack_input *input)
{
    return json_find_form(input) == JSON_DOCUMENT;
}

static bool is_lines(struct stack_input *input)
{
    return json_find_form(input) == JSON_LINES;
}

const struct notation notation_json = {.name = "JSON",
                                       .recognise = is_document,
                                       .next = json_next,
                                       .is_object = is_object,
                                       .begin = list_modules,
                                       .read_walk = read_walk};
const struct notation notation_json_lines = {
    .name = "JSON, an object per line", .recognise = is_lines, .next = json_next, .by_line = true};
