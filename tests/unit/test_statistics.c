/* Statistics compared with values computed elsewhere (tables, R, SciPy). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "compare/statistics.h"
#include "test.h"

TEST(wilson)
{
    static const struct {
        const char *name;
        uint64_t right, total;
        double low, high;
    } rows[] = {
        {"8 of 10", 8, 10, 0.4901625, 0.9433178},
        {"0 of 10", 0, 10, 0, 0.2775328},
        {"10 of 10", 10, 10, 0.7224672, 1},
        {"nothing", 0, 0, 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct interval w = statistics_wilson(rows[i].right, rows[i].total);
        test_row(rows[i].name);
        CHECK_NEAR(w.low, rows[i].low, 1e-6);
        CHECK_NEAR(w.high, rows[i].high, 1e-6);
    }
}

static int by_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Few, many and equal values, of both signs and of several sizes. */
TEST(a_place_has_what_a_sort_puts_there)
{
    enum { MOST = 5000 };
    static const uint64_t most[] = {1, 3, 1000, 1000000, UINT64_MAX >> 12};
    static double values[MOST], sorted[MOST];
    uint64_t state = 1;
    for (size_t count = 1; count <= MOST; count = count * 7 / 2 + 1)
        for (size_t m = 0; m < COUNT_OF(most); m++) {
            for (size_t i = 0; i < count; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                values[i] = (double)(state >> 12) - (double)(state >> 13);
                values[i] = fmod(values[i], (double)most[m]) - (double)most[m] / 3;
            }
            memcpy(sorted, values, sizeof sorted);
            qsort(sorted, count, sizeof *sorted, by_double);
            const size_t places[] = {0, count / 3, count / 2, count / 2, count - 1};
            quantile_place(values, count, places, COUNT_OF(places));
            for (size_t i = 0; i < COUNT_OF(places); i++)
                CHECK_NEAR(values[places[i]], sorted[places[i]], 0);
            qsort(values, count, sizeof *values, by_double);
            CHECK(memcmp(values, sorted, count * sizeof *sorted) == 0);
        }
}

TEST(quantiles_and_spread)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, scratch[8];
    CHECK_NEAR(quantile_median(odd, 3), 3, 0);
    CHECK_NEAR(quantile_median(even, 4), 2.5, 0);
    CHECK_NEAR(quantile_of(even, 4, 0.25), 1.75, 1e-12);
    CHECK(isnan(quantile_median(even, 0)));
    const double values[] = {1, 1, 2, 2, 4, 6, 9};
    CHECK_NEAR(statistics_fence(values, 7, scratch), 5 + 3 * 3.5, 1e-12);
    CHECK(isinf(statistics_fence(values, 3, scratch)));
    const double powers[] = {1, 10, 100};
    CHECK_NEAR(statistics_geometric_mean(powers, 3), 10, 1e-9);
}

TEST(mann_whitney)
{
    static const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
    static const double mixed[] = {1.1, 5.2, 2.7, 8.8}, other[] = {3.3, 0.4, 9.1, 4.6, 7.7};
    static const double tied_a[] = {1, 2, 2, 3, 4}, tied_b[] = {2, 3, 4, 5, 5};
    static const double same[] = {7, 7, 7};
    /* exact: 2 of the C(10,5) = 252 orders are that extreme */
    CHECK_NEAR(statistics_mann_whitney(low, 5, high, 5), 2.0 / 252, 1e-9);
    CHECK_NEAR(statistics_mann_whitney(mixed, 4, other, 5), 0.9047619, 1e-6);
    CHECK_NEAR(statistics_mann_whitney(tied_a, 5, tied_b, 5), 0.1381, 0.01);
    CHECK_NEAR(statistics_mann_whitney(same, 3, same, 3), 1, 0);
    CHECK_NEAR(statistics_mann_whitney(low, 0, high, 5), 1, 0);
}

