/* x64 unwind information, decoded.
 * Source: https://learn.microsoft.com/cpp/build/exception-handling-x64; version 2 epilogues
 * from the public notes of LLVM and ReactOS (facts only); version 3: x64_info_v3.h.
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

#include "unwind/dead_process.h"

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

enum {
    X64_HAS_HANDLER = 1,
    X64_HAS_TERMINATOR = 2,
    X64_CHAINED = 4,
    X64_CODES_MAX = 255,
    X64_EPILOGUES_MAX = 7
};

static inline bool x64_is_save(uint8_t op)
{
    return op == X64_SAVE_NONVOL || op == X64_SAVE_NONVOL_FAR || op == X64_SAVE_XMM128 ||
           op == X64_SAVE_XMM128_FAR;
}

struct x64_code {
    uint16_t prologue_offset; /* bytes into the function (or epilogue) from which on it has run */
    uint8_t op, info;
    uint32_t bytes; /* allocation, or offset of a save from the frame's base */
};

/* Of version 3. */
struct x64_listed_epilogue {
    int32_t start; /* from the function's start, or if negative its end */
    uint16_t last; /* the start of its last instruction, from its start */
    uint8_t first_code, code_count;
    bool to_parent; /* it jumps to the part that this one chains to */
};

struct x64_info {
    uint8_t version, flags, slot_count;
    uint16_t prologue_bytes;
    uint8_t frame_register; /* 0: none */
    uint8_t frame_offset;   /* bytes   */
    uint32_t code_count;
    struct x64_code codes[X64_CODES_MAX]; /* of version 3, those of epilogues follow the others */
    uint32_t epilogue_count;              /* of version 3 */
    struct x64_listed_epilogue epilogues[X64_EPILOGUES_MAX];
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
