/* One walk in progress, and the ways to a caller that the processors have in common. */
#ifndef UNWIND_WALKER_H
#define UNWIND_WALKER_H

#include "unwind/process.h"

/* One walk in progress. */
struct unwind_walker {
    const struct unwind_process *process;
    struct registers regs;        /* of the current frame, then of its caller */
    struct unwind_frame *frame;   /* the current frame: steps explain themselves here   */
    enum pc_kind caller_kind;     /* of the caller's pc                                   */
    enum found_by caller_found;   /* how the caller was found                             */
    const char *caller_note;      /* goes to the caller's frame                           */
    uint32_t crossings;           /* machine frames and dispatchers crossed so far         */
    uint32_t callee_params_bytes; /* x86: arguments of the frame below                    */
    bool callee_takes_params;     /* x86: they are known to go with it (`ret n`)          */
};

/* Reads a pointer of the walked processor's size. */
bool unwind_read_pointer(const struct unwind_walker *w, uint64_t va, uint64_t *out);

/* True when VA can be a return address: code of a module, after a call where its bytes are
 * known; or generated code. */
bool unwind_is_return(const struct unwind_walker *w, uint64_t va);

/* True when VA lies in an executable section (or in a module whose sections are unknown), or in
 * generated code. */
bool unwind_is_code(const struct unwind_walker *w, uint64_t va);

/* Pops one return address at sp: what a leaf does, and what a walk does for a pc outside all
 * code. */
enum stop_reason unwind_pop(struct unwind_walker *w, enum found_by found_by, const char *note);

/* Takes FP as a chained frame pointer: {caller's fp, return address}.  False when it is none. */
bool unwind_frame_pointer(struct unwind_walker *w, uint32_t fp_register);

/* A saved code address without the bits that arm64 pointer authentication adds. */
uint64_t unwind_strip(const struct unwind_walker *w, uint64_t va);

/* Looks for a return address on the stack: the last resort, and never used for generated code. */
enum stop_reason unwind_scan(struct unwind_walker *w);

extern const char unwind_note_pdata[]; /* "pdata unreadable" */

/* True when VA lies in registered generated code. */
bool unwind_is_generated(const struct unwind_walker *w, uint64_t va);

#endif
