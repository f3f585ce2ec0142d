/* One x64 step.
 *
 * With unwind data: an epilogue is executed (see x64_epilogue.c); otherwise the prologue's codes
 * that had run are undone, then all codes of the chained entries. Without unwind data: an
 * interrupted leaf pops its return address; where the image is missing, a Breakpad file gives rules
 * or the PDB the frame size; otherwise the stack is scanned. */
#include "unwind/x64.h"

#include "base/limits.h"
#include "format/pdb/pdb_module.h"
#include "unwind/symbol_rules.h"
#include "unwind/tables.h"
#include "unwind/x64_epilogue.h"
#include "unwind/x64_info.h"
#include "unwind/x64_info_v3.h"
#include "unwind/x64_redirect.h"

/* How much of one frame is undone. */
struct undo {
    struct unwind_walker *w;
    uint64_t base_va; /* base of saves: from the frame register or the stack pointer */
    bool machine_frame;
    bool saves_without_frame; /* of version 3: of a part that may chain to one with a frame register
                               */
};

static enum stop_reason undo_machine_frame(struct undo *u, const struct x64_code *code)
{
    struct registers *regs = &u->w->regs;
    uint64_t at = regs->sp + (code->info != 0 ? 8 : 0), pc, sp;
    if (!unwind_read_u64(u->w->process, at, &pc) || !unwind_read_u64(u->w->process, at + 24, &sp))
        return STOP_MEMORY;
    u->w->frame->return_slot_va = at;
    regs->pc = pc;
    regs->sp = sp;
    u->machine_frame = true;
    return STOP_NONE;
}

static enum stop_reason undo_code(struct undo *u, const struct x64_info *info,
                                  const struct x64_code *code)
{
    struct registers *regs = &u->w->regs;
    const struct unwind_process *process = u->w->process;
    uint64_t value;
    switch (code->op) {
    case X64_PUSH_NONVOL:
        if (!unwind_read_u64(process, regs->sp, &value))
            return STOP_MEMORY;
        if (code->info != 4)
            regs->r[code->info] = value;
        regs->sp += 8;
        return STOP_NONE;
    case X64_ALLOC_LARGE:
    case X64_ALLOC_SMALL:
        regs->sp += code->bytes;
        return STOP_NONE;
    case X64_SET_FPREG:
        regs->sp = regs->r[info->frame_register] - info->frame_offset;
        return STOP_NONE;
    case X64_SAVE_NONVOL:
    case X64_SAVE_NONVOL_FAR:
        if (!unwind_read_u64(process, u->base_va + code->bytes, &value))
            return STOP_MEMORY;
        if (code->info != 4)
            regs->r[code->info] = value;
        return STOP_NONE;
    case X64_SAVE_XMM128:
    case X64_SAVE_XMM128_FAR:
        if (!unwind_read_u64(process, u->base_va + code->bytes, &regs->vector[code->info][0]) ||
            !unwind_read_u64(process, u->base_va + code->bytes + 8, &regs->vector[code->info][1]))
            return STOP_MEMORY;
        return STOP_NONE;
    case X64_PUSH_MACHFRAME:
        return undo_machine_frame(u, code);
    default:
        return STOP_NONE; /* epilogue descriptions, reserved codes */
    }
}

/* Save offsets count from the frame register once it is set, and from the stack pointer before
 * that. In a part that chains to the function's head, the head has already set it. */
static uint64_t save_base(const struct registers *regs, const struct x64_info *info, uint32_t into,
                          bool whole)
{
    if (info->frame_register == 0)
        return regs->sp;
    bool set = whole || (info->flags & X64_CHAINED) != 0 || into >= info->prologue_bytes;
    for (uint32_t i = 0; i < info->code_count && !set; i++)
        set = info->codes[i].op == X64_SET_FPREG && info->codes[i].prologue_offset <= into;
    return set ? regs->r[info->frame_register] - info->frame_offset : regs->sp;
}

/* Undoes those of COUNT codes of version 3 that are in force at INTO, the last ones: of a prologue
 * those that had run, of an epilogue those that had not. */
