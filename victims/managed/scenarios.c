/* The managed scenarios: each is a static method of scenarios.cs, called from native code. */
#include "victims/managed/runtime_host.h"

#define MANAGED(id, ...)                                                                           \
    SCENARIO(managed_##id, .group = "A6", .prepare = managed_start, .missing = managed_missing,    \
             .dump_limit_ms = 150000, .limit_ms = LIMIT_MS, __VA_ARGS__)

/* MiniDumpWriteDump takes half a minute of such a process under Wine, so few scenarios write a
 * dump. */
#define NO_DUMP .offsets_only = true

/* On one line, which the truth and the PDB agree on. */
#define CALL(method) managed_find(#method)((int)victim_zero)
/* clang-format off */
#define RUN(method) {return HERE_SYSTEM(CALL(method)) + 1;}
/* clang-format on */

enum { CODE_MANAGED = (int)0xE0434352, LIMIT_MS = 200000 };

#define CRASH .kind = KIND_CRASH, .code = (uint32_t)CODE_MANAGED
#define HANG .kind = KIND_HANG

MANAGED(throw, CRASH,
        .sentence =
            "A managed exception that no handler takes: the top frames are the runtime's, the "
            "thrower is below them.")
RUN(Throw)

MANAGED(null, NO_DUMP, .hooks = RECORD_HOOK_UNHANDLED, .kind = KIND_CRASH, .code = 0xC0000005,
        .sentence =
            "A null reference in managed code: an access violation that the runtime turns into "
            "an exception.")
RUN(Null)

MANAGED(native_crash, NO_DUMP, .kind = KIND_CRASH, .code = 0xC0000005, .wine_exit_code = 0xC0000602,
        .no_case = true,
        .sentence = "A native access violation below managed frames: the runtime ends the process "
                    "itself, and no hook runs.")
RUN(NativeCrash)

MANAGED(callback, CRASH,
        .sentence =
            "Native code calls managed code, which calls native code, which calls managed code, "
            "which throws.")
RUN(Callback)

MANAGED(recursion, NO_DUMP, CRASH, .sentence = "A managed exception 60 calls deep.")
RUN(Recursion)

MANAGED(inlined, NO_DUMP, CRASH,
        .sentence = "The JIT puts a method into its caller: its frame is gone, unless "
                    "inlining is off (ob0).")
RUN(Inlined)

MANAGED(generic, NO_DUMP, CRASH,
        .sentence =
            "Generic methods of generic classes, and an iterator of one: each has one token, "
            "and code for each value type that it is used with.")
RUN(Generic)

MANAGED(lambda, NO_DUMP, CRASH,
        .sentence = "A lambda of a generic class calls a local function, which throws: the "
                    "compiler made names for both.")
RUN(Lambda)

MANAGED(framework, NO_DUMP, CRASH,
        .sentence = "The framework throws, in code that was compiled before the program was "
                    "published.")
RUN(Framework)

MANAGED(iterator, NO_DUMP, CRASH,
        .sentence = "An iterator throws: its method is MoveNext of a class that the compiler made.")
RUN(Iterator)

MANAGED(dynamic, CRASH,
        .sentence = "A method made at run time is on the stack: it has a name and no token.")
RUN(Dynamic)

MANAGED(async, NO_DUMP, HANG,
        .sentence = "An async method hangs before its first await: its method is MoveNext of a "
                    "structure that the compiler made.")
RUN(Async)

MANAGED(resumed, NO_DUMP, HANG,
        .sentence = "An async method hangs after its first await: the framework calls it on a "
                    "thread of the pool.")
RUN(Resumed)

MANAGED(filter, NO_DUMP, HANG,
        .sentence = "An exception filter hangs: it runs on top of the frames that threw.")
RUN(Filter)

MANAGED(loop, HANG, .sentence = "A loop in managed code that never ends.")
RUN(Loop)

MANAGED(pinvoke, NO_DUMP, HANG, .sentence = "Managed code waits in a native function.")
RUN(PInvoke)

MANAGED(deadlock, NO_DUMP, HANG, .sentence = "Two managed threads wait for each other's lock.")
RUN(Deadlock)

MANAGED(finalizer, NO_DUMP, HANG, .sentence = "A finalizer hangs, on the runtime's own thread.")
RUN(Finalizer)

