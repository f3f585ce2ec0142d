/* See stack_text.h. */
#include "library/stack_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/prefetch.h"
#include "base/text.h"
#include "model/folded.h"

enum { PLACE_WIDTH_MAX = 48, NAME_WIDTH_MAX = 56, SOURCE_WIDTH = 10 };

#define COLOUR_DIM "\033[2m"
#define COLOUR_NAME "\033[1m"
#define COLOUR_INLINE "\033[36m"
#define COLOUR_WARN "\033[33m"
#define COLOUR_OFF "\033[0m"

void text_restart(struct text_out *out)
{
    if (out->bytes > 0 && out->facts != NULL)
        memset(out->facts, 0, TEXT_FACTS * sizeof *out->facts);
    out->bytes = 0;
}

void text_free(struct text_out *out)
{
    free(out->text);
    free(out->shapes);
    free(out->facts);
    out->text = NULL;
    out->shapes = NULL;
    out->facts = NULL;
    out->bytes = 0;
    out->room = 0;
    out->shape_room = 0;
}

bool text_grow(struct text_out *out, size_t bytes)
{
    if (!ARRAY_ROOM(out->text, out->room, out->bytes + bytes)) {
        out->failed = true;
        return false;
    }
    return true;
}

void text_format(struct text_out *out, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const int bytes = vsnprintf(NULL, 0, format, list);
    va_end(list);
    /* one more for the NUL that vsnprintf writes */
    if (bytes < 0 || !text_grow(out, (size_t)bytes + 1)) {
        out->failed = true;
        return;
    }
    va_start(list, format);
    (void)vsnprintf(out->text + out->bytes, (size_t)bytes + 1, format, list);
    va_end(list);
    out->bytes += (size_t)bytes;
}

void text_put_clean(struct text_out *out, const char *text)
{
    const char *start = text;
    while (*text != '\0') {
        const size_t control = text_control_length(text);
        if (control > 0) {
            text_put(out, start, (size_t)(text - start));
            text_put(out, "?", 1);
            start = text + control;
        }
        text += control > 0 ? control : 1;
    }
    text_put(out, start, (size_t)(text - start));
}

