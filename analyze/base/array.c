/* See array.h. */
#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 16 };

size_t array_next_room(size_t room, size_t wanted, size_t size)
{
    const size_t most = SIZE_MAX / (size != 0 ? size : 1);
    if (wanted > most)
        return 0;
    size_t next = room <= most / 2 ? room * 2 : most;
    if (next < ROOM_FIRST && ROOM_FIRST <= most)
        next = ROOM_FIRST;
    return next > wanted ? next : wanted;
}

void *array_grow(void *items, uint32_t *room, uint64_t wanted, size_t size)
{
    if (wanted > UINT32_MAX)
        return NULL;
    size_t next = array_next_room(*room, (size_t)wanted, size);
    if (next > UINT32_MAX)
        next = UINT32_MAX;
    void *grown = next != 0 ? realloc(items, next * size) : NULL;
    if (grown != NULL)
        *room = (uint32_t)next;
    return grown;
}

void *array_fit(void *items, uint32_t count, size_t size)
{
    if (count == 0) {
        free(items);
        return NULL;
    }
    void *less = realloc(items, count * size);
    return less != NULL ? less : items;
}

/* Merges the sorted runs [0, MIDDLE) and [MIDDLE, COUNT) of FROM into TO. Where the second one
 * follows the first, as in a list of few runs, they are copied together. */
static void merge(const char *from, size_t middle, size_t count, char *to, size_t size,
                  int (*compare)(const void *, const void *))
{
    size_t left = 0, right = middle;
    if (middle == count || compare(from + (middle - 1) * size, from + middle * size) <= 0) {
        memcpy(to, from, count * size);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const bool take_left =
            right == count ||
            (left < middle && compare(from + left * size, from + right * size) <= 0);
        memcpy(to + i * size, from + (take_left ? left++ : right++) * size, size);
    }
}

/* Most lists come from files that are sorted already. */
static bool is_sorted(const char *items, size_t count, size_t size,
                      int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < count; i++)
        if (compare(items + (i - 1) * size, items + i * size) > 0)
            return false;
    return true;
}

void array_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (is_sorted(items, count, size, compare))
        return;
    char *from = items, *to = count > 1 ? malloc(count * size) : NULL;
    if (to == NULL) {
        if (count > 1)
            qsort(items, count, size, compare);
        return;
    }
    char *const spare = to;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            const size_t left = count - at, run = left < 2 * width ? left : 2 * width;
            merge(from + at * size, run < width ? run : width, run, to + at * size, size, compare);
        }
        char *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * size);
    free(spare);
}

/* ---- by numbers: the lowest byte first, each pass keeping the order of the one before ------ */

enum { VALUES = 256, FEW = 48 };

static uint64_t key_of(const char *item)
{
    uint64_t key;
    memcpy(&key, item, sizeof key);
    return key;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = key_of(a), y = key_of(b);
    return (x > y) - (x < y);
}

/* One pass. */
static void pass(const char *from, size_t count, size_t size, unsigned shift, char *to)
{
    size_t place[VALUES] = {0}, next = 0;
    for (size_t i = 0; i < count; i++)
        place[key_of(from + i * size) >> shift & 0xff]++;
    for (size_t value = 0; value < VALUES; value++) {
        const size_t here = place[value];
        place[value] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++) {
        const char *item = from + i * size;
        const uint64_t key = key_of(item);
        char *put = to + place[key >> shift & 0xff]++ * size;
        memcpy(put, &key, sizeof key);
        if (size > sizeof key)
            memcpy(put + sizeof key, item + sizeof key, size - sizeof key);
    }
}

/* TO has as much room. */
static void sort_bytes(void *items, size_t count, size_t size, char *to)
{
    uint64_t differ = 0;
    char *from = items;
    for (size_t i = 0; i < count; i++)
        differ |= key_of(from + i * size) ^ key_of(from);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xff) == 0)
            continue; /* all have the same */
        pass(from, count, size, shift, to);
        char *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * size);
}

void array_sort_numbers(void *items, size_t count, size_t size)
{
    if (is_sorted(items, count, size, by_key))
        return;
    char *spare = count > FEW ? malloc(count * size) : NULL;
    if (spare != NULL)
        sort_bytes(items, count, size, spare);
    else
        array_sort(items, count, size, by_key);
    free(spare);
}

/* As numbers, doubles of one sign are in order: those below 0 the wrong way round. */
static void turn_doubles(char *items, size_t count, size_t size, bool back)
{
    const uint64_t sign = UINT64_C(1) << 63;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = key_of(items + i * size);
        const bool below = ((key & sign) == 0) == back;
        key ^= below ? UINT64_MAX : sign;
        memcpy(items + i * size, &key, sizeof key);
    }
}

void array_sort_doubles(void *items, size_t count, size_t size)
{
    turn_doubles(items, count, size, false);
    array_sort_numbers(items, count, size);
    turn_doubles(items, count, size, true);
}
