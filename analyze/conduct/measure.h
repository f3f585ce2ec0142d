/* Times how long the stack of one thread takes on the back end. `run`, `check`, `regrade` and
 * `bench` all use these functions, so their figures mean the same. */
#ifndef CONDUCT_MEASURE_H
#define CONDUCT_MEASURE_H

#include "base/arena.h"
#include "base/fault.h"
#include "engine/engine.h"
#include "model/result.h"
#include "model/way.h"

/* One stack by WAY, not WAY_FOREIGN: that of the thread under suspicion, in IN's case. Its
 * file is opened each time, since that is a part of the cost. COLD opens the symbols of IN anew as
 * well, as a program does that has just started; otherwise they are used as they are. FIRST is COLD
 * with an empty cache, in a folder that is removed afterwards. OWN_ONLY
 * leaves the frames of system modules without names. OUT gets no own_ns, and STACK (may be NULL)
 * lives in WORK. Fails: as the engine of the way. */
struct measure_request {
    const struct engine_input *in;
    enum case_way way;
    bool cold, own_only, first;
};
enum status measure_once(const struct measure_request *request, struct arena *work,
                         struct way_parts *out, struct stack *stack, struct fault *fault);

/* Every way that a case allows, in rounds. Each round takes the ways in another order, so that none
 * always pays for caches that another fills; which way is first depends on the case as well. A cost
 * is that of the fastest round, because other programs can only add time. The files are read once
 * before, so they are in memory, and indexes of system modules exist. WAY_FOREIGN is that of
 * CLAIMS, whose programs answer once per case, after the others.
 *
 * Without an index, modules of the system are read in full (some 0.1 s), which does not depend on
 * the case: one case of MEASURE_FIRST_EVERY is measured so, chosen by its name.
 *
 * OUT is WAY_COUNT rows in KEEP. Fails: ERR_MEMORY; a way that fails has no frames. */
enum {
    MEASURE_ROUNDS = 6, /* even: as many in each half of the control */
    MEASURE_FIRST_ROUNDS = 2,
    MEASURE_FIRST_EVERY = 12
};
enum status measure_case(const struct engine_input *in, const struct engine_claim *claims,
                         uint32_t claim_count, struct arena *keep, struct way_cost **out,
                         struct fault *fault);

#endif
