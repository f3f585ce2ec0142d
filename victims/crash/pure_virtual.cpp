#include "victims/crash/cpp.h"

namespace
{
struct shape {
    explicit shape(int)
    {
        HERE_DO(measure());
    }
    virtual ~shape() = default;
    void measure()
    {
        HERE_DO(area());
    }
    virtual void area() = 0;
};

struct square : shape {
    /* clang-format off */
    square() : shape((TRUTH_SELF, 0)) { TRUTH_POP(1); } /* the call is at the start of the body */
    /* clang-format on */
    void area() override
    {
    }
};
} // namespace

SCENARIO(pure_virtual, .kind = KIND_CRASH, .group = "A2", PURE_CALL,
         .sentence = "A virtual function called while its object is still being built: there is "
                     "none yet, and the runtime gives up.")
{
    HERE_BLOCK(square made; victim_null = (volatile int *)&made;);
    return 1;
}
