/* See arena.h.  Blocks double from 1 KiB to 1 MiB: small uses stay small, large ones
 * pay the allocator rarely. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"

/* Under AddressSanitizer memory that was not allocated is forbidden, and so is a fence after each
 * allocation: what reads one row too many ends the program. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_FENCED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_FENCED
#endif

#ifdef ARENA_FENCED
#include <sanitizer/asan_interface.h>
enum { FENCE_BYTES = 16 };
#else
enum { FENCE_BYTES = 0 };
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

static void forbid(void *at, size_t bytes)
{
    ASAN_POISON_MEMORY_REGION(at, bytes);
}

static void allow(void *at, size_t bytes)
{
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
}

/* As max_align_t, which MSVC has in C++ alone. */
union most_aligned {
    long double number;
    uint64_t word;
    void *pointer;
};

struct arena_block {
    struct arena_block *next;
    size_t bytes; /* usable, after this header */
    alignas(union most_aligned) uint8_t data[];
};

enum { ARENA_FIRST_BLOCK = 1024, ARENA_LARGEST_BLOCK = 1 << 20 };

void arena_init(struct arena *arena, size_t limit_bytes)
{
    memset(arena, 0, sizeof *arena);
    arena->limit_bytes = limit_bytes != 0 ? limit_bytes : LIMIT_ARENA_BYTES;
}

void arena_free(struct arena *arena)
{
    const size_t limit = arena->limit_bytes;
    while (arena->blocks != NULL) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena_init(arena, limit);
}

void arena_reset(struct arena *arena)
{
    struct arena_block *newest = arena->blocks;
    if (newest == NULL)
        return;
    while (newest->next != NULL) {
        struct arena_block *older = newest->next;
        newest->next = older->next;
        free(older);
    }
    forbid(newest->data, newest->bytes);
    arena->at = newest->data;
    arena->left = newest->bytes;
    arena->used_bytes = 0;
}

static struct arena_block *arena_grow(struct arena *arena, size_t size)
{
    size_t bytes = arena->blocks != NULL ? arena->blocks->bytes * 2 : ARENA_FIRST_BLOCK;
    if (bytes > ARENA_LARGEST_BLOCK)
        bytes = ARENA_LARGEST_BLOCK;
    if (bytes < size)
        bytes = size;
    struct arena_block *block = malloc(sizeof *block + bytes);
    if (block == NULL)
        return NULL;
    forbid(block->data, bytes);
    block->bytes = bytes;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->at = block->data;
    arena->left = bytes;
    return block;
}

/* As arena_alloc() rounds it; 0: too large. */
static size_t whole_units(size_t size)
{
    const size_t unit = alignof(union most_aligned);
    if (size == 0)
        size = 1;
    return size <= SIZE_MAX - unit - FENCE_BYTES ? (size + unit - 1) / unit * unit + FENCE_BYTES
                                                 : 0;
}

/* Takes SIZE whole units. */
static void *take(struct arena *arena, size_t size)
{
    if (arena->fail_after != 0 && --arena->fail_after == 0)
        return NULL;
    if (size == 0 || size > arena->limit_bytes || arena->used_bytes > arena->limit_bytes - size)
        return NULL;
    if (size > arena->left && arena_grow(arena, size) == NULL)
        return NULL;
    void *out = arena->at;
    arena->at += size;
    arena->left -= size;
    arena->used_bytes += size;
    allow(out, size);
    return memset(out, 0, size);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    uint8_t *out = take(arena, whole_units(size));
    if (out != NULL)
        forbid(out + size, whole_units(size) - size);
    return out;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(arena, count * size);
}

/* True when the BYTES at ITEMS are what was allocated last. */
static bool is_newest(const struct arena *arena, const void *items, size_t bytes)
{
    return items != NULL && arena->blocks != NULL &&
           (uintptr_t)items + whole_units(bytes) == (uintptr_t)arena->at;
}

void *arena_reserve(struct arena *arena, void *items, uint32_t *room, uint64_t wanted, size_t size)
{
    if (wanted <= *room && items != NULL)
        return items;
    if (wanted > UINT32_MAX)
        return NULL;
    size_t next = array_next_room(*room, (size_t)wanted, size);
    if (next > UINT32_MAX)
        next = UINT32_MAX;
    if (next == 0)
        return NULL;
    const size_t more = whole_units(next * size) - whole_units(*room * size);
    if (is_newest(arena, items, *room * size) && more <= arena->left) {
        if (more > 0 && take(arena, more) == NULL)
            return NULL;
        allow(items, next * size);
        forbid((uint8_t *)items + next * size, whole_units(next * size) - next * size);
        *room = (uint32_t)next;
        return items;
    }
    void *grown = arena_array(arena, next, size);
    if (grown == NULL)
        return NULL;
    if (items != NULL)
        memcpy(grown, items, *room * size);
    *room = (uint32_t)next;
    return grown;
}

void arena_trim(struct arena *arena, void *items, uint32_t *room, uint32_t count, size_t size)
{
    if (count > *room || !is_newest(arena, items, *room * size))
        return;
    const size_t bytes = count * size, kept = whole_units(bytes);
    const size_t less = whole_units(*room * size) - kept;
    uint8_t *end = (uint8_t *)items + bytes;
    allow(items, kept);
    memset(end, 0, kept - bytes);
    forbid(end, kept - bytes + less);
    arena->at -= less;
    arena->left += less;
    arena->used_bytes -= less;
    *room = count;
}

char *arena_text(struct arena *arena, const char *text, size_t size)
{
    char *out = size < SIZE_MAX ? arena_alloc(arena, size + 1) : NULL;
    if (out != NULL && size != 0)
        memcpy(out, text, size);
    return out;
}

char *arena_string(struct arena *arena, const char *text)
{
    return text != NULL ? arena_text(arena, text, strlen(text)) : NULL;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list list)
{
    char text[256];
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(text, sizeof text, format, list);
    char *out = length >= 0 ? arena_alloc(arena, (size_t)length + 1) : NULL;
    if (out != NULL && (size_t)length < sizeof text)
        memcpy(out, text, (size_t)length);
    else if (out != NULL)
        (void)vsnprintf(out, (size_t)length + 1, format, again);
    va_end(again);
    return out;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *out = arena_vprintf(arena, format, list);
    va_end(list);
    return out;
}
