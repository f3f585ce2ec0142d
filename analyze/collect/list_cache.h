/* Scenario lists of victims that are kept; private to this room. */
#ifndef COLLECT_LIST_CACHE_H
#define COLLECT_LIST_CACHE_H

#include "collect/collect.h"

/* The cached scenario lists of victims, one file per program, in the Wine prefix: a program that
 * only needs the scenarios starts no Windows program and so waits for no run.  The name of a file
 * is a hash of the program, the launcher, the host, the Wine and whether that Wine runs 32-bit
 * programs. */
struct list_cache {
    const char *folder; /* NULL: no prefix, so nothing is kept */
    const char *facts;
};
void list_cache_open(const struct collect_options *options, struct arena *keep,
                     struct list_cache *out);

/* The file of PROGRAM's list, whether it exists or not; NULL: none is kept. */
const char *list_cache_path(const struct list_cache *cache, const char *program,
                            struct arena *keep);

/* The list as the program printed it; "": this host could not start the program.  NULL: PATH is
 * NULL, missing or damaged. */
const char *list_cache_read(const char *path, struct arena *keep);

/* Puts the file in place whole.  Failures are ignored: then the program is asked again. */
void list_cache_write(const struct list_cache *cache, const char *path, const char *text);

#endif
