/* x64 unwind information, decoded.
 * Source: https://learn.microsoft.com/cpp/build/exception-handling-x64; version 2 epilogues
 * from the public notes of LLVM and ReactOS (facts only).
 *
 *   UNWIND_INFO        OFFSET     RUNTIME_FUNCTION  OFFSET
 *   version:3 flags:5       0     begin rva              0
 *   prologue bytes          1     end rva                4
 *   code slots              2     UNWIND_INFO rva        8
 *   fp register:4 offset:4  3
 *   code slots, 2 bytes     4     (an even number of them is stored)
 *   then: handler rva, or the RUNTIME_FUNCTION that this one chains to */
#ifndef UNWIND_X64_INFO_H
#define UNWIND_X64_INFO_H

#include <stdint.h>

#include "unwind/process.h"

enum x64_op {
    X64_PUSH_NONVOL = 0,
    X64_ALLOC_LARGE = 1,
    X64_ALLOC_SMALL = 2,
    X64_SET_FPREG = 3,
    X64_SAVE_NONVOL = 4,
    X64_SAVE_NONVOL_FAR = 5,
    X64_EPILOG = 6, /* version 2 */
    X64_SPARE = 7,
    X64_SAVE_XMM128 = 8,
    X64_SAVE_XMM128_FAR = 9,
    X64_PUSH_MACHFRAME = 10,
};

enum { X64_HAS_HANDLER = 1, X64_HAS_TERMINATOR = 2, X64_CHAINED = 4, X64_CODES_MAX = 255 };

struct x64_code {
    uint8_t prologue_offset; /* end of its instruction, from the function's start */
    uint8_t op, info;
    uint32_t bytes; /* allocation, or offset of a save from the frame's base */
};

struct x64_info {
    uint8_t version, flags, prologue_bytes, slot_count;
    uint8_t frame_register; /* 0: none */
    uint8_t frame_offset;   /* bytes   */
    uint32_t code_count;
    struct x64_code codes[X64_CODES_MAX];
    uint32_t handler_rva;
    struct unwind_entry chained; /* with X64_CHAINED */
};

/* Reads the UNWIND_INFO at BASE_VA + RVA. Returns STOP_NONE, or what is wrong with it. */
enum stop_reason x64_info_read(const struct unwind_process *process, uint64_t base_va, uint32_t rva,
                               struct x64_info *out);

/* "UWOP_PUSH_NONVOL", ... */
const char *x64_op_name(uint8_t op);

/* True when PC is inside one of the epilogues that version 2 lists. *INTO: bytes since its
 * start. */
bool x64_in_listed_epilogue(const struct x64_info *info, const struct unwind_entry *entry,
                            uint32_t pc_rva, uint32_t *into);

#endif
