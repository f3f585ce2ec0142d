/* Counts open connections, knows the busy ones, and closes idle ones when there are too many.
 *
 * civetweb does not say which socket a new connection has.  So the sockets of the process are
 * listed when one must go: who was there at an earlier look has waited since then.  600 sockets are
 * listed and sorted in about half a millisecond, which is why several are closed at once. */
#include "http/connections.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "http/shut.h"

/* A socket as it was at the last look. */
struct seen {
    struct socket_peer peer;
    uint64_t since_ns; /* its last byte when it was first seen, or its last request was answered;
                          0: no connection */
    bool shut;         /* by us: it is still there until its thread has noticed */
};

/* A connection that could be closed. */
struct idle {
    int descriptor;
    struct socket_peer peer;
    uint64_t since_ns;
    uint32_t of_address; /* how many idle ones this address has */
};

struct connections {
    struct mutex *lock;
    uint32_t count, ending; /* open; of these about so many were shut and will go */
    const struct mg_request_info *busy[CONNECTIONS_MAX]; /* borrowed; NULL: a free place */
    struct seen seen[SOCKET_END];
    int seen_end; /* above the last one that was seen; 0: there was no need to look yet */
    struct idle idle[SOCKET_END]; /* while some are closed */
};

struct connections *connections_new(void)
{
    struct connections *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->lock = mutex_new();
    if (c->lock != NULL)
        return c;
    free(c);
    return NULL;
}

void connections_free(struct connections *c)
{
    if (c == NULL)
        return;
    mutex_free(c->lock);
    free(c);
}

static bool is_busy(const struct connections *c, const struct socket_peer *peer)
{
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        if (c->busy[i] != NULL && c->busy[i]->remote_port == peer->port &&
            socket_peer_is(peer, c->busy[i]->remote_addr, c->busy[i]->remote_port))
            return true;
    return false;
}

static bool is_same(const struct socket_peer *a, const struct socket_peer *b)
{
    return a->port == b->port && memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* Lists the sockets anew; returns how many idle ones there are. */
static uint32_t look(struct connections *c, uint16_t port)
{
    const uint64_t now = clock_ns();
    uint32_t count = 0;

    c->ending = 0;
    for (int d = SOCKET_FIRST; d < SOCKET_END; d++) {
        struct seen *seen = &c->seen[d];
        struct socket_peer peer;
        if (!socket_peer(d, port, &peer)) {
            seen->since_ns = 0;
            continue;
        }
        if (seen->since_ns == 0 || !is_same(&seen->peer, &peer))
            *seen = (struct seen){.peer = peer, .since_ns = now - socket_silent_ns(d)};
        c->seen_end = c->seen_end > d ? c->seen_end : d + 1;
        c->ending += seen->shut;
        if (!seen->shut && !is_busy(c, &peer))
            c->idle[count++] =
                (struct idle){.descriptor = d, .peer = peer, .since_ns = seen->since_ns};
    }
    return count;
}

static int by_address(const void *left, const void *right)
{
    const struct idle *a = left, *b = right;
    return memcmp(a->peer.address, b->peer.address, sizeof a->peer.address);
}

static int by_turn(const void *left, const void *right)
{
    const struct idle *a = left, *b = right;
    if (a->of_address != b->of_address)
        return a->of_address > b->of_address ? -1 : 1;
    return (a->since_ns > b->since_ns) - (a->since_ns < b->since_ns);
}

static void end_some(struct connections *c, uint16_t port)
{
    const uint32_t count = look(c, port);
    /* Where most were shut before, half of the few that are left may stay: a new client is last. */
    const uint32_t most = count / 2 < CONNECTIONS_ENDED ? count / 2 : CONNECTIONS_ENDED;

    qsort(c->idle, count, sizeof c->idle[0], by_address);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_address(&c->idle[i], &c->idle[next]) == 0;)
            next++;
        for (uint32_t k = i; k < next; k++)
            c->idle[k].of_address = next - i;
    }
    qsort(c->idle, count, sizeof c->idle[0], by_turn);
    for (uint32_t i = 0; i < most; i++) {
        socket_shut(c->idle[i].descriptor);
        c->seen[c->idle[i].descriptor].shut = true;
        c->ending++;
    }
}

void connections_open(struct connections *c, uint16_t port)
{
    mutex_lock(c->lock);
    /* What was shut may still wait for a thread, and then all threads could have idle ones. */
    if (++c->count > CONNECTIONS_KEPT + c->ending || c->count >= CONNECTIONS_MAX)
        end_some(c, port);
    mutex_unlock(c->lock);
}

void connections_close(struct connections *c)
{
    mutex_lock(c->lock);
    c->count--;
    c->ending -= c->ending > 0;
    mutex_unlock(c->lock);
}

uint32_t connections_busy(struct connections *c, const struct mg_request_info *request)
{
    uint32_t number = 0;
    mutex_lock(c->lock);
    while (number < CONNECTIONS_MAX && c->busy[number] != NULL)
        number++;
    if (number < CONNECTIONS_MAX)
        c->busy[number] = request;
    mutex_unlock(c->lock);
    return number;
}

void connections_idle(struct connections *c, uint32_t number)
{
    mutex_lock(c->lock);
    if (number < CONNECTIONS_MAX) {
        const struct mg_request_info *request = c->busy[number];
        c->busy[number] = NULL;
        for (int d = SOCKET_FIRST; d < c->seen_end; d++)
            if (c->seen[d].since_ns != 0 && c->seen[d].peer.port == request->remote_port &&
                socket_peer_is(&c->seen[d].peer, request->remote_addr, request->remote_port))
                c->seen[d].since_ns = clock_ns();
    }
    mutex_unlock(c->lock);
}
