/* Kinds of symbol files: one row and one file (source_NAME.c) for each. The rest of the room knows
 * no kind: it recognises a file, identifies it, opens it and asks it through its row.
 *
 * Of several files of one module, one whose row is earlier in the table names its code; an image
 * also answers where that file has no name, and files of methods answer for managed code.
 *
 * One more kind is a file, source_NAME.c, that fills a struct source_kind, and its name in SOURCES
 * below. source_csv.c is the smallest one; CONTRIBUTING.md has the recipe. */
#ifndef SYMBOL_SOURCE_H
#define SYMBOL_SOURCE_H

#include "base/files.h"
#include "base/thread.h"
#include "symbol/image_names.h"
#include "symbol/symbol_index.h"

struct json;
struct source;

/* What a file says about itself. */
struct source_id {
    const char *word;       /* the kind's name in JSON; NULL: the file only belongs to others */
    const char *name;       /* the file's name, or that of the module that it states */
    const char *image_name; /* of its image, if it states that; NULL */
    const char *pdb_name;   /* of the PDB that an image states; NULL */
    char debug_id[DEBUG_ID_BYTES], code_id[CODE_ID_BYTES], mvid[MVID_BYTES];
    char first_debug_id[DEBUG_ID_BYTES]; /* of an image that names several PDBs; "" otherwise */
    enum object_arch arch;               /* ARCH_NONE: not known before it is open */
    struct object_candidate object;      /* of object files */
    bool is_debug;                       /* the debug information of an image, without its code */
    bool cut_short;                      /* the file ends before its contents do, and is readable */
    const char *useless;                 /* why nothing can be looked up in it; NULL: it can */
};

/* What is searched: the file of MODULE. */
struct source_want {
    const struct module *module;
    const char *pdb_name; /* as the module's image states it; NULL */
    const char *debug_id; /* the module's, or that of its image; "": not known */
};

/* How well a file fits what is searched. Another build has the right name alone. */
enum source_fit { FIT_NONE, FIT_NAME, FIT_IDENTITY };

/* Where a store in the layout of symbol servers keeps a file: NAME/KEY/AS. */
struct source_place {
    const char *name, *key, *as; /* KEY "": the file states no identity */
};

enum { SOURCE_PLACES_MAX = 12 };

/* Why a file of the kind does not answer. */
struct source_notes {
    enum frame_note damaged, unsupported;
    enum frame_note other_build;
    enum frame_note other_key; /* it is in the folder of another key; NOTE_NONE: not searched for */
    enum frame_note several;   /* builds of one name */
    enum frame_note given;     /* the user chose it, and it is of another build */
};

/* How a kind uses indexes. */
struct source_indexing {
    enum symbol_indexing from;           /* the least setting with which they are read and built */
    bool beside;                         /* one may lie beside the file */
    uint64_t (*pays)(size_t file_bytes); /* after so many lookups building one pays off */
    /* The code in pieces, of which the index is made. PIECES->close follows, also after a fault.
     * The caller holds the mutex. */
    enum status (*pieces)(struct source *source, struct code_pieces *out, struct fault *fault);
    /* Builds it in another way.  NULL: from the pieces. */
    enum status (*build)(struct source *source, const struct symbol_index_key *key,
                         const char *path, struct fault *fault);
    /* A hash of other files that the answers depend on. NULL: none. */
    uint64_t (*companions)(const struct source *source);
};

/* What a file of the kind answers for. */
enum source_layer {
    LAYER_NONE,
    LAYER_NAMES,   /* names the code of a module */
    LAYER_IMAGE,   /* the image, or its debug information */
    LAYER_METHODS, /* lines of methods by their tokens; see store_managed.c */
};

struct source_kind {
    const char *what; /* in messages */
    enum source_layer layer;
    bool has_slices; /* see struct source */
    bool has_unwind; /* its unwind data is used even where another file names the code */
    bool by_image;   /* a module without an identity gets the file that its image states */
    bool by_code_id; /* a file may state the code_id of its image, which proves as much */
    struct source_notes notes;
    bool (*recognize)(const void *data, size_t bytes);
    /* Identifies a file, or slice SLICE of a fat one; OUT->name is the file's name already. Texts
     * are in KEEP. Fails: ERR_ABSENT no such slice; as the format's reader. */
    enum status (*identify)(const struct file_map *file, uint32_t slice, struct arena *keep,
                            struct source_id *out, struct fault *fault);
    enum source_fit (*fit)(const struct source_id *id, const struct source_want *want);
    /* True when KEY names the folder of this file on a symbol server. */
    bool (*is_under)(const struct source_id *id, const char *key);
    /* Where a server has the file of WANT, the likeliest place first; without an identity, the
     * names alone. Returns their number. */
    uint32_t (*places)(const struct source_want *want, struct arena *keep,
                       struct source_place out[SOURCE_PLACES_MAX]);
    /* Where a store keeps a file that was found. */
    void (*store_as)(const struct source_id *id, struct arena *keep, struct source_place *out);

