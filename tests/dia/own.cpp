// What clang-cl makes of C++: templates, lambdas, virtual and inlined functions, operators, without
// any header or library. test_dia.py asks DIA and us about every byte of it.
namespace shapes
{
struct Shape {
    virtual int area() const = 0;
    virtual int sides() const;
};

template <typename T> struct Pair : Shape {
    T a, b;
    Pair(T first, T second) : a(first), b(second)
    {
    }
    __forceinline int area() const override
    {
        return static_cast<int>(a * b);
    }
    __declspec(noinline) bool operator<(const Pair &other) const
    {
        return area() < other.area();
    }
    operator int() const
    {
        return area();
    }
};

__declspec(noinline) int Shape::sides() const
{
    return 4;
}
} // namespace shapes

namespace
{
template <int N> __forceinline int power(int a)
{
    return a * power<N - 1>(a);
}
template <> __forceinline int power<0>(int)
{
    return 1;
}

template <typename F> __declspec(noinline) int apply(F f, int a)
{
    int sum = 0;
    for (int i = 0; i < a; i++)
        sum += f(i) ^ power<3>(i);
    return sum;
}

__declspec(noinline) int count(const shapes::Shape &shape)
{
    return shape.area() * shape.sides() + power<2>(shape.sides());
}
} // namespace

extern "C" int memory[64];
int memory[64];

extern "C" int start()
{
    shapes::Pair<int> one(memory[0], memory[1]);
    shapes::Pair<short> two(static_cast<short>(memory[2]), 7);
    const int seed = one < shapes::Pair<int>(3, 4) ? one : two;
    auto outer = [&](int i) {
        auto inner = [i, seed](int k) { return power<2>(k + i) - seed; };
        return inner(i) + memory[i & 63];
    };
    memory[3] = apply(outer, memory[4]);
    return count(one) + count(two) + memory[3];
}

extern "C" int _fltused = 0;
extern "C" void _purecall()
{
}
