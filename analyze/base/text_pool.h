/* One copy of each text. Rows of a database repeat the same few names: with a pool, memory grows
 * with the texts that differ instead of the number of rows. */
#ifndef BASE_TEXT_POOL_H
#define BASE_TEXT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { TEXT_POOL_RECENT = 32 };

struct text_pool {
    struct arena *keep;                   /* of the texts and of the table */
    const char *recent[TEXT_POOL_RECENT]; /* asked lately, each at its place; NULL: none */
    const char **slots;                   /* an open hash table, at most half full; NULL: empty */
    uint32_t room;                        /* a power of two */
    uint32_t count;
};

/* Prepares an empty pool whose texts live in KEEP. */
void text_pool_init(struct text_pool *pool, struct arena *keep);

/* The pool's copy of the SIZE bytes at TEXT, which hold no NUL; NULL when out of memory. Equal
 * texts have equal addresses. */
const char *text_pool_add(struct text_pool *pool, const char *text, size_t size);

#endif
