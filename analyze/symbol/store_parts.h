/* What the parts of the symbol store share; no other file includes this.
 *
 *   store.c         opening, binding, the table of modules
 *   store_find.c    roots: which file answers for an identity or a name
 *   store_folder.c  folders with the layout of a symbol server
 *   store_list.c    the files of plain folders
 *   store_source.c  opened files: PDB, CSV, image; one address asked of them
 *   store_servers.c  files from symbol servers, over HTTP
 *   store_managed.c  managed images and portable PDBs
 *   store_breakpad.c  Breakpad .sym files, opened and asked
 *   resolve.c       a whole stack
 *
 * Everything except lookups happens under store->mutex. */
#ifndef SYMBOL_STORE_PARTS_H
#define SYMBOL_STORE_PARTS_H

#include "base/bytes.h"
#include "base/cache.h"
#include "base/files.h"
#include "base/thread.h"
#include "format/breakpad/breakpad.h"
#include "format/pdb/pdb.h"
#include "format/pe/pe.h"
#include "format/portable_pdb/managed.h"
#include "symbol/csv.h"
#include "symbol/object.h"
#include "symbol/pdb_lookup.h"
#include "symbol/store.h"
#include "symbol/symbol_index.h"

enum {
    STORE_MODULES_MAX =
        1 << 16, /* modules remembered; above this, modules without files share one entry */
    STORE_FILES_MAX = 1 << 16, /* files indexed in plain folders                           */
    STORE_FOLDER_DEPTH = 8,    /* depth of nested folders that are searched                */
    STORE_FIRST_SLOTS = 64,    /* hash chains of the module table, which grows             */
};

/* An opened PDB, shared by all modules that it answers for. */
struct store_pdb {
    const char *path;
    struct file_map map;
    bool unpacked;  /* map.data was unpacked from a cabinet and is freed, not unmapped */
    struct pdb pdb; /* whole only after store_pdb_lists() */
    char debug_id[DEBUG_ID_BYTES];
    struct mutex *mutex;        /* over what follows */
    bool lists_wait;            /* of pdb: not read, because of the index */
    struct pdb_lookup *lookup;  /* NULL until the first question */
    struct symbol_index *index; /* once set, it answers lookups without the mutex */
    bool index_tried;           /* reading it */
    bool index_built;           /* or tried to */
    uint64_t lookup_count;
    struct store_pdb *next;
};

/* An opened image, for its identity, its bytes, and names where there is no PDB. */
struct store_image {
    const char *path;
    uint32_t slice; /* of a fat Mach-O file */
    struct file_map map;
    bool unpacked; /* as of a PDB */
    struct object_file file;
    char debug_id[DEBUG_ID_BYTES], code_id[CODE_ID_BYTES], mvid[MVID_BYTES];
    const char *pdb_name;        /* file name that the image states; NULL */
    struct mutex *mutex;         /* over what follows */
    struct symbol_object *names; /* NULL until the first question that the index cannot answer */
    struct symbol_index *index;  /* once set, it answers lookups without the mutex */
    bool index_tried;            /* reading it */
    bool index_built;            /* or tried to */
    uint64_t lookup_count;
    struct store_image *next;
};

/* An opened Breakpad .sym file. */
struct store_breakpad {
    const char *path;
    struct file_map map;
    struct breakpad file;   /* only its identity */
    struct mutex *mutex;    /* over what follows */
    struct breakpad *whole; /* owned; NULL until needed; does not change after that */
    bool whole_tried;
    struct symbol_index *index; /* once set, it answers lookups without the mutex */
    bool index_tried;           /* reading it */
    bool index_built;           /* or tried to */
    uint64_t lookup_count;
    struct store_breakpad *next;
};

struct store_csv {
    const char *path;
    uint64_t base;
    struct csv_table table;
    struct store_csv *next;
};

/* What --pdb or --csv named. */
struct store_binding {
    const char *name;  /* NULL: a bare file */
    const char *taken; /* bare: the module name that it is used for; NULL: none yet */
    struct store_pdb *pdb;
    struct store_csv *csv;
    struct store_breakpad *breakpad;
    struct store_binding *next;
};

