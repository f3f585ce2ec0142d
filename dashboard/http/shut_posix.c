/* shut.h on POSIX systems.  Only Linux reports how long a connection has been silent (TCP_INFO, see
 * tcp(7)); on other systems only time limits end idle connections. */
#define _DEFAULT_SOURCE
#include "http/shut.h"

#ifdef __linux__
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

enum { DESCRIPTORS_MAX = 4096, FIRST_DESCRIPTOR = 3, ADDRESS_BYTES = 64 };

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static uint16_t port_of(const union address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

/* The milliseconds since the last byte in either direction; false: no connection to our PORT, or a
 * busy one. */
static bool silent_ms(int descriptor, uint16_t port, socket_busy_fn *busy, void *context,
                      uint32_t *ms)
{
    union address ours, peer;
    socklen_t ours_bytes = sizeof ours, peer_bytes = sizeof peer;
    char text[ADDRESS_BYTES] = "";
    struct tcp_info info;
    socklen_t info_bytes = sizeof info;
    if (getsockname(descriptor, &ours.any, &ours_bytes) != 0 ||
        getpeername(descriptor, &peer.any, &peer_bytes) != 0 ||
        (peer.any.sa_family != AF_INET && peer.any.sa_family != AF_INET6) || port_of(&ours) != port)
        return false;
    const void *raw = peer.any.sa_family == AF_INET6 ? (const void *)&peer.in6.sin6_addr
                                                     : (const void *)&peer.in.sin_addr;
    if (inet_ntop(peer.any.sa_family, raw, text, sizeof text) == NULL ||
        busy(context, text, port_of(&peer)) ||
        getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &info_bytes) != 0 ||
        (info.tcpi_state != TCP_ESTABLISHED && info.tcpi_state != TCP_CLOSE_WAIT))
        return false; /* another state: it is ending already */
    *ms = info.tcpi_last_data_recv < info.tcpi_last_data_sent ? info.tcpi_last_data_recv
                                                              : info.tcpi_last_data_sent;
    return true;
}

bool socket_shut_idlest(uint16_t port, socket_busy_fn *busy, void *context)
{
    int idlest = -1;
    uint32_t longest = 0;
    for (int descriptor = FIRST_DESCRIPTOR; descriptor < DESCRIPTORS_MAX; descriptor++) {
        uint32_t ms = 0;
        if (silent_ms(descriptor, port, busy, context, &ms) && (idlest < 0 || ms > longest)) {
            idlest = descriptor;
            longest = ms;
        }
    }
    return idlest >= 0 && shutdown(idlest, SHUT_RDWR) == 0;
}
#else
bool socket_shut_idlest(uint16_t port, socket_busy_fn *busy, void *context)
{
    (void)port;
    (void)busy;
    (void)context;
    return false;
}
#endif
