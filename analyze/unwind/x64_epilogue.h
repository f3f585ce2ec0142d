/* x64: epilogues, recognised by their code bytes. */
#ifndef UNWIND_X64_EPILOGUE_H
#define UNWIND_X64_EPILOGUE_H

#include "unwind/x64_info.h"

/* Where a pc is, and whether the stack that the rest of an epilogue needs is readable. */
enum x64_place { X64_BODY, X64_EPILOGUE, X64_EPILOGUE_LOST };

/* Recognises the rest of an epilogue by the code bytes at REGS->pc and, if there is one, leaves the
 * frame by executing it. *RETURN_SLOT_VA is as in struct unwind_frame; *INTERRUPTED: the caller's
 * pc is not a return address. */
enum x64_place x64_epilogue(const struct unwind_process *process, const struct unwind_entry *entry,
                            const struct x64_info *info, struct registers *regs,
                            uint64_t *return_slot_va, bool *interrupted);

#endif
