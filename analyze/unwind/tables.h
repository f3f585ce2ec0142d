/* What the unwinders learn about modules from their headers, once for each module of a process. */
#ifndef UNWIND_TABLES_H
#define UNWIND_TABLES_H

#include "unwind/dead_process.h"

/* Shared by all walks of one process: see struct unwind_process.  Lives in KEEP.  NULL: no
 * memory. */
struct unwind_tables *unwind_tables_new(struct arena *keep);

enum { UNWIND_CODE_RANGES_MAX = 96, UNWIND_PDATA_MAX = 1 << 24 };

struct unwind_range {
    uint32_t begin_rva, end_rva;
};

/* What the CHPE metadata of an image with ARM64EC code says (see hybrid.h); empty: no such image.
 */
struct unwind_hybrid {
    uint32_t map_rva, map_count;     /* which ranges are of which processor */
    uint32_t pdata_rva, pdata_bytes; /* rows for the processor that the header does not name */
};

/* What is known about one module from its headers, from memory or from the image. */
struct unwind_module {
    const struct module *module;
    bool has_headers, is_x86;
    bool knows_code;      /* all executable sections are in `code`      */
    bool lacks_exports;   /* ntdll.dll, whose exports cannot be read */
    bool knows_pdata;     /* the headers say where .pdata is, or that there is none */
    uint32_t entry_bytes; /* of a row of .pdata: 12 (x64), 8 (arm64); 0: other processors */
    uint32_t pdata_rva, pdata_count;
    struct unwind_hybrid hybrid;
    struct unwind_range code[UNWIND_CODE_RANGES_MAX]; /* executable sections */
    uint32_t code_count;
    struct unwind_range exceptions; /* KiUserExceptionDispatcher; empty: not in this module */
    struct unwind_range apcs;       /* x86: KiUserApcDispatcher; empty: not in this module */
    struct unwind_range frames;     /* x86: `.eh_frame`; empty: none */
    uint32_t preferred_base_va;     /* x86: from the headers */
};

/* NULL only when out of memory. */
const struct unwind_module *unwind_module_of(const struct unwind_process *process,
                                             const struct module *module);

/* The processor of the code at VA in MODULE, which may be NULL; CPU_UNKNOWN: no header says it. */
enum cpu unwind_code_cpu(const struct unwind_process *process, const struct module *module,
                         uint64_t va);

/* The call frame information of an x86 image, read on first use; NULL: none. */
struct cfi_table;
const struct cfi_table *unwind_cfi_of(const struct unwind_process *process,
                                      const struct module *module);

/* The same in the file of an image of another system. */
const struct cfi_table *unwind_image_cfi_of(const struct unwind_process *process,
                                            const struct module *module);

/* How many rows of ENTRY_BYTES the module has; see unwind_pdata_find(). */
uint32_t unwind_pdata_count(const struct unwind_module *module, uint32_t entry_bytes);

/* What .pdata says about an address. UNREADABLE differs from NONE: there may be an entry. */
enum unwind_row { UNWIND_ROW_NONE, UNWIND_ROW_FOUND, UNWIND_ROW_UNREADABLE };

/* Finds the RUNTIME_FUNCTION that covers RVA. ENTRY_BYTES is 12 (x64) or 8 (arm64, where the entry
 * does not hold the end: the last entry at or before RVA is returned, with end_rva 0). */
enum unwind_row unwind_pdata_find(const struct unwind_process *process,
                                  const struct unwind_module *module, uint32_t rva,
                                  uint32_t entry_bytes, struct unwind_entry *out);

bool unwind_in_range(const struct unwind_range *range, uint64_t rva);

#endif
