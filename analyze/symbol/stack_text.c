/* The text form of offset stacks: one frame a line.
 *
 *     > label             starts a stack
 *     # comment           ignored, as are blank lines
 *     module!0xOFFSET     a frame; @i or @r after it where the kind is not the usual one; a
 *                         folder before the module's name is left out
 *     ?!0xADDRESS         an address in no module
 *     jit!name+0xOFFSET   generated code
 *
 * Facts: the contract "Offset stack, text form". */
#include <string.h>

#include "base/text.h"
#include "symbol/stack_input_parts.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static void trim(struct stack_line *line)
{
    while (line->bytes > 0 && is_blank(line->at[0])) {
        line->at++;
        line->bytes--;
    }
    while (line->bytes > 0 && is_blank(line->at[line->bytes - 1]))
        line->bytes--;
}

/* Finds the last '!' or '+' that "0x" follows. */
static const char *find_number(const struct stack_line *line, char before)
{
    for (size_t i = line->bytes; i > 3; i--) {
        const char *at = line->at + i - 3;
        if (at[0] == before && at[1] == '0' && (at[2] == 'x' || at[2] == 'X'))
            return at;
    }
    return NULL;
}

/* Takes "@i" or "@r" off the end. */
static enum pc_kind take_kind(struct stack_line *line, enum pc_kind usual)
{
    if (line->bytes < 2 || line->at[line->bytes - 2] != '@')
        return usual;
    const char word = line->at[line->bytes - 1];
    if (word != 'i' && word != 'r')
        return usual;
    line->bytes -= 2;
    return word == 'i' ? PC_INTERRUPTED : PC_RETURN;
}

static bool parse_generated(struct stack_input *input, const struct stack_line *line,
                            struct frame *out)
{
    const char *plus = find_number(line, '+');
    if (plus == NULL || plus <= line->at + 4 ||
        !text_parse_hex(plus + 1, line->bytes - (size_t)(plus + 1 - line->at), &out->offset))
        return false;
    out->function = arena_text(&input->scratch, line->at + 4, (size_t)(plus - line->at) - 4);
    out->module_name = "jit";
    out->symbols = SYMBOLS_JIT;
    out->frame_class = CLASS_GENERATED;
    out->symbol_distance = out->offset;
    return out->function != NULL;
}

/* Reads one frame.  False: the line is none. */
static bool parse_frame(struct stack_input *input, struct stack_line line, struct frame *out)
{
    memset(out, 0, sizeof *out);
    out->found_by = FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->kind = take_kind(&line, input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN);
    if (memchr(line.at, '\0', line.bytes) != NULL)
        return false;
    if (line.bytes > 4 && memcmp(line.at, "jit!", 4) == 0 && find_number(&line, '+') != NULL)
        return parse_generated(input, &line, out);
    const char *mark = find_number(&line, '!');
    if (mark == NULL || mark == line.at ||
        !text_parse_hex(mark + 1, line.bytes - (size_t)(mark + 1 - line.at), &out->offset))
        return false;
    const size_t name_bytes = (size_t)(mark - line.at);
    if (name_bytes == 1 && line.at[0] == '?') {
        out->pc_va = out->offset;
        return true;
    }
    const char *name = mark;
    while (name > line.at && name[-1] != '\\' && name[-1] != '/')
        name--;
    if (name == mark)
        return false;
    out->module = input_module(input, name, (size_t)(mark - name));
    if (out->module == NULL)
        return false;
    out->module_name = out->module->name;
    return true;
}

/* Hands out what was gathered; WHOLE when the stack ends here.  False when there is nothing. */
static bool finish(struct stack_input *input, bool whole, struct arena *keep,
                   struct stack_item *out)
{
    const struct stack_builder *builder = &input->builder;
    const bool first = builder->handed == 0;
    const bool any = builder->count > 0 || input->has_label;
    if (builder_finish(input, whole, keep, &out->stack) != ERR_NONE) {
        item_fault(input, out, ERR_MEMORY, FAULT_NO_OFFSET, "stack", NULL);
    } else if (first) {
        out->stack.label = arena_string(keep, input->label);
        out->label = out->stack.label;
    }
    out->goes_on = !whole;
    if (whole) {
        input->label = NULL;
        input->has_label = false;
        arena_reset(&input->scratch);
    }
    return any;
}

/* True when what was gathered is to be handed out now.  Only of the frames that are kept for
 * certain: which of the last ones are is known at the stack's end. */
static bool may_part(const struct stack_input *input)
{
    const struct stack_builder *builder = &input->builder;
    return input->prompt && builder->count > builder->handed &&
           builder->count <= LIMIT_FRAMES_HEAD && stack_input_waits(input, INPUT_PROMPT_MS);
}

static void start_labelled(struct stack_input *input, const struct stack_line *line)
{
    struct stack_line label = *line;
    label.at++;
    label.bytes--;
    trim(&label);
    input->label = arena_text(&input->scratch, label.at, label.bytes);
    input->has_label = true;
}

bool input_next_text(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    struct stack_line line;

    for (;;) {
        struct frame frame;

        if (may_part(input))
            return finish(input, false, keep, out);
        if (!input_read_line(input, &line))
            return finish(input, true, keep, out);

        if (line.too_long) {
            out->label = arena_string(keep, input->label);
            item_fault(input, out, ERR_LIMIT, line.offset, "line", "longer than 1 MiB");
            return true;
        }
        trim(&line);
        if (line.bytes == 0 || line.at[0] == '#')
            continue;
        if (line.at[0] == '>') {
            const bool had = finish(input, true, keep, out);
            start_labelled(input, &line);
            if (had)
                return true;
            continue;
        }
        if (parse_frame(input, line, &frame)) {
            builder_add(&input->builder, frame);
            continue;
        }
        out->label = arena_string(keep, input->label);
        item_fault(input, out, ERR_MALFORMED, line.offset, "line of a stack",
                   "expected module!0xOFFSET");
        return true;
    }
}
