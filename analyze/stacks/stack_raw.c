/* Text stacks as their bytes, without reading the frames: see stack_raw.h. */
#include "stacks/stack_raw.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stacks/notation.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool begins(const char *at, const char *stop, const char *word, size_t bytes)
{
    return (size_t)(stop - at) >= bytes && memcmp(at, word, bytes) == 0;
}

bool stack_raw_states(const char *line, const char *stop)
{
    while (line < stop && is_blank(*line))
        line++;
    return begins(line, stop, "# module ", 9) || begins(line, stop, "Module|", 7) ||
           begins(line, stop, "Module ", 7);
}

/* The next line that starts a stack, from FROM on (which is the start of a line), or NULL: the text
 * ends first. *SEEN: how far complete lines were looked at. */
static const char *find_start(const char *from, const char *end, bool ended, const char **seen,
                              bool *states)
{
    for (const char *line = from; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *first = line;
        *seen = line;
        if (stop == NULL && !ended)
            return NULL;
        while (first < end && is_blank(*first))
            first++;
        if (input_has_label(first, end))
            return line;
        if (first < end && (*first == '#' || *first == 'M') &&
            stack_raw_states(first, stop != NULL ? stop : end))
            *states = true;
        if (stop == NULL)
            break;
        line = stop + 1;
    }
    *seen = end;
    return NULL;
}

/* Drops a stack that is too long, up to the next one's start, and returns a fault for it. */
static void skip_stack(struct stack_input *input, size_t searched, struct stack_raw *out)
{
    bool states = false;
    *out = (struct stack_raw){.too_long = true, .offset = input->offset};
    for (;;) {
        const char *at = input->buffer + input->start + searched, *seen = at;
        const char *const end = input->buffer + input->end;
        const char *next = find_start(at, end, input->ended, &seen, &states);
        if (next == NULL && seen < end && (size_t)(end - seen) > LIMIT_LINE_BYTES)
            seen = end; /* a line without an end */
        input_skip(input, (size_t)((next != NULL ? next : seen) - (input->buffer + input->start)));
        searched = 0;
        if (next != NULL || (!input_fill(input, RAW_BYTES_MAX) && input->ended))
            return;
    }
}

/* The label of a stack, and where its frames start. */
static void set_label(struct stack_raw *out)
{
    const char *const end = out->text + out->bytes;
    const char *at = out->text;
    while (at < end && (is_blank(*at) || *at == '\n'))
        at++;
    out->frames = out->text;
    out->frame_bytes = out->bytes;
    if (!input_has_label(at, end))
        return;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop != NULL ? stop : end;
    out->frames = stop < end ? stop + 1 : end;
    out->frame_bytes = (size_t)(end - out->frames);
    for (at++; at < stop && is_blank(*at);)
        at++;
    while (stop > at && is_blank(stop[-1]))
        stop--;
    out->label = at;
    out->label_bytes = (size_t)(stop - at);
}

bool stack_raw_next(struct stack_input *input, struct stack_raw *out)
{
    size_t searched = 0;
    bool states = false;

    for (;;) {
        const char *const start = input->buffer + input->start;
        const char *const end = input->buffer + input->end;
        const char *seen = start + searched;
        const char *from = seen;
        if (searched == 0) { /* the line that starts this stack does not end it */
            const char *stop = memchr(start, '\n', (size_t)(end - start));
            from = stop != NULL ? stop + 1 : end;
            if (stop != NULL || input->ended)
                states = stack_raw_states(start, stop != NULL ? stop : end);
        }
        const char *next =
            from < end || input->ended ? find_start(from, end, input->ended, &seen, &states) : NULL;
        if (next == NULL && !input->ended) {
            searched = (size_t)(seen - start);
            if (input->end - input->start >= RAW_BYTES_MAX) {
                skip_stack(input, searched, out);
                return true;
            }
            (void)input_fill(input, RAW_BYTES_MAX);
            continue;
        }
        *out = (struct stack_raw){.text = start,
                                  .bytes = (size_t)((next != NULL ? next : end) - start),
                                  .offset = input->offset,
                                  .states = states};
        if (out->bytes == 0)
            return false;
        set_label(out);
        input_skip(input, out->bytes);
        return true;
    }
}

enum status stack_input_open_text(struct stack_input **out, struct fault *fault)
{
    if (stack_input_open(NULL, "stack", out, fault) == ERR_NONE)
        (*out)->ended = true;
    return fault->code;
}

enum status stack_input_feed(struct stack_input *input, const char *text, size_t bytes,
                             struct fault *fault)
{
    if (bytes > input->room) {
        if (!ARRAY_ROOM(input->buffer, input->room, bytes))
            return fault_no_memory(fault, "input of stacks");
    }
    if (bytes > 0)
        memcpy(input->buffer, text, bytes);
    input->notation = &notation_text;
    input->understood = true;
    input->start = 0;
    input->end = bytes;
    return ERR_NONE;
}

enum status stack_input_open_bytes(const char *text, size_t bytes, struct stack_input **out,
                                   struct fault *fault)
{
    if (stack_input_open_text(out, fault) != ERR_NONE)
        return fault->code;
    if (stack_input_feed(*out, text, bytes, fault) != ERR_NONE) {
        stack_input_close(*out);
        *out = NULL;
        return fault->code;
    }
    (*out)->notation = NULL;
    (*out)->understood = false;
    return ERR_NONE;
}
