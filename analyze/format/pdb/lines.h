/* Line information of a module: C13 subsections, old C11 tables, and the annotations of inline
 * sites.  All three give rows "from this offset on: that file, that line".
 *
 * Source: cvinfo.h of microsoft-pdb (CV_DebugSSubsectionHeader_t, CV_Line_t,
 * BinaryAnnotationOpcode); the meaning of annotations was settled on MSVC, clang and rustc
 * files: 0x04 closes a range and advances, 0x0c does not advance by its length. */
#ifndef FORMAT_PDB_LINES_H
#define FORMAT_PDB_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/pdb/pdb_module.h"

/* A file of a module: an offset in "/names", or, for C11 lines, in the module's stream. */
struct pdb_file {
    uint32_t at;
    bool in_module;
};
#define PDB_NO_FILE ((struct pdb_file){UINT32_MAX, false})

/* A run of code that one line table (or one block of a C11 table) covers. */
struct pdb_line_range {
    struct pdb_place start;
    uint32_t bytes;
    uint32_t at; /* offset of the table in the module's stream */
    uint32_t table_bytes;
    bool has_columns;
    bool c11;
    struct pdb_file c11_file;
};

/* Walks the tables of a module.  Start with a zeroed *CURSOR; false at the end. */
struct pdb_line_cursor {
    uint32_t c11_file, c11_table; /* the next table of C11, by file */
    uint32_t c11_count;           /* of tables so far */
    uint32_t c13;                 /* the next subsection: an offset in C13 */
};
bool pdb_line_range_next(const struct pdb_module *module, struct pdb_line_cursor *cursor,
                         struct pdb_line_range *out);

struct pdb_line_row {
    uint32_t offset;      /* in the section */
    uint32_t line;        /* 0: no line of its own: clang merged it from several */
    struct pdb_file file; /* PDB_NO_FILE: the compiler hid this code from debuggers */
    uint32_t block;       /* offset in the module's stream of the rows of one file that it is in */
};

/* The file's path as spelt in the PDB; "" when unknown. */
const char *pdb_file_name(const struct pdb_module *module, struct pdb_file file,
                          struct arena *copies);

/* The subsections of a module that are used repeatedly. */
struct pdb_subsections {
    struct byte_view checksums; /* of files */
};
void pdb_subsections_find(const struct pdb_module *module, struct pdb_subsections *out);

/* Calls EACH for all rows of a table in file order. */
typedef void pdb_line_fn(void *context, const struct pdb_line_row *row);
void pdb_line_rows(const struct pdb_module *module, const struct pdb_line_range *range,
                   const struct pdb_subsections *subsections, pdb_line_fn *each, void *context);

/* Walks the records of all inlinee-lines subsections. */
struct pdb_inlinee {
    uint32_t id;   /* as inline sites name it; may have bit 31 */
    uint32_t file; /* offset in the checksums */
    uint32_t line;
};
struct pdb_inlinee_cursor {
    uint32_t next;         /* offset in C13 of the next subsection */
    struct byte_view rest; /* of the subsection before it */
    bool extra_files;
};
bool pdb_inlinee_next(const struct pdb_module *module, struct pdb_inlinee_cursor *cursor,
                      struct pdb_inlinee *out);

/* The file that a checksum offset refers to. */
struct pdb_file pdb_checksum_file(const struct pdb_subsections *subsections, uint32_t offset);

/* Line numbers have 24 bits throughout the format; a larger sum is damage and gives 0. */
static inline uint32_t pdb_line_sane(uint32_t line)
{
    return line >> 24 == 0 ? line : 0;
}

/* One run of code of an inline site. */
struct pdb_inline_row {
    uint32_t start, end; /* from the procedure's start */
    uint32_t file;       /* offset in the checksums; starts as the inlinee's */
    int32_t line_delta;  /* to the inlinee's first line */
};

/* Decodes annotations; OUT needs room for BYTES / 2 + 1 rows.  END_DEFAULT closes the last row
 * when the annotations do not.  Returns how many rows were written. */
uint32_t pdb_inline_rows(const uint8_t *annotations, uint32_t bytes, uint32_t file,
                         uint32_t end_default, struct pdb_inline_row *out);

/* The record of an inline site: which function was inlined, and its annotations. False for records
 * of other kinds and for damaged ones. */
bool pdb_inline_site(const struct pdb_symbol *symbol, uint32_t *inlinee,
                     const uint8_t **annotations, uint32_t *bytes);

/* False when C13 subsections of the module are cut or damaged, so that rows are missing: the row
 * before them then seems to hold more code than it does. */
bool pdb_lines_are_whole(const struct pdb_module *module);

#endif
