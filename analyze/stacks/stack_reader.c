/* What every form of a stack input uses: bytes and lines of the stream, module names, and the
 * builder that collects a stack. It depends on no other file of the stack input. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/hash.h"
#include "stacks/stack_reader.h"

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
        char *wider = array_reserve(input->buffer, &input->room, (uint64_t)input->room + 1, 1);
        if (wider == NULL)
            return false;
        input->buffer = wider;
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

const char *input_after_space(struct stack_input *input, size_t from)
{
    for (;;) {
        while (from < input->end && strchr(" \t\r\n", input->buffer[from]) != NULL &&
               input->buffer[from] != '\0')
            from++;
        if (from < input->end)
            return input->buffer + from;
        if (input->end > LIMIT_LINE_BYTES || !input_fill(input, (size_t)LIMIT_LINE_BYTES * 2))
            return NULL;
    }
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

bool input_copy_id(const char *text, size_t bytes, size_t upper, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        const bool small = c >= 'a' && c <= 'f', large = c >= 'A' && c <= 'F';
        if (c == '-' || c == '{' || c == '}')
            continue;
        if (!(c >= '0' && c <= '9') && !small && !large)
            return false;
        if (n + 1 >= room)
            return false;
        out[n] = c;
        if (small && n < upper)
            out[n] = (char)(c - 32);
        else if (large && n >= upper)
            out[n] = (char)(c + 32);
        n++;
    }
    out[n] = '\0';
    return true;
}

/* The same, of an id that is not too short to be one. */
static bool copy_whole_id(const char *text, size_t bytes, size_t upper, char *out, size_t room)
{
    enum { SHORTEST_ID = 9 };
    return input_copy_id(text, bytes, upper, out, room) &&
           (out[0] == '\0' || strlen(out) >= SHORTEST_ID);
}

enum { MVID_WORD_BYTES = 5 };

static bool is_mvid(const char *id, size_t bytes)
{
    return bytes >= MVID_WORD_BYTES && memcmp(id, "mvid:", MVID_WORD_BYTES) == 0;
}

static bool is_module(const struct module *module, const char *name, size_t bytes,
                      const struct module *identity)
{
    return strncmp(module->name, name, bytes) == 0 && module->name[bytes] == '\0' &&
           strcmp(module->code_id, identity->code_id) == 0 &&
           strcmp(module->debug_id, identity->debug_id) == 0 &&
           strcmp(module->mvid, identity->mvid) == 0;
}

/* The slot of the module, or the free one where it belongs. */
static uint32_t find_slot(const struct stack_input *input, const char *name, size_t bytes,
                          const struct module *identity)
{
    uint64_t hash = hash_bytes(HASH_START, name, bytes);
    hash = hash_text(hash_text(hash, identity->code_id), identity->debug_id);
    hash = hash_text(hash, identity->mvid);
    uint32_t slot = hash_fold(hash) & (INPUT_NAME_SLOTS - 1);
    while (input->names[slot] != NULL && !is_module(input->names[slot], name, bytes, identity))
        slot = (slot + 1) & (INPUT_NAME_SLOTS - 1);
    return slot;
}

static const struct module *module_in(struct stack_input *input, uint32_t slot, const char *name,
                                      size_t bytes, const struct module *identity)
{
    if (input->names[slot] != NULL)
        return input->names[slot];
    const bool full = input->name_count == INPUT_NAMES_MAX;
    struct arena *arena = full ? &input->scratch : &input->arena;
    struct module *module = ARENA_NEW(arena, struct module);
    char *copy = arena_text(arena, name, bytes);
    if (module == NULL || copy == NULL)
        return NULL;
    *module = *identity;
    module->build_id = arena_string(arena, identity->build_id);
    module->name = copy;
    module->unloaded_at_ns = MODULE_STILL_LOADED;
    module->index = full ? UINT32_MAX : input->name_count; /* UINT32_MAX: to be copied */
    if (!full) {
        input->names[slot] = module;
        input->name_count++;
    }
    return module;
}

