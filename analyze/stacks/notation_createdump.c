/* The crash report (*.crashreport.json) that .NET's createdump writes beside a dump: {payload:
 * {threads: [{native_thread_id, crashed, stack_frames}]}}. A managed frame has the token of its
 * method, an offset in its IL and the MVID of its module; a native one its address and that of its
 * module. Numbers are hexadecimal text. A group of frames may be repeated. */
#include <string.h>

#include "base/array.h"
#include "stacks/json_documents.h"

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const cJSON *first_walk(const cJSON *object)
{
    const cJSON *threads = member(member(object, "payload"), "threads");
    return cJSON_IsArray(threads) && cJSON_IsArray(member(threads->child, "stack_frames"))
               ? threads->child
               : NULL;
}

static bool is_object(const cJSON *object)
{
    return first_walk(object) != NULL;
}

static bool is_true(const cJSON *object, const char *name)
{
    const cJSON *value = member(object, name);
    return cJSON_IsString(value) && strcmp(value->valuestring, "true") == 0;
}

/* A managed frame; false: what would name its place is missing. */
static bool read_method(struct stack_input *input, const cJSON *from, struct frame *frame,
                        struct arena *keep, struct fault *fault)
{
    enum { SPECIAL_OFFSETS = 3 }; /* no mapping, prologue, epilogue: the last three numbers */
    const char *module = json_get_string(from, "filename", keep, fault);
    const char *mvid = json_get_string(from, "guid", keep, fault);
    const uint64_t token = json_get_hex(from, "token", 0, fault);
    const uint64_t offset = json_get_hex(from, "il_offset", 0, fault);
    if (module == NULL || token >> 24 != 6)
        return false;
    const char *id = mvid != NULL ? arena_printf(keep, "mvid:%s", mvid) : NULL;
    frame->module = spelled_image(input, module, NULL, id);
    frame->method_token = (uint32_t)token;
    frame->offset = offset <= UINT32_MAX - SPECIAL_OFFSETS ? offset : 0;
    return frame->module != NULL;
}

static void read_frame(struct stack_input *input, const cJSON *from, struct arena *keep,
                       struct fault *fault)
{
    struct frame frame = {.kind = input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN,
                          .found_by = FOUND_GIVEN,
                          .identity = IDENTITY_UNCHECKED};
    const uint64_t base_va = json_get_hex(from, "module_address", 0, fault);
    const char *module = json_get_string(from, "native_module", keep, fault);
    frame.pc_va = frame.offset = json_get_hex(from, "native_address", 0, fault);
    if (is_true(from, "is_managed")) {
        if (!read_method(input, from, &frame, keep, fault)) {
            frame.function = json_get_string(from, "method_name", keep, fault);
            frame.note = frame.function != NULL ? NOTE_NAMED_BY_INPUT : NOTE_NONE;
        }
    } else if (module != NULL && base_va != 0 && frame.pc_va >= base_va) {
        frame.module = spelled_image(input, module, NULL, NULL);
        frame.offset = frame.pc_va - base_va;
    }
    if (frame.module == NULL && frame.function == NULL && member(from, "native_address") == NULL)
        json_no_place(fault);
    frame.module_name = frame.module != NULL ? frame.module->name : NULL;
    builder_add(&input->builder, frame);
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    const cJSON *row, *repeated;
    cJSON_ArrayForEach(row, member(walk, "stack_frames"))
    {
        if (member(row, "repeated_frames") == NULL)
            read_frame(input, row, keep, &out->fault);
        cJSON_ArrayForEach(repeated, member(row, "repeated_frames"))
        {
            read_frame(input, repeated, keep, &out->fault);
        }
        if (out->fault.code != ERR_NONE)
            break;
    }
    json_end_walk(input, keep, &out->stack, &out->fault);
    out->crashed_first = true;
    out->stack.thread_id = (uint32_t)json_get_hex(walk, "native_thread_id", 0, &out->fault);
    out->label = out->stack.label = arena_printf(keep, "thread %u", (unsigned)out->stack.thread_id);
    if (is_true(walk, "crashed"))
        out->stack.role = THREAD_ROLE_SUSPECT;
}

const struct notation notation_createdump = {.name = "createdump's crash report",
                                             .is_object = is_object,
                                             .first_walk = first_walk,
                                             .read_walk = read_walk};
