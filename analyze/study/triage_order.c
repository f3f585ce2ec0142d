/* See triage_order.h. */
#include "study/triage_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"

/* A scenario in one build. */
struct name {
    const char *scenario, *variant;
    uint32_t met; /* as the how-manieth */
};

/* Of the item at PLACE. */
struct key {
    uint64_t number;
    uint64_t place;
};

/* Equal names are mostly one address. */
static int order_of(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int by_text(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    const int scenario = order_of(x->scenario, y->scenario);
    return scenario != 0 ? scenario : order_of(x->variant, y->variant);
}

static bool is_of(const struct name *name, const struct triage_item *item)
{
    const struct name other = {.scenario = item->scenario, .variant = item->variant};
    return by_text(name, &other) == 0;
}

/* Each name once, as it is met; the number of each key becomes the place of its item's name. False:
 * out of memory. */
static bool find_names(const struct triage_item *items, struct key *keys, uint32_t count,
                       struct name **names, uint32_t *name_count)
{
    struct slots slots = {0};
    uint32_t room = 0;
    bool whole = true;
    for (uint32_t i = 0; i < count && whole; i++) {
        const char *scenario = items[i].scenario, *variant = items[i].variant;
        const uint32_t hash = hash_fold(hash_text(hash_text(HASH_START, scenario), variant));
        uint32_t at = hash;
        struct slot *slot = NULL;
        whole = slots_reserve(&slots, 64) && ARRAY_ROOM(*names, room, (uint64_t)*name_count + 1) &&
                *names != NULL;
        while (whole && (slot = slots_next(&slots, hash, &at))->row != 0 &&
               !is_of(&(*names)[slot->row - 1], &items[i]))
            continue;
        if (whole && slot->row == 0) {
            (*names)[*name_count] = (struct name){scenario, variant, *name_count};
            slots_take(&slots, slot, hash, ++*name_count);
        }
        if (whole)
            keys[i] = (struct key){slot->row - 1, i};
    }
    free(slots.at);
    return whole;
}

/* The number of each key becomes the rank of its name, then the repeat. */
static bool rank(const struct triage_item *items, struct key *keys, uint32_t count)
{
    struct name *names = NULL;
    uint32_t *ranks = NULL, name_count = 0;
    if (find_names(items, keys, count, &names, &name_count) &&
        (ranks = malloc(((size_t)name_count + 1) * sizeof *ranks)) != NULL) {
        array_sort(names, name_count, sizeof *names, by_text);
        for (uint32_t i = 0; i < name_count; i++)
            ranks[names[i].met] = i;
        for (uint32_t i = 0; i < count; i++)
            keys[i].number = (uint64_t)ranks[keys[i].number] << 32 | items[i].repeat;
    }
    const bool whole = ranks != NULL;
    free(names);
    free(ranks);
    return whole;
}

/* Items move once, in the circles of those that take each other's places. */
static void arrange(struct triage_item *items, struct key *keys, uint32_t count)
{
    array_sort_numbers(keys, count, sizeof *keys);
    for (uint32_t i = 0; i < count; i++) {
        const struct triage_item first = items[i];
        uint64_t to = i;
        while (keys[to].place != i) {
            const uint64_t from = keys[to].place;
            items[to] = items[from];
            keys[to].place = to;
            to = from;
        }
        items[to] = first;
        keys[to].place = to;
    }
}

static enum status order(struct triage_item *items, uint32_t count, bool by_name,
                         struct fault *fault)
{
    struct key *keys = malloc(((size_t)count + 1) * sizeof *keys);
    bool whole = keys != NULL && (!by_name || rank(items, keys, count));
    for (uint32_t i = 0; whole && !by_name && i < count; i++)
        keys[i] = (struct key){(uint64_t)items[i].group << 1 | !items[i].is_new, i};
    if (whole)
        arrange(items, keys, count);
    free(keys);
    return whole ? ERR_NONE : fault_no_memory(fault, "queue of cases");
}

enum status triage_sort_by_name(struct triage_item *items, uint32_t count, struct fault *fault)
{
    return order(items, count, true, fault);
}

enum status triage_sort_by_urgency(struct triage_item *items, uint32_t count, struct fault *fault)
{
    return order(items, count, false, fault);
}
