#include <algorithm>
#include <concepts>
#include <coroutine>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>
template <class T>
concept Num = std::integral<T> || std::floating_point<T>;
template <Num T>
T twice(T x)
    requires(sizeof(T) > 1)
{
    return x + x;
}
template <std::ranges::range R>
    requires Num<std::ranges::range_value_t<R>>
auto total(R &&r)
{
    std::ranges::range_value_t<R> s{};
    for (auto x : r)
        s += x;
    return s;
}
struct A {
    template <Num T> operator T() const
    {
        return T(3);
    }
    template <class T> bool operator<(T const &) const
    {
        return true;
    }
    template <class T> bool operator<<(T const &) const
    {
        return true;
    }
    template <class T> T operator->*(T x)
    {
        return x;
    }
    auto operator<=>(A const &) const = default;
};
template <auto V> int val()
{
    return int(V);
}
template <int (*F)(int)> int call(int x)
{
    return F(x);
}
int inc(int x)
{
    return x + 1;
}
int (*getf(int))(int)
{
    return inc;
}
template <class T> T (*getft(T))(T)
{
    return nullptr;
}
template <class T> int (&arr(T))[3]
{
    static int a[3];
    return a;
}
template <class T> auto lam(T t)
{
    return [t]<class U>(U u) { return t + u; };
}
struct M {
    int f(int) const &
    {
        return 1;
    }
    int g(int) && noexcept
    {
        return 2;
    }
};
template <class T, class R, class... P> R mem(T &o, R (T::*f)(P...) const &, P... p)
{
    return (o.*f)(p...);
}
template <class T> int (M::*getm(T))(int) const &
{
    return &M::f;
}
namespace
{
struct Hid {
    int x;
    template <class T> T go(T t)
    {
        return t + x;
    }
};
} // namespace
template <class... T> auto fold(T... t) -> decltype((t + ...))
{
    return (t + ...);
}
struct Lit {
    int a;
    constexpr Lit(int x) : a(x)
    {
    }
    bool operator==(const Lit &) const = default;
};
template <Lit L> int lit()
{
    return L.a;
}
long double operator""_km(long double x)
{
    return x;
}
template <template <class> class C, class T> int tt(C<T> *)
{
    return 1;
}
template <class T> struct Box {
    T t;
};
template <class T>
    requires std::copyable<T>
struct Q {
    void f(T)
    {
    }
    template <class U>
        requires std::same_as<U, T>
    void g(U)
    {
    }
};
template <class T> auto dec(T t) -> decltype(t.size() ? t.begin() : t.end())
{
    return t.begin();
}
void lf()
{
    struct L {
        int q() const
        {
            return [this](int z) { return z + 1; }(2);
        }
    };
    L l;
    std::cout << l.q();
    static auto s = [](auto... x) { return (x + ... + 0); };
    std::cout << s(1, 2L);
}
int main(int argc, char **)
{
    std::vector<int> v(10, argc);
    auto w = v | std::views::filter([](int x) { return x > 1; }) |
             std::views::transform([](int x) { return twice(x) * 2.0; }) | std::views::take(4) |
             std::views::reverse;
    std::cout << total(w) << total(v) << int(A{}) << (A{} < 3) << (A{} << 2L) << (A{}->*5)
              << val<7>() << val<'c'>() << call<inc>(2) << getf(1)(2) << (getft(3L) == nullptr)
              << arr(2.0)[1];
    std::cout << lam(1)(2L) << M{}.f(1) << M{}.g(2);
    M m;
    std::cout << mem(m, &M::f, 3) << (getm(3) != nullptr) << Hid{2}.go(3L) << fold(1, 2, 3.0)
              << lit<Lit(4)>() << double(3.0_km) << tt((Box<int> *)nullptr);
    Q<int>{}.f(1);
    Q<int>{}.g(1);
    dec(std::string("x"));
    lf();
    std::map<std::string, std::vector<std::tuple<int, std::optional<double>>>> mm;
    mm["a"].emplace_back(1, 2.0);
    std::ranges::sort(v, std::ranges::greater{}, [](int x) { return -x; });
    std::variant<int, std::string> va = "x";
    std::visit([](auto &&x) { std::cout << sizeof x; }, va);
    std::function<int(int)> f = [&](int x) { return x + argc; };
    std::cout << f(2) << (A{} == A{});
    std::cout << std::accumulate(v.begin(), v.end(), 0L, [](auto a, auto b) { return a + b; });
}
