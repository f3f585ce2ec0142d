#include "victims/victim.h"

SCENARIO(slow_but_alive, .kind = KIND_CALM, .group = "calm", .hang_ms = 3000,
         .sentence = "Works for long but beats in time: no case.")
{
    for (int i = 0; i < 20; i++) {
        capture_heartbeat();
        Sleep(60);
    }
    capture_heartbeat_pause();
    Sleep(3500);
    return 0;
}
