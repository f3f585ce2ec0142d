int scaled(int x);
static __attribute__((noinline)) int inner(int x)
{
    volatile int y = x;
    return y * 2;
}
__attribute__((noinline)) int outer(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++)
        s += inner(i);
    return scaled(s);
}
int start(void)
{
    return outer(3);
}
