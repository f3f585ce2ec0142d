/* A PDB made by hand, queried lazily and through its index. */
#ifndef TESTS_MADE_WORLD_H
#define TESTS_MADE_WORLD_H

#include "make_pdb.h"
#include "pdb_world.h"
#include "symbol/symbol_index.h"

struct made_world {
    struct pdb_world world;
    struct symbol_index *index;
    struct arena keep;
};

/* Writes M's file and its index and opens both; frees M. */
void made_open(struct made_world *w, struct make_pdb *m);
void made_close(struct made_world *w);

/* Checks that both lookups give the frames WANT at RVA, innermost first: "name+0x1 file:line <
 * name+0x2 ...", each with its note in parentheses; "-" when there are none. */
void made_check(struct made_world *w, uint32_t rva, const char *want);

#endif
