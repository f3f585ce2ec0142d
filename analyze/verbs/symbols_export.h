/* `symbols export` of images that have no PDB. */
#ifndef VERBS_SYMBOLS_EXPORT_H
#define VERBS_SYMBOLS_EXPORT_H

#include "symbol/undecorate.h"
#include "verbs/symbol_files.h"

/* Prints the image FILE as a Breakpad file. COMPANIONS: files that may hold its debug information.
 * Returns the exit code. */
int symbols_export_object(const struct symbol_file *file, const struct option_list *companions,
                          enum symbol_names names);

#endif