MANAGED(collected, NO_DUMP, HANG,
        .sentence = "A loop while another thread collects: return addresses are redirected "
                    "meanwhile.")
RUN(Collected)

/* Two threads run managed code when a third starts a collection.  `moved` is suspended meanwhile,
 * as a debugger would: the collection moves it to a function of the runtime, and it stays at the
 * first instruction, where its stack does not show where it was.  So the collection never ends.
 * `parked` runs into that function and waits for the collection; its stack shows where it was. */
static struct looping {
    const char *role;
    HANDLE thread;
    struct truth_stack *volatile truth;
} moved = {.role = "moved"}, parked = {.role = "parked"};

static DWORD WINAPI run_loop(void *argument)
{
    struct looping *looping = argument;
    truth_thread(looping->role, false);
    looping->truth = TRUTH_STACK;
    return (DWORD)HERE_SYSTEM(CALL(Loop));
}

/* Without a truth: where it is differs from one moment to the next. */
static DWORD WINAPI run_collector(void *unused)
{
    (void)unused;
    return (DWORD)CALL(PhaseCollect);
}

/* Starts a thread, and returns once it is in its loop: its own frame and three managed ones. */
static void start_loop(struct looping *looping)
{
    enum { ENTRIES = 6, SETTLE_TURNS = 20 }; /* with two marks */
    looping->thread = CreateThread(NULL, 0, run_loop, looping, 0, NULL);
    for (int turns = 0; turns < SETTLE_TURNS; turns++) {
        if (looping->truth == NULL || looping->truth->depth < ENTRIES)
            turns = 0;
        capture_heartbeat(); /* the first one was of the calling thread: it is the watched one */
        Sleep(10);
    }
}

static uint64_t place_of(HANDLE thread)
{
    CONTEXT context = {.ContextFlags = CONTEXT_CONTROL};
    return GetThreadContext(thread, &context) ? context.Rip : 0;
}

/* In a system call: a loop never is. */
static bool waits(HANDLE thread)
{
    MEMORY_BASIC_INFORMATION info = {0};
    SuspendThread(thread);
    const uint64_t place = place_of(thread);
    ResumeThread(thread);
    return VirtualQuery((const void *)(uintptr_t)place, &info, sizeof info) != 0 &&
           info.AllocationBase == GetModuleHandleW(L"ntdll.dll");
}

/* Suspends the thread where it can be moved: not in a helper of the runtime, which its loop calls.
 * From .NET 7 on, compiled code is mapped twice, so that it is never writable and executable. */
static uint64_t suspend_in_managed_code(HANDLE thread)
{
    for (;;) {
        MEMORY_BASIC_INFORMATION info = {0};
        SuspendThread(thread);
        const uint64_t place = place_of(thread);
        if (VirtualQuery((const void *)(uintptr_t)place, &info, sizeof info) != 0 &&
            info.Type != MEM_IMAGE)
            return place;
        ResumeThread(thread);
        capture_heartbeat();
        Sleep(1);
    }
}

MANAGED(redirected, HANG,
        .sentence = "The watched thread waits for a collection, which waits for a thread that was "
                    "suspended in managed code: that thread's stack ends as hijacked.")
{
    const managed_method wait = managed_find("PInvoke");
    capture_heartbeat();
    start_loop(&moved);
    start_loop(&parked);
    const uint64_t before = suspend_in_managed_code(moved.thread);
    (void)CreateThread(NULL, 0, run_collector, NULL, 0, NULL);
    while (place_of(moved.thread) == before || !waits(parked.thread)) {
        capture_heartbeat();
        Sleep(10);
    }
    for (uint32_t i = 0; i < moved.truth->depth; i++) /* no walker can know these frames */
        if (moved.truth->entries[i].function != 0)
            moved.truth->entries[i].flags |= TRUTH_FLAG_TAIL;
    victim_ready();
    return HERE_SYSTEM(wait((int)victim_zero)) + 1;
}

MANAGED(seed_needed, NO_DUMP, HANG,
        .sentence = "A loop in the runtime's own code: a snapshot sees nothing without a seed.")
RUN(SeedNeeded)

MANAGED(bad_seed, .kind = KIND_CALM,
        .sentence = "Snapshots are asked for with seeds that cannot be right: none may crash.")
{
    return CALL(BadSeed);
}
