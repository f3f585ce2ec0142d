/* Stacks in batches: read from a stream, resolved and written together; see twinstack.h. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "library/library_handles.h"
#include "library/stack_text.h"
#include "stacks/notation.h"

/* The frames of a batch and their text take 1 MB then, as much as the second cache of a processor.
 */
enum { BATCH_FRAMES = 512, BATCH_KEEP_BYTES = 1 << 22 };

struct twinstack_input {
    struct stack_input *stream;
    bool prompt;
};

struct twinstack_batch {
    struct arena keep;
    const struct twinstack_symbols *symbols; /* that resolved it */
    uint32_t count, errors;
    uint64_t frames, left_out;
    bool unresolved, unchecked;
    enum frame_note lack; /* of a frame with a name, why others may be missing; NOTE_NONE */
    bool as_json;         /* which of both has the text */
    struct json json;
    struct text_out text;
    uint32_t used; /* so many of the items below were in use before; the others are not set */
    struct stack_item items[TWINSTACK_BATCH_STACKS];
    struct twinstack_stack resolved[TWINSTACK_BATCH_STACKS]; /* those of items without a fault */
    size_t ends[TWINSTACK_BATCH_STACKS];                     /* where each item's text ends    */
};

enum twinstack_status twinstack_input_open(const char *path, uint32_t flags,
                                           struct twinstack_input **input,
                                           struct twinstack_error *error)
{
    struct fault fault = FAULT_INIT;

    *input = NULL;
    struct twinstack_input *made = calloc(1, sizeof *made);
    if (made == NULL)
        return library_refuse(ERR_MEMORY, "input", error);
    if (stack_input_open_path(path, &made->stream, &fault) != ERR_NONE) {
        free(made);
        return library_report(&fault, error);
    }
    if ((flags & TWINSTACK_INPUT_ADDRESSES) != 0)
        stack_input_addresses(made->stream);
    if ((flags & TWINSTACK_INPUT_PROMPT) != 0)
        stack_input_prompt(made->stream);
    *input = made;
    return library_succeed(error);
}

void twinstack_input_close(struct twinstack_input *input)
{
    if (input == NULL)
        return;
    stack_input_close(input->stream);
    free(input);
}

enum twinstack_input_form twinstack_input_form(const struct twinstack_input *input)
{
    static const struct {
        const struct notation *notation;
        enum twinstack_input_form form;
    } forms[] = {{&notation_text, TWINSTACK_INPUT_TEXT},
                 {&notation_json, TWINSTACK_INPUT_JSON},
                 {&notation_json_lines, TWINSTACK_INPUT_NDJSON},
                 {&notation_record, TWINSTACK_INPUT_RECORD}};
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (forms[i].notation == stack_input_notation(input->stream))
            return forms[i].form;
    return TWINSTACK_INPUT_UNKNOWN;
}

void twinstack_input_walker(struct twinstack_input *input, const char *name)
{
    stack_input_one_walker(input->stream, name);
}

uint32_t twinstack_input_left(const struct twinstack_input *input)
{
    return stack_input_left(input->stream);
}

struct twinstack_batch *twinstack_batch_new(void)
{
    struct twinstack_batch *made = malloc(sizeof *made);

    if (made != NULL) { /* without the items: a short input touches few of their pages */
        memset(made, 0, offsetof(struct twinstack_batch, items));
        arena_init(&made->keep, 0);
        json_to_text(&made->json, false);
    }
    return made;
}

void twinstack_batch_free(struct twinstack_batch *batch)
{
    if (batch == NULL)
        return;
    arena_free(&batch->keep);
    text_free(&batch->text);
    json_free(&batch->json);
    free(batch);
}

void twinstack_batch_clear(struct twinstack_batch *batch)
{
    if (batch->keep.used_bytes > BATCH_KEEP_BYTES)
        arena_free(&batch->keep);
    else
        arena_reset(&batch->keep);
    text_restart(&batch->text); /* it knows texts in the arena */
    batch->json.bytes = 0;
    batch->symbols = NULL;
    batch->count = batch->errors = 0;
    batch->unresolved = batch->unchecked = false;
    batch->lack = NOTE_NONE;
}

/* The next item of a batch that is not full, without frames. */
static struct stack_item *next_item(struct twinstack_batch *batch)
{
    if (batch->count == batch->used) {
        memset(&batch->items[batch->used], 0, sizeof batch->items[0]);
        memset(&batch->resolved[batch->used], 0, sizeof batch->resolved[0]);
        batch->used++;
    }
    batch->resolved[batch->count].stack.frame_count = 0;
    batch->resolved[batch->count].stack.label = NULL;
    batch->ends[batch->count] = 0;
    return &batch->items[batch->count];
}

