/* The walk at every instruction: what the stepper and the functions that it steps through have
 * in common.  One thread runs steps_tree() under the trap flag; before each instruction the
 * vectored handler lets every walker walk and writes the state down (STEPS in record.h). */
#ifndef VICTIMS_STEPS_STEPPER_H
#define VICTIMS_STEPS_STEPPER_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

#include "capture/cap.h"

/* ---- entry.S, entry_x86.S ---- */
/* Thread procedure: sets the trap flag, calls steps_tree, and reaches steps_end. */
DWORD WINAPI steps_thread(void *unused);
extern const uint8_t steps_end[];
#if defined(_WIN64)
/* Entered by a jump, with a machine frame on top of the stack, as an interrupt enters. */
extern const uint8_t steps_interrupt_handler[];
#endif

/* THREAD_FRAME: bytes between the stack pointer and the return address while steps_thread's body
 * runs. */
#if defined(_WIN64)
enum { STEPS_THREAD_FRAME = 40 };
#define STEPS_PC(context) ((context)->Rip)
#define STEPS_SP(context) ((context)->Rsp)
#else
enum { STEPS_THREAD_FRAME = 12 };
#define STEPS_PC(context) ((context)->Eip)
#define STEPS_SP(context) ((context)->Esp)
#endif

/* ---- functions.c, shapes.S, shapes_x86.S ---- */
int steps_tree(void);

typedef int (*steps_call)(int value);
/* Functions whose prologues and epilogues compilers do not write: each returns call(value) + n. */
#if defined(_WIN64)
#define STEPS_SHAPES(ROW)                                                                          \
    ROW(shape_pushes)                                                                              \
    ROW(shape_alloc_small)                                                                         \
    ROW(shape_alloc_large)                                                                         \
    ROW(shape_alloc_huge)                                                                          \
    ROW(shape_frame_register)                                                                      \
    ROW(shape_frame_register_r13)                                                                  \
    ROW(shape_save_nonvolatile)                                                                    \
    ROW(shape_save_far)                                                                            \
    ROW(shape_save_xmm)                                                                            \
    ROW(shape_save_xmm_far)                                                                        \
    ROW(shape_chained)                                                                             \
    ROW(shape_chained_alloc)                                                                       \
    ROW(shape_interrupted)                                                                         \
    ROW(shape_tail_near)                                                                           \
    ROW(shape_tail_register)                                                                       \
    ROW(shape_tail_memory)                                                                         \
    ROW(shape_tail_itself)                                                                         \
    ROW(shape_two_epilogues)                                                                       \
    ROW(shape_listed_epilogue)                                                                     \
    ROW(shape_false_epilogue)
#else
#define STEPS_SHAPES(ROW)                                                                          \
    ROW(shape_pushes)                                                                              \
    ROW(shape_alloc_small)                                                                         \
    ROW(shape_alloc_large)                                                                         \
    ROW(shape_alloc_huge)                                                                          \
    ROW(shape_frame_pointer)                                                                       \
    ROW(shape_leave)                                                                               \
    ROW(shape_seh4)                                                                                \
    ROW(shape_aligned)                                                                             \
    ROW(shape_decoys)                                                                              \
    ROW(shape_decoy_local)                                                                         \
    ROW(shape_two_epilogues)                                                                       \
    ROW(shape_false_epilogue)                                                                      \
    ROW(shape_tail_near)                                                                           \
    ROW(shape_tail_register)                                                                       \
    ROW(shape_tail_memory)                                                                         \
    ROW(shape_tail_itself)                                                                         \
    ROW(shape_pops)                                                                                \
    ROW(shape_chain_only)                                                                          \
    ROW(shape_old_row)
#endif
#define STEPS_DECLARE(name) int name(steps_call call, int value);
STEPS_SHAPES(STEPS_DECLARE)

/* ---- write.c ---- */
struct steps_caller {
    uint64_t pc_va, sp_va; /* where it goes on, and the stack pointer there; 0: not stated */
};

enum { STEPS_CALLERS = 64, STEPS_WALKS = RECORD_WALKER_COUNT };

/* The state before one instruction. */
struct steps_state {
    const CONTEXT *context;
    const struct steps_caller *callers; /* outermost first */
    uint32_t caller_count;
    const struct cap_walk *const *walks;
    uint32_t walk_count;
};

/* Where the thread's stack may reach: [high - room, high). */
bool steps_write_begin(uint64_t stack_high_va);
/* False: no room left in the file, or a stack deeper than was said. */
bool steps_write(const struct steps_state *state);
void steps_write_end(void);

#endif
