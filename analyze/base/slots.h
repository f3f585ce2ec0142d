/* A hash table beside an array: which rows have a hash.
 *
 *     uint32_t at = hash;
 *     struct slot *slot;
 *     if (!slots_reserve(&list->slots, 64))
 *         return NULL;
 *     while ((slot = slots_next(&list->slots, hash, &at))->row != 0)
 *         if (is_equal(&list->rows[slot->row - 1], key))
 *             return &list->rows[slot->row - 1];
 *     list->rows[list->count++] = row;
 *     slots_take(&list->slots, slot, hash, list->count); */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct slot {
    uint32_t hash, row; /* row: its index plus 1; 0: free */
};

/* Empty when zeroed; free() its `at`. At most half full. */
struct slots {
    struct slot *at;
    uint32_t count, used;
};

/* Makes room for one more row. FIRST: the slots of a table that has none, a power of two. False:
 * out of memory; the table is unchanged. */
bool slots_reserve(struct slots *slots, uint32_t first);

/* The next slot, from *AT on, whose row has HASH; after the last of these, the free one where
 * another row with HASH belongs. *AT begins as HASH. The table has slots. */
static inline struct slot *slots_next(const struct slots *slots, uint32_t hash, uint32_t *at)
{
    struct slot *slot;
    do
        slot = &slots->at[(*at)++ & (slots->count - 1)];
    while (slot->row != 0 && slot->hash != hash);
    return slot;
}

/* Puts ROW, an index plus 1, into the free slot that slots_next() returned. */
static inline void slots_take(struct slots *slots, struct slot *slot, uint32_t hash, uint32_t row)
{
    *slot = (struct slot){hash, row};
    slots->used++;
}

/* Forgets all rows and keeps the memory. */
void slots_clear(struct slots *slots);

#endif