/* The part of a file that is not read yet will ask for as much as the part that was read. */
static void expect_rest(const struct twinstack_input *input, struct twinstack_symbols *symbols)
{
    uint64_t read_bytes, left_bytes;

    if (symbols != NULL)
        symbol_store_expect_more(symbols->store,
                                 stack_input_progress(input->stream, &read_bytes, &left_bytes) &&
                                         read_bytes != 0
                                     ? (double)left_bytes / (double)read_bytes
                                     : 0);
}

/* Frames of our own JSON that found no name when they were resolved: they state a module by its
 * name, and symbols may know it today. */
static void place_unnamed(struct stack *stack, struct arena *keep)
{
    struct module *module = NULL;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        struct frame *frame = &stack->frames[i];
        if (frame->module != NULL || frame->module_name == NULL || frame->function != NULL ||
            frame->note != NOTE_NONE || frame->pc_va != 0)
            continue;
        if (module == NULL || strcmp(module->name, frame->module_name) != 0) {
            module = ARENA_NEW(keep, struct module);
            if (module == NULL)
                return;
            module->name = frame->module_name;
            module->unloaded_at_ns = MODULE_STILL_LOADED;
        }
        frame->module = module;
    }
}

enum twinstack_read twinstack_batch_read(struct twinstack_batch *batch,
                                         struct twinstack_input *input,
                                         struct twinstack_symbols *symbols)
{
    uint32_t frames = 0;

    twinstack_batch_clear(batch);
    while (batch->count < TWINSTACK_BATCH_STACKS && frames < BATCH_FRAMES) {
        struct stack_item *item = next_item(batch);
        if (!stack_input_next(input->stream, &batch->keep, item)) {
            expect_rest(input, symbols);
            return TWINSTACK_READ_END;
        }
        if (item->fault.code == ERR_NONE && item->named)
            place_unnamed(&item->stack, &batch->keep);
        if (item->fault.code != ERR_NONE)
            batch->errors++;
        else if (symbols != NULL)
            symbol_store_expect(symbols->store, &item->stack);
        frames += item->stack.frame_count;
        batch->count++;
        if (stack_input_waits(input->stream, 0))
            return TWINSTACK_READ_WAITS;
    }
    expect_rest(input, symbols);
    return TWINSTACK_READ_MORE;
}

enum twinstack_status twinstack_batch_add(struct twinstack_batch *batch, const char *label,
                                          const struct twinstack_address *addresses, uint32_t count,
                                          struct twinstack_error *error)
{
    if (batch->count == TWINSTACK_BATCH_STACKS)
        return library_refuse(ERR_LIMIT, "stacks of a batch", error);
    struct stack_item *item = next_item(batch);
    const struct fault none = FAULT_INIT;
    item->fault = none;
    item->goes_on = false;
    item->label = arena_string(&batch->keep, label);
    if (label != NULL && item->label == NULL)
        return library_refuse(ERR_MEMORY, "label", error);
    const enum twinstack_status status =
        library_frames(addresses, count, &batch->keep, &item->stack, error);
    if (status == TWINSTACK_OK) {
        item->stack.label = item->label;
        batch->count++;
    }
    return status;
}

uint32_t twinstack_batch_count(const struct twinstack_batch *batch)
{
    return batch->count;
}

enum twinstack_status twinstack_batch_error(const struct twinstack_batch *batch, uint32_t item,
                                            struct twinstack_error *error)
{
    if (item >= batch->count)
        return library_refuse(ERR_USAGE, "item of a batch", error);
    return library_report(&batch->items[item].fault, error);
}

static bool is_lack(enum frame_note note)
{
    return note == NOTE_SPLIT_MISSING || note == NOTE_IMAGE_PART_DAMAGED ||
           note == NOTE_PDB_PART_DAMAGED;
}

/* A name is unchecked when a file was chosen for it by its name alone. */
static void judge_frame(struct twinstack_batch *batch, const struct frame *frame)
{
    if (is_lack(frame->note))
        batch->lack = frame->note;
    if (frame->function == NULL)
        batch->unresolved = true;
    else if (batch->symbols->by_name && !batch->unchecked && frame->module != NULL &&
             frame->symbols != SYMBOLS_JIT && frame->identity == IDENTITY_UNCHECKED)
        batch->unchecked = !symbol_store_is_bound(batch->symbols->store, frame->module->name);
}

