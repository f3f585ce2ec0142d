/* x86: a step by the call frame information of an image. */
#ifndef UNWIND_X86_CFI_H
#define UNWIND_X86_CFI_H

#include "unwind/walker.h"

/* Leaves a frame by the call frame information of its image. False: there is none, or it finds no
 * caller. The frame must have a module. */
bool unwind_x86_cfi(struct unwind_walker *w);

#endif
