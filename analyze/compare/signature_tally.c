/* Counting signatures: see signature_tally.h. Open addressing, grown at two thirds; a binary heap
 * by count once the limit is reached. */
#include "compare/signature_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { SLOTS_FIRST = 256 };

struct signature_item {
    char *text;       /* owned, with example and first_seen in the same block */
    char *example;    /* NULL: none */
    char *first_seen; /* NULL: none */
    uint64_t count, error;
    uint64_t floors; /* of the joined tallies that had this signature */
    uint64_t hash;
    uint32_t place;  /* in the heap */
    uint32_t joined; /* the last tally that had it */
    uint32_t rank;   /* 0: not ranked */
};

void signature_tally_free(struct signature_tally *tally)
{
    for (uint32_t i = 0; i < tally->count; i++)
        free(tally->items[i].text);
    free(tally->items);
    free(tally->slots);
    free(tally->heap);
    *tally = (struct signature_tally){.limit = tally->limit};
}

static uint32_t home_of(const struct signature_tally *tally, uint64_t hash)
{
    return hash_fold(hash) & (tally->slot_count - 1);
}

/* The slot of TEXT, or the free slot where it belongs. */
static uint32_t slot_of(const struct signature_tally *tally, const char *text, uint64_t hash)
{
    uint32_t slot = home_of(tally, hash);
    for (; tally->slots[slot] != 0; slot = (slot + 1) & (tally->slot_count - 1)) {
        const struct signature_item *item = &tally->items[tally->slots[slot] - 1];
        if (item->hash == hash && strcmp(item->text, text) == 0)
            break;
    }
    return slot;
}

static bool grow(struct signature_tally *tally)
{
    const uint32_t slots = tally->slot_count == 0 ? SLOTS_FIRST : tally->slot_count * 2;
    if (slots == 0)
        return false;
    uint32_t *wider = calloc(slots, sizeof *wider);
    struct signature_item *items = NULL;
    if (wider != NULL)
        items = array_reserve(tally->items, &tally->room, (uint64_t)slots / 3 * 2, sizeof *items);
    if (items == NULL) {
        free(wider);
        return false;
    }
    tally->items = items;
    free(tally->slots);
    tally->slots = wider;
    tally->slot_count = slots;
    for (uint32_t i = 0; i < tally->count; i++) {
        uint32_t slot = home_of(tally, items[i].hash);
        while (wider[slot] != 0)
            slot = (slot + 1) & (slots - 1);
        wider[slot] = i + 1;
    }
    return true;
}

/* Frees the slot, and moves back what was put after it because it was taken. */
static void free_slot(struct signature_tally *tally, uint32_t hole)
{
    const uint32_t mask = tally->slot_count - 1;
    for (uint32_t at = (hole + 1) & mask; tally->slots[at] != 0; at = (at + 1) & mask) {
        const uint32_t home = home_of(tally, tally->items[tally->slots[at] - 1].hash);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            tally->slots[hole] = tally->slots[at];
            hole = at;
        }
    }
    tally->slots[hole] = 0;
}

/* ---- the heap ------------------------------------------------------------------------- */

static void put_in_heap(struct signature_tally *tally, uint32_t place, uint32_t item)
{
    tally->heap[place] = item;
    tally->items[item].place = place;
}

/* Moves the item at PLACE down to where its count belongs. Counts only rise. */
static void sink(struct signature_tally *tally, uint32_t place)
{
    const uint32_t item = tally->heap[place];
    const uint64_t count = tally->items[item].count;
    for (;;) {
        uint64_t child = (uint64_t)place * 2 + 1;
        if (child >= tally->count)
            break;
        if (child + 1 < tally->count &&
            tally->items[tally->heap[child + 1]].count < tally->items[tally->heap[child]].count)
            child++;
        if (tally->items[tally->heap[child]].count >= count)
            break;
        put_in_heap(tally, place, tally->heap[child]);
        place = (uint32_t)child;
    }
    put_in_heap(tally, place, item);
}

static bool make_heap(struct signature_tally *tally)
{
    tally->heap = calloc(tally->count, sizeof *tally->heap);
    if (tally->heap == NULL)
        return false;
    for (uint32_t i = 0; i < tally->count; i++)
        put_in_heap(tally, i, i);
    for (uint32_t i = tally->count / 2; i > 0; i--)
        sink(tally, i - 1);
    return true;
}

/* ---- adding --------------------------------------------------------------------------- */

static size_t bytes_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static char *put_text(char **at, const char *text)
{
    const size_t bytes = bytes_of(text);
    if (bytes == 0)
        return NULL;
    char *to = *at;
    memcpy(to, text, bytes);
    *at += bytes;
    return to;
}

/* Gives ITEM copies of the texts (TEXT: never NULL); those that it had are freed afterwards, since
 * a caller may pass them in again. */
static bool set_texts(struct signature_item *item, const char *text, const char *example,
                      const char *first_seen)
{
    char *const block = malloc(bytes_of(text) + bytes_of(example) + bytes_of(first_seen) + 1);
    char *const old = item->text;
    if (block == NULL)
        return false;
    char *at = block + bytes_of(text);
    memcpy(block, text, bytes_of(text));
    item->text = block; /* the block that is freed */
    item->example = put_text(&at, example);
    item->first_seen = put_text(&at, first_seen);
    free(old);
    return true;
}

