/* The lines of an example: "at OFFSET of MODULE". */
#include "stacks/notation.h"

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    if (!pattern_matches("at 0x%o of %m", r, &found))
        return LINE_UNKNOWN;
    return spelled_offset(input, found.module, found.offset, out) ? LINE_FRAME : LINE_UNKNOWN;
}

const struct notation notation_recipe = {.name = "an example", .line = read_line};
