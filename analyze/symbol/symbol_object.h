/* What the files of symbol_object share; no other file includes this.
 *
 *   image_names.c          opening: which files belong to an image
 *   object_files.c    mapping a file of the image, opening its DWARF, and its symbols
 *   object_macho.c    the debug map of a Mach-O image
 *   object_lookup.c   what is known about one offset */
#ifndef SYMBOL_SYMBOL_OBJECT_H
#define SYMBOL_SYMBOL_OBJECT_H

#include "base/files.h"
#include "base/slots.h"
#include "symbol/image_names.h"

enum {
    OBJECT_FILES_MAX = 4096,    /* files that one image may need */
    OBJECT_EXPORT_BYTES = 4096, /* the most bytes that a symbol without a size names when nothing
                                 * else gives the end of its function */
};

/* A file with DWARF for the image, or for some of its functions. */
struct object_part {
    struct dwarf *dwarf; /* NULL: it has none */
    bool damaged;        /* it has some that is unreadable */
};

/* Maps a function of the image to its place in an object file. */
struct object_piece {
    uint32_t start, bytes; /* in the image */
    uint32_t part;
    uint32_t part_start; /* in the part */
};

struct readable_name {
    const char *linker, *readable;
};

enum { SCOPE_NAMES = 256 };

struct symbol_object {
    struct object_file image;
    enum symbol_names names;
    struct arena arena;
    struct object_map {
        struct file_map map;
        bool unpacked; /* see source_map() */
    } *maps;           /* owned, of companion files */
    uint32_t map_count, map_room;
    struct object_part
        *parts; /* in the arena; part 0 is for the whole image when it has no pieces */
    uint32_t part_count, part_room;
    struct object_piece *pieces; /* in the arena, sorted: of a debug map */
    uint32_t piece_count;
    struct object_debug code;               /* of the image: where code lies, and its base */
    struct object_symbols symbols, exports; /* symbols: see object_symbols_of() */
    const struct object_file *symbols_wait; /* until then: the file with the DWARF; else NULL */
    bool damaged;     /* of the image: sections of DWARF or the tables of symbols are unreadable */
    uint32_t *starts; /* of functions, sorted: Mach-O */
    uint32_t start_count;
    uint32_t function_rows; /* of x64 and arm64 images: rows of the function table; 0: none, or not
                               in order */
    struct readable_name *readable; /* owned */
    uint32_t readable_count, readable_room;
    struct slots by_linker; /* of them, by the address of the linker's name */
    struct scope_name {
        const struct dwarf_scope *scope;
        const char *name;
    } scope_names[SCOPE_NAMES]; /* of the scopes that were asked for last, by their address */
};

/* Maps a candidate's file and opens its slice.  False: it cannot be read. */
bool object_map(struct symbol_object *object, const struct object_candidate *candidate,
                struct object_file *out);

/* Adds the part and opens its DWARF.  NULL: out of memory. */
struct object_part *object_add_part(struct symbol_object *object, const struct dwarf_input *input);

/* Reads the debug map and the objects and archives among the candidates that it names. */
void object_read_debug_map(struct symbol_object *object, const struct object_candidate *candidates,
                           uint32_t count);

/* Reads the symbols of the image and of its debug file FROM (or the image); where DWARF names most
 * code, those of an ELF file are read when the first one is needed. */
void object_read_symbols(struct symbol_object *object, const struct object_file *from,
                         bool has_dwarf);

/* The symbols, sorted. */
const struct object_symbols *object_symbols_of(struct symbol_object *object);

/* Counts object->function_rows. */
void object_count_functions(struct symbol_object *object);

#endif