/* Columns that a reader sees: continuation bytes of UTF-8 take none. */
static size_t columns(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* True when all of the text is printable ASCII; eight characters at a time, with tests that set bit
 * 7 of each byte that is below 0x20 or 0x7F. */
static bool is_printable(const char *text, size_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t bad = 0;
    size_t i = 0;
    for (; bytes - i >= sizeof bad; i += sizeof bad) {
        uint64_t w;
        memcpy(&w, text + i, sizeof w);
        bad |= w | (w - ones * 0x20) | ((w ^ ones * 0x7F) - ones);
    }
    for (; i < bytes; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7F)
            bad = tops;
    return (bad & tops) == 0;
}

static struct text_fact fact_of(struct text_out *out, const char *text)
{
    const uint64_t hash = (uint64_t)(uintptr_t)text * UINT64_C(0x9e3779b97f4a7c15);
    struct text_fact alone = {0};
    if (out->facts == NULL) /* of a batch that is never written it would only cost time */
        out->facts = calloc(TEXT_FACTS, sizeof *out->facts);
    struct text_fact *fact = out->facts != NULL ? &out->facts[(hash >> 32) % TEXT_FACTS] : &alone;
    if (fact->text != text) {
        const size_t bytes = strlen(text);
        fact->text = text;
        fact->bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
        fact->clean = is_printable(text, fact->bytes);
        fact->columns = fact->clean ? fact->bytes : (uint32_t)columns(text, fact->bytes);
    }
    return *fact;
}

/* Without control characters. */
static void put_known(struct text_out *out, const struct text_fact *fact)
{
    if (fact->clean)
        text_put(out, fact->text, fact->bytes);
    else
        text_put_clean(out, fact->text);
}

static void put_spaces(struct text_out *out, size_t count)
{
    if (out->room - out->bytes < count && !text_grow(out, count))
        return;
    memset(out->text + out->bytes, ' ', count);
    out->bytes += count;
}

/* TEXT, and at least one space after it. */
static void put_column(struct text_out *out, const char *text, size_t width)
{
    const size_t columns = strlen(text);
    text_put(out, text, columns);
    put_spaces(out, columns < width ? width - columns + 1 : 1);
}

static void put_hex(struct text_out *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    text[--at] = 'x';
    text[--at] = '0';
    text_put(out, text + at, sizeof text - at);
}

static void put_uint(struct text_out *out, uint64_t value, int width)
{
    char text[24];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (sizeof text - at < (size_t)width)
        text[--at] = ' ';
    text_put(out, text + at, sizeof text - at);
}

static uint32_t hex_columns(uint64_t value)
{
    uint32_t digits = 1;
    while (value >>= 4)
        digits++;
    return digits + 2;
}

/* A name that is only the nearest one before the address shows how far before. */
static bool shows_distance(const struct frame *frame)
{
    return frame->inline_depth == 0 &&
           (frame->symbols == SYMBOLS_EXPORT || frame->symbols == SYMBOLS_COFF ||
            frame->symbols == SYMBOLS_PDB_PUBLIC || frame->symbols == SYMBOLS_JIT ||
            frame->symbols == SYMBOLS_SYMTAB || frame->symbols == SYMBOLS_NEAREST ||
            frame->symbols == SYMBOLS_BREAKPAD_PUBLIC);
}

static const char *module_word(const struct frame *frame)
{
    return frame->module_name != NULL ? frame->module_name : "?";
}

/* Both for a frame; see struct text_shape. */
static uint32_t place_columns(const struct text_shape *shape, const struct frame *frame)
{
    return shape->module.columns + 1 + hex_columns(frame->offset) +
           (frame->method_token != 0 ? 11 : 0);
}

/* What comes before a name. */
static const char *mark_of(const struct frame *frame)
{
    if (frame->inline_depth > 0)
        return "[inline] ";
    switch (frame->note) {
    case NOTE_ASYNC:
        return "[async] ";
    case NOTE_ITERATOR:
        return "[iterator] ";
    case NOTE_LINK_JUMP:
        return "[thunk] ";
    default:
        return "";
    }
}

static uint32_t name_columns(const struct text_shape *shape, const struct frame *frame)
{
    if (frame->function == NULL)
        return 0;
    return shape->function.columns + (uint32_t)strlen(mark_of(frame)) +
           (shows_distance(frame) ? 1 + hex_columns(frame->symbol_distance) : 0);
}

/* "0x06000001+" of managed code. */
static void put_token(struct text_out *out, const struct frame *frame)
{
    char text[16];
    if (frame->method_token == 0)
        return;
    (void)snprintf(text, sizeof text, "0x%08" PRIx32 "+", frame->method_token);
    text_puts(out, text);
}

static void put_place(struct text_out *out, const struct frame *frame,
                      const struct text_shape *shape)
{
    put_known(out, &shape->module);
    text_put(out, "!", 1);
    put_token(out, frame);
    put_hex(out, frame->offset);
}

static void put_colour(struct text_out *out, bool colour, const char *code)
{
    if (colour)
        text_puts(out, code);
}

struct widths {
    uint32_t place, name;
    int index;
};

/* Names are spread over all of an index: waiting for one after the other took a quarter of the time
 * of a filter. */
static void expect_names(const struct stack *stack)
{
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        PREFETCH(stack->frames[i].function);
        PREFETCH(stack->frames[i].file);
    }
}

/* Measures the frames of a stack. Two frames of one place have the same module and offset, and most
 * modules recur. */
static struct widths measure(struct text_out *out, const struct stack *stack)
{
    struct widths w = {0, 0, 2};
    if (!ARRAY_ROOM(out->shapes, out->shape_room, (uint64_t)stack->frame_count + 1)) {
        out->failed = true;
        return w;
    }
    expect_names(stack);
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        struct text_shape *shape = &out->shapes[i];
        const char *module = module_word(frame);
        shape->module =
            i > 0 && shape[-1].module.text == module ? shape[-1].module : fact_of(out, module);
        if (frame->function != NULL)
            shape->function = fact_of(out, frame->function);
        if (frame->file != NULL)
            shape->file = fact_of(out, frame->file);
        shape->place = place_columns(shape, frame);
        shape->name = name_columns(shape, frame);
        if (shape->place > w.place && shape->place <= PLACE_WIDTH_MAX)
            w.place = shape->place;
        if (shape->name > w.name && shape->name <= NAME_WIDTH_MAX && frame->file != NULL)
            w.name = shape->name;
        if (frame->index >= 100)
            w.index = frame->index >= 1000 ? 4 : 3;
    }
    return w;
}