static enum stop_reason undo_in_force(struct undo *u, const struct x64_info *info,
                                      const struct x64_code *codes, uint32_t count, uint32_t into,
                                      bool had_run)
{
    uint32_t i = 0;
    while (i < count && (into >= codes[i].prologue_offset) != had_run)
        i++;
    if (!x64_saves_are_certain(codes + i, count - i))
        return STOP_DATA_APX;
    bool saves = false, framed = false;
    for (uint32_t k = i; k < count; k++) {
        saves = saves || x64_is_save(codes[k].op);
        framed = framed || codes[k].op == X64_SET_FPREG;
    }
    u->base_va = framed ? u->w->regs.r[info->frame_register] - info->frame_offset : u->w->regs.sp;
    u->saves_without_frame = saves && !framed;
    for (; i < count && !u->machine_frame; i++) {
        const enum stop_reason stop = undo_code(u, info, &codes[i]);
        if (stop != STOP_NONE)
            return stop;
    }
    return STOP_NONE;
}

/* Undoes one UNWIND_INFO. INTO: bytes into the function; WHOLE: the entire prologue had run. */
static enum stop_reason undo_info(struct undo *u, const struct x64_info *info, uint32_t into,
                                  bool whole)
{
    if (info->version == 3)
        return undo_in_force(u, info, info->codes, info->code_count, whole ? UINT16_MAX : into,
                             true);
    u->base_va = save_base(&u->w->regs, info, into, whole);
    for (uint32_t i = 0; i < info->code_count && !u->machine_frame; i++) {
        const struct x64_code *code = &info->codes[i];
        if (code->op == X64_EPILOG && info->version >= 2)
            continue;
        if (!whole && into < code->prologue_offset)
            continue; /* not yet run */
        enum stop_reason stop = undo_code(u, info, code);
        if (stop != STOP_NONE)
            return stop;
    }
    return STOP_NONE;
}

/* Does the pops of an epilogue that version 2 lists: they mirror the pushes, so no code bytes are
 * needed. INTO: bytes into the epilogue; the pops before it have run. */
static enum stop_reason undo_listed_epilogue(struct undo *u, const struct x64_info *info,
                                             uint32_t into)
{
    for (uint32_t i = 0; i < info->code_count; i++) {
        const struct x64_code *code = &info->codes[i];
        if (code->op != X64_PUSH_NONVOL)
            continue;
        uint32_t pop_bytes = code->info >= 8 ? 2 : 1;
        if (into >= pop_bytes) {
            into -= pop_bytes;
            continue;
        }
        into = 0;
        enum stop_reason stop = undo_code(u, info, code);
        if (stop != STOP_NONE)
            return stop;
    }
    return STOP_NONE;
}

/* To the caller, when all of a frame is undone. */
static enum stop_reason leave(const struct undo *u)
{
    if (!u->machine_frame)
        return unwind_pop(u->w, FOUND_UNWIND, NOTE_NONE);
    u->w->caller_kind = PC_INTERRUPTED;
    u->w->caller_note = NOTE_MACHINE_FRAME;
    return STOP_NONE;
}

/* In an epilogue that version 2 or 3 lists, undoes the rest of it. False: in none. */
static bool step_listed(struct unwind_walker *w, const struct unwind_entry *entry,
                        const struct x64_info *info, uint32_t pc_rva, enum stop_reason *stop)
{
    struct undo u = {.w = w};
    uint32_t into;
    const struct x64_listed_epilogue *epilogue =
        info->version == 3 ? x64_listed_epilogue(info, entry, pc_rva, &into) : NULL;
    if (epilogue == NULL && !x64_in_listed_epilogue(info, entry, pc_rva, &into))
        return false;
    w->frame->where = WHERE_EPILOGUE;
    if (epilogue == NULL)
        *stop = undo_listed_epilogue(&u, info, into);
    else if (epilogue->to_parent)
        *stop = STOP_DATA_APX;
    else
        *stop = undo_in_force(&u, info, info->codes + epilogue->first_code, epilogue->code_count,
                              into, false);
    if (*stop == STOP_NONE)
        *stop = leave(&u);
    return true;
}

