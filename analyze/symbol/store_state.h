/* What a symbol store holds. Besides its files only the rows of kinds include this.
 *
 *   symbol_store.c          opening, binding, the table of modules
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
#ifndef SYMBOL_STORE_STATE_H
#define SYMBOL_STORE_STATE_H

#include "base/bytes.h"
#include "base/cache.h"
#include "base/files.h"
#include "base/thread.h"
#include "format/pdb/pdb.h"
#include "format/pe/pe.h"
#include "format/portable_pdb/managed_image.h"
#include "symbol/csv.h"
#include "symbol/image_names.h"
#include "symbol/pdb_lookup.h"
#include "symbol/source.h"
#include "symbol/symbol_index.h"
#include "symbol/symbol_store.h"

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
struct store_names;
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
    double more; /* see symbol_store_expect_more() */
    const char *
        *system_folders; /* searched although the user did not name them; see store_system.c */
    uint32_t system_count, system_room;
    uint32_t system_left;  /* of the system's own folders: not looked for yet */
    uint32_t server_count; /* of these, the first: laid out as symbol servers are */
    struct store_nearer *nearer;
    struct store_names *names_in; /* of folders laid out as servers are; see store_folder.c */
    struct fetch *fetch;          /* NULL: no chain is named */
    struct fetch_options fetch_options;
    bool pointer_message;    /* a file.ptr met in the search under way says why there is no file */
    struct fault path_fault; /* of the environment's symbol path */
    enum object_arch arch;   /* of fat files; ARCH_NONE: the first that they have */
    const char **words;      /* the roots as the user named them */
    uint32_t word_count;
    const char **roots, **singles; /* folders; and files */
    uint32_t root_count, root_room, single_count, single_room;
    struct store_file *files; /* of plain folders and single files; unsorted */
    uint32_t file_count, file_room;
    uint32_t named_count;         /* of these, the first: the user named the file, not its folder */
    struct listing *listings;     /* see store_listing.h */
    uint32_t listed_least;        /* folders with fewer files have none */
    uint32_t files_most;          /* STORE_FILES_MAX */
    bool files_listed, files_cut; /* cut: there are more than STORE_FILES_MAX */
    bool depth_cut;               /* there are folders below STORE_FOLDER_DEPTH */
    bool packed_seen;             /* a compressed symbol file was passed over */
    struct store_binding *bindings;
    uint32_t bare_open;     /* bare files that have not been assigned to a module yet   */
    bool first_taken;       /* a bare file is used for a name other than its own image's */
    struct source *sources; /* all that are open */
    struct store_managed *managed;
    struct symbol_module **modules; /* hash chains; owned */
    uint32_t module_slots, module_count;
    struct symbol_module nothing; /* for modules past STORE_MODULES_MAX */
};

#endif
