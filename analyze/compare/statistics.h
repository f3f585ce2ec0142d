/* The few statistics that verdicts and reports need, each against known values in tests. */
#ifndef COMPARE_STATISTICS_H
#define COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/difference.h"

#define STATISTICS_SMALLEST_EFFECT 0.03 /* a smaller change of times is none */
#define STATISTICS_SIGNIFICANT 0.01     /* the probability that a change must be below */
#define STATISTICS_MOST_NOISE 0.25      /* above it, "no change" cannot be said */

/* Wilson's 95 % score interval of RIGHT out of TOTAL; 0..1 when TOTAL is 0. */
struct interval statistics_wilson(uint64_t right, uint64_t total);

/* The median with its 95 % interval by order statistics, which holds whatever the shape of the
 * values is. They are sorted in place. UNITS: how many of them are independent, for instance
 * without repeats. */
struct interval statistics_median_interval(double *values, size_t count, size_t units);

/* Two-sided Mann-Whitney U: the probability of so large a difference by chance.  Exact for
 * up to 20 samples per side without ties, else the normal approximation with tie and continuity
 * corrections.  1 when either side is empty or all values are equal. */
double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

/* Bootstrap 95 % interval of quantile_median(A) / quantile_median(B), 2,000 resamples, seeded by
 * SEED so that the same input gives the same interval.  Scratch holds a_count + b_count numbers. */
struct interval statistics_ratio(const double *a, size_t a_count, const double *b, size_t b_count,
                                 uint64_t seed, double *scratch);

/* Two-sided Wilcoxon signed-rank test of pairs: the probability that the logarithms of NOW[i] /
 * BEFORE[i] are so far from 0 by chance. For the same cases measured twice: cases that are a
 * hundred times slower than others do not hide the others. Exact up to 25 pairs without ties, else
 * the normal approximation. All values are above 0; 1 when there is no pair that differs. */
double statistics_signed_rank(const double *before, const double *now, size_t count);

/* Q3 + 3 IQR of a history: a value above it is unusual. Infinity for fewer than 4 values. */
double statistics_fence(const double *history, size_t count, double *scratch);

double statistics_geometric_mean(const double *values, size_t count);

/* Where a series in time changes its level: the number of values before the change, with at least
 * LEAST values on each side; 0: nowhere.  Of all places, the one whose sides differ most by ranks
 * (Mann-Whitney, ties corrected); it counts only if chance would give so large a difference at any
 * of the COUNT places with a probability under 0.01.  Scratch holds COUNT numbers. */
size_t statistics_change_point(const double *values, size_t count, size_t least, double *p,
                               double *scratch);

/* Slower or faster only with p < 0.01 and an effect above max(3 %, NOISE, FENCE). */
struct change_verdict statistics_change(const double *before, size_t before_count,
                                        const double *now, size_t now_count, double noise,
                                        double fence, double *scratch);

/* As statistics_change for pairs: the effect is the median of now / before, less 1, and the test
 * is of pairs.  Scratch holds COUNT numbers. */
struct change_verdict statistics_change_paired(const double *before, const double *now,
                                               size_t count, double noise, double fence,
                                               double *scratch);

/* "No change" becomes "too noisy" where the measured NOISE is above STATISTICS_MOST_NOISE. */
void statistics_admit_noise(struct change_verdict *verdict, double noise);

/* How many pairs whose ratios have the SPREAD (a sigma) show a change of EFFECT with
 * p < STATISTICS_SIGNIFICANT in four of five tries; at least STATISTICS_MIN_SAMPLES. */
uint64_t statistics_samples_for(double spread, double effect);

/* A history's fence over its median, less 1: how much runs usually vary. 0: fewer than 4 values. */
double statistics_fence_share(const double *history, size_t count, double *scratch);

#endif
