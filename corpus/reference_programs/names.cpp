/* What names of C++ can look like. The first word of the outermost function's name, or its namespace, is the shape. */
extern "C" {
#include "mark.h"
extern volatile int sink;
int callee(int a);
}

namespace templates {
template <typename T>
struct Box {
    T value;
    template <typename U>
    APART T add(U u)
    {
        MARK(0);
        sink = static_cast<int>(u);
        return value + static_cast<T>(callee(static_cast<int>(u)));
    }
    T peek(path at) const
    {
        sink = 3;
        return value;
    }
};

template <int N, typename... Ts>
APART int sum(Ts... ts)
{
    sink = N;
    return (callee(static_cast<int>(ts)) + ... + N);
}

template <int N>
IN int down(path at, int a)
{
    sink = a;
    if constexpr (N > 0)
        return down<N - 1>(AT(at), a * 3) + N;
    else
        return a + sink;
}

template <auto V>
APART int of_value(int a)
{
    sink = a;
    return callee(a) + static_cast<int>(V);
}

enum class Kind { first, second };

APART int recursion(int a)
{
    return down<3>(AT(0), a) + down<1>(AT(0), a);
}

API int use(int a)
{
    Box<int> box{a};
    Box<Box<long> *> other{nullptr};
    a = box.add(2.5) + box.add('c');
    sink = other.value == nullptr;
    return a + sum<4>(a, 'x', 2.0f) + sum<0>() + of_value<Kind::second>(a) + of_value<-7>(a) + recursion(a) + box.peek(AT(0));
}
} // namespace templates

namespace cpp20 {
template <typename T>
concept Small = sizeof(T) <= 4;

struct Point {
    int x, y;
    APART bool operator==(const Point &o) const
    {
        sink = x;
        return x == o.x && callee(y) == o.y;
    }
    APART int operator<=>(const Point &o) const
    {
        sink = y;
        return callee(x - o.x) - y;
    }
    APART int operator()(int a, auto b)
    {
        sink = a;
        return callee(a + static_cast<int>(b));
    }
    APART explicit operator bool() const
    {
        sink = 9;
        return callee(x) != 0;
    }
    APART int &operator[](int i) &
    {
        sink = i;
        return callee(i) ? x : y;
    }
};

template <Point P>
APART int of_point(int a)
{
    sink = P.x;
    return callee(a + P.y);
}

APART int constrained(Small auto a)
{
    sink = 1;
    return callee(static_cast<int>(a));
}

template <typename T>
    requires Small<T>
APART int required(T a)
{
    sink = 2;
    return callee(static_cast<int>(a)) + 1;
}

APART unsigned long long operator""_km(unsigned long long a)
{
    sink = 4;
    return a * static_cast<unsigned>(callee(1000));
}

API int use(int a)
{
    Point p{a, 2}, q{3, a};
    a = (p == q) + (p <=> q) + p(a, 'x') + (p ? 1 : 2) + p[a];
    return a + of_point<Point{4, 5}>(a) + constrained(a) + constrained('c') + required(short(3)) + static_cast<int>(12_km);
}
} // namespace cpp20

namespace lambdas {
template <typename F>
APART int call(F f)
{
    MARK(0);
    sink = 1;
    return f(callee(2)) + 1;
}

API int use(int a)
{
    auto twice = [&](int b) {
        sink = b;
        return callee(a + b);
    };
    auto generic = [](auto b, auto... more) {
        sink = sizeof...(more);
        return callee(static_cast<int>(b));
    };
    return call(twice) + call([a](int b) { sink = a; return callee(b) * a; }) + generic(2.0) + generic('c', 1, 2);
}
} // namespace lambdas

namespace {
APART int hidden(int a)
{
    MARK(0);
    sink = a;
    return callee(a) - 1;
}
} // namespace

namespace scopes {
inline namespace v2 {
APART int versioned(int a)
{
    sink = a;
    return callee(a) + hidden(a);
}
} // namespace v2

struct Base {
    virtual int run(int a) = 0;
};
struct Other {
    virtual int more(int a) = 0;
};
struct Both : Base, Other {
    int state;
    APART explicit Both(int a) : state(callee(a)) { sink = a; }
    APART int run(int a) override
    {
        sink = state;
        return callee(a);
    }
    APART int more(int a) override
    {
        sink = state + 1;
        return callee(a) * state;
    }
    APART static int shared(int a, const char *, int (*)(int), const int (&)[3])
    {
        sink = 5;
        return callee(a);
    }
    APART int operator+(const Both &o) const volatile
    {
        sink = o.state;
        return callee(state);
    }
};

APART int dispatch(Base &b, Other &o, int a)
{
    return b.run(a) + o.more(a);
}

API int use(int a)
{
    static const int three[3] = {1, 2, 3};
    struct Local {
        APART int inside(int b)
        {
            sink = b;
            return callee(b);
        }
    };
    Both both(a);
    return versioned(a) + dispatch(both, both, a) + Both::shared(a, "", callee, three) + (both + both) + Local().inside(a);
}
} // namespace scopes

extern "C" void __cxa_pure_virtual() { sink = 0; }
#ifdef _MSC_VER
extern "C" __attribute__((used)) int _fltused = 0;
extern "C" int _purecall() { return sink; }
extern "C" __attribute__((used)) void *memset(void *at, int value, decltype(sizeof 0) bytes)
{
    for (char *to = static_cast<char *>(at); bytes > 0; bytes--)
        *to++ = static_cast<char>(value);
    return at;
}
#endif
