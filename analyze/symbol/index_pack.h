/* From pieces to the file of an index: buckets, blocks, scopes, strings; see index_layout.h. */
#ifndef SYMBOL_INDEX_PACK_H
#define SYMBOL_INDEX_PACK_H

#include "base/files.h"
#include "symbol/index_pieces.h"

struct packed_change { /* of the bucket in work */
    uint32_t offset, scope, line;
};

struct index_packer {
    const struct piece_worker *workers;
    uint32_t worker_count;
    uint32_t *slot_base; /* of each worker's slots in the file */
    bool failed;

    uint32_t shift, first_rva, bucket; /* bucket: the one in work */
    uint32_t scope, line;              /* that hold now */
    uint32_t open_scope, open_line;    /* that held when the bucket began */
    struct packed_change changes[1 << 8];
    uint32_t change_count;
    uint8_t *blob;
    uint64_t blob_bytes, blob_room;
    uint32_t *buckets;
    uint32_t bucket_count, bucket_room;
    bool started;

    uint64_t piece_count, slot_count, file_bytes; /* for those who ask what it cost */
};

void index_pack_open(struct index_packer *packer, const struct pdb *pdb,
                     const struct piece_worker *workers, uint32_t worker_count);
void index_pack_close(struct index_packer *packer);

/* Pieces come in the order of addresses. */
void index_pack_pieces(struct index_packer *packer, uint32_t worker, const struct piece *pieces,
                       uint32_t count);
/* Nothing is known from RVA on. */
void index_pack_end(struct index_packer *packer, uint32_t rva);

enum status index_pack_write(struct index_packer *packer, const struct pdb *pdb,
                             const struct file_map *pdb_file, enum symbol_names spelling,
                             const char *path, struct fault *fault);

#endif
