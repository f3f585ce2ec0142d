/* x86: the way through ntdll's dispatchers. */
#ifndef UNWIND_X86_DISPATCH_H
#define UNWIND_X86_DISPATCH_H

#include "unwind/walker.h"

/* From a frame in one of ntdll's dispatchers to what the kernel interrupted (see
 * x86_dispatch.c).  False: no CONTEXT is in reach. */
bool unwind_x86_dispatcher(struct unwind_walker *w);

#endif
