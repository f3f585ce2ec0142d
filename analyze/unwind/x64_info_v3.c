/* Decoding x64 UNWIND_INFO of version 3; its layout is in x64_info_v3.h. */
#include "unwind/x64_info_v3.h"

#include <stddef.h>

#include "base/array.h"
#include "base/bytes.h"

enum {
    LARGE = 8, /* flags of a record: a longer prologue, and offsets of 2 bytes */
    RESERVED_FLAG = 16,
    TO_PARENT = 1, /* flags of an epilogue */
    LARGE_EPILOGUE = 2,
    RESERVED_EPILOGUE_FLAG = 4,
    PAYLOAD_MAX = 2 * 255,
    RAX = 0,
    RSP = 4,
    LAST_REGISTER = 15,
    MACHFRAME_WITH_CODE = 1,
};

/* The next number of BYTES: 0, 1, 2 or 4. */
static uint32_t take(struct bytes *from, uint32_t bytes)
{
    switch (bytes) {
    case 0:
        return 0;
    case 1:
        return bytes_u8(from);
    case 2:
        return bytes_u16(from);
    default:
        return bytes_u32(from);
    }
}

static enum stop_reason stop_of(const struct bytes *from)
{
    return bytes_failed(from) ? STOP_DATA_MALFORMED : STOP_NONE;
}

/* The forms of an operation: its first byte is VALUE under MASK and has a register, or a size, from
 * bit SHIFT on; a number of BYTES, in units of SCALE, follows. */
enum { TWO_PUSHES = X64_SPARE };
static const struct form {
    uint8_t mask, value, op, shift, bytes, scale;
} forms[] = {
    {7, 4, X64_PUSH_NONVOL, 3, 0, 0},    {7, 5, X64_SAVE_NONVOL_FAR, 3, 4, 1},
    {7, 6, X64_SAVE_NONVOL, 3, 2, 8},    {7, 7, TWO_PUSHES, 3, 0, 0},
    {15, 8, X64_ALLOC_SMALL, 4, 0, 0},   {15, 9, X64_SAVE_XMM128_FAR, 4, 4, 1},
    {15, 10, X64_SAVE_XMM128, 4, 2, 16}, {63, 32, TWO_PUSHES, 6, 1, 1},
    {255, 0, X64_SET_FPREG, 8, 1, 1},    {255, 1, X64_ALLOC_LARGE, 8, 4, 1},
    {255, 2, X64_ALLOC_LARGE, 8, 2, 8},  {255, 3, X64_PUSH_MACHFRAME, 8, 1, 1},
};

/* A record has one frame register, as in version 1, or is not read. */
static enum stop_reason set_frame(struct x64_info *info, uint32_t byte)
{
    const uint8_t reg = byte & 15, offset = (uint8_t)((byte >> 4) * 16);
    if (reg == RAX || reg == RSP ||
        (info->frame_register != 0 &&
         (reg != info->frame_register || offset != info->frame_offset)))
        return STOP_DATA_APX;
    info->frame_register = reg;
    info->frame_offset = offset;
    return STOP_NONE;
}

/* One operation, as the code of version 1 that does the same. */
static enum stop_reason decode(struct bytes *pool, struct x64_code *out, struct x64_info *info)
{
    const uint8_t first = bytes_u8(pool);
    const struct form *form = NULL;
    for (size_t i = 0; i < COUNT_OF(forms) && form == NULL; i++)
        if ((first & forms[i].mask) == forms[i].value)
            form = &forms[i];
    if (form == NULL)
        return STOP_DATA_MALFORMED;
    const uint32_t number = take(pool, form->bytes);
    out->op = form->op;
    out->info = (uint8_t)(first >> form->shift);
    out->bytes = number * form->scale;
    if (bytes_failed(pool))
        return STOP_DATA_MALFORMED;
    switch (form->op) {
    case X64_ALLOC_SMALL:
        out->bytes = (out->info + 1u) * 8;
        return STOP_NONE;
    case X64_SET_FPREG:
        out->bytes = 0;
        return set_frame(info, number);
    case X64_PUSH_MACHFRAME:
        out->info = (uint8_t)number;
        out->bytes = 0;
        return number <= MACHFRAME_WITH_CODE ? STOP_NONE : STOP_DATA_APX;
    case TWO_PUSHES:
        return STOP_DATA_APX;
    default:
        return out->info <= LAST_REGISTER ? STOP_NONE : STOP_DATA_APX;
    }
}

/* COUNT codes: their offsets, of BYTES each, are at OFFSETS, their operations in POOL. Offsets go
 * down in a prologue and up in an epilogue, so that those still to undo are the last ones. */
static enum stop_reason decode_codes(struct bytes offsets, struct bytes pool, uint32_t bytes,
                                     bool goes_up, struct x64_code *codes, uint32_t count,
                                     struct x64_info *info)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t start = take(&offsets, bytes);
        if (start >= UINT16_MAX || bytes_failed(&offsets))
            return STOP_DATA_MALFORMED;
        codes[i] = (struct x64_code){.prologue_offset = (uint16_t)(start + 1)};
        if (i > 0 && codes[i].prologue_offset != codes[i - 1].prologue_offset &&
            (codes[i].prologue_offset > codes[i - 1].prologue_offset) != goes_up)
            return STOP_DATA_MALFORMED;
        const enum stop_reason stop = decode(&pool, &codes[i], info);
        if (stop != STOP_NONE)
            return stop;
    }
    return STOP_NONE;
}

