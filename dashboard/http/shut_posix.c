/* shut.h on POSIX systems. */
#define _DEFAULT_SOURCE
#include "http/shut.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* 0: no address of the internet. */
static uint16_t port_of(const union address *a)
{
    if (a->any.sa_family == AF_INET6)
        return ntohs(a->in6.sin6_port);
    return a->any.sa_family == AF_INET ? ntohs(a->in.sin_port) : 0;
}

bool socket_is_to(int descriptor, uint16_t port)
{
    union address ours;
    socklen_t bytes = sizeof ours;
    return getsockname(descriptor, &ours.any, &bytes) == 0 && port_of(&ours) == port;
}

bool socket_peer(int descriptor, struct socket_peer *out)
{
    union address peer;
    socklen_t bytes = sizeof peer;
    memset(out, 0, sizeof *out);
    if (getpeername(descriptor, &peer.any, &bytes) != 0 || port_of(&peer) == 0)
        return false;
    out->port = port_of(&peer);
    if (peer.any.sa_family == AF_INET6)
        memcpy(out->address, &peer.in6.sin6_addr, sizeof peer.in6.sin6_addr);
    else
        memcpy(out->address, &peer.in.sin_addr, sizeof peer.in.sin_addr);
    return true;
}

bool socket_peer_is(const struct socket_peer *peer, const char *address, int client_port)
{
    uint8_t raw[sizeof peer->address] = {0};
    return peer->port == client_port &&
           inet_pton(strchr(address, ':') != NULL ? AF_INET6 : AF_INET, address, raw) == 1 &&
           memcmp(raw, peer->address, sizeof raw) == 0;
}

#ifdef __linux__
uint64_t socket_silent_ns(int descriptor)
{
    enum { NS_PER_MS = 1000000 };
    struct tcp_info info;
    socklen_t bytes = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return 0;
    const uint32_t ms = info.tcpi_last_data_recv < info.tcpi_last_data_sent
                            ? info.tcpi_last_data_recv
                            : info.tcpi_last_data_sent;
    return (uint64_t)ms * NS_PER_MS;
}
#else
uint64_t socket_silent_ns(int descriptor)
{
    (void)descriptor;
    return 0;
}
#endif

static enum socket_state state_of(const struct pollfd *poll)
{
    if ((poll->revents & POLLNVAL) != 0)
        return SOCKET_NONE;
    return (poll->revents & POLLIN) != 0 ? SOCKET_UNREAD : SOCKET_OPEN;
}

void socket_states(enum socket_state out[SOCKET_END])
{
    struct pollfd all[SOCKET_END];
    struct rlimit files = {.rlim_cur = SOCKET_END};
    (void)getrlimit(RLIMIT_NOFILE, &files); /* poll() refuses more */
    const nfds_t count = files.rlim_cur < SOCKET_END ? (nfds_t)files.rlim_cur : SOCKET_END;

    for (int d = 0; d < SOCKET_END; d++)
        all[d] = (struct pollfd){.fd = d, .events = POLLIN, .revents = POLLNVAL};
    (void)poll(all, count, 0);
    for (int d = 0; d < SOCKET_END; d++)
        out[d] = state_of(&all[d]);
}

enum socket_state socket_state(int descriptor)
{
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    (void)poll(&one, 1, 0);
    return state_of(&one);
}

void socket_shut(int descriptor)
{
    (void)shutdown(descriptor, SHUT_RDWR);
}