/* A file of a plain folder, or named as a root itself. */
struct store_file {
    const char *path, *name;
    const char *image_name; /* of a .sym file that names its image; NULL */
    bool image;             /* its code or its debug information */
    bool pdb;
    bool breakpad;     /* a .sym file: NAME is that of its module */
    bool portable;     /* a portable PDB */
    const char *bound; /* the module that the user chose it for; NULL: none */
    bool packed;       /* in a cabinet: the identity is unknown until it is unpacked */
    bool root;         /* the user named the file, not its folder */
    const char *taken; /* the module of another name that it is used for; NULL: none */
    struct object_candidate object;
    char debug_id[DEBUG_ID_BYTES], code_id[CODE_ID_BYTES], mvid[MVID_BYTES];
};

struct store_managed; /* see store_managed.c */

struct symbol_module {
    struct symbol_store *store;
    struct module identity; /* owned copy */
    uint64_t hash;          /* of the identity */
    struct store_pdb *pdb;
    struct store_csv *csv;
    struct store_image *image;
    struct store_breakpad *breakpad;
    struct store_managed *managed; /* NULL: no managed code */
    enum symbols_from without;     /* of a frame without a name: NONE or MISMATCH */
    enum identity_state state;
    bool image_asked; /* the servers were asked for it */
    bool unwind_asked;
    struct store_breakpad *unwind; /* the file whose STACK records apply; once unwind_asked */
    enum frame_note note;          /* why there are no names, or how they were found */
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
    uint32_t system_count;
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
    bool files_listed;
    struct store_binding *bindings;
    uint32_t bare_open; /* bare files that have not been assigned to a module yet   */
    bool first_taken;   /* a bare file is used for a name other than its own image's */
    struct store_pdb *pdbs;
    struct store_image *images;
    struct store_csv *csvs;
    struct store_breakpad *breakpads;
    struct store_managed *managed;
    struct symbol_module **modules; /* hash chains; owned */
    uint32_t module_slots, module_count;
    struct symbol_module nothing; /* for modules past STORE_MODULES_MAX */
};

/* Opens a PDB or an image (either may be in a cabinet), or a CSV, once. */
enum status store_open_pdb(struct symbol_store *store, const char *path, struct store_pdb **out,
                           struct fault *fault);
/* The PDB with its lists. The caller holds its mutex. */
struct pdb *store_pdb_lists(struct store_pdb *opened);
/* Looks for its index, once. True: there is one, and it covers code. */
bool store_open_pdb_index(const struct symbol_store *store, struct store_pdb *pdb);
enum status store_open_image(struct symbol_store *store, const char *path, uint32_t slice,
                             struct store_image **out, struct fault *fault);
enum status store_open_csv(struct symbol_store *store, const char *path, uint64_t base,
                           struct store_csv **out, struct fault *fault);
enum status store_open_breakpad(struct symbol_store *store, const char *path,
                                struct store_breakpad **out, struct fault *fault);
uint32_t store_breakpad_lookup(const struct symbol_store *store, struct store_breakpad *opened,
                               uint64_t offset, struct symbol_frame *out);

/* Reads the records of the file, once; NULL: out of memory. The caller holds its mutex. */
const struct breakpad *store_breakpad_whole(const struct symbol_store *store,
                                            struct store_breakpad *opened);

/* Finds the metadata and the portable PDB of a managed module, after its image was looked for. */
void store_find_managed(struct symbol_store *store, struct symbol_module *sources,
                        struct arena *scratch);
/* The image of a module of which only the MVID is known. NULL: none, *OTHER: only other ones of its
 * name, or *SEVERAL with that MVID, which name different PDBs. */
struct store_image *store_image_of_mvid(struct symbol_store *store, const struct module *module,
                                        struct arena *scratch, bool *other, bool *several);
/* The same for a module with a native PDB: names of methods alone, from the image if there is one.
 */
void store_find_metadata(struct symbol_store *store, struct symbol_module *sources);
/* KEY: see frame_lookup_offset(). */
uint32_t store_managed_lookup(struct store_managed *managed, uint64_t key,
                              struct symbol_frame *out);
void store_managed_close_all(struct symbol_store *store);
void store_breakpad_close_all(struct symbol_store *store);
/* The name under which Breakpad keeps the symbols of FILE: "app.pdb" gives "app.sym".  In KEEP. */
char *store_breakpad_name(const char *file, struct arena *keep);
void store_close_sources(struct symbol_store *store);

