/* Decoding arm64 unwind information.
 *
 *   .xdata word 0: function length / 4 :18, version :2, X (handler) :1, E (one epilogue) :1,
 *   epilogue count :5, code words :5; when both counts are 0 a second word has them as 16 and 8
 *   bits.  Then epilogue scopes (start / 4 :18, reserved :4, code index :10), code words, and
 *   with X the handler's rva and its data.
 *
 * A packed word says the same of a usual prologue in 32 bits: from the lowest, flag :2, function
 * length / 4 :11, RegF :3, RegI :4, H :1, CR :2, frame size / 16 :9. Its prologue is made from it,
 * then reversed, so that packed and full data are undone by one loop. 0x02630101 is
 *
 *   flag 1 (whole function), 0x100 bytes, RegI 3 (x19 to x21), CR 3 (fp and lr chained), 64 bytes
 *
 *   saved registers: 3 * 8 = 24 bytes, in sixteens 32; of the frame 64 - 32 = 32 are left
 *   prologue                        undone, first to last    from sp in the body
 *   stp  x19, x20, [sp, #-32]!      sp = fp
 *   str  x21, [sp, #16]             fp, lr; sp += 32         fp at 0, lr at 8
 *   stp  fp, lr, [sp, #-32]!        x21                      at 48
 *   mov  fp, sp                     x19, x20; sp += 32       at 32, 40; the caller's sp is 64
 *
 * The first save also moves sp for all that follow it: an operation with write-back. */
#include "unwind/arm64_info.h"

#include <stddef.h>

#include "base/bytes.h"

static struct arm64_code code_of(uint8_t op, uint32_t reg, uint32_t bytes, bool writeback,
                                 uint32_t length)
{
    return (struct arm64_code){op, (uint8_t)reg, writeback, bytes, (uint8_t)length};
}

static uint32_t read_short(uint8_t a, struct arm64_code *out)
{
    if (a < 0x20)
        *out = code_of(ARM64_ALLOC, 0, (a & 0x1fu) * 16, false, 1);
    else if (a < 0x40)
        *out = code_of(ARM64_SAVE_REGP, 19, (a & 0x1fu) * 8, true, 1);
    else if (a < 0x80)
        *out = code_of(ARM64_SAVE_REGP, 29, (a & 0x3fu) * 8, false, 1);
    else
        *out = code_of(ARM64_SAVE_REGP, 29, ((a & 0x3fu) + 1) * 8, true, 1);
    return 1;
}

static uint32_t read_pair(uint8_t a, uint8_t b, struct arm64_code *out)
{
    uint32_t x = (a & 3u) << 2 | b >> 6, z = b & 0x3fu; /* xx xxzzzzzz */
    uint32_t x_short = (a & 1u) << 2 | b >> 6;          /* x xxzzzzzz  */
    uint32_t x_wide = (a & 1u) << 3 | b >> 5, z_short = b & 0x1fu;
    if (a < 0xc8)
        *out = code_of(ARM64_ALLOC, 0, ((a & 7u) << 8 | b) * 16, false, 2);
    else if (a < 0xcc)
        *out = code_of(ARM64_SAVE_REGP, 19 + x, z * 8, false, 2);
    else if (a < 0xd0)
        *out = code_of(ARM64_SAVE_REGP, 19 + x, (z + 1) * 8, true, 2);
    else if (a < 0xd4)
        *out = code_of(ARM64_SAVE_REG, 19 + x, z * 8, false, 2);
    else if (a < 0xd6)
        *out = code_of(ARM64_SAVE_REG, 19 + x_wide, (z_short + 1) * 8, true, 2);
    else if (a < 0xd8)
        *out = code_of(ARM64_SAVE_LRPAIR, 19 + 2 * x_short, z * 8, false, 2);
    else if (a < 0xda)
        *out = code_of(ARM64_SAVE_FREGP, 8 + x_short, z * 8, false, 2);
    else if (a < 0xdc)
        *out = code_of(ARM64_SAVE_FREGP, 8 + x_short, (z + 1) * 8, true, 2);
    else if (a < 0xde)
        *out = code_of(ARM64_SAVE_FREG, 8 + x_short, z * 8, false, 2);
    else
        *out = code_of(ARM64_SAVE_FREG, 8 + (b >> 5), (z_short + 1) * 8, true, 2);
    return 2;
}

