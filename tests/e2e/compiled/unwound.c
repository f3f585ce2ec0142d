/* Frames of every shape: leaf, saved registers, more room than one instruction makes, room of
 * unknown size, floating point, variable arguments. tests/e2e/test_unwind_tables.py compiles it. */
typedef unsigned long size;
__attribute__((noinline)) int leaf(int a, int b)
{
    return a * b + 3;
}
__attribute__((noinline)) int small(int a)
{
    return leaf(a, 2) + leaf(a, 3);
}
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    int x = leaf(a, b), y = leaf(c, d), z = leaf(e, f), w = leaf(g, h);
    int v = small(x) + small(y);
    return leaf(x, v) + leaf(y, z) + leaf(w, a) + leaf(b, c) + leaf(d, e) + leaf(f + g, h + v);
}
__attribute__((noinline)) int large(int n)
{
    volatile char room[9000];
    for (int i = 0; i < n; i++)
        room[i] = (char)leaf(i, n);
    return small(room[n - 1]) + room[0];
}
__attribute__((noinline)) int dynamic(int n)
{
    volatile char *room = __builtin_alloca((size)n);
    room[0] = (char)small(n);
    return small(n) + room[0];
}
__attribute__((noinline)) double fl(double a, double b)
{
    double x = a * leaf(2, 3);
    return x * small(4) + b + leaf(1, 2);
}
__attribute__((noinline)) int vars(const char *f, ...)
{
    __builtin_va_list l;
    __builtin_va_start(l, f);
    int x = __builtin_va_arg(l, int);
    __builtin_va_end(l);
    return small(x) + leaf(x, 2);
}
int entry(int argc)
{
    return many(argc, 2, 3, 4, 5, 6, 7, 8) + large(argc + 1) + dynamic(argc + 20) +
           (int)fl(argc, 2.0) + vars("x", 4);
}
