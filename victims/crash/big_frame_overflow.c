#include "victims/victim.h"

enum { ROOM_BYTES = 16 << 20 };

/* The probe of its prologue runs off the stack: the function has no line of its own yet. */
enum { LINE_OF_ROOMY = __LINE__ + 2 };
static NOINLINE int roomy(void)
{
    volatile char room[ROOM_BYTES];
    room[0] = 1;
    room[ROOM_BYTES - 1] = 2;
    return room[victim_zero];
}

SCENARIO(big_frame_overflow, .kind = KIND_CRASH, .group = "A3", .code = 0xC00000FD,
         .hooks = RECORD_HOOK_VECTORED,
         .sentence = "One frame larger than the whole stack: the probe in its prologue overflows, "
                     "before the frame is set up.")
{
    return HERE_LEAF(roomy, LINE_OF_ROOMY, roomy()) + 1;
}
