/* Arrays: counting their elements, and growing them.
 *
 * A growing array is three fields of its owner: `items`, `count` and `room`, the number of elements
 * that fit before it has to grow.  Adding one element is
 *
 *     struct row *rows = array_reserve(list->rows, &list->room, list->count + 1, sizeof *rows);
 *     if (rows == NULL)
 *         return ERR_MEMORY;
 *     list->rows = rows;
 *     list->rows[list->count++] = row;
 *
 * with arena_reserve() of base/arena.h in its place where the array lives in an arena. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* The number of elements of an array (not of a pointer). */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The room to grow to when WANTED elements of SIZE bytes must fit and ROOM do: at least WANTED, and
 * at least twice ROOM so that appending stays linear.  Returns 0 when WANTED elements would need
 * more bytes than a size_t counts. */
size_t array_next_room(size_t room, size_t wanted, size_t size);

/* Makes sure that WANTED elements of SIZE bytes fit into ITEMS, memory of malloc() with *ROOM
 * elements (NULL and 0: none yet).  Returns the array, which may have moved; new elements are not
 * initialized.  Returns NULL without memory or above 2^32 - 1 elements; ITEMS and *ROOM then stay
 * as they were. */
void *array_reserve(void *items, uint32_t *room, uint64_t wanted, size_t size);

#endif
