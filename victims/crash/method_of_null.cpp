#include "victims/crash/cpp.h"

namespace
{
struct account {
    int unused[64], balance;
    int read()
    {
        return HERE(balance) + 1;
    }
};
} // namespace

static account *volatile nobody;

SCENARIO(method_of_null, .kind = KIND_CRASH, .group = "A1", .code = 0xC0000005,
         .sentence = "A member function called on null: it runs, and dies at the first member, "
                     "256 bytes past null.")
{
    return HERE(nobody->read()) + 1;
}
