/* States of a walk at every instruction as drafts of the reference suite: see steps_score.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/steps_session.h"

static void write_registers(struct json *j, const struct registers *regs)
{
    json_key_object(j, "registers");
    for (uint32_t i = 0; i < register_count(regs->cpu); i++)
        json_key_hex(j, register_name(regs->cpu, i),
                     register_is_sp(regs->cpu, i) ? regs->sp : regs->r[i]);
    json_key_hex(j, regs->cpu == CPU_X64 ? "rip" : "eip", regs->pc);
    json_object_end(j);
}

/* Runs of words that were read: none is below the stack pointer, and most of a stack is. */
static void write_stack(struct json *j, const struct steps_session *s)
{
    const struct steps *steps = &s->steps;
    const uint64_t sp = steps->step.regs.sp, low = steps->stack_low_va;
    const uint64_t words = (steps->stack_high_va - low) / STEPS_WORD_BYTES;
    static const char digits[] = "0123456789abcdef";
    json_key_array(j, "stack");
    uint64_t end;
    for (uint64_t word = sp > low ? (sp - low) / STEPS_WORD_BYTES : 0; word < words;
         word = end + 1) {
        for (end = word; end < words && (s->stack_read[end / 8] >> end % 8 & 1) != 0;)
            end++;
        const size_t bytes = (size_t)(end - word) * STEPS_WORD_BYTES;
        char *text = bytes > 0 ? arena_alloc(s->keep, bytes * 2 + 1) : NULL;
        for (size_t i = 0; text != NULL && i < bytes; i++) {
            const uint8_t byte = steps->stack[word * STEPS_WORD_BYTES + i];
            text[2 * i] = digits[byte >> 4];
            text[2 * i + 1] = digits[byte & 15];
        }
        if (bytes == 0)
            continue;
        json_object(j);
        json_key_hex(j, "at", low + word * STEPS_WORD_BYTES);
        json_key_string(j, "bytes", text);
        json_object_end(j);
    }
    json_array_end(j);
}

/* As far as the frames are in MODULE, and their stack pointers are known. */
static void write_truth(struct json *j, struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    const uint32_t pointer_bytes = cpu_pointer_bytes(step->regs.cpu);
    json_array(j);
    for (uint32_t i = 0; i <= step->caller_count; i++) {
        const uint64_t sp_va = i == 0 ? step->regs.sp : step->callers[step->caller_count - i].sp_va;
        const uint64_t pc_va = steps_truth_pc(step, i);
        if (sp_va == 0 || steps_module_at(s, pc_va) != module)
            break;
        if (i > 0)
            steps_note_stack(s, sp_va - pointer_bytes, pointer_bytes);
        json_object(j);
        json_key_hex(j, "ip", pc_va);
        json_key_hex(j, "sp", sp_va);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Walkers that only we have written are no witnesses of a suite that scores ours. */
static bool is_independent(uint32_t walker)
{
    const struct record_walker *row = record_walker(walker);
    return row != NULL &&
           (row->traits & (RECORD_WALKER_TRAIT_SYSTEM | RECORD_WALKER_TRAIT_DBGHELP)) != 0;
}

/* The truth with its witnesses: one alone does not make it certain. */
static void write_known(struct json *j, struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    bool agreed[STEPS_WALKS_MAX] = {false}, must = false;
    for (uint32_t i = 0; i < step->walk_count; i++) {
        const struct claim claim = {.walk = &step->walks[i], .count = step->walks[i].frame_count};
        agreed[i] = is_independent(step->walks[i].walker) && steps_outcome(s, &claim) == WALK_RIGHT;
        must = must || agreed[i];
    }
    json_key_object(j, "truth");
    json_key_string(j, "level", must ? "must" : "may");
    json_key(j, must ? "frames" : "accepted");
    if (!must)
        json_array(j);
    write_truth(j, s, module);
    if (!must)
        json_array_end(j);
    else
        json_key_bool(j, "whole", false);
    json_object_end(j);
    json_key_array(j, "known_by");
    json_string(j, "executed: calls and returns were counted");
    for (uint32_t i = 0; i < step->walk_count; i++)
        if (agreed[i])
            json_string(j, record_walker_name(step->walks[i].walker));
    json_array_end(j);
}

static void write_draft(struct json *j, struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    const char *cpu = cpu_name(step->regs.cpu);
    const char *capability = arena_printf(s->keep, "moments.%s", cpu);
    json_object(j);
    json_key_string(j, "kind", "moment");
    json_key_string(j, "processor", cpu);
    json_key_string(j, "capability", capability);
    write_known(j, s, module);
    json_key_object(j, "given");
    write_registers(j, &step->regs);
    write_stack(j, s);
    json_key_array(j, "modules");
    json_object(j);
    json_key_string(j, "path", module->name);
    json_key_hex(j, "base", module->base_va);
    json_key_hex(j, "size", module->image_bytes);
    json_object_end(j);
    json_array_end(j);
    json_object_end(j);
    json_object_end(j);
    json_newline(j);
}

static enum status note_reads(struct steps_session *s, struct unwind_stack *stack)
{
    const struct steps *steps = &s->steps;
    const size_t bytes =
        (size_t)((steps->stack_high_va - steps->stack_low_va) / STEPS_WORD_BYTES / 8 + 2);
    if (s->stack_read == NULL)
        s->stack_read = arena_alloc(s->keep, bytes);
    if (s->stack_read == NULL)
        return fault_no_memory(s->fault, "draft");
    memset(s->stack_read, 0, bytes);
    arena_reset(&s->scratch);
    return unwind_walk(&s->process, &steps->step.regs, PC_INTERRUPTED, &s->scratch, stack,
                       s->fault);
}

enum status steps_session_draft(struct steps_session *s, uint32_t index, struct json *j,
                                struct fault *fault)
{
    const struct steps *steps = &s->steps;
    struct unwind_stack stack;
    bool found = false;
    s->fault = fault;
    while (!found && steps_next(&s->steps))
        found = steps->step.index == index;
    const struct module *module = found ? steps_module_at(s, steps->step.regs.pc) : NULL;
    if (fault->code == ERR_NONE && !found)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "moment", "no such instruction");
    if (fault->code == ERR_NONE && module == NULL)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "moment",
                              "its instruction is in no module");
    if (fault->code == ERR_NONE && note_reads(s, &stack) == ERR_NONE)
        write_draft(j, s, module);
    return fault->code;
}

