#include "victims/victim.h"

#include <float.h>

static volatile double zero, result;

static int divide(void)
{
    HERE_DO(result = 1.0 / zero);
    return (int)result;
}

#if defined(_WIN64)
#define DIVISION 0xC000008E
#else /* by SSE: a register has the kind of fault, but 32-bit programs have no code for it */
#define DIVISION 0xC00002B5
#endif

SCENARIO(float_exception, .kind = KIND_CRASH, .group = "A1", .code = DIVISION,
         .missing = victim_without_float_traps,
         .sentence = "A floating-point division by zero with the exception unmasked.")
{
    unsigned old;
    _controlfp_s(&old, 0, _MCW_EM); /* all unmasked */
    return HERE(divide()) + 1;
}
