/* What pdb_unit_sort() makes: unit_tables.c finds code, lines and inlinees, unit_sites.c the inline
 * sites of a procedure. The answers are those of the walks in pdb_unit.c. */
#ifndef SYMBOL_UNIT_TABLES_H
#define SYMBOL_UNIT_TABLES_H

#include "symbol/pdb_unit.h"

/* As pdb_unit_code_at(). */
int64_t unit_tables_code_at(const struct unit_tables *tables, struct pdb_place place);

/* The numbers of the line tables that cover PLACE, in file order. False: there are more of them. */
enum { UNIT_RANGES_MAX = 16 };
bool unit_tables_ranges_at(const struct unit_tables *tables, struct pdb_place place,
                           uint32_t numbers[UNIT_RANGES_MAX], uint32_t *count);

/* As pdb_unit_inlinee(). */
bool unit_tables_inlinee(const struct unit_tables *tables, uint32_t id, struct pdb_inlinee *out);

/* The inline sites of procedure CODE, whose record is PROCEDURE, decoded at the first question.
 * KEEP owns them. NULL: there are no tables, no memory for it, or the records are damaged; ask
 * pdb_unit_sites_at(). */
struct unit_sites;
const struct unit_sites *unit_tables_sites(const struct pdb_unit *unit, uint32_t code,
                                           const struct pdb_procedure *procedure,
                                           struct arena *keep);

/* As pdb_unit_sites_at(). */
uint32_t unit_sites_at(const struct unit_sites *sites, uint32_t offset,
                       struct unit_site out[LIMIT_INLINE_DEPTH]);

/* For unit_tables_sites(). */
struct unit_sites *unit_sites_read(const struct pdb_unit *unit,
                                   const struct pdb_procedure *procedure, struct arena *keep);

#endif
