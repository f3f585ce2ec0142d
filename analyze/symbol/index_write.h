/* The tables of a symbol index (strings, files, scopes) and its file; see index_layout.h.
 *
 * They are made in parallel: equal texts are found in shares by hash, so that they are in the same
 * share; then each worker copies the texts that it has before the others, and makes its scopes.
 * Each worker counts from 0; in the file its items follow those of the previous ones. */
#ifndef SYMBOL_INDEX_WRITE_H
#define SYMBOL_INDEX_WRITE_H

#include "base/files.h"
#include "base/slots.h"
#include "symbol/index_layout.h"
#include "symbol/index_pack.h"
#include "symbol/symbol_index.h"

enum { INDEX_SHARES_MAX = 16 };

struct index_share {    /* of the texts */
    struct slots slots; /* rows: numbers of texts among those of all workers */
    bool failed;
};

struct index_strings { /* that one worker has first */
    uint8_t *at;
    uint64_t bytes;
    uint32_t room;
    uint64_t first; /* offset in the file's strings */
    bool failed;
};

struct index_slots { /* of one worker */
    uint8_t *at;
    uint32_t *hints; /* one for each SLOT_UNIT */
    uint32_t count;
    uint32_t used;       /* those before the padding */
    uint32_t first;      /* slot in the file */
    uint32_t first_file; /* in the file, of the worker's file 1 */
    uint64_t back_max, line_max, file_max, name_max;
    bool wide; /* one of the slots has to be wider than 64 bits */
    bool failed;
};

struct index_tables {
    const struct piece_worker *workers;
    uint32_t count; /* of workers, and of shares */
    struct index_share shares[INDEX_SHARES_MAX];
    struct index_strings strings[INDEX_SHARES_MAX];
    struct index_slots slots[INDEX_SHARES_MAX];
    uint32_t *files; /* the string of each */
    uint32_t file_count, slot_count;
    struct slot_widths widths;
};

void index_tables_open(struct index_tables *tables, const struct piece_worker *workers,
                       uint32_t worker_count);
void index_tables_close(struct index_tables *tables);

/* The steps, in this order.  False: out of memory, or more than the layout can hold. */
void index_tables_equal(struct index_tables *tables, uint32_t share);    /* side by side */
void index_tables_strings(struct index_tables *tables, uint32_t worker); /* side by side */
bool index_tables_files(struct index_tables *tables);
void index_tables_scopes(struct index_tables *tables, uint32_t worker); /* side by side */
bool index_tables_number(struct index_tables *tables);
void index_tables_narrow(struct index_tables *tables, uint32_t worker); /* side by side */

struct index_source { /* what the index is for */
    struct symbol_index_key key;
    struct byte_view omap; /* rows of OMAP_ROW_BYTES; may be none */
    uint8_t guid[16];
    uint32_t age;
};

/* Writes the index.  PARTS follow each other without a gap.  Fails: ERR_MEMORY, ERR_IO. */
enum status index_write(const struct index_source *source, const struct index_tables *tables,
                        struct index_part *parts, uint32_t part_count, const char *path,
                        uint64_t *file_bytes, struct fault *fault);

/* Packs the pieces of one worker, which start at FIRST and end at END (multiples of a bucket), and
 * writes the index of a file other than a PDB. Fails: as above. */
enum status index_write_pieces(const struct piece_worker *worker,
                               const struct symbol_index_key *key, uint32_t first, uint64_t end,
                               const char *path, struct symbol_index_cost *cost,
                               struct fault *fault);

#endif
