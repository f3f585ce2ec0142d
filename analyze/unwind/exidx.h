/* The unwind table of 32-bit arm ELF images: `.ARM.exidx` has one row per function, whose
 * instructions are in the row itself or in `.ARM.extab`. They hold where the function calls, so not
 * in its prologue and epilogues. Here they become rules as those of call frame information.
 *
 * Source: Exception handling ABI for the Arm architecture (EHABI32), 6 and 10.3. */
#ifndef UNWIND_EXIDX_H
#define UNWIND_EXIDX_H

#include "format/dwarf/cfi.h"
#include "format/elf/elf.h"

struct exidx {
    struct byte_view index, table; /* borrowed */
    uint64_t index_va, table_va;
};

/* False: there is no such table. */
bool exidx_open(const struct elf *elf, struct arena *keep, struct exidx *out);

/* The rules of the function at VA; the return address is that of register 14. False: there is none,
 * or it cannot be unwound. */
bool exidx_find(const struct exidx *exidx, uint64_t va, uint64_t *begin_va, uint64_t *end_va,
                struct cfi_row *out);

#endif
