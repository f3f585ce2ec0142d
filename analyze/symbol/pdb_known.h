/* Procedures of a PDB that were asked about before. The first question decodes all lines and inline
 * sites of a procedure into pieces (index_pieces.h); they are kept packed, and another question
 * about that procedure is one search in them. The answers are those of the walks in pdb_unit.c.
 *
 * Only one thread at a time may use a struct. */
#ifndef SYMBOL_PDB_KNOWN_H
#define SYMBOL_PDB_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/index_pieces.h"
#include "symbol/symbol_store.h"

struct pdb_known {
    struct piece_worker worker; /* its names serve all questions, also those without pieces */
    struct buffer packed;       /* bytes */
    bool is_open;               /* all of the worker, not only its names */
};

/* PDB is borrowed. */
void pdb_known_open(const struct pdb *pdb, enum symbol_names names, struct pdb_known *out);
void pdb_known_close(struct pdb_known *known);

/* What is packed so far is no longer needed; names stay. */
void pdb_known_forget(struct pdb_known *known);

/* Prepares a module, whose unit is read, for pdb_known_procedure(). index_module_free() frees what
 * it adds. False: out of memory. */
bool pdb_known_module(struct pdb_known *known, struct piece_module *module);

/* False: PROCEDURE is never packed, so no name has to be made for it (that of a jump takes long).
 */
bool pdb_known_takes(const struct pdb_procedure *procedure);

/* Packs PROCEDURE of a prepared module, with its NAME, which is kept by address. Returns a number
 * for pdb_known_frames(), valid until pdb_known_forget(); 0: it cannot be packed, ask the unit. */
uint32_t pdb_known_procedure(struct pdb_known *known, struct piece_module *module,
                             const struct pdb_procedure *procedure, const char *name);

/* Fills lines, files and functions of the frames DISTANCE bytes after the start of the procedure
 * with that NUMBER; the last one is the procedure. Returns their number; 0: the procedure has
 * fewer bytes. Strings live until pdb_known_close(). */
uint32_t pdb_known_frames(struct pdb_known *known, uint32_t number, uint32_t distance,
                          struct symbol_frame out[SYMBOL_FRAMES_MAX]);

#endif
