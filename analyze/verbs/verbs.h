/* The verbs, in the order in which a user needs them, which is that of `--help`. ROW(NAME) means
 * verb_NAME, which is in verb_NAME.c; each is declared here and a row of the table in verbs.c. */
#ifndef VERBS_VERBS_H
#define VERBS_VERBS_H

#include "verbs/verb.h"

#define VERBS(ROW)                                                                                 \
    ROW(list)                                                                                      \
    ROW(run)                                                                                       \
    ROW(resolve)                                                                                   \
    ROW(symbols)                                                                                   \
    ROW(dump)                                                                                      \
    ROW(check)                                                                                     \
    ROW(case)                                                                                      \
    ROW(doctor)                                                                                    \
    ROW(serve)                                                                                     \
    ROW(report)                                                                                    \
    ROW(accept)                                                                                    \
    ROW(known)                                                                                     \
    ROW(review)                                                                                    \
    ROW(compare)                                                                                   \
    ROW(gate)                                                                                      \
    ROW(baseline)                                                                                  \
    ROW(db)                                                                                        \
    ROW(cache)                                                                                     \
    ROW(regrade)                                                                                   \
    ROW(bench)                                                                                     \
    ROW(signatures)                                                                                \
    ROW(worker)                                                                                    \
    ROW(reduce)                                                                                    \
    ROW(queue)                                                                                     \
    ROW(steps)                                                                                     \
    ROW(score)                                                                                     \
    ROW(suite)                                                                                     \
    ROW(version)                                                                                   \
    ROW(help)                                                                                      \
    ROW(completion)

#define VERB_DECLARATION(NAME) extern const struct verb verb_##NAME;
VERBS(VERB_DECLARATION)

#endif
