/* Names of one image that has no PDB, whatever its container: DWARF of the image or of the files
 * that belong to it, then symbol tables, then exports.
 *
 * The files of an image are searched among the files that the user named, never beside the image:
 *   ELF     the file of its build id, of .gnu_debuglink (by name and CRC), of .gnu_debugaltlink;
 *           .dwo and .dwp files by the ids of their units; the image in .gnu_debugdata
 *   Mach-O  the dSYM of its LC_UUID; else the objects and archives of its debug map
 *   PE      the file of .gnu_debuglink; else the debug file named after it (app.exe.debug), if its
 *           sections lie at the same places
 *
 * Only one thread at a time may use a struct. */
#ifndef SYMBOL_IMAGE_NAMES_H
#define SYMBOL_IMAGE_NAMES_H

#include "format/dwarf/dwarf.h"
#include "format/object/file.h"
#include "symbol/pieces.h"

struct symbol_object;

/* A file that may belong to an image. */
struct object_candidate {
    const char *path, *name; /* name: without its folder */
    enum object_kind kind;
    uint32_t slice;                /* of a fat Mach-O file */
    char id[ELF_BUILD_ID_BYTES];   /* as in struct object_file */
    char debug_id[DEBUG_ID_BYTES]; /* likewise */
    enum object_arch arch;         /* ARCH_NONE: a file without code */
    bool is_code;                  /* an image or its debug file: can answer for a module */
    bool has_code;                 /* its code is in it: the image itself */
    bool has_split;                /* holds units of split DWARF */
};

/* Identifies a file, of which SLICE is open; without its path and name. */
void object_candidate_of(const struct object_file *file, uint32_t slice,
                         struct object_candidate *out);

/* Opens and identifies the bytes of a file, or of one of its slices. False when object_file_open()
 * fails. */
bool object_candidate_read(const void *data, size_t bytes, uint32_t slice,
                           struct object_candidate *out, struct fault *fault);

/* Opens the names of IMAGE, whose bytes must outlive the struct. Unreadable parts are treated as
 * absent, and frames that they could change have a note. Fails: ERR_MEMORY. */
enum status symbol_object_open(const struct object_file *image, const char *image_path,
                               const struct object_candidate *candidates, uint32_t count,
                               enum symbol_names names, struct symbol_object **out,
                               struct fault *fault);
void symbol_object_close(struct symbol_object *object);

/* A hash of what symbol_object_open() could find among the candidates: two searches with the same
 * hash find the same files. 0: nothing. */
uint64_t symbol_object_companions(const struct object_file *image, const char *image_path,
                                  const struct object_candidate *candidates, uint32_t count);

/* Logical frames at OFFSET from the image's base; see symbol_lookup(). */
uint32_t symbol_object_lookup(struct symbol_object *object, uint32_t offset,
                              struct symbol_frame out[SYMBOL_FRAMES_MAX]);

/* Its code in pieces, for as long as OBJECT is open. */
void symbol_object_pieces(struct symbol_object *object, struct code_pieces *out);

/* See dwarf_lines(). */
uint32_t symbol_object_lines(struct symbol_object *object, uint32_t offset, uint32_t *out,
                             uint32_t max);

#endif
