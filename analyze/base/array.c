/* See array.h. */
#include "base/array.h"

#include <stdlib.h>

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

void *array_reserve(void *items, uint32_t *room, uint64_t wanted, size_t size)
{
    if (wanted <= *room && items != NULL)
        return items;
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