/* Replaces the least frequent signature. */
static enum status replace_least(struct signature_tally *tally, const char *text, uint64_t hash,
                                 uint64_t count, const char *example, struct fault *fault)
{
    if (tally->heap == NULL && !make_heap(tally))
        return fault_no_memory(fault, "signatures");
    const uint32_t index = tally->heap[0];
    struct signature_item *item = &tally->items[index];
    free_slot(tally, slot_of(tally, item->text, item->hash));
    if (!set_texts(item, text, example, NULL))
        return fault_no_memory(fault, "signatures");
    item->hash = hash;
    item->error = item->count;
    if (item->count > tally->floor)
        tally->floor = item->count;
    item->count += count;
    tally->slots[slot_of(tally, text, hash)] = index + 1;
    sink(tally, 0);
    return ERR_NONE;
}

/* A new item without a count; NULL: out of memory. */
static struct signature_item *add_item(struct signature_tally *tally, const char *text,
                                       uint64_t hash, const char *example, const char *first_seen)
{
    if (tally->count == tally->room && !grow(tally))
        return NULL;
    struct signature_item *item = &tally->items[tally->count];
    memset(item, 0, sizeof *item);
    if (!set_texts(item, text, example, first_seen))
        return NULL;
    item->hash = hash;
    tally->slots[slot_of(tally, text, hash)] = ++tally->count;
    return item;
}

static struct signature_item *find(const struct signature_tally *tally, const char *text,
                                   uint64_t hash)
{
    if (tally->slot_count == 0)
        return NULL;
    const uint32_t slot = slot_of(tally, text, hash);
    return tally->slots[slot] != 0 ? &tally->items[tally->slots[slot] - 1] : NULL;
}

enum status signature_tally_add(struct signature_tally *tally, const char *text, uint64_t count,
                                const char *example, struct fault *fault)
{
    const uint64_t hash = hash_text(HASH_START, text);
    struct signature_item *item = find(tally, text, hash);
    tally->stacks += count;
    if (item == NULL && tally->limit != 0 && tally->count == tally->limit)
        return replace_least(tally, text, hash, count, example, fault);
    if (item == NULL)
        item = add_item(tally, text, hash, example, NULL);
    if (item == NULL)
        return fault_no_memory(fault, "signatures");
    item->count += count;
    if (tally->heap != NULL)
        sink(tally, item->place);
    return ERR_NONE;
}

/* ---- joining -------------------------------------------------------------------------- */

void signature_tally_join(struct signature_tally *tally, uint64_t stacks, uint64_t floor)
{
    tally->joined++;
    tally->stacks += stacks;
    tally->floor += floor;
    tally->last_floor = floor;
}

static int order_of(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

/* The floor of the joined tally is noted, so that signature_tally_rank() adds only the floors of
 * the tallies that lack the signature. */
enum status signature_tally_join_row(struct signature_tally *tally,
                                     const struct signature_count *row, struct fault *fault)
{
    const uint64_t hash = hash_text(HASH_START, row->text);
    struct signature_item *item = find(tally, row->text, hash);
    if (item == NULL)
        item = add_item(tally, row->text, hash, row->example, row->first_seen);
    if (item == NULL)
        return fault_no_memory(fault, "signatures");
    if (item->joined == tally->joined)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "signature that is there twice");
    const int order = order_of(row->first_seen, item->first_seen);
    if (order < 0 || (order == 0 && order_of(row->example, item->example) < 0))
        if (!set_texts(item, row->text, row->example, row->first_seen))
            return fault_no_memory(fault, "signatures");
    item->joined = tally->joined;
    item->count += row->count;
    item->error += row->error;
    item->floors += tally->last_floor;
    return ERR_NONE;
}

/* ---- ranking -------------------------------------------------------------------------- */

static int most_first(const void *x, const void *y)
{
    const struct signature_count *a = x, *b = y;
    const int order = (a->count < b->count) - (a->count > b->count);
    return order != 0 ? order : strcmp(a->text, b->text);
}

/* The index of the item is kept in `rank` while rows are sorted. */
enum status signature_tally_rank(struct signature_tally *tally, uint32_t most, struct arena *keep,
                                 struct signature_count **out, uint32_t *count, uint64_t *floor,
                                 struct fault *fault)
{
    struct signature_count *rows = ARENA_ARRAY(keep, tally->count + 1U, struct signature_count);
    *count = tally->count < most ? tally->count : most;
    *floor = tally->floor;
    *out = rows;
    if (rows == NULL)
        return fault_no_memory(fault, "signatures");
    for (uint32_t i = 0; i < tally->count; i++) {
        const struct signature_item *item = &tally->items[i];
        const uint64_t lacking = tally->joined > 0 ? tally->floor - item->floors : 0;
        rows[i] = (struct signature_count){.text = item->text,
                                           .example = item->example,
                                           .first_seen = item->first_seen,
                                           .count = item->count + lacking,
                                           .error = item->error + lacking,
                                           .rank = i};
    }
    array_sort(rows, tally->count, sizeof *rows, most_first);
    if (*count < tally->count && rows[*count].count > *floor)
        *floor = rows[*count].count;
    for (uint32_t i = 0; i < tally->count; i++) {
        tally->items[rows[i].rank].rank = i + 1;
        rows[i].rank = i + 1;
    }
    for (uint32_t i = 0; i < *count; i++) {
        rows[i].text = arena_string(keep, rows[i].text);
        rows[i].example = arena_string(keep, rows[i].example);
        rows[i].first_seen = arena_string(keep, rows[i].first_seen);
        if (rows[i].text == NULL)
            return fault_no_memory(fault, "signatures");
    }
    return ERR_NONE;
}

uint32_t signature_tally_rank_of(const struct signature_tally *tally, const char *text)
{
    const struct signature_item *item = find(tally, text, hash_text(HASH_START, text));
    return item != NULL ? item->rank : 0;
}
