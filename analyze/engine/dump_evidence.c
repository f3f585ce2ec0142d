/* Records why each frame of a dump's stack was found where it was, for pages that show a case when
 * the dump is no longer available. */
#include <inttypes.h>
#include <string.h>

#include "engine/dump_evidence.h"
#include "unwind/x64_info.h"

enum { CODE_BYTES = 16 };

/* What an unwind code did, in the terms of the format and of the processor. */
static const char *step_text(const struct x64_code *code, bool ran, struct arena *keep)
{
    const char sign = ran ? '+' : '-', *name = x64_op_name(code->op);
    switch (code->op) {
    case X64_PUSH_NONVOL:
        return arena_printf(keep, "%c0x%02x %s %s", sign, code->prologue_offset, name,
                            register_name(CPU_X64, code->info));
    case X64_ALLOC_LARGE:
    case X64_ALLOC_SMALL:
        return arena_printf(keep, "%c0x%02x %s %" PRIu32 " bytes", sign, code->prologue_offset,
                            name, code->bytes);
    case X64_SAVE_NONVOL:
    case X64_SAVE_NONVOL_FAR:
        return arena_printf(keep, "%c0x%02x %s %s at +0x%" PRIx32, sign, code->prologue_offset,
                            name, register_name(CPU_X64, code->info), code->bytes);
    case X64_SAVE_XMM128:
    case X64_SAVE_XMM128_FAR:
        return arena_printf(keep, "%c0x%02x %s xmm%u at +0x%" PRIx32, sign, code->prologue_offset,
                            name, (unsigned)code->info, code->bytes);
    default:
        return arena_printf(keep, "%c0x%02x %s", sign, code->prologue_offset, name);
    }
}

/* The unwind codes of the frame's function, one per line; NULL where there are none. */
static const char *steps_of(const struct dump_session *session, const struct unwind_frame *frame,
                            struct arena *keep)
{
    struct x64_info info;
    const char *out = NULL;
    if (frame->cpu != CPU_X64 || frame->module == NULL || frame->unwind_data_va == 0 ||
        x64_info_read(dump_process(session), frame->module->base_va,
                      (uint32_t)(frame->unwind_data_va - frame->module->base_va),
                      &info) != STOP_NONE)
        return NULL;
    const uint64_t into = frame->pc_va - frame->module->base_va - frame->function_begin_rva;
    for (uint32_t i = 0; i < info.code_count; i++) {
        const bool ran = frame->where != WHERE_PROLOGUE || into >= info.codes[i].prologue_offset;
        const char *step = step_text(&info.codes[i], ran, keep);
        if (step != NULL)
            out = out == NULL ? step : arena_printf(keep, "%s\n%s", out, step);
    }
    return out;
}

/* BYTES of code at VA as hexadecimal, or as many of them as are known; NULL: none. */
static const char *code_text(const struct dump_session *session, uint64_t va, uint32_t bytes,
                             struct arena *keep)
{
    static const char digits[] = "0123456789abcdef";
    const struct unwind_process *process = dump_process(session);
    uint8_t *code = arena_alloc(keep, (size_t)bytes + 1);
    char *text = arena_alloc(keep, (size_t)2 * bytes + 1);
    uint32_t known = bytes;
    if (code == NULL || text == NULL)
        return NULL;
    if (!process->read(process->self, va, code, bytes))
        for (known = 0; known < bytes && process->read(process->self, va + known, code + known, 1);)
            known++;
    for (uint32_t i = 0; i < known; i++) {
        text[(size_t)2 * i] = digits[code[i] >> 4];
        text[(size_t)2 * i + 1] = digits[code[i] & 15];
    }
    return known > 0 ? text : NULL;
}

static bool has_all(const char *code, uint32_t bytes)
{
    return code != NULL && strlen(code) == (size_t)bytes * 2;
}

/* The bytes from the begin of the function to pc; false: it is not known. Symbols know it of a
 * leaf, which has no unwind data. */
