/* What the parts of the symbol store share; besides them only the rows of kinds
 * include this.
 *
 *   store.c          opening, binding, the table of modules
 *   source*.c        kinds of files, see source.h
 *   store_find.c     roots: which file answers for an identity or a name
 *   store_folder.c   folders with the layout of a symbol server
 *   store_list.c     the files of plain folders
 *   store_index.c    the indexes of opened files
 *   store_lookup.c   one address asked of a module's files
 *   store_servers.c  files from symbol servers, over HTTP
 *   store_managed.c  methods: metadata of images, and portable PDBs
 *   resolve.c        a whole stack
 *
 * Everything except lookups happens under store->mutex. */
#ifndef SYMBOL_STORE_PARTS_H
#define SYMBOL_STORE_PARTS_H

#include "base/bytes.h"
#include "base/cache.h"
#include "base/files.h"
#include "base/thread.h"
#include "format/pdb/pdb.h"
#include "format/pe/pe.h"
#include "format/portable_pdb/managed.h"
#include "symbol/csv.h"
#include "symbol/object.h"
#include "symbol/pdb_lookup.h"
#include "symbol/source.h"
#include "symbol/store.h"
#include "symbol/symbol_index.h"

enum {
    STORE_MODULES_MAX =
        1 << 16, /* modules remembered; above this, modules without files share one entry */
    STORE_FILES_MAX = 1000000, /* files in plain folders; more are said to be left out     */
    STORE_FOLDER_DEPTH = 8,    /* depth of nested folders that are searched                */
    STORE_FIRST_SLOTS = 64,    /* hash chains of the module table, which grows             */
};

/* What --pdb or --csv named. */
struct store_binding {
    const char *name;  /* NULL: a bare file */
    const char *taken; /* bare: the module name that it is used for; NULL: none yet */
    struct source *source;
    struct store_binding *next;
};

/* A file of a plain folder, or named as a root itself. */
struct store_file {
    const char *path;
    const struct source_kind *kind;
    struct source_id id; /* empty if the file is damaged, or in a cabinet */
    const char *bound;   /* the module that the user chose it for; NULL: none */
    const char *taken;   /* the module of another name that it is used for; NULL: none */
};

struct listing;
struct store_managed; /* see store_managed.c */

struct symbol_module {
    struct module identity;        /* owned copy */
    uint64_t hash;                 /* of the identity */
    struct source *names;          /* names its code; NULL: none */
    struct source *image;          /* answers where NAMES has no name; NULL: none */
    struct store_managed *managed; /* NULL: no managed code */
    enum symbols_from without;     /* of a frame without a name: NONE or MISMATCH */
    enum identity_state state;
    bool image_asked; /* the servers were asked for it */
    bool unwind_asked;
    struct source *unwind; /* the file with unwind data of its own; once unwind_asked */
    enum frame_note note;  /* why there are no names, or how they were found */
    struct symbol_module *next;
};

/* A folder of a chain, and the first folder of that chain, into which found files are copied. */
struct store_nearer {
    const char *from, *to;
    struct store_nearer *next;
};

