/* The symbol store: from a module's identity to names.
 *
 * Roots are folders in the Windows symbol-server layout (name.pdb/GUIDAGE/name.pdb,
 * name.dll/TIMESTAMPSIZE/name.dll), symbol servers with their cache, plain folders (indexed by the
 * identity inside the files, not by name), or single files. A module whose PDB does not match its
 * identity gets SYMBOLS_MISMATCH, never guessed names.
 *
 * A store keeps what it opened (mapped PDBs, indexes) until symbol_store_close(). Once it is open,
 * several threads may look up at the same time. */
#ifndef SYMBOL_SYMBOL_STORE_H
#define SYMBOL_SYMBOL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/files.h"
#include "fetch/fetch.h"
#include "format/object/arch.h"
#include "model/module.h"
#include "model/stack.h"
#include "symbol/undecorate.h"

struct symbol_store;
struct symbol_module; /* one module's sources: PDB or index, else DWARF, COFF, exports */

/* Which indexes are read from the cache and beside PDBs, and built in the cache. */
enum symbol_indexing {
    INDEXING_NONE,
    INDEXING_IMAGES, /* of images without a PDB: the system's own modules recur in every crash */
    INDEXING_AUTO,   /* also of PDBs, once there were enough lookups for one to pay off */
    INDEXING_ALWAYS, /* of both, at the first lookup */
};

/* "auto", "never" or "always". False: another word. */
bool symbol_indexing_parse(const char *word, enum symbol_indexing *out);

struct symbol_store_options {
    const char *const *roots; /* folders, files, and symbol paths (fetch/symbol_path.h) */
    uint32_t root_count;
    enum symbol_names names;
    bool system; /* also search the system's own folders: Wine's, _NT_SYMBOL_PATH */
    enum symbol_indexing indexing;
    enum object_arch arch; /* which slice of fat files answers; ARCH_NONE: the first */
    const char
        *cache; /* where indexes are kept: FOLDER of cache_locate(); NULL: the user's cache */
    struct fetch_options fetch; /* of symbol servers; its cache is not used: see CACHE */
};

/* The reason why an element of _NT_SYMBOL_PATH or TWINSTACK_SYMBOLS is not used; code ERR_NONE:
 * all of them are. */
const struct fault *symbol_store_path_fault(const struct symbol_store *store);

/* The roots as they were given, separated by commas, in KEEP: for messages. */
const char *symbol_store_places(const struct symbol_store *store, struct arena *keep);

/* The single files among the roots, as they were given; NULL past the last one. */
const char *symbol_store_named_file(const struct symbol_store *store, uint32_t index);
/* Whether such a file can be one of MODULE: of its identity, or where it states none of its name.
 */
bool symbol_store_file_fits(const struct symbol_store *store, const char *path,
                            const struct module *module);
/* The identity that such a file states, as in struct module: its debug_id, else its code_id;
 * borrowed. NULL: none. */
const char *symbol_store_file_identity(const struct symbol_store *store, const char *path);

/* Those of ROOTS, and of the bound files, that gave nothing to the modules asked for so far,
 * separated by commas, in KEEP; NULL: none, or no module was asked for. */
const char *symbol_store_unused(struct symbol_store *store, const char *const *roots,
                                uint32_t root_count, struct arena *keep);

/* Downloads what the symbol servers have of these modules, several files at once, without reading
 * them. EACH (may be NULL) is called with every file. Fails: ERR_ABSENT no server is named. */
typedef void symbol_fetched_fn(void *context, const struct fetch_file *file);
enum status symbol_store_fetch(struct symbol_store *store, const struct module *const *modules,
                               uint32_t count, symbol_fetched_fn *each, void *context,
                               struct fault *fault);

/* A missing root is ERR_ABSENT; symbol servers need libcurl (on Windows: nothing),
 * else ERR_UNSUPPORTED; everything inside the roots is opened lazily. */
enum status symbol_store_open(const struct symbol_store_options *options, struct symbol_store **out,
                              struct fault *fault);
void symbol_store_close(struct symbol_store *store);

/* Where it keeps what can be made again; borrowed. */
const struct cache *symbol_store_cache(const struct symbol_store *store);

/* How many indexes the store has built since it was opened, and the time that took. */
struct symbol_store_built {
    uint32_t indexes;
    uint64_t ns;
};
void symbol_store_built(struct symbol_store *store, struct symbol_store_built *out);

/* A new store over the same roots that has opened nothing yet, for measurements. CACHE: another
 * folder for its indexes; NULL: the same. Fails as symbol_store_open(); ERR_UNSUPPORTED: with
 * another cache, symbol servers would be asked again. */
enum status symbol_store_open_again(const struct symbol_store *store, const char *cache,
                                    struct symbol_store **out, struct fault *fault);

/* Binds a PDB file (or a pdbdump CSV) to a module name, as `--pdb NAME=FILE` and `--csv NAME=FILE`
 * do; NAME NULL: a bare file, which is used for the module that its own name matches, otherwise for
 * the first module in the input that is not a system module, and for no other. CSV_BASE is the load
 * base that the CSV's addresses include. */
