/* A pool of read-only store handles. */
#include "dashboard/stores.h"

#include <stdlib.h>

#include "base/thread.h"

struct store_pool {
    const char *path;
    struct mutex *lock;
    struct signal *given;
    struct store *free[STORES_MAX];
    uint32_t free_count, lent_count;
    struct mutex *watch_lock;
    struct store *watcher; /* asked for the version, and for nothing else */
};

struct store_pool *store_pool_new(const char *path)
{
    struct store_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->path = path;
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
        study_close(pool->free[--pool->free_count]);
    study_close(pool->watcher);
    if (pool->watch_lock != NULL)
        mutex_free(pool->watch_lock);
    if (pool->given != NULL)
        signal_free(pool->given);
    if (pool->lock != NULL)
        mutex_free(pool->lock);
    free(pool);
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
        status = study_open(pool->path, STORE_READ, &store, fault);
    if (status != ERR_NONE)
        store_pool_give(pool, NULL);
    *out = store;
    return status;
}

void store_pool_give(struct store_pool *pool, struct store *store)
{
    mutex_lock(pool->lock);
    pool->lent_count--;
    if (store != NULL)
        pool->free[pool->free_count++] = store;
    signal_wake_all(pool->given);
    mutex_unlock(pool->lock);
}

uint64_t store_pool_version(struct store_pool *pool)
{
    struct fault fault = FAULT_INIT;
    mutex_lock(pool->watch_lock);
    if (pool->watcher == NULL)
        (void)study_open(pool->path, STORE_READ, &pool->watcher, &fault);
    const uint64_t version = pool->watcher != NULL ? study_version(pool->watcher) : 0;
    mutex_unlock(pool->watch_lock);
    return version;
}
