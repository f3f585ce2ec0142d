#include "victims/generated.h"
#include "victims/victim.h"

#include <string.h>

typedef int (*spin_function)(void);

static int run_generated(spin_function spin)
{
    return HERE_GENERATED(spin()) + 1;
}

SCENARIO(generated_spin, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "A loop in generated code that announced nothing: no unwind data, no module, only "
             "a frame pointer.")
{
#if defined(_WIN64)
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xE5, 0xEB, 0xFE}; /* frame, jmp . */
#else
    static const unsigned char code[] = {0x55, 0x89, 0xE5, 0xEB, 0xFE};
#endif
    struct generated made = generated_make();
    memcpy(made.memory, code, sizeof code);
    capture_register_code("generated_spin", made.memory, sizeof code);
    victim_ready();
    return HERE(run_generated((spin_function)(void *)made.memory)) + 1;
}