/* Undoes an entry and all entries that it chains to, then pops the return address. */
static enum stop_reason undo_entry(struct unwind_walker *w, struct unwind_entry entry,
                                   struct x64_info *info, uint32_t into)
{
    struct undo u = {.w = w};
    bool whole = w->frame->where == WHERE_BODY;
    for (uint32_t chain = 0;; chain++) {
        enum stop_reason stop = undo_info(&u, info, into, whole);
        if (stop != STOP_NONE)
            return stop;
        if (u.machine_frame || (info->flags & X64_CHAINED) == 0)
            return leave(&u);
        if (chain == LIMIT_UNWIND_CHAIN)
            return STOP_DATA_LOOP;
        entry = info->chained;
        whole = true;
        stop = x64_info_read(w->process, entry.base_va, entry.unwind_rva & ~1u, info);
        if (stop != STOP_NONE)
            return stop;
        if (u.saves_without_frame && info->frame_register != 0)
            return STOP_DATA_APX;
    }
}

/* A row whose unwind rva is odd refers to another row. */
static enum stop_reason follow_rows(struct unwind_walker *w, struct unwind_entry *entry)
{
    for (uint32_t i = 0; (entry->unwind_rva & 1) != 0; i++) {
        uint8_t raw[12];
        if (i == LIMIT_UNWIND_CHAIN)
            return STOP_DATA_LOOP;
        if (!w->process->read(w->process->self, entry->base_va + entry->unwind_rva - 1, raw,
                              sizeof(raw)))
            return STOP_DATA_MISSING;
        entry->unwind_rva = load_u32(raw + 8);
    }
    return STOP_NONE;
}

static enum stop_reason step_entry(struct unwind_walker *w, struct unwind_entry entry)
{
    struct x64_info info;
    struct unwind_frame *frame = w->frame;
    enum stop_reason stop = follow_rows(w, &entry);
    if (stop == STOP_NONE)
        stop = x64_info_read(w->process, entry.base_va, entry.unwind_rva, &info);
    if (stop != STOP_NONE)
        return stop;
    const enum x64_redirect redirect = w->process->runs_managed
                                           ? x64_redirect(w->process, &entry, &info, w->regs.pc)
                                           : X64_NOT_REDIRECTED;
    if (redirect == X64_REDIRECT_UNKNOWN)
        return STOP_HIJACKED;
    uint32_t pc_rva = (uint32_t)(w->regs.pc - entry.base_va), into = pc_rva - entry.begin_rva;
    frame->function_begin_rva = entry.begin_rva;
    frame->function_end_rva = entry.end_rva;
    frame->unwind_data_va = entry.base_va + entry.unwind_rva;
    frame->where =
        into < info.prologue_bytes && (info.flags & X64_CHAINED) == 0 ? WHERE_PROLOGUE : WHERE_BODY;
    /* A return address is never inside an epilogue, whatever its bytes look like. */
    if (frame->kind == PC_INTERRUPTED && frame->where == WHERE_BODY) {
        if (step_listed(w, &entry, &info, pc_rva, &stop))
            return stop;
        bool interrupted = false;
        const enum x64_place place = info.version < 2
                                         ? x64_epilogue(w->process, &entry, &info, &w->regs,
                                                        &frame->return_slot_va, &interrupted)
                                         : X64_BODY;
        if (place != X64_BODY) {
            frame->where = WHERE_EPILOGUE;
            w->caller_kind = interrupted ? PC_INTERRUPTED : PC_RETURN;
            return place == X64_EPILOGUE ? STOP_NONE : STOP_MEMORY;
        }
    }
    if ((info.flags & X64_CHAINED) != 0 && into < info.prologue_bytes)
        frame->where = WHERE_PROLOGUE;      /* in a separate part: some of its own codes have run */
    const uint32_t codes = info.code_count; /* of this entry, not of those it chains to */
    uint8_t byte;
    stop = undo_entry(w, entry, &info, into);
    if (stop == STOP_NONE && redirect == X64_REDIRECT_KNOWN)
        w->caller_kind = PC_INTERRUPTED;
    if (stop == STOP_NONE && frame->kind == PC_INTERRUPTED && frame->where == WHERE_BODY &&
        codes > 0 && info.version < 2 && w->caller_note == NOTE_NONE &&
        !w->process->read(w->process->self, frame->pc_va, &byte, 1))
        w->caller_note = NOTE_CODE_UNREADABLE;
    return stop;
}

