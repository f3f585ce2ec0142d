/* The input of a comparison: a case, its truth, the claims, and a source of symbols. */
#ifndef COMPARE_INPUT_H
#define COMPARE_INPUT_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/result.h"

enum { SYMBOLS_ASKED_MAX = 64 }; /* frames of one address that a comparison asks for */

/* Symbol queries that test a possible cause ("does pc instead of pc-1 give that name?"). Any
 * function may be NULL; causes that need it are then never found. */
struct compare_symbols {
    void *context;
    /* Logical frames at OFFSET of FRAME's module, innermost first; returns their number.
     * Fills function, file, line and inline_depth. */
    uint32_t (*at)(void *context, const struct frame *frame, uint64_t offset, struct frame *out,
                   uint32_t max);
    /* True when NAME is another name of the function that FRAME lies in (folded, thunk). */
    bool (*alias)(void *context, const struct frame *frame, const char *name);
    /* The lines that the module's line table gives to FRAME's address; returns their number. */
    uint32_t (*lines)(void *context, const struct frame *frame, uint32_t *out, uint32_t max);
    /* Where a file of symbols for FRAME's module was looked for, in KEEP; NULL: one was found. */
    const char *(*sought)(void *context, const struct frame *frame, struct arena *keep);
};

struct compare_input {
    const struct crash_case *crash; /* NULL: the two stacks were given directly */
    const struct truth *truth;      /* NULL: none was stated                       */
    const struct engine_claim *claims;
    uint32_t claim_count;                  /* at most CLAIMS_MAX */
    const struct compare_symbols *symbols; /* NULL: no symbols          */
    const char *unsupported;               /* why this host cannot run it; NULL: it can */
    const char *harness_error;             /* the victim did not start, ...; NULL */
    const char *output;                    /* everything that the program printed; NULL: unknown */
    const char *record_fault;              /* how the record contradicts itself; NULL: not */
    uint32_t levels_ignored;               /* 1: ignore lines; 2: ignore functions too */
};

/* An outside program may print the base names of source files only. */
static inline bool claim_prints_base_names(const struct engine_claim *claim)
{
    return claim->kind == ENGINE_KIND_JUDGE;
}

#endif
