/* See x86_program.h. */
#include "unwind/x86_program.h"

#include "base/array.h"
#include "unwind/frame_program.h"

static const struct {
    const char *name;
    uint32_t number;
} general[] = {
    {"$ebp", REG_X86_EBP}, {"$ebx", REG_X86_EBX}, {"$esi", REG_X86_ESI}, {"$edi", REG_X86_EDI}};

enum stop_reason x86_program_run(const struct unwind_process *process, const char *program,
                                 size_t bytes, const struct x86_frame_constants *constants,
                                 struct registers *regs)
{
    struct frame_program p = {.process = process, .word_bytes = 4};
    uint64_t eip, esp;
    for (size_t i = 0; i < COUNT_OF(general); i++)
        (void)program_set(&p, general[i].name, regs->r[general[i].number]);
    (void)program_set(&p, "$esp", regs->sp);
    (void)program_set(&p, ".raSearch", constants->ra_search_va);
    (void)program_set(&p, ".raSearchStart", constants->ra_search_va);
    (void)program_set(&p, ".cbLocals", constants->locals_bytes);
    (void)program_set(&p, ".cbSavedRegs", constants->saved_bytes);
    (void)program_set(&p, ".cbParams", constants->params_bytes);
    (void)program_set(&p, ".cbCalleeParams", constants->callee_params_bytes);
    if (!program_run(&p, program, bytes))
        return STOP_PROGRAM_FAILED;
    if (!program_get(&p, "$eip", &eip) || !program_get(&p, "$esp", &esp) ||
        esp <= (uint32_t)regs->sp)
        return STOP_PROGRAM_NO_CALLER;
    for (size_t i = 0; i < COUNT_OF(general); i++)
        (void)program_get(&p, general[i].name, &regs->r[general[i].number]);
    regs->pc = eip;
    regs->sp = esp;
    return STOP_NONE;
}
