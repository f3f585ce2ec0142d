/* The stream of stacks: detecting the form, and what all forms share; see stack_input.h. Text:
 * notation_text.c. JSON: notation_json.c. */
#include "stacks/stack_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "stacks/stack_reader.h"
#include "stacks/stack_raw.h"

enum status stack_input_open(FILE *stream, const char *name, struct stack_input **out,
                             struct fault *fault)
{
    struct stack_input *input = calloc(1, sizeof *input);

    *out = NULL;
    if (input != NULL) {
        arena_init(&input->arena, 0);
        arena_init(&input->scratch, 0);
        input->stream = stream;
        input->room = INPUT_BUFFER_BYTES;
        input->buffer = malloc(input->room);
        input->name = arena_string(&input->arena, name);
        input->names = calloc(INPUT_NAME_SLOTS, sizeof(struct module *));
        input->builder.frames = malloc(LIMIT_FRAMES * sizeof(struct frame));
        fault_clear(&input->record_fault);
    }
    if (input == NULL || input->buffer == NULL || input->name == NULL || input->names == NULL ||
        input->builder.frames == NULL) {
        stack_input_close(input);
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "input of stacks");
    }
    *out = input;
    return ERR_NONE;
}

enum status stack_input_open_path(const char *path, struct stack_input **out, struct fault *fault)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *stream = stdin;

    *out = NULL;
    if (!standard) {
        stream = path_is_folder(path) ? NULL : fopen(path, "rb");
        if (stream == NULL) {
            const bool absent = !path_is_folder(path) && errno == ENOENT;
            fault_set_lasting(fault, absent ? ERR_ABSENT : ERR_IO, FAULT_NO_OFFSET,
                              "input of stacks",
                              absent                 ? "no such file"
                              : path_is_folder(path) ? "a folder, not a file"
                                                     : "cannot be opened");
            fault_set_path(fault, path);
            return fault->code;
        }
    }
    if (stack_input_open(stream, standard ? "standard input" : path, out, fault) != ERR_NONE) {
        if (!standard)
            (void)fclose(stream);
        return fault->code;
    }
    struct stack_input *input = *out; /* NOLINT(clang-analyzer-unix.Stream) it closes the stream */
    if (input != NULL) {
        input->owns_stream = !standard;
        input->direct = true;
    }
    return ERR_NONE;
}

void stack_input_close(struct stack_input *input)
{
    if (input == NULL)
        return;
    cJSON_Delete(input->document);
    arena_free(&input->arena);
    arena_free(&input->scratch);
    free(input->buffer);
    free((void *)input->names);
    free((void *)input->stated);
    free(input->builder.frames);
    if (input->owns_stream)
        (void)fclose(input->stream);
    free(input);
}

enum stack_input_form stack_input_form(const struct stack_input *input)
{
    return input->form;
}

