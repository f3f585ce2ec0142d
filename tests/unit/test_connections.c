/* Which connections the server ends when there are too many (http/connections.h), with real sockets
 * of this machine. Each address of 127.0.0.0/8 leads here. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.h"
#include "base/thread.h"
#include "http/connections.h"
#include "http/shut.h"
#include "test.h"

enum {
    PAIRS_MAX = CONNECTIONS_KEPT + 2 * CONNECTIONS_ENDED + 4,
    OLDER_MS = 30,
    HIGH = 2 * PAIRS_MAX + 64, /* above all others: a look sees descriptors from here last */
    FILES = HIGH + 4 * CONNECTIONS_ENDED
};

struct pair {
    int client, server;
    bool ended; /* the client has seen the end */
};

struct desk {
    int listener;
    uint16_t port;
    struct pair pairs[PAIRS_MAX];
    uint32_t count;
    struct connections *connections;
};

static struct sockaddr_in address_of(const char *text, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    REQUIRE(inet_pton(AF_INET, text, &a.sin_addr) == 1);
    return a;
}

static uint16_t port_of(int descriptor)
{
    struct sockaddr_in a;
    socklen_t bytes = sizeof a;
    REQUIRE(getsockname(descriptor, (struct sockaddr *)&a, &bytes) == 0);
    return ntohs(a.sin_port);
}

static void set_up(struct desk *d)
{
    struct sockaddr_in any = address_of("127.0.0.1", 0);
    struct rlimit files;
    memset(d, 0, sizeof *d);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
    if (files.rlim_cur < FILES) {
        files.rlim_cur = FILES;
        REQUIRE(setrlimit(RLIMIT_NOFILE, &files) == 0);
    }
    d->listener = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(d->listener >= 0 && bind(d->listener, (struct sockaddr *)&any, sizeof any) == 0 &&
            listen(d->listener, 16) == 0);
    d->port = port_of(d->listener);
    d->connections = connections_new();
    REQUIRE(d->connections != NULL);
}

static void tear_down(struct desk *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        (void)close(d->pairs[i].client);
        (void)close(d->pairs[i].server);
    }
    (void)close(d->listener);
    connections_free(d->connections);
}

/* The newest COUNT get high descriptors. So a look that is interrupted, on a busy machine, finds
 * them silent for longer, and never shorter, than those that come later. */
static void move_up(struct desk *d, uint32_t count)
{
    for (uint32_t i = d->count - count; i < d->count; i++) {
        const int low = d->pairs[i].server;
        d->pairs[i].server = fcntl(low, F_DUPFD, HIGH);
        REQUIRE(d->pairs[i].server >= HIGH);
        (void)close(low);
    }
}

/* A client's socket at HERE. Another address may have the listener's PORT, too: such a client's own
 * end would be taken for a connection of the server, which has no such ends. */
static int bound_to(const struct sockaddr_in *here, uint16_t port)
{
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(client >= 0 && bind(client, (const struct sockaddr *)here, sizeof *here) == 0);
    if (port_of(client) != port)
        return client;
    const int other = bound_to(here, port);
    (void)close(client);
    return other;
}

/* COUNT more connections of a client at FROM. */
static void come(struct desk *d, const char *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct sockaddr_in here = address_of(from, 0),
                                 there = address_of("127.0.0.1", d->port);
        struct pair *p = &d->pairs[d->count++];
        REQUIRE(d->count <= PAIRS_MAX);
        p->client = bound_to(&here, d->port);
        REQUIRE(connect(p->client, (const struct sockaddr *)&there, sizeof there) == 0);
        p->server = accept(d->listener, NULL, NULL);
        REQUIRE(p->server >= 0);
        connections_open(d->connections, d->port);
    }
}

/* How many of the pairs from FIRST to END have been ended, and not before. */
static uint32_t ended(struct desk *d, uint32_t first, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++) {
        char byte;
        if (d->pairs[i].ended || recv(d->pairs[i].client, &byte, 1, MSG_DONTWAIT) != 0)
            continue;
        d->pairs[i].ended = true;
        count++;
        connections_close(d->connections); /* as its thread does */
    }
    return count;
}

static struct mg_request_info request_on(const struct desk *d, uint32_t pair, const char *address)
{
    struct mg_request_info r = {.remote_port = port_of(d->pairs[pair].client)};
    (void)snprintf(r.remote_addr, sizeof r.remote_addr, "%s", address);
    return r;
}

/* The address that has most loses the ones that were silent for longest, down to CONNECTIONS_ENDED
 * less than are kept; not the one with a request, nor the one whose request waits for a thread. */
TEST(idle_connections_of_the_largest_client_end_first)
{
    enum { GONE = CONNECTIONS_ENDED + 1, OLD_A = GONE + 2, OLD_B = GONE + 1, OLD = OLD_A + OLD_B };
    struct desk d;
    set_up(&d);
    come(&d, "127.0.0.1", OLD_A);
    come(&d, "127.0.0.2", OLD_B);
    move_up(&d, OLD);
    const struct mg_request_info busy = request_on(&d, 0, "127.0.0.1");
    const uint32_t number = connections_busy(d.connections, &busy);
    CHECK_EQ(number, 0);
    REQUIRE(send(d.pairs[1].client, "G", 1, 0) == 1);
    thread_sleep_ms(OLDER_MS);
    come(&d, "127.0.0.1", 300 - OLD_A);
    come(&d, "127.0.0.2", CONNECTIONS_KEPT - 300 - OLD_B);
    CHECK_EQ(ended(&d, 0, d.count), 0);
    come(&d, "127.0.0.2", 1);
    CHECK_EQ(ended(&d, 0, 2), 0);
    CHECK_EQ(ended(&d, 2, OLD_A), GONE);
    CHECK_EQ(ended(&d, OLD_A, d.count), 0);

    /* Now 127.0.0.2 has most. Its first one has just been answered, so another one is the oldest.
     */
    const struct mg_request_info answered = request_on(&d, OLD_A, "127.0.0.2");
    const uint32_t second = connections_busy(d.connections, &answered);
    CHECK_EQ(second, 1);
    connections_idle(d.connections, second);
    connections_idle(d.connections, number);
    come(&d, "127.0.0.2", CONNECTIONS_ENDED);
    CHECK_EQ(ended(&d, 0, d.count), 0);
    come(&d, "127.0.0.2", 1);
    CHECK_EQ(ended(&d, 0, OLD_A + 1), 0);
    CHECK_EQ(ended(&d, OLD_A + 1, OLD), GONE);
    CHECK_EQ(ended(&d, OLD, d.count), 0);
    tear_down(&d);
}

