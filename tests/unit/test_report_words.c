/* Numbers and names as reports spell them: the rules of words.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/words.h"
#include "test.h"

TEST(a_time_or_size_has_three_digits_at_most)
{
    static const struct {
        double ns;
        const char *time, *size;
    } rows[] = {
        {NAN, "-", "-"},
        {0, "0 ns", "0 B"},
        {999.4, "999 ns", "999 B"},
        {999.6, "1.00 µs", "1.00 KB"},
        {9994, "9.99 µs", "9.99 KB"},
        {9995, "10.0 µs", "10.0 KB"},
        {99940, "99.9 µs", "99.9 KB"},
        {99950, "100 µs", "100 KB"},
        {999400, "999 µs", "999 KB"},
        {999600, "1.00 ms", "1.00 MB"},
        {999.4e6, "999 ms", "999 MB"},
        {999.6e6, "1.00 s", "1.00 GB"},
        {1234e9, "1234 s", "1234 GB"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[24];
        test_row(rows[i].time);
        CHECK_STR(duration_text(rows[i].ns, text), rows[i].time);
        CHECK_STR(bytes_text(rows[i].ns, text), rows[i].size);
    }
}

TEST(a_repeat_has_its_number_and_a_moment_its_second)
{
    static const struct {
        uint32_t repeat;
        uint64_t ns;
        const char *name, *moment;
    } rows[] = {
        {0, 0, "loop.ob2", "1970-01-01T00:00:00Z"},
        {1, 999999999, "loop.ob2#2", "1970-01-01T00:00:00Z"},
        {9, UINT64_C(951782399000000000), "loop.ob2#10", "2000-02-28T23:59:59Z"},
        {10, UINT64_C(951782400000000000), "loop.ob2#11", "2000-02-29T00:00:00Z"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_case c = {.scenario = "loop", .variant = "ob2", .repeat = rows[i].repeat};
        const struct diff_case d = {.scenario = "loop", .variant = "ob2", .repeat = rows[i].repeat};
        char text[160];
        test_row(rows[i].name);
        CHECK_STR(case_name(&c, text), rows[i].name);
        CHECK_STR(diff_case_name(&d, text), rows[i].name);
        CHECK_STR(time_text(rows[i].ns, text), rows[i].moment);
    }
}
