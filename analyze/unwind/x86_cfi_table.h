/* Call frame information of x86 images: `.eh_frame`, which mingw and Wine emit for every function
 * and which, unlike the frame data of PDBs, is exact at every instruction.
 *
 * Sources: DWARF 5, 6.4 (call frame information); Linux Standard Base Core, 10.6 (`.eh_frame`); the
 * i386 psABI's register numbers, which are the processor's with eip as 8. */
#ifndef UNWIND_X86_CFI_TABLE_H
#define UNWIND_X86_CFI_TABLE_H

#include "base/bytes.h"
#include "unwind/process.h"

struct cfi_table;

enum { CFI_SAVED_MAX = 16 }; /* rows that DW_CFA_remember_state keeps */

/* What is known about one function; the blocks point into the table's bytes. */
struct cfi_entry {
    uint32_t begin_rva, end_rva;
    uint64_t entry_va;    /* offset of the entry itself, for display */
    uint32_t code_align;  /* in bytes: the unit of advances      */
    int32_t data_align;   /* in bytes: the unit of offsets       */
    uint32_t pc_register; /* the register whose rule gives the return address */
    bool interrupts;      /* its caller did not call but was interrupted */
    struct bytes initial; /* instructions shared with other functions */
    struct bytes own;     /* instructions of this function              */
};

/* True when a section of BYTES at VA starts as `.eh_frame` does. Section names do not help:
 * those of mingw are in a table that is not mapped, and a linker may choose others. */
bool cfi_begins_at(const struct unwind_process *process, uint64_t va, uint32_t bytes);

/* The functions of a section, sorted; bytes and rows live in KEEP. NULL: unreadable, larger than
 * CFI_BYTES_MAX, or out of memory. Entries that cannot be understood are left out. */
struct cfi_table *cfi_read(const struct unwind_process *process, uint64_t section_va,
                           uint32_t bytes, uint64_t base_va, uint32_t preferred_base_va,
                           struct arena *keep);

/* Finds the entry that covers RVA; its blocks report to FAULT. False: there is none. */
bool cfi_find(const struct cfi_table *table, uint32_t rva, struct fault *fault,
              struct cfi_entry *out);

/* Numbers of variable length.  Source: DWARF 5, 7.6. */
uint64_t cfi_unsigned(struct bytes *r);
int64_t cfi_signed(struct bytes *r);

#endif
