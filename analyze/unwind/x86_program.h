/* Frame programs of x86 PDBs and of Breakpad's STACK WIN; frame_program.h has the language.
 *
 * Constants of the frame: .raSearch, .raSearchStart, .cbLocals, .cbSavedRegs, .cbParams,
 * .cbCalleeParams. */
#ifndef UNWIND_X86_PROGRAM_H
#define UNWIND_X86_PROGRAM_H

#include <stdint.h>

#include "unwind/dead_process.h"

struct x86_frame_constants {
    uint32_t ra_search_va; /* where the search for the return address starts */
    uint32_t locals_bytes, saved_bytes, params_bytes;
    uint32_t callee_params_bytes;
};

/* Runs BYTES of PROGRAM on REGS. Returns STOP_NONE when it set a new eip and esp, otherwise what
 * was wrong. REGS changes only on success. */
enum stop_reason x86_program_run(const struct unwind_process *process, const char *program,
                                 size_t bytes, const struct x86_frame_constants *constants,
                                 struct registers *regs);

#endif
