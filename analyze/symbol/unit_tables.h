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

/* An inline site at one row of its annotations; what follows SITE is kept here by the caller that
 * names it. */
struct unit_site_row {
    uint32_t end;
    uint32_t reach; /* the largest end up to here, within the site that this one is inlined into */
    uint32_t site;
    uint32_t line;
    const char *function; /* NULL: not named yet */
    const char *file;
};

struct unit_known_site {
    struct unit_site_row *row;
    const struct unit_site *site;
};

/* What is kept of a procedure. */
struct unit_procedure {
    struct pdb_procedure procedure;
    struct unit_sites *sites; /* NULL: ask pdb_unit_sites_at() */
    bool named;               /* NAME is filled by the caller that names it */
    const char *name;
};

struct known_procedure {
    struct unit_procedure *procedure; /* NULL: not known */
    bool tried;
};

/* The place for code number CODE. */
struct known_procedure *unit_tables_known(const struct unit_tables *tables, uint32_t code);

/* Procedure CODE, read at the first question, with its inline sites. KEEP owns it. NULL: there are
 * no tables, no memory for it, or its record is damaged; ask pdb_unit_procedure(). */
struct unit_procedure *unit_procedure_at(const struct pdb_unit *unit, uint32_t code,
                                         struct arena *keep);

/* As pdb_unit_sites_at(). */
uint32_t unit_sites_at(const struct unit_sites *sites, uint32_t offset,
                       struct unit_known_site out[LIMIT_INLINE_DEPTH]);

#endif