void twinstack_batch_resolve(struct twinstack_batch *batch, struct twinstack_symbols *symbols)
{
    batch->symbols = symbols;
    batch->errors = 0;
    batch->frames = batch->left_out = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct stack_item *item = &batch->items[i];
        struct stack *out = &batch->resolved[i].stack;
        if (item->fault.code == ERR_NONE)
            (void)symbol_resolve_stack(symbols->store, &item->stack, &batch->keep, out,
                                       &item->fault);
        if (item->fault.code != ERR_NONE) {
            batch->errors++;
            continue;
        }
        batch->frames += out->frame_count;
        batch->left_out += item->stack.left_out;
        for (uint32_t k = 0; k < out->frame_count; k++)
            judge_frame(batch, &out->frames[k]);
    }
}

const struct twinstack_stack *twinstack_batch_stack(const struct twinstack_batch *batch,
                                                    uint32_t item)
{
    static const struct twinstack_stack none;

    return item < batch->count ? &batch->resolved[item] : &none;
}

void twinstack_batch_summary(const struct twinstack_batch *batch, struct twinstack_summary *out)
{
    const struct twinstack_summary summary = {
        .size = out->size,
        .errors = batch->errors,
        .unresolved = batch->unresolved,
        .unchecked = batch->unchecked,
        .frames = batch->frames,
        .left_out = batch->left_out,
        .lack = batch->lack != NOTE_NONE ? frame_note_name(batch->lack) : NULL,
    };
    library_copy_known(out, out->size, &summary, sizeof summary);
}

static void write_json(struct twinstack_batch *batch, uint32_t i, uint32_t flags)
{
    struct json *j = &batch->json;

    if (batch->items[i].fault.code != ERR_NONE)
        stack_item_write_error(j, &batch->items[i]);
    else if ((flags & TWINSTACK_WRITE_MODULES) != 0)
        j->failed = !stack_write_loaded(j, &batch->resolved[i].stack, batch->symbols->store,
                                        &batch->keep) ||
                    j->failed;
    else
        stack_write_json(j, &batch->resolved[i].stack);
    if (!j->pretty)
        json_newline(j);
    j->has_item[0] = false;
    batch->ends[i] = j->bytes;
}

static void write_text(struct twinstack_batch *batch, uint32_t i, enum twinstack_form form,
                       bool colour)
{
    const struct stack_item *item = &batch->items[i];

    if (form == TWINSTACK_FORM_TEXT && item->fault.code != ERR_NONE)
        stack_text_write_fault(&batch->text, item, colour);
    else if (form == TWINSTACK_FORM_TEXT)
        stack_text_write(&batch->text, &batch->resolved[i].stack, item->goes_on, colour);
    else if (item->fault.code == ERR_NONE)
        stack_text_write_folded(&batch->text, &batch->resolved[i].stack);
    batch->ends[i] = batch->text.bytes;
}

enum twinstack_status twinstack_batch_write(struct twinstack_batch *batch, enum twinstack_form form,
                                            uint32_t flags)
{
    batch->as_json = form == TWINSTACK_FORM_JSON || form == TWINSTACK_FORM_NDJSON;
    batch->json.pretty = form == TWINSTACK_FORM_JSON;
    batch->json.bytes = 0;
    batch->json.failed = false;
    text_restart(&batch->text);
    batch->text.failed = false;
    if (batch->symbols == NULL && batch->count > 0)
        return TWINSTACK_USAGE;
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->as_json)
            write_json(batch, i, flags);
        else
            write_text(batch, i, form, (flags & TWINSTACK_WRITE_COLOUR) != 0);
    return batch->text.failed || batch->json.failed ? TWINSTACK_MEMORY : TWINSTACK_OK;
}

const char *twinstack_batch_text(const struct twinstack_batch *batch, uint32_t first,
                                 uint32_t count, size_t *bytes)
{
    const char *text = batch->as_json ? batch->json.text : batch->text.text;

    *bytes = 0;
    if (first >= batch->count || count == 0 || text == NULL)
        return "";
    const uint32_t last = count < batch->count - first ? first + count - 1 : batch->count - 1;
    const size_t start = first > 0 ? batch->ends[first - 1] : 0;
    *bytes = batch->ends[last] - start;
    return text + start;
}
