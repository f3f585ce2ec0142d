/* A note on stderr when symbol indexes were built: the first use of a module takes longer than all
 * later ones. */
#ifndef VERBS_INDEX_NOTE_H
#define VERBS_INDEX_NOTE_H

#include "symbol/store.h"

void index_note(const struct symbol_store_built *built);
void index_note_of(struct symbol_store *store); /* NULL: nothing is printed */

#endif
