/* Mails put "> " before each line of what they quote, and our own form has it before a label. Lines
 * are quoted if at least two follow each other and one of them is a frame: of labels, each line is
 * the start of another stack, and their words are no frames. */
#include <string.h>

#include "base/files.h"
#include "stacks/stack_reader.h"

enum { PEEKED_BYTES = 4096, DEEPEST = 8 };

/* LINE without the marks of at most MOST quotations, each with one blank. *DEPTH: how many. */
static struct pattern_text without_marks(struct pattern_text line, uint32_t most, uint32_t *depth)
{
    struct pattern_text rest = line;
    for (*depth = 0; *depth < most; ++*depth) {
        pattern_skip_blanks(&rest);
        if (!pattern_starts(rest, ">"))
            break;
        rest.at++;
        line = rest;
    }
    return line;
}

/* True for "app.exe!0x1234", "app.exe+0x1234", and a line whose first word, apart from a number, is
 * an address. */
static bool may_be_frame(struct pattern_text line)
{
    pattern_skip_blanks(&line);
    if (pattern_find_last(line, "!0x") != NULL || pattern_find_last(line, "+0x") != NULL)
        return true;
    struct pattern_text rest = line;
    struct pattern_text word = pattern_next_word(&rest);
    if (pattern_length(word) > 0 && strchr("#0123456789[", *word.at) != NULL &&
        !spelled_address(word)) {
        pattern_skip_blanks(&rest);
        word = pattern_next_word(&rest);
    }
    return spelled_address(word);
}

/* How deep the lines are quoted that begin with FIRST, of which the others are in the buffer. 0:
 * they are not. */
static uint32_t depth_of_block(const struct stack_input *input, struct pattern_text first)
{
    uint32_t lines = 1, depth, found = 0;
    const char *at = input->buffer + input->start;
    const size_t left = input->end - input->start;
    const char *const end = at + (left < PEEKED_BYTES ? left : PEEKED_BYTES);
    for (; at < end; lines++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const struct pattern_text line = {at, stop != NULL ? stop : end};
        const struct pattern_text rest = without_marks(line, DEEPEST, &depth);
        if (depth == 0)
            break;
        if (may_be_frame(rest) && (found == 0 || depth < found))
            found = depth;
        at = stop != NULL ? stop + 1 : end;
    }
    if (lines == 1)
        return 0;
    const struct pattern_text rest = without_marks(first, DEEPEST, &depth);
    return may_be_frame(rest) && (found == 0 || depth < found) ? depth : found;
}

void input_peek(struct stack_input *input)
{
    const char *at = input->buffer + input->start;
    if (input->start == input->end || *at != '>')
        return;
    while (input->end - input->start < PEEKED_BYTES &&
           !(input->direct && file_would_wait(input->stream, 0)) && input_fill(input, input->room))
        continue;
}

void input_unquote(struct stack_input *input, struct stack_line *line)
{
    uint32_t depth;
    const struct pattern_text text = {line->at, line->at + line->bytes};
    if (line->bytes == 0 || line->at[0] != '>') {
        input->quotes = 0;
        return;
    }
    if (input->quotes == 0)
        input->quotes = depth_of_block(input, text);
    const struct pattern_text rest = without_marks(text, input->quotes, &depth);
    line->at = rest.at;
    line->bytes = pattern_length(rest);
}
