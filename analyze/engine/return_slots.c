/* See return_slots.h. */
#include "engine/return_slots.h"

#include <string.h>

#include "format/context/registers.h"
#include "unwind/dead_process.h"

enum { CHUNK_BYTES = 4096 };

struct sought {
    uint32_t callee; /* index of the frame that returns there */
    uint64_t pc_va, slot_va;
    uint32_t found;
};

/* Both walks began at the same place: of a hang, samples and the dump are of different moments. */
static bool begin_alike(const struct stack *stack, const struct stack *beside)
{
    return stack->frame_count > 0 && beside->frame_count > 0 && stack->frames[0].pc_va != 0 &&
           stack->frames[0].pc_va == beside->frames[0].pc_va;
}

/* BESIDE has CALLER right after CALLEE. */
static bool has_pair(const struct stack *beside, const struct frame *callee,
                     const struct frame *caller)
{
    const struct frame *before = NULL;
    for (uint32_t i = 0; i < beside->frame_count; i++) {
        const struct frame *f = &beside->frames[i];
        if (f->inline_depth != 0)
            continue;
        if (before != NULL && before->pc_va == callee->pc_va && f->pc_va == caller->pc_va)
            return true;
        before = f;
    }
    return false;
}

/* A recursion returns to one place through several slots. */
static bool returns_once(const struct stack *stack, uint64_t pc_va)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < stack->frame_count; i++)
        times += stack->frames[i].inline_depth == 0 && stack->frames[i].pc_va == pc_va;
    return times == 1;
}

static uint32_t seek(const struct stack *stack, const struct stack *beside,
                     struct sought out[RETURN_SLOTS_MAX])
{
    uint32_t count = 0;
    const struct frame *callee = NULL;
    for (uint32_t i = 0; i < stack->frame_count && count < RETURN_SLOTS_MAX; i++) {
        const struct frame *f = &stack->frames[i];
        if (f->inline_depth != 0)
            continue;
        if (callee != NULL && callee->index + 1 == f->index && f->kind == PC_RETURN &&
            f->pc_va != 0 && !has_pair(beside, callee, f) && returns_once(stack, f->pc_va))
            out[count++] = (struct sought){.callee = callee->index, .pc_va = f->pc_va};
        callee = f;
    }
    return count;
}

/* Looks for all of SOUGHT in the words of [FROM_VA, END_VA). */
static void look(const struct unwind_process *process, uint64_t from_va, uint64_t end_va,
                 uint32_t word_bytes, struct sought *sought, uint32_t count)
{
    uint8_t chunk[CHUNK_BYTES];
    uint32_t bytes = 0; /* never a step past END_VA, which may be the end of all addresses */
    for (uint64_t at_va = from_va; at_va < end_va; at_va += bytes) {
        const uint64_t left = end_va - at_va;
        bytes = left < sizeof chunk ? (uint32_t)left : (uint32_t)sizeof chunk;
        if (!process->read(process->self, at_va, chunk, bytes))
            continue;
        for (uint32_t w = 0; w + word_bytes <= bytes; w += word_bytes) {
            uint64_t word = 0;
            for (uint32_t b = word_bytes; b-- > 0;)
                word = word << 8 | chunk[w + b];
            for (uint32_t i = 0; i < count; i++) {
                if (word != sought[i].pc_va)
                    continue;
                sought[i].slot_va = at_va + w;
                sought[i].found++;
            }
        }
    }
}

static void look_in_stack(const struct dump_session *session, uint32_t thread_id,
                          struct sought *sought, uint32_t count)
{
    const struct minidump *dump = dump_minidump(session);
    const uint32_t word_bytes = cpu_pointer_bytes(dump->cpu);
    struct registers regs;
    enum pc_kind kind = PC_RETURN;
    struct fault ignored = FAULT_INIT;
    if (dump_registers(session, thread_id, &regs, &kind, &ignored) != ERR_NONE)
        return;
    const uint64_t sp_va = regs.sp - regs.sp % word_bytes;
    for (uint32_t i = 0; i < dump->thread_count; i++) {
        const struct minidump_thread *thread = &dump->threads[i];
        if (thread->id != thread_id || sp_va < thread->stack_start_va ||
            sp_va - thread->stack_start_va >= thread->stack.bytes)
            continue;
        look(dump_process(session), sp_va, thread->stack_start_va + thread->stack.bytes, word_bytes,
             sought, count);
    }
}

enum status return_slots_add(const struct dump_session *session, const struct stack *beside,
                             struct arena *keep, struct stack *stack, struct fault *fault)
{
    struct sought sought[RETURN_SLOTS_MAX];
    const uint32_t count = begin_alike(stack, beside) ? seek(stack, beside, sought) : 0;
    if (count == 0)
        return ERR_NONE;
    struct frame_evidence *rows =
        ARENA_ARRAY(keep, (size_t)stack->evidence_count + count, struct frame_evidence);
    if (rows == NULL)
        return fault_no_memory(fault, "evidence of frames");
    if (stack->evidence_count > 0)
        memcpy(rows, stack->evidence, stack->evidence_count * sizeof *rows);
    look_in_stack(session, stack->thread_id, sought, count);
    for (uint32_t i = 0; i < count; i++)
        if (sought[i].found == 1)
            rows[stack->evidence_count++] = (struct frame_evidence){
                .index = sought[i].callee, .return_slot_va = sought[i].slot_va};
    stack->evidence = rows;
    return ERR_NONE;
}
