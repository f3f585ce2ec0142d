/* Statistics of verdicts and reports: see statistics.h.
 *
 * Mann-Whitney U: exact counts by the recurrence of Mann and Whitney (1947) for small samples
 * without ties; else the normal approximation with the tie-corrected variance.
 * Wilcoxon (1945) signed ranks: exact counts of the subsets of ranks by sum, else likewise. */
#include "compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quantile.h"

/* Of the normal distribution: the median absolute deviation as sigma, and quantiles. A rank test
 * needs pi / 3 times the samples of a t test. */
static const double MAD_TO_SIGMA = 1.4826, NORMAL_99_TWO_SIDED = 2.576, NORMAL_80_ONE_SIDED = 0.842,
                    RANK_TEST_COST = 1.0472;

enum {
    EXACT_MAX = 20,
    BOOTSTRAP_ROUNDS = 2000,
    POOL_MAX = 4096, /* samples per side that one test uses */
    PAIRS_EXACT_MAX = 25,
    PAIRS_MAX = 1 << 20,
};

struct interval statistics_wilson(uint64_t right, uint64_t total)
{
    if (total == 0)
        return (struct interval){0, (double)NAN, 1};
    const double z = 1.959963984540054, n = (double)total, p = (double)right / n;
    const double middle = p + z * z / (2 * n);
    const double spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    const double scale = 1 + z * z / n;
    const double low = right == 0 ? 0 : (middle - spread) / scale;
    const double high = right == total ? 1 : (middle + spread) / scale;
    return (struct interval){low, p, high};
}

struct interval statistics_median_interval(double *values, size_t count, size_t units)
{
    const double half = units > 0 ? 0.98 / sqrt((double)units) : 0.5;
    const double share = half < 0.5 ? half : 0.5;
    const double middle = quantile_median(values, count); /* sorts */
    return (struct interval){quantile_of_sorted(values, count, 0.5 - share), middle,
                             quantile_of_sorted(values, count, 0.5 + share)};
}

/* P(U <= u) for samples of N and M without ties: the share of all orders of N + M values whose U is
 * that small. ways[i][u] counts orders with i values of the first side. */
static double exact_tail(size_t n, size_t m, size_t u)
{
    static const size_t width = EXACT_MAX * EXACT_MAX + 1;
    double *now = calloc((n + 1) * width, sizeof *now);
    double *before = calloc((n + 1) * width, sizeof *before);
    double tail = (double)NAN;
    if (now != NULL && before != NULL) {
        for (size_t i = 0; i <= n; i++)
            before[i * width] = 1; /* no values of the second side: U is 0 */
        for (size_t j = 1; j <= m; j++) {
            memset(now, 0, (n + 1) * width * sizeof *now);
            now[0] = 1;
            for (size_t i = 1; i <= n; i++)
                for (size_t k = 0; k <= i * j; k++)
                    now[i * width + k] =
                        (k >= j ? now[(i - 1) * width + k - j] : 0) + before[i * width + k];
            double *swap = now;
            now = before;
            before = swap;
        }
        double all = 0, small = 0;
        for (size_t k = 0; k <= n * m; k++) {
            all += before[n * width + k];
            small += k <= u ? before[n * width + k] : 0;
        }
        tail = small / all;
    }
    free(now);
    free(before);
    return tail;
}

struct ranked {
    double value;
    bool first;
};

ARRAY_ORDER(by_ranked, struct ranked, value)

/* U of the first side, and the sum of t^3 - t over ties. */
static double count_u(struct ranked *pool, size_t count, size_t n, double *ties)
{
    double rank_sum = 0;
    qsort(pool, count, sizeof *pool, by_ranked);
    *ties = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i;
        while (end < count && !(pool[end].value > pool[i].value))
            end++;
        const double rank = ((double)i + 1 + (double)end) / 2, t = (double)(end - i);
        *ties += t * t * t - t;
        for (; i < end; i++)
            rank_sum += pool[i].first ? rank : 0;
    }
    return rank_sum - (double)n * ((double)n + 1) / 2;
}

double statistics_mann_whitney(const double *a, size_t n, const double *b, size_t m)
{
    if (n == 0 || m == 0 || n > POOL_MAX || m > POOL_MAX)
        return 1;
    struct ranked *pool = malloc((n + m) * sizeof *pool);
    if (pool == NULL)
        return 1;
    for (size_t i = 0; i < n + m; i++) {
        pool[i].value = i < n ? a[i] : b[i - n];
        pool[i].first = i < n;
    }
    double ties = 0;
    const double u = count_u(pool, n + m, n, &ties);
    free(pool);
    const double product = (double)n * (double)m, count = (double)(n + m);
    const double small = u < product - u ? u : product - u;
    double p = 1;
    if (n <= EXACT_MAX && m <= EXACT_MAX && ties < 1) {
        p = 2 * exact_tail(n, m, (size_t)(small + 0.5));
    } else {
        const double variance = product / 12 * (count + 1 - ties / (count * (count - 1)));
        if (variance <= 0)
            return 1;
        const double z = (product / 2 - small - 0.5) / sqrt(variance);
        p = z <= 0 ? 1 : erfc(z / sqrt(2));
    }
    return p < 1 ? p : 1;
}

