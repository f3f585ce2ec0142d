/* Writes a Breakpad symbol file (format/breakpad/breakpad.h): the walker of a PDB or an image
 * states which frames apply from which address on. */
#ifndef SYMBOL_BREAKPAD_WRITER_H
#define SYMBOL_BREAKPAD_WRITER_H

#include <stdio.h>

#include "symbol/store.h"

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
