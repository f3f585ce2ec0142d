/* See quantile.h. */
#include "base/quantile.h"

#include <math.h>

#include "base/array.h"

double quantile_of_sorted(const double *values, size_t count, double q)
{
    if (count == 0)
        return (double)NAN;
    const double at = q * (double)(count - 1);
    const size_t below = (size_t)at;
    const size_t above = below + 1 < count ? below + 1 : below;
    return values[below] + (values[above] - values[below]) * (at - (double)below);
}

double quantile_of(double *values, size_t count, double q)
{
    if (count > 1)
        array_sort_doubles(values, count, sizeof *values);
    return quantile_of_sorted(values, count, q);
}

double quantile_median(double *values, size_t count)
{
    return quantile_of(values, count, 0.5);
}
