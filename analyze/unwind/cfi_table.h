/* The functions of an image that have call frame information, sorted: of x86 images of Windows,
 * which mingw and Wine give `.eh_frame` for every function (unlike the frame data of PDBs, it is
 * exact at every instruction), and of ELF and Mach-O images, whose compact tables give rules, too
 * (exidx.h, compact.h). */
#ifndef UNWIND_CFI_TABLE_H
#define UNWIND_CFI_TABLE_H

#include "format/dwarf/cfi.h"
#include "format/object/object.h"
#include "unwind/dead_process.h"

struct cfi_table;

/* The rules that apply at one place of a function. */
struct cfi_place {
    uint32_t begin_rva, end_rva; /* of the function */
    uint64_t entry_va;           /* of its entry, for display; 0: not mapped */
    uint32_t return_register;
    bool interrupts; /* see struct cfi_entry */
    struct cfi_row row;
};

/* True when a section of BYTES at VA starts as `.eh_frame` does. Section names do not help:
 * those of mingw are in a table that is not mapped, and a linker may choose others. */
bool cfi_begins_at(const struct unwind_process *process, uint64_t va, uint32_t bytes);

/* The functions of a mapped section; bytes and rows live in KEEP. NULL: unreadable, too large, or
 * out of memory. Entries that cannot be understood are left out. */
struct cfi_table *cfi_read(const struct unwind_process *process, uint64_t section_va,
                           uint32_t bytes, uint64_t base_va, uint32_t preferred_base_va,
                           struct arena *keep);

/* The same of the file of an ELF or Mach-O image, which must outlive the table. */
struct cfi_table *cfi_read_file(struct byte_view file, struct arena *keep);

/* The rules at RVA; blocks are borrowed from the table. False: there are none. */
bool cfi_find(const struct cfi_table *table, uint32_t rva, struct cfi_place *out);

#endif