/* Finds the files for sources->identity in the roots and fills the rest of *sources. */
void store_find(struct symbol_store *store, struct symbol_module *sources);

/* Adds one file to the list, by its contents. Fails: ERR_UNSUPPORTED an unknown kind of file; as
 * file_map(); the fault of a damaged file. Callers ignore this for files found in folders. */
enum status store_list_file(struct symbol_store *store, const char *path, bool root,
                            struct fault *fault);

/* Adds a portable PDB, for the module NAME (NULL: for those that it fits). */
enum status store_list_portable(struct symbol_store *store, const char *name, const char *path,
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
                         const struct store_image *image, const char *id, struct arena *scratch,
                         enum frame_note *note);
bool store_fetch_image(struct symbol_store *store, const struct module *module,
                       enum frame_note *note);
void store_servers_close(struct symbol_store *store);

/* The file at PATH, found under ROOT as NAME with the right ID, is copied into the first folder of
 * its chain, and counts as used if it is in the user's cache. */
void store_keep_nearer(struct symbol_store *store, const char *root, const char *name,
                       const char *id, const char *path);

/* The Breakpad file with the module's unwind data, even where a PDB gives the names. */
void store_find_unwind(struct symbol_store *store, struct symbol_module *sources);

/* The image of a module that store_find() left out, from the servers. */
void store_find_image(struct symbol_store *store, struct symbol_module *sources);

/* In ROOT, a folder with the layout of a symbol server, all in SCRATCH; NULL: nothing there.
 * The folder of all builds of NAME: ROOT/NAME, or ROOT/NA/NAME, as on large servers (those with a
 * file index2.txt). */
char *store_find_builds(const char *root, const char *name, struct arena *scratch);
/* ROOT/NAME/ID/NAME, whose last letter is '_' when it is packed; or what file.ptr there leads to.
 */
char *store_find_on_server(struct symbol_store *store, const char *root, const char *name,
                           const char *id, struct arena *scratch);
/* ROOT/NAME/ID/NAME.sym, as Breakpad's tools lay symbols out. */
char *store_find_breakpad_on_server(const char *root, const char *name, const char *id,
                                    struct arena *scratch);

/* The names that a module's PDB may have, most certain first; NULL-terminated. */
void store_pdb_names(const struct module *module, const char *stated, struct arena *scratch,
                     const char *out[5]);

/* The system's own image of that identity; NULL: none. A name alone is not an identity. */
struct store_image *store_system_image(struct symbol_store *store, const struct module *module,
                                       struct arena *scratch);

/* Folder NUMBER of all folders with a symbol-server layout: the roots, then the system's. */
static inline const char *store_server(const struct symbol_store *store, uint32_t number)
{
    return number < store->root_count ? store->roots[number]
                                      : store->system_folders[number - store->root_count];
}

/* Opens the names that the image has instead of a PDB, with the files that belong to it, and a hash
 * of the files that may; see symbol_object_companions(). The caller holds the image's mutex. */
bool store_image_open_names(const struct symbol_store *store, struct store_image *image);
uint64_t store_image_companions(const struct symbol_store *store, const struct store_image *image);

/* The image's index, which is built when that pays off after LOOKUPS more lookups; NULL: none. The
 * caller holds the image's mutex. */
const struct symbol_index *store_image_index(struct symbol_store *store, struct store_image *image,
                                             uint32_t lookups);

/* Lists the files of all roots, once. */
void store_list_files(struct symbol_store *store);

/* True when the PDB's file name matches the module's PDB; a name alone proves nothing more. */
bool store_pdb_name_fits(const char *pdb_path, const struct module *module);

/* The same of the module that a .sym file names. */
bool store_breakpad_name_fits(const struct breakpad *file, const struct module *module);

/* Why a PDB gives fewer names than expected; NULL: it is complete. */
enum frame_note store_pdb_note(const struct store_pdb *opened);

/* The sources to use, decided once per stack and module, so that frames need no lock. */
struct source_view {
    struct symbol_module *sources;
    const struct symbol_index *index;
};
struct source_view store_view(struct symbol_store *store, struct symbol_module *sources,
                              uint32_t lookups);
uint32_t store_view_lookup(const struct source_view *view, uint64_t offset,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX]);

#endif
