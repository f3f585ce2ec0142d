#include "base/text_pool.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_ROOM = 64 };

void text_pool_init(struct text_pool *pool, struct arena *keep)
{
    *pool = (struct text_pool){.keep = keep};
}

static bool is_text(const char *known, const char *text, size_t size)
{
    return known != NULL && strncmp(known, text, size) == 0 && known[size] == '\0';
}

static const char **slot_of(const char **slots, uint32_t room, const char *text, size_t size)
{
    uint32_t at = hash_fold(hash_bytes(HASH_START, text, size)) & (room - 1);
    while (slots[at] != NULL && !is_text(slots[at], text, size))
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

/* Rows that follow each other mostly repeat a text, which is found without its hash. */
static const char **recent_of(struct text_pool *pool, const char *text, size_t size)
{
    const size_t ends = size > 0 ? (size_t)(uint8_t)text[0] * 3 + (uint8_t)text[size - 1] : 0;
    return &pool->recent[(size + ends) % TEXT_POOL_RECENT];
}

const char *text_pool_add(struct text_pool *pool, const char *text, size_t size)
{
    const char **recent = recent_of(pool, text, size);
    if (is_text(*recent, text, size))
        return *recent;
    if (pool->count >= pool->room / 2 && !grow(pool))
        return NULL;
    const char **slot = slot_of(pool->slots, pool->room, text, size);
    if (*slot == NULL && (*slot = arena_text(pool->keep, text, size)) != NULL)
        pool->count++;
    *recent = *slot;
    return *slot;
}
