/* One x86 step.  x86 has no unwind data in its images: what is known stands in the PDB, as frame
 * programs or as the older FPO rows.  Without a PDB the chain of frame pointers is followed, and
 * where that leads nowhere the stack is scanned. */
#include "format/pdb.h"
#include "unwind/unwind_parts.h"
#include "unwind/x86_program.h"

enum { FPO_FRAME_STANDARD = 3 };

/* Accepts what a step found, or puts the registers back. */
static bool accept(struct unwind_walker *w, const struct registers *before)
{
    if (w->regs.sp > before->sp && (w->regs.pc == 0 || unwind_is_return(w, w->regs.pc)))
        return true;
    w->regs = *before;
    return false;
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
    uint32_t slot = low + fpo.locals_bytes + saved_bytes;
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

static bool step_pdb(struct unwind_walker *w, const struct module *module)
{
    struct pdb *pdb = w->process->pdb != NULL ? w->process->pdb(w->process->self, module) : NULL;
    if (pdb == NULL)
        return false;
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
    if (module != NULL && step_pdb(w, module))
        return NULL;
    w->callee_params_bytes = 0;
    if (module == NULL && w->frame->kind == PC_INTERRUPTED &&
        unwind_read_pointer(w, w->regs.sp, &pc) && unwind_is_return(w, pc))
        return unwind_pop(w, FOUND_LEAF, "below a pc in no module: one return address popped");
    if (unwind_frame_pointer(w, REG_X86_EBP))
        return NULL;
    return unwind_scan(w);
}