/* Without the image: uses the frame size that the PDB states. */
static bool step_frame_size(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    struct pdb *pdb = w->process->pdb != NULL ? w->process->pdb(w->process->self, module) : NULL;
    struct pdb_frame_proc proc;
    uint32_t rva = (uint32_t)(w->regs.pc - module->base_va) - (w->frame->kind == PC_RETURN);
    uint64_t pc;
    if (pdb == NULL || !pdb_frame_proc_at(pdb, rva, &proc))
        return false;
    uint64_t slot = w->regs.sp + proc.frame_bytes + proc.saved_bytes;
    if (slot < w->regs.sp || !unwind_read_u64(w->process, slot, &pc) || !unwind_is_return(w, pc))
        return false;
    w->frame->function_begin_rva = proc.start_rva;
    w->frame->function_end_rva = proc.start_rva + proc.code_bytes;
    w->frame->return_slot_va = slot;
    w->regs.pc = pc;
    w->regs.sp = slot + 8;
    w->caller_found = FOUND_FRAME_SIZE;
    return true;
}

/* It is not known whether the pc has unwind data, so it must not be taken for a leaf. */
static enum stop_reason step_without_rows(struct unwind_walker *w)
{
    if (unwind_symbol_rules(w))
        return STOP_NONE;
    w->caller_note = NOTE_PDATA_UNREADABLE;
    if (step_frame_size(w) || (w->process->chains_frames && unwind_frame_pointer(w, REG_X64_RBP)))
        return STOP_NONE;
    return unwind_scan(w) == STOP_NONE ? STOP_NONE : STOP_PDATA_UNREADABLE;
}

/* No program code can be there, so the return address was overwritten. */
static bool is_overwritten(uint64_t pc)
{
    return pc >> 47 != 0;
}

/* A frame that holds only its return address, like that of a leaf. */
static bool is_bare(const struct unwind_walker *w, const struct registers *before)
{
    return w->caller_kind == PC_RETURN && w->frame->where != WHERE_EPILOGUE &&
           w->regs.sp == before->sp + sizeof(uint64_t);
}

/* A collection replaced the return address that was just popped. */
static bool is_hijacked(const struct unwind_walker *w)
{
    return w->process->runs_managed && w->caller_kind == PC_RETURN &&
           x64_is_hijacked(w->process, w->regs.pc);
}

/* Unwind data that only says "a leaf" does not prove one: V8 registers such data for all of its
 * code. A generated function that has called another one is not a leaf, and a leaf's return address
 * must be in code. (This does not hold for images: Wine's system calls are described as leaves but
 * make calls.) */
static bool is_believable(const struct unwind_walker *w, const struct registers *before)
{
    if (!is_bare(w, before) || is_hijacked(w))
        return true;
    if (w->frame->kind == PC_INTERRUPTED && is_overwritten(w->regs.pc))
        return true;
    return (w->frame->kind == PC_INTERRUPTED || w->frame->module != NULL) &&
           (w->regs.pc == 0 || unwind_is_return(w, w->regs.pc));
}

/* No unwind data covers the pc, so it is a leaf where the calling convention allows that. */
static enum stop_reason step_leaf(struct unwind_walker *w, enum frame_note note)
{
    uint64_t pc;
    if (!unwind_read_u64(w->process, w->regs.sp, &pc))
        return STOP_MEMORY;
    /* The return address is in no image, yet the callee is known: a user APC interrupted a system
     * call, which is a leaf. When other functions of the module have unwind data, a leaf is tried
     * before the rbp chain. */
    const bool is_leaf = w->frame->module != NULL &&
                         unwind_pdata_count(unwind_module_of(w->process, w->frame->module), 12) > 0;
    if (is_leaf && unwind_is_return(w, pc))
        return unwind_pop(w, FOUND_LEAF, note);
    if (w->frame->kind == PC_INTERRUPTED &&
        (pc == 0 || is_overwritten(pc) || unwind_is_return(w, pc)))
        return unwind_pop(w, FOUND_LEAF, note);
    return unwind_frame_pointer(w, REG_X64_RBP) ? STOP_NONE : unwind_scan(w);
}

