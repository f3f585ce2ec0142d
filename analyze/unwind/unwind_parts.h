/* Private to the unwinders: what their files share. */
#ifndef UNWIND_PARTS_H
#define UNWIND_PARTS_H

#include "unwind/unwind.h"

enum { UNWIND_CODE_RANGES_MAX = 96, UNWIND_PDATA_MAX = 1 << 24 };

struct unwind_range {
    uint32_t begin_rva, end_rva;
};

/* What is known of one module from its headers, wherever they were read. */
struct unwind_module {
    const struct module *module;
    bool has_headers, is_x86;
    bool knows_code;  /* all executable sections are in `code`      */
    bool knows_pdata; /* the headers say where .pdata is, or that there is none */
    uint32_t pdata_rva, pdata_count;
    struct unwind_range code[UNWIND_CODE_RANGES_MAX]; /* executable sections */
    uint32_t code_count;
    struct unwind_range exceptions; /* KiUserExceptionDispatcher; empty: not here */
    struct unwind_range apcs;       /* x86: KiUserApcDispatcher; empty: not here */
    struct unwind_range frames;     /* x86: `.eh_frame`; empty: none */
    uint32_t preferred_base_va;     /* x86: as the headers say */
};

/* Never NULL for a module while memory lasts. */
const struct unwind_module *unwind_module_of(const struct unwind_process *process,
                                             const struct module *module);

/* The call frame information of an x86 image, read when it is first asked for; NULL: none. */
struct cfi_table;
const struct cfi_table *unwind_cfi_of(const struct unwind_process *process,
                                      const struct module *module);

/* What .pdata says of an address.  UNREADABLE is not NONE: nobody knows whether there is a row. */
enum unwind_row { UNWIND_ROW_NONE, UNWIND_ROW_FOUND, UNWIND_ROW_UNREADABLE };

/* The RUNTIME_FUNCTION that covers RVA; ENTRY_BYTES 12 (x64) or 8 (arm64, where the end is not
 * in the row: the last row at or before RVA is given, end_rva 0). */
enum unwind_row unwind_pdata_find(const struct unwind_process *process,
                                  const struct unwind_module *module, uint32_t rva,
                                  uint32_t entry_bytes, struct unwind_entry *out);

/* One walk in progress. */
struct unwind_walker {
    const struct unwind_process *process;
    struct registers regs;        /* of the frame that is being left, then of its caller */
    struct unwind_frame *frame;   /* that is being left: steps explain themselves here   */
    enum pc_kind caller_kind;     /* of the caller's pc                                   */
    enum found_by caller_found;   /* how the caller was found                             */
    const char *caller_note;      /* goes to the caller's frame                           */
    uint32_t crossings;           /* machine frames and dispatchers passed so far         */
    uint32_t callee_params_bytes; /* x86: arguments of the frame below                    */
    bool callee_takes_params;     /* x86: they are known to go with it (`ret n`)          */
};

/* One step: turns regs into the caller's.  NULL, or why there is none. */
enum stop_reason unwind_step_x64(struct unwind_walker *w);
enum stop_reason unwind_step_x86(struct unwind_walker *w);
enum stop_reason unwind_step_arm64(struct unwind_walker *w);

/* x86: from a frame in one of ntdll's dispatchers to what the kernel interrupted (see
 * x86_dispatch.c).  False: no CONTEXT is in reach. */
bool unwind_x86_dispatcher(struct unwind_walker *w);

/* x86: leaves a frame by the call frame information of its image.  False: there is none, or it
 * leads nowhere.  The frame has a module. */
bool unwind_x86_cfi(struct unwind_walker *w);

/* x86: carries out the rest of an epilogue that stands at the pc (see x86_code.c); PDB, which may
 * be NULL, tells where the function ends.  False: there is none. */
bool unwind_x86_epilogue(struct unwind_walker *w, struct pdb *pdb);

/* x86: leaves a frame whose pc stands in `push ebp; mov ebp, esp`.  False: it does not. */
bool unwind_x86_prologue(struct unwind_walker *w);

/* Reads numbers of the dead process. */
bool unwind_read_u32(const struct unwind_process *process, uint64_t va, uint32_t *out);
bool unwind_read_u64(const struct unwind_process *process, uint64_t va, uint64_t *out);
bool unwind_read_pointer(const struct unwind_walker *w, uint64_t va, uint64_t *out);

/* True when VA can be a return address: code of a module, behind a call where its bytes are
 * known; or generated code. */
bool unwind_is_return(const struct unwind_walker *w, uint64_t va);

bool unwind_in_range(const struct unwind_range *range, uint64_t rva);

/* True when VA lies in an executable section (or in a module whose sections are unknown), or in
 * generated code. */
bool unwind_is_code(const struct unwind_walker *w, uint64_t va);

/* Pops one return address at sp: what a leaf does, and what is done for a pc that lies nowhere. */
enum stop_reason unwind_pop(struct unwind_walker *w, enum found_by found_by, const char *note);

/* Takes FP as a chained frame pointer: {caller's fp, return address}.  False when it is none. */
bool unwind_frame_pointer(struct unwind_walker *w, uint32_t fp_register);

/* A code address as it was saved: on arm64 without what pointer authentication put above it. */
uint64_t unwind_strip(const struct unwind_walker *w, uint64_t va);

/* Looks for a return address on the stack: the last resort, and not taken in generated code. */
enum stop_reason unwind_scan(struct unwind_walker *w);

extern const char unwind_note_pdata[]; /* "pdata unreadable" */

#endif
