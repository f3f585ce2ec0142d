#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(
    generated_table, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
    .sentence = "Code made at run time with a static function table: native, generated, native.")
{
    struct generated made = generated_make();
    RtlAddFunctionTable(made.table, 1, (DWORD64)(uintptr_t)made.memory);
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
