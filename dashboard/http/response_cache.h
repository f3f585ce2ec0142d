/* Documents already written, by request and version of the database.  A finished run never
 * changes, so most views are written once and then copied out. */
#ifndef HTTP_RESPONSE_CACHE_H
#define HTTP_RESPONSE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct cache;

enum { CACHE_SLOTS = 512 };
/* One document: the grid of 100,000 cases has 5 MB, the page of the reference suite 11. */
#define CACHE_ENTRY_BYTES ((size_t)16 << 20)
#define CACHE_TOTAL_BYTES ((size_t)32 << 20) /* all of them together */

/* NULL when out of memory. */
struct cache *cache_new(void);
void cache_free(struct cache *cache);

/* Copies the document of KEY at VERSION into KEEP; NULL when there is none. */
char *cache_get(struct cache *cache, const char *key, uint64_t version, struct arena *keep,
                size_t *bytes);

/* True: the caller makes the document of KEY at VERSION, and then calls cache_made() with the same
 * KEY, which is borrowed until then. False: another thread was making it, and has ended; unless it
 * failed, or the document is too large to be kept, it is there now. So a visitor who comes while a
 * large run is summed up waits for that, and does not sum it up a second time. */
bool cache_begin(struct cache *cache, const char *key, uint64_t version);
void cache_made(struct cache *cache, const char *key, uint64_t version);

/* Keeps a copy.  Drops the document of KEY that it had, or the least recently used one of a few,
 * and others in turn while all documents together are over CACHE_TOTAL_BYTES.  Documents over
 * CACHE_ENTRY_BYTES are not kept. */
void cache_put(struct cache *cache, const char *key, uint64_t version, const char *data,
               size_t bytes);

#endif
