/* What the exports of a PDB share; only export*.c include this. */
#ifndef SYMBOL_EXPORTER_H
#define SYMBOL_EXPORTER_H

#include "symbol/export.h"
#include "symbol/pdb_lookup.h"
#include "symbol/pdb_names.h"

struct exporter {
    const struct pdb *pdb;
    const struct symbol_export *how;
    FILE *out;
    struct fault *fault;
    struct pdb_names names;
    struct pdb_lookup *lookup;
    void *sink; /* takes one name for each address; NULL: rows are printed, with all names */
    /* Takes PROCEDURE, whose breaks are known. False: out of memory. */
    bool (*add_function)(struct exporter *e, const struct pdb_procedure *procedure, uint32_t rva,
                         const char *name);
    bool (*add_public)(struct exporter *e, uint32_t rva, const char *name);
    uint32_t *starts; /* owned: rvas of all functions, for the publics */
    uint32_t start_count, start_room;
    uint32_t *breaks; /* owned: of the current function, from its start */
    uint32_t break_count, break_room;
};

/* Call export_close() after export_open(), even after a fault. */
enum status export_open(struct exporter *e);
void export_close(struct exporter *e);

/* Visits all functions, then the code that only publics name. */
enum status export_all(struct exporter *e);

#endif
