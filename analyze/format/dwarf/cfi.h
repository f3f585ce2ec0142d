/* Call frame information: `.eh_frame`, `__eh_frame` and `.debug_frame` of any processor. A section
 * holds one entry per function, and parts that entries share. The instructions of an entry make
 * rows of rules: where the frame's upper end (the CFA) is, and where the caller's registers are.
 *
 * Sources: DWARF 5, 6.4 (call frame information) and 7.24 (its encoding); Linux Standard Base
 * Core, 10.6
 * (`.eh_frame`). */
#ifndef FORMAT_DWARF_CFI_H
#define FORMAT_DWARF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    CFI_REGISTERS = 33, /* rules of registers with higher numbers are ignored */
    CFI_NO_REGISTER = 0xff,
    CFI_SAVED_MAX = 16, /* rows that DW_CFA_remember_state keeps */
};

/* Borrowed, little-endian. */
struct cfi_section {
    const uint8_t *data;
    size_t bytes;
    uint64_t va;        /* of its first byte */
    uint8_t word_bytes; /* of an address: 4 or 8 */
    bool debug;         /* .debug_frame */
};

/* What is known about one function; the blocks point into the section's bytes. */
struct cfi_entry {
    uint64_t begin_va, end_va;
    uint64_t offset;          /* of the entry itself */
    uint64_t code_align;      /* in bytes: the unit of advances */
    int64_t data_align;       /* in bytes: the unit of offsets */
    uint32_t return_register; /* the register whose rule gives the return address */
    bool interrupts;          /* its caller did not call but was interrupted */
    struct bytes initial;     /* instructions shared with other functions */
    struct bytes own;         /* instructions of this function */
};

/* The common part (CIE) of the last entry: all functions of one object file share one. Zeros: none
 * yet. */
struct cfi_common {
    struct cfi_entry entry;
    uint64_t offset;
    uint8_t encoding; /* of addresses */
    bool augmented, known;
};

enum cfi_kind {
    CFI_SAME,
    CFI_UNDEFINED,
    CFI_AT,          /* at CFA + n */
    CFI_VALUE,       /* CFA + n itself */
    CFI_REGISTER,    /* in register n */
    CFI_AT_BLOCK,    /* at the address that an expression yields */
    CFI_VALUE_BLOCK, /* the value of an expression */
};

struct cfi_rule {
    enum cfi_kind kind;
    int64_t n;
    const uint8_t *block; /* borrowed */
    uint32_t block_bytes;
};

struct cfi_row {
    uint64_t cfa_register; /* CFI_NO_REGISTER: none, or one above CFI_REGISTERS */
    int64_t cfa_offset;
    const uint8_t *cfa_block; /* instead; NULL: none */
    uint32_t cfa_block_bytes;
    struct cfi_rule rules[CFI_REGISTERS];
};

/* Reads the record at *AT and moves *AT to the next one. *is_function: it is the entry of a
 * function, in *out, whose blocks report to FAULT; else a shared part, or an entry that cannot be
 * understood. False: there is none, or damage. */
bool cfi_next(const struct cfi_section *section, uint64_t *at, struct cfi_common *last,
              struct fault *fault, bool *is_function, struct cfi_entry *out);

/* The row that applies at VA. False: the instructions are damaged or not understood. */
bool cfi_row_at(const struct cfi_entry *entry, uint64_t va, struct cfi_row *out);

/* Calls EACH for every row with the address that it starts at, in order; a row may equal the one
 * before. False: as cfi_row_at(). */
typedef void cfi_row_fn(void *context, uint64_t va, const struct cfi_row *row);
bool cfi_each_row(const struct cfi_entry *entry, cfi_row_fn *each, void *context);

/* Numbers of variable length.  Source: DWARF 5, 7.6. */
uint64_t cfi_unsigned(struct bytes *r);
int64_t cfi_signed(struct bytes *r);

#endif
