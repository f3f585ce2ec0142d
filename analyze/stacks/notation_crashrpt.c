/* crashrpt.xml, CrashRpt's description of a crash beside its minidump: an element per line, of
 * which ExceptionAddress, ExceptionModule and ExceptionModuleBase state the place of the fault.
 *
 * Source: CErrorReportSender::CreateCrashDescriptionXML of CrashRpt 1.4. */
#include <string.h>

#include "stacks/notation.h"

static bool set_place(struct stack_input *input, uint64_t base_va, struct frame *out)
{
    const uint64_t va = input->fault_va;
    const char *name = input->fault_module;
    input->fault_va = 0;
    input->fault_module = NULL;
    if (va == 0)
        return false;
    out->kind = PC_INTERRUPTED;
    spelled_at(va, out);
    return name == NULL || base_va == 0 || va < base_va ||
           spelled_offset(input, (struct pattern_text){name, name + strlen(name)}, va - base_va,
                          out);
}

static enum line_is read_line(struct stack_input *input, struct pattern_text r, struct frame *out)
{
    struct pattern_match found;
    if (pattern_matches("<CrashRpt version=%*>", r, &found)) {
        input->block = BLOCK_CRASHRPT;
        input->fault_va = 0;
        input->fault_module = NULL;
        return LINE_NO_FRAME;
    }
    if (input->block != BLOCK_CRASHRPT || *r.at != '<')
        return LINE_UNKNOWN;
    if (pattern_matches("<ExceptionAddress>%a</ExceptionAddress>", r, &found))
        input->fault_va = found.address;
    else if (pattern_matches("<ExceptionModule>%m</ExceptionModule>", r, &found))
        input->fault_module = spelled_keep(input, found.module);
    else if (pattern_matches("<ExceptionModuleBase>%a</ExceptionModuleBase>", r, &found) &&
             set_place(input, found.address, out))
        return LINE_FRAME;
    return LINE_NO_FRAME;
}

const struct notation notation_crashrpt = {.name = "CrashRpt", .line = read_line};
