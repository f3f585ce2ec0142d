/* Counting signatures: see signature_tally.h.  Open addressing over FNV-1a, grown at two thirds. */
#include "compare/signature_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { SLOTS_FIRST = 256 };

/* The slot of TEXT, or the free slot where it belongs. */
static uint32_t slot_of(const struct signature_tally *tally, const char *text)
{
    uint32_t slot = hash_fold(hash_text(HASH_START, text)) & (tally->slot_count - 1);
    while (tally->slots[slot] != 0 && strcmp(tally->items[tally->slots[slot] - 1].text, text) != 0)
        slot = (slot + 1) & (tally->slot_count - 1);
    return slot;
}

static bool grow(struct signature_tally *tally, struct arena *keep)
{
    const uint32_t slots = tally->slot_count == 0 ? SLOTS_FIRST : tally->slot_count * 2;
    const uint32_t room = slots / 3 * 2;
    struct signature_count *items = ARENA_ARRAY(keep, room, struct signature_count);
    tally->slots = ARENA_ARRAY(keep, slots, uint32_t);
    if (items == NULL || tally->slots == NULL)
        return false;
    if (tally->count > 0)
        memcpy(items, tally->items, tally->count * sizeof *items);
    tally->items = items;
    tally->room = room;
    tally->slot_count = slots;
    for (uint32_t i = 0; i < tally->count; i++)
        tally->slots[slot_of(tally, items[i].text)] = i + 1;
    return true;
}

enum status signature_tally_add(struct signature_tally *tally, const char *text,
                                const char *example, struct arena *keep, struct fault *fault)
{
    if (tally->count == tally->room && !grow(tally, keep))
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "signatures");
    tally->stacks++;
    const uint32_t slot = slot_of(tally, text);
    if (tally->slots[slot] != 0) {
        tally->items[tally->slots[slot] - 1].count++;
        return ERR_NONE;
    }
    struct signature_count *item = &tally->items[tally->count++];
    memset(item, 0, sizeof *item);
    item->text = arena_string(keep, text);
    item->example = arena_string(keep, example);
    item->count = 1;
    tally->slots[slot] = tally->count;
    return item->text != NULL && item->example != NULL
               ? ERR_NONE
               : fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "signatures");
}

static int most_first(const void *x, const void *y)
{
    const struct signature_count *a = x, *b = y;
    const int order = (a->count < b->count) - (a->count > b->count);
    return order != 0 ? order : strcmp(a->text, b->text);
}

void signature_tally_rank(struct signature_tally *tally)
{
    if (tally->count > 0)
        array_sort(tally->items, tally->count, sizeof *tally->items, most_first);
    tally->slots = NULL;
    for (uint32_t i = 0; i < tally->count; i++)
        tally->items[i].rank = i + 1;
}

struct signature_count *signature_tally_find(const struct signature_tally *tally, const char *text)
{
    for (uint32_t i = 0; i < tally->count; i++)
        if (strcmp(tally->items[i].text, text) == 0)
            return &tally->items[i];
    return NULL;
}
