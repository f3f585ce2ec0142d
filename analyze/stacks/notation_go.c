/* Tracebacks of Go: after "goroutine N [state]:" two lines for each frame, the function with its
 * arguments, and FILE:LINE with the distance from the start of the function. With
 * GOTRACEBACK=system the second line has the address as well.
 *
 *     goroutine 1 [running]:
 *     main.crash(0xc000012345?)
 *             C:/src/main.go:12 +0x1d fp=0xc00009e718 sp=0xc00009e6f0 pc=0x45f1b2
 *     created by main.main in goroutine 1
 *             C:/src/main.go:15 +0x25 */
#include "base/array.h"
#include "stacks/notation.h"

/* A line that begins the frames of a goroutine, or of one that was in another language. */
static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    static const char *const rows[] = {"goroutine %n{ %*} [%*]:", "signal arrived during %*"};
    (void)input;
    return spelled_start(rows, COUNT_OF(rows), r, thread);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const makers[] = {"created by %f in goroutine %n", "created by %f"};
    static const char *const places[] = {"%s +%X{ fp=0x%* sp=0x%* pc=0x%a}", "%s"};
    struct frame *last = builder_last(&input->builder);
    struct pattern_match found;
    uint64_t goroutine;
    if (starts(input, r, &goroutine)) {
        input->block = BLOCK_GO;
        return LINE_NO_FRAME;
    }
    if (input->block != BLOCK_GO)
        return LINE_UNKNOWN;
    if (pattern_matches_any(places, COUNT_OF(places), r, &found)) {
        if (last == NULL)
            return LINE_UNKNOWN;
        last->file = spelled_keep(input, found.file);
        last->line = (uint32_t)found.line;
        last->symbol_distance = found.distance;
        last->pc_va = found.address;
        return LINE_NO_FRAME;
    }
    const char *open = r.end[-1] == ')' ? pattern_find_last(r, "(") : NULL;
    if (!pattern_matches_any(makers, COUNT_OF(makers), r, &found))
        found.function = (struct pattern_text){r.at, open != NULL ? open : r.at};
    return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
}

const struct notation notation_go = {.name = "Go", .line = read_line, .starts = starts};