TEST(signed_rank)
{
    /* The values of p come from counting all 2^n combinations of signs. */
    static const double ones[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const struct {
        const char *name;
        size_t count;
        double apart[10], p; /* logarithms of now / before */
    } rows[] = {
        {"all grew", 8, {1, 2, 3, 4, 5, 6, 7, 8}, 0.0078125},
        {"the largest shrank", 8, {1, 2, 3, 4, 5, 6, 7, -8}, 0.1953125},
        {"two of ten shrank", 10, {1, -2, 3, -4, 5, 6, 7, 8, 9, 10}, 0.02734375},
        {"pairs that are equal say nothing", 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}, 0.0078125},
        {"nothing differs", 3, {0, 0, 0}, 1},
        {"nothing", 0, {0}, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double now[10];
        for (size_t k = 0; k < rows[i].count; k++)
            now[k] = exp(rows[i].apart[k] / 10);
        test_row(rows[i].name);
        CHECK_NEAR(statistics_signed_rank(ones, now, rows[i].count), rows[i].p, 1e-9);
        CHECK_NEAR(statistics_signed_rank(now, ones, rows[i].count), rows[i].p, 1e-9);
    }
}

TEST(change_points)
{
    static const struct {
        const char *name;
        size_t count, want;
        double values[24];
    } rows[] = {
        {"one level", 12, 0, {5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6}},
        {"all equal", 12, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {"one outlier", 12, 0, {1, 1, 1, 1, 1, 1, 1, 9, 1, 1, 1, 1}},
        {"six and six are too few", 12, 0, {1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}},
        {"a step in ties", 16, 8, {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}},
        {"a step in noise", 20, 12, {10, 12, 11, 13, 10, 12, 11, 13, 10, 12,
                                     11, 13, 20, 22, 21, 23, 20, 22, 21, 23}},
        {"the last four of a steady series", 24, 20, {1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,
                                                      1, 1, 1, 1, 1, 1, 1, 1, .9, .9, .9, .9}},
        {"too few on one side", 8, 0, {1, 1, 1, 1, 1, 1, 2, 2}},
        {"too few at all", 3, 0, {1, 2, 3}},
        {"nothing", 0, 0, {0}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double scratch[24], p = 0;
        test_row(rows[i].name);
        CHECK_EQ(statistics_change_point(rows[i].values, rows[i].count, 4, &p, scratch),
                 rows[i].want);
        CHECK(rows[i].want == 0 ? p >= 0.01 : p < 0.01);
    }
}

TEST(pairs_see_what_a_pool_of_unlike_cases_hides)
{
    double before[12], now[12], scratch[24];
    for (int i = 0; i < 12; i++) {
        before[i] = 100 * pow(2, i);
        now[i] = before[i] * (1.2 + 0.001 * i);
    }
    CHECK_EQ(statistics_change(before, 12, now, 12, 0, 0, scratch).change, CHANGE_NONE);
    const struct change_verdict v = statistics_change_paired(before, now, 12, 0, 0, scratch);
    CHECK_EQ(v.change, CHANGE_SLOWER);
    CHECK_NEAR(v.effect, 0.2055, 1e-9);
    CHECK_EQ(statistics_change_paired(now, before, 12, 0, 0, scratch).change, CHANGE_FASTER);
    CHECK_EQ(statistics_change_paired(before, now, 12, 0.25, 0, scratch).change, CHANGE_NONE);
    CHECK_EQ(statistics_change_paired(before, now, 12, 0, 0.25, scratch).change, CHANGE_NONE);
    CHECK_EQ(statistics_change_paired(before, now, 7, 0, 0, scratch).change, CHANGE_TOO_FEW);
}

TEST(changes_need_significance_and_effect_and_samples)
{
    double base[20], slower[20], slightly[20], scratch[64];
    for (int i = 0; i < 20; i++) {
        base[i] = 100 + i % 5;
        slower[i] = base[i] * 1.5;
        slightly[i] = base[i] * 1.02 + 0.001 * i;
    }
    CHECK_STR(change_name(statistics_change(base, 20, slower, 20, 0, 0, scratch).change), "slower");
    CHECK_STR(change_name(statistics_change(slower, 20, base, 20, 0, 0, scratch).change), "faster");
    CHECK_STR(change_name(statistics_change(base, 20, slightly, 20, 0, 0, scratch).change), "same");
    CHECK_STR(change_name(statistics_change(base, 20, slightly, 20, 0.2, 0, scratch).change),
              "same");
    CHECK_STR(change_name(statistics_change(base, 20, slower, 20, 0.6, 0, scratch).change),
              "too_noisy");
    CHECK_STR(change_name(statistics_change(base, 20, slower, 20, 0, 0.6, scratch).change),
              "too_noisy");
    CHECK_STR(change_name(statistics_change(base, 20, slower, 20, 0.4, 0, scratch).change),
              "slower");
    CHECK_STR(change_name(statistics_change(base, 7, slower, 20, 0, 0, scratch).change), "too_few");
    CHECK_STR(change_name(statistics_change(base, 20, base, 20, 0, 0, scratch).change), "same");
}

TEST(samples_that_show_a_small_change)
{
    /* Lehr's rule for p < 0.01 and a power of 80 %, of pairs: (2.576 + 0.842)^2 (s / d)^2, and
     * pi / 3 of it for ranks. */
    static const struct {
        const char *name;
        double spread, effect;
        uint64_t want;
    } rows[] = {{"a tenth of the spread", 0.2, 0.02, 1224},
                {"half of it", 0.02, 0.01, 49},
                {"far above it", 0.001, 0.5, 8},
                {"no spread", 0, 0.02, 8},
                {"no effect", 0.2, 0, 8}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(statistics_samples_for(rows[i].spread, rows[i].effect), rows[i].want);
    }
}

TEST(ratio_of_medians_with_an_interval_that_is_always_the_same)
{
    double a[15], b[15], scratch[32];
    for (int i = 0; i < 15; i++) {
        a[i] = 20 + i % 3;
        b[i] = 10 + i % 4;
    }
    const struct interval r = statistics_ratio(a, 15, b, 15, 1, scratch);
    const struct interval again = statistics_ratio(a, 15, b, 15, 1, scratch);
    CHECK_NEAR(r.value, 21.0 / 11, 1e-12);
    CHECK(r.low <= r.value && r.value <= r.high && r.low > 1.5 && r.high < 2.3);
    CHECK_NEAR(r.low, again.low, 0);
    CHECK_NEAR(r.high, again.high, 0);
}
