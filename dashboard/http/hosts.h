/* Which Host, Origin and listening addresses are ours.  Listening only on loopback is not
 * enough: a foreign page can point its own host name at 127.0.0.1 and read the answers, unless
 * other names are refused. */
#ifndef HTTP_HOSTS_H
#define HTTP_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

/* Splits "127.0.0.1:8080" or "[::1]:0".  HOST keeps its brackets.  False when there is no
 * port or it is over 65535. */
bool host_split(const char *text, char *host, unsigned host_bytes, uint16_t *port);

/* True for 127.0.0.0/8 in dotted form, "localhost" and "[::1]". */
bool host_is_loopback(const char *host);

/* True when a Host line names us: a loopback name with our port (which may be left out only when it
 * is 80), or one of NAMES with any port, since a proxy has a port of its own.  NULL and "" do not.
 */
bool host_is_ours(const char *header, uint16_t port, const char *const *names, uint32_t count);

/* True when an Origin line is absent (not a browser), or is "http://" + HOST_HEADER; for other than
 * loopback names also "https://" + HOST_HEADER. */
bool origin_is_ours(const char *origin, const char *host_header);

#endif
