#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

#if defined(_WIN64)
static RUNTIME_FUNCTION *table;

static RUNTIME_FUNCTION *CALLBACK find(DWORD64 pc_va, void *context)
{
    (void)pc_va, (void)context;
    return table;
}

static void announce(const struct generated *made)
{
    const DWORD64 base_va = (uintptr_t)made->memory;
    table = made->table;
    RtlInstallFunctionTableCallback(base_va | 3, base_va, GENERATED_BYTES, find, NULL, NULL);
}
#else
static void announce(const struct generated *made)
{
    (void)made;
}
#endif

SCENARIO(generated_callback, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = TABLES_NOT_BUILT,
         .sentence = "Generated code whose function table comes from a callback.")
{
    struct generated made = generated_make();
    announce(&made);
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
