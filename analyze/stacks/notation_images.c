/* JSON whose frames name an image by its place in a list:
 *
 *   Mozilla's pings   {modules: [{filename, base_addr, code_id, debug_id}],
 *                      threads: [{frames: [{ip, module_index}]}]}, also as `StackTraces`,
 *                      `stackTraces` or `stack_traces` of an object or of its `payload`
 *   Apple's .ips      {usedImages: [{name, base, uuid}],
 *                      threads: [{frames: [{imageIndex, imageOffset}]}]}
 *
 * Facts: Firefox's "Crash ping" and Apple's "Interpreting the JSON format of a crash report". */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "stacks/json_documents.h"

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* The object with threads and modules of Mozilla, or NULL. */
static const cJSON *mozilla(const cJSON *object)
{
    static const char *const names[] = {"StackTraces", "stackTraces", "stack_traces"};
    const cJSON *payload = member(object, "payload"), *inner = NULL;
    for (size_t i = 0; inner == NULL && i < COUNT_OF(names); i++) {
        inner = member(object, names[i]);
        inner = inner != NULL ? inner : member(payload, names[i]);
    }
    object = cJSON_IsObject(inner) ? inner : object;
    const cJSON *threads = member(object, "threads"), *modules = member(object, "modules");
    return cJSON_IsArray(threads) && cJSON_IsArray(modules) &&
                   member(modules->child, "base_addr") != NULL &&
                   member(modules->child, "filename") != NULL &&
                   member(cJSON_GetArrayItem(member(threads->child, "frames"), 0), "ip") != NULL
               ? object
               : NULL;
}

static const cJSON *list_of(const cJSON *object, const char *name, const char *name_of_apple)
{
    const cJSON *inner = mozilla(object);
    if (inner == NULL && !cJSON_IsArray(member(object, "usedImages")))
        return NULL;
    return inner != NULL ? member(inner, name) : member(object, name_of_apple);
}

static const cJSON *first_walk(const cJSON *object)
{
    const cJSON *threads = list_of(object, "threads", "threads");
    return threads != NULL ? threads->child : NULL;
}

static bool is_object(const cJSON *object)
{
    return first_walk(object) != NULL;
}

/* IMAGE as a module; NULL: it has no name. */
static const struct module *module_of(struct stack_input *input, struct json_image *from,
                                      struct fault *fault)
{
    struct arena *scratch = &input->scratch;
    const cJSON *image = from->object;
    if (from->module != NULL)
        return from->module;
    const bool is_apple = member(image, "filename") == NULL;
    const char *name = json_get_string(image, is_apple ? "name" : "filename", scratch, fault);
    if (name == NULL)
        name = json_get_string(image, "path", scratch, fault);
    if (name != NULL)
        from->module =
            spelled_image(input, path_base(name), json_get_string(image, "code_id", scratch, fault),
                          json_get_string(image, is_apple ? "uuid" : "debug_id", scratch, fault));
    return from->module;
}

static void read_frame(struct stack_input *input, const cJSON *from, struct fault *fault)
{
    struct frame frame = {.kind = input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN,
                          .found_by = FOUND_GIVEN,
                          .identity = IDENTITY_UNCHECKED};
    const bool is_apple = member(from, "imageOffset") != NULL;
    const uint64_t index =
        json_get_uint(from, is_apple ? "imageIndex" : "module_index", UINT64_MAX, fault);
    struct json_image *image = json_image(input->images, index);
    frame.pc_va = is_apple ? 0 : json_get_hex(from, "ip", 0, fault);
    frame.offset = is_apple ? json_get_uint(from, "imageOffset", 0, fault) : frame.pc_va;
    const uint64_t base_va = image != NULL ? image->start_va : 0;
    if (image != NULL && (is_apple || frame.pc_va >= base_va))
        frame.module = module_of(input, image, fault);
    frame.module_name = frame.module != NULL ? frame.module->name : NULL;
    frame.offset -= frame.module != NULL ? base_va : 0;
    if (!is_apple && member(from, "ip") == NULL)
        json_no_place(fault);
    builder_add(&input->builder, frame);
}

/* The crashed thread is stated by its place in the list. */
static void begin(struct stack_input *input, struct fault *fault)
{
    const cJSON *inner = mozilla(input->object);
    const cJSON *from = inner != NULL ? member(inner, "crash_info") : input->object;
    const uint64_t crashed =
        cJSON_IsObject(from)
            ? json_get_uint(from, inner != NULL ? "crashing_thread" : "faultingThread", UINT64_MAX,
                            fault)
            : UINT64_MAX;
    input->suspect =
        crashed < INT32_MAX
            ? cJSON_GetArrayItem(list_of(input->object, "threads", "threads"), (int)crashed)
            : NULL;
    (void)json_images(input, list_of(input->object, "modules", "usedImages"),
                      inner != NULL ? "base_addr" : NULL, NULL, NULL, fault);
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    const cJSON *frames = member(walk, "frames"), *frame;
    cJSON_ArrayForEach(frame, frames)
    {
        if (out->fault.code != ERR_NONE)
            break;
        read_frame(input, frame, &out->fault);
    }
    json_end_walk(input, keep, &out->stack, &out->fault);
    out->crashed_first = true;
    if (walk == input->suspect)
        out->stack.role = THREAD_ROLE_SUSPECT;
}

const struct notation notation_images = {.name = "frames of a list of images",
                                         .is_object = is_object,
                                         .first_walk = first_walk,
                                         .begin = begin,
                                         .read_walk = read_walk};
