/* Counts open connections, knows the busy ones, and closes idle ones when there are too many.
 *
 * civetweb does not say which socket a new connection has.  So the sockets of the process are
 * listed when one must go: who was there at an earlier look has waited since then.  A look at 850
 * sockets takes about a millisecond, as much as a hundred requests, so several are closed at once
 * and a number must have come before the next look.  Three kinds of a new client's connection look
 * idle and are not: one that waits for a thread (its request cannot be read yet), one whose request
 * has just been read, and one that got the descriptor of a connection that ended since the look.
 */
#include "http/connections.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/thread.h"
#include "http/shut.h"

/* A socket as it was at the last look. */
struct seen {
    struct socket_peer peer;
    uint64_t since_ns;  /* when a look first saw it, or its last request was answered; 0: none */
    uint64_t silent_ns; /* how long it had been silent when a look first saw it */
    bool shut;          /* by us: it is still there until its thread has noticed */
};

/* A connection that could be closed. */
struct idle {
    int descriptor;
    struct socket_peer peer;
    uint64_t since_ns, silent_ns;
    uint32_t of_address; /* how many idle ones this address has */
};

struct connections {
    struct mutex *lock;
    uint32_t count, ending; /* open; of these about so many were shut and will go */
    uint32_t opened;        /* since the last look, which costs as much as a hundred requests */
    /* A lock of its own, which is held for microseconds: a request that has been read must not wait
     * for a look at all sockets, since until it is known as busy it may be taken for idle. */
    struct mutex *busy_lock;
    const struct mg_request_info *busy[CONNECTIONS_MAX]; /* borrowed; NULL: a free place */
    uint32_t busy_end;                                   /* above the last one that is not free */
    struct seen seen[SOCKET_END];
    int seen_end; /* above the last one that was seen; 0: there was no need to look yet */
    enum socket_state states[SOCKET_END]; /* at the last look */
    struct idle idle[SOCKET_END];         /* while some are closed */
};

struct connections *connections_new(void)
{
    struct connections *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->lock = mutex_new();
    c->busy_lock = mutex_new();
    if (c->lock != NULL && c->busy_lock != NULL)
        return c;
    connections_free(c);
    return NULL;
}

void connections_free(struct connections *c)
{
    if (c == NULL)
        return;
    mutex_free(c->lock);
    mutex_free(c->busy_lock);
    free(c);
}

static bool is_busy(const struct connections *c, const struct socket_peer *peer)
{
    bool found = false;

    mutex_lock(c->busy_lock);
    for (uint32_t i = 0; i < c->busy_end && !found; i++)
        found = c->busy[i] != NULL && c->busy[i]->remote_port == peer->port &&
                socket_peer_is(peer, c->busy[i]->remote_addr, c->busy[i]->remote_port);
    mutex_unlock(c->busy_lock);
    return found;
}

static bool is_same(const struct socket_peer *a, const struct socket_peer *b)
{
    return a->port == b->port && memcmp(a->address, b->address, sizeof a->address) == 0;
}

/* True when SEEN is, or is now, what D is: a client's connection to our PORT. */
static bool look_at(struct seen *seen, int d, uint16_t port, uint64_t now)
{
    struct socket_peer peer;
    if (!socket_peer(d, &peer))
        return false;
    if (seen->since_ns != 0 && is_same(&seen->peer, &peer))
        return true;
    if (!socket_is_to(d, port))
        return false;
    *seen = (struct seen){peer, now, socket_silent_ns(d), false};
    return true;
}

/* Lists the sockets anew; returns how many idle ones there are. ALIVE: how many we did not shut.
 * Those that wait for a thread are among them; connections that end are still in c->count when
 * their socket is gone. */
