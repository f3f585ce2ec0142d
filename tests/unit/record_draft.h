/* A record or user stream that a test writes: words in order, sections that know their size. */
#ifndef RECORD_DRAFT_H
#define RECORD_DRAFT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/record/record.h"

enum { DRAFT_WORDS = 256 };

struct draft {
    uint32_t words[DRAFT_WORDS];
    size_t count;
};

/* Starts a record of a crash of x64, in thread SUSPECT: its header. */
static inline void draft_begin(struct draft *d, uint32_t suspect)
{
    memset(d, 0, sizeof *d);
    memcpy(d->words, RECORD_MAGIC, 8);
    d->words[RECORD_H_VERSION / 4] = 2;
    d->words[RECORD_H_HEADER_BYTES / 4] = RECORD_HEADER_BYTES;
    d->words[RECORD_H_MACHINE / 4] = 0x8664;
    d->words[RECORD_H_KIND / 4] = RECORD_KIND_CRASH;
    d->words[RECORD_H_SUSPECT / 4] = suspect;
    d->words[RECORD_H_POINTER_BYTES / 4] = 8;
    d->count = RECORD_HEADER_BYTES / 4;
}

/* States that all of it was written; returns its bytes. */
static inline size_t draft_end(struct draft *d)
{
    const size_t bytes = d->count * sizeof d->words[0];
    d->words[RECORD_H_COMMITTED / 4] = (uint32_t)bytes;
    return bytes;
}

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
