/* One x86 step.  x86 has no unwind data in its images: what is known stands in the PDB, as frame
 * programs or as the older FPO rows.  Without a PDB the chain of frame pointers is followed, and
 * where that leads nowhere the stack is scanned. */
#include <string.h>

#include "format/pdb.h"
#include "unwind/unwind_parts.h"
#include "unwind/x86_program.h"

enum {
    FPO_FRAME_STANDARD = 3,
    SEARCH_WORDS = 64, /* arguments on their way to a callee that the frame data does not count */
};

/* Accepts what a step found, or puts the registers back. */
static bool accept(struct unwind_walker *w, const struct registers *before)
{
    if (w->regs.sp > before->sp && (w->regs.pc == 0 || unwind_is_return(w, w->regs.pc)))
        return true;
    w->regs = *before;
    return false;
}

/* What `.raSearch` means: from where the frame data has the return address, the first word up the
 * stack that can be one.  A frame interrupted among its pushes has arguments there. */
static uint32_t search_return(const struct unwind_walker *w, uint32_t from_va)
{
    for (uint32_t i = 0; i < SEARCH_WORDS; i++) {
        uint32_t va = from_va + i * 4, pc;
        if (va < from_va || !unwind_read_u32(w->process, va, &pc))
            break;
        if (unwind_is_return(w, pc))
            return va;
    }
    return from_va;
}

static bool step_program(struct unwind_walker *w, struct pdb *pdb, uint32_t rva,
                         struct arena *scratch)
{
    struct pdb_frame_data data;
    const struct registers before = w->regs;
    if (!pdb_frame_data_at(pdb, rva, scratch, &data) || data.program[0] == '\0')
        return false;
    struct x86_frame_constants constants = {0, data.locals_bytes, data.saved_bytes,
                                            data.params_bytes};
    /* Arguments that this frame pushed for its callee still stand below its locals. */
    constants.ra_search_va =
        (uint32_t)w->regs.sp + w->callee_params_bytes + data.locals_bytes + data.saved_bytes;
    if (strstr(data.program, ".raSearch") != NULL)
        constants.ra_search_va = search_return(w, constants.ra_search_va);
    if (x86_program_run(w->process, data.program, &constants, &w->regs) != NULL ||
        !accept(w, &before))
        return false;
    w->frame->function_begin_rva = data.start_rva;
    w->frame->function_end_rva = data.start_rva + data.code_bytes;
    w->frame->return_slot_va = w->regs.sp - 4;
    w->callee_params_bytes = data.params_bytes;
    w->caller_found = FOUND_UNWIND;
    return true;
}

static bool step_fpo(struct unwind_walker *w, struct pdb *pdb, uint32_t rva)
{
    struct pdb_fpo fpo;
    const struct registers before = w->regs;
    uint32_t pc, ebp;
    if (!pdb_fpo_at(pdb, rva, &fpo) || fpo.frame_type == FPO_FRAME_STANDARD)
        return false;
    uint32_t saved_bytes = fpo.saved_registers * 4u;
    uint32_t low = (uint32_t)w->regs.sp + w->callee_params_bytes;
    uint32_t slot = search_return(w, low + fpo.locals_bytes + saved_bytes);
    if (!unwind_read_u32(w->process, slot, &pc))
        return false;
    /* ebp as a plain register is saved last, above the locals' other saved registers */
    if (fpo.uses_ebp && saved_bytes >= 4 && unwind_read_u32(w->process, slot - 4, &ebp))
        w->regs.r[REG_X86_EBP] = ebp;
    w->regs.pc = pc;
    w->regs.sp = (uint64_t)slot + 4;
    if (!accept(w, &before))
        return false;
    w->frame->function_begin_rva = fpo.start_rva;
    w->frame->function_end_rva = fpo.start_rva + fpo.code_bytes;
    w->frame->return_slot_va = slot;
    w->callee_params_bytes = fpo.params_bytes;
    w->caller_found = FOUND_UNWIND;
    return true;
}

static bool step_pdb(struct unwind_walker *w, const struct module *module, struct pdb *pdb)
{
    uint32_t rva = (uint32_t)(w->regs.pc - module->base_va) - (w->frame->kind == PC_RETURN);
    struct arena scratch;
    arena_init(&scratch, (size_t)1 << 20);
    bool found = step_program(w, pdb, rva, &scratch) || step_fpo(w, pdb, rva);
    arena_free(&scratch);
    return found;
}

const char *unwind_step_x86(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    uint64_t pc;
    struct pdb *pdb = module != NULL && w->process->pdb != NULL
                          ? w->process->pdb(w->process->self, module)
                          : NULL;
    bool interrupted = w->frame->kind == PC_INTERRUPTED;
    if (module != NULL && interrupted && unwind_x86_epilogue(w, pdb)) {
        w->callee_params_bytes = 0;
        return NULL;
    }
    if (pdb != NULL && step_pdb(w, module, pdb))
        return NULL;
    w->callee_params_bytes = 0;
    if (module != NULL && interrupted && unwind_x86_prologue(w))
        return NULL;
    if (module == NULL && interrupted && unwind_read_pointer(w, w->regs.sp, &pc) &&
        unwind_is_return(w, pc))
        return unwind_pop(w, FOUND_LEAF, "below a pc in no module: one return address popped");
    if (unwind_frame_pointer(w, REG_X86_EBP))
        return NULL;
    return unwind_scan(w);
}
