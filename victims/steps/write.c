/* Writes STEPS sections of record.h: only what changed since the step before. */
#include "victims/steps/stepper.h"

#include <string.h>

enum {
    BUFFER_BYTES = 8 << 20, /* a whole stack whose every other word changed, and more */
    FLUSH_BYTES = 1 << 20,
    FILE_BYTES_MAX = 64 << 20,
    STACK_BYTES = 4 << 20, /* deepest stack that is recorded */
    STACK_WORDS = STACK_BYTES / 8,
};

static uint8_t buffer[BUFFER_BYTES];
static uint32_t used, entry_count;

/* What a reader knows so far. */
static uint64_t told_stack[STACK_WORDS]; /* word i: at low + 8 i */
static uint64_t told_registers[RECORD_STEP_REGISTERS];
static struct steps_caller told_callers[STEPS_CALLERS];
static uint32_t told_caller_count;
static uint64_t stack_low_va, stack_high_va;

/* Room was checked by steps_write. */
static void put(const void *from, uint32_t bytes)
{
    memcpy(buffer + used, from, bytes);
    used += bytes;
}

static void put_u64(uint64_t value)
{
    put(&value, sizeof value);
}

static void begin_section(void)
{
    const uint32_t head[4] = {RECORD_SECTION_STEPS};
    used = entry_count = 0;
    put(head, sizeof head);
    put_u64(stack_low_va);
    put_u64(stack_high_va);
}

static void write_at(uint64_t offset, const void *from, uint32_t bytes)
{
    OVERLAPPED where = {0};
    DWORD done = 0;
    where.Offset = (DWORD)offset;
    where.OffsetHigh = (DWORD)(offset >> 32);
    WriteFile(cap.record, from, bytes, &done, &where);
}

static void end_section(void)
{
    if (entry_count == 0)
        return;
    memcpy(buffer + RECORD_S_BYTES, &used, sizeof used);
    memcpy(buffer + RECORD_S_COUNT, &entry_count, sizeof entry_count);
    write_at(cap.record_bytes, buffer, used);
    cap.record_bytes += used;
    write_at(RECORD_H_COMMITTED, &cap.record_bytes, sizeof cap.record_bytes);
}

bool steps_write_begin(uint64_t high_va)
{
    stack_high_va = high_va & ~(uint64_t)7;
    stack_low_va = stack_high_va - STACK_BYTES;
    begin_section();
    return high_va > STACK_BYTES;
}

void steps_write_end(void)
{
    end_section();
    begin_section();
}

/* As RECORD_STEP_REGISTERS counts them: the general ones as the processor numbers them. */
static void read_registers(const CONTEXT *c, uint64_t out[RECORD_STEP_REGISTERS])
{
#if defined(_WIN64)
    const uint64_t values[RECORD_STEP_REGISTERS] = {c->Rax, c->Rcx, c->Rdx, c->Rbx, c->Rsp, c->Rbp,
                                                    c->Rsi, c->Rdi, c->R8,  c->R9,  c->R10, c->R11,
                                                    c->R12, c->R13, c->R14, c->R15, c->Rip};
#else
    const uint64_t values[RECORD_STEP_REGISTERS] = {
        c->Eax, c->Ecx, c->Edx, c->Ebx, c->Esp, c->Ebp, c->Esi, c->Edi, [RECORD_STEP_RIP] = c->Eip};
#endif
    memcpy(out, values, sizeof values);
}

static uint32_t put_registers(const CONTEXT *context)
{
    uint64_t now[RECORD_STEP_REGISTERS];
    uint32_t changed = 0;
    read_registers(context, now);
    for (uint32_t i = 0; i < RECORD_STEP_REGISTERS; i++) {
        if (now[i] == told_registers[i])
            continue;
        changed |= 1u << i;
        told_registers[i] = now[i];
        put_u64(now[i]);
    }
    return changed;
}

/* Returns how many callers the reader keeps; the rest follows. */
static uint32_t put_callers(const struct steps_state *state)
{
    uint32_t kept = 0;
    while (kept < told_caller_count && kept < state->caller_count &&
           told_callers[kept].pc_va == state->callers[kept].pc_va &&
           told_callers[kept].sp_va == state->callers[kept].sp_va)
        kept++;
    for (uint32_t i = kept; i < state->caller_count; i++) {
        told_callers[i] = state->callers[i];
        put(&told_callers[i], sizeof told_callers[i]);
    }
    told_caller_count = state->caller_count;
    return kept;
}

static uint32_t put_stack(uint64_t sp_va)
{
    const uint64_t *stack = (const uint64_t *)(uintptr_t)stack_low_va;
    uint32_t runs = 0;
    for (uint32_t i = (uint32_t)((sp_va - stack_low_va) / 8); i < STACK_WORDS; i++) {
        if (stack[i] == told_stack[i])
            continue;
        const uint32_t first = i;
        while (i < STACK_WORDS && stack[i] != told_stack[i])
            i++;
        const uint32_t head[2] = {i - first};
        put_u64(stack_low_va + 8u * first);
        put(head, sizeof head);
        memcpy(told_stack + first, stack + first, 8u * (i - first));
        put(stack + first, 8u * (i - first));
        runs++;
    }
    return runs;
}

static bool is_as_truth(const struct cap_walk *walk, const struct steps_state *state)
{
    if (walk->total != state->caller_count + 1 || walk->frames[0].pc_va != STEPS_PC(state->context))
        return false;
    for (uint32_t i = 1; i < walk->total; i++)
        if (walk->frames[i].pc_va != state->callers[state->caller_count - i].pc_va)
            return false;
    return true;
}

static void put_walk(const struct cap_walk *walk, const struct steps_state *state)
{
    const bool as_truth = is_as_truth(walk, state);
    /* Deeper than any truth here: the rest cannot have changed. */
    const uint32_t frames = walk->total < STEPS_CALLERS ? walk->total : STEPS_CALLERS;
    const uint8_t head[4] = {(uint8_t)walk->walker, (uint8_t)walk->state, (uint8_t)walk->stop,
                             as_truth ? RECORD_WALK_AS_TRUTH : 0};
    put(head, sizeof head);
    put(&frames, sizeof frames);
    for (uint32_t i = 0; !as_truth && i < frames; i++)
        put_u64(walk->frames[i].pc_va);
}

bool steps_write(const struct steps_state *state)
{
    const uint64_t sp_va = STEPS_SP(state->context);
    if (sp_va < stack_low_va || sp_va > stack_high_va || state->caller_count > STEPS_CALLERS ||
        cap.record_bytes + used > FILE_BYTES_MAX)
        return false;
    if (used > FLUSH_BYTES) {
        end_section();
        begin_section();
    }
    const uint32_t start = used;
    const uint16_t zeros[RECORD_STEP_BYTES / 2] = {0};
    put(zeros, sizeof zeros);
    const uint32_t changed = put_registers(state->context);
    const uint16_t kept = (uint16_t)put_callers(state);
    const uint16_t added = (uint16_t)(state->caller_count - kept);
    const uint16_t runs = (uint16_t)put_stack(sp_va);
    const uint16_t walks = (uint16_t)state->walk_count;
    for (uint32_t i = 0; i < state->walk_count; i++)
        put_walk(state->walks[i], state);
    const uint32_t bytes = used - start;
    memcpy(buffer + start, &bytes, 4);
    memcpy(buffer + start + 4, &changed, 4);
    memcpy(buffer + start + 8, (const uint16_t[]){kept, added, runs, walks}, 8);
    entry_count++;
    return true;
}
