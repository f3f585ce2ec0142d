#include "victims/crash/cpp.h"

#include <stdexcept>

#if defined(_MSC_VER)
#define OUT_OF_RANGE std::_Xout_of_range
#else
#define OUT_OF_RANGE std::__throw_out_of_range
#endif

/* As a container of the library checks, but in our source: what comes from the library's headers
 * would be ours in the object and not in the truth. */
static int read_at(const int *numbers, size_t count, size_t index)
{
    if (index >= count)
        HERE_DO(OUT_OF_RANGE("index"));
    return HERE(numbers[index]) + 1;
}

SCENARIO(bounds_check, .kind = KIND_CRASH, .group = "A2", NOBODY_CATCHES,
         .sentence = "An index past the end, found by a container's check: the library throws, "
                     "without a handler.")
{
    const int numbers[3] = {1, 2, 3};
    return HERE(read_at(numbers, 3, 7 + (size_t)victim_zero)) + 1;
}
