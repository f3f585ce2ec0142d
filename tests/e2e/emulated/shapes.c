/* Functions of many shapes for an emulator to walk through. Unwind data describes the frames that
 * compilers make, and test_emulated.py compares the unwinders' results with the actual calls.
 * Freestanding; each function ends, and every path is taken. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define APART __attribute__((noinline))

int _fltused;

typedef int (*function)(int);
static volatile int sink;
static volatile double real = 1.5;

APART int leaf(int a)
{
    return a * 3 + 1;
}

APART int small_frame(int a)
{
    volatile int local[4] = {a, 1, 2, 3};
    return leaf(local[a & 3]) + local[1];
}

APART int large_frame(int a)
{
    volatile char local[3000];
    local[a & 1023] = (char)a;
    return leaf(local[a & 1023]) + 1;
}

APART int two_page_frame(int a)
{
    volatile char local[9000];
    local[a & 4095] = (char)a;
    return leaf(local[a & 4095]) + 1;
}

APART int probed_frame(int a)
{
    volatile char local[70000];
    local[a & 65535] = (char)a;
    return leaf(local[a & 65535]) + 1;
}

#define KEPT(n)                                                                                    \
    APART int kept_##n(int a, int b, int c, int d)                                                 \
    {                                                                                              \
        int v[12];                                                                                 \
        for (int i = 0; i < n; i++)                                                                \
            v[i] = leaf(a + i * b);                                                                \
        sink = leaf(c);                                                                            \
        int sum = leaf(d);                                                                         \
        for (int i = 0; i < n; i++)                                                                \
            sum ^= v[i];                                                                           \
        return sum;                                                                                \
    }
KEPT(1)
KEPT(2)
KEPT(3)
KEPT(4)
KEPT(5)
KEPT(6)
KEPT(7)
KEPT(8)
KEPT(9)
KEPT(10)

#define REALS(n)                                                                                   \
    APART double reals_##n(double a)                                                               \
    {                                                                                              \
        double v[10];                                                                              \
        for (int i = 0; i < n; i++)                                                                \
            v[i] = a * real;                                                                       \
        sink = leaf((int)a);                                                                       \
        double sum = a;                                                                            \
        for (int i = 0; i < n; i++)                                                                \
            sum += v[i] * (i + 1);                                                                 \
        return sum;                                                                                \
    }
REALS(1)
REALS(2)
REALS(3)
REALS(5)
REALS(8)

/* Registers of both kinds and locals of more than a word. */
APART int mixed(int a, double b)
{
    volatile int64_t local[40];
    double r = b * real, s = r * real, t = s * real;
    int u = leaf(a), v = leaf(u), w = leaf(v);
    local[a & 31] = u;
    return leaf((int)local[a & 31]) + w + (int)(r + s + t) + v;
}

APART int dynamic_frame(int a)
{
    volatile char *local = __builtin_alloca((size_t)(a & 63) + 40);
    local[a & 31] = (char)a;
    int kept = leaf(a);
    return leaf(local[a & 31]) + kept;
}

APART int aligned_frame(int a)
{
    volatile _Alignas(64) char local[128];
    local[a & 127] = (char)a;
    int kept = leaf(a);
    return leaf(local[a & 127]) + kept;
}

APART int aligned_dynamic_frame(int a)
{
    volatile _Alignas(32) char local[64];
    volatile char *more = __builtin_alloca((size_t)(a & 63) + 40);
    local[a & 63] = (char)a;
    more[a & 31] = (char)a;
    return leaf(local[a & 63]) + leaf(more[a & 31]);
}

APART int variadic(int count, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += leaf(va_arg(list, int));
    va_end(list);
    return sum;
}

APART int variadic_large(int count, ...)
{
    volatile char local[600];
    va_list list;
    int sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        local[i] = (char)leaf(va_arg(list, int));
    va_end(list);
    for (int i = 0; i < count; i++)
        sum += local[i];
    return sum;
}

static function volatile by_memory = small_frame;
static const function *volatile table;

APART int tail_direct(int a)
{
    int kept = leaf(a);
    return small_frame(kept + a);
}

APART int tail_register(int a, function f)
{
    int kept = leaf(a);
    return f(kept + a);
}

APART int tail_memory(int a)
{
    int kept = leaf(a);
    return by_memory(kept + a);
}

