#include "victims/victim.h"

enum { LATE_MS = 3600 }; /* a walker has 3 s */

/* As a walker on a machine that is too busy: its thread comes back after the limit. */
static int32_t come_late(uint32_t thread_id, const void *seed, uint32_t seed_bytes,
                         capture_frame_fn *add, void *data)
{
    (void)thread_id, (void)seed, (void)seed_bytes, (void)add, (void)data;
    Sleep(LATE_MS);
    return -1;
}

static int poke(volatile int *p)
{
    return HERE(*p = 1) + 1;
}

SCENARIO(walker_late, .kind = KIND_CRASH, .group = "A4", .code = 0xC0000005, .limit_ms = 60000,
         .sentence = "A crash whose second walker answers after its limit: its thread is late, not "
                     "stuck, so the dump is written when it is back.")
{
    capture_use_snapshots(come_late);
    return HERE(poke(victim_null)) + 1;
}