/* How many of the COUNT sorted VALUES are below VALUE, or (OR_EQUAL) not above it. */
static size_t count_below(const double *values, size_t count, double value, bool or_equal)
{
    size_t low = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (values[low + half] < value || (or_equal && values[low + half] <= value)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

size_t statistics_change_point(const double *values, size_t count, size_t least, double *p,
                               double *scratch)
{
    const double all = (double)count;
    double ties = 0, sum = 0, most = 0;
    size_t found = 0;
    *p = 1;
    if (count < 2 * least || least == 0)
        return 0;
    memcpy(scratch, values, count * sizeof *scratch);
    array_sort_doubles(scratch, count, sizeof *scratch);
    for (size_t i = 0; i < count;) {
        const size_t end = count_below(scratch, count, scratch[i], true);
        const double t = (double)(end - i);
        ties += t * t * t - t;
        i = end;
    }
    const double spread = all + 1 - ties / (all * (all - 1));
    for (size_t before = 1; before + least <= count && spread > 0; before++) {
        const double value = values[before - 1];
        sum += ((double)count_below(scratch, count, value, false) + 1 +
                (double)count_below(scratch, count, value, true)) /
               2;
        const double n = (double)before, apart = fabs(sum - n * (all + 1) / 2) - 0.5;
        const double z = apart / sqrt(n * (all - n) / 12 * spread);
        if (before >= least && z > most) {
            most = z;
            found = before;
        }
    }
    const double anywhere = all * erfc(most / sqrt(2)); /* Bonferroni: one test per place */
    *p = anywhere < 1 ? anywhere : 1;
    return *p < 0.01 ? found : 0;
}

/* P(W <= w) for COUNT ranks: the share of the subsets of 1..COUNT whose sum is that small. */
static double exact_subsets(size_t count, size_t w)
{
    double ways[PAIRS_EXACT_MAX * (PAIRS_EXACT_MAX + 1) / 2 + 1] = {1};
    const size_t most = count * (count + 1) / 2;
    double small = 0;
    for (size_t rank = 1; rank <= count; rank++)
        for (size_t sum = most; sum >= rank; sum--)
            ways[sum] += ways[sum - rank];
    for (size_t sum = 0; sum <= w && sum <= most; sum++)
        small += ways[sum];
    return small / ldexp(1, (int)count);
}

/* The two-sided probability from the smaller rank sum W and the sum of t^3 - t over ties. */
static double signed_rank_tail(size_t count, double w, double ties)
{
    const double n = (double)count;
    if (count <= PAIRS_EXACT_MAX && ties < 1)
        return 2 * exact_subsets(count, (size_t)(w + 0.5));
    const double variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48;
    if (variance <= 0)
        return 1;
    const double z = (n * (n + 1) / 4 - w - 0.5) / sqrt(variance);
    return z <= 0 ? 1 : erfc(z / sqrt(2));
}

double statistics_signed_rank(const double *before, const double *now, size_t count)
{
    struct ranked *pool = count == 0 || count > PAIRS_MAX ? NULL : malloc(count * sizeof *pool);
    size_t n = 0;
    double ties = 0;
    if (pool == NULL)
        return 1;
    for (size_t i = 0; i < count; i++) {
        const double apart = log(now[i] / before[i]);
        if (fabs(apart) > 0)
            pool[n++] = (struct ranked){fabs(apart), apart > 0};
    }
    /* The rank sum of the positive differences: U of the first side plus its own ranks. */
    size_t grew = 0;
    for (size_t i = 0; i < n; i++)
        grew += pool[i].first;
    const double up = count_u(pool, n, grew, &ties) + (double)grew * ((double)grew + 1) / 2;
    const double down = (double)n * ((double)n + 1) / 2 - up;
    free(pool);
    const double p = n == 0 ? 1 : signed_rank_tail(n, up < down ? up : down, ties);
    return p < 1 ? p : 1;
}

/* xorshift64*: small, and identical on every platform. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static double resampled_median(const double *values, size_t count, uint64_t *state, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = values[(size_t)((next_random(state) >> 33) % count)];
    return quantile_median(scratch, count);
}

struct interval statistics_ratio(const double *a, size_t a_count, const double *b, size_t b_count,
                                 uint64_t seed, double *scratch)
{
    struct interval out = {(double)NAN, (double)NAN, (double)NAN};
    if (a_count == 0 || b_count == 0)
        return out;
    memcpy(scratch, a, a_count * sizeof *a);
    const double above = quantile_median(scratch, a_count);
    memcpy(scratch, b, b_count * sizeof *b);
    out.value = above / quantile_median(scratch, b_count);
    double *ratios = malloc(BOOTSTRAP_ROUNDS * sizeof *ratios);
    if (ratios == NULL)
        return out;
    uint64_t state = seed == 0 ? 88172645463325252u : seed;
    for (size_t i = 0; i < BOOTSTRAP_ROUNDS; i++) {
        const double x = resampled_median(a, a_count, &state, scratch);
        ratios[i] = x / resampled_median(b, b_count, &state, scratch);
    }
    array_sort_doubles(ratios, BOOTSTRAP_ROUNDS, sizeof *ratios);
    out.low = quantile_of_sorted(ratios, BOOTSTRAP_ROUNDS, 0.025);
    out.high = quantile_of_sorted(ratios, BOOTSTRAP_ROUNDS, 0.975);
    free(ratios);
    return out;
}

double statistics_fence(const double *history, size_t count, double *scratch)
{
    if (count < 4)
        return (double)INFINITY;
    memcpy(scratch, history, count * sizeof *history);
    const double q3 = quantile_of(scratch, count, 0.75);
    const double q1 = quantile_of_sorted(scratch, count, 0.25);
    return q3 + 3 * (q3 - q1);
}

double statistics_fence_share(const double *history, size_t count, double *scratch)
{
    const double fence = statistics_fence(history, count, scratch);
    if (isinf(fence))
        return 0;
    memcpy(scratch, history, count * sizeof *history);
    return fence / quantile_median(scratch, count) - 1;
}

double statistics_geometric_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(values[i]);
    return count == 0 ? (double)NAN : exp(sum / (double)count);
}

static struct change_verdict no_verdict(double noise, double fence)
{
    struct change_verdict out = {CHANGE_TOO_FEW, (double)NAN, STATISTICS_SMALLEST_EFFECT, 1, 0};
    if (noise > out.threshold)
        out.threshold = noise;
    if (fence > out.threshold)
        out.threshold = fence;
    return out;
}

void statistics_admit_noise(struct change_verdict *verdict, double noise)
{
    if (verdict->change == CHANGE_NONE && noise > STATISTICS_MOST_NOISE)
        verdict->change = CHANGE_TOO_NOISY;
}

uint64_t statistics_samples_for(double spread, double effect)
{
    const double sigmas = NORMAL_99_TWO_SIDED + NORMAL_80_ONE_SIDED;
    const double needed = effect > 0 ? pow(sigmas * spread / effect, 2) * RANK_TEST_COST : 0;
    return needed > (double)STATISTICS_MIN_SAMPLES ? (uint64_t)ceil(needed < 1e15 ? needed : 1e15)
                                                   : STATISTICS_MIN_SAMPLES;
}

static void decide(struct change_verdict *out)
{
    out->change = CHANGE_NONE;
    if (out->p < STATISTICS_SIGNIFICANT && fabs(out->effect) > out->threshold)
        out->change = out->effect > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

struct change_verdict statistics_change(const double *before, size_t before_count,
                                        const double *now, size_t now_count, double noise,
                                        double fence, double *scratch)
{
    struct change_verdict out = no_verdict(noise, fence);
    if (before_count < STATISTICS_MIN_SAMPLES || now_count < STATISTICS_MIN_SAMPLES)
        return out;
    memcpy(scratch, before, before_count * sizeof *before);
    const double old = quantile_median(scratch, before_count);
    memcpy(scratch, now, now_count * sizeof *now);
    out.effect = quantile_median(scratch, now_count) / old - 1;
    out.p = statistics_mann_whitney(before, before_count, now, now_count);
    decide(&out);
    statistics_admit_noise(&out, noise > fence ? noise : fence);
    return out;
}

struct change_verdict statistics_change_paired(const double *before, const double *now,
                                               size_t count, double noise, double fence,
                                               double *scratch)
{
    struct change_verdict out = no_verdict(noise, fence);
    if (count < STATISTICS_MIN_SAMPLES)
        return out;
    for (size_t i = 0; i < count; i++)
        scratch[i] = now[i] / before[i];
    const double ratio = quantile_median(scratch, count);
    out.effect = ratio - 1;
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(scratch[i] - ratio);
    out.spread = MAD_TO_SIGMA * quantile_median(scratch, count);
    out.p = statistics_signed_rank(before, now, count);
    decide(&out);
    return out;
}
