/* The tables of a symbol index (scopes, files, strings) and its file; see index_layout.h. */
#ifndef SYMBOL_INDEX_WRITE_H
#define SYMBOL_INDEX_WRITE_H

#include "base/files.h"
#include "symbol/index_pack.h"

struct index_strings { /* equal texts once */
    uint8_t *at;
    uint64_t bytes, room;
    uint32_t *slots; /* offsets, by the text's hash */
    uint32_t slot_count, used;
    bool failed;
};

struct index_tables {
    struct index_strings strings;
    uint32_t *files; /* the string of each */
    uint32_t file_count, file_room;
    uint8_t *slots; /* as in the file */
    uint32_t slot_count;
    bool failed;
};

void index_tables_open(struct index_tables *tables);
void index_tables_close(struct index_tables *tables);

/* Takes the workers' texts and scopes; each scope's name becomes its number in the file.  False:
 * out of memory, or more than the layout can hold. */
bool index_tables_fill(struct index_tables *tables, const struct piece_worker *workers,
                       uint32_t worker_count);

struct index_source { /* what the index is of */
    const struct pdb *pdb;
    const struct file_map *pdb_file;
    enum symbol_names spelling;
};

/* Writes the index.  PARTS follow each other without a gap.  Fails: ERR_MEMORY, ERR_IO. */
enum status index_write(const struct index_source *source, const struct index_tables *tables,
                        const struct index_part *parts, uint32_t part_count, const char *path,
                        uint64_t *file_bytes, struct fault *fault);

#endif
