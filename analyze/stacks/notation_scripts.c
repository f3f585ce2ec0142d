/* Calls of scripts and of managed code, whose frames are a function and a line of its source.
 *
 *     File "FILE", line LINE, in FUNCTION
 *
 * is Python's, below "Traceback (most recent call last):", the innermost frame last; a line of the
 * source follows.
 *
 *     File "FILE", line LINE in FUNCTION
 *
 * is of Python's faulthandler, the innermost frame first.
 *
 *     at [async ]FILE:LINE:COLUMN
 *
 * is of Node, a function without a name.
 *
 *     bei NAME(PARAMETERS) in FILE:Zeile 12.
 *
 * is of .NET in the language of the system, without a file as well.
 *
 * Sources: the modules traceback and faulthandler of CPython, V8's stack trace API, published
 * reports of .NET. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

static bool has_end(struct pattern_text text, const char *end)
{
    const size_t bytes = strlen(end);
    return pattern_length(text) >= bytes && memcmp(text.end - bytes, end, bytes) == 0;
}

/* True for a file that holds a script, which a place after a function of Rust or Zig is not. */
static bool is_script(struct pattern_text file)
{
    static const char *const starts[] = {"node:", "file:///", "http://", "https://"};
    static const char *const ends[] = {".js",  ".mjs", ".cjs", ".ts",
                                       ".mts", ".cts", ".jsx", ".tsx"};
    bool is = false;
    for (size_t i = 0; i < COUNT_OF(starts); i++)
        is = is || pattern_starts(file, starts[i]);
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        is = is || has_end(file, ends[i]);
    return is;
}

static bool read_node(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char name[] = "<anonymous>";
    struct pattern_match found;
    if (!pattern_matches("at {async }%s", r, &found) || !is_script(found.file))
        return false;
    out->file = spelled_keep(input, found.file);
    out->line = (uint32_t)found.line;
    return spelled_named(input, found.module, (struct pattern_text){name, name + sizeof name - 1},
                         out);
}

/* What .NET writes before a method and before its file: German, French, Spanish, Italian,
 * Portuguese, Polish, Russian, Chinese, Japanese, Korean. */
static const char *const managed_rows[] = {
    "bei %f(%*) in %F",
    "bei %f(%*)",
    "\xC3\xA0 %f(%*) dans %F",
    "\xC3\xA0 %f(%*)",
    "en %f(%*) en %F",
    "en %f(%*)",
    "in %f(%*) in %F",
    "in %f(%*)",
    "em %f(%*) na %F",
    "em %f(%*)",
    "w %f(%*) w %F",
    "w %f(%*)",
    "\xD0\xB2 %f(%*) \xD0\xB2 %F",
    "\xD0\xB2 %f(%*)",
    "\xE5\x9C\xA8 %f(%*) \xE4\xBD\x8D\xE7\xBD\xAE %F",
    "\xE5\x9C\xA8 %f(%*)",
    "\xE5\xA0\xB4\xE6\x89\x80 %f(%*) \xE5\xA0\xB4\xE6\x89\x80 %F",
    "\xE5\xA0\xB4\xE6\x89\x80 %f(%*)",
    "\xEC\x9C\x84\xEC\xB9\x98: %f(%*) \xED\x8C\x8C\xEC\x9D\xBC %F",
    "\xEC\x9C\x84\xEC\xB9\x98: %f(%*)",
};

/* Takes ":WORD LINE" from the end of *FILE, also with a full stop. 0: there is none. */
static uint32_t take_line(struct pattern_text *file)
{
    struct pattern_text rest = *file;
    uint64_t line;
    if (has_end(rest, "."))
        rest.end--;
    const char *blank = pattern_find_last(rest, " ");
    const char *colon =
        blank != NULL ? pattern_find_last((struct pattern_text){rest.at, blank}, ":") : NULL;
    if (colon == NULL || !text_parse_uint(blank + 1, (size_t)(rest.end - blank - 1), &line) ||
        line > INT32_MAX)
        return 0;
    file->end = colon;
    return (uint32_t)line;
}

static bool read_managed(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    if (!pattern_matches_any(managed_rows, COUNT_OF(managed_rows), r, &found) ||
        pattern_find(found.function, '.') == NULL || pattern_find(found.function, ' ') != NULL)
        return false;
    const bool has_file = pattern_length(found.file) > 0;
    out->line = has_file ? take_line(&found.file) : 0;
    if (has_file && out->line == 0)
        return false;
    out->file = spelled_keep(input, found.file);
    return spelled_named(input, found.module, found.function, out);
}

/* Marks below a line of Python's source: "~~^~". */
static bool holds_marks(struct pattern_text r)
{
    for (; r.at < r.end; r.at++)
        if (strchr("~^ ", *r.at) == NULL)
            return false;
    return true;
}

static enum line_is read_python(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const bool below_heading = input->block >= BLOCK_PYTHON;
    struct pattern_match found;
    if (pattern_matches(below_heading ? "File \"%F\", line %L, in %f"
                                      : "File \"%F\", line %L in %f",
                        r, &found)) {
        input->block = below_heading ? BLOCK_PYTHON_SOURCE : input->block;
        out->file = spelled_keep(input, found.file);
        out->line = (uint32_t)found.line;
        return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
    }
    if (pattern_matches("[Previous line repeated %n more time{s}]", r, &found)) {
        input->builder.left_out += found.number;
        return LINE_NO_FRAME;
    }
    if (input->block == BLOCK_PYTHON_SOURCE) {
        input->block = BLOCK_PYTHON_MARKS;
        return LINE_NO_FRAME;
    }
    return input->block == BLOCK_PYTHON_MARKS && holds_marks(r) ? LINE_NO_FRAME : LINE_UNKNOWN;
}

static bool is_traceback(struct pattern_text r)
{
    static const char head[] = "Traceback (most recent call last):";
    return pattern_starts(r, head) && pattern_length(r) == sizeof head - 1;
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    if (is_traceback(r) && input->object == NULL) { /* no value of JSON is turned around */
        input->block = BLOCK_PYTHON;
        return LINE_NO_FRAME;
    }
    const enum line_is is = read_python(input, r, out);
    if (is != LINE_UNKNOWN)
        return is;
    return read_node(input, r, out) || read_managed(input, r, out) ? LINE_FRAME : LINE_UNKNOWN;
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    *thread = NO_THREAD;
    return input->builder.count > 0 && is_traceback(r);
}

const struct notation notation_scripts = {
    .name = "calls of scripts", .line = read_line, .starts = starts};
