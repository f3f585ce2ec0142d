/* Untrusted bytes, read front to back.
 *
 * A reader borrows the memory that it covers; that memory must outlive the reader and every pointer
 * taken from it. The first read past the end is recorded in *fault and poisons every reader that
 * shares this fault: from then on reads return zero and do not advance. So a parser may read a
 * whole header without checks in between and check once, provided that it checks before it trusts
 * any count, size or offset just read. Offsets count from the outermost file. All numbers are
 * little-endian. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct bytes {
    const uint8_t *at;   /* next unread byte             */
    size_t left;         /* bytes from `at` to the end   */
    uint64_t offset;     /* of `at`                      */
    struct fault *fault; /* borrowed; first failure wins */
};

/* Starts a reader on SIZE bytes whose first byte is offset 0 of the file. */
struct bytes bytes_over(const void *memory, size_t size, struct fault *fault);

/* Starts a new reader on the SIZE bytes that begin START bytes past WHOLE->at; WHOLE does not
 * advance. Fails: ERR_TRUNCATED, and the result is empty. */
struct bytes bytes_window(const struct bytes *whole, uint64_t start, uint64_t size);

uint8_t bytes_u8(struct bytes *r);
uint16_t bytes_u16(struct bytes *r);
uint32_t bytes_u32(struct bytes *r);
uint64_t bytes_u64(struct bytes *r);

/* Skips SIZE bytes and returns a pointer to the first of them (borrowed). Returns NULL and poisons
 * the reader when they do not fit. */
const uint8_t *bytes_take(struct bytes *r, uint64_t size);

/* Skips SIZE bytes. Fails: ERR_TRUNCATED. */
void bytes_skip(struct bytes *r, uint64_t size);

/* Reads a NUL-terminated string (borrowed, terminated inside the bytes).
 * Returns "" and poisons when no NUL is left.  Fails: ERR_TRUNCATED. */
const char *bytes_cstring(struct bytes *r);

/* Returns COUNT if that many records of SIZE bytes are left; otherwise returns 0 and poisons the
 * reader. Call it after reading a count and before allocating for it. Fails: ERR_TRUNCATED. */
uint32_t bytes_count(struct bytes *r, uint32_t count, size_t size);

/* True once a fault has been recorded: nothing read since then can be trusted. */
bool bytes_failed(const struct bytes *r);

/* Unaligned little-endian loads for memory already known to be long enough. They are in the header
 * so that the compiler can inline each as one instruction. */
static inline uint16_t load_u16(const void *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return (uint16_t)(b[0] | (uint16_t)(b[1] << 8));
}

static inline uint32_t load_u32(const void *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t load_u64(const void *p)
{
    const uint8_t *b = (const uint8_t *)p;
    return (uint64_t)load_u32(b) | (uint64_t)load_u32(b + 4) << 32;
}

/* How many zero bits there are before the lowest one; BITS is not 0. */
static inline uint32_t low_zeroes(uint64_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(bits);
#else
    uint32_t count = 0;
    for (; (bits & 1) == 0; bits >>= 1)
        count++;
    return count;
#endif
}

/* Announces that memory will be read soon, where the order of the reads would let each wait for the
 * one before it. Changes no result. */
static inline void will_read(const void *at, size_t bytes)
{
#if defined(__GNUC__)
    enum { CACHE_LINE_BYTES = 64 };
    for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
        __builtin_prefetch((const uint8_t *)at + i);
#else
    (void)at;
    (void)bytes;
#endif
}

#endif
