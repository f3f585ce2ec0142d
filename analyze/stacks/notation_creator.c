/* Qt Creator's stack view as it is copied: columns that are padded with blanks, of which only the
 * number is never empty. Without a file the module is in its place.
 *
 *     1 crash                main.cpp 12  0x7ff612341537
 *     2 RtlUserThreadStart   ntdll        0x7ffb6c8d7374
 *     3 ??                                0x7ff6a1b2162f
 *
 * Source: Qt Creator's StackHandler, copyContentsToClipboard(). */
#include "base/array.h"
#include "stacks/notation.h"

/* Any text may have this shape: only the next number, or the first one, makes a frame of it. */
static bool is_next(const struct stack_input *input, uint64_t number)
{
    return number == 1 || (input->last_index != NO_THREAD && number == input->last_index + 1);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    enum { LEAST_ADDRESS = 0x10000 };
    static const char *const rows[] = {"%n %f %w %L 0x%a", "%n ?? 0x%a", "%n %f %w 0x%a"};
    struct pattern_match found;
    if (pattern_matches("... <More>", r, &found))
        return LINE_NO_FRAME;
    if (r.at[0] < '1' || r.at[0] > '9' || !pattern_matches_any(rows, COUNT_OF(rows), r, &found) ||
        !is_next(input, found.number) || found.address < LEAST_ADDRESS ||
        spelled_address(found.function))
        return LINE_UNKNOWN;
    out->pc_va = found.address;
    if (pattern_length(found.function) == 0) {
        spelled_at(found.address, out);
        return LINE_FRAME;
    }
    if (found.line != 0) {
        out->file = spelled_keep(input, found.module);
        out->line = (uint32_t)found.line;
        found.module.end = found.module.at;
    }
    return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
}

const struct notation notation_creator = {.name = "Qt Creator's stack view", .line = read_line};
