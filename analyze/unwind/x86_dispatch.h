/* x86: crossing ntdll's dispatchers. */
#ifndef UNWIND_X86_DISPATCH_H
#define UNWIND_X86_DISPATCH_H

#include "unwind/walker.h"

/* Goes from a frame in one of ntdll's dispatchers to the code that the kernel interrupted (see
 * x86_dispatch.c). False: no CONTEXT was found. */
bool unwind_x86_dispatcher(struct unwind_walker *w);

#endif
