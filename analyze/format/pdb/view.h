/* Bytes of a PDB with their end, for records that are read at offsets from their start. Number by
 * number inline: they are read for every line of a program. What is past the end reads as zero. */
#ifndef FORMAT_PDB_VIEW_H
#define FORMAT_PDB_VIEW_H

#include "base/bytes.h"

struct pdb_view {
    const uint8_t *at;
    uint32_t bytes;
};

/* What follows the first START bytes; nothing if there are fewer. */
static inline struct pdb_view pdb_view_from(struct pdb_view view, uint64_t start)
{
    const uint32_t skipped = start < view.bytes ? (uint32_t)start : view.bytes;
    return (struct pdb_view){skipped != 0 ? view.at + skipped : view.at, view.bytes - skipped};
}

static inline uint16_t pdb_view_u16(struct pdb_view view, uint32_t at)
{
    return at < view.bytes && view.bytes - at >= 2 ? load_u16(view.at + at) : 0;
}

static inline uint32_t pdb_view_u32(struct pdb_view view, uint32_t at)
{
    return at < view.bytes && view.bytes - at >= 4 ? load_u32(view.at + at) : 0;
}

#endif
