/* One arm64 step. Each unwind code describes one instruction. In a prologue, the codes of
 * instructions that have not run yet are skipped; in an epilogue, those of instructions that have
 * already run. */
#include "unwind/arm64.h"

#include "base/array.h"
#include "unwind/arm64_info.h"
#include "unwind/symbol_rules.h"
#include "unwind/tables.h"

enum { CONTEXT_SP = 0x100, CONTEXT_PC = 0x108, CONTEXT_X0 = 8 };
enum { EC_CONTEXT_SP = 0x98, EC_CONTEXT_PC = 0xf8, EC_CONTEXT_LR = 0x120 };

/* Where an ARM64EC CONTEXT, which has the x64 layout, holds the nonvolatile registers.
 * Source: ARM64EC_NT_CONTEXT in winnt.h. */
static const struct {
    uint8_t number, offset;
} ec_context[] = {{19, 0xd8}, {20, 0xe0}, {21, 0xe8}, {22, 0xf0},
                  {25, 0xa8}, {26, 0xb0}, {27, 0x90}, {REG_ARM64_FP, 0xa0}};

struct undo {
    struct unwind_walker *w;
    uint32_t next_count; /* save_next codes seen: more register pairs for the next save */
    bool interrupted;    /* a machine frame or context gave pc and sp           */
};

static bool restore(struct undo *u, const struct arm64_code *code, uint32_t index, uint64_t va)
{
    struct registers *regs = &u->w->regs;
    uint64_t value;
    if (!unwind_read_u64(u->w->process, va, &value))
        return false;
    bool vector = code->op >= ARM64_SAVE_FREGP && code->op <= ARM64_SAVE_QREG;
    if (vector && index < REG_VECTOR_COUNT)
        regs->vector[index][0] = value;
    else if (!vector && index <= REG_ARM64_LR)
        regs->r[index] = value;
    if (!vector && index == REG_ARM64_LR)
        u->w->frame->return_slot_va = va;
    return true;
}

static bool undo_save(struct undo *u, const struct arm64_code *code)
{
    uint64_t at = u->w->regs.sp + (code->writeback ? 0 : code->bytes);
    bool pair = code->op == ARM64_SAVE_REGP || code->op == ARM64_SAVE_FREGP ||
                code->op == ARM64_SAVE_QREGP || code->op == ARM64_SAVE_LRPAIR;
    uint32_t step = code->op == ARM64_SAVE_QREGP ? 16 : 8;
    uint32_t second = code->op == ARM64_SAVE_LRPAIR ? REG_ARM64_LR : (uint32_t)code->reg + 1;
    for (uint32_t i = 0; i <= u->next_count; i++) {
        uint64_t va = at + (uint64_t)i * 2 * step;
        if (!restore(u, code, code->reg + 2 * i, va) ||
            (pair && !restore(u, code, i == 0 ? second : code->reg + 2 * i + 1, va + step)))
            return false;
    }
    u->next_count = 0;
    if (code->writeback)
        u->w->regs.sp += code->bytes;
    return true;
}

static bool undo_ec_context(struct undo *u)
{
    struct registers *regs = &u->w->regs;
    uint64_t base = regs->sp, sp, pc;
    if (!unwind_read_u64(u->w->process, base + EC_CONTEXT_SP, &sp) ||
        !unwind_read_u64(u->w->process, base + EC_CONTEXT_PC, &pc) ||
        !unwind_read_u64(u->w->process, base + EC_CONTEXT_LR, &regs->r[REG_ARM64_LR]))
        return false;
    for (size_t i = 0; i < COUNT_OF(ec_context); i++)
        if (!unwind_read_u64(u->w->process, base + ec_context[i].offset,
                             &regs->r[ec_context[i].number]))
            return false;
    u->w->frame->return_slot_va = base + EC_CONTEXT_PC;
    regs->sp = sp;
    regs->pc = pc;
    u->interrupted = true;
    return true;
}

