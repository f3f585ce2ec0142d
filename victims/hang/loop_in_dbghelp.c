#include "victims/victim.h"

#include <dbghelp.h>

static DWORD64 there;
static SYMBOL_INFO symbol = {.SizeOfStruct = sizeof symbol};
static volatile int rounds;

/* On one line, wherever it is stopped. */
static int ask(void)
{
    /* clang-format off */
    HERE_BLOCK(while (victim_zero == 0) rounds += SymFromAddr(GetCurrentProcess(), (uintptr_t)ask, &there, &symbol) != 0;);
    /* clang-format on */
    return rounds;
}

SCENARIO(loop_in_dbghelp, .kind = KIND_HANG, .group = "A5",
         .sentence = "Asks dbghelp for names for ever, as a program that logs its own stacks does: "
                     "stopped inside the library that the capture needs.")
{
    victim_ready();
    return HERE(ask()) + 1;
}
