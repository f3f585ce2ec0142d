/* Bytes with their end: sections, parts of files, and records that are read at offsets from their
 * start; unlike base/bytes.h, nothing moves. Number by number inline: they are read for every line
 * of a program. What is past the end reads as zero. Memory is borrowed. */
#ifndef BASE_VIEW_H
#define BASE_VIEW_H

#include "base/bytes.h"

struct byte_view {
    const uint8_t *data; /* NULL: there is none */
    size_t bytes;
};

/* What follows the first START bytes; nothing if there are fewer. */
static inline struct byte_view view_from(struct byte_view view, uint64_t start)
{
    const size_t skipped = start < view.bytes ? (size_t)start : view.bytes;
    return (struct byte_view){skipped != 0 ? view.data + skipped : view.data, view.bytes - skipped};
}

static inline uint16_t view_u16(struct byte_view view, size_t at)
{
    return at < view.bytes && view.bytes - at >= 2 ? load_u16(view.data + at) : 0;
}

static inline uint32_t view_u32(struct byte_view view, size_t at)
{
    return at < view.bytes && view.bytes - at >= 4 ? load_u32(view.data + at) : 0;
}

#endif
