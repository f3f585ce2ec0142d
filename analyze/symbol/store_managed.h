/* Methods: metadata of images, and portable PDBs. */
#ifndef SYMBOL_STORE_MANAGED_H
#define SYMBOL_STORE_MANAGED_H

#include "symbol/store_state.h"

/* Finds the metadata and the portable PDB of a managed module, after its image was looked for. */
void store_find_managed(struct symbol_store *store, struct symbol_module *sources,
                        struct arena *scratch);
/* The same for a module with a native PDB: names of methods alone, from the image if there is one.
 */
void store_find_metadata(struct symbol_store *store, struct symbol_module *sources);
/* KEY: see frame_lookup_offset(). */
uint32_t store_managed_lookup(struct store_managed *managed, uint64_t key,
                              struct symbol_frame *out);
/* The name of method TOKEN with the type arguments of its code; NULL: no image names it. */
const char *store_managed_instance(struct store_managed *managed, uint32_t token,
                                   const char *arguments);
/* The method whose compiled code the image has at RVA; 0: none. */
uint32_t store_managed_native(struct store_managed *managed, uint32_t rva,
                              struct symbol_frame *out);
void store_managed_close_all(struct symbol_store *store);

#endif
