/* Windows Performance Analyzer's tables as CSV: a row is a sample, and its column of stacks has a
 * whole stack, the outermost frame first:
 *
 *     app.exe (1234),5678,[Root]/ntdll.dll!RtlUserThreadStart/app.exe!main/app.exe!f<int>,1.5
 *     app.exe (1234),5678,"[Root]/app.exe!f<int,char>/ntoskrnl.exe!0xfffff80012345678",1.5
 *
 * A frame is a function of a module, an address in one, or "?"; a cell with a comma is in quotes.
 */
#include <string.h>

#include "stacks/notation.h"

static const char root[] = "[Root]";

/* Where the stack in R begins, after its root; NULL: there is none. Commas between frames are known
 * from those between cells only in quotes. */
static const char *find_stack(struct pattern_text r)
{
    const char *at = pattern_find_last(r, root);
    const char *after = at != NULL ? at + sizeof root - 1 : NULL;
    if (at == NULL || after + 1 >= r.end ||
        !(*after == '/' || (*after == ',' && at > r.at && at[-1] == '"')))
        return NULL;
    return after + 1;
}

/* True where a frame ends at AT: names have the separators, too. */
static bool ends_frame(const char *at, struct pattern_text cell)
{
    static const char operator_word[] = "operator";
    enum { NAME_MAX = 260, WORD = sizeof operator_word - 1 };
    if (*at == '/')
        return at - cell.at < WORD || memcmp(at - WORD, operator_word, WORD) != 0;
    for (const char *c = at + 1; *at == ',' && c < cell.end && c - at < NAME_MAX; c++) {
        if (*c == '!')
            return true;
        if (strchr("<>(),:", *c) != NULL)
            break;
    }
    return false;
}

static bool read_place(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    if (pattern_matches("%m!0x%a", r, &found) || pattern_matches("0x%a", r, &found)) {
        spelled_at(found.address, out);
        return true;
    }
    if (pattern_matches("%m!%f", r, &found))
        return spelled_named(input, found.module, found.function, out);
    return spelled_named(input, (struct pattern_text){r.end, r.end}, r, out);
}

/* The frames of a cell, which the stack's end turns around: the last one is returned, the others
 * are added. */
static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    const struct frame blank = *out;
    const char *at = find_stack(r);
    if (at == NULL)
        return LINE_UNKNOWN;
    const bool quoted = at - sizeof root > r.at && at[-1 - (ptrdiff_t)sizeof root] == '"';
    const char separator = at[-1];
    const char *end = memchr(at, quoted ? '"' : ',', (size_t)(r.end - at));
    const struct pattern_text cell = {at, end != NULL ? end : r.end};
    bool any = false;
    for (const char *next = at; next <= cell.end; next++) {
        if (next < cell.end && !(*next == separator && ends_frame(next, cell)))
            continue;
        struct frame frame = blank;
        frame.kind = any ? PC_RETURN : PC_INTERRUPTED;
        if (read_place(input, (struct pattern_text){at, next}, &frame)) {
            if (any)
                builder_add(&input->builder, *out);
            *out = frame;
            any = true;
        }
        at = next + 1;
    }
    input->block = BLOCK_WPA;
    return any ? LINE_FRAME : LINE_UNKNOWN;
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    *thread = NO_THREAD;
    return input->builder.count > 0 && find_stack(r) != NULL;
}

const struct notation notation_wpa = {
    .name = "Windows Performance Analyzer", .line = read_line, .starts = starts};
