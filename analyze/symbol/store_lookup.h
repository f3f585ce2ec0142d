/* One address asked of a module's files, and the indexes of these. */
#ifndef SYMBOL_STORE_LOOKUP_H
#define SYMBOL_STORE_LOOKUP_H

#include "symbol/store_state.h"

/* How many times as many questions as so far are expected. */
double store_more(struct symbol_store *store);

/* Looks for the index of a source, once. True: there is one, and it covers code. */
bool store_has_index(struct source *source);
/* The index of a source, which is built when that pays off after LOOKUPS more lookups; NULL: none.
 */
const struct symbol_index *store_index_of(struct source *source, uint32_t lookups);
/* When an index pays off for kinds of which a lookup without one reads much of the file. */
uint64_t store_index_pays_soon(size_t file_bytes);

/* The sources to use, decided once per stack and module, so that frames need no lock. */
struct source_view {
    struct symbol_module *sources;
    const struct symbol_index *index;
};
struct source_view store_view(struct symbol_module *sources, uint32_t lookups);
uint32_t store_view_lookup(const struct source_view *view, uint64_t offset,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX]);

#endif