static void put_where(struct text_out *out, const struct frame *frame,
                      const struct text_shape *shape, bool colour)
{
    put_colour(out, colour, COLOUR_DIM);
    put_known(out, &shape->file);
    if (frame->line != 0) {
        text_put(out, ":", 1);
        put_uint(out, frame->line, 0);
    }
    put_colour(out, colour, COLOUR_OFF);
}

static void put_note(struct text_out *out, const struct frame *frame, bool colour)
{
    char buffer[FRAME_NOTE_BYTES];
    const char *note = frame_note_text(frame, buffer);
    put_colour(out, colour, COLOUR_WARN);
    text_put(out, "(", 1);
    text_put_clean(out, note != NULL ? note : "in no known module");
    text_put(out, ")", 1);
    put_colour(out, colour, COLOUR_OFF);
}

/* True when the name and line of the frame may be wrong, or come from less than they should since
 * the symbols found are those of another build. */
static bool is_doubtful(const struct frame *frame)
{
    return frame->note == NOTE_PDB_PART_DAMAGED || frame->note == NOTE_IMAGE_PART_DAMAGED ||
           frame_note_is_other_build(frame->note);
}

static void put_function(struct text_out *out, const struct frame *frame,
                         const struct text_shape *shape, bool colour)
{
    if (frame->function == NULL) {
        put_note(out, frame, colour);
        return;
    }
    put_colour(out, colour, frame->inline_depth > 0 ? COLOUR_INLINE : COLOUR_NAME);
    text_puts(out, mark_of(frame));
    put_known(out, &shape->function);
    if (shows_distance(frame)) {
        text_put(out, "+", 1);
        put_hex(out, frame->symbol_distance);
    }
    put_colour(out, colour, COLOUR_OFF);
}

/* The module and offset are on the first line of a physical frame: with its innermost inline frame
 * if it has one. */
static void put_frame(struct text_out *out, const struct frame *frame,
                      const struct text_shape *shape, bool first, const struct widths *w,
                      bool colour)
{
    const size_t place = shape->place, name = shape->name;

    put_colour(out, colour, COLOUR_DIM);
    if (first) {
        put_uint(out, frame->index, w->index);
        text_put(out, "  ", 2);
        put_place(out, frame, shape);
        put_spaces(out, place < w->place ? w->place - place : 0);
    } else {
        put_spaces(out, (size_t)w->index + 2 + w->place);
    }
    text_put(out, "  ", 2);
    put_column(out, symbols_from_name(frame->symbols), SOURCE_WIDTH);
    put_colour(out, colour, COLOUR_OFF);
    put_function(out, frame, shape, colour);
    if (frame->file != NULL) { /* code without a name may have a line: FASTLINK PDBs do */
        put_spaces(out, (frame->function != NULL && name < w->name ? w->name - name : 0) + 2);
        put_where(out, frame, shape, colour);
    }
    if (frame->function != NULL && is_doubtful(frame)) {
        text_put(out, "  ", 2);
        put_note(out, frame, colour);
    }
    text_put(out, "\n", 1);
}

/* The walk ended in a function of a module that calls and yet has no unwind data. */
static void put_without_unwind_data(struct text_out *out, const struct frame *frame)
{
    if (frame->module_name == NULL)
        return;
    text_puts(out, "    (stopped in a function without unwind data: ");
    text_put_clean(out, frame->function != NULL ? frame->function : frame->module_name);
    text_puts(out, ")\n");
}

void stack_text_write(struct text_out *out, const struct stack *stack, bool goes_on, bool colour)
{
    const struct widths w = measure(out, stack);
    if (out->failed)
        return;
    uint32_t physical = stack->frame_count > 0 ? stack->frames[0].index : 0;

    if (stack->label != NULL) {
        text_put(out, "> ", 2);
        text_put_clean(out, stack->label);
        text_put(out, "\n", 1);
    }
    const char *stop = stack_stop_text(stack);
    if (stack->state != STACK_OK || (stack->frame_count == 0 && stop != NULL)) {
        text_puts(out, "    (");
        text_puts(out, stack_state_name(stack->state));
        text_puts(out, stop != NULL ? ": " : "");
        text_put_clean(out, stop != NULL ? stop : "");
        text_puts(out, ")\n");
    }
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        const bool first = i == 0 || stack->frames[i - 1].index != frame->index;
        if (first && physical++ == LIMIT_FRAMES_HEAD && stack->left_out > 0) {
            put_spaces(out, (size_t)w.index + 2);
            put_uint(out, stack->left_out, 0);
            text_puts(out, " frames left out\n");
        }
        put_frame(out, frame, &out->shapes[i], first, &w, colour);
    }
    if (!goes_on && stack->stop == STOP_NO_UNWIND && stack->frame_count > 0)
        put_without_unwind_data(out, &stack->frames[stack->frame_count - 1]);
    if (!goes_on)
        text_put(out, "\n", 1);
}

