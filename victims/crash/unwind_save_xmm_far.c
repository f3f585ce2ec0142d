#include "victims/crash/unwind_shape.h"

int unwind_save_xmm_far(int (*call)(volatile int *), volatile int *p);

enum { LINE_OF_SHAPE = __LINE__ + 2 };
/* clang-format off */
UNWIND_SHAPE(unwind_save_xmm_far, "movl $0x120008, %eax\nsubq %rax, %rsp\n.seh_stackalloc 0x120008\nmovaps %xmm6, 0x110000(%rsp)\n.seh_savexmm %xmm6, 0x110000\nmovaps %xmm7, 0x110010(%rsp)\n.seh_savexmm %xmm7, 0x110010\n.seh_endprologue\n" CALL_IT)
/* clang-format on */

static DWORD WINAPI worker(void *argument)
{
    (void)argument;
    truth_thread("worker", true);
    return (DWORD)HERE_SHAPE(unwind_save_xmm_far) + 1;
}

/* More than a megabyte of offset makes the far form, so it needs a large stack. */
enum { STACK_BYTES = 8 << 20 };

static int join(HANDLE thread)
{
    return HERE_SYSTEM(WaitForSingleObject(thread, INFINITE)) + 1;
}

SCENARIO(unwind_save_xmm_far, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = SHAPE_NOT_BUILT,
         .sentence = "Vector registers saved so far away that the offset takes two slots.")
{
    HANDLE thread = CreateThread(NULL, STACK_BYTES, worker, NULL, 0, NULL);
    return HERE(join(thread)) + 1;
}
