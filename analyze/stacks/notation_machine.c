/* Breakpad's `minidump_stackwalk -m`: header rows (OS|, CPU|, GPU|, Crash|reason|address|thread,
 * Module|...), an empty line, then thread|frame|module|function|file|line|offset. The offset counts
 * from the line, otherwise from the function, otherwise from the module, so the address is known
 * only for frames without a function. Frame 0 starts a stack. */
#include "base/array.h"
#include "base/text.h"
#include "stacks/notation.h"

enum { MACHINE_FIELDS = 8 };

static uint32_t split(struct pattern_text r, struct pattern_text fields[MACHINE_FIELDS])
{
    uint32_t count = 0;
    while (count < MACHINE_FIELDS) {
        const char *bar = pattern_find(r, '|');
        fields[count++] = (struct pattern_text){r.at, bar != NULL ? bar : r.end};
        if (bar == NULL)
            return count;
        r.at = bar + 1;
    }
    return count + 1;
}

/* minidump_stackwalk -m: "thread|frame|module|function|file|line|offset", "Module|...". */
static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const passed[] = {"OS|", "CPU|", "GPU|", "Assertion|"};
    struct pattern_text f[MACHINE_FIELDS];
    const uint32_t count = split(r, f);
    uint64_t thread, index, offset, line;

    if (r.at[0] == '#' || count == 1)
        return LINE_UNKNOWN;
    for (size_t i = 0; i < COUNT_OF(passed); i++)
        if (pattern_starts(r, passed[i]))
            return LINE_NO_FRAME;
    if (pattern_starts(r, "Crash|")) {
        if (count >= 4 && text_parse_uint(f[3].at, pattern_length(f[3]), &thread))
            input->crashed_thread = thread;
        return LINE_NO_FRAME;
    }
    if (count == 8 && pattern_starts(r, "Module|")) {
        (void)input_state_module(input, f[1].at, pattern_length(f[1]), NULL, 0, f[4].at,
                                 pattern_length(f[4]));
        return LINE_NO_FRAME;
    }
    if (count != 7 || !text_parse_uint(f[0].at, pattern_length(f[0]), &thread) ||
        !text_parse_uint(f[1].at, pattern_length(f[1]), &index) ||
        !text_parse_hex(f[6].at, pattern_length(f[6]), &offset))
        return LINE_UNKNOWN;
    out->kind = index == 0 ? PC_INTERRUPTED : PC_RETURN;
    input->named = true;
    if (pattern_length(f[3]) > 0) {
        out->file = spelled_keep(input, f[4]);
        out->line = text_parse_uint(f[5].at, pattern_length(f[5]), &line) && line <= INT32_MAX
                        ? (uint32_t)line
                        : 0;
        return spelled_named(input, f[2], f[3], out) ? LINE_FRAME : LINE_UNKNOWN;
    }
    if (pattern_length(f[2]) > 0)
        return spelled_offset(input, f[2], offset, out) ? LINE_FRAME : LINE_UNKNOWN;
    out->offset = out->pc_va = offset;
    return LINE_FRAME;
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    struct pattern_text f[MACHINE_FIELDS];
    uint64_t index;
    (void)input;
    return split(r, f) == 7 && text_parse_uint(f[0].at, pattern_length(f[0]), thread) &&
           text_parse_uint(f[1].at, pattern_length(f[1]), &index) && index == 0;
}

const struct notation notation_machine = {
    .name = "minidump_stackwalk -m", .line = read_line, .starts = starts};
