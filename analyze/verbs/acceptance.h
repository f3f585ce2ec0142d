/* Known mismatches as verbs use them: the file, and what it does to a run.  See compare/known.h. */
#ifndef VERBS_ACCEPTANCE_H
#define VERBS_ACCEPTANCE_H

#include "compare/known.h"
#include "store/store.h"

#define ACCEPTANCE_FILE "known.txt"

struct acceptance {
    const char *path, *text; /* text NULL: there is no file */
    size_t bytes;
    struct known_list list;
    uint32_t problems; /* expired or unused; filled by acceptance_apply */
};

/* Reads PATH; NULL: ACCEPTANCE_FILE if it exists.  A file that was named must exist. */
enum status acceptance_read(const char *path, struct arena *keep, struct acceptance *out,
                            struct fault *fault);

/* As acceptance_read, from the copy that a run keeps; NULL: it used none. */
enum status acceptance_parse(const char *text, struct arena *keep, struct acceptance *out,
                             struct fault *fault);

/* Applies it to all cases of a run that is still running, and writes the changed verdicts to
 * STORE (NULL: nowhere).  WHOLE: the run took every scenario.  Each problem is said on stderr and
 * counted: any of them fails the run. */
enum status acceptance_apply(struct acceptance *acceptance, struct store *store,
                             struct run_case *cases, uint32_t count, bool whole, struct arena *keep,
                             struct fault *fault);

#endif
