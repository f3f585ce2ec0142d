/* Sentry's events: {exception: {values: [{stacktrace: {frames}}]}} or the same in `threads`, and
 * debug_meta: {images}. Frames are innermost last; addresses are absolute, or with `addr_mode`
 * "rel:N" in image N, and callers' are return addresses. And what Symbolicator is asked:
 * {stacktraces: [{frames}], modules: [an image, ...]}, innermost first. Facts: develop.sentry.dev,
 * "Stack Trace Interface" and "Debug Meta Interface"; getsentry.github.io/symbolicator. */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "stacks/json_documents.h"

/* OBJECT.KEY.values, or NULL. */
static const cJSON *values_of(const cJSON *object, const char *key)
{
    const cJSON *values =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(object, key), "values");
    return cJSON_IsArray(values) ? values->child : NULL;
}

/* What Symbolicator is asked; NULL: another object. */
static const cJSON *asked(const cJSON *object)
{
    const cJSON *stacks = cJSON_GetObjectItemCaseSensitive(object, "stacktraces");
    return cJSON_IsArray(stacks) ? stacks->child : NULL;
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
    if (walk == NULL)
        walk = asked(object);
    return walk != NULL ? walk : object;
}

/* After the stacks of the exceptions, those of the threads; the crashed one has none there. */
static const cJSON *next_walk(struct stack_input *input)
{
    if (input->walk == NULL)
        return first_walk(input->object);
    const cJSON *next = input->walk != input->object ? input->walk->next : NULL;
    if (next == NULL && input->more_walks != NULL) {
        next = input->more_walks;
        input->more_walks = NULL;
        input->in_more = true;
    }
    while (input->in_more && next != NULL && !cJSON_IsObject(trace_of(next)))
        next = next->next;
    return next;
}

static bool is_object(const cJSON *object)
{
    return first_walk(object) != object || cJSON_IsObject(trace_of(object));
}

/* The number of the image that an address counts from, of "rel:NUMBER"; UINT64_MAX: of none. */
static uint64_t relative_to(const char *mode)
{
    uint64_t index;
    return mode != NULL && strncmp(mode, "rel:", 4) == 0 &&
                   text_parse_uint(mode + 4, strlen(mode + 4), &index) && index < INT32_MAX
               ? index
               : UINT64_MAX;
}

static void begin(struct stack_input *input, struct fault *fault)
{
    const cJSON *meta = json_get_object(input->object, "debug_meta", fault);
    input->in_more = false;
    input->more_walks =
        values_of(input->object, "exception") != NULL ? values_of(input->object, "threads") : NULL;
    (void)json_images(input,
                      meta != NULL ? json_get_array(meta, "images", fault)
                                   : json_get_array(input->object, "modules", fault),
                      "image_addr", "image_size", NULL, fault);
}

static const struct module *module_of(struct stack_input *input, struct json_image *image,
                                      struct fault *fault)
{
    struct arena *scratch = &input->scratch;
    if (image->module != NULL)
        return image->module;
    const char *name = json_get_string(image->object, "code_file", scratch, fault);
    if (name == NULL)
        name = json_get_string(image->object, "debug_file", scratch, fault);
    if (name != NULL)
        image->module = spelled_image(input, path_base(name),
                                      json_get_string(image->object, "code_id", scratch, fault),
                                      json_get_string(image->object, "debug_id", scratch, fault));
    return image->module;
}

/* The module of a frame at VA, whose address mode is MODE. NULL: none. *BASE_VA is what the address
 * counts from. */
static const struct module *module_at(struct stack_input *input, uint64_t va, const char *mode,
                                      uint64_t *base_va, struct fault *fault)
{
    const uint64_t index = relative_to(mode);
    struct json_image *image =
        index != UINT64_MAX ? json_image(input->images, index) : json_image_at(input->images, va);
    const struct module *module = image != NULL ? module_of(input, image, fault) : NULL;
    if (module != NULL)
        *base_va = index != UINT64_MAX ? 0 : image->start_va;
    return module;
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
    const struct module *module = module_at(
        input, frame.pc_va, json_get_string(from, "addr_mode", keep, fault), &base_va, fault);
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
    } else if (frame.pc_va == 0 && frame.file == NULL &&
               !cJSON_HasObjectItem(from, "instruction_addr")) {
        json_no_place(fault);
    }
    builder_add(&input->builder, frame);
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    struct fault *fault = &out->fault;
    const bool outermost_last = trace_of(walk) == NULL; /* as Symbolicator is asked */
    const cJSON *trace = outermost_last ? walk : trace_of(walk);
    const cJSON *frames = json_get_array(trace, "frames", fault);
    const char *type = json_get_string(walk, "type", keep, fault);

    if (frames == NULL && fault->code == ERR_NONE)
        fault_set_hint(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "stack",
                       "there are no frames in `stacktrace`");
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(walk, "id");
    out->label = type != NULL ? type : json_get_string(walk, "name", keep, fault);
    if (out->label == NULL && cJSON_IsNumber(id) && id->valuedouble >= 0 &&
        id->valuedouble <= UINT32_MAX)
        out->label = arena_printf(keep, "thread %u", (unsigned)id->valuedouble);
    out->stack.label = out->label;
    /* cJSON links the first element back to the last one */
    const cJSON *first = frames != NULL ? frames->child : NULL;
    for (const cJSON *at = first; outermost_last && at != NULL && fault->code == ERR_NONE;
         at = at->next)
        read_frame(input, at, keep, fault);
    for (const cJSON *at = first != NULL && !outermost_last ? first->prev : NULL;
         at != NULL && fault->code == ERR_NONE; at = at != first ? at->prev : NULL)
        read_frame(input, at, keep, fault);
    json_end_walk(input, keep, &out->stack, fault);
}

const struct notation notation_sentry = {.name = "Sentry's events",
                                         .is_object = is_object,
                                         .next_walk = next_walk,
                                         .begin = begin,
                                         .read_walk = read_walk};
