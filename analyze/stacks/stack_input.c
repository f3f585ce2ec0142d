/* The stream of stacks: finding its notation, and what all of them share; see stack_input.h. */
#include "stacks/stack_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "stacks/notation.h"
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
        input->notations = notations;
        input->crashed_thread = input->thread_number = input->last_index = NO_THREAD;
    }
    if (input == NULL || input->buffer == NULL || input->name == NULL || input->names == NULL ||
        input->builder.frames == NULL) {
        stack_input_close(input);
        return fault_no_memory(fault, "input of stacks");
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
            const char *hint = path_is_folder(path) ? "a folder, not a file" : "cannot be opened";
            fault_set_lasting(fault, absent ? ERR_ABSENT : ERR_IO, FAULT_NO_OFFSET,
                              "input of stacks", absent ? "no such file" : hint);
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

const struct notation *stack_input_notation(const struct stack_input *input)
{
    return input->notation;
}

void stack_input_one_walker(struct stack_input *input, const char *name)
{
    input->one_walker = true;
    input->walker = name;
}

uint32_t stack_input_left(const struct stack_input *input)
{
    return input->left;
}

void stack_input_prompt(struct stack_input *input)
{
    input->prompt = true;
}

/* True while the input may still start with MAGIC. Otherwise a short line need not wait for more
 * bytes. */
static bool may_become(const struct stack_input *input, const char *magic, size_t bytes)
{
    return input->end < bytes && memcmp(input->buffer, magic, input->end) == 0;
}

static const struct notation *recognised(struct stack_input *input)
{
    const struct notation *const *row = input->notations;
    while ((*row)->recognise == NULL || !(*row)->recognise(input)) /* text recognises anything */
        row++;
    return *row;
}

/* The order of bytes of UTF-16 without a mark, whose first two characters are of ASCII: each has a
 * zero. No other text has one. UNITS_BYTES: it is none. */
static enum input_units unmarked_units(struct stack_input *input)
{
    enum { SEEN = 4 };
    while (
        input->end - input->start < SEEN &&
        (input->end - input->start < 2 || memchr(input->buffer + input->start, '\0', 2) != NULL) &&
        input_fill(input, input->room))
        continue;
    const char *at = input->buffer + input->start;
    if (input->end - input->start < SEEN)
        return UNITS_BYTES;
    if (at[0] != '\0' && at[1] == '\0' && at[2] != '\0' && at[3] == '\0')
        return UNITS_UTF16_LITTLE;
    return at[0] == '\0' && at[1] != '\0' && at[2] == '\0' && at[3] != '\0' ? UNITS_UTF16_BIG
                                                                            : UNITS_BYTES;
}

/* Skips the mark of UTF-16 or UTF-8, and makes UTF-8 of the former. */
static void decode(struct stack_input *input)
{
    enum input_units units = UNITS_BYTES;
    if (input->end >= 3 && memcmp(input->buffer, "\xEF\xBB\xBF", 3) == 0)
        input_skip(input, 3);
    else if (input->end >= 2 && memcmp(input->buffer, "\xFF\xFE", 2) == 0)
        units = UNITS_UTF16_LITTLE;
    else if (input->end >= 2 && memcmp(input->buffer, "\xFE\xFF", 2) == 0)
        units = UNITS_UTF16_BIG;
    if (units != UNITS_BYTES)
        input_skip(input, 2);
    else
        units = unmarked_units(input);
    if (units != UNITS_BYTES)
        input->broken = !input_is_utf16(input, units);
}

const struct notation *stack_input_find_notation(struct stack_input *input)
{
    if (input->notation != NULL)
        return input->notation;
    while ((may_become(input, RECORD_MAGIC, 8) || may_become(input, "\xEF\xBB\xBF", 3) ||
            may_become(input, "\xFF\xFE", 2) || may_become(input, "\xFE\xFF", 2)) &&
           input_fill(input, input->room))
        continue;
    decode(input);
    while (input->units != UNITS_BYTES && may_become(input, RECORD_MAGIC, 8) &&
           input_fill(input, input->room))
        continue;
    if (!notation_record.recognise(input))
        input_is_text(input);
    input->notation = recognised(input);
    return input->notation;
}

bool stack_input_broken(const struct stack_input *input)
{
    return input->broken;
}

/* Bad lines at the start do not determine the notation of the lines after them. */
static void reconsider(struct stack_input *input)
{
    if (input->builder.count > 0 || input->has_label || input->document != NULL ||
        !input->notation->by_line ||
        (input->start == input->end && !input_fill(input, input->room)) ||
        input->buffer[input->start] <= ' ')
        return;
    const struct notation *now = recognised(input);
    if (now->by_line)
        input->notation = now;
}

bool stack_input_next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    memset(out, 0, sizeof *out);
    fault_clear(&out->fault);
    if (input->notation == NULL)
        (void)stack_input_find_notation(input);
    else if (!input->understood)
        reconsider(input);
    const bool got = input->notation->next(input, keep, out);
    const bool is_good = got && out->fault.code == ERR_NONE;
    input->understood = input->understood || is_good;
    if (!is_good && input->broken && !input->reported) { /* a line that was cut is no bad line */
        input->reported = true;
        input_broken_fault(input, out);
        return true;
    }
    return got;
}

void stack_item_write_error(struct json *j, const struct stack_item *item)
{
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_string(j, "label", item->label);
    json_key_object(j, "error");
    json_key_string(j, "code", fault_code_name(item->fault.code));
    json_key_string(j, "what", item->fault.what);
    json_key_hex_if(j, "offset", item->fault.offset, item->fault.offset != FAULT_NO_OFFSET);
    json_key_string(j, "hint", item->fault.hint);
    json_object_end(j);
    json_object_end(j);
}
