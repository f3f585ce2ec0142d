/* The symbol table that the article's pdbdump prints (DbgHelp's SymEnumSymbols, one row a symbol):
 *
 *     "40cd51",22,"SymTagFunction","std::`dynamic initializer for 'initlocks''","D:\a\xlock.cpp",60
 *      address  size tag            name                                        file line
 *
 * Address: hexadecimal, with the load base that the exporter chose (0x400000 in the article).
 * Fields may be quoted or bare; a quote inside a quoted field is doubled, or, as pdbdump itself
 * writes it, stands as it is and ends the field only before a comma or the line's end.  Rows of
 * other tags than functions, thunks and publics are skipped; a bad row is skipped and counted.
 *
 * And the form with inline ranges (`symbols export --inlines`), which has the tag SymTagInlineSite
 * for a range in which an inlined function stands, deeper ones after those that hold them:
 *
 *     "40cd51",4,"SymTagInlineSite","f","D:\a\call_site.cpp",31,1
 *
 * where the last column is the inline depth, and file and line are the function's own first line in
 * that range. */
#ifndef SYMBOL_CSV_H
#define SYMBOL_CSV_H

#include <stdint.h>

#include "base/arena.h"
#include "base/files.h"

enum { CSV_BASE_DEFAULT = 0x400000 };

struct csv_row {
    uint32_t rva, size; /* size 0: a public, up to the next row */
    uint32_t line;      /* 0: unknown             */
    uint32_t depth;     /* 0: a function of its own; else inline depth */
    const char *name;   /* never NULL             */
    const char *file;   /* NULL: unknown          */
};

/* Sorted by rva, then depth. */
struct csv_table {
    struct csv_row *rows;
    uint32_t count;
    uint32_t bad_rows;       /* skipped: not in this form            */
    uint64_t first_bad_foff; /* where the first of them starts       */
};

/* Reads a mapped file.  BASE is taken off every address; rows below it are bad.  All text is copied
 * into KEEP.  Fails: ERR_MALFORMED no good row in the file; ERR_LIMIT; ERR_MEMORY. */
enum status csv_read(const struct file_map *map, uint64_t base, struct arena *keep,
                     struct csv_table *out, struct fault *fault);

/* The rows that hold RVA, innermost first, the function last; at most MAX.  Returns their number.
 */
uint32_t csv_lookup(const struct csv_table *table, uint64_t rva, const struct csv_row **out,
                    uint32_t max);

#endif
