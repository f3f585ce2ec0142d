/* What every form of a stack input uses: bytes and lines of the stream, module names, the builder
 * that collects a stack.  Uses no other file of the stack input. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/hash.h"
#include "symbol/stack_input_parts.h"

void input_to_front(struct stack_input *input)
{
    if (input->start > 0)
        memmove(input->buffer, input->buffer + input->start, input->end - input->start);
    input->end -= input->start;
    input->start = 0;
}

bool input_fill(struct stack_input *input, size_t max)
{
    if (input->ended)
        return false;
    if (input->end == input->room)
        input_to_front(input);
    if (input->end == input->room) {
        if (input->room >= max)
            return false;
        char *wider = realloc(input->buffer, input->room * 2);
        if (wider == NULL)
            return false;
        input->buffer = wider;
        input->room *= 2;
    }
    char *const to = input->buffer + input->end;
    const size_t room = input->room - input->end;
    bool failed = false;
    const size_t got = input->direct ? file_read_some(input->stream, to, room, &failed)
                                     : fread(to, 1, room, input->stream);
    input->end += got;
    if (got == 0) {
        input->ended = true;
        input->broken = failed || ferror(input->stream) != 0;
    }
    return got > 0;
}

bool stack_input_waits(const struct stack_input *input, uint32_t wait_ms)
{
    return input->direct && !input->ended &&
           memchr(input->buffer + input->start, '\n', input->end - input->start) == NULL &&
           file_would_wait(input->stream, wait_ms);
}

void input_skip(struct stack_input *input, size_t bytes)
{
    input->start += bytes;
    input->offset += bytes;
}

/* Throws away the rest of a line that is too long. */
static void skip_line(struct stack_input *input)
{
    for (;;) {
        const char *at = input->buffer + input->start;
        const char *stop = memchr(at, '\n', input->end - input->start);
        if (stop != NULL) {
            input_skip(input, (size_t)(stop - at) + 1);
            return;
        }
        input_skip(input, input->end - input->start);
        if (!input_fill(input, input->room))
            return;
    }
}

bool input_read_line(struct stack_input *input, struct stack_line *out)
{
    size_t searched = 0;

    for (;;) {
        const char *at = input->buffer + input->start;
        const size_t left = input->end - input->start;
        const char *stop = left > searched ? memchr(at + searched, '\n', left - searched) : NULL;
        if (stop == NULL && left <= LIMIT_LINE_BYTES &&
            input_fill(input, (size_t)LIMIT_LINE_BYTES * 2)) {
            searched = left;
            continue;
        }
        const size_t bytes = stop != NULL ? (size_t)(stop - at) : left;
        if (stop == NULL && left == 0)
            return false;
        at = input->buffer + input->start;
        *out = (struct stack_line){at, bytes, input->offset, bytes > LIMIT_LINE_BYTES};
        if (stop == NULL && out->too_long)
            skip_line(input);
        else
            input_skip(input, bytes + (stop != NULL ? 1 : 0));
        if (out->bytes > 0 && !out->too_long && out->at[out->bytes - 1] == '\r')
            out->bytes--;
        return true;
    }
}

enum status input_read_rest(struct stack_input *input, size_t max, char **out, size_t *bytes,
                            struct fault *fault)
{
    while (input->end - input->start <= max && input_fill(input, max * 2))
        continue;
    *bytes = input->end - input->start;
    if (*bytes > max)
        return fault_set(fault, ERR_LIMIT, max, "input document");
    *out = input->buffer + input->start;
    input_skip(input, *bytes);
    return ERR_NONE;
}

const struct module *input_module(struct stack_input *input, const char *name, size_t bytes)
{
    uint32_t slot = hash_fold(hash_bytes(HASH_START, name, bytes)) & (INPUT_NAME_SLOTS - 1);
    for (; input->names[slot] != NULL; slot = (slot + 1) & (INPUT_NAME_SLOTS - 1)) {
        const char *known = input->names[slot]->name;
        if (strncmp(known, name, bytes) == 0 && known[bytes] == '\0')
            return input->names[slot];
    }
    const bool full = input->name_count == INPUT_NAMES_MAX;
    struct arena *arena = full ? &input->scratch : &input->arena;
    struct module *module = ARENA_NEW(arena, struct module);
    char *copy = arena_text(arena, name, bytes);
    if (module == NULL || copy == NULL)
        return NULL;
    module->name = copy;
    module->unloaded_at_ns = MODULE_STILL_LOADED;
    module->index = full ? UINT32_MAX : input->name_count; /* UINT32_MAX: to be copied */
    if (!full) {
        input->names[slot] = module;
        input->name_count++;
    }
    return module;
}

void builder_add(struct stack_builder *builder, struct frame frame)
{
    uint64_t at = builder->count++;
    if (at >= LIMIT_FRAMES)
        at = LIMIT_FRAMES_HEAD + (at - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    builder->frames[at] = frame;
}

/* Copies what lives in scratch. */
static bool copy_frame(struct frame *frame, struct arena *keep)
{
    if (frame->symbols == SYMBOLS_JIT) {
        frame->function = arena_string(keep, frame->function);
        return frame->function != NULL;
    }
    if (frame->module == NULL || frame->module->index != UINT32_MAX)
        return true;
    struct module *module = ARENA_NEW(keep, struct module);
    if (module == NULL)
        return false;
    *module = *frame->module;
    module->index = 0;
    module->name = arena_string(keep, module->name);
    frame->module = module;
    frame->module_name = module->name;
    return module->name != NULL;
}

enum status builder_finish(struct stack_input *input, bool whole, struct arena *keep,
                           struct stack *out)
{
    struct stack_builder *builder = &input->builder;
    const uint32_t kept = builder->count < LIMIT_FRAMES ? (uint32_t)builder->count : LIMIT_FRAMES;
    const uint64_t tail_start = builder->count > LIMIT_FRAMES
                                    ? (builder->count - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL
                                    : 0;
    const uint64_t left_out = builder->left_out + (builder->count - kept);
    const uint32_t first = (uint32_t)builder->handed; /* one of the head: see may_part() */

    memset(out, 0, sizeof *out);
    out->frames = ARENA_ARRAY(keep, kept - first, struct frame);
    if (out->frames == NULL && kept > first)
        return ERR_MEMORY;
    for (uint32_t i = first; i < kept; i++) {
        uint64_t from = i;
        if (i >= LIMIT_FRAMES_HEAD)
            from = LIMIT_FRAMES_HEAD + (i - LIMIT_FRAMES_HEAD + tail_start) % LIMIT_FRAMES_TAIL;
        out->frames[i - first] = builder->frames[from];
        out->frames[i - first].index = i;
        if (!copy_frame(&out->frames[i - first], keep))
            return ERR_MEMORY;
    }
    out->frame_count = kept - first;
    builder->handed = builder->count;
    if (whole) {
        out->left_out = left_out > UINT32_MAX ? UINT32_MAX : (uint32_t)left_out;
        builder->count = 0;
        builder->handed = 0;
        builder->left_out = 0;
    }
    return ERR_NONE;
}

void item_fault(struct stack_input *input, struct stack_item *out, enum status code,
                uint64_t offset, const char *what, const char *hint)
{
    fault_clear(&out->fault);
    fault_set_hint(&out->fault, code, offset, what, hint);
    fault_set_path(&out->fault, input->name);
}
