/* What a collection of a .NET runtime does to the stacks of other threads: see x64_redirect.c. */
#ifndef UNWIND_X64_REDIRECT_H
#define UNWIND_X64_REDIRECT_H

#include "unwind/x64_info.h"

/* Whether a function is one to which the runtime moves a thread, and if so, whether its caller, the
 * place where the thread was, can be unwound to. */
enum x64_redirect { X64_NOT_REDIRECTED, X64_REDIRECT_UNKNOWN, X64_REDIRECT_KNOWN };

/* PC_VA is in the function of ENTRY, or the return address of a call in it. */
enum x64_redirect x64_redirect(const struct unwind_process *process,
                               const struct unwind_entry *entry, const struct x64_info *info,
                               uint64_t pc_va);

/* True when RETURN_VA replaced a return address of managed code. */
bool x64_is_hijacked(const struct unwind_process *process, uint64_t return_va);

#endif
