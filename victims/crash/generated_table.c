#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

static void announce(const struct generated *made)
{
#if defined(_WIN64)
    RtlAddFunctionTable(made->table, 1, (DWORD64)(uintptr_t)made->memory);
#else
    (void)made;
#endif
}

SCENARIO(
    generated_table, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
    .not_built = TABLES_NOT_BUILT,
    .sentence = "Code made at run time with a static function table: native, generated, native.")
{
    struct generated made = generated_make();
    announce(&made);
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
