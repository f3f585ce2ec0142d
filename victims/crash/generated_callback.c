#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static RUNTIME_FUNCTION *table;

static RUNTIME_FUNCTION *CALLBACK find(DWORD64 pc_va, void *context)
{
    (void)pc_va, (void)context;
    return table;
}

SCENARIO(generated_callback, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .sentence = "Generated code whose function table comes from a callback.")
{
    struct generated made = generated_make();
    table = made.table;
    RtlInstallFunctionTableCallback((DWORD64)(uintptr_t)made.memory | 3,
                                    (DWORD64)(uintptr_t)made.memory, GENERATED_BYTES, find, NULL,
                                    NULL);
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