void stack_text_write_fault(struct text_out *out, const struct stack_item *item, bool colour)
{
    char text[FAULT_PATH_BYTES + 256];

    put_colour(out, colour, COLOUR_WARN);
    fault_describe(&item->fault, text, sizeof text);
    text_puts(out, "! ");
    text_put_clean(out, text);
    put_colour(out, colour, COLOUR_OFF);
    text_put(out, "\n", 1);
}

/* An image at an address, and the first frame in it. */
struct loaded {
    const struct module *module;
    uint64_t base_va;
    uint32_t frame;
};

static int compare_images(const void *left, const void *right)
{
    const struct loaded *a = left, *b = right;
    if (a->module != b->module)
        return (uintptr_t)a->module < (uintptr_t)b->module ? -1 : 1;
    return a->base_va < b->base_va ? -1 : a->base_va > b->base_va;
}

ARRAY_ORDER(compare_frames, struct loaded, frame)

/* The images that STACK's frames lie in, each once, in the order of the frames. */
static uint32_t list_loaded(const struct stack *stack, struct loaded *out)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const struct frame *frame = &stack->frames[i];
        if (frame->module != NULL && frame->pc_va != 0 && frame->inline_depth == 0)
            out[count++] = (struct loaded){frame->module, frame->pc_va - frame->offset, i};
    }
    array_sort(out, count, sizeof *out, compare_images);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || compare_images(&out[i - 1], &out[i]) != 0)
            out[kept++] = out[i];
    array_sort(out, kept, sizeof *out, compare_frames);
    return kept;
}

static void key_identity(struct json *j, const char *key, const char *stated, const char *found)
{
    const char *id = stated[0] != '\0' ? stated : found;
    json_key_string(j, key, id[0] != '\0' ? id : NULL);
}

static void write_loaded(struct json *j, const struct loaded *loaded, struct symbol_store *store)
{
    const struct module *module = loaded->module;
    struct symbol_image image;
    symbol_image_of(symbol_store_module(store, module), &image);
    const bool below = loaded->base_va < image.preferred_base_va;
    char slide[24];

    json_object(j);
    json_key_string(j, "name", module->name);
    key_identity(j, "code_id", module->code_id, image.code_id);
    key_identity(j, "debug_id", module->debug_id, image.debug_id);
    json_key_string(j, "build_id", module->build_id);
    json_key_hex(j, "base", loaded->base_va);
    (void)snprintf(slide, sizeof slide, "%s0x%" PRIx64, below ? "-" : "",
                   below ? image.preferred_base_va - loaded->base_va
                         : loaded->base_va - image.preferred_base_va);
    json_key_string(j, "slide", image.has_base ? slide : NULL);
    json_object_end(j);
}

bool stack_write_loaded(struct json *j, const struct stack *stack, struct symbol_store *store,
                        struct arena *scratch)
{
    struct loaded *list = ARENA_ARRAY(scratch, (size_t)stack->frame_count + 1, struct loaded);
    const uint32_t count = list != NULL ? list_loaded(stack, list) : 0;

    json_object(j);
    stack_write_members(j, stack);
    json_key_array(j, "modules");
    for (uint32_t i = 0; i < count; i++)
        write_loaded(j, &list[i], store);
    json_array_end(j);
    json_object_end(j);
    return list != NULL;
}

static void put_piece(void *to, const char *text, size_t bytes)
{
    text_put(to, text, bytes);
}

void stack_text_write_folded(struct text_out *out, const struct stack *stack)
{
    if (stack->frame_count == 0)
        return;
    folded_stack_write(stack, true, put_piece, out);
    text_puts(out, " 1\n");
}
