#include "base/text_pool.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_ROOM = 64 };

void text_pool_init(struct text_pool *pool, struct arena *keep)
{
    *pool = (struct text_pool){.keep = keep};
}

static const char **slot_of(const char **slots, uint32_t room, const char *text, size_t size)
{
    uint32_t at = hash_fold(hash_bytes(HASH_START, text, size)) & (room - 1);
    while (slots[at] != NULL && (strncmp(slots[at], text, size) != 0 || slots[at][size] != '\0'))
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static bool grow(struct text_pool *pool)
{
    const uint32_t room = pool->room == 0 ? FIRST_ROOM : pool->room * 2;
    const char **slots = room > pool->room ? ARENA_ARRAY(pool->keep, room, const char *) : NULL;
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < pool->room; i++)
        if (pool->slots[i] != NULL)
            *slot_of(slots, room, pool->slots[i], strlen(pool->slots[i])) = pool->slots[i];
    pool->slots = slots;
    pool->room = room;
    return true;
}

const char *text_pool_add(struct text_pool *pool, const char *text, size_t size)
{
    if (pool->count >= pool->room / 2 && !grow(pool))
        return NULL;
    const char **slot = slot_of(pool->slots, pool->room, text, size);
    if (*slot == NULL && (*slot = arena_text(pool->keep, text, size)) != NULL)
        pool->count++;
    return *slot;
}
