/* Frames and stacks: the lookup address, the words, the JSON form.  See stack.h. */
#include "model/stack.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/prefetch.h"
#include "model/names.h"

static const char *const pc_kind_names[] = {
    [PC_INTERRUPTED] = "interrupted",
    [PC_RETURN] = "return",
};

static const char *const found_by_names[] = {
    [FOUND_CONTEXT] = "context",
    [FOUND_UNWIND] = "unwind",
    [FOUND_LEAF] = "leaf",
    [FOUND_FRAME_POINTER] = "frame_pointer",
    [FOUND_FRAME_SIZE] = "frame_size",
    [FOUND_SCAN] = "scan",
    [FOUND_GIVEN] = "given",
    [FOUND_INLINED] = "inlined",
    [FOUND_CFI] = "cfi",
};

static const char *const symbols_from_names[] = {
    [SYMBOLS_NONE] = "none",
    [SYMBOLS_PDB] = "pdb",
    [SYMBOLS_PDB_PUBLIC] = "pdb-public",
    [SYMBOLS_DWARF] = "dwarf",
    [SYMBOLS_COFF] = "coff",
    [SYMBOLS_EXPORT] = "export",
    [SYMBOLS_CSV] = "csv",
    [SYMBOLS_JIT] = "jit",
    [SYMBOLS_MISMATCH] = "mismatch",
    [SYMBOLS_BREAKPAD] = "breakpad",
    [SYMBOLS_BREAKPAD_PUBLIC] = "breakpad-public",
    [SYMBOLS_SYMTAB] = "symtab",
    [SYMBOLS_NEAREST] = "nearest",
    [SYMBOLS_PPDB] = "ppdb",
};

static const char *const frame_class_names[] = {
    [CLASS_NONE] = "none",       [CLASS_OWN] = "own",       [CLASS_CAPTURE] = "capture",
    [CLASS_RUNTIME] = "runtime", [CLASS_SYSTEM] = "system", [CLASS_GENERATED] = "generated",
};

static const char *const stack_state_names[] = {
    [STACK_OK] = "ok",           [STACK_NOT_APPLICABLE] = "not_applicable",
    [STACK_BLOCKED] = "blocked", [STACK_FAILED] = "failed",
    [STACK_SKIPPED] = "skipped",
};

static const char *const identity_names[] = {
    [IDENTITY_CHECKED] = "checked",
    [IDENTITY_UNCHECKED] = "unchecked",
    [IDENTITY_AMBIGUOUS] = "ambiguous",
};

uint64_t frame_lookup_offset(const struct frame *frame)
{
    if (frame->method_token != 0) /* the mapping to IL has already gone back by one byte */
        return FRAME_METHOD(frame->method_token) | (frame->offset & UINT32_MAX);
    return frame->kind == PC_RETURN && frame->offset > 0 ? frame->offset - 1 : frame->offset;
}

const char *stack_stop_text(const struct stack *stack)
{
    return stack->stop_detail != NULL ? stack->stop_detail : stop_reason_name(stack->stop);
}

void stack_set_stop_text(struct stack *stack, const char *text)
{
    const char *refused = stop_reason_name(STOP_SNAPSHOT_REFUSED);
    stack->stop = stop_reason_parse(text);
    stack->stop_detail = stack->stop == STOP_OTHER ? text : NULL;
    if (stack->stop == STOP_OTHER && strncmp(text, refused, strlen(refused)) == 0)
        stack->stop = STOP_SNAPSHOT_REFUSED;
}

const char *stack_role_text(const struct stack *stack)
{
    return thread_role_name(stack->role, stack->role_word);
}

void stack_set_role_text(struct stack *stack, const char *text)
{
    stack->role = thread_role_parse(text, &stack->role_word);
}

const char *frame_note_text(const struct frame *frame, char out[FRAME_NOTE_BYTES])
{
    if (frame->note == NOTE_OTHER)
        return frame->note_words;
    if (frame->note != NOTE_MODULE_UNLOADED)
        return frame_note_name(frame->note);
    (void)snprintf(out, FRAME_NOTE_BYTES, "in %.280s, which was unloaded",
                   frame->module_name != NULL ? frame->module_name : "a module");
    return out;
}

void frame_set_note_text(struct frame *frame, const char *text)
{
    char unloaded[FRAME_NOTE_BYTES];
    frame->note = NOTE_MODULE_UNLOADED;
    frame->note_words = NULL;
    if (text != NULL && strcmp(frame_note_text(frame, unloaded), text) == 0)
        return;
    frame->note = frame_note_parse(text);
    frame->note_words = frame->note == NOTE_OTHER ? text : NULL;
}

bool frame_module_is_unloaded(const struct frame *frame)
{
    const struct module *module = frame->module;
    return frame->module_state == MODULE_STATE_UNLOADED ||
           (module != NULL && module->unloaded_at_ns != MODULE_STILL_LOADED &&
            module->unloaded_at_ns != 0);
}

const char *pc_kind_name(enum pc_kind kind)
{
    return pc_kind_names[kind];
}

bool pc_kind_parse(const char *name, enum pc_kind *out)
{
    const int found = name_index(pc_kind_names, COUNT_OF(pc_kind_names), name);
    if (found >= 0)
        *out = (enum pc_kind)found;
    return found >= 0;
}

