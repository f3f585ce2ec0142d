/* See bootstrap.h. */
#include "compare/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quantile.h"

/* More cases make an interval narrower, and a round slower, so they need fewer rounds. */
enum { ROUNDS_MOST = 2000, ROUNDS_LEAST = 200, DRAWS = 1000000 };

ARRAY_ORDER_2(by_group, struct ratio_pair, stratum, group)

static bool is_same_group(const struct ratio_pair *x, const struct ratio_pair *y)
{
    return x->stratum == y->stratum && x->group == y->group;
}

size_t ratio_pairs_sort(struct ratio_pair *pairs, size_t count)
{
    size_t groups = 0;
    if (count > 0)
        qsort(pairs, count, sizeof *pairs, by_group);
    for (size_t i = 0; i < count; i++)
        groups += i == 0 || !is_same_group(&pairs[i - 1], &pairs[i]);
    return groups;
}

/* A number and the pair that it is of. */
struct placed {
    double value;
    uint32_t pair;
};

struct resampling {
    const struct ratio_pair *pairs;
    size_t count, groups;
    uint32_t *starts;     /* of each group in pairs; the last is the end */
    uint32_t *weights;    /* how often each pair was drawn */
    struct placed *a, *b; /* sorted */
    uint64_t state;
};

/* xorshift64*, as in statistics.c. */
static size_t draw(struct resampling *r, size_t below)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return (size_t)(((r->state * 2685821657736338717u) >> 33) % below);
}

/* The median of values that were drawn so many times, TOTAL in all. */
static double weighted_median(const struct resampling *r, const struct placed *sorted, size_t total)
{
    size_t below = 0, at = 0;
    while (below + r->weights[sorted[at].pair] <= (total - 1) / 2)
        below += r->weights[sorted[at++].pair];
    const double low = sorted[at].value;
    while (below + r->weights[sorted[at].pair] <= total / 2)
        below += r->weights[sorted[at++].pair];
    return (low + sorted[at].value) / 2;
}

/* Draws as many groups of each stratum as it has; returns how many pairs were drawn. */
static size_t resample(struct resampling *r)
{
    size_t total = 0;
    memset(r->weights, 0, r->count * sizeof *r->weights);
    for (size_t first = 0, end = 0; first < r->groups; first = end) {
        const uint64_t stratum = r->pairs[r->starts[first]].stratum;
        while (end < r->groups && r->pairs[r->starts[end]].stratum == stratum)
            end++;
        for (size_t i = first; i < end; i++) {
            const size_t group = first + draw(r, end - first);
            for (size_t k = r->starts[group]; k < r->starts[group + 1]; k++)
                r->weights[k]++;
            total += r->starts[group + 1] - r->starts[group];
        }
    }
    return total;
}

static void set_up(struct resampling *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        r->a[i] = (struct placed){r->pairs[i].a, i};
        r->b[i] = (struct placed){r->pairs[i].b, i};
        r->weights[i] = 1;
        if (i == 0 || !is_same_group(&r->pairs[i - 1], &r->pairs[i]))
            r->starts[r->groups++] = i;
    }
    r->starts[r->groups] = (uint32_t)r->count;
    array_sort_doubles(r->a, r->count, sizeof *r->a);
    array_sort_doubles(r->b, r->count, sizeof *r->b);
}

static void bounds(struct resampling *r, struct interval *out)
{
    size_t rounds = DRAWS / r->count;
    if (rounds > ROUNDS_MOST)
        rounds = ROUNDS_MOST;
    else if (rounds < ROUNDS_LEAST)
        rounds = ROUNDS_LEAST;
    double *ratios = malloc(rounds * sizeof *ratios);
    if (ratios == NULL)
        return;
    for (size_t i = 0; i < rounds; i++) {
        const size_t total = resample(r);
        ratios[i] = weighted_median(r, r->a, total) / weighted_median(r, r->b, total);
    }
    out->low = quantile_of(ratios, rounds, 0.025);
    out->high = quantile_of(ratios, rounds, 0.975);
    free(ratios);
}

struct interval ratio_pairs_bootstrap(const struct ratio_pair *pairs, size_t count)
{
    struct interval out = {(double)NAN, (double)NAN, (double)NAN};
    struct resampling r = {.pairs = pairs,
                           .count = count,
                           .starts = malloc((count + 1) * sizeof *r.starts),
                           .weights = malloc((count + 1) * sizeof *r.weights),
                           .a = malloc((count + 1) * sizeof *r.a),
                           .b = malloc((count + 1) * sizeof *r.b),
                           .state = 88172645463325252u};
    if (count > 0 && count < UINT32_MAX && r.starts != NULL && r.weights != NULL && r.a != NULL &&
        r.b != NULL) {
        set_up(&r);
        out.value = weighted_median(&r, r.a, count) / weighted_median(&r, r.b, count);
        if (r.groups > 1)
            bounds(&r, &out);
    }
    free(r.starts);
    free(r.weights);
    free(r.a);
    free(r.b);
    return out;
}

struct interval ratio_of_another(struct interval ratio)
{
    return (struct interval){.low = ratio.value * pow(ratio.low / ratio.value, sqrt(2)),
                             .value = ratio.value,
                             .high = ratio.value * pow(ratio.high / ratio.value, sqrt(2))};
}
