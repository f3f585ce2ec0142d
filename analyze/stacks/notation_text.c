/* Text, one frame per line: our own form, and between its lines those of other tools, which the
 * other rows of the table read. The grammar is in stack_input.h. */
#include <string.h>

#include "base/text.h"
#include "stacks/notation.h"

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

/* Removes what a log puts before any line. */
static void drop_time(struct stack_line *line)
{
    const struct pattern_text text = {line->at, line->at + line->bytes};
    if (line->bytes == 0 || strchr("0123456789[", *line->at) == NULL || *line->at == '\0')
        return;
    line->at = spelled_after_time(text).at;
    line->bytes = (size_t)(text.end - line->at);
}

/* Finds the last '!' or '+' before "0x". */
static const char *find_number(const struct stack_line *line, char before)
{
    for (size_t i = line->bytes; i > 3; i--) {
        const char *at = line->at + i - 3;
        if (at[0] == before && at[1] == '0' && (at[2] == 'x' || at[2] == 'X'))
            return at;
    }
    return NULL;
}

/* Removes "@i" or "@r" from the end. */
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

/* Reads "0xOFFSET", or "0xTOKEN+0xIL" of managed code, whose token is one of table MethodDef. */
static bool parse_offset(const char *text, size_t bytes, struct frame *out)
{
    enum { TOKEN_BYTES = 10, TABLE_METHOD_DEF = 6 };
    uint64_t token;
    if (text_parse_hex(text, bytes, &out->offset))
        return true;
    if (bytes < TOKEN_BYTES + 2 || text[TOKEN_BYTES] != '+' ||
        !text_parse_hex(text, TOKEN_BYTES, &token) || token >> 24 != TABLE_METHOD_DEF ||
        !text_parse_hex(text + TOKEN_BYTES + 1, bytes - TOKEN_BYTES - 1, &out->offset) ||
        out->offset > UINT32_MAX)
        return false;
    out->method_token = (uint32_t)token;
    return true;
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

/* Removes "{debug id}" from the end; empty when there is none. */
static struct stack_line take_identity(struct stack_line *line)
{
    struct stack_line id = {line->at, 0, 0, false};
    size_t at = line->bytes;
    if (at == 0 || line->at[at - 1] != '}')
        return id;
    while (at > 0 && line->at[at - 1] != '{')
        at--;
    if (at < 2 || !is_blank(line->at[at - 2]))
        return id;
    id = (struct stack_line){line->at + at, line->bytes - at - 1, 0, false};
    line->bytes = at - 1;
    trim(line);
    return id;
}

static bool is_first(const struct stack_input *input)
{
    return input->builder.count + input->builder.before == 0;
}

/* Leaves out what a text around the frame adds: "at " before it, quotes around it, a comma. */
static void strip_quotes(struct stack_line *line)
{
    struct stack_line inner = *line;
    if (inner.bytes > 3 && memcmp(inner.at, "at ", 3) == 0) {
        inner.at += 3;
        inner.bytes -= 3;
        trim(&inner);
    }
    while (inner.bytes > 0 && strchr(",;", inner.at[inner.bytes - 1]) != NULL)
        inner.bytes--;
    if (inner.bytes > 2 && strchr("\"'`", inner.at[0]) != NULL &&
        (inner.at[inner.bytes - 1] == inner.at[0] ||
         (inner.at[0] == '`' && inner.at[inner.bytes - 1] == '\''))) {
        inner.at++;
        inner.bytes -= 2;
        trim(&inner);
        *line = inner;
    }
}

/* True where BEFORE, what is before an offset, has the same number as an address, as in traces of
 * OBS, whose offset is the address where there are no symbols; and for a row of xperf. */
static bool states_address(struct pattern_text before, uint64_t offset)
{
    enum { SHORTEST = 6 };
    uint64_t number;
    if (pattern_starts(before, "Stack,"))
        return true;
    while (before.at < before.end) {
        const struct pattern_text word = pattern_next_word(&before);
        if (pattern_length(word) >= SHORTEST &&
            text_parse_hex(word.at, pattern_length(word), &number) && number == offset)
            return true;
    }
    return false;
}

/* Reads one frame. False: the line is not a frame. */
static bool parse_frame(struct stack_input *input, struct stack_line line, struct frame *out)
{
    strip_quotes(&line);
    const struct stack_line id = take_identity(&line);
    memset(out, 0, sizeof *out);
    out->found_by = FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->kind = take_kind(&line, is_first(input) ? PC_INTERRUPTED : PC_RETURN);
    if (memchr(line.at, '\0', line.bytes) != NULL)
        return false;
    if (line.bytes > 4 && memcmp(line.at, "jit!", 4) == 0 && find_number(&line, '+') != NULL)
        return parse_generated(input, &line, out);
    if (input->addresses && line.bytes > 2 && memcmp(line.at, "0x", 2) == 0 &&
        text_parse_hex(line.at, line.bytes, &out->offset)) {
        out->pc_va = out->offset;
        input_map_frame(input, out);
        return true;
    }
    const char *mark = find_number(&line, '!');
    if (mark == NULL || mark == line.at ||
        !parse_offset(mark + 1, line.bytes - (size_t)(mark + 1 - line.at), out))
        return false;
    const size_t name_bytes = (size_t)(mark - line.at);
    if (name_bytes == 1 && line.at[0] == '?' && out->method_token == 0) {
        out->pc_va = out->offset;
        if (input->addresses)
            input_map_frame(input, out);
        return true;
    }
    const char *name = mark;
    while (name > line.at && name[-1] != '\\' && name[-1] != '/')
        name--;
    if (name == mark)
        return false;
    if (input->block == BLOCK_ADDRESSES) {
        spelled_at(out->offset, out);
        return true;
    }
    if (memchr(name, ' ', (size_t)(mark - name)) != NULL) {
        if (states_address((struct pattern_text){line.at, mark}, out->offset))
            return false;
        name = spelled_after_prefix((struct pattern_text){name, mark}).at;
    }
    const size_t length = (size_t)(mark - name);
    out->module = id.bytes > 0 ? input_identified(input, name, length, NULL, 0, id.at, id.bytes)
                               : input_module(input, name, length);
    if (out->module == NULL)
        return false;
    out->module_name = out->module->name;
    return true;
}

/* Bare addresses are looked up each for itself: however many there are, none is left out. */
static bool is_full(const struct stack_input *input)
{
    return input->addresses && input->builder.count == LIMIT_FRAMES_HEAD;
}

/* The number of a frame at the start of TEXT: `#1`, `# 1`, `[1]`, `1:`, `1#`, `1>`, `1)` or `1`,
 * also after "frame ". NO_THREAD: there is none. */
static uint64_t index_of(struct pattern_text text)
{
    enum { DIGITS = 4 };
    uint64_t index;
    while (text.at < text.end && strchr("*=> ", *text.at) != NULL)
        text.at++;
    if (pattern_starts(text, "frame ") || pattern_starts(text, "Frame "))
        text.at += sizeof "frame " - 1;
    if (text.at < text.end && (*text.at == '#' || *text.at == '['))
        text.at++;
    pattern_skip_blanks(&text);
    struct pattern_text digits = {text.at, text.at};
    while (digits.end < text.end && *digits.end >= '0' && *digits.end <= '9')
        digits.end++;
    const char *after = digits.end;
    if (after < text.end && strchr(":#>]),", *after) != NULL)
        after++;
    return pattern_length(digits) <= DIGITS && after < text.end && is_blank(*after) &&
                   text_parse_uint(digits.at, pattern_length(digits), &index)
               ? index
               : NO_THREAD;
}

/* True for the first frame of another stack: the numbers begin again. A call that was inlined may
 * have the number of its frame, but not where tools write '#'. */
static bool begins_again(const struct stack_input *input, struct pattern_text text)
{
    return input->last_index != NO_THREAD && input->builder.count > 0 &&
           (input->last_index > input->first_index || *text.at == '#') &&
           index_of(text) == input->first_index;
}

static void take_index(struct stack_input *input, struct pattern_text text)
{
    const uint64_t index = index_of(text);
    if (index == NO_THREAD)
        return;
    if (input->last_index == NO_THREAD)
        input->first_index = index;
    else
        input->rises = input->rises || index > input->last_index;
    input->last_index = index;
}

/* Some tools print the outermost frame first: their numbers end with 0. */
static void turn(const struct stack_input *input, struct stack *stack)
{
    const uint32_t count = stack->frame_count;
    if (count < 2 || (input->block < BLOCK_WPA &&
                      (input->last_index != 0 || input->first_index == 0 || input->rises)))
        return;
    for (uint32_t i = 0; i < count; i++)
        stack->frames[i].index = count - 1 - i;
    for (uint32_t i = 0; i < count / 2; i++) {
        const struct frame other = stack->frames[i];
        stack->frames[i] = stack->frames[count - 1 - i];
        stack->frames[count - 1 - i] = other;
    }
    const enum pc_kind kind = stack->frames[0].kind;
    stack->frames[0].kind = stack->frames[count - 1].kind;
    stack->frames[count - 1].kind = kind;
}

/* What counted only within the stack. */
static void leave_stack(struct stack_input *input)
{
    input->in_parameters = input->after_signal = input->named = false;
    input->block = BLOCK_NONE;
    input->last_index = NO_THREAD;
    input->rises = false;
}

/* Returns the collected frames as a stack; WHOLE when the stack ends here. False when there are
 * none. */
static bool finish(struct stack_input *input, bool whole, struct arena *keep,
                   struct stack_item *out)
{
    const struct stack_builder *builder = &input->builder;
    const bool first = builder->handed + builder->before == 0;
    const bool any = builder->count > 0 || input->has_label;
    if (builder_finish(input, whole, keep, &out->stack) != ERR_NONE) {
        item_fault(input, out, ERR_MEMORY, FAULT_NO_OFFSET, "stack", NULL);
    } else if (first) {
        out->stack.label = arena_string(keep, input->label);
        out->label = out->stack.label;
    }
    if (whole && first)
        turn(input, &out->stack);
    out->goes_on = !whole;
    if (is_full(input))
        builder_forget(&input->builder);
    out->named = out->crashed_first = input->named;
    if (input->named && input->thread_number != NO_THREAD) {
        out->stack.thread_id = (uint32_t)input->thread_number;
        if (input->thread_number == input->crashed_thread) {
            out->stack.role = THREAD_ROLE_SUSPECT;
            out->stack.thread_id = 0; /* a position, not an id; this thread is the suspect */
        }
    }
    if (whole) {
        input->label = NULL;
        input->has_label = false;
        leave_stack(input);
        input->thread_number = NO_THREAD;
        arena_reset(&input->scratch);
    }
    return any;
}

/* True when the collected frames should be returned now. Only the first frames are certain to be
 * kept; which of the later ones are kept is known only at the stack's end. */
static bool may_part(const struct stack_input *input)
{
    const struct stack_builder *builder = &input->builder;
    return is_full(input) ||
           (input->prompt && builder->count > builder->handed &&
            builder->count <= LIMIT_FRAMES_HEAD && stack_input_waits(input, INPUT_PROMPT_MS));
}

/* Drops what lines of the text before stated, except modules by lines of their own. */
static void forget(struct stack_input *input)
{
    if (input->mapped)
        input->range_count = 0;
    input->mapped = input->fault_managed = false;
    input->markup_count = 0;
    input->fault_module = NULL;
    input->fault_seventh = input->fault_data = input->fault_codes = 0;
}

/* A labelled text means the same whatever text was before it: readers that only count such texts
 * rely on that. What lines of modules stated stays known: see stack_raw_states(). */
static void start_labelled(struct stack_input *input, const struct stack_line *line)
{
    forget(input);
    struct stack_line label = *line;
    label.at++;
    label.bytes--;
    trim(&label);
    input->label = arena_text(&input->scratch, label.at, label.bytes);
    input->has_label = true;
}

/* Removes the last word of LINE, and returns it. */
static struct stack_line last_word(struct stack_line *line)
{
    struct stack_line word;
    trim(line);
    word = *line;
    while (line->bytes > 0 && !is_blank(line->at[line->bytes - 1]))
        line->bytes--;
    word.at += line->bytes;
    word.bytes -= line->bytes;
    return word;
}

/* Removes "0xBASE 0xSIZE" from the end of LINE; false, and nothing removed: there is none. */
static bool take_range(struct stack_line *line, uint64_t *base_va, uint64_t *bytes)
{
    struct stack_line rest = *line;
    const struct stack_line size = last_word(&rest), base = last_word(&rest);
    if (size.bytes < 3 || base.bytes < 3 || memcmp(size.at, "0x", 2) != 0 ||
        memcmp(base.at, "0x", 2) != 0 || !text_parse_hex(size.at, size.bytes, bytes) ||
        !text_parse_hex(base.at, base.bytes, base_va))
        return false;
    *line = rest;
    return true;
}

/* "-": not known. */
static void drop_dash(struct stack_line *word)
{
    if (word->bytes == 1 && word->at[0] == '-')
        word->bytes = 0;
}

/* "# module NAME CODE_ID DEBUG_ID [0xBASE 0xSIZE]"; a name may have blanks. Anything else is a
 * comment. */
static void read_module_line(struct stack_input *input, struct stack_line line)
{
    static const char word[] = "# module ";
    const size_t head = sizeof word - 1;
    uint64_t base_va = 0, bytes = 0;

    if (line.bytes <= head || memcmp(line.at, word, head) != 0)
        return;
    line.at += head;
    line.bytes -= head;
    const bool placed = take_range(&line, &base_va, &bytes);
    struct stack_line debug = last_word(&line), code = last_word(&line);
    trim(&line);
    drop_dash(&debug);
    drop_dash(&code);
    if (line.bytes == 0 || memchr(line.at, '\0', line.bytes) != NULL)
        return;
    const struct module *module =
        input_state_module(input, line.at, line.bytes, code.at, code.bytes, debug.at, debug.bytes);
    if (placed && module != NULL)
        (void)input_map_module(input, module, base_va, bytes);
}

static void clear(const struct stack_input *input, struct frame *out)
{
    memset(out, 0, sizeof *out);
    out->found_by = FOUND_GIVEN;
    out->identity = IDENTITY_UNCHECKED;
    out->kind = is_first(input) || input->after_signal ? PC_INTERRUPTED : PC_RETURN;
}

/* With a load map, the address says more than the printed name. */
static void map_frame(const struct stack_input *input, struct frame *out)
{
    input_map_frame(input, out);
    if (out->module == NULL)
        return;
    out->function = out->file = NULL;
    out->line = 0;
    out->symbol_distance = 0;
    out->note = NOTE_NONE;
}

/* Reads a line that is neither a frame of our form nor a label. */
static bool take_other(struct stack_input *input, const struct stack_line *line)
{
    const struct pattern_text text = {line->at, line->at + line->bytes};
    enum line_is is = LINE_UNKNOWN;
    struct frame frame;
    if (line->bytes == 0 || memchr(line->at, '\0', line->bytes) != NULL)
        return false;
    for (const struct notation *const *row = input->notations; is == LINE_UNKNOWN && *row; row++) {
        if ((*row)->line == NULL)
            continue;
        clear(input, &frame);
        is = (*row)->line(input, text, &frame);
    }
    if (is == LINE_FRAME) {
        take_index(input, text);
        input->after_signal = false;
        if ((input->addresses || input->mapped) && frame.module == NULL && frame.pc_va != 0)
            map_frame(input, &frame);
        builder_add(&input->builder, frame);
    }
    return is != LINE_UNKNOWN;
}

/* True for a line that begins the stack of another thread, or of another event. */
static bool starts_stack(const struct stack_input *input, const struct stack_line *line,
                         uint64_t *thread)
{
    const struct pattern_text text = {line->at, line->at + line->bytes};
    for (const struct notation *const *row = input->notations; *row != NULL; row++)
        if ((*row)->starts != NULL && (*row)->starts(input, text, thread))
            return true;
    *thread = NO_THREAD;
    return begins_again(input, text);
}

static bool is_digit(const struct stack_line *line, size_t at)
{
    return line->bytes > at + 1 && line->at[at] >= '0' && line->at[at] <= '9';
}

/* Reads a line that begins with '#'. False: it is numbered as a frame, "#0" or "#N" of a number
 * after the last one, and none that is known; other lines are comments. */
static bool take_comment(struct stack_input *input, const struct stack_line *line)
{
    const struct pattern_text text = {line->at, line->at + line->bytes};
    const uint64_t index = index_of(text);
    if (pattern_starts(text, "# Call Site"))
        return take_other(input, line);
    if (!is_digit(line, 1) && !(line->bytes > 2 && line->at[1] == ' ' && is_digit(line, 2)))
        read_module_line(input, *line);
    else if (!take_other(input, line))
        return index == NO_THREAD || !is_digit(line, 1) ||
               (index != 0 && index <= input->last_index);
    return true;
}

static void start_thread(struct stack_input *input, const struct stack_line *line, uint64_t thread)
{
    input->thread_number = thread;
    if (thread != NO_THREAD) {
        input->label = arena_printf(&input->scratch, "thread %llu", (unsigned long long)thread);
        input->has_label = true;
    }
    (void)take_other(input, line);
}

bool text_read_value(struct stack_input *input, const char *text)
{
    const char *end = text + strlen(text);
    bool is_one = true;
    forget(input);
    while (is_one && text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct stack_line line = {text, (size_t)((stop != NULL ? stop : end) - text), 0, false};
        struct frame frame;
        uint64_t thread;
        text = stop != NULL ? stop + 1 : end;
        trim(&line);
        drop_time(&line);
        if (line.bytes == 0)
            continue;
        const bool has_label = input_has_label(line.at, line.at + line.bytes);
        if (!has_label && line.at[0] != '#' && parse_frame(input, line, &frame))
            builder_add(&input->builder, frame);
        else if (has_label || starts_stack(input, &line, &thread))
            is_one = input->builder.count == 0;
        else
            (void)take_other(input, &line);
    }
    forget(input);
    leave_stack(input);
    return is_one;
}

/* True for a line of Apple's report that is not numbered as a frame: "Code Type: ARM-64". */
static bool is_prose(const struct stack_input *input, const struct stack_line *line)
{
    return input->is_apple && !is_digit(line, 0);
}

static bool next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    struct stack_line line;

    for (;;) {
        struct frame frame;
        uint64_t thread;

        if (may_part(input))
            return finish(input, false, keep, out);
        if (!input->images_stated)
            input_state_images(input);
        input_peek(input);
        if (!input_read_line(input, &line))
            return finish(input, true, keep, out);

        if (line.too_long) {
            out->label = arena_string(keep, input->label);
            item_fault(input, out, ERR_LIMIT, line.offset, "line", "longer than 1 MiB");
            return true;
        }
        trim(&line);
        input_unquote(input, &line);
        trim(&line);
        drop_time(&line);
        if (line.bytes == 0)
            continue;
        if (input_has_label(line.at, line.at + line.bytes)) {
            const bool had = finish(input, true, keep, out);
            start_labelled(input, &line);
            if (had)
                return true;
            continue;
        }
        if (line.at[0] != '#' && parse_frame(input, line, &frame)) {
            builder_add(&input->builder, frame);
            continue;
        }
        if (starts_stack(input, &line, &thread)) {
            const bool had = finish(input, true, keep, out);
            start_thread(input, &line, thread);
            if (had)
                return true;
            continue;
        }
        if (line.at[0] == '#' ? take_comment(input, &line)
                              : take_other(input, &line) || is_prose(input, &line))
            continue;
        input->builder.lost = true;
        out->label = arena_string(keep, input->label);
        item_fault(input, out, ERR_MALFORMED, line.offset, "line of a stack",
                   "expected module!0xOFFSET");
        return true;
    }
}

static bool is_text(struct stack_input *input)
{
    (void)input;
    return true;
}

const struct notation notation_text = {
    .name = "text", .recognise = is_text, .next = next, .by_line = true};
