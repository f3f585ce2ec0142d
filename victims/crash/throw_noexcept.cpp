#include "victims/crash/cpp.h"

/* Where frames are left before std::terminate is called, the compiler's own function calls it,
 * from code without a line. */
struct truth_at_terminate {
    uint32_t depth = truth_depth();
    ~truth_at_terminate()
    {
        truth_cut(depth);
        TRUTH_PUSH("__clang_call_terminate", 0, 0, 0);
    }
};

static NOINLINE int thrower(int value)
{
    truth_at_terminate scope;
    HERE_DO(throw value);
    return value;
}

static int promise(int value) noexcept
{
    return HERE(thrower(value)) + 1;
}

SCENARIO(throw_noexcept, .kind = KIND_CRASH, .group = "A2", .code = 0x40000015, .exit_code = 3,
         .hooks = RECORD_HOOK_TERMINATE,
         .sentence = "An exception leaves a function that promised none: std::terminate, and "
                     "whether the throwing frame is still there is the runtime's choice.")
{
    return HERE(promise(3)) + 1;
}
