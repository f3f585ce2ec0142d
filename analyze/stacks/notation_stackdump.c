/* The .stackdump files of Cygwin and MSYS: the frame pointer, the address, four arguments, and from
 * Cygwin 3.4 on the module and the offset in it:
 *
 *     Frame         Function      Args
 *     000FFFF7570  7FEFD011817 (000021E3FF0, 00000000000, 00000413258, 000021E3C30)
 *     0007FFFF9E60  00021005FE8E (000210285F68, ..., 0007FFFF8D60) msys-2.0.dll+0x1FE8E
 *
 * The first frame is the place of the exception.
 * Facts: winsup/cygwin/exceptions.cc of Cygwin; dumps in the issues of git-for-windows and MSYS2.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

enum { ARGUMENTS = 4, SHORTEST = 8 };

/* Takes a number of at least eight hexadecimal digits from the front. */
static bool take_number(struct pattern_text *r, uint64_t *out)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    struct pattern_text word = {r->at, r->at};
    while (word.end < r->end && *word.end != '\0' && strchr(digits, *word.end) != NULL)
        word.end++;
    r->at = word.end;
    return pattern_length(word) >= SHORTEST && text_parse_hex(word.at, pattern_length(word), out);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const passed[] = {"Frame Function Args", "End of stack trace"};
    struct pattern_match found;
    uint64_t frame, pc, argument;
    if (pattern_matches_any(passed, COUNT_OF(passed), r, &found))
        return LINE_NO_FRAME;
    if (!take_number(&r, &frame) || !pattern_starts(r, " "))
        return LINE_UNKNOWN;
    pattern_skip_blanks(&r);
    if (!take_number(&r, &pc) || !pattern_starts(r, " "))
        return LINE_UNKNOWN;
    pattern_skip_blanks(&r);
    for (int i = 0; i < ARGUMENTS; i++) {
        const char *before = i == 0 ? "(" : ", ";
        if (!pattern_starts(r, before))
            return LINE_UNKNOWN;
        r.at += i == 0 ? 1 : 2;
        if (!take_number(&r, &argument))
            return LINE_UNKNOWN;
    }
    if (!pattern_starts(r, ")"))
        return LINE_UNKNOWN;
    r.at++;
    pattern_skip_blanks(&r);
    if (pattern_length(r) == 0)
        spelled_at(pc, out);
    else if (!spelled_plus(input, r, out))
        return LINE_UNKNOWN;
    return LINE_FRAME;
}

const struct notation notation_stackdump = {.name = "a stackdump of Cygwin", .line = read_line};
