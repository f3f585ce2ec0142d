#include "victims/generated.h"
#include "victims/victim.h"

static int loop(volatile int *p)
{
    HERE_BLOCK(while (*p == 0) PAUSE(););
    return 1;
}

SCENARIO(generated_between, .kind = KIND_HANG, .group = "A5",
         .sentence =
             "Native code called by generated code that announced nothing but keeps a frame "
             "pointer: a walker crosses it by that, and says so.")
{
    struct generated made = generated_make();
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    victim_ready();
    return HERE_GENERATED(made.call(loop, &victim_zero)) + 1;
}
