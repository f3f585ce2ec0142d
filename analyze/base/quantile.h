/* Medians and quantiles: the one definition, for figures in memory and for those that the database
 * makes of its rows. */
#ifndef BASE_QUANTILE_H
#define BASE_QUANTILE_H

#include <stddef.h>

/* Linear between the two values around Q, 0 <= Q <= 1. NaN when COUNT is 0. */
double quantile_of_sorted(const double *values, size_t count, double q);

/* Sort VALUES in place. */
double quantile_of(double *values, size_t count, double q);
double quantile_median(double *values, size_t count);

/* Puts at PLACES, which ascend, what a sort would put there; the other values may be anywhere. A
 * quarter of the instructions of a sort. Of few values all are sorted. */
void quantile_place(double *values, size_t count, const size_t *places, size_t place_count);

#endif
