/* queue_open_nats() without libnats, which was absent when this program was built. */
#include "stream/queue.h"

enum status queue_open_nats(const char *url, struct queue **out, struct fault *fault)
{
    (void)url;
    *out = NULL;
    return fault_set_hint(
        fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "queue",
        "built without libnats; name a folder instead of nats://, or build with libnats-dev");
}
