/* The unwind table of macOS and iOS images: `__unwind_info` has one word per function, which states
 * the shape of its frame, or where its call frame information is. A word holds in the body of a
 * function. Its prologue and its return are recognised by their code.
 *
 * Source: https://github.com/apple-oss-distributions/libunwind, the header compact_unwind_encoding.
 */
#ifndef UNWIND_COMPACT_H
#define UNWIND_COMPACT_H

#include "format/dwarf/cfi.h"
#include "format/macho/macho.h"

struct compact {
    const struct macho *macho;
    struct byte_view info; /* borrowed */
    bool is_arm64;
};

enum { COMPACT_PROLOGUE_BYTES_MAX = 128 }; /* the start of a function where one is looked for */

enum compact_answer {
    COMPACT_NONE,  /* nothing is known of this place */
    COMPACT_ROW,   /* its rules, in *out */
    COMPACT_DWARF, /* see `__eh_frame` */
};

/* False: there is no such table, or it is of another processor. */
bool compact_open(const struct macho *macho, struct compact *out);

/* The rules of the function at RVA, which the first header of the file is 0 of. The return address
 * is that of register 16 (x86-64) or 30 (arm64). */
enum compact_answer compact_find(const struct compact *compact, uint32_t rva, uint32_t *begin_rva,
                                 uint32_t *end_rva, struct cfi_row *out);

/* Calls VISIT with each function of the table, by rising addresses. */
typedef void compact_visit_fn(void *context, uint32_t begin_rva, uint32_t end_rva);
void compact_each(const struct compact *compact, compact_visit_fn *visit, void *context);

#endif
