/* Windows' event log, also as XML, and Windows Error Reporting: the module and the offset are on
 * separate lines, and each event is a stack. */
#include <string.h>

#include "base/array.h"
#include "stacks/notation.h"

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    static const char *const modules[] = {"{Message : }Faulting module name: %m, %*",
                                          "Faulting module name: %m",
                                          "Fault Module Name: %m",
                                          "P4: %m",
                                          "{%*}<Data Name=\"ModuleName\">%m</Data>{%*}",
                                          "Sig[3].Value=%m"};
    static const char *const offsets[] = {"Fault offset: %o", "Exception Offset: %o", "P8: %o",
                                          "{%*}<Data Name=\"FaultingOffset\">%o</Data>{%*}",
                                          "Sig[7].Value=%o"};
    static const char *const passed[] = {"{Message : }Faulting %*",
                                         "Exception %*",
                                         "Report Id: %*",
                                         "Problem %*",
                                         "Application %*",
                                         "Fault %*",
                                         "P%n: %*",
                                         "Sig[%n].%*",
                                         "{%*}<Data%*"};
    struct pattern_match found;
    if (r.at[0] == '#')
        return LINE_UNKNOWN;
    if (pattern_matches_any(modules, COUNT_OF(modules), r, &found)) {
        input->fault_module =
            arena_text(&input->arena, found.module.at, pattern_length(found.module));
        if (input->fault_module == NULL)
            return LINE_UNKNOWN;
    }
    if (pattern_matches_any(offsets, COUNT_OF(offsets), r, &found)) {
        const char *name = input->fault_module;
        out->kind = PC_INTERRUPTED;
        return name != NULL &&
                       spelled_offset(input, (struct pattern_text){name, name + strlen(name)},
                                      found.offset, out)
                   ? LINE_FRAME
                   : LINE_UNKNOWN;
    }
    return pattern_matches_any(passed, COUNT_OF(passed), r, &found) ? LINE_NO_FRAME : LINE_UNKNOWN;
}

static bool starts(const struct stack_input *input, struct pattern_text r, uint64_t *thread)
{
    *thread = NO_THREAD;
    return input->builder.count > 0 && pattern_starts(r, "Faulting application name:");
}

const struct notation notation_event = {
    .name = "Windows' event log", .line = read_line, .starts = starts};
