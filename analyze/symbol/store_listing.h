/* What the files of a symbol folder are, kept in the cache from one start to the next: each file's
 * path and stamp, and the identity that was read from it. A file is opened again only when its
 * stamp differs; one that changed within the last seconds before it was listed is not trusted,
 * since it may change again without another time. */
#ifndef SYMBOL_STORE_LISTING_H
#define SYMBOL_STORE_LISTING_H

#include "symbol/store_state.h"

/* Folders with fewer files are read at each start. */
enum { LISTING_LEAST_FILES = 256, LISTING_VERSION = 2 }; /* LEAST: as a store begins */

struct listing;

/* The listing of the folder ROOT, empty where the cache has none that is whole and of this version.
 * NULL: there is no cache, or out of memory. */
struct listing *listing_open(struct symbol_store *store, const char *root);

/* Adds what LISTING knows of the file PATH to the files of the store. STAMP: what path_stamp() says
 * now. False: it knows nothing, or the file changed. */
bool listing_take(struct listing *listing, const char *path, const struct file_stamp *stamp);

/* PATH was opened: its entries are those of the store from FIRST on. STAMP: what path_stamp() said
 * before. */
void listing_add(struct listing *listing, const char *path, const struct file_stamp *stamp,
                 uint32_t first);

/* Writes the listing if it differs from the cache's. NULL: nothing. */
void listing_end(struct listing *listing);

/* Releases all of the store, whose files borrow their texts. */
void listings_free(struct symbol_store *store);

#endif