    /* Fills source->id and source->opened. close() follows, also after a fault, once OPENED is set.
     */
    enum status (*open)(struct source *source, struct fault *fault);
    void (*close)(struct source *source);
    /* For a file that leaves it to its image where its code lies. NULL: none does. */
    void (*place)(struct source *source, const struct source *image);
    /* These lock the source themselves; see symbol_lookup() and symbol_lines(). */
    uint32_t (*frames)(struct source *source, uint64_t offset, struct symbol_frame *out);
    uint32_t (*method)(struct source *source, uint32_t token, uint32_t il,
                       struct symbol_frame *out);
    uint32_t (*lines)(struct source *source, uint32_t offset, uint32_t *out, uint32_t max);
    enum frame_note (*note)(struct source *source); /* why it gives fewer names than expected */
    /* Why a place has lines, but no name. NULL: nothing more is known than that. */
    enum frame_note (*unnamed)(struct source *source);
    struct source_indexing indexing; /* PAYS NULL: none */

    /* What `symbols list` prints of a file: members of a JSON object, or the rest of a line. */
    enum status (*describe)(struct source *source, struct json *to, struct fault *fault);
    enum status (*summarize)(struct source *source, FILE *to, struct fault *fault);
};

/* An opened file. */
struct source {
    const struct source_kind *kind;
    const char *path;
    uint32_t slice;             /* of a fat Mach-O file */
    uint64_t base_va;           /* that the addresses in a CSV include */
    enum symbol_names names;    /* how they are spelled */
    struct arena *keep;         /* for what lives as long as the source */
    struct symbol_store *store; /* NULL: it is open alone */
    struct file_map map;
    bool is_packed; /* it could not be opened because it is compressed */
    bool unpacked;  /* map.data was unpacked and is freed, not unmapped */
    struct source_id id;
    struct mutex *mutex;        /* over what follows */
    void *opened;               /* the kind's own */
    struct symbol_index *index; /* once set, it answers lookups without the mutex */
    bool index_asked;           /* reading it */
    bool index_built;           /* or tried to */
    uint64_t lookups;
    struct source *next;
};

/* The kinds that a file can be recognised as, by rank. ROW(NAME) means source_NAME, which is
 * defined in source_NAME.c; the rows become declarations here and the table in source.c. */
#define SOURCES(ROW)                                                                               \
    ROW(pdb)                                                                                       \
    ROW(breakpad)                                                                                  \
    ROW(object)                                                                                    \
    ROW(portable)                                                                                  \
    ROW(cabinet)

/* What is printed about a file that is none of them. */
#define SOURCES_EXPECTED "expected a PDB, a PE, ELF or Mach-O file, or a Breakpad .sym file"

#define SOURCE_DECLARATION(NAME) extern const struct source_kind source_##NAME;
SOURCES(SOURCE_DECLARATION)
extern const struct source_kind source_csv; /* only the user can say that a file is one */

#define SOURCE_NUMBER(NAME) SOURCE_NUMBER_##NAME,
enum { SOURCES(SOURCE_NUMBER) SOURCE_KINDS };
extern const struct source_kind *const source_kinds[SOURCE_KINDS];

/* NULL: no kind that is read here. */
const struct source_kind *source_recognize(const void *data, size_t bytes);

/* The name of the file at PATH; of "app.pdb.gz" that of the file in it, in KEEP. */
const char *source_name(const char *path, struct arena *keep);

/* Maps a file; one that is packed (app.pd_, app.pdb.gz) is unpacked, and *unpacked is set. Fails:
 * as file_map(), cab_unpack() or packed_unpack(). */
enum status source_map(const char *path, struct file_map *map, bool *unpacked, struct fault *fault);
void source_unmap(struct file_map *map, bool unpacked);

/* Opens a source whose fields before MAP are set; without a KIND, as what it is recognised as.
 * Fails: as source_map(); ERR_UNSUPPORTED, with KIND NULL, a file of no known kind; as the format's
 * reader. Then it is closed. */
enum status source_open(struct source *source, struct fault *fault);
void source_close(struct source *source);

/* Sets the fault of a file of no known kind. */
enum status source_refuse(const void *data, size_t bytes, struct fault *fault);
/* True when that fault says what the file is, and what to do with it. */
bool source_is_stranger(const void *data, size_t bytes);

/* True for an image that names the PDB of DEBUG_ID, in any of its records. */
bool source_names_pdb(const struct source_id *id, const char *debug_id);

/* For kinds whose files are named and kept like PDBs: by the debug_id of the image. */
enum source_fit source_fit_as_pdb(const struct source_id *id, const struct source_want *want);
bool source_has_debug_id(const struct source_id *id, const char *key);
uint32_t source_places_of_pdb(const struct source_want *want, struct arena *keep,
                              struct source_place out[SOURCE_PLACES_MAX]);
void source_store_by_debug_id(const struct source_id *id, struct arena *keep,
                              struct source_place *out);

/* What the kinds have of their own; NULL: the source is of another kind, or NULL. */
struct pdb *source_pdb_of(struct source *source); /* with its lists */
const struct object_file *source_object_of(const struct source *source);
const struct ppdb *source_portable_of(const struct source *source);

#endif