/* save_any_reg: 11100111 0pxrrrrr ffoooooo */
static uint32_t read_any_reg(const uint8_t *raw, struct arm64_code *out)
{
    bool pair = (raw[1] & 0x40) != 0, writeback = (raw[1] & 0x20) != 0;
    uint32_t form = raw[2] >> 6, scale = writeback || pair || form == 2 ? 16 : 8;
    uint32_t bytes = ((raw[2] & 0x3fu) + (writeback ? 1 : 0)) * scale;
    static const uint8_t ops[3][2] = {{ARM64_SAVE_REG, ARM64_SAVE_REGP},
                                      {ARM64_SAVE_FREG, ARM64_SAVE_FREGP},
                                      {ARM64_SAVE_QREG, ARM64_SAVE_QREGP}};
    if ((raw[1] & 0x80) != 0 || form == 3)
        *out = code_of(ARM64_RESERVED, 0, 0, false, 3);
    else
        *out = code_of(ops[form][pair], raw[1] & 0x1f, bytes, writeback, 3);
    return 3;
}

/* Bytes of the code that starts with FIRST. */
static uint32_t special_length(uint8_t first)
{
    switch (first) {
    case 0xe0:
        return 4;
    case 0xe7:
        return 3;
    case 0xe2:
    case 0xdf:
        return 2;
    default: /* 0xf8 to 0xfb are reserved, but of known length */
        return first >= 0xf8 && first <= 0xfb ? (uint32_t)(first - 0xf8) + 2 : 1;
    }
}

static uint32_t read_special(const uint8_t *raw, uint32_t left, struct arm64_code *out)
{
    static const uint8_t single[] = {ARM64_NOP, ARM64_END, ARM64_END_C, ARM64_SAVE_NEXT};
    static const uint8_t frames[] = {ARM64_TRAP_FRAME, ARM64_MACHINE_FRAME, ARM64_CONTEXT,
                                     ARM64_EC_CONTEXT, ARM64_CLEAR_UNWOUND_TO_CALL};
    uint8_t a = raw[0];
    const uint32_t length = special_length(a);
    if (left < length)
        return 0;
    *out = code_of(ARM64_RESERVED, 0, 0, false, length);
    if (a == 0xe0)
        *out = code_of(ARM64_ALLOC, 0,
                       ((uint32_t)raw[1] << 16 | (uint32_t)raw[2] << 8 | raw[3]) * 16, false, 4);
    else if (a == 0xe1)
        *out = code_of(ARM64_SET_FP, 0, 0, false, 1);
    else if (a == 0xe2)
        *out = code_of(ARM64_ADD_FP, 0, raw[1] * 8u, false, 2);
    else if (a >= 0xe3 && a <= 0xe6)
        *out = code_of(single[a - 0xe3], 0, 0, false, 1);
    else if (a == 0xe7)
        return read_any_reg(raw, out);
    else if (a >= 0xe8 && a <= 0xec)
        *out = code_of(frames[a - 0xe8], 0, 0, false, 1);
    else if (a == 0xfc)
        *out = code_of(ARM64_SIGN_LR, 0, 0, false, 1);
    return length;
}

/* Reads one unwind code at RAW (LEFT bytes, at least one). Returns its length; 0: malformed or
 * truncated. */
static uint32_t arm64_code_read(const uint8_t *raw, uint32_t left, struct arm64_code *out)
{
    if (raw[0] < 0xc0)
        return read_short(raw[0], out);
    if (raw[0] >= 0xdf)
        return read_special(raw, left, out);
    return left < 2 ? 0 : read_pair(raw[0], raw[1], out);
}