const char *found_by_name(enum found_by found_by)
{
    return found_by_names[found_by];
}

const char *found_by_rule(enum found_by found)
{
    switch (found) {
    case FOUND_CONTEXT:
        return "given: the thread's registers";
    case FOUND_UNWIND:
        return "the callee's unwind data";
    case FOUND_LEAF:
        return "the callee was a leaf: the return address was on top of the stack";
    case FOUND_FRAME_POINTER:
        return "the chain of frame pointers: no unwind data";
    case FOUND_FRAME_SIZE:
        return "the callee's frame size in the PDB: its image is missing";
    case FOUND_CFI:
        return "the unwind data of the callee's Breakpad file: its own is missing";
    case FOUND_SCAN:
        return "a scan of the stack: may be stale";
    case FOUND_GIVEN:
    case FOUND_INLINED:
        break;
    }
    return "given";
}

const char *symbols_from_name(enum symbols_from from)
{
    return symbols_from_names[from];
}

const char *frame_class_name(enum frame_class c)
{
    return frame_class_names[c];
}

const char *stack_state_name(enum stack_state state)
{
    return stack_state_names[state];
}

/* What the frames of a stack share: texts; of one inlined call and the next where they are; and the
 * last members, for inlined calls and for others. */
struct frame_memo {
    struct json_memo module, file, place, end[2];
    const struct frame *has_place, *has_end[2]; /* the frame that it is of */
};

static void write_place(struct json *j, const struct frame *frame, struct frame_memo *memo)
{
    const struct frame *like = memo->has_place;
    if (like != NULL && like->module_name == frame->module_name && like->offset == frame->offset &&
        like->method_token == 0 && frame->method_token == 0 && json_again(j, &memo->place))
        return;
    const size_t from = j->bytes;
    json_key(j, "module");
    json_string_again(j, frame->module_name, &memo->module);
    if (frame->method_token != 0)
        json_key_hex(j, "method", frame->method_token);
    if (frame->method_token != 0 && frame->type_arguments != NULL)
        json_key_string(j, "type_arguments", frame->type_arguments);
    json_key_hex(j, "offset", frame->offset);
    memo->place = (struct json_memo){NULL, from, j->bytes - from};
    memo->has_place = frame;
}

static bool ends_alike(const struct frame *a, const struct frame *b)
{
    return a->found_by == b->found_by && a->symbols == b->symbols && a->identity == b->identity &&
           a->note == b->note && a->note != NOTE_OTHER && a->note != NOTE_MODULE_UNLOADED;
}

static void write_end(struct json *j, const struct frame *frame, struct frame_memo *memo)
{
    char note[FRAME_NOTE_BYTES];
    const bool inlined = frame->inline_depth > 0;
    const struct frame *like = memo->has_end[inlined];
    if (like != NULL && ends_alike(like, frame) && json_again(j, &memo->end[inlined]))
        return;
    const size_t from = j->bytes;
    json_key_bool(j, "inlined", inlined);
    json_key_string(j, "found_by", found_by_name(frame->found_by));
    json_key_string(j, "symbols", symbols_from_name(frame->symbols));
    json_key_string(j, "identity", identity_names[frame->identity]);
    json_key_string(j, "note", frame_note_text(frame, note));
    memo->end[inlined] = (struct json_memo){NULL, from, j->bytes - from};
    memo->has_end[inlined] = frame;
}

static void write_frame(struct json *j, const struct frame *frame, struct frame_memo *memo)
{
    json_object(j);
    json_key_uint(j, "index", frame->index);
    json_key_uint(j, "inline_depth", frame->inline_depth);
    write_place(j, frame, memo);
    json_key_string(j, "function", frame->function);
    json_key(j, "file");
    json_string_again(j, frame->file, &memo->file);
    json_key_uint_known(j, "line", frame->line);
    write_end(j, frame, memo);
    json_object_end(j);
}

void frame_write_json(struct json *j, const struct frame *frame)
{
    struct frame_memo memo = {.module = {0}};
    write_frame(j, frame, &memo);
}

/* Names lie anywhere in an index of hundreds of megabytes: they are asked for some frames before
 * they are written. */
static void prefetch_names(const struct stack *stack, uint32_t number)
{
    enum { LINE_BYTES = 64 };
    if (number >= stack->frame_count || stack->frames[number].function == NULL)
        return;
    PREFETCH(stack->frames[number].function);
    PREFETCH(stack->frames[number].function + LINE_BYTES);
    PREFETCH(stack->frames[number].file);
}

void stack_write_members(struct json *j, const struct stack *stack)
{
    enum { AHEAD = 8 };
    struct frame_memo memo = {.module = {0}};
    json_key_uint(j, "schema_version", 1);
    json_key_string(j, "label", stack->label);
    json_key_array(j, "frames");
    for (uint32_t i = 0; i < AHEAD; i++)
        prefetch_names(stack, i);
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        prefetch_names(stack, i + AHEAD);
        write_frame(j, &stack->frames[i], &memo);
    }
    json_array_end(j);
}

void stack_write_json(struct json *j, const struct stack *stack)
{
    json_object(j);
    stack_write_members(j, stack);
    if (stack->left_out > 0)
        json_key_uint(j, "left_out", stack->left_out);
    json_object_end(j);
}
