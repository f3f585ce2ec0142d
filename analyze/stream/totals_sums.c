/* See totals_sums.h. */
#include "stream/totals_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"

enum { SLOTS_FIRST = 1024 };

void totals_sums_init(struct totals_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    arena_init(&sums->keep, 0);
}

void totals_sums_free(struct totals_sums *sums)
{
    arena_free(&sums->keep);
    free(sums->rows);
    free(sums->slots.at);
}

void totals_sums_clear(struct totals_sums *sums)
{
    arena_reset(&sums->keep);
    sums->count = 0;
    slots_clear(&sums->slots);
}

static bool same(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

/* The row with the key of KEY; a new one has a copy of its text. NULL: out of memory. */
static struct totals_sum *find(struct totals_sums *sums, const struct totals_sum *key)
{
    const uint32_t hash = hash_fold(key->hash);
    uint32_t at = hash;
    struct slot *slot;
    if (!ARRAY_ROOM(sums->rows, sums->room, sums->count + UINT64_C(1)) ||
        !slots_reserve(&sums->slots, SLOTS_FIRST))
        return NULL;
    while ((slot = slots_next(&sums->slots, hash, &at))->row != 0) {
        struct totals_sum *row = &sums->rows[slot->row - 1];
        if (row->hash == key->hash && same(row->text, key->text) && same(row->hour, key->hour) &&
            same(row->version, key->version))
            return row;
    }
    struct totals_sum *row = &sums->rows[sums->count];
    *row = *key;
    row->text = arena_string(&sums->keep, key->text);
    if (row->text == NULL)
        return NULL;
    slots_take(&sums->slots, slot, hash, ++sums->count);
    return row;
}

/* A copy of TEXT; rows that follow each other mostly have the same one. */
static const char *copy_once(struct totals_sums *sums, const char *text, const char **last)
{
    if (*last == NULL || strcmp(*last, text) != 0)
        *last = arena_string(&sums->keep, text);
    return *last;
}

enum status totals_sums_add(struct totals_sums *sums, const struct partial *partial,
                            struct fault *fault)
{
    const char *seen = NULL;
    struct totals_sum key = {.hour = arena_string(&sums->keep, text_or_empty(partial->hour)),
                             .version = arena_string(&sums->keep, text_or_empty(partial->version))};
    bool whole = key.hour != NULL && key.version != NULL;
    const uint64_t start = whole ? hash_text(hash_text(HASH_START, key.hour), key.version) : 0;
    for (uint32_t i = 0; whole && i < partial->count; i++) {
        const struct signature_count *from = &partial->rows[i];
        key.text = from->text;
        key.hash = hash_text(start, from->text);
        struct totals_sum *row = find(sums, &key);
        const char *now = copy_once(sums, text_or_empty(from->first_seen), &seen);
        whole = row != NULL && now != NULL;
        if (!whole)
            break;
        if (row->first_seen == NULL || strcmp(now, row->first_seen) < 0) {
            row->first_seen = now;
            row->example = arena_string(&sums->keep, from->example);
            whole = row->example != NULL || from->example == NULL;
        }
        if (row->last_seen == NULL || strcmp(now, row->last_seen) > 0)
            row->last_seen = now;
        row->count += from->count;
        row->error += from->error;
    }
    return whole ? ERR_NONE : fault_no_memory(fault, "totals");
}
