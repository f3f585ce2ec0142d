/* Ends idle connections from outside.  civetweb does not give its sockets away, so they are found
 * among the files of this process.  One implementation per system. */
#ifndef HTTP_SHUT_H
#define HTTP_SHUT_H

#include <stdbool.h>
#include <stdint.h>

/* True for a connection that must not end: a request of that client is being answered. */
typedef bool socket_busy_fn(void *context, const char *address, uint16_t port);

/* Ends the connection to our PORT that has had no traffic for longest, but none that is busy.
 * False: there is none, or this system cannot say. */
bool socket_shut_idlest(uint16_t port, socket_busy_fn *busy, void *context);

#endif
