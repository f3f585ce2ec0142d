/* Roots and folders: which file answers for an identity or a name. */
#ifndef SYMBOL_STORE_FIND_H
#define SYMBOL_STORE_FIND_H

#include "symbol/store_state.h"

/* The next file of a plain folder, or a single one, whose PATH is borrowed; NULL: there is no room
 * for it. */
struct store_file *store_add_file(struct symbol_store *store, const char *path,
                                  const struct source_kind *kind);

/* Opens a file as one of KIND, once for each path, slice and base. Fails: as source_open(). */
enum status store_open_source(struct symbol_store *store, const struct source_kind *kind,
                              const char *path, uint32_t slice, uint64_t base_va,
                              struct source **out, struct fault *fault);

/* Finds the files for sources->identity in the roots and fills the rest of *sources. */
void store_find(struct symbol_store *store, struct symbol_module *sources);

/* Finds the image of a file that the user chose for a module, and that does not say where its code
 * lies. */
void store_place_bound(struct symbol_store *store, struct symbol_module *sources);

/* Adds one file to the list, by its contents. Fails: ERR_UNSUPPORTED an unknown kind of file; as
 * file_map(); the fault of a damaged file. Callers ignore this for files found in folders. */
enum status store_list_file(struct symbol_store *store, const char *path, bool named,
                            struct fault *fault);

/* Finds the folders of the system. */
void store_system_open(struct symbol_store *store);

/* Adds a folder to those that are searched although the user did not name them, if it exists. */
void store_add_folder(struct symbol_store *store, const char *path);

/* Adds a folder that has the layout of a symbol server, and whose files are not listed. */
void store_add_server(struct symbol_store *store, const char *folder);

/* Adds a plain folder or file. Fails: ERR_ABSENT, and as store_list_file(). */
enum status store_add_root(struct symbol_store *store, const char *root, struct fault *fault);

/* Adds what a symbol path names. NAMED: on the command line, where each element must be usable. */
enum status store_add_path(struct symbol_store *store, const char *text, bool named,
                           struct fault *fault);

/* The file with the module's unwind data, even where another file names its code. */
void store_find_unwind(struct symbol_store *store, struct symbol_module *sources);
struct source *store_unwind_of(struct symbol_store *store, const struct module *module);

/* The image of a module that store_find() left out, from the servers. */
void store_find_image(struct symbol_store *store, struct symbol_module *sources);

/* What symbol stores append to the names of files that they pack, where these are read; NULL ends
 * the list. */
extern const char *const store_packings[];
/* And of bzip2. Warns once that such files, of which PATH is one, are not read. */
#define STORE_PACKING_UNREAD ".bz2"
void store_report_packed(struct symbol_store *store, const char *path);

/* In ROOT, a folder with the layout of a symbol server, all in SCRATCH; NULL: nothing there.
 * The folder of all builds of NAME: ROOT/NAME, or ROOT/NA/NAME, as on large servers (those with a
 * file index2.txt). */
char *store_find_builds(struct symbol_store *store, const char *root, const char *name,
                        struct arena *scratch);
/* ROOT/PLACE. The file AS may also be packed, with '_' as the last letter of its name, or be what
 * file.ptr leads to, if AS is the name of the folder. */
char *store_find_on_server(struct symbol_store *store, const char *root, struct source_place place,
                           struct arena *scratch);

enum { STORE_PDB_NAMES_MAX = 5 };

/* The names that a module's PDB may have, most certain first; NULL-terminated. */
void store_pdb_names(const struct module *module, const char *stated, struct arena *scratch,
                     const char *out[STORE_PDB_NAMES_MAX]);

/* True unless the module's name or identity says that it is one of another system. */
bool store_is_windows(const struct module *module);

/* The system's own image of that identity; NULL: none. A name alone is not an identity. */
struct source *store_system_image(struct symbol_store *store, const struct module *module,
                                  struct arena *scratch);

/* Folder NUMBER of all folders with a symbol-server layout: the roots, then the system's. */
static inline const char *store_server(const struct symbol_store *store, uint32_t number)
{
    return number < store->root_count ? store->roots[number]
                                      : store->system_folders[number - store->root_count];
}

/* Lists the files of all roots, once. */
void store_list_files(struct symbol_store *store);

/* True when the PDB's file name matches the module's PDB; a name alone proves nothing more. */
bool store_pdb_name_fits(const char *pdb_path, const struct module *module);

#endif
