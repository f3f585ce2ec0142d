#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

/* x86 finds its handlers by a chain of their own, whatever code stands between. */
SCENARIO(generated_unannounced, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
#if defined(_WIN64)
         .no_case = true,
         .not_on_wine = "Wine's dispatcher follows what lies on the stack, wherever that leads",
         .sentence = "Generated code on the stack that announced no unwind data: the system loses "
                     "its way to the handlers below, and the program ends unseen.")
#else
         .sentence = "Generated code on the stack that announced nothing but keeps a frame "
                     "pointer: the handlers are found all the same.")
#endif
{
    struct generated made = generated_make();
    capture_register_code("generated_call", made.memory, GENERATED_CODE_BYTES);
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