static void arm64_packed_read(uint32_t word, struct arm64_packed *out)
{
    out->function_bytes = (word >> 2 & 0x7ff) * 4;
    out->reg_f = (uint8_t)(word >> 13 & 7);
    out->reg_i = (uint8_t)(word >> 16 & 15);
    out->homes = (word >> 20 & 1) != 0;
    out->cr = (uint8_t)(word >> 21 & 3);
    out->frame_bytes = (word >> 23) * 16;
}

/* Codes in the order in which the prologue runs; reversed at the end. */
struct builder {
    struct arm64_code *codes;
    uint32_t count, room;
};

static void add(struct builder *b, uint8_t op, uint32_t reg, uint32_t bytes, bool writeback)
{
    if (b->count < b->room)
        b->codes[b->count++] = code_of(op, reg, bytes, writeback, 0);
}

/* Adds the saves of one register file: pairs, then a single register. The first save moves sp. */
static void add_saves(struct builder *b, uint8_t pair, uint32_t first, uint32_t count, uint32_t at,
                      uint32_t save_bytes)
{
    for (uint32_t i = 0; i < count; i += 2) {
        bool lead = at == 0 && i == 0;
        uint8_t op = i + 1 < count ? pair : (uint8_t)(pair + 1);
        add(b, op, first + i, lead ? save_bytes : at + i * 8, lead);
    }
}

/* Parameters are homed in the prologue if something else is saved before them. Where nothing is, no
 * space is allocated for them yet: they are homed in the body, in the space of the locals. The
 * document does not say so; dumpbin does ("argument registers homed post-prolog"), and
 * RtlVirtualUnwind walks so: https://github.com/llvm/llvm-project/pull/170294. */
static bool homes_in_prologue(const struct arm64_packed *p)
{
    return p->homes && (p->reg_i != 0 || p->reg_f != 0 || p->cr == 1);
}

static uint32_t saved_total(const struct arm64_packed *p)
{
    uint32_t bytes = p->reg_i * 8u + (p->cr == 1 ? 8 : 0);
    bytes += p->reg_f != 0 ? p->reg_f * 8u + 8 : 0;
    return (bytes + (homes_in_prologue(p) ? 64 : 0) + 15) & ~15u;
}

static void add_saved_registers(struct builder *b, const struct arm64_packed *p)
{
    uint32_t int_bytes = p->reg_i * 8u + (p->cr == 1 ? 8 : 0);
    uint32_t fp_count = p->reg_f != 0 ? p->reg_f + 1u : 0;
    uint32_t save_bytes = saved_total(p);
    uint32_t lone = p->cr == 1 ? p->reg_i & 1u : 0; /* saved as a pair with lr */
    add_saves(b, ARM64_SAVE_REGP, 19, p->reg_i - lone, 0, save_bytes);
    if (lone != 0 && p->reg_i == 1) { /* no single code does this with write-back, so use two */
        add(b, ARM64_ALLOC, 0, save_bytes, false);
        add(b, ARM64_SAVE_LRPAIR, 19, 0, false);
    } else if (lone != 0) {
        add(b, ARM64_SAVE_LRPAIR, 19u + p->reg_i - 1u, (p->reg_i - 1u) * 8, false);
    } else if (p->cr == 1) {
        bool lead = p->reg_i == 0;
        add(b, ARM64_SAVE_REG, 30, lead ? save_bytes : int_bytes - 8, lead);
    }
    add_saves(b, ARM64_SAVE_FREGP, 8, fp_count, int_bytes, save_bytes);
    for (int i = 0; homes_in_prologue(p) && i < ARM64_HOMES; i++)
        add(b, ARM64_NOP, 0, 0, false);
}

static void add_alloc(struct builder *b, uint32_t bytes)
{
    if (bytes > 4080) {
        add(b, ARM64_ALLOC, 0, 4080, false);
        bytes -= 4080;
    }
    if (bytes > 0)
        add(b, ARM64_ALLOC, 0, bytes, false);
}

