#include "victims/generated.h"
#include "victims/victim.h"

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(generated_unannounced, .kind = KIND_CRASH, .group = "A3", .code = 0xC0000005,
         .no_case = true,
         .not_on_wine = "Wine's dispatcher follows what lies on the stack, wherever that leads",
         .sentence = "Generated code on the stack that announced no unwind data: the system loses "
                     "its way to the handlers below, and the program ends unseen.")
{
    struct generated made = generated_make();
    return HERE_GENERATED(made.call(poke, victim_null)) + 1;
}
