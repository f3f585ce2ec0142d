/* Which transport an address names: see queue.h. */
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "stream/queue.h"

enum status queue_open(const char *address, struct queue **out, struct fault *fault)
{
    *out = NULL;
    if (strstr(address, "://") != NULL)
        (void)queue_open_nats(address, out, fault);
    else
        (void)queue_open_spool(address, out, fault);
    fault_set_path(fault, address);
    return fault->code;
}

enum status queue_open_patiently(const char *address, bool (*stopping)(void), struct queue **out,
                                 struct fault *fault)
{
    const uint64_t end_ns = clock_ns() + (uint64_t)QUEUE_OPEN_MS * 1000000U;
    while (queue_open(address, out, fault) == ERR_IO && !stopping() && clock_ns() < end_ns) {
        fault_clear(fault);
        thread_sleep_ms(QUEUE_RETRY_MS);
    }
    if (*out == NULL)
        (void)fault_set(fault, ERR_IO, FAULT_NO_OFFSET, "queue");
    return fault->code;
}
