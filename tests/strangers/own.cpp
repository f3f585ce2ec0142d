// Much of the standard library, so that the DWARF has templates, lambdas and inlined calls of
// others.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shapes
{
struct shape {
    virtual ~shape() = default;
    virtual double area() const = 0;
};
struct circle : shape {
    double r = 1;
    double area() const override
    {
        return 3.14 * r * r;
    }
};
struct square : shape {
    double a = 2;
    double area() const override
    {
        return a * a;
    }
};
template <typename... T> auto sum(T... values)
{
    return (values + ...);
}
} // namespace shapes

static std::map<std::string, int> count_words(const std::string &text)
{
    std::map<std::string, int> counts;
    std::istringstream in(text);
    for (std::string word; in >> word;)
        ++counts[word];
    return counts;
}

int main(int argc, char **argv)
{
    std::vector<std::unique_ptr<shapes::shape>> all;
    for (int i = 0; i < argc + 3; i++)
        all.push_back(i % 2 != 0 ? std::unique_ptr<shapes::shape>(new shapes::circle)
                                 : std::unique_ptr<shapes::shape>(new shapes::square));
    std::sort(all.begin(), all.end(),
              [](const auto &a, const auto &b) { return a->area() < b->area(); });
    const double total = std::accumulate(all.begin(), all.end(), 0.0,
                                         [](double t, const auto &s) { return t + s->area(); });
    std::unordered_map<int, std::function<int(int)>> table;
    table[1] = [&](int x) { return x + argc; };
    table[2] = [](int x) { return shapes::sum(x, 1, 2L); };
    std::variant<int, std::string, double> value =
        argc > 1 ? std::variant<int, std::string, double>(argv[0]) : 1.5;
    const auto length = std::visit([](const auto &v) { return sizeof v; }, value);
    std::regex words("(\\w+)\\s+(\\d+)");
    std::smatch found;
    const std::string text = "crash 12 dump 13 crash 14";
    const int hits = std::regex_search(text, found, words) ? static_cast<int>(found.size()) : 0;
    std::printf("%f %d %zu %d %zu\n", total, table[1](2) + table[2](3), length, hits,
                count_words(text).size());
    return 0;
}
