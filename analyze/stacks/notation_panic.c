/* Rust's backtraces as a panic prints them with RUST_BACKTRACE=1, after "stack backtrace:": names
 * without addresses, and calls that were inlined into the frame before them without a number.
 *
 *        2: app::inner
 *                  at .\src\main.rs:7:5
 *           app::main
 *          [... omitted 3 frames ...]
 *
 * Facts: library/std/src/sys/backtrace.rs and the crate backtrace-rs, src/print.rs. */
#include <string.h>

#include "base/array.h"
#include "stacks/notation.h"

/* True for a line after the stack: "note: ...", or any text that no path of Rust is. */
static bool ends(struct pattern_text r)
{
    return pattern_starts(r, "note: ") ||
           (pattern_find_last(r, "::") == NULL && pattern_find(r, ' ') != NULL);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const addresses[] = {"%n: 0x%a - %f", "%n: 0x%a{ %*}", "%n: %a{ %*}"};
    static const char *const omitted[] = {"[... omitted %n frame{s} ...]"};
    struct pattern_match found;
    if (pattern_starts(r, "stack backtrace:") && pattern_length(r) == strlen("stack backtrace:")) {
        input->block = BLOCK_RUST;
        return LINE_NO_FRAME;
    }
    if (input->block != BLOCK_RUST || pattern_starts(r, "at ") ||
        pattern_matches_any(addresses, COUNT_OF(addresses), r, &found))
        return LINE_UNKNOWN;
    if (pattern_matches_any(omitted, COUNT_OF(omitted), r, &found)) {
        input->builder.left_out += found.number;
        return LINE_NO_FRAME;
    }
    if (!pattern_matches("%n: %f", r, &found) || pattern_length(found.function) == 0) {
        if (ends(r)) {
            input->block = BLOCK_NONE;
            return pattern_starts(r, "note: ") ? LINE_NO_FRAME : LINE_UNKNOWN;
        }
        found = (struct pattern_match){.function = r};
    }
    return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    *thread = NO_THREAD;
    return input->builder.count > 0 && pattern_starts(r, "stack backtrace:");
}

const struct notation notation_panic = {
    .name = "a panic of Rust", .line = read_line, .starts = starts};
