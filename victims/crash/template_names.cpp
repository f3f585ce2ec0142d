#include "victims/crash/cpp.h"

namespace names
{
template <typename T, int N> struct holder {
    T values[N];
    template <typename F> int each(F visit)
    {
        return HERE(visit(values[N - 1])) + 1;
    }
};
} // namespace names

SCENARIO(template_names, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A lambda called from a member template of a class template: names with "
                     "angle brackets, commas and a name in no source.")
{
    names::holder<volatile int *, 3> all = {{nullptr, nullptr, victim_null}};
    return HERE(all.each([](volatile int *p) { return HERE_AS("operator()", *p = 1) + 1; })) + 1;
}
