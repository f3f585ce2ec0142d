/* Leaves an x86 frame by its call frame information; see x86_cfi.h. */
#include "unwind/x86_cfi.h"

#include "unwind/cfi_step.h"
#include "unwind/tables.h"

enum { STACK_POINTER = 4, CODE_BYTES = 256, FUNCTION_BYTES_MAX = 1 << 16 };

/* How many bytes of arguments the function removes: the n of a `ret n` in it. The frame data of its
 * caller counts from above them. */
static uint32_t params_bytes(const struct unwind_walker *w, const struct cfi_table *table,
                             const struct cfi_place *place)
{
    uint8_t code[CODE_BYTES];
    uint64_t base_va = w->frame->module->base_va;
    uint32_t bytes = 0;
    for (uint32_t at = place->begin_rva; at + 3 <= place->end_rva; at += bytes - 2) {
        bytes = place->end_rva - at < CODE_BYTES ? place->end_rva - at : CODE_BYTES;
        if (at - place->begin_rva > FUNCTION_BYTES_MAX ||
            !w->process->read(w->process->self, base_va + at, code, bytes))
            return 0;
        for (uint32_t i = 0; i + 3 <= bytes; i++) {
            struct cfi_place end;
            if (code[i] != 0xc2 || code[i + 1] % 4 != 0 || code[i + 2] != 0 ||
                !cfi_find(table, at + i, &end))
                continue;
            if (end.row.cfa_block == NULL && end.row.cfa_register == STACK_POINTER &&
                end.row.cfa_offset == 4) /* only the return address is left */
                return code[i + 1];
        }
    }
    return 0;
}

bool unwind_x86_cfi(struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    const struct cfi_table *table = unwind_cfi_of(w->process, module);
    uint32_t rva = (uint32_t)(w->regs.pc - module->base_va) - (w->frame->kind == PC_RETURN);
    struct cfi_place place;
    if (table == NULL || !cfi_find(table, rva, &place) || !unwind_cfi_apply(w, &place))
        return false;
    w->callee_params_bytes = params_bytes(w, table, &place);
    w->callee_takes_params = w->callee_params_bytes > 0;
    w->caller_found = FOUND_UNWIND;
    return true;
}
