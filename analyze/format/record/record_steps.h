/* Reads the walk at every instruction: a record (format/record/record.h) with STEPS sections, as
 * victims/steps writes them, and MEMORY sections where it was packed to be replayed without images.
 * Layout: capture/record.h.
 *
 * Each step states what changed since the previous one, so steps are read once and in order. */
#ifndef FORMAT_RECORD_STEPS_H
#define FORMAT_RECORD_STEPS_H

#include "format/context/registers.h"
#include "format/record/record.h"

enum { STEPS_CALLERS_MAX = 64, STEPS_WALKS_MAX = 16 };

/* A caller: its return address, and its stack pointer there (0: not stated). */
struct step_caller {
    uint64_t pc_va, sp_va;
};

/* One walker's result at this step. */
struct step_walk {
    uint32_t walker, state, stop; /* RECORD_WALKER_*, RECORD_STATE_*, RECORD_STOP_*       */
    bool as_truth;                /* its frames equal the pc and the callers, so pcs has none */
    uint32_t frame_count;
    const uint8_t *pcs; /* frame_count little-endian va, borrowed; NULL when as_truth */
};

struct step {
    uint32_t index;
    struct registers regs;                         /* x64 or x86, without vectors and flags */
    struct step_caller callers[STEPS_CALLERS_MAX]; /* outermost first */
    uint32_t caller_count;
    struct step_walk walks[STEPS_WALKS_MAX];
    uint32_t walk_count;
};

struct steps {
    struct record record; /* only its modules and memory are used here */
    struct step step;     /* the last one that steps_next() read        */
    uint64_t stack_low_va, stack_high_va;
    uint8_t *stack;                 /* of [low, high), as far as known */
    struct bytes sections, entries; /* still to be read  */
    uint32_t entries_left;
    uint32_t steps_read;
};

/* FILE's bytes are borrowed.  Fails: as record_read; ERR_ABSENT no steps in it;
 * ERR_UNSUPPORTED another processor; ERR_MALFORMED; ERR_LIMIT a stack over 16 MB. */
enum status steps_open(struct bytes file, struct arena *keep, struct steps *out);

/* Reads the next step into steps->step. False at the end and on a fault in FILE: ERR_TRUNCATED,
 * ERR_MALFORMED, ERR_LIMIT. */
bool steps_next(struct steps *steps);

/* Copies BYTES at VA: stack from the step's stack pointer on, or packed memory.  False unless
 * all are known. */
bool steps_read(const struct steps *steps, uint64_t va, void *out, size_t bytes);

/* The true frames: the pc, then the callers, innermost first. */
uint64_t steps_truth_pc(const struct step *step, uint32_t index);

/* The address of frame INDEX in WALK. */
uint64_t steps_walk_pc(const struct step *step, const struct step_walk *walk, uint32_t index);

#endif
