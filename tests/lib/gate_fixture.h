/* A gate over the newest run of a store fixture, and one of its checks. */
#ifndef GATE_FIXTURE_H
#define GATE_FIXTURE_H

#include <math.h>
#include <string.h>

#include "store_fixture.h"
#include "study/gate.h"

/* NULL: there is no such check. */
static inline const struct gate_check *check_of(const struct gate *gate, const char *name)
{
    for (uint32_t i = 0; i < gate->check_count; i++)
        if (strcmp(gate->checks[i].name, name) == 0)
            return &gate->checks[i];
    return NULL;
}

/* Decides on the latest run; limits of REQUEST that are not set are not asked for. */
static inline void decide(struct store_fixture *f, struct gate_request request, struct gate *out)
{
    request.min_capture = request.min_exact = request.min_f1 = (double)NAN;
    if (request.max_slowdown <= 0)
        request.max_slowdown = (double)NAN;
    REQUIRE(gate_decide(f->store, "latest", &request, &f->keep, out, &f->fault) == ERR_NONE);
}

#endif
