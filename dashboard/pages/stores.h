/* A few read-only handles, each lent to one request at a time, so that 600 idle threads do not hold
 * 600 of them. */
#ifndef PAGES_STORES_H
#define PAGES_STORES_H

#include "study/runs.h"

struct store_pool;

enum { STORES_MAX = 12 };

/* Opens nothing yet.  NULL when out of memory.  PATH is borrowed.  WAIT: while PATH is missing or
 * empty, handles are of an empty database in memory. */
struct store_pool *store_pool_new(const char *path, bool wait);
void store_pool_free(struct store_pool *pool);

/* Waits until a handle is free.  Fails as store_open(). */
enum status store_pool_take(struct store_pool *pool, struct store **out, struct fault *fault);
void store_pool_give(struct store_pool *pool, struct store *store);

/* Changes whenever anything visible to readers changed: one number for all handles, since
 * SQLite counts differently in each connection.  0: the database cannot be read. */
uint64_t store_pool_version(struct store_pool *pool);

#endif