APART int tail_table(int a)
{
    int kept = leaf(a);
    return table[a & 1](kept);
}

APART int recursion(int depth)
{
    volatile int local = depth;
    return depth == 0 ? leaf(1) : recursion(depth - 1) + local;
}

APART int many_exits(int a)
{
    int kept = leaf(a);
    if (a == 1)
        return kept;
    kept += leaf(kept);
    if (a == 2)
        return kept * 2;
    if (a == 3)
        return small_frame(kept);
    return leaf(kept) - a;
}

/* The frame is created only on the slow path. */
APART int wrapped(int a)
{
    if (a < 10)
        return a;
    int x = leaf(a), y = leaf(x), z = leaf(y);
    return x ^ leaf(y) ^ z;
}

APART int switched(int a)
{
    switch (a) {
    case 0:
        return leaf(7) + 1;
    case 1:
        return leaf(5) - 2;
    case 2:
        return small_frame(9);
    case 3:
        return leaf(leaf(1)) * 5;
    case 4:
        return wrapped(20) ^ 3;
    default:
        return leaf(a) + leaf(a + 1);
    }
}

struct big {
    int64_t field[9];
};

APART struct big by_value(int a)
{
    struct big out;
    for (int i = 0; i < 9; i++)
        out.field[i] = leaf(a + i);
    return out;
}

APART int takes_value(struct big b, int c, int d, int e, int f, int g)
{
    return leaf((int)b.field[3] + c + d) + e * f - g;
}

#if defined(__i386__)
#define CALLEE_POPS __attribute__((stdcall))
#define IN_REGISTERS __attribute__((fastcall))
#else
#define CALLEE_POPS
#define IN_REGISTERS
#endif

APART CALLEE_POPS int popped(int a, int b, int c)
{
    return leaf(a) + leaf(b) * c;
}

APART IN_REGISTERS int fast(int a, int b, int c, int d)
{
    int kept = leaf(a);
    return leaf(b) + kept * c - d;
}

APART int nested_pushes(int a)
{
    return popped(a, fast(a, leaf(a), popped(a, 2, 3), 4), leaf(a + 1));
}

/* The thread's first function: its caller may not keep any register or memory of it. */
int start(int a)
{
    static const function functions[2] = {small_frame, wrapped};
    int sum = 0;
    table = functions;
    sum += small_frame(a) + large_frame(a) + two_page_frame(a) + probed_frame(a);
    sum += kept_1(a, 2, 3, 4) + kept_2(a, 2, 3, 4) + kept_3(a, 2, 3, 4) + kept_4(a, 2, 3, 4);
    sum += kept_5(a, 2, 3, 4) + kept_6(a, 2, 3, 4) + kept_7(a, 2, 3, 4) + kept_8(a, 2, 3, 4);
    sum += kept_9(a, 2, 3, 4) + kept_10(a, 2, 3, 4);
    sum += (int)(reals_1(2) + reals_2(2) + reals_3(2) + reals_5(2) + reals_8(2)) + mixed(a, 2.5);
    sum += dynamic_frame(a) + aligned_frame(a) + aligned_dynamic_frame(a);
    sum += variadic(3, 1, 2, 3) + variadic_large(3, 1, 2, 3);
    sum += tail_direct(a) + tail_register(a, small_frame) + tail_memory(a);
    sum += tail_table(0) + tail_table(1) + recursion(3);
    for (int i = 1; i < 5; i++)
        sum += many_exits(i);
    sum += wrapped(5) + wrapped(50);
    for (int i = 0; i < 6; i++)
        sum += switched(i);
    sum += takes_value(by_value(a), 1, 2, 3, 4, 5) + nested_pushes(a);
    return sum;
}

/* Functions that compilers call on their own. All memory is committed, so nothing needs probing. */
#if defined(__x86_64__)
__asm__(".globl __chkstk\n__chkstk:\n ret\n");
#elif defined(__aarch64__)
__asm__(".globl __chkstk\n__chkstk:\n ret\n");
#elif defined(__i386__)
__asm__(".globl __chkstk\n__chkstk:\n pop %ecx\n sub %eax, %esp\n jmp *%ecx\n");
__asm__(".globl __alloca\n__alloca:\n pop %ecx\n sub %eax, %esp\n jmp *%ecx\n");
#endif

void *memset(void *to, int byte, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((volatile char *)to)[i] = (char)byte;
    return to;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    return to;
}
