#include "victims/crash/cpp.h"

/* Called through its second base, `both` is entered by way of a thunk that moves `this` back
 * and jumps. */
namespace
{
struct first {
    virtual ~first() = default;
    int number = 1;
};

struct second {
    virtual ~second() = default;
    virtual int act(volatile int *p) = 0;
};

struct both : first, second {
    NOINLINE int act(volatile int *p) override
    {
        return HERE(*p = number) + 1;
    }
};
} // namespace

static second *volatile object;

SCENARIO(adjustor_thunk, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "A virtual call through a second base: a thunk adjusts the object and leaves "
                     "by a jump, so it has no frame.")
{
    object = new both;
    return HERE(object->act(victim_null)) + 1;
}
