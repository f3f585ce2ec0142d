/* shut.h on Windows, where sockets are handles that cannot be listed: only time limits end idle
 * connections. */
#include "http/shut.h"

bool socket_peer(int descriptor, struct socket_peer *out)
{
    (void)descriptor;
    (void)out;
    return false;
}

bool socket_is_to(int descriptor, uint16_t port)
{
    (void)descriptor;
    (void)port;
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

void socket_states(enum socket_state out[SOCKET_END])
{
    for (int d = 0; d < SOCKET_END; d++)
        out[d] = SOCKET_NONE;
}

enum socket_state socket_state(int descriptor)
{
    (void)descriptor;
    return SOCKET_NONE;
}

void socket_shut(int descriptor)
{
    (void)descriptor;
}