TEST(requests_have_numbers_of_their_own)
{
    struct desk d;
    set_up(&d);
    come(&d, "127.0.0.1", 1);
    struct mg_request_info r = request_on(&d, 0, "127.0.0.1");
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        CHECK_EQ(connections_busy(d.connections, &r), i);
    CHECK_EQ(connections_busy(d.connections, &r), CONNECTIONS_MAX);
    connections_idle(d.connections, CONNECTIONS_MAX); /* it has none */
    connections_idle(d.connections, 7);
    connections_idle(d.connections, CONNECTIONS_MAX - 1);
    CHECK_EQ(connections_busy(d.connections, &r), 7);
    CHECK_EQ(connections_busy(d.connections, &r), CONNECTIONS_MAX - 1);
    tear_down(&d);
}

TEST(a_socket_says_which_ends_it_has)
{
    static const uint8_t want[16] = {127, 0, 0, 9};
    static enum socket_state states[SOCKET_END];
    struct socket_peer peer;
    struct desk d;
    int ends[2];
    set_up(&d);
    come(&d, "127.0.0.9", 1);
    const int server = d.pairs[0].server, client = d.pairs[0].client;
    const uint16_t port = port_of(client);
    REQUIRE(pipe(ends) == 0 && socket_peer(server, &peer));
    CHECK_MEM(peer.address, want, sizeof want);
    CHECK_EQ(peer.port, port);
    const struct {
        const char *name, *address;
        int port;
        bool is;
    } rows[] = {
        {"itself", "127.0.0.9", port, true},
        {"another port", "127.0.0.9", port + 1, false},
        {"another address", "127.0.0.8", port, false},
        {"as IPv6 writes IPv4", "::ffff:127.0.0.9", port, false},
        {"no address", "localhost", port, false},
        {"nothing", "", port, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(socket_peer_is(&peer, rows[i].address, rows[i].port), rows[i].is);
    }
    CHECK(socket_is_to(server, d.port) && !socket_is_to(client, d.port) &&
          socket_is_to(client, port) && !socket_is_to(ends[0], 0) && !socket_is_to(-1, 0));
    CHECK(!socket_peer(ends[0], &peer) && !socket_peer(d.listener, &peer) && peer.port == 0);
    thread_sleep_ms(OLDER_MS);
    CHECK(socket_silent_ns(server) >= (OLDER_MS - 5) * UINT64_C(1000000));
    CHECK_EQ(socket_silent_ns(ends[0]), 0);
    CHECK_EQ(socket_state(server), SOCKET_OPEN);
    const uint64_t before_ns = clock_ns();
    REQUIRE(send(client, "G", 1, 0) == 1 && write(ends[1], "x", 1) == 1);
    const uint64_t silent_ns = socket_silent_ns(server);
    CHECK(silent_ns <= clock_ns() - before_ns + 5 * UINT64_C(1000000));
    const int gone = dup(server);
    (void)close(gone);
    CHECK_EQ(socket_state(server), SOCKET_UNREAD);
    CHECK_EQ(socket_state(gone), SOCKET_NONE);
    socket_states(states);
    CHECK(states[server] == SOCKET_UNREAD && states[client] == SOCKET_OPEN &&
          states[ends[0]] == SOCKET_UNREAD && states[ends[1]] == SOCKET_OPEN &&
          states[gone] == SOCKET_NONE && states[SOCKET_END - 1] == SOCKET_NONE);
    socket_shut(server);
    char byte;
    CHECK_EQ(recv(client, &byte, 1, 0), 0);
    CHECK_EQ(send(client, "x", 1, MSG_NOSIGNAL), 1); /* ours is open, theirs is not: it is reset */
    tear_down(&d);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* RFC 4291, 2.5.3: ::1, of sixteen bytes. */
TEST(a_client_by_ipv6_has_all_sixteen_bytes)
{
    static const uint8_t want[16] = {[15] = 1};
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t bytes = sizeof here;
    struct socket_peer peer;
    const int listener = socket(AF_INET6, SOCK_STREAM, 0),
              client = socket(AF_INET6, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&here, sizeof here) != 0)
        SKIP("this machine has no IPv6");
    REQUIRE(listen(listener, 1) == 0 &&
            getsockname(listener, (struct sockaddr *)&here, &bytes) == 0 &&
            connect(client, (struct sockaddr *)&here, bytes) == 0);
    const int server = accept(listener, NULL, NULL);
    REQUIRE(socket_peer(server, &peer) && socket_is_to(server, ntohs(here.sin6_port)));
    CHECK_MEM(peer.address, want, sizeof want);
    CHECK(socket_peer_is(&peer, "::1", peer.port) && !socket_peer_is(&peer, "::2", peer.port));
    (void)close(server);
    (void)close(client);
    (void)close(listener);
}
