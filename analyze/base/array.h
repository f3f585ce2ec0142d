/* Arrays: counting their elements, growing, sorting and searching them.
 *
 * A growing array is three fields of its owner: `items`, `count` and `room`, the number of elements
 * that fit before it has to grow. Adding one element is
 *
 *     struct row *rows = array_reserve(list->rows, &list->room, list->count + 1, sizeof *rows);
 *     if (rows == NULL)
 *         return ERR_MEMORY;
 *     list->rows = rows;
 *     list->rows[list->count++] = row;
 *
 * For an array in an arena, call arena_reserve() of base/arena.h instead. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number of elements of an array (not of a pointer). */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The new room of an array that has room for ROOM elements and needs WANTED, each of SIZE bytes: at
 * least WANTED, and at least twice ROOM so that appending takes linear time. Returns 0 when WANTED
 * elements would need more bytes than a size_t can hold. */
size_t array_next_room(size_t room, size_t wanted, size_t size);

/* For array_reserve() alone: the case in which ITEMS has to grow. */
void *array_grow(void *items, uint32_t *room, uint64_t wanted, size_t size);

/* Makes sure that WANTED elements of SIZE bytes fit into ITEMS, which malloc() returned and which
 * has room for *ROOM elements (NULL and 0: none yet). Returns the array, which may have moved; new
 * elements are not initialized. Returns NULL when out of memory or above 2^32 - 1 elements; ITEMS
 * and *ROOM are then unchanged. */
static inline void *array_reserve(void *items, uint32_t *room, uint64_t wanted, size_t size)
{
    return wanted <= *room && items != NULL ? items : array_grow(items, room, wanted, size);
}

/* True when WANTED elements fit into ITEMS, as above, which has room for ROOM; false: out of
 * memory, and nothing has changed. All are read more than once, WANTED also after ROOM has grown.
 */
#define ARRAY_ROOM(items, room, wanted)                                                            \
    ((items) = array_reserve_or_keep((items), &(room), (wanted), sizeof *(items)),                 \
     (room) >= (wanted))

/* For ARRAY_ROOM() alone. */
static inline void *array_reserve_or_keep(void *items, uint32_t *room, uint64_t wanted, size_t size)
{
    void *wider = array_reserve(items, room, wanted, size);
    return wider != NULL ? wider : items;
}

/* ITEMS, which malloc() returned, with room for COUNT elements alone; the rest of its memory is
 * free again. It may have moved. NULL: COUNT is 0, and ITEMS is freed. */
void *array_fit(void *items, uint32_t count, size_t size);
#define ARRAY_FIT(items, count) array_fit((items), (count), sizeof *(items))

/* Sorts like qsort(), but elements that compare equal keep their order. C libraries differ in that,
 * and the output must not. If memory runs out, equal elements may change places. */
void array_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

/* Defines the comparator NAME of elements of TYPE: by MEMBER, a number, smallest first. */
/* NOLINTBEGIN(bugprone-macro-parentheses) types and members */
#define ARRAY_ORDER(NAME, TYPE, MEMBER)                                                            \
    static int NAME(const void *left, const void *right)                                           \
    {                                                                                              \
        const TYPE *a = left, *b = right;                                                          \
        return (a->MEMBER > b->MEMBER) - (a->MEMBER < b->MEMBER);                                  \
    }

/* The same; equal ones by SECOND. */
#define ARRAY_ORDER_2(NAME, TYPE, MEMBER, SECOND)                                                  \
    static int NAME(const void *left, const void *right)                                           \
    {                                                                                              \
        const TYPE *a = left, *b = right;                                                          \
        if (a->MEMBER != b->MEMBER)                                                                \
            return a->MEMBER < b->MEMBER ? -1 : 1;                                                 \
        return (a->SECOND > b->SECOND) - (a->SECOND < b->SECOND);                                  \
    }

/* The same: by MEMBER, a text. */
#define ARRAY_ORDER_TEXT(NAME, TYPE, MEMBER)                                                       \
    static int NAME(const void *left, const void *right)                                           \
    {                                                                                              \
        const TYPE *a = left, *b = right;                                                          \
        return strcmp(a->MEMBER, b->MEMBER);                                                       \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* Sorts elements of SIZE bytes by the uint64_t with which each begins, or by the double: NaN comes
 * last. Equal ones keep their order. Ten times as fast as array_sort() for 100,000 numbers, since
 * nothing is compared. */
void array_sort_numbers(void *items, size_t count, size_t size);
void array_sort_doubles(void *items, size_t count, size_t size);

/* The number of elements at the front whose key is at most KEY: the index of the first element
 * after KEY. The array is sorted by its keys, unsigned numbers of KEY_BYTES (4 or 8), the first at
 * KEYS and each next one STEP bytes later. */
static inline uint32_t array_upper(const void *keys, uint32_t count, size_t step, size_t key_bytes,
                                   uint64_t key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const char *at = (const char *)keys + middle * step;
        uint32_t narrow;
        uint64_t wide;
        if (key_bytes == sizeof narrow) {
            memcpy(&narrow, at, sizeof narrow);
            wide = narrow;
        } else {
            memcpy(&wide, at, sizeof wide);
        }
        if (wide <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for an array of structs that is sorted by MEMBER. */
#define ARRAY_UPPER(items, count, member, key)                                                     \
    ((count) == 0                                                                                  \
         ? 0                                                                                       \
         : array_upper(&(items)->member, (count), sizeof *(items), sizeof(items)->member, (key)))

#endif
