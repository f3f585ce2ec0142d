/* How sure the ratio of two ways is, over the cases that both have. */
#ifndef COMPARE_BOOTSTRAP_H
#define COMPARE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/difference.h"

/* One case by both ways. Repeats of a case have its UNIT; kinds of cases that every such run has in
 * the same number are a STRATUM. */
struct ratio_pair {
    double a, b; /* above 0 */
    uint64_t stratum, unit;
};

/* Sorts PAIRS by stratum and unit; returns the number of units. */
size_t ratio_pairs_sort(struct ratio_pair *pairs, size_t count);

/* median(a) / median(b) over the same pairs, which are sorted, with its 95 % interval, for the
 * ratio of all cases of these kinds: drawn are of each stratum as many units as it has, and of each
 * unit as many pairs as it has. Bootstrap, seeded, so that the same input has the same interval. A
 * single unit has no interval (NaN); no pair has no ratio. */
struct interval ratio_pairs_bootstrap(const struct ratio_pair *pairs, size_t count);

/* The same as an interval for the ratio of another measurement, of as many other cases: that varies
 * as much as the first one, so this interval is wider by the root of two (of logarithms). */
struct interval ratio_of_another(struct interval ratio);

#endif
