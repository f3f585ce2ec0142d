/* One module of a PDB, prepared for questions about addresses: which procedure, which chain of
 * inline sites, which lines. These rules are only here: both the lazy lookup and the index builder
 * use this file. */
#ifndef SYMBOL_PDB_UNIT_H
#define SYMBOL_PDB_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "format/pdb/lines.h"
#include "format/pdb/pdb_module.h"

/* What is kept of each procedure; the rest is read again from its record. */
struct unit_code {
    struct pdb_place start;
    uint32_t bytes;
    uint32_t soff;
};

struct pdb_unit {
    struct pdb_module module;
    struct pdb_subsections subsections;
    struct unit_code *codes; /* procedures, separated parts, thunks; in file order */
    uint32_t code_count;
    struct pdb_line_range *ranges; /* line tables, in file order; of folded code the first's */
    uint32_t range_count;
    bool is_damaged; /* parts of the module's stream are cut: answers may lack something */
};

/* Reads module INDEX; KEEP owns everything that is not borrowed from the file. MARKS: see
 * pdb_symbols_are_whole(). False: out of memory or no such module. */
bool pdb_unit_open(const struct pdb *pdb, uint32_t index, struct arena *keep,
                   struct pdb_marks *marks, struct pdb_unit *out);

/* The code that contains PLACE: of several the one that starts last; of equal starts the first
 * record. -1: none. */
int64_t pdb_unit_code_at(const struct pdb_unit *unit, struct pdb_place place);

/* The code that starts last at or before PLACE in its section; of several the first record.
 * -1: none. */
int64_t pdb_unit_code_before(const struct pdb_unit *unit, struct pdb_place place);

/* The code's record; a separated part has the name and type of its procedure. */
bool pdb_unit_procedure(const struct pdb_unit *unit, uint32_t code, struct pdb_procedure *out);

/* The lines of all rows at the address of the row that holds PLACE, in the table's order; at most
 * MAX.  The last one counts, but at the very address of the rows the first. */
uint32_t pdb_unit_lines_at(const struct pdb_unit *unit, struct pdb_place place, uint32_t *out,
                           uint32_t max);

/* The line at PLACE: of all tables that cover it, the row that starts last, and of those the
 * last in the file.  If rows of one block start exactly at PLACE, the first of them with a line
 * counts.  False: no table covers it.  line 0: the compiler said "no line". */
bool pdb_unit_line_at(const struct pdb_unit *unit, struct pdb_place place,
                      struct pdb_line_row *out);

/* One inline site around an address. */
struct unit_site {
    uint32_t inlinee; /* id as the site names it */
    uint32_t file;    /* offset in the checksums; UNIT_INLINEE_FILE: the inlinee's own */
    int32_t line_delta;
};
#define UNIT_INLINEE_FILE UINT32_MAX

/* The inline sites around OFFSET bytes past the start of PROCEDURE, outermost first.  Returns
 * how many, at most LIMIT_INLINE_DEPTH. */
uint32_t pdb_unit_sites_at(const struct pdb_unit *unit, const struct pdb_procedure *procedure,
                           uint32_t offset, struct arena *scratch,
                           struct unit_site out[LIMIT_INLINE_DEPTH]);

/* Where the inlinee's lines start. False: the module does not state it. */
bool pdb_unit_inlinee(const struct pdb_unit *unit, uint32_t id, struct pdb_inlinee *out);

#endif