/* Of an epilogue: where its offsets are, and its operations in the pool, which begins after the
 * list. */
struct listed {
    struct bytes offsets;
    uint32_t bytes, first_op; /* bytes of an offset; 0: the codes of the epilogue before it */
};

/* CODES: those before this epilogue. */
static enum stop_reason list_epilogue(struct bytes *from, struct x64_info *out, struct listed *list,
                                      uint32_t *codes)
{
    const uint32_t i = out->epilogue_count++, head = bytes_u8(from), count = head >> 3;
    struct x64_listed_epilogue *epilogue = &out->epilogues[i];
    const int32_t delta = (int16_t)bytes_u16(from);
    *list = (struct listed){.bytes = 0};
    if ((head & RESERVED_EPILOGUE_FLAG) != 0)
        return STOP_DATA_RESERVED;
    if (i == 0 ? count == 0 : (delta < 0) != (out->epilogues[0].start < 0))
        return STOP_DATA_MALFORMED;
    if (count == 0) {
        *epilogue = epilogue[-1];
        epilogue->start += delta;
        return stop_of(from);
    }
    list->bytes = (head & LARGE_EPILOGUE) != 0 ? 2 : 1;
    list->first_op = bytes_u16(from);
    *epilogue = (struct x64_listed_epilogue){.start = delta + (i > 0 ? epilogue[-1].start : 0),
                                             .last = (uint16_t)take(from, list->bytes),
                                             .first_code = (uint8_t)*codes,
                                             .code_count = (uint8_t)count,
                                             .to_parent = (head & TO_PARENT) != 0};
    list->offsets = *from;
    *codes += count;
    bytes_skip(from, (uint64_t)count * list->bytes);
    return stop_of(from);
}

static enum stop_reason read_payload(struct bytes from, uint32_t epilogues, struct x64_info *out)
{
    struct listed lists[X64_EPILOGUES_MAX];
    const uint32_t bytes = (out->flags & LARGE) != 0 ? 2 : 1;
    uint32_t codes = out->code_count;
    if (bytes == 2)
        out->prologue_bytes = (uint16_t)(out->prologue_bytes | bytes_u8(&from) << 8);
    const struct bytes offsets = from;
    bytes_skip(&from, (uint64_t)out->code_count * bytes);
    enum stop_reason stop = stop_of(&from);
    for (uint32_t i = 0; i < epilogues && stop == STOP_NONE; i++)
        stop = list_epilogue(&from, out, &lists[i], &codes);
    if (stop == STOP_NONE)
        stop = decode_codes(offsets, from, bytes, false, out->codes, out->code_count, out);
    for (uint32_t i = 0; i < epilogues && stop == STOP_NONE; i++) {
        const struct x64_listed_epilogue *epilogue = &out->epilogues[i];
        struct bytes pool = from;
        if (lists[i].bytes == 0)
            continue;
        bytes_skip(&pool, lists[i].first_op);
        stop = decode_codes(lists[i].offsets, pool, lists[i].bytes, true,
                            out->codes + epilogue->first_code, epilogue->code_count, out);
    }
    return stop;
}

enum stop_reason x64_info_read_v3(const struct unwind_process *process, uint64_t va,
                                  const uint8_t *head, struct x64_info *out, uint64_t *tail_va)
{
    struct fault ignored = FAULT_INIT;
    uint8_t payload[PAYLOAD_MAX];
    const uint32_t bytes = head[2] * 2u;
    out->code_count = head[3] & 31;
    out->epilogue_count = 0;
    out->frame_register = 0;
    out->frame_offset = 0;
    if ((out->flags & RESERVED_FLAG) != 0)
        return STOP_DATA_RESERVED;
    if (bytes > 0 && !process->read(process->self, va + 4, payload, bytes))
        return STOP_DATA_MISSING;
    *tail_va = va + 4 + ((bytes + 3u) & ~3u);
    return read_payload(bytes_over(payload, bytes, &ignored), head[3] >> 5, out);
}

const struct x64_listed_epilogue *x64_listed_epilogue(const struct x64_info *info,
                                                      const struct unwind_entry *entry,
                                                      uint32_t pc_rva, uint32_t *into)
{
    for (uint32_t i = 0; info->version == 3 && i < info->epilogue_count; i++) {
        const struct x64_listed_epilogue *epilogue = &info->epilogues[i];
        const uint32_t start =
            (epilogue->start < 0 ? entry->end_rva : entry->begin_rva) + (uint32_t)epilogue->start;
        if (pc_rva - start <= epilogue->last) {
            *into = pc_rva - start;
            return epilogue;
        }
    }
    return NULL;
}

bool x64_saves_are_certain(const struct x64_code *codes, uint32_t count)
{
    bool moved = false, saved = false;
    for (uint32_t i = 0; i < count; i++) {
        if (x64_is_save(codes[i].op)) {
            if (moved)
                return false;
            saved = true;
        } else if (codes[i].op == X64_SET_FPREG) {
            if (moved && saved)
                return false;
            moved = saved = false;
        } else {
            moved = true;
        }
    }
    return true;
}
