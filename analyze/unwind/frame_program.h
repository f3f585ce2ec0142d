/* Postfix arithmetic over registers and the stack, as frame programs of x86 PDBs and the rules of
 * Breakpad's STACK CFI have it:
 *
 *     $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =          a program: assigns
 *     .cfa 16 - ^                                          a rule: yields one value
 *
 * Words: variables (registers, .constants and $temporaries), decimal numbers, + - * / % @ (align
 * down), ^ (read a word of the processor's size) and = (assign).
 * Source: IDiaFrameData::get_program; Breakpad's documentation of STACK WIN and STACK CFI. */
#ifndef UNWIND_FRAME_PROGRAM_H
#define UNWIND_FRAME_PROGRAM_H

#include <stdint.h>

#include "unwind/dead_process.h"

enum {
    PROGRAM_STACK_MAX = 32,
    PROGRAM_VARIABLES_MAX = 48,
    PROGRAM_WORD_MAX = 24,
    PROGRAM_WORDS_MAX = 512,
};

/* A value on the stack is a number, or the name of a variable that may be assigned to. Names are
 * kept without their "$". */
struct program_item {
    char name[PROGRAM_WORD_MAX]; /* "": a number */
    uint64_t value;
    bool unknown; /* calculated from memory that is missing */
};

struct frame_program {
    const struct unwind_process *process;
    uint32_t word_bytes; /* 4 or 8 */
    struct program_item stack[PROGRAM_STACK_MAX];
    uint32_t depth;
    struct program_item variables[PROGRAM_VARIABLES_MAX];
    uint32_t variable_count;
};

/* Sets a variable; false: too many. NAME may start with "$". */
bool program_set(struct frame_program *p, const char *name, uint64_t value);
bool program_get(const struct frame_program *p, const char *name, uint64_t *out);

/* Runs BYTES of TEXT for its assignments; for its value, which must be the only one left. Variables
 * that missing memory should give keep their values: most are registers that the function had not
 * saved yet. False: it is damaged, or the value is not known. */
bool program_run(struct frame_program *p, const char *text, size_t bytes);
bool program_value(struct frame_program *p, const char *text, size_t bytes, uint64_t *out);

#endif
