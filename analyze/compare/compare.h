/* Holds the stacks of a case against its truth and against each other.
 *
 * Rules, each of which a test holds:
 * - Stacks are aligned as sequences, so a missing frame leaves a gap and shifts nothing.
 * - The truth is held against the subsequence of `own` logical frames.  An own frame that
 *   the truth lacks is a wrong extra frame; other classes count only at the physical level.
 * - Files compare after '\' -> '/', relative to the case's source_root.
 * - A truth frame marked `tail` is demanded absent; marks (gaps) are not frames.
 * - Physical match: module identity, offset and kind are equal, up to each stack's stop;
 *   entries past RtlUserThreadStart are cut.
 * - Every difference is a finding with a cause and evidence; without one, UNEXPLAINED.
 * - Subjects decide the verdict; exhibits are scored and shown.
 * - Threads that were sampled more than once compare as sets: the best pair counts. */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include "base/arena.h"
#include "base/fault.h"
#include "model/result.h"

/* What compare may ask about symbols, to test a suspicion ("does pc instead of pc-1 give
 * that name?").  Any function may be NULL: then such a cause cannot be found. */
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
};

struct compare_input {
    const struct crash_case *crash; /* NULL: two stacks given by hand              */
    const struct truth *truth;      /* NULL: none was stated                       */
    const struct engine_claim *claims;
    uint32_t claim_count;                  /* at most CLAIMS_MAX */
    const struct compare_symbols *symbols; /* NULL: nothing can be asked          */
    const char *unsupported;               /* why this host cannot show it; NULL  */
    const char *harness_error;             /* the victim did not start, ...; NULL */
    uint32_t levels_ignored;               /* 1: lines decide nothing; 2: functions neither     */
};

/* Judges one case.  The result borrows the claims and the truth and lives in KEEP.
 * Fails: ERR_LIMIT too many claims; ERR_MEMORY. */
enum status compare_case(const struct compare_input *in, struct arena *keep,
                         struct case_result *out, struct fault *fault);

/* Names are equal up to the parameter list, without class/struct/enum/union and blanks; an
 * unqualified truth ("poke") equals a qualified name ("app::poke"). */
bool compare_names(const char *truth, const char *name);

/* Paths are equal after '\' -> '/', relative to ROOT (NULL: none), case folded. */
bool compare_files(const char *truth, const char *file, const char *root);

#endif