/* Restores from a CONTEXT, or a machine frame {sp, pc}, that an exception left at sp. */
static bool undo_frame(struct undo *u, const struct arm64_code *code)
{
    struct registers *regs = &u->w->regs;
    uint64_t base = regs->sp, sp, pc;
    bool context = code->op == ARM64_CONTEXT;
    if (!unwind_read_u64(u->w->process, base + (context ? CONTEXT_SP : 0), &sp) ||
        !unwind_read_u64(u->w->process, base + (context ? CONTEXT_PC : 8), &pc))
        return false;
    for (uint32_t i = 0; context && i <= REG_ARM64_LR; i++)
        if (!unwind_read_u64(u->w->process, base + CONTEXT_X0 + (uint64_t)i * 8, &regs->r[i]))
            return false;
    u->w->frame->return_slot_va = base + (context ? CONTEXT_PC : 8);
    regs->sp = sp;
    regs->pc = pc;
    u->interrupted = true;
    return true;
}

static bool undo_code(struct undo *u, const struct arm64_code *code)
{
    struct registers *regs = &u->w->regs;
    switch (code->op) {
    case ARM64_ALLOC:
        regs->sp += code->bytes;
        return true;
    case ARM64_SET_FP:
        regs->sp = regs->r[REG_ARM64_FP];
        return true;
    case ARM64_ADD_FP:
        regs->sp = regs->r[REG_ARM64_FP] - code->bytes;
        return true;
    case ARM64_SAVE_NEXT:
        u->next_count++;
        return u->next_count < 16;
    case ARM64_SIGN_LR:
        regs->r[REG_ARM64_LR] = unwind_strip(u->w, regs->r[REG_ARM64_LR]);
        return true;
    case ARM64_MACHINE_FRAME:
    case ARM64_TRAP_FRAME:
    case ARM64_CONTEXT:
        return undo_frame(u, code);
    case ARM64_EC_CONTEXT:
        return undo_ec_context(u);
    case ARM64_NOP:
    case ARM64_END:
    case ARM64_END_C:
    case ARM64_CLEAR_UNWOUND_TO_CALL:
    case ARM64_RESERVED:
        return true;
    default:
        return undo_save(u, code);
    }
}

/* Undoes COUNT codes, except the first SKIP. */
static enum stop_reason undo_codes(struct unwind_walker *w, const struct arm64_code *codes,
                                   uint32_t count, uint32_t skip)
{
    struct undo u = {.w = w};
    w->frame->return_slot_va = 0;
    for (uint32_t i = skip; i < count && codes[i].op != ARM64_END && !u.interrupted; i++)
        if (!undo_code(&u, &codes[i]))
            return STOP_MEMORY;
    if (u.interrupted) {
        w->caller_kind = PC_INTERRUPTED;
        w->caller_note = NOTE_MACHINE_FRAME;
    } else {
        w->regs.pc = unwind_strip(w, w->regs.r[REG_ARM64_LR]);
    }
    return STOP_NONE;
}

/* Counts the codes up to END or END_C, each of which is one instruction. */
static uint32_t instructions(const struct arm64_code *codes, uint32_t count)
{
    uint32_t n = 0;
    while (n < count && codes[n].op != ARM64_END && codes[n].op != ARM64_END_C)
        n++;
    return n;
}

