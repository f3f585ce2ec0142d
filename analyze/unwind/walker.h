/* One walk in progress, and the ways of finding a caller that the processors share. */
#ifndef UNWIND_WALKER_H
#define UNWIND_WALKER_H

#include "unwind/dead_process.h"

/* One walk in progress. */
struct unwind_walker {
    const struct unwind_process *process;
    struct registers regs;      /* of the current frame, then of its caller */
    struct unwind_frame *frame; /* the current frame; steps record here how they found the caller */
    enum pc_kind caller_kind;   /* of the caller's pc                                   */
    enum found_by caller_found; /* how the caller was found                             */
    enum frame_note caller_note;  /* copied to the caller's frame                         */
    uint32_t crossings;           /* machine frames and dispatchers crossed so far         */
    uint32_t callee_params_bytes; /* x86: arguments of the frame below                    */
    bool callee_takes_params;     /* x86: the frame below removes them (`ret n`)          */
};

/* Reads a pointer of the walked processor's size. */
bool unwind_read_pointer(const struct unwind_walker *w, uint64_t va, uint64_t *out);

/* True when VA can be a return address: either code of a module, preceded by a call if its bytes
 * are known, or generated code. */
bool unwind_is_return(const struct unwind_walker *w, uint64_t va);

/* Notes it when the caller's pc, which a step has guessed, could not be checked: unwind_is_return()
 * accepts any address where neither the code nor the module's sections are readable. */
void unwind_note_unchecked(struct unwind_walker *w);

/* True when VA lies in an executable section (or in a module whose sections are unknown), or in
 * generated code. */
bool unwind_is_code(const struct unwind_walker *w, uint64_t va);

/* Pops one return address at sp, as for a leaf and for a pc outside all code. */
enum stop_reason unwind_pop(struct unwind_walker *w, enum found_by found_by, enum frame_note note);

/* Follows FP as a chained frame pointer to {caller's fp, return address}. False when it is not
 * one. */
bool unwind_frame_pointer(struct unwind_walker *w, uint32_t fp_register);

/* Strips what is not part of a saved code address: the bits that arm64 pointer authentication adds,
 * and bit 0 of arm, which is set for Thumb code. */
uint64_t unwind_strip(const struct unwind_walker *w, uint64_t va);

/* Scans the stack for a return address: the last resort, never used for generated code. */
enum stop_reason unwind_scan(struct unwind_walker *w);

#endif
