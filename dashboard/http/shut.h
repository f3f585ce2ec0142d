/* Lists and ends connections from outside.  civetweb does not give its sockets away, so they are
 * found among the files of this process.  One implementation per system; Windows cannot list them.
 */
#ifndef HTTP_SHUT_H
#define HTTP_SHUT_H

#include <stdbool.h>
#include <stdint.h>

enum { SOCKET_FIRST = 3, SOCKET_END = 4096 }; /* the descriptors that are looked at */

struct socket_peer {
    uint8_t address[16]; /* IPv4: four bytes, then zeros */
    uint16_t port;
};

/* The client of an open connection to our PORT.  False: DESCRIPTOR is something else. */
bool socket_peer(int descriptor, uint16_t port, struct socket_peer *out);

/* True when PEER is the client at ADDRESS, a text as inet_ntop writes it, and CLIENT_PORT. */
bool socket_peer_is(const struct socket_peer *peer, const char *address, int client_port);

/* How long no byte came or went; 0 where the system does not say (TCP_INFO, see tcp(7)). */
uint64_t socket_silent_ns(int descriptor);

void socket_shut(int descriptor);

#endif
