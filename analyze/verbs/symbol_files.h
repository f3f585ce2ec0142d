/* Files of symbols of any kind, for the subcommands of `twinstack symbols`. */
#ifndef VERBS_SYMBOL_FILES_H
#define VERBS_SYMBOL_FILES_H

#include "symbol/source.h"
#include "verbs/verb.h"

/* A file that was found. */
struct symbol_file {
    const char *path, *name;
    struct source_place place; /* where a store keeps it */
    struct source source;      /* open */
};

typedef int symbol_file_fn(void *context, struct symbol_file *file);

/* Calls VISIT with every file named and every file in the folders named.  In folders, files of
 * other kinds are passed over; a named one is an error.  Returns the first exit code that is not
 * 0. */
int symbol_files_visit(const struct option_list *paths, symbol_file_fn *visit, void *context);

#endif
