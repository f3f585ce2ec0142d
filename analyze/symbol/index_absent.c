/* Stands for symbol_index.c in a build without it: there never is an index, and lookups go the
 * lazy way. */
#include "symbol/symbol_index.h"

enum status symbol_index_open(const char *path, const struct file_map *pdb_file,
                              enum symbol_names names, struct symbol_index **out,
                              struct fault *fault)
{
    (void)path;
    (void)pdb_file;
    (void)names;
    *out = NULL;
    return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "symbol index");
}

void symbol_index_close(struct symbol_index *index)
{
    (void)index;
}

enum status symbol_index_build(const struct pdb *pdb, const struct file_map *pdb_file,
                               enum symbol_names names, uint32_t threads, const char *path,
                               struct symbol_index_cost *cost, struct fault *fault)
{
    (void)pdb;
    (void)pdb_file;
    (void)names;
    (void)threads;
    (void)path;
    (void)cost;
    return fault_set(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "symbol index");
}

uint32_t symbol_index_lookup(const struct symbol_index *index, uint32_t rva,
                             struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
    (void)index;
    (void)rva;
    (void)out;
    return 0;
}
