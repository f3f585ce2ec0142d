/* What broke between two runs, in a few rows: the cases that newly fail, or fail differently,
 * grouped by cause, module and blame. */
#ifndef STUDY_CLUSTERS_H
#define STUDY_CLUSTERS_H

#include "base/json.h"
#include "model/difference.h"
#include "study/runs.h"

struct cluster {
    const char *cause;               /* of the finding that decided, else the verdict */
    const char *module, *blame;      /* "": unknown */
    const struct finding *finding;   /* that decided; NULL: none */
    const struct diff_case *example; /* the one with the shortest stacks */
    const char *reason;              /* of the example */
    struct case_history since;       /* of the example; at least: good in run A */
    uint32_t cases;
};

/* The clusters of DIFF, the largest first.  STORE gives `since`; if it does not have run B, only
 * runs A and B say since when.  Fails: ERR_MEMORY, ERR_IO. */
enum status clusters_make(struct store *store, const struct run_info *a, const struct run_info *b,
                          const struct run_diff *diff, struct arena *keep, struct cluster **out,
                          uint32_t *count, struct fault *fault);

/* An array of {cases, cause, module, blame, example: {scenario, variant, folder}, reason,
 * since: {run, commit}, before: {run, commit}}. */
void clusters_write_json(struct json *j, const struct cluster *clusters, uint32_t count);

#endif