static uint32_t look(struct connections *c, uint16_t port, uint32_t *alive)
{
    const uint64_t now = clock_ns();
    uint32_t count = 0;

    c->ending = c->opened = 0;
    socket_states(c->states);
    for (int d = SOCKET_FIRST; d < SOCKET_END; d++) {
        struct seen *seen = &c->seen[d];
        if (c->states[d] == SOCKET_NONE || !look_at(seen, d, port, now)) {
            seen->since_ns = 0;
            continue;
        }
        c->seen_end = c->seen_end > d ? c->seen_end : d + 1;
        c->ending += seen->shut;
        *alive += !seen->shut;
        if (!seen->shut && c->states[d] == SOCKET_OPEN && !is_busy(c, &seen->peer))
            c->idle[count++] = (struct idle){d, seen->peer, seen->since_ns, seen->silent_ns, 0};
    }
    return count;
}

static int by_address(const void *left, const void *right)
{
    const struct idle *a = left, *b = right;
    return memcmp(a->peer.address, b->peer.address, sizeof a->peer.address);
}

/* What waits for a thread came last, however long it waited before that: a new client's request may
 * be there and cannot be read yet. */
static int by_turn(const void *left, const void *right)
{
    const struct idle *a = left, *b = right;
    if (a->of_address != b->of_address)
        return a->of_address > b->of_address ? -1 : 1;
    if (a->since_ns != b->since_ns)
        return a->since_ns < b->since_ns ? -1 : 1;
    return (a->silent_ns < b->silent_ns) - (a->silent_ns > b->silent_ns);
}

static void end_some(struct connections *c, uint16_t port)
{
    uint32_t alive = 0;
    const uint32_t count = look(c, port, &alive);

    qsort(c->idle, count, sizeof c->idle[0], by_address);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_address(&c->idle[i], &c->idle[next]) == 0;)
            next++;
        for (uint32_t k = i; k < next; k++)
            c->idle[k].of_address = next - i;
    }
    qsort(c->idle, count, sizeof c->idle[0], by_turn);
    for (uint32_t i = 0; i < count && alive > CONNECTIONS_KEPT - CONNECTIONS_ENDED; i++) {
        const int d = c->idle[i].descriptor;
        struct socket_peer peer;
        /* It ended since the look, and another may have its descriptor; or it is a new client's,
         * whose request cannot be read yet. */
        if (!socket_peer(d, &peer) || !is_same(&c->idle[i].peer, &peer) ||
            socket_state(d) != SOCKET_OPEN || is_busy(c, &peer))
            continue;
        socket_shut(d);
        c->seen[d].shut = true;
        c->ending++;
        alive--;
    }
}

void connections_open(struct connections *c, uint16_t port)
{
    mutex_lock(c->lock);
    c->count++;
    c->opened++;
    if (c->count > CONNECTIONS_KEPT + c->ending ||
        (c->count >= CONNECTIONS_MAX && c->opened >= CONNECTIONS_ENDED))
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
    mutex_lock(c->busy_lock);
    while (number < CONNECTIONS_MAX && c->busy[number] != NULL)
        number++;
    if (number < CONNECTIONS_MAX)
        c->busy[number] = request;
    if (number < CONNECTIONS_MAX && number >= c->busy_end)
        c->busy_end = number + 1;
    mutex_unlock(c->busy_lock);
    return number;
}

void connections_idle(struct connections *c, uint32_t number)
{
    if (number >= CONNECTIONS_MAX)
        return;
    mutex_lock(c->lock);
    const struct mg_request_info *request = c->busy[number];
    for (int d = SOCKET_FIRST; d < c->seen_end; d++)
        if (c->seen[d].since_ns != 0 && c->seen[d].peer.port == request->remote_port &&
            socket_peer_is(&c->seen[d].peer, request->remote_addr, request->remote_port))
            c->seen[d].since_ns = clock_ns();
    mutex_unlock(c->lock);
    mutex_lock(c->busy_lock);
    c->busy[number] = NULL;
    while (c->busy_end > 0 && c->busy[c->busy_end - 1] == NULL)
        c->busy_end--;
    mutex_unlock(c->busy_lock);
}
