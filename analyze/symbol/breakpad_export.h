/* Breakpad symbol files (format/breakpad/breakpad.h): their code in pieces, and writing them. */
#ifndef SYMBOL_BREAKPAD_EXPORT_H
#define SYMBOL_BREAKPAD_EXPORT_H

#include <stdio.h>

#include "format/breakpad/breakpad.h"
#include "symbol/export.h"
#include "symbol/image_names.h"

/* The Breakpad file of a module (for its unwind data); NULL when there is none. */
const struct breakpad *symbol_store_breakpad(struct symbol_store *store,
                                             const struct module *module);

/* The code of FILE in pieces. Call OUT->close, where it is set, even after a fault. Fails:
 * ERR_MEMORY; ERR_LIMIT when its records are too far apart. */
enum status breakpad_pieces(const struct breakpad *file, struct code_pieces *out,
                            struct fault *fault);

/* What the first lines of a Breakpad file state besides the PDB's id. */
struct symbol_export_head {
    const char *pdb_name;   /* file name */
    const char *image_name; /* NULL: the image is not known */
    const char *code_id;    /* with IMAGE_NAME */
};

/* Prints the PDB as a Breakpad symbol file (format/breakpad/breakpad.h): functions, lines, inlined
 * calls, publics, and STACK WIN of x86 PDBs. STACK CFI of x64 and arm64 is unwind_export_cfi()'s,
 * from the image. If several functions share one address, the one that a lookup returns is written.
 * Fails: as above. */
enum status symbol_export_breakpad(const struct pdb *pdb, const struct symbol_export *how,
                                   const struct symbol_export_head *head, FILE *out,
                                   struct fault *fault);

/* The same of an image without a PDB: functions, lines and inlined calls of its DWARF, and publics
 * where only a symbol answers. NAME: the file name of the image. */
enum status symbol_export_object(struct symbol_object *object, enum object_arch arch,
                                 const char *name, FILE *out, struct fault *fault);

/* ---- the writer: its caller states which frames apply from which address on ---- */

struct breakpad_writer;

/* What the first lines state. */
struct breakpad_head {
    const char *os, *arch, *id; /* Breakpad's words; the id with its age */
    const char *name;           /* file name of the PDB or image */
    const char *code_id;        /* NULL: not known */
    const char *image_name;     /* with CODE_ID: the image's file name; NULL: it is NAME */
};

/* NULL: out of memory. */
struct breakpad_writer *breakpad_writer_new(void);
void breakpad_writer_close(struct breakpad_writer *w);

/* Memory ran out somewhere, so that the file is not whole. */
bool breakpad_failed(const struct breakpad_writer *w);

/* One function: begin, the frames that apply from each address on, end. All texts must live until
 * breakpad_writer_print(). */
void breakpad_function_begin(struct breakpad_writer *w);
void breakpad_segment(struct breakpad_writer *w, const struct symbol_frame *frames, uint32_t count,
                      uint32_t at);
void breakpad_function_end(struct breakpad_writer *w, uint32_t rva, uint32_t bytes,
                           const char *name);
void breakpad_public(struct breakpad_writer *w, uint32_t rva, const char *name);

/* Appends a record's text; breakpad_put() at most 127 bytes. */
void breakpad_text(struct breakpad_writer *w, const char *text);
void breakpad_put(struct breakpad_writer *w, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

void breakpad_writer_print(const struct breakpad_writer *w, const struct breakpad_head *head,
                           FILE *out);

#endif
