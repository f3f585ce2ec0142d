/* x86: steps by the code bytes at the pc, in prologues and epilogues. */
#ifndef UNWIND_X86_CODE_H
#define UNWIND_X86_CODE_H

#include "unwind/walker.h"

/* Executes the rest of the epilogue at the pc (see x86_code.c); PDB, which may be NULL, gives the
 * end of the function. False: there is no epilogue. */
bool unwind_x86_epilogue(struct unwind_walker *w, struct pdb *pdb);

/* Leaves a frame whose pc is in `push ebp; mov ebp, esp`. False: the pc is elsewhere. */
bool unwind_x86_prologue(struct unwind_walker *w);

#endif
