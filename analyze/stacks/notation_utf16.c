/* Text in UTF-16, which is not readable. */
#include <string.h>

#include "stacks/notation.h"

/* UTF-16 is what Windows shells write for `>`: report it once, not for every line. */
static bool next(struct stack_input *input, struct arena *keep, struct stack_item *out)
{
    (void)keep;
    if (input->reported)
        return false;
    input->reported = true;
    item_fault(input, out, ERR_UNSUPPORTED, 0, "text in UTF-16", "save it as UTF-8");
    return true;
}

static bool recognise(struct stack_input *input)
{
    const char *at = input->buffer + input->start;
    return input->end - input->start >= 2 &&
           (memcmp(at, "\xFF\xFE", 2) == 0 || memcmp(at, "\xFE\xFF", 2) == 0);
}

const struct notation notation_utf16 = {.name = "UTF-16", .recognise = recognise, .next = next};
