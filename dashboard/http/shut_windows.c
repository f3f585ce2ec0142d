/* shut.h on Windows, where sockets are handles that cannot be listed: only time limits end idle
 * connections. */
#include "http/shut.h"

bool socket_shut_idlest(uint16_t port, socket_busy_fn *busy, void *context)
{
    (void)port;
    (void)busy;
    (void)context;
    return false;
}
