/* One x86 step. Microsoft's compilers put no unwind data into x86 images: the PDB has frame
 * programs or the older FPO rows instead, which Breakpad files repeat. mingw's and Wine's images
 * hold call frame information. Without any, the step follows the chain of frame pointers, and if
 * that fails it scans the stack. */
#include "unwind/x86.h"

#include <string.h>

#include "base/array.h"
#include "format/breakpad/breakpad.h"
#include "format/pdb/pdb.h"
#include "unwind/symbol_rules.h"
#include "unwind/tables.h"
#include "unwind/x86_cfi.h"
#include "unwind/x86_code.h"
#include "unwind/x86_dispatch.h"
#include "unwind/x86_program.h"

enum {
    FPO_FRAME_STANDARD = 3,
    SEARCH_WORDS = 64, /* outgoing arguments that the frame data does not include */
};

/* Accepts the result of a step, or restores the registers. */
static bool accept(struct unwind_walker *w, const struct registers *before)
{
    if (w->regs.sp > before->sp && (w->regs.pc == 0 || unwind_is_return(w, w->regs.pc))) {
        unwind_note_unchecked(w);
        return true;
    }
    w->regs = *before;
    return false;
}

/* True when the callee's arguments were pushed, so that the frame data does not include them. The
 * code after the call shows it: `add esp, n` removes pushed arguments, and `sub esp, n` reserves
 * again the space that the callee removed. Neither follows when the callee removed pushed
 * arguments. */
static bool were_pushed(const struct unwind_walker *w)
{
    uint8_t code[2];
    if (!w->process->read(w->process->self, w->regs.pc, code, sizeof(code)) ||
        (code[0] != 0x83 && code[0] != 0x81))
        return w->callee_takes_params;
    return code[1] == 0xc4 || (code[1] != 0xec && w->callee_takes_params);
}

/* How many bytes of arguments the code after the call removes by `add esp, n`; 0: none, or it does
 * something else. */
static uint32_t removed_next(const struct unwind_walker *w)
{
    uint8_t code[3];
    return w->process->read(w->process->self, w->regs.pc, code, sizeof(code)) && code[0] == 0x83 &&
                   code[1] == 0xc4 && code[2] < 0x80
               ? code[2]
               : 0;
}

/* What `.raSearch` means: the first word that can be a return address, searching up the stack from
 * where the frame data places it. Outgoing arguments lie below that place. Compilers that reserve
 * space for them count them among the locals; others push them, and the frame data does not count
 * them. So both places are tried before those further up, where the return address is if the frame
 * was interrupted between its pushes. Of an interrupted frame, the code from BODY_VA on, after the
 * prologue, shows what has been pushed. If it is not known what the callee takes, the code that
 * removes it shows that. */
static uint32_t search_return(const struct unwind_walker *w, uint32_t from_va, uint64_t body_va)
{
    const bool pushed = were_pushed(w);
    uint32_t arguments = w->frame->kind == PC_INTERRUPTED ? unwind_x86_pushes(w, body_va) * 4 : 0;
    if (arguments == 0 && w->callee_params_bytes == 0 && unwind_is_return(w, w->regs.pc))
        arguments = removed_next(w);
    const uint32_t exact[] = {from_va + (pushed ? w->callee_params_bytes : 0),
                              from_va + (pushed ? 0 : w->callee_params_bytes)};
    uint32_t pc;
    if (arguments > 0 && unwind_read_u32(w->process, from_va + arguments, &pc) &&
        unwind_is_return(w, pc))
        return from_va + arguments;
    for (size_t i = 0; i < COUNT_OF(exact); i++)
        if (unwind_read_u32(w->process, exact[i], &pc) && unwind_is_return(w, pc))
            return exact[i];
    for (uint32_t i = 0; i < SEARCH_WORDS; i++) {
        uint32_t va = from_va + i * 4;
        if (va < from_va || !unwind_read_u32(w->process, va, &pc))
            break;
        if (unwind_is_return(w, pc))
            return va;
    }
    return from_va;
}

static bool is_past(const struct unwind_walker *w, uint32_t rva)
{
    return w->frame->module != NULL && w->frame->pc_va - w->frame->module->base_va >= rva;
}

/* A program with '@' belongs to a function that aligns its stack pointer and keeps the address of
 * its frame in ebp. */
