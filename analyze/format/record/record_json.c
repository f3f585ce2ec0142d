/* Names in a record, and its JSON form: see record.h. */
#include "base/array.h"
#include "format/record/record.h"

#define WALKER_ROW(ID, NUMBER, NAME, WALK, TRAITS, SHARES) [NUMBER] = {NAME, SHARES, TRAITS},

static const struct record_walker walkers[RECORD_WALKER_COUNT] = {RECORD_WALKERS(WALKER_ROW)};

static const enum stop_reason stop_reasons[] = {
    [RECORD_STOP_END] = STOP_END,
    [RECORD_STOP_RETURN_ZERO] = STOP_RETURN_ZERO,
    [RECORD_STOP_STACK_BOUNDS] = STOP_STACK_BOUNDS,
    [RECORD_STOP_NO_PROGRESS] = STOP_WALKER_NO_PROGRESS,
    [RECORD_STOP_READ_FAULT] = STOP_READ_FAULT,
    [RECORD_STOP_NO_UNWIND] = STOP_NO_UNWIND,
    [RECORD_STOP_LIMIT] = STOP_WALKER_LIMIT,
    [RECORD_STOP_WALKER] = STOP_WALKER_GAVE_UP,
    [RECORD_STOP_BAD_SEED] = STOP_BAD_SEED,
    [RECORD_STOP_COPY_END] = STOP_COPY_END,
    [RECORD_STOP_HIJACKED] = STOP_HIJACKED,
    [RECORD_STOP_TOO_EARLY] = STOP_TOO_EARLY,
};

static const char *const state_names[] = {
    [RECORD_STATE_OK] = "ok",
    [RECORD_STATE_NOT_APPLICABLE] = "not_applicable",
    [RECORD_STATE_BLOCKED] = "blocked",
    [RECORD_STATE_FAULTED] = "faulted",
};

#define NAME_OF(names, index)                                                                      \
    ((index) < COUNT_OF(names) && (names)[index] != NULL ? (names)[index] : "unknown")

const struct record_walker *record_walker(uint32_t walker)
{
    return walker < RECORD_WALKER_COUNT && walkers[walker].name != NULL ? &walkers[walker] : NULL;
}

const char *record_walker_name(uint32_t walker)
{
    return record_walker(walker) != NULL ? walkers[walker].name : "unknown";
}

enum stop_reason record_stop_reason(uint32_t stop)
{
    return stop < COUNT_OF(stop_reasons) ? stop_reasons[stop] : STOP_WALKER_UNKNOWN;
}

/* "ok", "not_applicable", ... */
static const char *record_state_name(uint32_t state)
{
    return NAME_OF(state_names, state);
}

static void write_module(struct json *j, const struct module *module)
{
    json_object(j);
    json_key_uint(j, "index", module->index);
    json_key_string(j, "name", module->name);
    json_key_string(j, "code_id", module->code_id[0] != '\0' ? module->code_id : NULL);
    json_key_string(j, "debug_id", module->debug_id[0] != '\0' ? module->debug_id : NULL);
    json_key_hex(j, "base", module->base_va);
    json_key_uint(j, "size", module->image_bytes);
    json_key_uint(j, "loaded_at", module->loaded_at_ns);
    json_key_uint_if(j, "unloaded_at", module->unloaded_at_ns,
                     module->unloaded_at_ns != MODULE_STILL_LOADED);
    if (module->mvid[0] != '\0') /* of managed code */
        json_key_string(j, "mvid", module->mvid);
    json_object_end(j);
}

static void write_frame(struct json *j, const struct frame *frame, uint32_t gap)
{
    json_object(j);
    if (frame->module != NULL) {
        json_key_uint(j, "module", frame->module->index);
        json_key_hex(j, "offset", frame->offset);
        if (frame->method_token != 0)
            json_key_hex(j, "method", frame->method_token);
        if (frame->method_token != 0 && frame->type_arguments != NULL)
            json_key_string(j, "type_arguments", frame->type_arguments);
    } else {
        json_key_null(j, "module");
        json_key_hex(j, "address", frame->pc_va);
    }
    json_key_string(j, "kind", pc_kind_name(frame->kind));
    json_key_uint_known(j, "gap", gap);
    json_object_end(j);
}

static void write_stack(struct json *j, const struct record_stack *stack)
{
    json_object(j);
    json_key_string(j, "walker", record_walker_name(stack->walker));
    json_key_string(j, "state", record_state_name(stack->state));
    json_key_string(j, "reason", stack->reason);
    json_key_string(j, "label", stack->label);
    json_key_uint(j, "sample", stack->sample);
    json_key_string(j, "stop", stop_reason_name(record_stop_reason(stack->stop)));
    json_key_uint(j, "walk_ns", stack->walk_ns);
    json_key_array(j, "frames");
    for (uint32_t i = 0; i < stack->frame_count; i++) /* the gap comes before its frame */
        write_frame(j, &stack->frames[i], i == RECORD_FRAMES_HEAD ? stack->left_out : 0);
    json_array_end(j);
    json_object_end(j);
}

void record_write_json(struct json *j, const struct record *record)
{
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    if (record->code_left_out != 0)
        json_key_uint(j, "code_map_left_out", record->code_left_out);
    json_key_array(j, "modules");
    for (uint32_t i = 0; i < record->module_count; i++)
        write_module(j, &record->modules[i]);
    json_array_end(j);
    json_key_array(j, "threads");
    for (uint32_t i = 0; i < record->thread_count; i++) {
        const struct record_thread *thread = &record->threads[i];
        json_object(j);
        json_key_uint(j, "id", thread->id);
        json_key_string(j, "name", thread->name);
        json_key_string(j, "role", thread_role_name(record_thread_role(record, thread), NULL));
        json_key_array(j, "stacks");
        for (uint32_t k = 0; k < record->stack_count; k++)
            if (record->stacks[k].thread_id == thread->id)
                write_stack(j, &record->stacks[k]);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