struct symbol_store {
    struct arena arena; /* owned */
    struct mutex *mutex;
    enum symbol_names names;
    enum symbol_indexing indexing;
    bool with_system;
    const char *cache_stated; /* see symbol_store_options */
    struct cache cache;
    struct mutex *counters; /* over what follows */
    struct symbol_store_built built;
    const char *
        *system_folders; /* searched although the user did not name them; see store_system.c */
    uint32_t system_count, system_room;
    bool system_waits;     /* the system's own folders are looked for when the first image is */
    uint32_t server_count; /* of these, the first: laid out as symbol servers are */
    struct store_nearer *nearer;
    struct fetch *fetch; /* NULL: no chain is named */
    struct fetch_options fetch_options;
    bool pointer_message;    /* a file.ptr met in the search under way says why there is no file */
    struct fault path_fault; /* of the environment's symbol path */
    enum object_arch arch;   /* of fat files; ARCH_NONE: the first that they have */
    const char **words;      /* the roots as the user named them */
    uint32_t word_count;
    const char **roots; /* plain folders and files */
    uint32_t root_count, root_room;
    struct store_file *files; /* of plain folders and single files; unsorted */
    uint32_t file_count, file_room;
    uint32_t named_count;         /* of these, the first: the user named the file, not its folder */
    struct listing *listings;     /* see store_listing.h */
    uint32_t listed_least;        /* folders with fewer files have none */
    uint32_t files_most;          /* STORE_FILES_MAX */
    bool files_listed, files_cut; /* cut: there are more than STORE_FILES_MAX */
    bool depth_cut;               /* there are folders below STORE_FOLDER_DEPTH */
    struct store_binding *bindings;
    uint32_t bare_open;     /* bare files that have not been assigned to a module yet   */
    bool first_taken;       /* a bare file is used for a name other than its own image's */
    struct source *sources; /* all that are open */
    struct store_managed *managed;
    struct symbol_module **modules; /* hash chains; owned */
    uint32_t module_slots, module_count;
    struct symbol_module nothing; /* for modules past STORE_MODULES_MAX */
};

/* The next file of a plain folder, or a single one, whose PATH is borrowed; NULL: there is no room
 * for it. */
struct store_file *store_add_file(struct symbol_store *store, const char *path,
                                  const struct source_kind *kind);

/* Opens a file as one of KIND, once for each path, slice and base. Fails: as source_open(). */
enum status store_open_source(struct symbol_store *store, const struct source_kind *kind,
                              const char *path, uint32_t slice, uint64_t base_va,
                              struct source **out, struct fault *fault);

/* Looks for the index of a source, once. True: there is one, and it covers code. */
bool store_has_index(struct source *source);
/* The index of a source, which is built when that pays off after LOOKUPS more lookups; NULL: none.
 */
const struct symbol_index *store_index_of(struct source *source, uint32_t lookups);
/* When an index pays off for kinds of which a lookup without one reads much of the file. */
uint64_t store_index_pays_soon(size_t file_bytes);

/* Finds the metadata and the portable PDB of a managed module, after its image was looked for. */
void store_find_managed(struct symbol_store *store, struct symbol_module *sources,
                        struct arena *scratch);
/* The same for a module with a native PDB: names of methods alone, from the image if there is one.
 */
void store_find_metadata(struct symbol_store *store, struct symbol_module *sources);
/* KEY: see frame_lookup_offset(). */
uint32_t store_managed_lookup(struct store_managed *managed, uint64_t key,
                              struct symbol_frame *out);
/* The method whose compiled code the image has at RVA; 0: none. */
uint32_t store_managed_native(struct store_managed *managed, uint32_t rva,
                              struct symbol_frame *out);
void store_managed_close_all(struct symbol_store *store);

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

/* The file with the module's unwind data, even where another file names its code. */
void store_find_unwind(struct symbol_store *store, struct symbol_module *sources);
struct source *store_unwind_of(struct symbol_store *store, const struct module *module);

/* The image of a module that store_find() left out, from the servers. */
void store_find_image(struct symbol_store *store, struct symbol_module *sources);

/* In ROOT, a folder with the layout of a symbol server, all in SCRATCH; NULL: nothing there.
 * The folder of all builds of NAME: ROOT/NAME, or ROOT/NA/NAME, as on large servers (those with a
 * file index2.txt). */
char *store_find_builds(const char *root, const char *name, struct arena *scratch);
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

/* The sources to use, decided once per stack and module, so that frames need no lock. */
struct source_view {
    struct symbol_module *sources;
    const struct symbol_index *index;
};
struct source_view store_view(struct symbol_module *sources, uint32_t lookups);
uint32_t store_view_lookup(const struct source_view *view, uint64_t offset,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX]);

#endif
