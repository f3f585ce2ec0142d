/* See quantile.h. */
#include "base/quantile.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- a few places of a sort ------------------------------------------------------------- */

enum { LISTS = 256, FEW = 48 };

#define SIGN (UINT64_C(1) << 63)

/* A number that is ordered as VALUE. */
static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((bits & SIGN) != 0 ? UINT64_MAX : SIGN);
}

static double value_of(uint64_t key)
{
    double value;
    key ^= (key & SIGN) != 0 ? SIGN : UINT64_MAX;
    memcpy(&value, &key, sizeof value);
    return value;
}

/* The highest byte that differs parts the keys into lists; only those with places are parted again.
 * BEFORE: keys that are less than these. TO has as much room as KEYS. */
static void place_keys(uint64_t *keys, size_t count, const size_t *places, size_t place_count,
                       size_t before, uint64_t *to)
{
    size_t ends[LISTS + 1] = {0}; /* first their starts, one later */
    uint64_t differ = 0;
    unsigned shift = 56;
    for (size_t i = 0; i < count; i++)
        differ |= keys[i] ^ keys[0];
    if (count <= FEW || differ == 0) {
        array_sort_numbers(keys, count, sizeof *keys);
        return;
    }
    while (differ >> shift == 0)
        shift -= 8;
    for (size_t i = 0; i < count; i++)
        ends[(keys[i] >> shift & 0xff) + 1]++;
    for (size_t list = 1; list < LISTS; list++)
        ends[list] += ends[list - 1];
    for (size_t i = 0; i < count; i++)
        to[ends[keys[i] >> shift & 0xff]++] = keys[i];
    memcpy(keys, to, count * sizeof *keys);
    for (size_t i = 0, next; i < place_count; i = next) {
        const size_t list = keys[places[i] - before] >> shift & 0xff;
        const size_t from = list > 0 ? ends[list - 1] : 0;
        for (next = i + 1; next < place_count && places[next] - before < ends[list];)
            next++;
        place_keys(keys + from, ends[list] - from, places + i, next - i, before + from, to);
    }
}

void quantile_place(double *values, size_t count, const size_t *places, size_t place_count)
{
    uint64_t *keys = count > FEW ? malloc(2 * count * sizeof *keys) : NULL;
    if (keys == NULL) {
        if (count > 1)
            array_sort_doubles(values, count, sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(values[i]);
    place_keys(keys, count, places, place_count, 0, keys + count);
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(keys[i]);
    free(keys);
}