/* ---- all drafts -------------------------------------------------------------------------- */

/* True where the state has a caller in the image of its instruction, so that there is a step to
 * ask for. */
static bool has_caller(const struct steps_session *s, const struct module *module)
{
    const struct step *step = &s->steps.step;
    return step->caller_count > 0 && step->callers[step->caller_count - 1].sp_va != 0 &&
           steps_module_at(s, steps_truth_pc(step, 1)) == module;
}

static const char *function_at(const struct steps_session *s, const struct module *module)
{
    struct symbol_frame frames[SYMBOL_FRAMES_MAX];
    const uint32_t count = symbol_lookup(symbol_store_module(s->symbols, module),
                                         s->steps.step.regs.pc - module->base_va, frames);
    return count > 0 ? frames[count - 1].function : NULL;
}

static enum status give_draft(struct steps_session *s, const struct module *module,
                              steps_draft_fn *each, void *context)
{
    struct steps_draft draft = {
        .step = s->steps.step.index, .module = module, .function = function_at(s, module)};
    struct unwind_stack stack = {0};
    struct json j;
    if (note_reads(s, &stack) != ERR_NONE)
        return s->fault->code;
    draft.position = "leaf";
    if (stack.frame_count > 0 && stack.frames[0].where != WHERE_NONE)
        draft.position = unwind_where_name(stack.frames[0].where);
    json_to_text(&j, false);
    write_draft(&j, s, module);
    char *text = json_take(&j, NULL);
    if (text == NULL)
        return fault_no_memory(s->fault, "draft");
    draft.json = text;
    (void)each(context, &draft, s->fault);
    free(text);
    return s->fault->code;
}

enum status steps_session_drafts(struct steps_session *s, steps_draft_fn *each, void *context,
                                 struct steps_drafts *out, struct fault *fault)
{
    *out = (struct steps_drafts){0};
    s->fault = fault;
    while (fault->code == ERR_NONE && steps_next(&s->steps)) {
        const struct step *step = &s->steps.step;
        const struct module *module = steps_module_at(s, step->regs.pc);
        out->steps++;
        if (module == NULL || s->symbols == NULL || symbol_store_image(s->symbols, module) == NULL)
            out->elsewhere++;
        else if (!has_caller(s, module))
            out->outermost++;
        else
            (void)give_draft(s, module, each, context);
    }
    return fault->code;
}
