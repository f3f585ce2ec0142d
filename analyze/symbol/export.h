/* The contents of a PDB or an image: counts, the symbol table that the article's pdbdump prints,
 * and Breakpad files. */
#ifndef SYMBOL_EXPORT_H
#define SYMBOL_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/object/arch.h"
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

/* What the first lines of a Breakpad file state besides the PDB's id. */
struct symbol_export_head {
    const char *pdb_name;   /* file name */
    const char *image_name; /* NULL: the image is not known */
    const char *code_id;    /* with IMAGE_NAME */
};

/* Prints the PDB as a Breakpad symbol file (format/breakpad/breakpad.h): functions, lines, inlined
 * calls, publics, and STACK WIN of x86 PDBs. STACK CFI of x64 and arm64 is unwind_export_cfi()'s,
 * from the image. If several functions share one address, the one that a lookup returns is written.
 * Fails: as above. */
enum status symbol_export_breakpad(const struct pdb *pdb, const struct symbol_export *how,
                                   const struct symbol_export_head *head, FILE *out,
                                   struct fault *fault);

/* The same of an image without a PDB: functions, lines and inlined calls of its DWARF, and publics
 * where only a symbol answers. NAME: the file name of the image. */
struct symbol_object;
enum status symbol_export_object(struct symbol_object *object, enum object_arch arch,
                                 const char *name, FILE *out, struct fault *fault);

#endif