void stack_input_prompt(struct stack_input *input)
{
    input->prompt = true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Skips white space, reading more of the stream up to the limit of a line. Returns the first other
 * character, or NULL at the end. */
static const char *after_space(struct stack_input *input, size_t from)
{
    for (;;) {
        while (from < input->end && is_space(input->buffer[from]))
            from++;
        if (from < input->end)
            return input->buffer + from;
        if (input->end > LIMIT_LINE_BYTES || !input_fill(input, (size_t)LIMIT_LINE_BYTES * 2))
            return NULL;
    }
}

/* The end of the line that starts at FROM, or NULL when the line exceeds the limit. */
static const char *line_end(struct stack_input *input, size_t from)
{
    for (;;) {
        const char *stop = memchr(input->buffer + from, '\n', input->end - from);
        if (stop != NULL)
            return stop;
        if (input->end - from > LIMIT_LINE_BYTES)
            return NULL;
        if (!input_fill(input, (size_t)LIMIT_LINE_BYTES * 2))
            return input->buffer + input->end;
    }
}

/* True while the input may still start with MAGIC. Otherwise a short line need not wait for more
 * bytes. */
static bool may_become(const struct stack_input *input, const char *magic, size_t bytes)
{
    return input->end < bytes && memcmp(input->buffer, magic, input->end) == 0;
}

/* True when '[' is followed by what an array of stacks can hold, or by nothing. */
static bool starts_array(struct stack_input *input)
{
    const char *at = after_space(input, input->start);
    const char *next = after_space(input, (size_t)(at + 1 - input->buffer));
    return next == NULL || strchr("{[]\"", *next) != NULL;
}

/* JSON is recognized by its first character.  It is one object per line, rather than one document,
 * if the first line is a whole object or the second line starts another one. */
static enum stack_input_form find_text_form(struct stack_input *input)
{
    input_to_front(input); /* offsets below count from the buffer's start */
    const char *at = after_space(input, input->start);
    if (at != NULL && *at == '[') /* of logs, too: "[Thread debugging ..." */
        return starts_array(input) ? INPUT_JSON : INPUT_TEXT;
    if (at == NULL || *at != '{')
        return INPUT_TEXT;
    const size_t first = (size_t)(at - input->buffer);
    const char *stop = line_end(input, first);
    if (stop == NULL)
        return INPUT_JSON;
    const size_t length = (size_t)(stop - input->buffer) - first;
    size_t last = first + length;
    while (last > first && is_space(input->buffer[last - 1]))
        last--;
    if (last > first + 1 && input->buffer[last - 1] == '}')
        return INPUT_NDJSON;
    const char *next = after_space(input, first + length);
    return next != NULL && *next == '{' && last > first + 1 ? INPUT_NDJSON : INPUT_JSON;
}

/* A record is recognized by its first bytes. */
static enum stack_input_form find_form(struct stack_input *input)
{
    while ((may_become(input, RECORD_MAGIC, 8) || may_become(input, "\xEF\xBB\xBF", 3) ||
            may_become(input, "\xFF\xFE", 2) || may_become(input, "\xFE\xFF", 2)) &&
           input_fill(input, input->room))
        continue;
    if (input->end >= 8 && memcmp(input->buffer, RECORD_MAGIC, 8) == 0)
        return INPUT_RECORD;
    if (input->end >= 2 &&
        (memcmp(input->buffer, "\xFF\xFE", 2) == 0 || memcmp(input->buffer, "\xFE\xFF", 2) == 0))
        return INPUT_UTF16;
    if (input->end >= 3 && memcmp(input->buffer, "\xEF\xBB\xBF", 3) == 0)
        input_skip(input, 3);
    return find_text_form(input);
}

enum stack_input_form stack_input_find_form(struct stack_input *input)
{
    if (input->form == INPUT_UNKNOWN)
        input->form = find_form(input);
    return input->form;
}

bool stack_input_broken(const struct stack_input *input)
{
    return input->broken;
}

/* UTF-16 is what Windows shells write for `>`: report it once, not for every line. */
static bool next_utf16(struct stack_input *input, struct stack_item *out)
{
    if (input->reported)
        return false;
    input->reported = true;
    item_fault(input, out, ERR_UNSUPPORTED, 0, "text in UTF-16", "save it as UTF-8");
    return true;
}

static void describe_recorded(const struct record *record, const struct record_stack *from,
                              struct arena *keep, struct stack_item *out)
{
    const char *walker = record_walker_name(from->walker);

    record_stack_describe(record, from, &out->stack);
    out->stack.engine = arena_printf(keep, "offset:%s", walker);
    out->stack.label = arena_printf(keep, "%s%sthread %u %s", from->label ? from->label : "",
                                    from->label ? " " : "", (unsigned)from->thread_id, walker);
    if (from->sample != 0)
        out->stack.label =
            arena_printf(keep, "%s sample %u", out->stack.label, (unsigned)from->sample);
    out->label = out->stack.label;
}

/* Stacks captured on demand are replayed by time; the label states the time. */
static void next_capture(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    struct record_stack stack;

    if (record_capture_stack(&input->record, input->next_capture++, keep, &stack, &out->fault) !=
        ERR_NONE)
        return;
    describe_recorded(&input->record, &stack, keep, out);
    out->stack.label =
        arena_printf(keep, "%s%s@%llu.%09llu s thread %u", stack.label ? stack.label : "",
                     stack.label ? " " : "", (unsigned long long)(stack.at_ns / 1000000000U),
                     (unsigned long long)(stack.at_ns % 1000000000U), (unsigned)stack.thread_id);
    out->label = out->stack.label;
}

static bool input_next_record(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    if (input->next_stack == 0 && input->record.stacks == NULL && !input->reported) {
        char *data = NULL;
        size_t bytes = 0;
        if (input_read_rest(input, LIMIT_JSON_BYTES, &data, &bytes, &input->record_fault) ==
            ERR_NONE)
            (void)record_read(bytes_over(data, bytes, &input->record_fault), &input->arena,
                              &input->record);
    }
    if (input->next_capture < input->record.capture_count) {
        next_capture(input, keep, out);
        return true;
    }
    if (input->record.stacks != NULL && input->next_stack < input->record.stack_count) {
        describe_recorded(&input->record, &input->record.stacks[input->next_stack++], keep, out);
        return true;
    }
    if (input->record_fault.code != ERR_NONE && !input->reported) {
        input->reported = true;
        out->fault = input->record_fault;
        fault_set_path(&out->fault, input->name);
        return true;
    }
    input->reported = true;
    return false;
}

/* Bad lines at the start do not determine the form of the lines after them. */
static void reconsider_form(struct stack_input *input)
{
    if (input->builder.count > 0 || input->has_label || input->document != NULL ||
        (input->form != INPUT_TEXT && input->form != INPUT_NDJSON) ||
        (input->start == input->end && !input_fill(input, input->room)))
        return;
    const char c = input->buffer[input->start];
    if (input->form == INPUT_NDJSON && c != '{' && c != '[' && !is_space(c))
        input->form = INPUT_TEXT;
    else if (input->form == INPUT_TEXT && c == '{' && find_text_form(input) == INPUT_NDJSON)
        input->form = INPUT_NDJSON;
}

bool stack_input_next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    memset(out, 0, sizeof *out);
    fault_clear(&out->fault);
    if (input->form == INPUT_UNKNOWN)
        input->form = find_form(input);
    else if (!input->understood)
        reconsider_form(input);
    bool got = false;
    if (input->form == INPUT_TEXT)
        got = input_next_text(input, keep, out);
    else if (input->form == INPUT_RECORD)
        got = input_next_record(input, keep, out);
    else if (input->form == INPUT_UTF16)
        got = next_utf16(input, out);
    else
        got = input_next_json(input, keep, out);
    input->understood = input->understood || (got && out->fault.code == ERR_NONE);
    if (!got && input->broken && !input->reported) {
        input->reported = true;
        item_fault(input, out, ERR_IO, input->offset, "reading the input",
                   "the input ends here before it is complete");
        return true;
    }
    return got;
}

void stack_item_write_error(struct json *j, const struct stack_item *item)
{
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_string(j, "label", item->label);
    json_key(j, "error");
    json_object(j);
    json_key_string(j, "code", fault_code_name(item->fault.code));
    json_key_string(j, "what", item->fault.what);
    if (item->fault.offset == FAULT_NO_OFFSET)
        json_key_null(j, "offset");
    else
        json_key_hex(j, "offset", item->fault.offset);
    json_key_string(j, "hint", item->fault.hint);
    json_object_end(j);
    json_object_end(j);
}
