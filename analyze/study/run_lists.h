/* The short lists of a run: what named its frames, the signatures of its cases, and how many cases
 * each acceptance covers. Each counts the whole run, however large. */
#ifndef STUDY_RUN_LISTS_H
#define STUDY_RUN_LISTS_H

#include "model/known.h"
#include "study/runs.h"

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

/* The cases of a run with one signature. */
struct case_signature {
    const struct run_case *cases; /* without claims and scores */
    uint32_t case_count;
    uint64_t first_run;   /* the first run of the database that has it; 0: unknown */
    uint32_t rank_before; /* 1: most cases; 0: the complete run before did not have it */
};

/* The signatures of run RUN_ID, most cases first. Fails: as the database. */
enum status case_signatures_make(struct store *store, uint64_t run_id, struct arena *keep,
                                 struct case_signature **out, uint32_t *count, struct fault *fault);

/* (*out)[i]: how many cases of run RUN_ID the acceptance LIST->items[i] covers. Fails: as the
 * database. */
enum status acceptance_hits(struct store *store, uint64_t run_id, const struct known_list *list,
                            struct arena *keep, uint32_t **out, struct fault *fault);

#endif
