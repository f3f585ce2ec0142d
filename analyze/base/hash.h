/* 64-bit FNV-1a, for hash tables and for detecting that a text has changed. It offers no protection
 * against an attacker, who can construct colliding keys.
 * Source: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
 *
 * A hash starts as HASH_START; each call adds its data and returns the new value. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_byte(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)data;
    for (size_t i = 0; i < bytes; i++)
        hash = hash_byte(hash, at[i]);
    return hash;
}

/* Hashes a C string, without its NUL. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = hash_byte(hash, (uint8_t)*text);
    return hash;
}

/* Like hash_text(), but ignores case: texts that text_equal_nocase() calls equal have equal
 * hashes. So letters beyond ASCII do not count. */
static inline uint64_t hash_text_nocase(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        if ((uint8_t)*text < 0x80)
            hash = hash_byte(hash, (uint8_t)(*text >= 'A' && *text <= 'Z' ? *text | 0x20 : *text));
    return hash;
}

/* Folds a hash to 32 bits, each of which depends on all 64. */
static inline uint32_t hash_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

#endif
