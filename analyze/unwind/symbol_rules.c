/* See symbol_rules.h. First `.cfa` (the value of the stack pointer before the call) is calculated,
 * then from it the return address `.ra` and the registers that have a rule. The others, and those
 * saved in memory that is missing, keep their values.
 *
 * Source: Breakpad's documentation of symbol files and its CFIFrameInfo::FindCallerRegs. */
#include "unwind/symbol_rules.h"

#include <string.h>

#include "base/array.h"
#include "format/breakpad/breakpad.h"
#include "format/pdb/pdb_module.h"
#include "unwind/cfi_step.h"
#include "unwind/frame_program.h"

enum { NUMBER_SP = -1, NUMBER_PC = -2 };

/* Names that register_name() does not have. */
static const struct {
    enum cpu cpu;
    const char *name;
    int32_t number; /* of r[], or NUMBER_* */
} others[] = {
    {CPU_X86, "esp", NUMBER_SP},      {CPU_X86, "eip", NUMBER_PC},
    {CPU_X64, "rsp", NUMBER_SP},      {CPU_X64, "rip", NUMBER_PC},
    {CPU_ARM64, "sp", NUMBER_SP},     {CPU_ARM64, "pc", NUMBER_PC},
    {CPU_ARM64, "x29", REG_ARM64_FP}, {CPU_ARM64, "x30", REG_ARM64_LR},
    {CPU_ARM, "r11", REG_ARM_FP},     {CPU_ARM, "sp", NUMBER_SP},
    {CPU_ARM, "pc", NUMBER_PC},
};

const struct breakpad *unwind_breakpad_of(const struct unwind_walker *w)
{
    const struct unwind_process *process = w->process;
    return w->frame->module != NULL && process->breakpad != NULL
               ? process->breakpad(process->self, w->frame->module)
               : NULL;
}

uint64_t unwind_lookup_rva(const struct unwind_walker *w)
{
    const struct module *module = w->frame->module;
    const uint64_t base_va = module != NULL ? module->base_va : 0;
    return w->frame->pc_va - base_va - (w->frame->kind == PC_RETURN);
}

/* Start of the function at RVA; UINT64_MAX: not known. */
static uint64_t function_at(const struct breakpad *file, uint64_t rva)
{
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];
    const uint32_t count = breakpad_lookup(file, rva, frames);
    return count > 0 && !frames[count - 1].is_public ? rva - frames[count - 1].distance
                                                     : UINT64_MAX;
}

bool unwind_is_own_call(const struct unwind_walker *w, uint64_t va)
{
    const struct module *module = w->frame->module;
    const struct breakpad *file = unwind_breakpad_of(w);
    struct pdb *pdb = module != NULL && w->process->pdb != NULL
                          ? w->process->pdb(w->process->self, module)
                          : NULL;
    struct pdb_frame_proc proc;
    if (module == NULL || va <= module->base_va)
        return false;
    const uint64_t rva = va - module->base_va;
    if (pdb != NULL && pdb_frame_proc_at(pdb, (uint32_t)(w->regs.pc - module->base_va), &proc))
        return rva > proc.start_rva && rva - proc.start_rva <= proc.code_bytes;
    if (file == NULL)
        return false;
    const uint64_t start = function_at(file, unwind_lookup_rva(w));
    return start != UINT64_MAX && start == function_at(file, rva - 1);
}

static bool is_name(const struct breakpad_rule *rule, const char *name)
{
    const size_t dollar = rule->name[0] == '$';
    return strlen(name) + dollar == rule->name_bytes &&
           memcmp(rule->name + dollar, name, rule->name_bytes - dollar) == 0;
}

static uint64_t number_in(const struct registers *regs, int32_t number)
{
    if (number == NUMBER_SP)
        return regs->sp;
    return number == NUMBER_PC ? regs->pc : regs->r[number];
}

static uint64_t *place_of(struct registers *regs, int32_t number)
{
    if (number == NUMBER_SP)
        return &regs->sp;
    return number == NUMBER_PC ? &regs->pc : &regs->r[number];
}

/* Where a rule's register is in REGS; NULL: a register that this program does not have. */
static uint64_t *find_register(struct registers *regs, const struct breakpad_rule *rule)
{
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (others[i].cpu == regs->cpu && is_name(rule, others[i].name))
            return place_of(regs, others[i].number);
    for (uint32_t i = 0; i < register_count(regs->cpu); i++)
        if (is_name(rule, register_name(regs->cpu, i)))
            return &regs->r[i];
    return NULL;
}

static void set_registers(struct frame_program *p, const struct registers *regs)
{
    for (uint32_t i = 0; i < register_count(regs->cpu); i++)
        (void)program_set(p, register_name(regs->cpu, i), regs->r[i]);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (others[i].cpu == regs->cpu)
            (void)program_set(p, others[i].name, number_in(regs, others[i].number));
}

static bool is_undefined(const struct breakpad_rule *rule)
{
    static const char word[] = ".undef";
    const char *text = rule->text, *end = text + rule->text_bytes;
    while (text < end && *text == ' ')
        text++;
    return (size_t)(end - text) == sizeof word - 1 && memcmp(text, word, sizeof word - 1) == 0;
}

/* The value of the rule called NAME. False: there is no such rule, or it has no value. */
static bool value_of(struct frame_program *p, const struct breakpad_rules *rules, const char *name,
                     uint64_t *out)
{
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct breakpad_rule *rule = &rules->rules[i];
        if (!is_name(rule, name))
            continue;
        *out = 0; /* an undefined return address: the thread starts here */
        return is_undefined(rule) || program_value(p, rule->text, rule->text_bytes, out);
    }
    return false;
}

/* Changes REGS to the caller's, which P holds at first as the callee's. */
static bool apply(struct frame_program *p, const struct breakpad_rules *rules,
                  struct registers *regs)
{
    uint64_t cfa, ra, value;
    if (!value_of(p, rules, ".cfa", &cfa) || !program_set(p, ".cfa", cfa) ||
        !value_of(p, rules, ".ra", &ra) || !program_set(p, ".ra", ra))
        return false;
    regs->sp = cfa;
    regs->pc = ra;
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct breakpad_rule *rule = &rules->rules[i];
        uint64_t *to = find_register(regs, rule);
        if (to == NULL || is_undefined(rule))
            continue;
        if (program_value(p, rule->text, rule->text_bytes, &value))
            *to = value;
    }
    return true;
}

static bool breakpad_rules(struct unwind_walker *w)
{
    const struct breakpad *file = unwind_breakpad_of(w);
    struct breakpad_rules rules;
    if (file == NULL)
        return false;
    if (!breakpad_cfi_at(file, unwind_lookup_rva(w), &rules))
        return false;
    struct frame_program p = {.process = w->process, .word_bytes = cpu_pointer_bytes(w->regs.cpu)};
    struct registers caller = w->regs;
    set_registers(&p, &w->regs);
    if (!apply(&p, &rules, &caller))
        return false;
    caller.pc = unwind_strip(w, caller.pc);
    if (caller.sp < w->regs.sp || (caller.pc != 0 && !unwind_is_return(w, caller.pc)))
        return false;
    w->regs = caller;
    w->frame->function_begin_rva = (uint32_t)rules.rva;
    w->frame->function_end_rva = (uint32_t)rules.end;
    w->caller_found = FOUND_CFI;
    return true;
}

bool unwind_symbol_rules(struct unwind_walker *w)
{
    return breakpad_rules(w) || unwind_image_rules(w);
}
