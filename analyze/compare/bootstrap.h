/* How sure the ratio of two ways is, over the cases that both have. */
#ifndef COMPARE_BOOTSTRAP_H
#define COMPARE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/difference.h"

/* One case by both ways. Cases that say the same have one GROUP: builds of a scenario and their
 * repeats, whose ratios rise and fall together, so that another build is nothing new. Kinds of
 * groups that every such run has in the same number are a STRATUM. */
struct ratio_pair {
    double a, b; /* above 0 */
    uint64_t stratum, group;
};

/* Sorts PAIRS by stratum and group; returns the number of groups. */
size_t ratio_pairs_sort(struct ratio_pair *pairs, size_t count);

/* median(a) / median(b) over the same pairs, which are sorted, with its 95 % interval, for the
 * ratio of all cases of these kinds: drawn are of each stratum as many groups as it has, each with
 * all its pairs. Bootstrap, seeded, so that the same input has the same interval. A single group
 * has no interval (NaN); no pair has no ratio. */
struct interval ratio_pairs_bootstrap(const struct ratio_pair *pairs, size_t count);

/* The same as an interval for the ratio of another measurement, of as many other cases: that varies
 * as much as the first one, so this interval is wider by the root of two (of logarithms). */
struct interval ratio_of_another(struct interval ratio);

#endif
