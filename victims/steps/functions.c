/* What is stepped through: functions that make compilers write every kind of prologue, body and
 * epilogue, and the shapes that they do not write.  No function here calls system code. */
#include "victims/steps/stepper.h"

#include <malloc.h>

#if defined(__clang__)
#define TAIL_CALL __attribute__((musttail)) return
#else
#define TAIL_CALL return
#endif

enum { MIDDLE_BYTES = 500, LARGE_BYTES = 9000, OFTEN = 100 };

struct wide {
    int64_t part[8];
};

static volatile int sink = 1;
static volatile double factor = 1.5;

static NOINLINE int leaf(int a)
{
    return a * 3 + sink;
}

static NOINLINE int many_saved(int a)
{
    int b = leaf(a), c = leaf(b), d = leaf(c), e = leaf(d), f = leaf(e), g = leaf(f), h = leaf(g);
    return b + c * d + e * f + g * h + leaf(a + b);
}

static NOINLINE int middle_frame(int a)
{
    volatile char room[MIDDLE_BYTES];
    room[a] = 1;
    return leaf(a) + room[a];
}

static NOINLINE int large_frame(int a)
{
    volatile char room[LARGE_BYTES];
    room[0] = 1;
    room[LARGE_BYTES - 1] = 2;
    return leaf(a) + room[0] + room[LARGE_BYTES - 1];
}

static NOINLINE int vectors(double a)
{
    double b = factor * a;
    int k = leaf((int)a);
    double c = factor * b;
    k += leaf(k);
    return (int)(a * b + c * k);
}

static NOINLINE int variable_frame(int a)
{
    volatile char *room = _alloca((size_t)a + MIDDLE_BYTES);
    room[0] = (char)a;
    return leaf(a) + room[0];
}

static NOINLINE int tail_target(int a)
{
    return leaf(a) + 1;
}

static int (*volatile tail_pointer)(int) = tail_target;

static NOINLINE int tail_near(int a)
{
    int b = leaf(a), c = leaf(b);
    sink = (b + c) & 1;
    TAIL_CALL tail_target(b * c);
}

static NOINLINE int tail_through_pointer(int a)
{
    int b = leaf(a), c = leaf(b);
    sink = (b + c) & 1;
    TAIL_CALL tail_pointer(b * c);
}

/* Only the rare way needs a frame: what compilers shrink-wrap. */
static NOINLINE int shrink_wrapped(int a)
{
    if (a < OFTEN)
        return a + 1;
    int b = leaf(a), c = leaf(b);
    return b * c + leaf(b + c);
}

static NOINLINE int many_arguments(int a, int b, int c, int d, int e, int f, int g)
{
    return leaf(a + b + c) + leaf(d + e) + f + g;
}

static NOINLINE int passes_many(int a)
{
    return many_arguments(a, 2, 3, 4, 5, 6, a + 7) + 1;
}

static NOINLINE int guarded(int a)
{
    int result;
    __try {
        result = leaf(a);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        result = 0;
    }
    return result + 1;
}

static NOINLINE int recursive(int a)
{
    return a <= 0 ? 1 : recursive(a - 1) + leaf(a);
}

static NOINLINE int branches(int a)
{
    switch (a) {
    case 0:
        return leaf(a) + 2;
    case 1:
        return leaf(a) * 5;
    case 2:
        return leaf(a) - 7;
    case 3:
        return leaf(a) ^ sink;
    case 4:
        return leaf(a) << 1;
    default:
        return -1;
    }
}

static NOINLINE struct wide wide_result(int a)
{
    struct wide result = {{leaf(a), 2, 3, 4, 5, 6, 7, leaf(a + 1)}};
    return result;
}

static int inlined_twice(int a)
{
    return leaf(a) + leaf(a + 1);
}

static NOINLINE int holds_inlined(int a)
{
    return inlined_twice(a) + inlined_twice(leaf(a));
}

/* The callee removes its arguments: it does so in its return on x86, and nothing on x64. */
static NOINLINE int __fastcall takes_registers(int a, int b, int c, int d)
{
    return leaf(a + b) + leaf(c) + d;
}

static NOINLINE int __stdcall takes_stack(int a, int b, int c)
{
    return leaf(a) + takes_registers(b, c, a, b);
}

static NOINLINE int calls_removers(int a)
{
    int b = takes_stack(a, 2, leaf(a));
    return takes_registers(b, a, takes_stack(b, a, 1), 4) + b;
}

static NOINLINE int aligned_frame(int a)
{
    enum { ALIGNMENT = 64 };
    volatile ALIGNED(ALIGNMENT) char room[MIDDLE_BYTES];
    room[a] = (char)leaf(a);
    return leaf(a + 1) + room[a];
}

static NOINLINE int by_compiler(void)
{
    int sum = many_saved(1) + middle_frame(2) + large_frame(3) + vectors(2.5) + variable_frame(20);
    sum += tail_near(4) + tail_through_pointer(5) + shrink_wrapped(1) + shrink_wrapped(OFTEN);
    sum += passes_many(6) + guarded(7) + recursive(3) + holds_inlined(8);
    sum += calls_removers(2) + aligned_frame(5);
    for (int i = 0; i < 3; i++)
        sum += branches(i * 2);
    return sum + (int)wide_result(9).part[7];
}

static int (*const shapes[])(steps_call, int) = {
#define STEPS_ROW(name) name,
    STEPS_SHAPES(STEPS_ROW)};

/* Waits in a frame of its own, with saved registers, while a shape calls leaf through it. */
static NOINLINE int calls_shape(int (*shape)(steps_call, int), int a)
{
    int b = leaf(a);
    return shape(leaf, a) + b;
}

int steps_tree(void)
{
    int sum = by_compiler();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        sum += calls_shape(shapes[i], (int)(i & 7));
    return sum;
}
