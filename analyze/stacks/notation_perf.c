/* Samples of `perf script`: a line for the sample, then its frames, innermost first, until the next
 * one. Addresses are absolute; with the field `dsoff` the file has its offset, too.
 *
 *     app 1234/1235 [001] 12345.678901:     250000 cycles:u:
 *             7ffff7a2d830 __libc_start_main+0xf0 (/lib/libc-2.23.so)
 *                   401129 [unknown] (/home/u/app+0x1129)
 *
 * Facts: perf-script(1) and the sources of perf. */
#include "base/array.h"
#include "stacks/notation.h"

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    static const char *const rows[] = {"%f %D/%n [%D] %D.%D: %*", "%f %n [%D] %D.%D: %*",
                                       "%f %D/%n %D.%D: %*:{ %*}", "%f %n %D.%D: %*:{ %*}"};
    (void)input;
    return spelled_start(rows, COUNT_OF(rows), r, thread);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const rows[] = {"%a [unknown] (%m+0x%o)", "%a [unknown] (%m)",
                                       "%a %f (inlined)",        "%a %f (%m+0x%o)",
                                       "%a %f+%X (%m)",          "%a %f (%m)"};
    struct frame *last = builder_last(&input->builder);
    struct pattern_match found;
    uint64_t thread;
    if (starts(input, r, &thread)) {
        input->block = BLOCK_PERF;
        return LINE_NO_FRAME;
    }
    if (input->block != BLOCK_PERF)
        return LINE_UNKNOWN;
    if (pattern_matches("%s", r, &found) && last != NULL) { /* with the field `srcline` */
        last->file = last->function != NULL ? spelled_keep(input, found.file) : NULL;
        last->line = last->function != NULL ? (uint32_t)found.line : 0;
        return LINE_NO_FRAME;
    }
    if (!pattern_matches_any(rows, COUNT_OF(rows), r, &found))
        return LINE_UNKNOWN;
    out->pc_va = out->offset = found.address;
    if (found.has_offset)
        return spelled_offset(input, found.module, found.offset, out) ? LINE_FRAME : LINE_UNKNOWN;
    if (pattern_length(found.function) == 0)
        return LINE_FRAME;
    out->symbol_distance = found.distance;
    return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
}

const struct notation notation_perf = {.name = "perf script", .line = read_line, .starts = starts};
