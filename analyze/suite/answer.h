/* What a contestant answered, judged by the truth of the case. */
#ifndef SUITE_ANSWER_H
#define SUITE_ANSWER_H

#include "suite/suite.h"

enum suite_outcome {
    SUITE_RIGHT, /* these three as enum walk_outcome */
    SUITE_EARLY,
    SUITE_WRONG,
    SUITE_CRASHED, /* the contestant ended, or says that its tool failed */
    SUITE_TIMEOUT,
    SUITE_GARBAGE, /* no answer to this question, in the form of the protocol */
    SUITE_UNSUPPORTED,
    SUITE_OUTCOMES
};

struct suite_answer {
    enum suite_outcome outcome;
    uint32_t first; /* of SUITE_EARLY, SUITE_WRONG: the frame where it parts from the truth */
    struct suite_walk walk; /* what it answered */
    uint32_t left_out;      /* frames after these that a result does not have */
    const char *words;      /* why: of the other outcomes; NULL */
};

/* "right", "early", ...: as in results. */
const char *suite_outcome_name(enum suite_outcome outcome);
bool suite_outcome_parse(const char *name, enum suite_outcome *out);

/* How good an outcome is: 0 right, 1 early or unsupported, 2 wrong, 3 no answer. */
int suite_outcome_rank(enum suite_outcome outcome);

/* Judges LINE, the answer to the question of C. A stack pointer that is absent or null is not
 * compared; a last frame with address 0 is an end, no frame. So is a name or line of an
 * address: an answer that leaves one out, or callers, is SUITE_EARLY. Texts live in KEEP. Fails:
 * ERR_MEMORY; a bad answer is no fault. */
enum status suite_answer_judge(const struct suite_case *c, const char *line, struct arena *keep,
                               struct suite_answer *out, struct fault *fault);

#endif
