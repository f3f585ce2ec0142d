// What libc++abi's demangler wants of a C++ runtime, so that none is linked.
#include <cstdlib>
#include <exception>

void std::terminate() noexcept
{
    __builtin_trap();
}

void operator delete(void *memory) noexcept
{
    std::free(memory);
}
