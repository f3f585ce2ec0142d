/* A number that was measured many times: its middle, how sure that is, how far single values are
 * from it. Every time, size and ratio of a run or of a bench that a face shows is made here. */
#ifndef STUDY_MEASUREMENT_H
#define STUDY_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/metric.h"

/* NaN: not known; all of it when N is 0. */
struct measurement {
    size_t n;                /* values that count; 0 is none */
    double value;            /* median */
    double low, high;        /* 95 % interval of VALUE, by bootstrap */
    double least, p90, most; /* of the values */
};

extern const struct measurement measurement_none;

bool measurement_is_few(const struct measurement *m);

/* Of the cases of a run; VALUES change their order. */
struct measurement measurement_of_cases(double *values, size_t count);

/* Of the rounds of a bench. SCRATCH has room for COUNT + 1 more. */
struct measurement measurement_of_rounds(const double *values, size_t count, double *scratch);

/* The members "count", "median", "least", "p90" and "most". */
void measurement_write_json(struct json *j, const struct measurement *m);

#endif
