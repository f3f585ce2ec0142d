#include "victims/victim.h"

static SRWLOCK lock = SRWLOCK_INIT;

static int take_twice(void)
{
    AcquireSRWLockExclusive(&lock);
    HERE_DO(AcquireSRWLockExclusive(&lock));
    return 1;
}

SCENARIO(srw_lock, .kind = KIND_HANG, .group = "A5",
         .sentence = "A slim lock taken twice by one thread: nothing in memory says who holds it.")
{
    victim_ready();
    return HERE(take_twice()) + 1;
}
