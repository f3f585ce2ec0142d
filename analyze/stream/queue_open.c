/* Which transport an address names: see queue.h. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/thread.h"
#include "stream/queue.h"

/* The address without the user and the password, for messages. */
static const char *shown(const char *address, char out[FAULT_PATH_BYTES])
{
    const char *start = strstr(address, "://"), *at = strrchr(address, '@');
    if (start == NULL || at == NULL || at < start)
        return address;
    (void)snprintf(out, FAULT_PATH_BYTES, "%.*s%s", (int)(start + 3 - address), address, at + 1);
    return out;
}

enum status queue_open(const char *address, struct queue **out, struct fault *fault)
{
    char text[FAULT_PATH_BYTES];
    *out = NULL;
    if (strstr(address, "://") != NULL)
        (void)queue_open_nats(address, out, fault);
    else
        (void)queue_open_spool(address, out, fault);
    fault_set_path(fault, shown(address, text));
    return fault->code;
}

enum status queue_open_patiently(const char *address, bool (*stopping)(void), struct queue **out,
                                 struct fault *fault)
{
    char text[FAULT_PATH_BYTES];
    const uint64_t end_ns = clock_ns() + (uint64_t)QUEUE_OPEN_MS * 1000000U;
    while (queue_open(address, out, fault) == ERR_IO && !stopping() && clock_ns() < end_ns) {
        fault_clear(fault);
        thread_sleep_ms(QUEUE_RETRY_MS);
    }
    if (*out != NULL && (*out)->doubt != NULL)
        log_warn("queue %s: %s", shown(address, text), (*out)->doubt);
    return fault->code;
}
