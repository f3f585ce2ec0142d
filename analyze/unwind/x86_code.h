/* x86: steps by the code bytes at the pc, in prologues and epilogues. */
#ifndef UNWIND_X86_CODE_H
#define UNWIND_X86_CODE_H

#include "unwind/walker.h"

/* Executes the rest of the epilogue at the pc (see x86_code.c); PDB, which may be NULL, gives the
 * end of the function. False: there is no epilogue. */
bool unwind_x86_epilogue(struct unwind_walker *w, struct pdb *pdb);

/* How many arguments the instructions right before the pc have pushed, not counting those before
 * FROM_VA. */
uint32_t unwind_x86_pushes(const struct unwind_walker *w, uint64_t from_va);

/* Counts what the prologue from START_VA to the pc has put on the stack, and notes where above the
 * stack pointer ebp is (UINT32_MAX: it was not saved).  False: there is another instruction in it.
 */
bool unwind_x86_pushed(const struct unwind_walker *w, uint64_t start_va, uint32_t *bytes,
                       uint32_t *ebp_at);

/* Leaves a frame whose pc is in `push ebp; mov ebp, esp`, or at a function's first instruction, as
 * the call that led there shows. False: the pc is elsewhere. */
bool unwind_x86_prologue(struct unwind_walker *w);

#endif
