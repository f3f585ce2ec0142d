/* The contents of a PDB: counts, and the symbol table that the article's pdbdump prints. */
#ifndef SYMBOL_EXPORT_H
#define SYMBOL_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/pdb/pdb.h"
#include "symbol/undecorate.h"

struct symbol_counts {
    uint32_t modules; /* object files and libraries */
    uint32_t procedures, thunks, publics;
    uint64_t inline_sites;
    uint32_t line_tables;
};

/* Walks every module.  Fails: ERR_MEMORY. */
enum status symbol_count(const struct pdb *pdb, struct symbol_counts *out, struct fault *fault);

struct symbol_export {
    uint64_t base; /* added to every address: CSV_BASE_DEFAULT in the article */
    enum symbol_names names;
    bool inlines; /* also ranges of lines and inlined code; see csv.h */
};

/* Prints functions in the order of the modules, then code that only a public names. Fails:
 * ERR_MEMORY; ERR_IO when writing to OUT fails. */
enum status symbol_export_csv(const struct pdb *pdb, const struct symbol_export *how, FILE *out,
                              struct fault *fault);

#endif
