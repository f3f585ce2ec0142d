/* Judges a walk at every instruction (format/record/record_steps.h): how often each walker was
 * right, and how often our own unwinder is right for the same states.  On x86 it walks twice, with
 * the frame data of PDBs and without, as `ours` and `ours-no-pdb`: there that data is all that
 * describes a frame.
 *
 *   right  the frames are the truth, from the pc to the thread's start, and end there
 *   early  they are the truth, but the walk ended too early
 *   wrong  some frame is not in the truth
 *
 * Our unwinder must also have found every return address at the right place. */
#ifndef ENGINE_STEPS_SCORE_H
#define ENGINE_STEPS_SCORE_H

#include "base/json.h"
#include "format/record/record_steps.h"
#include "symbol/symbol_store.h"
#include "unwind/unwind.h"

enum { STEPS_TALLIES_MAX = RECORD_WALKER_COUNT + 2, STEPS_CODE_BYTES = 16 };

/* The first instruction that a walker got wrong. */
struct steps_miss {
    uint32_t step;
    uint64_t pc_va;
    const struct module *module; /* NULL: none */
    uint8_t code[STEPS_CODE_BYTES];
    uint32_t code_bytes; /* known from the pc on */
    uint64_t *truth, *claim;
    uint32_t truth_count, claim_count;
};

struct steps_tally {
    const char *walker; /* "ours", "ours-no-pdb", "rtl", "dbghelp", ... */
    uint32_t right, early, wrong;
    bool missed;             /* any early or wrong */
    struct steps_miss first; /* the first wrong step, else the first that ended early */
    bool first_is_wrong;
};

struct steps_verdict {
    uint32_t steps;
    enum cpu cpu;
    struct steps_tally tallies[STEPS_TALLIES_MAX]; /* ours first */
    uint32_t tally_count;
};

/* A file of steps, with the images of its modules in case the file lacks their bytes. */
struct steps_session;

/* SYMBOLS is borrowed; NULL: use only the packed memory. The session maps PATH and lives in KEEP.
 * Fails like steps_open. */
enum status steps_session_open(const char *path, struct symbol_store *symbols, struct arena *keep,
                               struct steps_session **out, struct fault *fault);
void steps_session_close(struct steps_session *session); /* NULL is fine */

/* Reads all steps once. Fails like steps_next; ERR_MEMORY. */
enum status steps_session_judge(struct steps_session *session, struct steps_verdict *out,
                                struct fault *fault);

/* Writes the moment before instruction INDEX as the draft of a case of a reference suite:
 * registers, those bytes of the stack that the walk reads, and as truth the calls that were
 * counted, as far as they are in the image of the instruction. The walkers that are right there are
 * its other witnesses. What only people know is left out: id, shape, position, rule, licence.
 * Nothing is read of the session afterwards. Fails: ERR_ABSENT no such instruction, or it is in no
 * module; like steps_session_judge(). */
enum status steps_session_draft(struct steps_session *session, uint32_t index, struct json *j,
                                struct fault *fault);

/* A state as a draft: see steps_session_draft(). Everything is valid during the call. */
struct steps_draft {
    uint32_t step;
    const struct module *module;
    const char *function; /* by the symbols beside the image; NULL: unknown */
    const char *position; /* "prologue", "body", "epilogue" or "leaf" */
    const char *json;     /* one object, and a line feed */
};
typedef enum status steps_draft_fn(void *context, const struct steps_draft *draft,
                                   struct fault *fault);

/* Steps that gave no draft, and why. */
struct steps_drafts {
    uint32_t steps;     /* all */
    uint32_t elsewhere; /* in a module whose image the symbols do not have */
    uint32_t outermost; /* without a caller in the image */
};

/* Calls EACH with the draft of every other state. Nothing is read of the session afterwards. Fails:
 * like steps_session_draft(); as EACH. */
enum status steps_session_drafts(struct steps_session *session, steps_draft_fn *each, void *context,
                                 struct steps_drafts *out, struct fault *fault);

/* After judging: rewrites the file with those image bytes that were read, so that it can be judged
 * without the images. Fails: ERR_IO, ERR_MEMORY. */
enum status steps_session_pack(struct steps_session *session, const char *path,
                               struct fault *fault);

#endif
