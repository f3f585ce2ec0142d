/* A walk at every instruction while it is read: what its files share. */
#ifndef ENGINE_STEPS_SESSION_H
#define ENGINE_STEPS_SESSION_H

#include "base/files.h"
#include "base/walk_compare.h"
#include "engine/steps_score.h"
#include "format/pe/pe.h"

enum { STEPS_WORD_BYTES = 8 }; /* of the stack bytes of a draft */

struct steps_image {
    bool asked, open;
    struct pe pe;
    uint8_t *touched; /* one bit for each line that was read; NULL: none yet */
};

struct steps_session {
    struct file_map map;
    struct fault *fault; /* of the current call */
    struct steps steps;
    struct symbol_store *symbols;
    struct steps_image *images; /* one for each module */
    struct arena *keep;
    struct arena scratch; /* for one walk */
    bool without_pdb;     /* in the current walk */
    uint8_t *stack_read;  /* one bit for each word of the stack that was read; NULL: not noted */
    struct unwind_process process;
};

/* One claimed stack for one step. */
struct claim {
    const struct step_walk *walk;      /* of a walker, or */
    const struct unwind_stack *unwind; /* ours             */
    uint32_t count;
};

const struct module *steps_module_at(const struct steps_session *session, uint64_t va);

/* Notes which words of the stack were read, if that is asked for. */
void steps_note_stack(struct steps_session *session, uint64_t va, size_t bytes);

/* How good the claim is at the current step. */
enum walk_outcome steps_outcome(struct steps_session *session, const struct claim *claim);

#endif
