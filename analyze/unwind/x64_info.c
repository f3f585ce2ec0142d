/* Decoding x64 UNWIND_INFO. */
#include "unwind/x64_info.h"

#include <stddef.h>

#include "base/array.h"
#include "base/bytes.h"
#include "unwind/x64_info_v3.h"

/* Slots that an operation occupies; 0: no such operation. */
static uint32_t slots_of(uint8_t version, uint8_t op, uint8_t info)
{
    switch (op) {
    case X64_ALLOC_LARGE:
        if (info == 0)
            return 2;
        return info == 1 ? 3 : 0;
    case X64_SAVE_NONVOL:
    case X64_SAVE_XMM128:
        return 2;
    case X64_SAVE_NONVOL_FAR:
    case X64_SAVE_XMM128_FAR:
        return 3;
    case X64_EPILOG:
        return version >= 2 ? 1 : 2; /* version 1: an old save of half a register */
    case X64_SPARE:
        return 3;
    case X64_PUSH_NONVOL:
    case X64_ALLOC_SMALL:
    case X64_SET_FPREG:
    case X64_PUSH_MACHFRAME:
        return 1;
    default:
        return 0;
    }
}

static void decode(const uint8_t *slot, struct x64_code *out)
{
    *out = (struct x64_code){slot[0], slot[1] & 15, slot[1] >> 4, 0};
    switch (out->op) {
    case X64_ALLOC_LARGE:
        out->bytes = out->info == 0 ? load_u16(slot + 2) * 8u : load_u32(slot + 2);
        break;
    case X64_ALLOC_SMALL:
        out->bytes = out->info * 8u + 8;
        break;
    case X64_SAVE_NONVOL:
        out->bytes = load_u16(slot + 2) * 8u;
        break;
    case X64_SAVE_XMM128:
        out->bytes = load_u16(slot + 2) * 16u;
        break;
    case X64_SAVE_NONVOL_FAR:
    case X64_SAVE_XMM128_FAR:
        out->bytes = load_u32(slot + 2);
        break;
    default:
        break;
    }
}

/* HEAD: the 4 bytes at VA. *TAIL_VA: what follows the record. */
static enum stop_reason read_codes(const struct unwind_process *process, uint64_t va,
                                   const uint8_t *head, struct x64_info *out, uint64_t *tail_va)
{
    uint8_t slots[512];
    out->slot_count = head[2];
    out->frame_register = head[3] & 15;
    out->frame_offset = (uint8_t)((head[3] >> 4) * 16);
    out->code_count = 0;
    uint32_t stored = (out->slot_count + 1u) & ~1u;
    if (!process->read(process->self, va + 4, slots, (size_t)stored * 2))
        return STOP_DATA_MISSING;
    for (uint32_t i = 0; i < out->slot_count;) {
        uint8_t op = slots[i * 2 + 1] & 15, info = slots[i * 2 + 1] >> 4;
        uint32_t take = slots_of(out->version, op, info);
        if (take == 0 || take > out->slot_count - i)
            return STOP_DATA_MALFORMED;
        decode(slots + (size_t)i * 2, &out->codes[out->code_count++]);
        i += take;
    }
    *tail_va = va + 4 + (uint64_t)stored * 2;
    return STOP_NONE;
}

enum stop_reason x64_info_read(const struct unwind_process *process, uint64_t base_va, uint32_t rva,
                               struct x64_info *out)
{
    uint8_t head[4], tail[12];
    uint64_t va = base_va + rva, tail_va;
    if (!process->read(process->self, va, head, sizeof(head)))
        return STOP_DATA_MISSING;
    out->version = head[0] & 7;
    out->flags = head[0] >> 3;
    out->prologue_bytes = head[1];
    out->handler_rva = 0;
    if (out->version < 1 || out->version > 3)
        return STOP_DATA_VERSION;
    const enum stop_reason stop = out->version == 3
                                      ? x64_info_read_v3(process, va, head, out, &tail_va)
                                      : read_codes(process, va, head, out, &tail_va);
    if (stop != STOP_NONE)
        return stop;
    if ((out->flags & X64_CHAINED) != 0) {
        if (!process->read(process->self, tail_va, tail, 12))
            return STOP_DATA_MISSING;
        out->chained =
            (struct unwind_entry){base_va, load_u32(tail), load_u32(tail + 4), load_u32(tail + 8)};
    } else if ((out->flags & (X64_HAS_HANDLER | X64_HAS_TERMINATOR)) != 0 &&
               process->read(process->self, tail_va, tail, 4)) {
        out->handler_rva = load_u32(tail);
    }
    return STOP_NONE;
}

const char *x64_op_name(uint8_t op)
{
    static const char *const names[] = {
        "UWOP_PUSH_NONVOL", "UWOP_ALLOC_LARGE",     "UWOP_ALLOC_SMALL",    "UWOP_SET_FPREG",
        "UWOP_SAVE_NONVOL", "UWOP_SAVE_NONVOL_FAR", "UWOP_EPILOG",         "UWOP_SPARE_CODE",
        "UWOP_SAVE_XMM128", "UWOP_SAVE_XMM128_FAR", "UWOP_PUSH_MACHFRAME",
    };
    return op < COUNT_OF(names) ? names[op] : "UWOP_UNKNOWN";
}

/* Version 2 lists epilogues first. The first code holds their size in place of the prologue
 * offset; bit 0 of its info says whether there is an epilogue at the very end of the function.
 * Each further code holds in 12 bits the distance of one epilogue's start from the function's
 * end; 0 is padding. */
bool x64_in_listed_epilogue(const struct x64_info *info, const struct unwind_entry *entry,
                            uint32_t pc_rva, uint32_t *into)
{
    if (info->version < 2 || info->code_count == 0 || info->codes[0].op != X64_EPILOG)
        return false;
    uint32_t size = info->codes[0].prologue_offset;
    uint32_t length = entry->end_rva - entry->begin_rva;
    for (uint32_t i = 0; i < info->code_count && info->codes[i].op == X64_EPILOG; i++) {
        const struct x64_code *code = &info->codes[i];
        uint32_t back = code->prologue_offset | (uint32_t)code->info << 8;
        if (i == 0)
            back = (code->info & 1) != 0 ? size : 0;
        if (back == 0 || back > length)
            continue;
        uint32_t start = entry->end_rva - back;
        if (pc_rva >= start && pc_rva - start < size) {
            *into = pc_rva - start;
            return true;
        }
    }
    return false;
}
