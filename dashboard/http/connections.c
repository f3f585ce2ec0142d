/* Counts open connections and knows the busy ones. */
#include "http/connections.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "http/shut.h"

struct connections {
    struct mutex *lock;
    uint32_t count;
    const struct mg_request_info *busy[CONNECTIONS_MAX]; /* borrowed; NULL: a free place */
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

static bool is_busy(void *context, const char *address, uint16_t port)
{
    const struct connections *c = context;
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        if (c->busy[i] != NULL && c->busy[i]->remote_port == port &&
            strcmp(c->busy[i]->remote_addr, address) == 0)
            return true;
    return false;
}

void connections_open(struct connections *c, uint16_t port)
{
    mutex_lock(c->lock);
    if (++c->count > CONNECTIONS_KEPT)
        (void)socket_shut_idlest(port, is_busy, c);
    mutex_unlock(c->lock);
}

void connections_close(struct connections *c)
{
    mutex_lock(c->lock);
    c->count--;
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
    if (number < CONNECTIONS_MAX)
        c->busy[number] = NULL;
    mutex_unlock(c->lock);
}
