/* Threads that a collection of a .NET runtime has redirected.  capture/places.c follows the same
 * two rules in the process; both matter only where managed code runs.
 *
 * 1. A thread that runs managed code is moved to the start of a function which pushes RAX, to have
 *    a place for the return address, and hides that from its unwind data.  The return address,
 * where the thread was, is stored right before the function's last call.
 * 2. The return address of managed code is replaced by a function of the runtime.  No call returns
 *    to the first byte of a function; what was replaced is not known.
 *
 * Source: src/coreclr/vm/amd64/RedirectedHandledJITCase.asm of the runtime, and its
 * OnHijackTripThread */
#include "unwind/x64_redirect.h"

#include <string.h>

#include "unwind/tables.h"

enum {
    LAST_CALL_BYTES = 6, /* call rel32; int3 */
    FIRST_PUSH_END = 2,  /* push rax, push rbp */
    REGISTER_RBP = 5,
    INT3 = 0xcc,
};

enum x64_redirect x64_redirect(const struct unwind_process *process,
                               const struct unwind_entry *entry, const struct x64_info *info,
                               uint64_t pc_va)
{
    static const uint8_t prologue[] = {0x50, 0x55, 0x48, 0x83, 0xec}; /* push rax, push rbp, sub */
    uint8_t code[sizeof prologue];
    if (info->code_count == 0)
        return X64_NOT_REDIRECTED;
    const struct x64_code *first = &info->codes[info->code_count - 1];
    if (first->prologue_offset != FIRST_PUSH_END || first->op != X64_PUSH_NONVOL ||
        first->info != REGISTER_RBP ||
        !process->read(process->self, entry->base_va + entry->begin_rva, code, sizeof code) ||
        memcmp(code, prologue, sizeof code) != 0)
        return X64_NOT_REDIRECTED;
    return entry->base_va + entry->end_rva - pc_va <= LAST_CALL_BYTES ? X64_REDIRECT_KNOWN
                                                                      : X64_REDIRECT_UNKNOWN;
}

/* A call that never returns may be the last instruction of the function before: hence the
 * padding. */
bool x64_is_hijacked(const struct unwind_process *process, uint64_t return_va)
{
    struct unwind_entry entry;
    uint8_t before;
    const struct module *module = process->module_at(process->self, return_va);
    const struct unwind_module *facts = module != NULL ? unwind_module_of(process, module) : NULL;
    return facts != NULL &&
           unwind_pdata_find(process, facts, (uint32_t)(return_va - module->base_va), 12, &entry) ==
               UNWIND_ROW_FOUND &&
           entry.base_va + entry.begin_rva == return_va &&
           process->read(process->self, return_va - 1, &before, 1) && before == INT3;
}
