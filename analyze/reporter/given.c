/* See given.h. */
#include "reporter/given.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "stacks/stack_input.h"

enum { SHOWN_BYTES = 60 };

static const struct module *keep_module(const struct module *from, struct arena *keep)
{
    struct module *copy;
    if (from == NULL || (from->debug_id[0] == '\0' && from->code_id[0] == '\0'))
        return NULL;
    copy = ARENA_NEW(keep, struct module);
    if (copy == NULL)
        return NULL;
    *copy = *from;
    copy->name = arena_string(keep, from->name);
    copy->path = copy->pdb_name = copy->build_id = NULL;
    return copy;
}

/* The frames that have code of their own: inline frames that are marked as such are not compared.
 */
static bool keep_places(const struct stack *stack, struct arena *keep, struct given_stack *out)
{
    struct place *at = ARENA_ARRAY(keep, (size_t)stack->frame_count + 1, struct place);
    const struct module *last = NULL, *kept = NULL;
    const char *name = NULL, *copy = NULL;
    if (at == NULL)
        return false;
    out->places.at = at;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        if (frame->inline_depth > 0)
            continue;
        if (frame->module_name != name)
            copy = arena_string(keep, frame->module_name);
        name = frame->module_name;
        if (frame->module != last)
            kept = keep_module(frame->module, keep);
        last = frame->module;
        at[out->places.count++] = (struct place){
            .module = copy,
            .image = kept,
            .offset = copy == NULL && frame->pc_va != 0 ? frame->pc_va : frame->offset,
            .va = frame->function != NULL ? frame->pc_va : 0,
            .interrupted = frame->kind == PC_INTERRUPTED,
            .no_offset = frame->pc_va == 0 && (frame->note == NOTE_NAMED_BY_INPUT ||
                                               frame->note == NOTE_BREAKPAD_NO_ADDRESS),
            .function = arena_string(keep, frame->function)};
    }
    return true;
}

static bool add_stack(const struct stack_item *item, struct arena *keep, struct given_file *out)
{
    if (!ARENA_ROOM(keep, out->stacks, out->room, (uint64_t)out->count + 1))
        return false;
    struct given_stack *stack = &out->stacks[out->count++];
    *stack = (struct given_stack){.label = arena_string(keep, item->label),
                                  .thread_id = item->stack.thread_id};
    if (item->stack.role == THREAD_ROLE_SUSPECT)
        out->suspect = out->count - 1;
    if (!keep_places(&item->stack, keep, stack))
        return false;
    out->frames += stack->places.count;
    return true;
}

/* The text at OFFSET of PATH, up to the end of its line; NULL: it cannot be read. */
static const char *text_at(const char *path, uint64_t offset, struct arena *keep)
{
    char line[SHOWN_BYTES + 1];
    FILE *file = offset <= INT32_MAX ? file_open(path, "rb") : NULL;
    if (file == NULL)
        return NULL;
    const size_t bytes =
        fseek(file, (long)offset, SEEK_SET) == 0 ? fread(line, 1, sizeof line - 1, file) : 0;
    (void)fclose(file);
    line[bytes] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
    return arena_string(keep, line);
}

static void note_ignored(const char *path, const struct fault *fault, struct arena *keep,
                         struct given_file *out)
{
    if (out->ignored++ > 0)
        return;
    if (fault->offset != FAULT_NO_OFFSET && strcmp(path, "-") != 0)
        out->first_ignored = text_at(path, fault->offset, keep);
    if (out->first_ignored == NULL) {
        char text[FAULT_PATH_BYTES + 256];
        fault_describe(fault, text, sizeof text);
        out->first_ignored = arena_string(keep, text);
    }
}

static void weigh(struct given_file *out, struct arena *keep)
{
    if (out->ignored == 0 || out->ignored <= out->frames)
        return;
    out->unreadable =
        out->frames == 0
            ? arena_printf(keep, "no line holds a frame, first \"%s\"", out->first_ignored)
            : arena_printf(keep, "%u of %u lines hold no frame, first \"%s\"", out->ignored,
                           out->ignored + out->frames, out->first_ignored);
}

enum status given_read(const char *path, struct arena *keep, struct given_file *out,
                       struct fault *fault)
{
    struct stack_input *input;
    struct stack_item item;
    struct fault opened = FAULT_INIT;
    bool memory = true;
    *out = (struct given_file){.count = 0};
    if (stack_input_open_path(path, &input, &opened) != ERR_NONE) {
        char text[FAULT_PATH_BYTES + 256];
        fault_describe(&opened, text, sizeof text);
        out->unreadable = arena_string(keep, text);
        return opened.code == ERR_MEMORY ? (*fault = opened).code : ERR_NONE;
    }
    while (memory && stack_input_next(input, keep, &item)) {
        if (item.fault.code == ERR_MEMORY)
            memory = false;
        else if (item.fault.code != ERR_NONE)
            note_ignored(path, &item.fault, keep, out);
        else
            memory = add_stack(&item, keep, out);
    }
    stack_input_close(input);
    if (!memory)
        return fault_no_memory(fault, "stacks");
    weigh(out, keep);
    return ERR_NONE;
}