static bool bytes_into(const struct stack *stack, const struct unwind_frame *from, uint32_t index,
                       uint32_t *out)
{
    uint64_t into = 0;
    bool known = false;
    if (from->module == NULL)
        return false;
    if (from->function_end_rva != 0) {
        into = from->pc_va - from->module->base_va - from->function_begin_rva;
        known = true;
    }
    for (uint32_t i = 0; i < stack->frame_count && !known; i++) {
        const struct frame *f = &stack->frames[i];
        known = f->index == index && f->inline_depth == 0 && f->function != NULL &&
                (f->symbols == SYMBOLS_PDB || f->symbols == SYMBOLS_DWARF ||
                 f->symbols == SYMBOLS_BREAKPAD);
        if (known)
            into = f->offset - (frame_lookup_offset(f) - f->symbol_distance);
    }
    *out = (uint32_t)into;
    return known && into <= DUMP_CODE_MAX;
}

static void fill_code(const struct dump_session *session, const struct stack *stack,
                      const struct unwind_frame *from, struct arena *keep,
                      struct frame_evidence *out)
{
    const uint64_t base_va = from->module != NULL ? from->module->base_va : 0;
    const uint64_t rva = from->pc_va - base_va;
    uint32_t into = 0, after = DUMP_CODE_AFTER;
    if (bytes_into(stack, from, out->index, &into)) {
        out->code_before = into > 0 ? code_text(session, from->pc_va - into, into, keep) : NULL;
        out->code_aligned = into == 0 || has_all(out->code_before, into);
    }
    if (!out->code_aligned && rva >= CODE_BYTES)
        out->code_before = code_text(session, from->pc_va - CODE_BYTES, CODE_BYTES, keep);
    if (!out->code_aligned && !has_all(out->code_before, CODE_BYTES))
        out->code_before = NULL; /* the bytes next to the pc matter most */
    if (out->function_end_rva >= rva && out->function_end_rva - rva < after)
        after = (uint32_t)(out->function_end_rva - rva);
    out->code_after = code_text(session, from->pc_va, after, keep);
}

static void fill(const struct dump_session *session, const struct stack *stack,
                 const struct unwind_frame *from, uint32_t index, struct arena *keep,
                 struct frame_evidence *out)
{
    *out = (struct frame_evidence){
        .index = index,
        .sp_va = from->sp_va,
        .where = from->where != WHERE_NONE ? unwind_where_name(from->where) : NULL,
        .function_begin_rva = from->function_begin_rva,
        .function_end_rva = from->function_end_rva,
        .unwind_data_va = from->unwind_data_va,
        .return_slot_va = from->return_slot_va,
        .caller_sp_va = from->caller_sp_va,
        .steps = steps_of(session, from, keep)};
    if (from->cpu == dump_minidump(session)->cpu) /* readers take the code as the dump's */
        fill_code(session, stack, from, keep, out);
}

enum status dump_add_evidence(struct dump_session *session, struct arena *keep, struct stack *stack,
                              struct fault *fault)
{
    struct unwind_stack walk;
    struct fault ignored = FAULT_INIT;
    if (stack->state != STACK_OK ||
        dump_walk(session, stack->thread_id, keep, &walk, &ignored) != ERR_NONE)
        return ERR_NONE;
    const uint32_t count =
        walk.frame_count < DUMP_EVIDENCE_MAX ? walk.frame_count : DUMP_EVIDENCE_MAX;
    struct frame_evidence *rows = ARENA_ARRAY(keep, (size_t)count + 1, struct frame_evidence);
    if (rows == NULL)
        return fault_no_memory(fault, "evidence of frames");
    for (uint32_t i = 0; i < count; i++)
        fill(session, stack, &walk.frames[i], i, keep, &rows[i]);
    stack->evidence = rows;
    stack->evidence_count = count;
    return ERR_NONE;
}