static enum stop_reason step_xdata(struct unwind_walker *w, const struct arm64_info *info,
                                   uint32_t into)
{
    struct arm64_code codes[ARM64_CODES_MAX];
    uint32_t count, start, index;
    bool interrupted = w->frame->kind == PC_INTERRUPTED;
    uint32_t scopes = info->single_epilogue ? 1 : info->epilogue_count;
    enum stop_reason stop = arm64_codes_read(w->process, info, 0, codes, ARM64_CODES_MAX, &count);
    if (stop != STOP_NONE)
        return stop;
    uint32_t prologue = instructions(codes, count);
    if (into / 4 < prologue) {
        w->frame->where = WHERE_PROLOGUE;
        return undo_codes(w, codes, count, prologue - into / 4);
    }
    w->frame->where = WHERE_BODY;
    for (uint32_t i = 0; i < scopes && interrupted; i++) {
        struct arm64_code epilogue[ARM64_CODES_MAX];
        uint32_t epilogue_count;
        start = 0;
        index = info->epilogue_count;
        if (!info->single_epilogue && !arm64_scope_read(w->process, info, i, &start, &index))
            return STOP_DATA_MISSING;
        if (!info->single_epilogue && (into < start || into - start > ARM64_CODES_MAX * 4))
            continue;
        stop =
            arm64_codes_read(w->process, info, index, epilogue, ARM64_CODES_MAX, &epilogue_count);
        if (stop != STOP_NONE)
            return stop;
        uint32_t bytes = (instructions(epilogue, epilogue_count) + 1) * 4; /* including its ret */
        if (info->single_epilogue)
            start = info->function_bytes > bytes ? info->function_bytes - bytes : 0;
        if (into < start || into - start >= bytes)
            continue;
        w->frame->where = WHERE_EPILOGUE;
        return undo_codes(w, epilogue, epilogue_count, (into - start) / 4);
    }
    return undo_codes(w, codes, count, 0);
}

/* A packed function's epilogue mirrors its prologue, without the steps that an epilogue does not
 * need; NOPS: with the stores that home parameters, as nops. */
static uint32_t packed_epilogue(const struct arm64_code *codes, uint32_t count, bool nops,
                                struct arm64_code *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (codes[i].op != ARM64_SET_FP && (nops || codes[i].op != ARM64_NOP))
            out[n++] = codes[i];
    return n;
}

/* The epilogue of a function that ends at END_VA. By the document, the homed parameters leave
 * nothing in it; older Windows expects nops in their place, so compilers wrote them: the code
 * decides. https://github.com/llvm/llvm-project/issues/54879 */
static uint32_t find_packed_epilogue(const struct unwind_walker *w, uint64_t end_va,
                                     const struct arm64_code *codes, uint32_t count,
                                     struct arm64_code *out)
{
    static const uint32_t nop = 0xd503201f;
    const uint32_t all = packed_epilogue(codes, count, true, out);
    uint32_t first = 0, word;

    while (first < all && out[first].op != ARM64_NOP)
        first++;
    for (uint32_t i = first; i < all && i < first + ARM64_HOMES; i++)
        if (!unwind_read_u32(w->process, end_va - (uint64_t)(all - i) * 4, &word) || word != nop)
            return packed_epilogue(codes, count, false, out);
    return all;
}

static enum stop_reason step_packed(struct unwind_walker *w, const struct arm64_info *info,
                                    uint32_t into)
{
    struct arm64_code codes[64], epilogue[64];
    uint32_t count = arm64_packed_expand(&info->packed, codes, 64);
    uint32_t prologue = instructions(codes, count);
    w->frame->where = WHERE_BODY;
    if (info->form == ARM64_PACKED_FRAGMENT)
        return undo_codes(w, codes, count, 0); /* has neither prologue nor epilogue */
    if (into / 4 < prologue) {
        w->frame->where = WHERE_PROLOGUE;
        return undo_codes(w, codes, count, prologue - into / 4);
    }
    const uint64_t end_va = w->regs.pc - into + info->function_bytes;
    uint32_t epilogue_count = find_packed_epilogue(w, end_va, codes, count, epilogue);
    uint32_t bytes = epilogue_count * 4; /* END is the ret */
    if (w->frame->kind == PC_INTERRUPTED && info->function_bytes >= bytes &&
        into >= info->function_bytes - bytes) {
        w->frame->where = WHERE_EPILOGUE;
        return undo_codes(w, epilogue, epilogue_count, (into - (info->function_bytes - bytes)) / 4);
    }
    return undo_codes(w, codes, count, 0);
}

