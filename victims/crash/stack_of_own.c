#include "victims/victim.h"

/* Another stack by hand, as coroutine libraries make them: the limits in the thread's
 * environment block are still those of the old one. */
enum { STACK_BYTES = 1 << 16, STEP_BYTES = 1 << 20 };

int stack_of_own_poke(volatile int *p);

int stack_of_own_poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

/* Memory above the thread's stack: below it, a chain of frame pointers would lead from one to the
 * other, and what a walk finds would depend on where the system put the memory. */
static char *allocate_above(const char *place)
{
    char *memory = NULL;
    for (uintptr_t at = (uintptr_t)place & ~(uintptr_t)(STEP_BYTES - 1); memory == NULL;) {
        at += STEP_BYTES;
        memory = VirtualAlloc((void *)at, STACK_BYTES, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    }
    return memory;
}

#if HAVE_NAKED
enum { LINE_OF_SWITCH = __LINE__ + 3 };
static NAKED int on_other_stack(volatile int *p, void *top)
{
    __asm__(".seh_proc on_other_stack\n"
            "pushq %rbp\n.seh_pushreg %rbp\n"
            "movq %rsp, %rbp\n.seh_setframe %rbp, 0\n.seh_endprologue\n"
            "movq %rdx, %rsp\n"
            "callq stack_of_own_poke\n"
            "movq %rbp, %rsp\npopq %rbp\nret\n.seh_endproc\n");
}
#define NOT_BUILT NULL
#elif HAVE_NAKED_X86
enum { LINE_OF_SWITCH = __LINE__ + 3 };
static NAKED_X86 int on_other_stack(volatile int *p, void *top)
{
    __asm__("pushl %ebp\n"
            "movl %esp, %ebp\n"
            "movl 12(%ebp), %esp\n"
            "pushl 8(%ebp)\n"
            "calll _stack_of_own_poke\n"
            "movl %ebp, %esp\npopl %ebp\nret\n");
}
#define NOT_BUILT NULL
#else
enum { LINE_OF_SWITCH = 0 };
static int on_other_stack(volatile int *p, void *top)
{
    return p == top;
}
#define NOT_BUILT "this compiler has no naked functions"
#endif

SCENARIO(stack_of_own, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005,
         .not_built = NOT_BUILT,
#if defined(_WIN64)
         .no_case = true,
         .sentence = "A crash on a stack that the program made by hand: outside the thread's "
                     "limits, so handlers of frames are not asked.")
#else /* their chain is on the old stack */
         .sentence = "A crash on a stack that the program made by hand: outside the thread's "
                     "limits, which a dump and careful walkers keep to.")
#endif
{
    char place = 0;
    char *stack = allocate_above(&place);
    return HERE_LEAF(on_other_stack, LINE_OF_SWITCH,
                     on_other_stack(victim_null, stack + STACK_BYTES - 64)) +
           1;
}
