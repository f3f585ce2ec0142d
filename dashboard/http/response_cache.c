/* A set-associative cache: a key has WAYS slots, of which a new document takes the least recently
 * used one.  With a single slot, two documents that every page needs could push each other out. */
#include "http/response_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/thread.h"

enum { WAYS = 4, MAKING_MAX = 16 };

struct slot {
    char *key; /* owned, with the document after its NUL; NULL: empty */
    uint64_t version, used;
    size_t key_bytes, bytes;
};

/* A document that is being made; KEY NULL: none. */
struct making {
    const char *key; /* borrowed */
    uint64_t version;
};

struct cache {
    struct mutex *lock;
    struct signal *made;
    struct making making[MAKING_MAX];
    size_t total_bytes;
    uint64_t uses;
    uint32_t hand; /* the next slot to drop when there is too much */
    struct slot slots[CACHE_SLOTS];
};

struct cache *cache_new(void)
{
    struct cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->lock = mutex_new();
    cache->made = signal_new();
    if (cache->lock != NULL && cache->made != NULL)
        return cache;
    cache_free(cache);
    return NULL;
}

void cache_free(struct cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < CACHE_SLOTS; i++)
        free(cache->slots[i].key);
    signal_free(cache->made);
    mutex_free(cache->lock);
    free(cache);
}

/* The slot that has KEY, otherwise the one that may take it. */
static struct slot *slot_of(struct cache *cache, const char *key)
{
    struct slot *set = &cache->slots[hash_text(HASH_START, key) % (CACHE_SLOTS / WAYS) * WAYS];
    struct slot *oldest = set;
    for (struct slot *slot = set; slot < set + WAYS; slot++) {
        if (slot->key != NULL && strcmp(slot->key, key) == 0)
            return slot;
        if (slot->used < oldest->used)
            oldest = slot;
    }
    return oldest;
}

char *cache_get(struct cache *cache, const char *key, uint64_t version, struct arena *keep,
                size_t *bytes)
{
    char *out = NULL;
    mutex_lock(cache->lock);
    struct slot *slot = slot_of(cache, key);
    if (slot->key != NULL && slot->version == version && strcmp(slot->key, key) == 0) {
        slot->used = ++cache->uses;
        out = arena_text(keep, slot->key + slot->key_bytes, slot->bytes);
        *bytes = slot->bytes;
    }
    mutex_unlock(cache->lock);
    return out;
}

static struct making *find_making(struct cache *cache, const char *key, uint64_t version)
{
    for (struct making *m = cache->making; m < cache->making + MAKING_MAX; m++)
        if (m->key != NULL && m->version == version && strcmp(m->key, key) == 0)
            return m;
    return NULL;
}

bool cache_begin(struct cache *cache, const char *key, uint64_t version)
{
    bool is_made = false;
    mutex_lock(cache->lock);
    while (find_making(cache, key, version) != NULL) {
        is_made = true;
        signal_wait(cache->made, cache->lock);
    }
    for (size_t i = 0; !is_made && i < MAKING_MAX; i++) {
        if (cache->making[i].key != NULL)
            continue;
        cache->making[i] = (struct making){key, version};
        break; /* with no place left, it may be made twice */
    }
    mutex_unlock(cache->lock);
    return !is_made;
}

void cache_made(struct cache *cache, const char *key, uint64_t version)
{
    mutex_lock(cache->lock);
    struct making *m = find_making(cache, key, version);
    if (m != NULL && m->key == key)
        m->key = NULL;
    signal_wake_all(cache->made);
    mutex_unlock(cache->lock);
}

static void empty(struct cache *cache, struct slot *slot)
{
    cache->total_bytes -= slot->key_bytes + slot->bytes;
    free(slot->key);
    memset(slot, 0, sizeof *slot);
}

void cache_put(struct cache *cache, const char *key, uint64_t version, const char *data,
               size_t bytes)
{
    if (bytes > CACHE_ENTRY_BYTES)
        return;
    size_t key_bytes = strlen(key) + 1;
    char *copy = malloc(key_bytes + bytes);
    if (copy == NULL)
        return;
    memcpy(copy, key, key_bytes);
    memcpy(copy + key_bytes, data, bytes);
    mutex_lock(cache->lock);
    struct slot *slot = slot_of(cache, key);
    empty(cache, slot);
    while (cache->total_bytes + key_bytes + bytes > CACHE_TOTAL_BYTES)
        empty(cache, &cache->slots[cache->hand++ % CACHE_SLOTS]);
    *slot = (struct slot){.key = copy,
                          .version = version,
                          .used = ++cache->uses,
                          .key_bytes = key_bytes,
                          .bytes = bytes};
    cache->total_bytes += key_bytes + bytes;
    mutex_unlock(cache->lock);
}
