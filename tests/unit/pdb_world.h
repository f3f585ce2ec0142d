/* Opens PDBs of the fixtures for the tests of the symbol room. */
#ifndef TESTS_PDB_WORLD_H
#define TESTS_PDB_WORLD_H

#include <stdint.h>

#include "base/files.h"
#include "format/pdb/pdb.h"
#include "symbol/pdb_lookup.h"

struct pdb_world {
    struct file_map map;
    struct pdb pdb;
    struct pdb_lookup *lookup;
};

/* Opens the PDB at PATH with a lookup that spells names as NAMES says. Ends the test on failure. */
void pdb_world_open(struct pdb_world *world, const char *path, enum symbol_names names);
void pdb_world_close(struct pdb_world *world);

/* Calls FN for every file of the fixtures whose name ends with SUFFIX, in order, with the
 * file's path.  Skips the test when there are no fixtures. */
void pdb_world_each(const char *suffix, void (*fn)(const char *path, void *context), void *context);

/* True when the names are the same up to class, struct, enum, union and blanks. */
bool pdb_world_same_name(const char *a, const char *b);

/* Several rows start at RVA. At this very byte Microsoft's debuggers print the first of them, OURS;
 * many other tools print the last, THEIRS, there too. */
bool pdb_world_is_first_of_rows(struct pdb_world *world, uint32_t rva, uint32_t ours,
                                uint32_t theirs);

/* A copy of NAME without its parameter list; lives as long as KEEP. */
char *pdb_world_cut_parameters(const char *name, struct arena *keep);

#endif
