/* A record or user stream that a test writes: words in order, sections that know their size. */
#ifndef RECORD_DRAFT_H
#define RECORD_DRAFT_H

#include <stddef.h>
#include <stdint.h>

enum { DRAFT_WORDS = 256 };

struct draft {
    uint32_t words[DRAFT_WORDS];
    size_t count;
};

/* Adds VALUE, little end first, as WORDS words; those after the second are 0. */
static inline void put(struct draft *d, uint64_t value, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        d->words[d->count++] = i < 2 ? (uint32_t)(value >> (32 * i)) : 0;
}

/* Starts a section of COUNT entries; end() with the returned index states its size. */
static inline size_t section(struct draft *d, uint32_t type, uint32_t count)
{
    const size_t at = d->count;
    put(d, type, 2);
    put(d, count, 2);
    return at;
}

static inline void end(struct draft *d, size_t at)
{
    d->words[at + 1] = (uint32_t)((d->count - at) * sizeof d->words[0]);
}

#endif