static enum stop_reason step_generated(struct unwind_walker *w, struct unwind_entry entry)
{
    const struct registers before = w->regs;
    enum stop_reason stop = step_entry(w, entry);
    if (stop != STOP_NONE || is_believable(w, &before))
        return stop;
    w->regs = before;
    w->caller_note = NOTE_NOT_A_LEAF;
    if (unwind_frame_pointer(w, REG_X64_RBP))
        return STOP_NONE;
    return STOP_GENERATED_LEAF;
}

static enum stop_reason step(struct unwind_walker *w)
{
    const struct unwind_process *process = w->process;
    const struct module *module = w->frame->module;
    struct unwind_entry entry;
    uint64_t lookup_va = w->regs.pc - (w->frame->kind == PC_RETURN);
    if (process->generated != NULL && process->generated(process->self, lookup_va, &entry) &&
        entry.unwind_rva != 0)
        return step_generated(w, entry);
    if (w->frame->kind == PC_RETURN && is_overwritten(w->regs.pc))
        return STOP_PC_OVERWRITTEN;
    if (module == NULL)
        return step_leaf(w, NOTE_NO_MODULE_POPPED);
    const struct unwind_module *facts = unwind_module_of(process, module);
    if (facts == NULL)
        return STOP_OUT_OF_MEMORY;
    if (facts->has_headers && !facts->knows_pdata)
        return step_without_rows(w);
    if (unwind_pdata_count(facts, 12) == 0) {
        if (unwind_symbol_rules(w) || step_frame_size(w))
            return STOP_NONE;
        if (facts->has_headers)
            return step_leaf(w, NOTE_NONE);
        return process->chains_frames && unwind_frame_pointer(w, REG_X64_RBP) ? STOP_NONE
                                                                              : unwind_scan(w);
    }
    uint32_t rva = (uint32_t)(lookup_va - module->base_va);
    const enum unwind_row row = unwind_pdata_find(process, facts, rva, 12, &entry);
    if (row == UNWIND_ROW_UNREADABLE)
        return step_without_rows(w);
    if (row == UNWIND_ROW_FOUND) {
        const struct registers before = w->regs;
        enum stop_reason stop = step_entry(w, entry);
        const bool believed = w->frame->kind == PC_INTERRUPTED || is_believable(w, &before);
        if ((stop == STOP_NONE && believed) || stop == STOP_MEMORY || stop == STOP_HIJACKED)
            return stop;
        w->regs = before;
        /* why the unwind data was not used */
        w->caller_note = stop != STOP_NONE ? frame_note_of_stop(stop) : NOTE_NOT_A_LEAF;
        return unwind_symbol_rules(w) || step_frame_size(w) ? STOP_NONE : unwind_scan(w);
    }
    return step_leaf(w, NOTE_NONE);
}

/* In a process with managed code this is no caller, but a place that unwind data does not describe,
 * such as Wine's RtlCaptureContext after it pushed the flags: no code is in the first 64 KB. */
static bool is_no_caller(const struct unwind_walker *w)
{
    enum { LOWEST_CODE_VA = 0x10000 };
    return w->process->runs_managed && w->caller_kind == PC_RETURN && w->regs.pc != 0 &&
           w->regs.pc < LOWEST_CODE_VA;
}

enum stop_reason unwind_step_x64(struct unwind_walker *w)
{
    const enum stop_reason stop = step(w);
    if (stop != STOP_NONE)
        return stop;
    if (is_hijacked(w))
        return STOP_HIJACKED;
    return is_no_caller(w) ? STOP_NO_UNWIND : STOP_NONE;
}
