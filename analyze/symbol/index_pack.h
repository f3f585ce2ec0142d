/* From pieces to buckets and their blocks (index_layout.h). The address space is split at bucket
 * boundaries into parts, which are packed in parallel. */
#ifndef SYMBOL_INDEX_PACK_H
#define SYMBOL_INDEX_PACK_H

#include "symbol/index_pieces.h"

struct block_entry {
    uint32_t offset, scope, line; /* what applies from that byte of the bucket on */
};

struct index_part {
    uint32_t first_rva;                       /* of bucket 0 of the index */
    uint32_t first, end;                      /* its buckets; FIRST begins a group */
    uint32_t bucket;                          /* the current one */
    uint64_t packed_rva;                      /* nothing may be packed before it */
    uint32_t scope, line;                     /* that apply now */
    struct block_entry entries[BUCKET_BYTES]; /* of the current bucket */
    uint32_t entry_count;
    bool plain; /* the last block has one entry */
    bool failed;

    uint64_t *groups;            /* as in the file */
    uint32_t group_at, block_at; /* in BLOB, of the current group and the last block */
    uint64_t block_bucket;       /* what a bucket states of the last block, without its place */
    uint8_t *blob;
    uint64_t blob_bytes;
    uint32_t blob_room;
    uint64_t piece_count; /* for reporting the cost */
};

/* Prepares PART, whose first_rva, first and end are set. */
void index_pack_open(struct index_part *part);
void index_pack_close(struct index_part *part);

/* Adds the pieces of a claim that starts at RVA. Claims must come in address order; others are
 * ignored. SCOPES are those of their worker; FIRST_SLOT is where their slots start in the file. */
void index_pack_pieces(struct index_part *part, uint64_t rva, const struct scope_slot *scopes,
                       uint32_t first_slot, const struct piece *pieces, uint32_t count);
/* Nothing is known from RVA on. */
void index_pack_gap(struct index_part *part, uint64_t rva);
/* Packs the rest. */
void index_pack_end(struct index_part *part);

#endif