static bool step_program(struct unwind_walker *w, const struct pdb_frame_data *data)
{
    const struct registers before = w->regs;
    if (data->program[0] == '\0')
        return false;
    struct x86_frame_constants constants = {0, data->locals_bytes, data->saved_bytes,
                                            data->params_bytes, w->callee_params_bytes};
    constants.ra_search_va = (uint32_t)w->regs.sp + data->locals_bytes + data->saved_bytes;
    if (strchr(data->program, '@') != NULL && is_past(w, data->start_rva + data->prolog_bytes))
        constants.ra_search_va = (uint32_t)w->regs.r[REG_X86_EBP] + 4;
    else if (strstr(data->program, ".raSearch") != NULL)
        constants.ra_search_va =
            search_return(w, constants.ra_search_va,
                          w->frame->module->base_va + data->start_rva + data->prolog_bytes);
    if (x86_program_run(w->process, data->program, strlen(data->program), &constants, &w->regs) !=
            STOP_NONE ||
        !accept(w, &before))
        return false;
    w->frame->function_begin_rva = data->start_rva;
    w->frame->function_end_rva = data->start_rva + data->code_bytes;
    w->frame->return_slot_va = w->regs.sp - 4;
    w->callee_params_bytes = data->params_bytes;
    w->callee_takes_params = false; /* not known */
    w->caller_found = FOUND_UNWIND;
    return true;
}

/* An FPO record describes the function after its prologue, which has to be counted. */
static bool step_fpo_prologue(struct unwind_walker *w, const struct pdb_fpo *fpo)
{
    const struct registers before = w->regs;
    uint32_t pushed, ebp_at = 0, pc, ebp = (uint32_t)before.r[REG_X86_EBP];
    if (!unwind_x86_pushed(w, w->frame->module->base_va + fpo->start_rva, &pushed, &ebp_at))
        return false;
    const uint32_t slot = (uint32_t)before.sp + pushed;
    const bool saved = ebp_at != UINT32_MAX && fpo->uses_ebp;
    if (!unwind_read_u32(w->process, slot, &pc) ||
        (saved && !unwind_read_u32(w->process, (uint32_t)before.sp + ebp_at, &ebp)))
        return false;
    w->regs.r[REG_X86_EBP] = ebp;
    w->regs.pc = pc;
    w->regs.sp = (uint64_t)slot + 4;
    if (!accept(w, &before))
        return false;
    w->frame->where = WHERE_PROLOGUE;
    w->frame->return_slot_va = slot;
    w->callee_params_bytes = fpo->params_bytes;
    w->callee_takes_params = false;
    w->caller_found = FOUND_UNWIND;
    return true;
}

/* Where ebp is, of a function that uses it as an ordinary register; SLOT: where its return address
 * is. The code of the prologue shows it. Where it does not, Microsoft's compilers have first
 * reserved the locals and then pushed ebx, ebp, esi, edi, so that ebp is the second from below the
 * locals, which is Breakpad's rule, too; and functions without locals are assembler, which pushes
 * ebp first. */
static uint32_t fpo_ebp_va(const struct unwind_walker *w, const struct pdb_fpo *fpo, uint32_t slot)
{
    const uint32_t saved_bytes = fpo->saved_registers * 4u;
    const uint64_t start_va = w->frame->module->base_va + fpo->start_rva;
    struct unwind_walker body = *w;
    uint32_t pushed, ebp_at;
    body.regs.pc = start_va + fpo->prolog_bytes;
    if (fpo->prolog_bytes > 0 && unwind_x86_pushed(&body, start_va, &pushed, &ebp_at) &&
        ebp_at != UINT32_MAX && pushed == fpo->locals_bytes + saved_bytes)
        return slot - pushed + ebp_at;
    return fpo->locals_bytes > 0 && saved_bytes >= 8 ? slot - fpo->locals_bytes - 8 : slot - 4;
}

static bool step_fpo(struct unwind_walker *w, const struct pdb_fpo *fpo)
{
    const struct registers before = w->regs;
    uint32_t pc, ebp;
    if (fpo->frame_type == FPO_FRAME_STANDARD)
        return false;
    const uint32_t body_rva = fpo->start_rva + fpo->prolog_bytes;
    if (w->frame->kind == PC_INTERRUPTED && !is_past(w, body_rva) && step_fpo_prologue(w, fpo))
        return true;
    uint32_t saved_bytes = fpo->saved_registers * 4u;
    uint32_t slot = search_return(w, (uint32_t)w->regs.sp + fpo->locals_bytes + saved_bytes,
                                  w->frame->module->base_va + body_rva);
    if (!unwind_read_u32(w->process, slot, &pc))
        return false;
    if (fpo->uses_ebp && saved_bytes >= 4 &&
        unwind_read_u32(w->process, fpo_ebp_va(w, fpo, slot), &ebp))
        w->regs.r[REG_X86_EBP] = ebp;
    w->regs.pc = pc;
    w->regs.sp = (uint64_t)slot + 4;
    if (!accept(w, &before))
        return false;
    w->frame->function_begin_rva = fpo->start_rva;
    w->frame->function_end_rva = fpo->start_rva + fpo->code_bytes;
    w->frame->return_slot_va = slot;
    w->callee_params_bytes = fpo->params_bytes;
    w->callee_takes_params = false;
    w->caller_found = FOUND_UNWIND;
    return true;
}

