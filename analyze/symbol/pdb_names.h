/* Names of procedures, inlined functions, publics and files, in one spelling; each is made once and
 * kept. Only one thread at a time may use it. */
#ifndef SYMBOL_PDB_NAMES_H
#define SYMBOL_PDB_NAMES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slots.h"
#include "format/pdb/types.h"
#include "symbol/pdb_unit.h"
#include "symbol/undecorate.h"

struct name_slot {
    uint64_t key; /* 0: free */
    const char *text;
};

struct pdb_names {
    const struct pdb *pdb;
    enum symbol_names spelling;
    struct pdb_types types, ids;
    struct arena keep, scratch;
    struct name_slot *slots; /* open addressing, by key */
    uint32_t slot_count, used;
    struct slots by_name; /* modules; made when the first cross-module id is met */
    uint32_t named;       /* how many of them are in it */
};

void pdb_names_open(const struct pdb *pdb, enum symbol_names spelling, struct pdb_names *out);
/* Prepares for many lookups: records the place of every id in one pass. */
void pdb_names_index(struct pdb_names *names);
void pdb_names_close(struct pdb_names *names);

/* All live until pdb_names_close() or as long as the PDB.  NULL: no name. */
const char *pdb_names_procedure(struct pdb_names *names, const struct pdb_unit *unit,
                                const struct pdb_procedure *procedure);
const char *pdb_names_inlinee(struct pdb_names *names, const struct pdb_unit *unit, uint32_t id);
/* The same for an id from pdb_names_global_id(); not cached. */
const char *pdb_names_id(struct pdb_names *names, uint32_t global_id);
const char *pdb_names_file(struct pdb_names *names, const struct pdb_unit *unit,
                           struct pdb_file file);

/* The name of a jump: that of its TARGET. */
const char *pdb_names_jump(struct pdb_names *names, struct pdb_place target);

/* PUB: as pdb_public() reads it without its name. */
const char *pdb_names_public(struct pdb_names *names, const struct pdb_public *pub);

/* The id in the whole program that an inline site's id refers to: itself, or, with bit 31
 * set, what the exporting module says.  0: cannot be resolved. */
uint32_t pdb_names_global_id(struct pdb_names *names, const struct pdb_unit *unit, uint32_t id);

#endif
