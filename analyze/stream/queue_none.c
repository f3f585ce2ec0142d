/* queue_open_nats() without libnats: it was absent when this program was built, or this is the
 * static program, which loads no libraries (see whole.h). */
#include "stream/queue.h"

#ifdef TWINSTACK_WHOLE
#define WHY                                                                                        \
    TWINSTACK_WHOLE ", seen from this program, is missing or cannot be started: install it as "    \
                    "well, or name a folder"
#else
#define WHY "built without libnats; name a folder instead of nats://, or build with libnats-dev"
#endif

enum status queue_open_nats(const char *url, struct queue **out, struct fault *fault)
{
    (void)url;
    *out = NULL;
    return fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "queue", WHY);
}
