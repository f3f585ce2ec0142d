/* Frame programs of x86 PDBs: postfix arithmetic over registers and the stack.
 *
 *     $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =
 *
 * Words: $name variables ($eip, $esp, $ebp, $ebx, $esi, $edi and temporaries), .name constants
 * of the frame (.raSearch, .cbLocals, .cbSavedRegs, .cbParams), decimal numbers, + - * / % @
 * (align down), ^ (read 4 bytes) and = (assign).
 * Source: IDiaFrameData::get_program; Breakpad's documentation of STACK WIN. */
#ifndef UNWIND_X86_PROGRAM_H
#define UNWIND_X86_PROGRAM_H

#include <stdint.h>

#include "unwind/process.h"

struct x86_frame_constants {
    uint32_t ra_search_va; /* where the search for the return address starts */
    uint32_t locals_bytes, saved_bytes, params_bytes;
};

/* Runs PROGRAM on REGS. Returns STOP_NONE when it set a new eip and esp, otherwise what was wrong.
 * REGS changes only on success. */
enum stop_reason x86_program_run(const struct unwind_process *process, const char *program,
                                 const struct x86_frame_constants *constants,
                                 struct registers *regs);

#endif
