/* The managed scenarios: each is a static method of scenarios.cs, called from native code. */
#include "victims/managed/host.h"

#define MANAGED(id, method, ...)                                                                   \
    SCENARIO(managed_##id, .group = "A6", .prepare = managed_start, .missing = managed_missing,    \
             .dump_limit_ms = 150000, __VA_ARGS__)                                                 \
    {                                                                                              \
        const managed_method call = managed_find(#method);                                         \
        return HERE_SYSTEM(call((int)victim_zero)) + 1;                                            \
    }

enum { CODE_MANAGED = (int)0xE0434352, LIMIT_MS = 200000 };

#define CRASH .kind = KIND_CRASH, .code = (uint32_t)CODE_MANAGED, .limit_ms = LIMIT_MS
#define HANG .kind = KIND_HANG, .limit_ms = LIMIT_MS

MANAGED(throw, Throw, CRASH,
        .sentence =
            "A managed exception that no handler takes: the top frames are the runtime's, the "
            "thrower is below them.")
MANAGED(null, Null, .kind = KIND_CRASH, .code = 0xC0000005, .limit_ms = LIMIT_MS,
        .sentence =
            "A null reference in managed code: an access violation that the runtime turns into "
            "an exception.")
MANAGED(native_crash, NativeCrash, .kind = KIND_CRASH, .code = 0xC0000005, .no_case = true,
        .limit_ms = LIMIT_MS,
        .sentence = "A native access violation below managed frames: the runtime ends the process "
                    "itself, and no hook runs.")
MANAGED(callback, Callback, CRASH,
        .sentence =
            "Native code calls managed code, which calls native code, which calls managed code, "
            "which throws.")
MANAGED(recursion, Recursion, CRASH, .sentence = "A managed exception 60 calls deep.")
MANAGED(inlined, Inlined, CRASH,
        .sentence = "The JIT puts two methods into their caller: their frames are gone, unless "
                    "inlining is off (ob0).")
MANAGED(generic, Generic, CRASH,
        .sentence = "A generic method of a generic class: one token for all type arguments.")
MANAGED(iterator, Iterator, CRASH,
        .sentence = "An iterator throws: its method is MoveNext of a class that the compiler made.")
MANAGED(dynamic, Dynamic, CRASH,
        .sentence = "A method made at run time is on the stack: it has a name and no token.")
MANAGED(async, Async, HANG,
        .sentence = "An async method hangs before its first await: its method is MoveNext of a "
                    "structure that the compiler made.")
MANAGED(filter, Filter, HANG,
        .sentence = "An exception filter hangs: it runs on top of the frames that threw.")
MANAGED(loop, Loop, HANG, .sentence = "A loop in managed code that never ends.")
MANAGED(pinvoke, PInvoke, HANG, .sentence = "Managed code waits in a native function.")
MANAGED(deadlock, Deadlock, HANG, .sentence = "Two managed threads wait for each other's lock.")
MANAGED(finalizer, Finalizer, HANG, .sentence = "A finalizer hangs, on the runtime's own thread.")
MANAGED(collected, Collected, HANG,
        .sentence = "A loop while another thread collects: return addresses are redirected "
                    "meanwhile.")
MANAGED(seed_needed, SeedNeeded, HANG,
        .sentence = "A loop in the runtime's own code: a snapshot sees nothing without a seed.")
MANAGED(bad_seed, BadSeed, .kind = KIND_CALM, .limit_ms = LIMIT_MS,
        .sentence = "Snapshots are asked for with seeds that cannot be right: none may crash.")
