/* An arena: memory with one owner, all of which is freed at once.
 *
 * By convention a function's arena for results is named `keep`, and one for intermediate work
 * `scratch`. An arena has a maximum size, so that hostile input fails with ERR_LIMIT instead of
 * exhausting the machine's memory. A test can make the Nth request fail. Not thread safe: one
 * arena, one thread. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* owned; newest first                          */
    uint8_t *at;                /* next free byte of the newest block           */
    size_t left;                /* free bytes of the newest block               */
    size_t used_bytes;          /* handed out so far, all blocks                */
    size_t limit_bytes;         /* used_bytes never exceeds it                  */
    uint64_t fail_after;        /* tests: requests left before failing; 0: never */
};

/* Prepares an empty arena; nothing is allocated yet.  LIMIT_BYTES 0 means
 * LIMIT_ARENA_BYTES. */
void arena_init(struct arena *arena, size_t limit_bytes);

/* Frees everything; the arena can be used again, with the same limit. */
void arena_free(struct arena *arena);

/* Forgets everything but keeps the newest block for the next use. */
void arena_reset(struct arena *arena);

/* Returns SIZE zeroed bytes aligned for any type, owned by the arena; NULL when the limit is
 * reached or the allocation fails. */
void *arena_alloc(struct arena *arena, size_t size);

/* COUNT zeroed elements of SIZE bytes; NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Like array_reserve() of base/array.h, for an array in this arena: the result has room for
 * WANTED elements of SIZE bytes, and its new elements are zero. ITEMS has *ROOM elements and
 * stays valid. An array that is the arena's newest allocation grows in place. */
void *arena_reserve(struct arena *arena, void *items, uint32_t *room, uint64_t wanted, size_t size);

/* Gives back what such an array has room for beyond COUNT elements, if it is the arena's newest
 * allocation. */
void arena_trim(struct arena *arena, void *items, uint32_t *room, uint32_t count, size_t size);

/* Copies SIZE bytes and appends a NUL; returns NULL when arena_alloc() does. */
char *arena_text(struct arena *arena, const char *text, size_t size);

/* Copies a C string; NULL in, NULL out. */
char *arena_string(struct arena *arena, const char *text);

/* printf into the arena; returns NULL when arena_alloc() does. */
char *arena_vprintf(struct arena *arena, const char *format, va_list list)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 0)))
#endif
    ;
char *arena_printf(struct arena *arena, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* True when WANTED elements fit into ITEMS, which arena_reserve() made and which has room for ROOM;
 * false: out of memory, and nothing has changed. All are read more than once, WANTED also after
 * ROOM has grown. */
#define ARENA_ROOM(arena, items, room, wanted)                                                     \
    ((items) = arena_reserve_or_keep((arena), (items), &(room), (wanted), sizeof *(items)),        \
     (room) >= (wanted))

/* For ARENA_ROOM() alone. */
static inline void *arena_reserve_or_keep(struct arena *arena, void *items, uint32_t *room,
                                          uint64_t wanted, size_t size)
{
    void *wider = arena_reserve(arena, items, room, wanted, size);
    return wider != NULL ? wider : items;
}

/* Typed forms. */
#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_array((arena), (count), sizeof(type)))

#endif
