/* The managed scenarios: each is a static method of scenarios.cs, called from native code. */
#include "victims/managed/host.h"

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

MANAGED(null, NO_DUMP, .doors = RECORD_DOOR_UNHANDLED, .kind = KIND_CRASH, .code = 0xC0000005,
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
        .sentence = "A generic method of a generic class: one token for all type arguments.")
RUN(Generic)

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

/* Without a truth: where it is differs from one moment to the next. */
static DWORD WINAPI run_collected(void *unused)
{
    (void)unused;
    return (DWORD)managed_find("PhaseCollected")(0);
}

MANAGED(redirected, NO_DUMP, HANG,
        .sentence = "The watched thread waits, others run managed code and collect: the stack of a "
                    "thread that a collection has just moved ends as hijacked.")
{
    enum { START_MS = 1000, THREADS = 2 };
    for (int i = 0; i < THREADS; i++)
        (void)CreateThread(NULL, 0, run_collected, NULL, 0, NULL);
    Sleep(START_MS);
    return HERE_SYSTEM(CALL(PInvoke)) + 1;
}

MANAGED(seed_needed, NO_DUMP, HANG,
        .sentence = "A loop in the runtime's own code: a snapshot sees nothing without a seed.")
RUN(SeedNeeded)

MANAGED(bad_seed, .kind = KIND_CALM,
        .sentence = "Snapshots are asked for with seeds that cannot be right: none may crash.")
{
    return CALL(BadSeed);
}
