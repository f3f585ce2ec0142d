/* The checks of a gate while it decides. */
#ifndef STUDY_GATE_CHECK_H
#define STUDY_GATE_CHECK_H

#include "study/gate.h"

struct gate_session {
    const struct gate_request *request;
    struct arena *keep;
    struct gate *out;
};

/* Adds a check. When there is no room left, one that fails replaces the last one. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void gate_add(struct gate_session *s, const char *name, bool holds, const char *format, ...);

/* The checks against the baseline. Fails: as study_read_side. */
enum status gate_check_baseline(struct gate_session *s, struct store *store, struct fault *fault);

/* The limit on the times of the request's lanes, over the cases of DIFF that both runs have. Fails:
 * as figures_read_head(). */
enum status gate_check_lanes(struct gate_session *s, struct store *store,
                             const struct run_info *baseline, const struct run_diff *diff,
                             struct fault *fault);

#endif
