/* Sentry's events: {exception: {values: [{stacktrace: {frames}}]}} or the same in `threads`, and
 * debug_meta: {images}. Frames are innermost last; addresses are absolute, and callers' are return
 * addresses. Facts: develop.sentry.dev, "Stack Trace Interface" and "Debug Meta Interface". */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "stacks/json_documents.h"

/* OBJECT.KEY.values, or NULL. */
static const cJSON *values_of(const cJSON *object, const char *key)
{
    const cJSON *values =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(object, key), "values");
    return cJSON_IsArray(values) ? values->child : NULL;
}

static const cJSON *trace_of(const cJSON *walk)
{
    return cJSON_GetObjectItemCaseSensitive(walk, "stacktrace");
}

static const cJSON *first_walk(const cJSON *object)
{
    const cJSON *walk = values_of(object, "exception");
    if (walk == NULL)
        walk = values_of(object, "threads");
    return walk != NULL ? walk : object;
}

static bool is_object(const cJSON *object)
{
    return first_walk(object) != object || cJSON_IsObject(trace_of(object));
}

/* The image that holds VA, as a module; NULL: none. */
static const struct module *module_at(struct stack_input *input, uint64_t va, uint64_t *base_va,
                                      struct arena *keep, struct fault *fault)
{
    const cJSON *meta = json_get_object(input->object, "debug_meta", fault), *image;
    const cJSON *images = meta != NULL ? json_get_array(meta, "images", fault) : NULL;
    cJSON_ArrayForEach(image, images)
    {
        const char *name = json_get_string(image, "code_file", keep, fault);
        const char *code_id = json_get_string(image, "code_id", keep, fault);
        const char *debug_id = json_get_string(image, "debug_id", keep, fault);
        const uint64_t start_va = json_get_hex(image, "image_addr", 0, fault);
        if (name == NULL || va < start_va ||
            va - start_va >= json_get_uint(image, "image_size", 0, fault))
            continue;
        *base_va = start_va;
        name = path_base(name);
        const struct module *module = input_identified(
            input, name, strlen(name), code_id, code_id != NULL ? strlen(code_id) : 0, debug_id,
            debug_id != NULL ? strlen(debug_id) : 0);
        return module != NULL ? module : input_module(input, name, strlen(name));
    }
    return NULL;
}

static void read_frame(struct stack_input *input, const cJSON *from, struct arena *keep,
                       struct fault *fault)
{
    const bool first = input->builder.count == 0;
    const char *package = json_get_string(from, "package", keep, fault);
    uint64_t base_va = json_get_hex(from, "image_addr", 0, fault);
    struct frame frame = {.kind = first ? PC_INTERRUPTED : PC_RETURN,
                          .found_by = FOUND_GIVEN,
                          .identity = IDENTITY_UNCHECKED,
                          .function = json_get_string(from, "function", keep, fault),
                          .file = json_get_string(from, "filename", keep, fault),
                          .line = (uint32_t)json_get_uint(from, "lineno", 0, fault)};
    frame.pc_va = frame.offset = json_get_hex(from, "instruction_addr", 0, fault);
    const struct module *module = module_at(input, frame.pc_va, &base_va, keep, fault);
    if (module == NULL && package != NULL && base_va != 0 && frame.pc_va >= base_va)
        module = input_module(input, path_base(package), strlen(path_base(package)));
    if (module != NULL)
        frame.offset -= base_va;
    if (module != NULL && frame.function == NULL) {
        frame.module = module;
        frame.module_name = module->name;
        frame.file = NULL;
        frame.line = 0;
    } else if (frame.function != NULL) {
        frame.module_name = package != NULL ? path_base(package) : NULL;
        if (module != NULL)
            frame.module_name = module->name;
        frame.note = NOTE_NAMED_BY_INPUT;
    }
    builder_add(&input->builder, frame);
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    struct fault *fault = &out->fault;
    struct stack read;
    const cJSON *trace = trace_of(walk);
    const cJSON *frames = json_get_array(trace, "frames", fault);
    const char *type = json_get_string(walk, "type", keep, fault);

    if (frames == NULL && fault->code == ERR_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack",
                       "there are no frames in `stacktrace`");
    out->label = out->stack.label =
        type != NULL ? type : json_get_string(walk, "name", keep, fault);
    /* cJSON links the first element back to the last one */
    for (const cJSON *at = frames != NULL && frames->child != NULL ? frames->child->prev : NULL;
         at != NULL && fault->code == ERR_NONE; at = at != frames->child ? at->prev : NULL)
        read_frame(input, at, keep, fault);
    if (builder_finish(input, true, keep, &read) != ERR_NONE)
        fault_no_memory(fault, "stack");
    out->stack.frames = read.frames;
    out->stack.frame_count = read.frame_count;
    out->stack.left_out = read.left_out;
}

const struct notation notation_sentry = {.name = "Sentry's events",
                                         .is_object = is_object,
                                         .first_walk = first_walk,
                                         .read_walk = read_walk};