const struct module *input_module(struct stack_input *input, const char *name, size_t bytes)
{
    static const struct module none = {0};
    const uint32_t slot = find_slot(input, name, bytes, &none);
    if (input->stated != NULL && input->stated[slot] != NULL && input->names[slot] != NULL)
        return input->stated[slot];
    return module_in(input, slot, name, bytes, &none);
}

const struct module *input_identified(struct stack_input *input, const char *name, size_t bytes,
                                      const char *code_id, size_t code_bytes, const char *debug_id,
                                      size_t debug_bytes)
{
    char build_id[INPUT_BUILD_ID_BYTES];
    struct module identity = {0};
    if (code_bytes >= sizeof identity.code_id) { /* of ELF */
        if (!copy_whole_id(code_id, code_bytes, 0, build_id, sizeof build_id))
            return NULL;
        identity.build_id = build_id;
        code_bytes = 0;
    }
    if (!copy_whole_id(code_id, code_bytes, 8, identity.code_id, sizeof identity.code_id) ||
        !(is_mvid(debug_id, debug_bytes)
              ? module_mvid_parse(debug_id + MVID_WORD_BYTES, debug_bytes - MVID_WORD_BYTES,
                                  identity.mvid)
              : copy_whole_id(debug_id, debug_bytes, 32, identity.debug_id,
                              sizeof identity.debug_id)))
        return NULL;
    return module_in(input, find_slot(input, name, bytes, &identity), name, bytes, &identity);
}

const struct module *input_state_module(struct stack_input *input, const char *name, size_t bytes,
                                        const char *code_id, size_t code_bytes,
                                        const char *debug_id, size_t debug_bytes)
{
    static const struct module none = {0};
    if (input->stated == NULL)
        input->stated = calloc(INPUT_NAME_SLOTS, sizeof(struct module *));
    const struct module *stated =
        input_identified(input, name, bytes, code_id, code_bytes, debug_id, debug_bytes);
    const uint32_t slot = find_slot(input, name, bytes, &none);
    if (input->stated == NULL || stated == NULL || stated->index == UINT32_MAX ||
        module_in(input, slot, name, bytes, &none) == NULL || input->names[slot] == NULL)
        return NULL;
    input->stated[slot] = stated;
    return stated;
}

void builder_add(struct stack_builder *builder, struct frame frame)
{
    uint64_t at = builder->count++;
    if (at >= LIMIT_FRAMES)
        at = LIMIT_FRAMES_HEAD + (at - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    builder->frames[at] = frame;
}

struct frame *builder_last(struct stack_builder *builder)
{
    if (builder->count == builder->handed)
        return NULL;
    uint64_t at = builder->count - 1;
    if (at >= LIMIT_FRAMES)
        at = LIMIT_FRAMES_HEAD + (at - LIMIT_FRAMES_HEAD) % LIMIT_FRAMES_TAIL;
    return &builder->frames[at];
}

/* Copies data that is in scratch. */
static bool copy_frame(struct frame *frame, struct arena *keep)
{
    if (frame->symbols == SYMBOLS_JIT) {
        frame->function = arena_string(keep, frame->function);
        return frame->function != NULL;
    }
    if (frame->module == NULL) { /* what another tool named */
        const char *const texts[] = {frame->module_name, frame->function, frame->file};
        frame->module_name = arena_string(keep, texts[0]);
        frame->function = arena_string(keep, texts[1]);
        frame->file = arena_string(keep, texts[2]);
        return (texts[0] == NULL || frame->module_name != NULL) &&
               (texts[1] == NULL || frame->function != NULL) &&
               (texts[2] == NULL || frame->file != NULL);
    }
    if (frame->module->index != UINT32_MAX)
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
    fault_set_lasting(&out->fault, code, offset, what, hint);
    fault_set_path(&out->fault, input->name);
}
