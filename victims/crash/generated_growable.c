#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

#if defined(_WIN64)
typedef DWORD(NTAPI *add_table)(void **, RUNTIME_FUNCTION *, DWORD, DWORD, ULONG_PTR, ULONG_PTR);

static void announce(const struct generated *made)
{
    void *growable = NULL;
    add_table add = (add_table)(void (*)(void))GetProcAddress(GetModuleHandleW(L"ntdll.dll"),
                                                              "RtlAddGrowableFunctionTable");
    add(&growable, made->table, 1, 1, (uintptr_t)made->memory,
        (uintptr_t)made->memory + GENERATED_BYTES);
}
#else
static void announce(const struct generated *made)
{
    (void)made;
}
#endif

SCENARIO(generated_growable, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .not_built = TABLES_NOT_BUILT,
         .sentence = "Generated code with a growable function table, as current engines use.")
{
    struct generated made = generated_make();
    announce(&made);
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
