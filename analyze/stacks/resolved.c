/* Reads resolved stacks in the form that this program and the judges print: `resolve --json`,
 * `--ndjson`, `dump --stacks --json` and the answers of the adapter's protocol.
 *
 * One stack is {"frames": [...]}. A document is one stack, an array of stacks, one stack per line,
 * or {"threads": [...]} whose members are stacks or hold one as "stack". */
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "stacks/foreign.h"

struct reader {
    struct arena *keep;
    struct stack *stacks;
    uint32_t count, room;
};

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
    return function == NULL ? SYMBOLS_NONE
           : stated != NULL && strcmp(stated, symbols_from_name(SYMBOLS_EXPORT)) == 0
               ? SYMBOLS_EXPORT
               : SYMBOLS_PDB;
}

static void read_frame(const cJSON *from, struct arena *keep, struct frame *out,
                       struct fault *fault)
{
    out->index = (uint32_t)json_get_uint(from, "index", 0, fault);
    out->inline_depth = (uint16_t)json_get_uint(from, "inline_depth", 0, fault);
    out->kind = out->index == 0 ? PC_INTERRUPTED : PC_RETURN;
    out->found_by = out->inline_depth > 0
                        ? FOUND_INLINED
                        : found_of(json_get_string(from, "found_by", keep, fault));
    out->identity = IDENTITY_UNCHECKED;
    out->module_name = json_get_string(from, "module", keep, fault);
    out->offset = json_get_hex(from, "offset", 0, fault);
    if (out->module_name == NULL)
        out->pc_va = out->offset;
    out->function = json_get_string(from, "function", keep, fault);
    out->file = json_get_string(from, "file", keep, fault);
    out->line = (uint32_t)json_get_uint(from, "line", 0, fault);
    out->symbols = symbols_of(from, out->function, keep, fault);
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

static enum status add_stack(struct reader *r, const cJSON *from, struct fault *fault)
{
    const cJSON *inner = json_get_object(from, "stack", fault);
    const cJSON *frames = json_get_array(inner != NULL ? inner : from, "frames", fault), *row;
    int count = frames != NULL ? cJSON_GetArraySize(frames) : 0;
    struct stack *stacks =
        arena_reserve(r->keep, r->stacks, &r->room, (uint64_t)r->count + 1, sizeof(*stacks));
    if (stacks == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "stacks");
    r->stacks = stacks;
    struct stack *out = &r->stacks[r->count++];
    *out = (struct stack){.thread_id = (uint32_t)json_get_uint(from, "id", 0, fault)};
    out->label = json_get_string(from, "label", r->keep, fault);
    out->thread_name = json_get_string(from, "name", r->keep, fault);
    stack_set_role_text(out, json_get_string(from, "role", r->keep, fault));
    stack_set_stop_text(out, json_get_string(from, "stop", r->keep, fault));
    out->left_out = (uint32_t)json_get_uint(from, "left_out", 0, fault);
    read_times(json_get_object(from, "times", fault), &out->cost, fault);
    if (json_get_bool(from, "crashed", false, fault))
        out->role = THREAD_ROLE_SUSPECT;
    out->frames = ARENA_ARRAY(r->keep, (size_t)count + 1, struct frame);
    if (out->frames == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "frames");
    cJSON_ArrayForEach(row, frames)
        read_frame(row, r->keep, &out->frames[out->frame_count++], fault);
    return fault->code;
}

static enum status read_document(struct reader *r, const char *text, size_t bytes,
                                 struct fault *fault)
{
    cJSON *root;
    const cJSON *row;
    if (json_parse(text, bytes, &root, fault) != ERR_NONE)
        return fault->code;
    const cJSON *list = cJSON_IsArray(root) ? root : json_get_array(root, "threads", fault);
    if (list == NULL && fault->code == ERR_NONE && cJSON_GetObjectItem(root, "frames") != NULL)
        (void)add_stack(r, root, fault);
    else if (list == NULL)
        (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "threads of resolved stacks");
    else
        cJSON_ArrayForEach(row, list)
        {
            if (add_stack(r, row, fault) != ERR_NONE)
                break;
        }
    cJSON_Delete(root);
    return fault->code;
}

/* True when the first line is a complete object and others follow. */
static bool is_lines(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\n', bytes);
    return end != NULL && end - text > 2 && text[0] == '{' && end[-1] == '}';
}

enum status resolved_stack_read(const char *text, size_t bytes, struct arena *keep,
                                struct stack **out, uint32_t *count, struct fault *fault)
{
    struct reader r = {.keep = keep};
    enum status status = ERR_NONE;
    if (!is_lines(text, bytes)) {
        status = read_document(&r, text, bytes, fault);
    } else {
        for (size_t at = 0; at < bytes && status == ERR_NONE;) {
            const char *end = memchr(text + at, '\n', bytes - at);
            size_t line = end != NULL ? (size_t)(end - (text + at)) : bytes - at;
            if (line > 0)
                status = read_document(&r, text + at, line, fault);
            at += line + 1;
        }
    }
    *out = r.stacks;
    *count = r.count;
    return status;
}
