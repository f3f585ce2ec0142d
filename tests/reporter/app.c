/* A program that crashes in many places, for test_reporter.py: an emulator runs it. It is no victim
 * and knows no capture. Compiled with frame pointers where the compiler keeps a chain of them;
 * plug.c is not. */
#include "program.h"

volatile int sink;

/* The linker's own symbols are where the code begins, and llvm-symbolizer prefers them. */
int first(void)
{
    return sink;
}

APART int leaf(int a)
{
    sink = a;
    return a * 3 + sink;
}

INLINE int twice(int a)
{
    return leaf(a) + leaf(a + 1);
}

INLINE int around(int a)
{
    sink += a;
    return twice(a) ^ 5;
}

APART int inner(int a)
{
    volatile char local[96];
    local[a & 63] = (char)a;
    return around(a) + local[a & 63];
}

/* Of each function's callees, the first have returned, and their addresses stay on the stack. */
#define LEVEL(N, NEXT)                                                                             \
    APART int level##N(int a)                                                                      \
    {                                                                                              \
        volatile int local[N * 3 + 2];                                                             \
        local[a & 1] = leaf(a + N);                                                                \
        return NEXT(a + N) + local[a & 1];                                                         \
    }
LEVEL(1, inner)
LEVEL(2, level1)
LEVEL(3, level2)
LEVEL(4, level3)
LEVEL(5, level4)
LEVEL(6, level5)
LEVEL(7, level6)

APART int from_plug(int a)
{
    return around(a) + level3(a) + 1;
}

APART int deep(int depth)
{
    volatile int local[4] = {depth, 0, 1, 2};
    return depth == 0 ? level2(1) + local[1] : deep(depth - 1) + local[depth & 3];
}

#if defined(__x86_64__)
/* The call is the last instruction of its function, as those of functions that never return are:
 * the return address is the first byte of the next one. */
int ends_in_call(int a);
__asm__(".text\n.globl ends_in_call\n.seh_proc ends_in_call\nends_in_call:\n"
        " subq $40, %rsp\n .seh_stackalloc 40\n .seh_endprologue\n call level4\n .seh_endproc\n"
        ".globl follows_it\n.seh_proc follows_it\nfollows_it:\n"
        " .seh_endprologue\n addq $40, %rsp\n ret\n .seh_endproc\n");
#else
#define ends_in_call level4
#endif

APART int through_end(int a)
{
    return ends_in_call(a) + 1;
}

/* The thread's first function: its caller is address 0. */
int start(plug_fn *plug)
{
    int sum = level7(3);
    sum += plug(4, from_plug);
    sum += through_end(5);
    sum += deep(30);
    sum += deep(140);
    return sum + leaf(sum);
}
