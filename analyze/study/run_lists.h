/* The short lists of a run: what named its frames, the differences in its cases, and how many cases
 * each acceptance covers. Each counts the whole run, however large. */
#ifndef STUDY_RUN_LISTS_H
#define STUDY_RUN_LISTS_H

#include "model/known.h"
#include "study/runs.h"
#include "study/triage.h"

/* The frames of one module, and the kinds of symbols that named them, the best first. */
struct named_module {
    const char *module, *code_id, *debug_id; /* as in struct symbol_row */
    uint64_t frames, inlined;
    struct symbol_row *sources;
    uint32_t source_count;
};

/* ROWS by module and identity, in the order of first appearance. Borrows the texts of ROWS; the
 * list lives in KEEP. Fails: ERR_MEMORY. */
enum status named_modules_make(const struct symbol_row *rows, uint32_t count, struct arena *keep,
                               struct named_module **out, uint32_t *out_count, struct fault *fault);

/* An array of {module, code_id, debug_id, frames, inlined, sources: [{symbols, frames, inlined}]}.
 */
void named_modules_write_json(struct json *j, const struct named_module *modules, uint32_t count);

/* ROWS with all builds of a module and all its kinds of symbols added up, most frames first: one
 * row per module and kind, without identities. A row without a module is "(no module)". Fails:
 * ERR_MEMORY. */
enum status symbol_rows_sum(const struct symbol_row *rows, uint32_t count, struct arena *keep,
                            struct symbol_row **out, uint32_t *out_count, struct fault *fault);

enum { DIFFERENCE_EXAMPLES = 5, DIFFERENCE_SIGNATURES = 5 };

/* A group of failing or accepted cases of a run, by mechanism and place (failures.h), of which some
 * have a signature. */
struct case_difference {
    const struct failure *failure;
    const struct triage_item *examples[DIFFERENCE_EXAMPLES]; /* of each name one, by name */
    struct difference_signature {
        const char *text;
        uint32_t cases;
    } signatures[DIFFERENCE_SIGNATURES]; /* most cases first */
    uint32_t example_count, signature_count;
    uint32_t signatures_left; /* signatures that are not among these */
    const char *known_id;     /* of the first example, if it is accepted; NULL: none */
    uint32_t rank_before;     /* 1: most cases; 0: the complete run before did not have it */
};

/* The differences of the run of TRIAGE, most cases first. They borrow TRIAGE; lists are in KEEP.
 * Fails: as the database. */
enum status case_differences_make(struct store *store, const struct triage *triage,
                                  struct arena *keep, struct case_difference **out, uint32_t *count,
                                  struct fault *fault);

/* (*out)[i]: how many cases of run RUN_ID the acceptance LIST->items[i] covers. Fails: as the
 * database. */
enum status acceptance_hits(struct store *store, uint64_t run_id, const struct known_list *list,
                            struct arena *keep, uint32_t **out, struct fault *fault);

#endif
