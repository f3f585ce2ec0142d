// A program without a C library, whose code tests a symbol reader: calls inlined ten deep,
// templates, lambdas, structured bindings, cold parts, equal functions, thunks of virtual bases,
// and lines of another file.
volatile int sink, source = 3;

extern "C" {
int _fltused = 1;
__attribute__((used)) int _purecall()
{
    return 0;
}
__attribute__((used)) void __cxa_pure_virtual()
{
}
__attribute__((used)) void *memset(void *to, int value, decltype(sizeof 0) bytes)
{
    for (volatile char *at = (char *)to; bytes > 0; bytes--)
        *at++ = (char)value;
    return to;
}
__attribute__((used)) void *memcpy(void *to, const void *from, decltype(sizeof 0) bytes)
{
    const char *read = (const char *)from;
    for (volatile char *at = (char *)to; bytes > 0; bytes--)
        *at++ = *read++;
    return to;
}
int other(int);
}
void operator delete(void *, decltype(sizeof 0)) noexcept
{
    sink = 9;
}
void operator delete(void *) noexcept
{
    sink = 9;
}

namespace outer
{
inline namespace v1
{
namespace
{
template <int N> struct deep {
    static inline __attribute__((always_inline)) int go(volatile int *p)
    {
        int r = deep<N - 1>::go(p) + *p;
        *p = r;
        return r;
    }
};
template <> struct deep<0> {
    static inline __attribute__((always_inline)) int go(volatile int *p)
    {
        *p = 1;
        return *p * 3;
    }
};
} // namespace
} // namespace v1
} // namespace outer

template <typename A, typename B> struct two {
    A first;
    B second;
    two(A a, B b) : first(a), second(b)
    {
        sink = (int)a;
    }
    ~two()
    {
        sink = 0;
    }
};

template <typename T, int N> struct array {
    T items[N];
    T *begin()
    {
        return items;
    }
    T *end()
    {
        return items + N;
    }
};

template <typename T> static void order(T *begin, T *end, bool (*less)(T, T))
{
    for (T *i = begin; i != end; ++i)
        for (T *j = i; j != begin && less(*j, j[-1]); --j) {
            T t = *j;
            *j = j[-1];
            j[-1] = t;
        }
}

template <typename It, typename F> static void each(It begin, It end, F f)
{
    for (; begin != end; ++begin)
        f(*begin);
}

struct base {
    virtual int run(int x) = 0;
    virtual ~base()
    {
    }
};
struct left : virtual base {
    int run(int x) override
    {
        return x * 3 + y;
    }
    int y = 4;
};
struct right : virtual base {
    int run(int x) override
    {
        return x - 7;
    }
};
struct both final : left, right {
    int run(int x) override
    {
        return left::run(x) + right::run(x);
    }
};

// Two equal functions on one line, which a linker may fold.
#define SAME(name)                                                                                 \
    __attribute__((noinline)) int name(int x)                                                      \
    {                                                                                              \
        return x * 17 + 3;                                                                         \
    }
#define TWICE SAME(same_a) SAME(same_b)
TWICE

__attribute__((cold, noinline)) static void fail(const char *why)
{
    sink = *why;
    __builtin_trap();
}

__attribute__((noinline)) int hot_and_cold(int x)
{
    if (__builtin_expect(x > 1000, 0)) {
        sink = x / 7;
        sink = x % 9;
        fail("x");
    }
    return x * x;
}

// The last call of its function does not return.
__attribute__((noinline)) int not_returning(int x)
{
    sink = x;
    fail("last");
    __builtin_unreachable();
}

#line 1000 "grammar.y"
static int parser(int token)
{
    switch (token) {
    case 1:
        return token + 1;
    case 2:
        return token * 7;
#line 20 "folder/actions.inc"
    case 3:
        return same_a(token);
    case 4:
        sink = token;
        return same_b(5);
    default:
        break;
    }
    return 0;
}
#line 900 "main.cpp"

static int recursive(int n)
{
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

struct number {
    int v;
    number operator+(number o) const
    {
        return {v + o.v};
    }
    explicit operator int() const
    {
        return v;
    }
    bool operator<(number o) const
    {
        return v < o.v;
    }
};

template <typename... T> static int total(T... t)
{
    return (0 + ... + t);
}

extern "C" int entry()
{
    volatile int v = source;
    int r = outer::deep<10>::go(&v);
    array<int, 5> a{{3, 1, v, 2, 9}};
    order<int>(a.begin(), a.end(), [](int x, int y) { return x < y; });
    int captured = 0;
    each(a.begin(), a.end(), [&](int x) { captured += [=](auto z) { return z * x; }(x); });
    two<int, double> t{v, 2.0};
    auto &[one, another] = t;
    both b;
    base *p = &b;
    r += p->run(v) + parser(v) + hot_and_cold(v) + same_a(r) + same_b(r) + one + (int)another +
         captured;
    r += (int)(number{v} + number{r}) + (number{v} < number{r}) + total(1, v, 3L, (char)4);
    return r + recursive(v) + other(v) + (v > 5000 ? not_returning(v) : 0);
}
