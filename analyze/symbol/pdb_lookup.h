/* Address → chain of logical frames, directly from a PDB. It is lazy: only the streams, modules and
 * procedures that an address needs are read.
 *
 * It keeps what it has read, up to a bound, besides names.
 *
 * Only one thread at a time may use a struct; several structs may share one struct pdb. The rules
 * by which an address is named are in symbol/README.md. */
#ifndef SYMBOL_PDB_LOOKUP_H
#define SYMBOL_PDB_LOOKUP_H

#include <stdint.h>

#include "format/pdb/pdb.h"
#include "symbol/symbol_store.h"

struct pdb_lookup;

/* PDB is borrowed.  Fails: ERR_MEMORY. */
enum status pdb_lookup_open(const struct pdb *pdb, enum symbol_names names, struct pdb_lookup **out,
                            struct fault *fault);
void pdb_lookup_close(struct pdb_lookup *lookup);

/* From then on the lookup gives back the memory of MAP, over which its PDB was opened, when modules
 * have read much of it, and forgets what it has read above KEPT_BYTES (0: 96 MiB, as before). A MAP
 * that is small, or that the PDB does not read in place (MSFZ), stays as it is. Borrowed. */
void pdb_lookup_bound(struct pdb_lookup *lookup, const struct file_map *map, size_t kept_bytes);

/* About so many QUESTIONS will follow. The answers are the same, but of many a module's first one
 * prepares it for the others. */
void pdb_lookup_expect(struct pdb_lookup *lookup, uint64_t questions);

/* Logical frames that cover RVA, innermost first, the procedure last; 0 when nothing does. `from`
 * is SYMBOLS_PDB, or SYMBOLS_PDB_PUBLIC for the nearest preceding public symbol, which is
 * undecorated in the lookup's spelling. Distances count from the procedure's start, for inline
 * frames too. Strings live until pdb_lookup_close(). */
uint32_t pdb_lookup(struct pdb_lookup *lookup, uint32_t rva,
                    struct symbol_frame out[SYMBOL_FRAMES_MAX]);

/* The method with TOKEN, and its line at IL offset IL, where the PDB describes managed code.
 * Returns 1, or 0: it has no such method. Strings live as those of pdb_lookup(). */
uint32_t pdb_lookup_method(struct pdb_lookup *lookup, uint32_t token, uint32_t il,
                           struct symbol_frame *out);

/* The lines that the line table gives to the address of RVA; several where it has several rows
 * for it.  Returns their number, at most MAX. */
uint32_t pdb_lookup_lines(struct pdb_lookup *lookup, uint32_t rva, uint32_t *out, uint32_t max);

#endif
