#include "victims/crash/cpp.h"

static char *volatile kept;

static int ask(size_t bytes)
{
    HERE_DO(kept = new char[bytes]);
    return kept != NULL;
}

SCENARIO(new_failed, .kind = KIND_CRASH, .group = "A2", NOBODY_CATCHES,
         .sentence = "new of more than there is, and std::bad_alloc is not caught.")
{
    return HERE(ask((size_t)-1 / 2 - 65536)) + 1;
}
