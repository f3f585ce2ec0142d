/* Lists and ends connections from outside.  civetweb does not give its sockets away, so they are
 * found among the files of this process.  One implementation per system; Windows cannot list them.
 */
#ifndef HTTP_SHUT_H
#define HTTP_SHUT_H

#include <stdbool.h>
#include <stdint.h>

enum { SOCKET_FIRST = 3, SOCKET_END = 4096 }; /* the descriptors that are looked at */

enum socket_state {
    SOCKET_NONE,
    SOCKET_OPEN,   /* or another kind of file */
    SOCKET_UNREAD, /* bytes have come that nothing has read: it waits for a thread */
};

struct socket_peer {
    uint8_t address[16]; /* IPv4: four bytes, then zeros */
    uint16_t port;
};

/* The other end of an open connection.  False: DESCRIPTOR is something else. */
bool socket_peer(int descriptor, struct socket_peer *out);

/* True when the connection came to our PORT. */
bool socket_is_to(int descriptor, uint16_t port);

/* True when PEER is the client at ADDRESS, a text as inet_ntop writes it, and CLIENT_PORT. */
bool socket_peer_is(const struct socket_peer *peer, const char *address, int client_port);

/* How long no byte came or went; 0 where the system does not say (TCP_INFO, see tcp(7)). */
uint64_t socket_silent_ns(int descriptor);

/* What all descriptors are, found in one call of the system: most do not exist. */
void socket_states(enum socket_state out[SOCKET_END]);

/* What one of them is now. */
enum socket_state socket_state(int descriptor);

void socket_shut(int descriptor);

#endif
