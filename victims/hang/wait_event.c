#include "victims/victim.h"

static int wait_for(HANDLE event)
{
    return HERE_SYSTEM(WaitForSingleObject(event, INFINITE)) + 1;
}

SCENARIO(wait_event, .kind = KIND_HANG, .group = "A5",
         .sentence = "A wait for an event that no thread sets.")
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    victim_ready();
    return HERE(wait_for(event)) + 1;
}
