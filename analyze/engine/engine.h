/* An engine claims stacks for a case. Engines never call each other and never see a case's truth;
 * each states what it shares with the others, because agreement means something only between
 * independent engines. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "engine/opened.h"
#include "model/result.h"
#include "model/stack.h"

struct symbol_store; /* symbol/symbol_store.h */
struct judge_pool;   /* engine/judge_pool.h */

struct engine_input {
    const struct opened_case *opened;
    struct symbol_store *symbols; /* borrowed; caches across cases */
    const char *const *launcher;  /* argv prefix that runs Windows programs ("wine"); NULL: none */
    const char *judge_folder;     /* where the judges' Windows programs are; NULL */
    struct judge_pool *judges;    /* borrowed; NULL: each question starts a judge's program */
};

struct engine_result {
    struct stack *stacks; /* suspect first; for hangs every thread */
    uint32_t stack_count;
    struct engine_cost cost;
    const char *version; /* see struct engine_claim */
    const char *why; /* of a failure: how a judge's program ended and what it printed; or NULL */
    bool warm;       /* a judge that had answered before: its time does not include a start */
};

struct engine {
    const char *name; /* stable: printed, stored, in URLs: "offset:rtl", "dump", "judge:..." */
    enum engine_kind kind;
    const char *shares; /* our code that other engines use too, in words */
    uint32_t parts;     /* the same as flags, for votes: enum engine_share */
    bool subject;       /* decides verdict and exit code; else a reference engine */
    uint32_t walker;    /* of ENGINE_KIND_OFFSET: RECORD_WALKER_*; else 0 */
    /* False: reported as skipped, with why. Why NULL: it does not concern the case, which then does
     * not list it. */
    bool (*available)(const struct engine *self, const struct engine_input *in, const char **why);
    /* Starts the judge's program, without a case: ready means that it runs here. NULL: `available`
     * says all. Fails: ERR_IO, with what the program printed. */
    enum status (*starts)(const struct engine *self, const struct engine_input *in,
                          struct arena *keep, struct fault *fault);
    /* A stack that the case does not have (walker not applicable) is returned as a stack with that
     * state, not as a fault. Results live in KEEP. */
    enum status (*run)(const struct engine *self, const struct engine_input *in, struct arena *keep,
                       struct engine_result *out, struct fault *fault);
};

#endif
