/* shut.h on Windows, where sockets are handles that cannot be listed: only time limits end idle
 * connections. */
#include "http/shut.h"

bool socket_peer(int descriptor, uint16_t port, struct socket_peer *out)
{
    (void)descriptor;
    (void)port;
    (void)out;
    return false;
}

bool socket_peer_is(const struct socket_peer *peer, const char *address, int client_port)
{
    (void)peer;
    (void)address;
    (void)client_port;
    return false;
}

uint64_t socket_silent_ns(int descriptor)
{
    (void)descriptor;
    return 0;
}

void socket_shut(int descriptor)
{
    (void)descriptor;
}
