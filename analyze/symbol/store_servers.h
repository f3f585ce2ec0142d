/* Files from symbol servers, over HTTP. */
#ifndef SYMBOL_STORE_SERVERS_H
#define SYMBOL_STORE_SERVERS_H

#include "symbol/store_state.h"

/* Asks the servers for the symbols of a module, under identity ID (a debug_id), or for its image.
 * True: at least one file is now in a cache. *NOTE says why not, if there is more to say. */
bool store_fetch_symbols(struct symbol_store *store, const struct module *module,
                         const struct source *image, const char *id, struct arena *scratch,
                         enum frame_note *note);
bool store_fetch_image(struct symbol_store *store, const struct module *module,
                       enum frame_note *note);
void store_servers_close(struct symbol_store *store);

/* The file at PATH, found under ROOT as NAME with the right ID, is copied into the first folder of
 * its chain, and counts as used if it is in the user's cache. */
void store_keep_nearer(struct symbol_store *store, const char *root, const char *name,
                       const char *id, const char *path);

#endif
