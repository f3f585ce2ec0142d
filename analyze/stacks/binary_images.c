/* Apple's crash reports as text. "Binary Images:" comes last and says what the identity of each
 * image is, so it is looked for before the frames are read:
 *
 *     0x100a00000 - 0x100a0bfff +Demo arm64  <0f4a7b5c2d1e3f60718293a4b5c6d7e8> /Applications/Demo
 *     0x7fff20000000 - 0x7fff2003ffff com.example.kit (1.0 - 2) <3249D99D-0C40-...> /Library/Kit
 *
 * Frames name an image by its file or by its bundle, the word after the addresses. The pattern
 * takes that and what follows as the module, and the path as the function. */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "stacks/stack_reader.h"

/* The next line at *AT, without blanks around it. */
static struct pattern_text next_line(const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    struct pattern_text line = {*at, stop != NULL ? stop : end};
    *at = stop != NULL ? stop + 1 : end;
    pattern_skip_blanks(&line);
    return spelled_trimmed(line);
}

/* True when the first line is one of Apple's. The last is of what Console shows of an .ips. */
static bool is_report(const struct stack_input *input)
{
    static const char *const rows[] = {"Process: %* [%n]", "Incident Identifier: %*",
                                       "Translated Report %*"};
    const char *at = input->buffer + input->start, *const end = input->buffer + input->end;
    struct pattern_text line = {at, at};
    struct pattern_match found;
    while (at < end && (pattern_length(line) == 0 || pattern_starts(line, "-----")))
        line = next_line(&at, end);
    return pattern_length(line) > 0 && pattern_matches_any(rows, COUNT_OF(rows), line, &found);
}

static void state_image(struct stack_input *input, struct pattern_text name,
                        struct pattern_text identity)
{
    if (pattern_length(name) > 0)
        (void)input_state_module(input, name.at, pattern_length(name), NULL, 0, identity.at,
                                 pattern_length(identity));
}

/* False: LINE is of no image. */
static bool read_image(struct stack_input *input, struct pattern_text line)
{
    struct pattern_match found;
    if (!pattern_matches("0x%a - 0x%a {+}%m <%i> /%f", line, &found))
        return false;
    const struct pattern_text word = pattern_next_word(&found.module);
    if (pattern_find(word, '.') != NULL) /* a bundle; "Electron" may be of "Electron Framework" */
        state_image(input, word, found.identity);
    state_image(input, spelled_base_name(found.function), found.identity);
    return true;
}

void input_state_images(struct stack_input *input)
{
    const size_t most = (size_t)LIMIT_LINE_BYTES * 2;
    bool listed = false;
    input->images_stated = true;
    if (input->start == input->end)
        (void)input_fill(input, input->room);
    input->is_apple = input->start < input->end && is_report(input);
    while (input->is_apple && !(input->direct && file_would_wait(input->stream, 0)) &&
           input_fill(input, most))
        continue;
    const char *at = input->buffer + input->start, *const end = input->buffer + input->end;
    while (input->is_apple && at < end) {
        const struct pattern_text line = next_line(&at, end);
        if (listed && pattern_length(line) > 0)
            listed = read_image(input, line);
        listed = listed || pattern_starts(line, "Binary Images:");
    }
}
