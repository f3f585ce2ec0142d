/* Medians and their intervals: see measurement.h. */
#include "study/measurement.h"

#include <math.h>

#include "base/array.h"
#include "base/quantile.h"
#include "compare/statistics.h"

#define UNKNOWN ((double)NAN)

const struct measurement measurement_none = {.value = UNKNOWN,
                                             .low = UNKNOWN,
                                             .high = UNKNOWN,
                                             .least = UNKNOWN,
                                             .p90 = UNKNOWN,
                                             .most = UNKNOWN};

bool measurement_is_few(const struct measurement *m)
{
    return m->n > 0 && m->n < MEASUREMENT_LEAST;
}

struct measurement measurement_of_cases(double *values, size_t count)
{
    struct measurement out = measurement_none;
    if (count == 0)
        return out;
    const size_t last = count - 1, median = last / 2, high = (size_t)(0.9 * (double)last);
    const size_t places[] = {0, median, median + (median < last), high, high + (high < last), last};
    quantile_place(values, count, places, COUNT_OF(places));
    out.n = count;
    out.value = quantile_of_sorted(values, count, 0.5);
    out.least = values[0];
    out.p90 = quantile_of_sorted(values, count, 0.9);
    out.most = values[count - 1];
    return out;
}

struct measurement measurement_of_rounds(const double *values, size_t count, double *scratch)
{
    static const double one = 1;
    struct measurement out = measurement_none;
    if (count == 0)
        return out;
    const struct interval median = statistics_ratio(values, count, &one, 1, 1, scratch);
    out.n = count;
    out.value = median.value;
    out.low = median.low;
    out.high = median.high;
    return out;
}

void measurement_write_json(struct json *j, const struct measurement *m)
{
    json_key_uint(j, "count", m->n);
    json_key_number(j, "median", m->value);
    json_key_number(j, "least", m->least);
    json_key_number(j, "p90", m->p90);
    json_key_number(j, "most", m->most);
}
