// Thirty bugs of a program, each in a function of its own, two calls deep: bugs FOLDER NUMBER.
// Without NUMBER it prints how many there are. One that is built with SHIFTED has its code on other
// lines, one with GROWN a function more.
#include <windows.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <capture/capture_port.h>
#if defined(SHIFTED)

#endif

static volatile int sink, zero;
static int *volatile nowhere;
static int (*volatile no_function)(int);

#if defined(GROWN)
// Reads a number as people write it: nothing that any other function needs.
int read_number(const char *text)
{
    int value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + *text - '0';
    sink = value;
    return value;
}
#endif

struct node {
    int value;
    node *next;
    virtual int cost()
    {
        return value;
    }
    virtual ~node() = default;
};

static node *volatile no_node;

// The bug, and the two functions that lead to it; each goes on after its call.
#define BUG(NAME, ...)                                                                             \
    static int NAME(int x) __VA_ARGS__ static int NAME##_step(int x)                               \
    {                                                                                              \
        const int found = NAME(x + 1);                                                             \
        sink = found;                                                                              \
        return found + 1;                                                                          \
    }                                                                                              \
    static int NAME##_task(int x)                                                                  \
    {                                                                                              \
        const int found = NAME##_step(x);                                                          \
        sink = found;                                                                              \
        return found * 2;                                                                          \
    }

BUG(write_nowhere, {
    *nowhere = x;
    return x;
})
BUG(read_nowhere, { return *nowhere + x; })
BUG(call_nowhere, { return no_function(x) + 1; })
BUG(divide_by_zero, { return x / zero; })
BUG(rest_by_zero, { return x % zero + 1; })
BUG(use_no_node, { return no_node->value + x; })
BUG(ask_no_node, { return no_node->cost() + x; })
BUG(follow_no_node, { return no_node->next->value + x; })
BUG(reach_a_trap, {
    sink = x;
    __builtin_trap();
})
BUG(give_up, {
    sink = x;
    std::abort();
})
BUG(terminate_early, {
    sink = x;
    std::terminate();
})
BUG(throw_a_number, {
    if (x > 0)
        throw x;
    return 1;
})
BUG(throw_an_error, {
    if (x > 0)
        throw std::runtime_error("no document");
    return 1;
})
BUG(ask_past_the_end, {
    const std::vector<int> few(3);
    return few.at(static_cast<std::size_t>(x) + 5);
})
BUG(look_up_what_is_missing, {
    const std::map<int, int> empty;
    return empty.at(x);
})
BUG(ask_past_the_front, {
    const std::deque<int> none;
    return none.at(static_cast<std::size_t>(x));
})
BUG(read_no_number, { return std::stoi("none") + x; })
BUG(call_an_empty_function, {
    const std::function<int(int)> none;
    return none(x);
})
BUG(ask_for_too_much, {
    volatile std::size_t much = SIZE_MAX / 64;
    return static_cast<int>(std::vector<double>(much).size()) + x;
})
BUG(write_to_code, {
    *reinterpret_cast<volatile int *>(reinterpret_cast<std::uintptr_t>(&std::abort)) = x;
    return x;
})
BUG(write_to_a_constant, {
    static const int constant[2] = {1, 2};
    const_cast<volatile int *>(constant)[sink & 1] = x;
    return x;
})
BUG(run_data, {
    static int data[4];
    return reinterpret_cast<int (*)(int)>(reinterpret_cast<std::uintptr_t>(data))(x) + 1;
})
BUG(read_a_far_place, { return *reinterpret_cast<volatile int *>(0x123456789000 + x * 8); })
BUG(read_no_canonical_place,
    { return *reinterpret_cast<volatile int *>(0xdead000000000000 + x * 8); })
BUG(raise_an_exception, {
    RaiseException(0xE1234567, 0, 0, nullptr);
    return x;
})
BUG(break_off, {
    sink = x;
    DebugBreak();
    return x;
})
BUG(copy_from_nowhere, {
    volatile char *from = reinterpret_cast<volatile char *>(nowhere);
    int sum = 0;
    for (int i = 0; i < x + 10; i++)
        sum += from[i];
    return sum;
})
BUG(write_a_wide_value, {
    *reinterpret_cast<volatile double *>(nowhere) = x * 1.5;
    return x;
})
BUG(use_what_was_given_away, {
    std::unique_ptr<node> owner(new node), other = std::move(owner);
    sink = other->value;
    return owner.get()->value + x;
})
BUG(throw_in_noexcept, {
    const std::function<void(int)> thrower = [](int y) {
        if (y > 0)
            throw std::logic_error("never");
    };
    const auto careful = [&thrower](int y) noexcept { thrower(y); };
    careful(x);
    return x;
})

static int (*const tasks[])(int) = {
    write_nowhere_task,
    read_nowhere_task,
    call_nowhere_task,
    divide_by_zero_task,
    rest_by_zero_task,
    use_no_node_task,
    ask_no_node_task,
    follow_no_node_task,
    reach_a_trap_task,
    give_up_task,
    terminate_early_task,
    throw_a_number_task,
    throw_an_error_task,
    ask_past_the_end_task,
    look_up_what_is_missing_task,
    ask_past_the_front_task,
    read_no_number_task,
    call_an_empty_function_task,
    ask_for_too_much_task,
    write_to_code_task,
    write_to_a_constant_task,
    run_data_task,
    read_a_far_place_task,
    read_no_canonical_place_task,
    raise_an_exception_task,
    break_off_task,
    copy_from_nowhere_task,
    write_a_wide_value_task,
    use_what_was_given_away_task,
    throw_in_noexcept_task,
};

int wmain(int argc, wchar_t **argv)
{
    const int count = sizeof tasks / sizeof tasks[0];
    if (argc < 3) {
        std::printf("%d\n", count);
        return 0;
    }
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    capture_options options{};
    options.version = CAPTURE_VERSION;
    options.size = sizeof options;
    options.folder = argv[1];
    options.walkers = 2; // rtl alone, and no dump: the problems are made of it
    options.offsets_only = true;
    const long number = std::wcstol(argv[2], nullptr, 10);
    if (number < 0 || number >= count || !capture_install(&options))
        return 3;
    const int result = tasks[number](1);
    std::printf("survived %d\n", result);
    return 77;
}
