/* A pool of read-only store handles. */
#include "pages/stores.h"

#include <stdlib.h>

#include "base/files.h"
#include "base/thread.h"
#include "pages/shown.h"

enum { LIVES_MS = 300 }; /* how often processes of runs are looked at */

struct store_pool {
    const char *path;
    bool wait;
    struct mutex *lock;
    struct signal *given;
    struct store *free[STORES_MAX];
    uint32_t free_count, lent_count;
    struct store *empty[STORES_MAX]; /* lent in place of a missing database; NULL: unused slot */
    struct mutex *watch_lock;
    struct store *watcher;      /* asked for the version and lives */
    uint64_t killed, looked_ns; /* store_killed_runs(), and when that was asked last */
};

struct store_pool *store_pool_new(const char *path, bool wait)
{
    struct store_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->path = path;
    pool->wait = wait;
    pool->lock = mutex_new();
    pool->given = signal_new();
    pool->watch_lock = mutex_new();
    if (pool->lock != NULL && pool->given != NULL && pool->watch_lock != NULL)
        return pool;
    store_pool_free(pool);
    return NULL;
}

void store_pool_free(struct store_pool *pool)
{
    if (pool == NULL)
        return;
    while (pool->free_count > 0)
        store_close(pool->free[--pool->free_count]);
    store_close(pool->watcher);
    mutex_free(pool->watch_lock);
    signal_free(pool->given);
    mutex_free(pool->lock);
    free(pool);
}

/* An empty database in memory, remembered so that it is closed when it is given back: the next
 * request must see the file if it exists by then. */
static enum status lend_empty(struct store_pool *pool, struct store **out, struct fault *fault)
{
    if (store_open(":memory:", STORE_WRITE, out, fault) != ERR_NONE)
        return fault->code;
    mutex_lock(pool->lock);
    for (uint32_t i = 0; i < STORES_MAX; i++) {
        if (pool->empty[i] == NULL) {
            pool->empty[i] = *out;
            break;
        }
    }
    mutex_unlock(pool->lock);
    return ERR_NONE;
}

/* OUT reads the texts that this program stored. */
static enum status open_file(const char *path, struct store **out, struct fault *fault)
{
    if (store_open(path, STORE_READ, out, fault) == ERR_NONE)
        store_set_program(*out, shown_program);
    return fault->code;
}

enum status store_pool_take(struct store_pool *pool, struct store **out, struct fault *fault)
{
    struct store *store = NULL;

    mutex_lock(pool->lock);
    while (pool->free_count == 0 && pool->lent_count == STORES_MAX)
        signal_wait(pool->given, pool->lock);
    if (pool->free_count > 0)
        store = pool->free[--pool->free_count];
    pool->lent_count++;
    mutex_unlock(pool->lock);

    enum status status = ERR_NONE;
    if (store == NULL)
        status = open_file(pool->path, &store, fault);
    if (status == ERR_ABSENT && pool->wait) {
        fault_clear(fault);
        status = lend_empty(pool, &store, fault);
    }
    if (status != ERR_NONE)
        store_pool_give(pool, NULL);
    *out = store;
    return status;
}

void store_pool_give(struct store_pool *pool, struct store *store)
{
    struct store *closing = NULL;
    mutex_lock(pool->lock);
    pool->lent_count--;
    for (uint32_t i = 0; i < STORES_MAX && store != NULL; i++) {
        if (pool->empty[i] == store) {
            pool->empty[i] = NULL;
            closing = store;
        }
    }
    if (store != NULL && closing == NULL)
        pool->free[pool->free_count++] = store;
    signal_wake_all(pool->given);
    mutex_unlock(pool->lock);
    store_close(closing);
}

uint64_t store_pool_version(struct store_pool *pool)
{
    struct fault fault = FAULT_INIT;
    mutex_lock(pool->watch_lock);
    if (pool->watcher == NULL)
        (void)store_open(pool->path, STORE_READ, &pool->watcher, &fault);
    uint64_t version = pool->watcher != NULL ? store_version(pool->watcher) : 0;
    const uint64_t now_ns = clock_ns();
    if (pool->watcher != NULL && now_ns - pool->looked_ns > (uint64_t)LIVES_MS * 1000000u) {
        pool->killed = store_killed_runs(pool->watcher);
        pool->looked_ns = now_ns;
    }
    version ^= pool->killed << 24; /* the version counts from both of its ends */
    mutex_unlock(pool->watch_lock);
    return version;
}