static enum stop_reason step_entry(struct unwind_walker *w, const struct unwind_entry *entry,
                                   bool *covers)
{
    struct arm64_info info;
    enum stop_reason stop = arm64_info_read(w->process, entry->base_va, entry->unwind_rva, &info);
    uint32_t rva = (uint32_t)(w->regs.pc - entry->base_va), into = rva - entry->begin_rva;
    *covers = stop != STOP_NONE || into - (w->frame->kind == PC_RETURN) < info.function_bytes;
    if (stop != STOP_NONE || !*covers)
        return stop;
    w->frame->function_begin_rva = entry->begin_rva;
    w->frame->function_end_rva = entry->begin_rva + info.function_bytes;
    w->frame->unwind_data_va = info.form == ARM64_XDATA ? entry->base_va + entry->unwind_rva : 0;
    return info.form == ARM64_XDATA ? step_xdata(w, &info, into) : step_packed(w, &info, into);
}

/* True when the function at the pc saved LR in a frame that fp points to, so it is not a leaf. */
static bool is_in_frame(const struct unwind_walker *w, uint64_t lr)
{
    const uint64_t fp = w->regs.r[REG_ARM64_FP];
    uint64_t saved;
    return fp >= w->regs.sp && unwind_read_u64(w->process, fp + 8, &saved) &&
           unwind_strip(w, saved) == lr;
}

/* KNOWN: the module has unwind data, but none that covers the pc. */
static enum stop_reason step_leaf(struct unwind_walker *w, bool known)
{
    const uint64_t lr = unwind_strip(w, w->regs.r[REG_ARM64_LR]);
    const bool interrupted = w->frame->kind == PC_INTERRUPTED;
    if (interrupted && unwind_is_return(w, lr) &&
        (known || (!is_in_frame(w, lr) && !unwind_is_own_call(w, lr)))) {
        w->regs.pc = lr;
        w->caller_found = FOUND_LEAF;
        return STOP_NONE;
    }
    if (unwind_frame_pointer(w, REG_ARM64_FP)) {
        w->regs.r[REG_ARM64_LR] = w->regs.pc;
        return STOP_NONE;
    }
    if (interrupted && lr == 0)
        return STOP_END;
    return unwind_scan(w);
}

enum stop_reason unwind_step_arm64(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    const struct unwind_module *facts =
        module != NULL ? unwind_module_of(w->process, module) : NULL;
    struct unwind_entry entry;
    uint64_t lookup_va = w->regs.pc - (w->frame->kind == PC_RETURN);
    bool covers;
    const enum unwind_row row =
        facts != NULL && facts->has_headers
            ? unwind_pdata_find(w->process, facts, (uint32_t)(lookup_va - module->base_va), 8,
                                &entry)
            : UNWIND_ROW_NONE;
    if (row == UNWIND_ROW_UNREADABLE ||
        (facts != NULL && facts->has_headers && !facts->knows_pdata))
        w->caller_note = NOTE_PDATA_UNREADABLE;
    if (row == UNWIND_ROW_FOUND) {
        const struct registers before = w->regs;
        enum stop_reason stop = step_entry(w, &entry, &covers);
        if (covers && (stop == STOP_NONE || stop == STOP_MEMORY))
            return stop;
        w->regs = before;
        if (stop != STOP_NONE) { /* it has unwind data, so it need not be a leaf */
            w->caller_note = frame_note_of_stop(stop);
            return step_leaf(w, false);
        }
    }
    const bool rows = facts != NULL && unwind_pdata_count(facts, 8) > 0;
    if (!(rows && row == UNWIND_ROW_NONE) && unwind_symbol_rules(w))
        return STOP_NONE;
    return step_leaf(w, rows && row != UNWIND_ROW_UNREADABLE);
}
