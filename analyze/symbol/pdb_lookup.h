/* Address → chain of logical frames, straight from a PDB: lazily, touching only the streams,
 * modules and procedures that an address needs.
 *
 * One struct is for one thread at a time; several may share one struct pdb.  The rules by
 * which an address is named are in symbol/README.md. */
#ifndef SYMBOL_PDB_LOOKUP_H
#define SYMBOL_PDB_LOOKUP_H

#include <stdint.h>

#include "format/pdb/pdb.h"
#include "symbol/store.h"

struct pdb_lookup;

/* PDB is borrowed.  Fails: ERR_MEMORY. */
enum status pdb_lookup_open(const struct pdb *pdb, enum symbol_names names, struct pdb_lookup **out,
                            struct fault *fault);
void pdb_lookup_close(struct pdb_lookup *lookup);

/* Logical frames that cover RVA, innermost first, the procedure last; 0 when nothing does.
 * `from` is SYMBOLS_PDB, or SYMBOLS_PDB_PUBLIC for the nearest public symbol before, which is
 * undecorated as the lookup's names ask.  Distances count from the procedure's start, for
 * inline frames too.  Strings live until pdb_lookup_close(). */
uint32_t pdb_lookup(struct pdb_lookup *lookup, uint32_t rva,
                    struct symbol_frame out[SYMBOL_FRAMES_MAX]);

#endif
