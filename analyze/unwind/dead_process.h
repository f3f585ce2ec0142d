/* The crashed process as the unwinders see it, and the result of a walk.
 *
 * The unwinders know nothing about dumps or files. They ask a struct unwind_process which bytes are
 * at an address (from memory, or from the image where the memory lacks them), which module contains
 * an address, and which PDB belongs to a module. So unwind data, code bytes and the stack are all
 * read in the same way, by address in the crashed process. */
#ifndef UNWIND_DEAD_PROCESS_H
#define UNWIND_DEAD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "format/context/registers.h"
#include "model/module.h"
#include "model/stack.h"

struct breakpad;  /* format/breakpad/breakpad.h */
struct byte_view; /* base/view.h */
struct pdb;       /* format/pdb/pdb.h */

/* One RUNTIME_FUNCTION of generated code. */
struct unwind_entry {
    uint64_t base_va;                        /* the base of the RVAs */
    uint32_t begin_rva, end_rva, unwind_rva; /* unwind_rva 0: code, but without unwind data */
};

struct unwind_process {
    void *self;
    /* Copies BYTES at VA; false unless all are known. */
    bool (*read)(void *self, uint64_t va, void *out, size_t bytes);
    const struct module *(*module_at)(void *self, uint64_t va); /* NULL: none */
    /* The PDB of a module, or NULL.  May be NULL itself. */
    struct pdb *(*pdb)(void *self, const struct module *module);
    /* The Breakpad file of a module that has unwind data for it, or NULL.  May be NULL itself. */
    const struct breakpad *(*breakpad)(void *self, const struct module *module);
    /* The file of a module's image that is not a PE file; false: none.  May be NULL itself. */
    bool (*object)(void *self, const struct module *module, struct byte_view *out);
    /* Generated code at VA, with its unwind data if there is any.  May be NULL itself. */
    bool (*generated)(void *self, uint64_t va, struct unwind_entry *out);
    struct unwind_tables *tables; /* what is known about modules; see tables.h */
    /* Set for other systems than Windows: rbp points to the caller's frame by convention, so the
     * chain is tried before a scan. */
    bool chains_frames;
    /* Set where a .NET runtime runs managed code: its collections redirect threads. */
    bool runs_managed;
};

/* How one frame was left; what `dump --explain` prints. */
enum unwind_where { WHERE_NONE, WHERE_PROLOGUE, WHERE_BODY, WHERE_EPILOGUE };

struct unwind_frame {
    uint64_t pc_va, sp_va;
    const struct module *module; /* NULL: no module */
    enum cpu cpu;                /* whose code is at the pc: arm64 in x64 processes is ARM64EC */
    enum pc_kind kind;
    enum found_by found_by;
    enum frame_note note; /* what was special about this step */
    /* How the caller of this frame was found: */
    enum unwind_where where;
    uint32_t function_begin_rva, function_end_rva; /* of the unwind data used; 0: none */
    uint64_t unwind_data_va;                       /* 0: none */
    uint64_t return_slot_va; /* address the caller's pc was read from; 0: a register */
    uint64_t caller_sp_va;
};

struct unwind_stack {
    struct unwind_frame *frames; /* innermost first; see LIMIT_FRAMES */
    uint32_t frame_count;
    uint32_t left_out;     /* between frame LIMIT_FRAMES_HEAD - 1 and the next */
    enum stop_reason stop; /* why the walk ended; never STOP_NONE */
};

/* Read one number of the crashed process; false unless all its bytes are known. */
bool unwind_read_u32(const struct unwind_process *process, uint64_t va, uint32_t *out);
bool unwind_read_u64(const struct unwind_process *process, uint64_t va, uint64_t *out);

/* Reads BYTES bytes of code at VA; where the memory that is known ends before, half as many, and so
 * on. Returns how many. */
uint32_t unwind_read_code(const struct unwind_process *process, uint64_t va, uint8_t *code,
                          uint32_t bytes);

const char *unwind_where_name(enum unwind_where where); /* "prologue", ... */

#endif
