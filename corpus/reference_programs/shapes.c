/* What a line table and inlined calls can look like. The first word of a function's name is the shape of its cases. */
#include "mark.h"

volatile int sink;

APART int callee(int a)
{
    MARK(0);
    return sink + a;
}

APART __attribute__((cold)) int rare(int a)
{
    sink = a;
    MARK(0);
    return a / 3;
}

#include "shapes.h"

/* ---- calls that are inlined */

IN int leaf(path at, int a)
{
    MARK(at);
    return a * 3 + sink;
}

IN int second(path at, int a)
{
    int b = leaf(AT(at), a);
    MARK(at);
    return b + 1;
}

IN int third(path at, int a)
{
    MARK(at);
    return second(AT(at), a ^ 5) - 1;
}

IN int fourth(path at, int a)
{
    return third(AT(at), a + 7) * 5;
}

API int plain_calls(int a)
{
    MARK(0);
    a = callee(a);
    sink = a;
    a += callee(a + 1);
    MARK(0);
    return a;
}

API int inline_one(int a)
{
    sink = a;
    a = leaf(AT(0), a);
    MARK(0);
    return a;
}

API int inline_first(int a)
{
    return leaf(AT(0), a);
}

API int chain_two(int a)
{
    a = second(AT(0), a);
    MARK(0);
    return a + callee(a);
}

API int chain_four(int a)
{
    MARK(0);
    a = fourth(AT(0), a);
    sink = a;
    return a;
}

API int twice_on_two_lines(int a)
{
    a = leaf(AT(0), a);
    sink = a;
    a += leaf(AT(0), a);
    return a;
}

API int twice_on_one_line(int a, int b)
{
    return leaf(AT(0), a) + leaf(AT(0), b) * callee(b);
}

API int siblings_in_turn(int a)
{
    a = second(AT(0), a); a = third(AT(0), a); a ^= from_header(AT(0), a);
    a += leaf(AT(0), a);
    MARK(0);
    return a;
}

IN int calls_out(path at, int a)
{
    MARK(at);
    a = callee(a);
    MARK(at);
    return callee(a + 1) + a;
}

API int call_in_inline(int a)
{
    a = calls_out(AT(0), a);
    sink = a;
    return a + 1;
}

IN int nested_calls_out(path at, int a)
{
    return calls_out(AT(at), a) + leaf(AT(at), a);
}

API int call_in_chain(int a)
{
    return nested_calls_out(AT(0), a) + callee(a);
}

/* ---- code in several places */

IN int split_by_rare(path at, int a)
{
    if (__builtin_expect(sink == 77, 0)) {
        a = rare(a);
        MARK(at);
        sink = a + 1;
    }
    MARK(at);
    return a + sink;
}

API int ranges_and_cold(int a)
{
    a = split_by_rare(AT(0), a);
    if (__builtin_expect(a == 99, 0)) {
        sink = rare(a + 5);
        MARK(0);
        a = rare(a + 6);
    }
    sink = a;
    return split_by_rare(AT(0), a + 1);
}

API int cold_part(int a)
{
    if (a == 1234) {
        sink = rare(a);
        a = leaf(AT(0), a);
        sink = rare(a + 1);
        MARK(0);
        return rare(a + 2);
    }
    MARK(0);
    return a * 2;
}

IN int mixed(path at, const int *p, int n)
{
    MARK(at);
    return p[0] * n + p[1] * (n + 1) + p[2] * (n + 2);
}

API int ranges_mixed(const int *p, const int *q, int n)
{
    int a = mixed(AT(0), p, n) ^ p[3];
    int b = mixed(AT(0), q, n + 1) ^ q[3];
    return a * b + p[5] * q[6] + (a >> 3);
}

/* ---- lines */

#define STORE(value) sink = (value)
#define STORES(value) \
    do {              \
        STORE(value); \
        STORE(1);     \
    } while (0)

API int macro_of_lines(int a)
{
    STORES(a);
    STORES(a
           + 4);
    return a;
}

API int loop_on_one_line(int a)
{
    for (int i = 0; i < a; i++) { sink = i; if (sink & 1) a -= callee(i); else a += 2; }
    return a;
}

API int loop_of_inlined(int a)
{
    for (int i = 0; i < a; i++)
        a = leaf(AT(0), a) ^ second(AT(0), i);
    return a;
}

API int statement_of_lines(int a, int b)
{
    sink = a
           + callee(a)
           + callee(
               b)
           * 7;
    MARK(0);
    return callee(
        callee(a) + sink);
}

API int other_file_inlined(int a)
{
    a = header_chain(AT(0), a);
    return a + from_header(AT(0), a);
}

API int switch_of_lines(int a)
{
    switch (a) {
    case 1: return callee(3);
    case 2: sink = 4; return leaf(AT(0), a);
    case 3: MARK(0); return callee(5) + 1;
    case 4: sink = 9; break;
    case 5: return -a;
    }
    return callee(a);
}

API __attribute__((noreturn)) void stop_for_ever(int a)
{
    for (;;)
        sink = a;
}

API void last_is_a_call(int a)
{
    sink = a;
    stop_for_ever(a + 1);
}

API int after_last(int a)
{
    return a - 1;
}

/* ---- folded, and two names */

API int folded_one(int a)
{
    sink = a + 21;
    return callee(a) + 21;
}

API int folded_two(int a)
{
    sink = a + 21;
    return callee(a) + 21;
}

#ifdef __ELF__
API int alias_target(int a)
{
    sink = a + 5;
    return a * 5;
}
int alias_other(int a) __attribute__((alias("alias_target")));
#endif

#if defined _WIN32 && !defined _MSC_VER
int DllMainCRTStartup(void)
{
    return 1;
}
#endif

#line 600 "made/by_generator.y"
API int line_directive(int a)
{
    sink = a;
#line 700 "made/second.y"
    a = callee(a);
    MARK(0);
#line 20 "made/by_generator.y"
    return a + 5;
}

IN int line_leaf(path at, int a)
{
    sink = a;
#line 350 "made/third.y"
    MARK(at);
    return a + sink;
}

API int line_inlined(int a)
{
    return line_leaf(AT(0), a) + 1;
}
