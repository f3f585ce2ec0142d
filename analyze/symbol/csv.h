/* The symbol table that the article's pdbdump prints (DbgHelp's SymEnumSymbols, one row per
 * symbol):
 *
 *     "40cd51",22,"SymTagFunction","std::`dynamic initializer for 'initlocks''","D:\a\xlock.cpp",60
 *      address  size tag            name                                        file line
 *
 * Address: hexadecimal, with the load base that the exporter chose (0x400000 in the article). Text
 * is quoted and nothing in it is escaped, so a name may hold commas and quotes: a row is read from
 * both ends, and the name is what is left between the tag and the file, which on Windows cannot
 * hold a quote. "?" and 0 mean unknown. Fields without quotes are also accepted. Functions, thunks
 * and publics are read; other tags are skipped; a malformed row is skipped and counted.
 *
 * The form with inline ranges (`symbols export --inlines`) has one more column:
 *
 *     "40cd51",4,"SymTagInlineSite","f","D:\a\x.h",31,1
 *
 * Such a row is a range of inlined code with one line: its line within the inlined function, and
 * the inline depth. The function's own ranges are rows with the tag SymTagLine and depth 0. */
#ifndef SYMBOL_CSV_H
#define SYMBOL_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/files.h"

enum { CSV_BASE_DEFAULT = 0x400000 };

enum csv_kind { CSV_FUNCTION, CSV_PUBLIC, CSV_LINE, CSV_INLINE };

struct csv_row {
    uint32_t rva, end_rva; /* half open                                   */
    uint32_t line;         /* 0: unknown                                  */
    uint16_t depth;        /* 0: the function itself; else inline depth   */
    uint16_t kind;         /* enum csv_kind                               */
    uint32_t order;        /* in the file                                 */
    const char *name;      /* never NULL                                  */
    const char *file;      /* NULL: unknown                               */
};

/* Sorted by rva, then functions before publics, lines and inline sites, then in file order: if one
 * address has several names (folded code), the first one is used. */
struct csv_table {
    struct csv_row *rows;
    uint32_t *reach; /* largest end_rva of this and all rows before */
    uint32_t count;
    bool has_ranges;         /* rows that map ranges to lines */
    uint32_t bad_rows;       /* skipped: not in this form       */
    uint64_t first_bad_foff; /* where the first of them starts  */
};

/* Reads a mapped file. BASE is subtracted from every address; rows below it are malformed. All text
 * is copied into KEEP. Fails: ERR_MALFORMED no valid row in the file; ERR_LIMIT; ERR_MEMORY. */
enum status csv_read(const struct file_map *map, uint64_t base, struct arena *keep,
                     struct csv_table *out, struct fault *fault);

/* One logical frame of an address. */
struct csv_frame {
    const char *name, *file;
    uint32_t line, rva; /* rva: where the function starts */
    uint16_t depth;
};

/* The logical frames that hold RVA, innermost first, the function last.  Returns their number. */
uint32_t csv_lookup(const struct csv_table *table, uint64_t rva, struct csv_frame *out,
                    uint32_t max);

/* Prints one row in the same form; only CSV_LINE and CSV_INLINE have the column DEPTH. */
void csv_write(FILE *out, uint64_t address, uint32_t size, enum csv_kind kind, const char *name,
               const char *file, uint32_t line, uint32_t depth);

#endif
