/* A second unit, in C, with functions of the same names as in others. */
static inline int add(int a, int b)
{
    return a - b;
}

int other(int x)
{
    int r = 0;
    for (int i = 0; i < x; i++)
        r += add(x, i) * add(4, x);
    return r;
}
