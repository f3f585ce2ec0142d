#include "victims/victim.h"

SCENARIO(short_hang, .kind = KIND_CALM, .group = "calm", .hang_ms = 3000,
         .sentence = "Stands still for less than the limit and recovers: no case.")
{
    capture_heartbeat();
    Sleep(700);
    capture_heartbeat();
    return 0;
}
