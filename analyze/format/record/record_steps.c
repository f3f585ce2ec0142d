/* See record_steps.h; the layout is in capture/record.h. */
#include "format/record/record_steps.h"

#include <string.h>

#include "format/pe/pe.h"
#include "format/record/sections.h"

enum { STACK_BYTES_MAX = 16 << 20, SECTION_REST_BYTES = 16 };

static void read_stack_bounds(struct record_section section, struct steps *out)
{
    const uint64_t low = bytes_u64(&section.body), high = bytes_u64(&section.body);
    if (bytes_failed(&section.body))
        return;
    if (low >= high || low % 8 != 0 || high % 8 != 0)
        fault_set(section.body.fault, ERR_MALFORMED, section.body.offset, "stack of the steps");
    else if (high - low > STACK_BYTES_MAX)
        fault_set(section.body.fault, ERR_LIMIT, section.body.offset, "stack of the steps");
    out->stack_low_va = low;
    out->stack_high_va = high;
}

/* First pass: finds the address range of the stack. */
static void survey(struct bytes r, struct arena *keep, struct steps *out)
{
    struct record_section section;
    while (record_section_next(&r, &section)) {
        if (section.type == RECORD_SECTION_STEPS && out->stack_high_va == 0)
            read_stack_bounds(section, out);
    }
    if (bytes_failed(&r))
        return;
    if (out->stack_high_va == 0) {
        fault_set(r.fault, ERR_ABSENT, r.offset, "steps in the record");
        return;
    }
    out->stack = arena_alloc(keep, (size_t)(out->stack_high_va - out->stack_low_va));
    if (out->stack == NULL)
        fault_set(r.fault, ERR_MEMORY, r.offset, "stack of the steps");
}

enum status steps_open(struct bytes file, struct arena *keep, struct steps *out)
{
    const struct bytes whole = file;
    memset(out, 0, sizeof *out);
    if (record_read(file, keep, &out->record) != ERR_NONE)
        return file.fault->code;
    const bool is_x86 = out->record.machine == PE_MACHINE_X86;
    if (!is_x86 && out->record.machine != PE_MACHINE_X64)
        return fault_set(file.fault, ERR_UNSUPPORTED, RECORD_H_MACHINE, "processor of the steps");
    const uint64_t sections_bytes =
        whole.left - RECORD_HEADER_BYTES - out->record.uncommitted_bytes;
    out->sections = bytes_window(&whole, RECORD_HEADER_BYTES, sections_bytes);
    survey(out->sections, keep, out);
    out->step.regs.cpu = is_x86 ? CPU_X86 : CPU_X64;
    return file.fault->code;
}

static void read_registers(struct bytes *r, uint32_t changed, struct registers *regs)
{
    for (uint32_t i = 0; i < RECORD_STEP_REGISTERS; i++) {
        if ((changed >> i & 1) == 0)
            continue;
        const uint64_t value = bytes_u64(r);
        if (i == RECORD_STEP_RIP)
            regs->pc = value;
        else if (i == 4)
            regs->sp = value;
        else
            regs->r[i] = value;
    }
}

static void read_callers(struct bytes *r, uint32_t kept, uint32_t added, struct step *step)
{
    if (kept > step->caller_count || added > STEPS_CALLERS_MAX - kept) {
        fault_set(r->fault, ERR_MALFORMED, r->offset, "callers of a step");
        return;
    }
    step->caller_count = kept;
    for (uint32_t i = 0; i < added; i++) {
        struct step_caller *caller = &step->callers[step->caller_count++];
        caller->pc_va = bytes_u64(r);
        caller->sp_va = bytes_u64(r);
    }
}

static void read_stack_run(struct bytes *r, struct steps *steps)
{
    const uint64_t va = bytes_u64(r);
    const uint32_t words = bytes_u32(r);
    bytes_skip(r, 4);
    const uint8_t *from = bytes_take(r, (uint64_t)words * 8);
    if (bytes_failed(r))
        return;
    if (va % 8 != 0 || va < steps->stack_low_va || va > steps->stack_high_va ||
        (uint64_t)words * 8 > steps->stack_high_va - va) {
        fault_set(r->fault, ERR_MALFORMED, r->offset, "stack run of a step");
        return;
    }
    memcpy(steps->stack + (va - steps->stack_low_va), from, (size_t)words * 8);
}

static void read_walk(struct bytes *r, struct step *step)
{
    struct step_walk *walk = &step->walks[step->walk_count++];
    walk->walker = bytes_u8(r);
    walk->state = bytes_u8(r);
    walk->stop = bytes_u8(r);
    walk->as_truth = (bytes_u8(r) & RECORD_WALK_AS_TRUTH) != 0;
    walk->frame_count = bytes_u32(r);
    walk->pcs = walk->as_truth ? NULL : bytes_take(r, (uint64_t)walk->frame_count * 8);
    if (walk->as_truth)
        walk->frame_count = step->caller_count + 1;
}

static bool read_step(struct bytes r, struct steps *steps)
{
    struct step *step = &steps->step;
    const uint32_t changed = bytes_u32(&r);
    const uint32_t kept = bytes_u16(&r), added = bytes_u16(&r);
    const uint32_t runs = bytes_u16(&r), walks = bytes_u16(&r);
    if (!bytes_failed(&r) && walks > STEPS_WALKS_MAX)
        fault_set(r.fault, ERR_LIMIT, r.offset, "walks of a step");
    if (!bytes_failed(&r))
        read_registers(&r, changed, &step->regs);
    if (!bytes_failed(&r))
        read_callers(&r, kept, added, step);
    for (uint32_t i = 0; i < runs && !bytes_failed(&r); i++)
        read_stack_run(&r, steps);
    step->walk_count = 0;
    for (uint32_t i = 0; i < walks && !bytes_failed(&r); i++)
        read_walk(&r, step);
    step->index = steps->steps_read++;
    return !bytes_failed(&r);
}

bool steps_next(struct steps *steps)
{
    struct record_section section;
    struct bytes entry;
    while (steps->entries_left == 0) {
        if (!record_section_next(&steps->sections, &section))
            return false;
        if (section.type != RECORD_SECTION_STEPS)
            continue;
        bytes_skip(&section.body, SECTION_REST_BYTES);
        steps->entries = section.body;
        steps->entries_left = bytes_count(&section.body, section.count, RECORD_STEP_BYTES);
    }
    steps->entries_left--;
    return record_entry_next(&steps->entries, RECORD_STEP_BYTES, &entry) && read_step(entry, steps);
}

bool steps_read(const struct steps *steps, uint64_t va, void *out, size_t bytes)
{
    if (va >= steps->step.regs.sp && va >= steps->stack_low_va && va < steps->stack_high_va) {
        if (bytes > steps->stack_high_va - va)
            return false;
        memcpy(out, steps->stack + (va - steps->stack_low_va), bytes);
        return true;
    }
    return record_memory_read(&steps->record, va, out, bytes);
}

uint64_t steps_truth_pc(const struct step *step, uint32_t index)
{
    return index == 0 ? step->regs.pc : step->callers[step->caller_count - index].pc_va;
}

uint64_t steps_walk_pc(const struct step *step, const struct step_walk *walk, uint32_t index)
{
    return walk->as_truth ? steps_truth_pc(step, index) : load_u64(walk->pcs + (size_t)index * 8);
}