enum status symbol_store_bind_pdb(struct symbol_store *store, const char *name, const char *path,
                                  struct fault *fault);
enum status symbol_store_bind_csv(struct symbol_store *store, const char *name, const char *path,
                                  uint64_t csv_base, struct fault *fault);

/* Announces the modules of the next stack. A bare file is matched to one of them: by its own
 * image's name, otherwise to the first that is not a system module. symbol_resolve_stack() calls
 * this itself. A caller that resolves stacks in another order than the input's must announce them
 * in input order first. */
void symbol_store_expect(struct symbol_store *store, const struct stack *stack);

/* Announces that MORE times as many frames will follow as were read so far of the same input; 0:
 * unknown. A file about which many questions are expected is prepared for them sooner. */
void symbol_store_expect_more(struct symbol_store *store, double more);

/* True when --pdb or --csv named a file for modules of that name. The user chose it, so no identity
 * is needed. */
bool symbol_store_is_bound(struct symbol_store *store, const char *name);

/* True for a module that comes with Windows or with a compiler, judged by its name. */
bool symbol_is_system_module(const char *name);

/* The module's sources, opened on first use and kept. Never NULL: a module without sources gives
 * SYMBOLS_NONE or SYMBOLS_MISMATCH, and the note of each frame says why. */
struct symbol_module *symbol_store_module(struct symbol_store *store, const struct module *module);

/* True when a file names the module's code. */
bool symbol_has_names(const struct symbol_module *sources);

/* What the files of a module say about its image. */
struct symbol_image {
    bool has_base;                  /* the image itself was found */
    uint64_t preferred_base_va;     /* where it was linked to be loaded */
    const char *code_id, *debug_id; /* as in model/module.h; "": not known */
};
void symbol_image_of(const struct symbol_module *sources, struct symbol_image *out);

/* One logical frame of an address. */
struct symbol_frame {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown    */
    uint64_t distance;    /* from the symbol's start */
    bool inlined;
    enum symbols_from from;
    const char *compiland; /* object file of the contribution; NULL */
    enum frame_note note;  /* more to say of the frame; not set by readers of text files */
};

enum { SYMBOL_FRAMES_MAX = 257 }; /* LIMIT_INLINE_DEPTH + the procedure */

/* Logical frames that cover OFFSET (from the image base), innermost first, the physical
 * function last.  OFFSET is the lookup address: the caller has applied the -1 rule.
 * Returns their number, 0 when nothing answers.  Strings live as long as the store. */
uint32_t symbol_lookup(struct symbol_module *sources, uint64_t offset,
                       struct symbol_frame out[SYMBOL_FRAMES_MAX]);

/* The lines that the module's DWARF gives to the address where OFFSET's line starts, in the order
 * of its table; readers differ in which one they use. Returns their number; 0 for a PDB. */
uint32_t symbol_lines(struct symbol_module *sources, uint64_t offset, uint32_t *out, uint32_t max);

/* Calls EACH with every name that the module's PDB gives the function around OFFSET: all names of
 * folded functions, and for an incremental-link jump those of its target. Stops and returns true
 * when EACH returns true. It reads the records of all object files, so use it only for uncertain
 * frames, not for all. */
typedef bool symbol_name_fn(void *context, const char *name);
bool symbol_each_name(struct symbol_module *sources, uint64_t offset, symbol_name_fn *each,
                      void *context);

/* What the PDB of a module says of the source FILE, as its frames name it: its text, if a portable
 * PDB has it, and where SourceLink says it is.  Both in KEEP; NULL: not there. */
struct symbol_source {
    const char *text; /* not ended by 0 */
    size_t bytes;
    const char *url;
};
void symbol_source(struct symbol_module *sources, const char *file, struct arena *keep,
                   struct symbol_source *out);

/* Opens the symbols of every module in the stack, so that loading and resolving are timed
 * separately. */
void symbol_load_modules(struct symbol_store *store, const struct stack *stack);

/* Expands physical frames into logical ones: looks up each frame of IN at frame_lookup_offset() and
 * writes the result, in KEEP, to OUT. Every engine of this project turns addresses into names only
 * through this function. Fails: ERR_MEMORY. */
enum status symbol_resolve_stack(struct symbol_store *store, const struct stack *in,
                                 struct arena *keep, struct stack *out, struct fault *fault);

/* The image file of a module (for unwind data and code bytes), mapped and kept by the
 * store; NULL when the store has none of that identity. */
const struct file_map *symbol_store_image(struct symbol_store *store, const struct module *module);

/* The same of an ELF or Mach-O image; of a fat file its slice. False: none. */
struct byte_view;
bool symbol_store_object(struct symbol_store *store, const struct module *module,
                         struct byte_view *out);

/* The PDB reader of a module (for FPO, FrameData, S_FRAMEPROC); NULL when there is none. */
struct pdb;
struct pdb *symbol_store_pdb(struct symbol_store *store, const struct module *module);

/* Where `symbols index` puts the index of a PDB, and where it is looked for before the cache:
 * beside it, or in FOLDER.  NULL when out of memory. */
char *symbol_index_path(const char *pdb_path, const char *debug_id, enum symbol_names names,
                        const char *folder, struct arena *keep);

#endif