static bool step_pdb(struct unwind_walker *w, const struct module *module, struct pdb *pdb)
{
    uint32_t rva = (uint32_t)(w->regs.pc - module->base_va) - (w->frame->kind == PC_RETURN);
    struct arena scratch;
    struct pdb_frame_data data;
    struct pdb_fpo fpo;
    arena_init(&scratch, (size_t)1 << 20);
    bool found = (pdb_frame_data_at(pdb, rva, &scratch, &data) && step_program(w, &data)) ||
                 (pdb_fpo_at(pdb, rva, &fpo) && step_fpo(w, &fpo));
    arena_free(&scratch);
    return found;
}

/* The same data as of a PDB, in a Breakpad file. */
static bool step_win(struct unwind_walker *w, const struct breakpad_win *win)
{
    const uint32_t begin = (uint32_t)win->rva, bytes = (uint32_t)(win->end - win->rva);
    struct arena scratch;
    if (win->program == NULL) {
        const struct pdb_fpo fpo = {.start_rva = begin,
                                    .code_bytes = bytes,
                                    .locals_bytes = win->locals_bytes,
                                    .params_bytes = win->params_bytes,
                                    .prolog_bytes = (uint8_t)win->prolog_bytes,
                                    .saved_registers = (uint8_t)(win->saved_bytes / 4),
                                    .uses_ebp = win->uses_ebp};
        return step_fpo(w, &fpo);
    }
    arena_init(&scratch, (size_t)1 << 20);
    const struct pdb_frame_data data = {.start_rva = begin,
                                        .code_bytes = bytes,
                                        .locals_bytes = win->locals_bytes,
                                        .params_bytes = win->params_bytes,
                                        .saved_bytes = (uint16_t)win->saved_bytes,
                                        .program =
                                            arena_text(&scratch, win->program, win->program_bytes)};
    const bool found = data.program != NULL && step_program(w, &data);
    arena_free(&scratch);
    return found;
}

static bool step_breakpad(struct unwind_walker *w)
{
    const struct breakpad *file = unwind_breakpad_of(w);
    struct breakpad_win win;
    const uint64_t rva = unwind_lookup_rva(w);
    if (unwind_symbol_rules(w)) {
        w->callee_params_bytes = file != NULL ? breakpad_params_at(file, rva) : 0;
        w->callee_takes_params = false;
        return true;
    }
    if (file == NULL || !breakpad_win_at(file, rva, &win) || !step_win(w, &win))
        return false;
    w->caller_found = FOUND_CFI;
    return true;
}

/* What the callee's caller pushed for it, as far as a Breakpad file says. */
static uint32_t params_of(const struct unwind_walker *w)
{
    const struct breakpad *file = unwind_breakpad_of(w);
    return file != NULL ? breakpad_params_at(file, unwind_lookup_rva(w)) : 0;
}

static bool is_dispatcher(const struct unwind_walker *w, const struct module *module)
{
    const struct unwind_module *facts = unwind_module_of(w->process, module);
    uint64_t rva = w->regs.pc - module->base_va;
    return facts != NULL &&
           (unwind_in_range(&facts->exceptions, rva) || unwind_in_range(&facts->apcs, rva));
}

enum stop_reason unwind_step_x86(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    uint64_t pc;
    struct pdb *pdb = module != NULL && w->process->pdb != NULL
                          ? w->process->pdb(w->process->self, module)
                          : NULL;
    bool interrupted = w->frame->kind == PC_INTERRUPTED;
    if (module != NULL && ((!interrupted && is_dispatcher(w, module) && unwind_x86_dispatcher(w)) ||
                           unwind_x86_cfi(w)))
        return STOP_NONE;
    if (module != NULL && interrupted && unwind_x86_epilogue(w, pdb)) {
        w->callee_params_bytes = 0;
        return STOP_NONE;
    }
    if ((pdb != NULL && step_pdb(w, module, pdb)) || step_breakpad(w))
        return STOP_NONE;
    w->callee_params_bytes = params_of(w);
    if (module != NULL && interrupted && unwind_x86_prologue(w))
        return STOP_NONE;
    if (interrupted && (module == NULL || !unwind_is_code(w, w->regs.pc)) &&
        unwind_read_pointer(w, w->regs.sp, &pc) && unwind_is_return(w, pc))
        return unwind_pop(w, FOUND_LEAF, module == NULL ? NOTE_NO_MODULE_POPPED : NOTE_DATA_POPPED);
    if (unwind_frame_pointer(w, REG_X86_EBP))
        return STOP_NONE;
    return unwind_scan(w);
}
