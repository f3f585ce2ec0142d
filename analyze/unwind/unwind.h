/* Unwinding: from one set of registers to all frames of a thread.
 *
 * Order of trust, per processor (each frame keeps the word in found_by):
 *   x64    .pdata, then generated-code tables; leaf where there is neither and the frame was
 *          interrupted; where the image is missing, STACK CFI of a Breakpad file, then frame sizes
 *          of the PDB (S_FRAMEPROC); the frame pointer where the system is not Windows; scan
 *   arm64  .pdata, packed or full; STACK CFI; leaf; frame pointer; scan
 *   x86    call frame information of the image (mingw, Wine); FrameData programs, then FPO data
 *          of the PDB; STACK CFI, then STACK WIN of a Breakpad file; frame pointer; scan
 * A pc outside all code (0, freed or unmapped code) becomes a frame of its own; one return address
 * is popped and the walk continues. */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "unwind/dead_process.h"

/* Walks from START, whose pc is of KIND. A walk that ends early is not a fault: see stop. Fails:
 * ERR_UNSUPPORTED no unwinder for that processor; ERR_MEMORY. */
enum status unwind_walk(const struct unwind_process *process, const struct registers *start,
                        enum pc_kind kind, struct arena *keep, struct unwind_stack *out,
                        struct fault *fault);

#endif
