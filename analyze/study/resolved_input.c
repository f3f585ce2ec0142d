/* See resolved_input.h.  Memory is bounded by the longest line. */
#include "study/resolved_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/limits.h"
#include "stacks/stack_input.h"
#include "symbol/store.h"

struct line {
    char *text;
    uint32_t bytes, room;
};

/* One line without its end.  False at the stream's end, or with a fault. */
static bool read_line(FILE *in, struct line *line, struct fault *fault)
{
    line->bytes = 0;
    for (;;) {
        if (line->bytes + 2 > line->room) { /* the next character, and the end of the text */
            const bool fits = line->bytes + 2 <= LIMIT_JSON_BYTES;
            char *wider = fits ? array_reserve(line->text, &line->room, line->bytes + 2, 1) : NULL;
            if (wider == NULL) {
                fault_set(fault, fits ? ERR_MEMORY : ERR_LIMIT, FAULT_NO_OFFSET,
                          "line of a stream");
                return false;
            }
            line->text = wider;
        }
        const int c = getc(in);
        if (c == EOF || c == '\n') {
            line->text[line->bytes] = '\0';
            if (ferror(in))
                fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "reading the stream");
            return fault->code == ERR_NONE && (c == '\n' || line->bytes > 0);
        }
        line->text[line->bytes++] = (char)c;
    }
}

/* Frames of a resolved stack. The stream does not state their class: system modules are known by
 * name, all others count as the program's own. */
static bool read_frames(const cJSON *frames, struct arena *work, struct stack *out)
{
    const cJSON *row;
    struct fault fault = FAULT_INIT;
    const int count = cJSON_GetArraySize(frames);

    memset(out, 0, sizeof *out);
    out->frames = ARENA_ARRAY(work, (size_t)count + 1, struct frame);
    if (!cJSON_IsArray(frames) || out->frames == NULL)
        return false;
    cJSON_ArrayForEach(row, frames)
    {
        struct frame *f = &out->frames[out->frame_count++];
        f->function = json_get_string(row, "function", work, &fault);
        f->module_name = json_get_string(row, "module", work, &fault);
        f->file = json_get_string(row, "file", work, &fault);
        f->offset = json_get_hex(row, "offset", 0, &fault);
        f->line = (uint32_t)json_get_uint(row, "line", 0, &fault);
        f->frame_class = f->module_name != NULL && symbol_is_system_module(f->module_name)
                             ? CLASS_SYSTEM
                             : CLASS_OWN;
    }
    return fault.code == ERR_NONE && out->frame_count > 0;
}

static bool take_json(const struct line *line, struct arena *work, resolved_fn *take, void *context,
                      uint64_t number, uint64_t *bad)
{
    cJSON *root = NULL;
    struct fault fault = FAULT_INIT;
    struct stack stack;
    bool goes_on = true;

    if (json_parse(line->text, line->bytes, &root, &fault) == ERR_NONE &&
        read_frames(cJSON_GetObjectItemCaseSensitive(root, "frames"), work, &stack))
        goes_on = take(context, &stack, json_get_string(root, "label", work, &fault), number);
    else
        (*bad)++;
    cJSON_Delete(root);
    return goes_on;
}

static enum status read_json_lines(FILE *in, resolved_fn *take, void *context, uint64_t *bad,
                                   struct fault *fault)
{
    struct line line = {NULL, 0, 0};
    uint64_t number = 0;
    bool goes_on = true;

    while (goes_on && !feof(in) && read_line(in, &line, fault)) {
        struct arena work;
        if (line.text[strspn(line.text, " \t\r")] == '\0')
            continue;
        arena_init(&work, 0);
        goes_on = take_json(&line, &work, take, context, ++number, bad);
        arena_free(&work);
    }
    free(line.text);
    return fault->code;
}

static enum status read_offset_stacks(FILE *in, const char *path, resolved_fn *take, void *context,
                                      uint64_t *bad, struct fault *fault)
{
    struct stack_input *input = NULL;
    bool goes_on = true;
    uint64_t number = 0;

    if (stack_input_open(in, path, &input, fault) != ERR_NONE)
        return fault->code;
    while (goes_on) {
        struct arena work;
        struct stack_item item;
        arena_init(&work, 0);
        goes_on = stack_input_next(input, &work, &item);
        if (goes_on && item.fault.code != ERR_NONE)
            (*bad)++;
        else if (goes_on) {
            for (uint32_t i = 0; i < item.stack.frame_count; i++) {
                struct frame *f = &item.stack.frames[i];
                if (f->module_name != NULL && symbol_is_system_module(f->module_name))
                    f->frame_class = CLASS_SYSTEM;
            }
            goes_on = take(context, &item.stack, item.label, ++number);
        }
        arena_free(&work);
    }
    stack_input_close(input);
    return fault->code;
}

enum status resolved_input_read(const char *path, resolved_fn *take, void *context, uint64_t *bad,
                                struct fault *fault)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "rb");
    int c = 0;

    if (in == NULL) {
        fault_set(fault, errno == ENOENT ? ERR_ABSENT : ERR_IO, FAULT_NO_OFFSET, "stacks");
        fault_set_path(fault, path);
        return fault->code;
    }
    do
        c = getc(in);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
    if (c != EOF)
        (void)ungetc(c, in);
    if (c == '{')
        (void)read_json_lines(in, take, context, bad, fault);
    else if (c != EOF)
        (void)read_offset_stacks(in, path, take, context, bad, fault);
    fault_set_path(fault, is_stdin ? "standard input" : path);
    if (!is_stdin)
        (void)fclose(in);
    return fault->code;
}