uint32_t arm64_packed_expand(const struct arm64_packed *packed, struct arm64_code *out,
                             uint32_t room)
{
    struct builder b = {out, 0, room};
    uint32_t saved = saved_total(packed);
    uint32_t local = packed->frame_bytes > saved ? packed->frame_bytes - saved : 0;
    if (packed->cr == 2)
        add(&b, ARM64_SIGN_LR, 0, 0, false);
    add_saved_registers(&b, packed);
    if (packed->cr >= 2) {
        if (local <= 512) {
            add(&b, ARM64_SAVE_REGP, 29, local, true);
        } else {
            add_alloc(&b, local);
            add(&b, ARM64_SAVE_REGP, 29, 0, false);
        }
        add(&b, ARM64_SET_FP, 0, 0, false);
    } else {
        add_alloc(&b, local);
    }
    for (uint32_t i = 0; i < b.count / 2; i++) {
        struct arm64_code swap = out[i];
        out[i] = out[b.count - 1 - i];
        out[b.count - 1 - i] = swap;
    }
    add(&b, ARM64_END, 0, 0, false);
    return b.count;
}

enum stop_reason arm64_info_read(const struct unwind_process *process, uint64_t base_va,
                                 uint32_t word, struct arm64_info *out)
{
    *out = (struct arm64_info){.form = (enum arm64_form)(word & 3)};
    if ((word & 3) == 3)
        return STOP_DATA_RESERVED;
    if (out->form != ARM64_XDATA) {
        arm64_packed_read(word, &out->packed);
        out->function_bytes = out->packed.function_bytes;
        return STOP_NONE;
    }
    uint64_t va = base_va + word;
    uint32_t head, wide;
    if (!unwind_read_u32(process, va, &head))
        return STOP_DATA_MISSING;
    out->function_bytes = (head & 0x3ffff) * 4;
    out->version = head >> 18 & 3;
    out->has_handler = (head >> 20 & 1) != 0;
    out->single_epilogue = (head >> 21 & 1) != 0;
    out->epilogue_count = head >> 22 & 31;
    uint32_t code_words = head >> 27;
    va += 4;
    if (out->version != 0)
        return STOP_DATA_VERSION;
    if (out->epilogue_count == 0 && code_words == 0) {
        if (!unwind_read_u32(process, va, &wide))
            return STOP_DATA_MISSING;
        out->epilogue_count = wide & 0xffff;
        code_words = wide >> 16 & 0xff;
        va += 4;
    }
    out->scopes_va = va;
    out->codes_va = va + (out->single_epilogue ? 0 : (uint64_t)out->epilogue_count * 4);
    out->code_bytes = code_words * 4;
    if (out->has_handler &&
        unwind_read_u32(process, out->codes_va + out->code_bytes, &out->handler_rva))
        (void)unwind_read_u32(process, out->codes_va + out->code_bytes + 4, &out->handler_data_rva);
    return STOP_NONE;
}

enum stop_reason arm64_codes_read(const struct unwind_process *process,
                                  const struct arm64_info *info, uint32_t index,
                                  struct arm64_code *out, uint32_t room, uint32_t *count)
{
    uint8_t raw[ARM64_CODES_MAX];
    *count = 0;
    if (info->code_bytes > sizeof(raw))
        return STOP_DATA_MALFORMED;
    if (!process->read(process->self, info->codes_va, raw, info->code_bytes))
        return STOP_DATA_MISSING;
    while (index < info->code_bytes && *count < room) {
        uint32_t length = arm64_code_read(raw + index, info->code_bytes - index, &out[*count]);
        if (length == 0)
            return STOP_DATA_MALFORMED;
        index += length;
        if (out[(*count)++].op == ARM64_END)
            return STOP_NONE;
    }
    return STOP_NONE; /* no more words, so no more codes */
}

bool arm64_scope_read(const struct unwind_process *process, const struct arm64_info *info,
                      uint32_t number, uint32_t *start_bytes, uint32_t *code_index)
{
    uint32_t scope;
    if (!unwind_read_u32(process, info->scopes_va + (uint64_t)number * 4, &scope))
        return false;
    *start_bytes = (scope & 0x3ffff) * 4;
    *code_index = scope >> 22;
    return true;
}
