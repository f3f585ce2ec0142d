/* arm64 unwind information, decoded: packed words and full .xdata become the same list of
 * operations, in the order in which they are undone.
 * Source: https://learn.microsoft.com/cpp/build/arm64-exception-handling */
#ifndef UNWIND_ARM64_INFO_H
#define UNWIND_ARM64_INFO_H

#include <stdint.h>

#include "unwind/dead_process.h"

enum arm64_op {
    ARM64_ALLOC,     /* bytes                                     */
    ARM64_SAVE_REGP, /* x[reg], x[reg+1] at bytes                 */
    ARM64_SAVE_REG,
    ARM64_SAVE_LRPAIR, /* x[reg], lr                               */
    ARM64_SAVE_FREGP,  /* d[reg], d[reg+1]                         */
    ARM64_SAVE_FREG,
    ARM64_SAVE_QREGP, /* q registers, by save_any_reg             */
    ARM64_SAVE_QREG,
    ARM64_SET_FP,
    ARM64_ADD_FP, /* bytes */
    ARM64_NOP,
    ARM64_END,
    ARM64_END_C,
    ARM64_SAVE_NEXT,
    ARM64_TRAP_FRAME,
    ARM64_MACHINE_FRAME,
    ARM64_CONTEXT,
    ARM64_EC_CONTEXT, /* a CONTEXT in the x64 layout, as ARM64EC code leaves it */
    ARM64_CLEAR_UNWOUND_TO_CALL,
    ARM64_SIGN_LR,
    ARM64_RESERVED,
};

struct arm64_code {
    uint8_t op, reg;
    bool writeback;    /* the stack pointer moves down by `bytes` first */
    uint32_t bytes;    /* allocation, or offset of a save */
    uint8_t raw_bytes; /* length of the code; 0: made from a packed word */
};

enum { ARM64_CODES_MAX = 1024 };

enum arm64_form { ARM64_XDATA, ARM64_PACKED, ARM64_PACKED_FRAGMENT };

/* Fields of a packed word. */
struct arm64_packed {
    uint32_t function_bytes, frame_bytes;
    uint8_t reg_f, reg_i, cr;
    bool homes;
};

enum { ARM64_HOMES = 4 }; /* stores that home parameters: ARM64_NOP, one after another */

/* Expands the packed word's prologue into codes, in the order in which they are undone, ARM64_END
 * last. */
uint32_t arm64_packed_expand(const struct arm64_packed *packed, struct arm64_code *out,
                             uint32_t room);

struct arm64_info {
    enum arm64_form form;
    uint32_t function_bytes;
    struct arm64_packed packed;
    /* .xdata: */
    uint8_t version;
    bool has_handler, single_epilogue;
    uint32_t epilogue_count;      /* or, with single_epilogue, its first code's byte index */
    uint32_t code_bytes;          /* bytes of codes */
    uint64_t scopes_va, codes_va; /* their address */
    uint32_t handler_rva, handler_data_rva;
};

/* Reads the unwind data that the second word of a RUNTIME_FUNCTION refers to. Returns STOP_NONE, or
 * what is wrong with it. */
enum stop_reason arm64_info_read(const struct unwind_process *process, uint64_t base_va,
                                 uint32_t word, struct arm64_info *out);

/* Reads the codes of .xdata from byte INDEX up to and including the first END. Returns STOP_NONE,
 * or what is wrong with them. */
enum stop_reason arm64_codes_read(const struct unwind_process *process,
                                  const struct arm64_info *info, uint32_t index,
                                  struct arm64_code *out, uint32_t room, uint32_t *count);

/* Reads epilogue scope NUMBER: where the epilogue starts (bytes into the function) and its first
 * code. */
bool arm64_scope_read(const struct unwind_process *process, const struct arm64_info *info,
                      uint32_t number, uint32_t *start_bytes, uint32_t *code_index);

#endif
