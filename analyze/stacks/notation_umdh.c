/* UMDH, which compares the heaps of a process of Windows: a line for what one stack allocated, then
 * its return addresses; where it has no symbols, these are numbers, and the modules are stated
 * before all stacks.
 *
 *     //   00400000 0000F000 C:\app\app.exe
 *     +  5320 ( f110 - 9df0)  3a allocs  BackTrace00053
 *             app!main+0x0000002C (c:\src\a.cpp, 12)
 *             kernel32!BaseThreadInitThunk+E
 *
 * Facts: learn.microsoft.com, "Interpreting a Log Comparison". */
#include "base/array.h"
#include "stacks/notation.h"

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    static const char *const rows[] = {"{+ }{- }%a ( %a - %a) %a allocs BackTrace%a",
                                       "{+ }{- }%a (%a - %a) %a allocs BackTrace%a"};
    (void)input;
    return spelled_start(rows, COUNT_OF(rows), r, thread);
}

/* "//   BASE SIZE PATH" places a module; all other such lines are comments. */
static void read_module(struct stack_input *input, struct pattern_text r)
{
    struct pattern_match found;
    if (!pattern_matches("// %a %o %m", r, &found))
        return;
    const struct pattern_text name = spelled_base_name(found.module);
    const struct module *module =
        pattern_length(name) > 0 ? input_module(input, name.at, pattern_length(name)) : NULL;
    if (module != NULL && input_map_module(input, module, found.address, found.offset))
        input->mapped = true;
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const passed[] = {"%* BackTrace%a allocations", "Total %* == %*"};
    static const char *const rows[] = {"%m!%f+%a (%F, %L)", "%m!%f+%a", "%m!%f (%F, %L)", "%m!%f",
                                       "%a"};
    struct pattern_match found;
    uint64_t thread;
    if (pattern_starts(r, "//")) {
        read_module(input, r);
        return LINE_NO_FRAME;
    }
    if (starts(input, r, &thread)) {
        input->block = BLOCK_UMDH;
        return LINE_NO_FRAME;
    }
    if (input->block != BLOCK_UMDH)
        return LINE_UNKNOWN;
    if (pattern_matches_any(passed, COUNT_OF(passed), r, &found))
        return LINE_NO_FRAME;
    if (!pattern_matches_any(rows, COUNT_OF(rows), r, &found))
        return LINE_UNKNOWN;
    out->kind = PC_RETURN;
    if (pattern_length(found.function) == 0) {
        out->pc_va = out->offset = found.address;
        return LINE_FRAME;
    }
    out->symbol_distance = found.address;
    out->file = spelled_keep(input, found.file);
    out->line = (uint32_t)found.line;
    return spelled_named(input, found.module, found.function, out) ? LINE_FRAME : LINE_UNKNOWN;
}

const struct notation notation_umdh = {.name = "UMDH", .line = read_line, .starts = starts};
