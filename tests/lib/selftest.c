/* Tests that pass, fail, crash, hang and skip on purpose.  Their tally is known:
 * 2 passed, 7 failed, 3 skipped (tests/e2e/test_framework.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

TEST(passes)
{
    test_row("a row");
    CHECK(true);
    CHECK_EQ(2 + 2, 4);
    CHECK_STR("a", "a");
    CHECK_HAS("haystack", "stack");
    CHECK_NEAR(0.5, 0.4999, 0.001);
    CHECK_MEM("abc", "abd", 2);
}

TEST(fails_with_its_row)
{
    test_row("the third row");
    CHECK_EQ(2 + 2, 5);
}

TEST(fails_on_a_string)
{
    CHECK_STR("got", "want");
    CHECK_STR(NULL, "want");
}

TEST(fails_on_not_a_number)
{
    double zero = 0.0;
    CHECK_NEAR(zero / zero, 1.0, 1e9);
}

TEST(ends_at_a_requirement)
{
    REQUIRE(1 > 2);
    abort();
}

TEST(crashes)
{
    abort();
}

TEST(hangs)
{
    test_limit(1);
    for (volatile int forever = 1; forever;)
        continue;
}

TEST(skips)
{
    SKIP("because it says so");
}

TEST(skips_without_its_fixture)
{
    (void)test_fixture("no-such-folder/no-such-file");
    abort();
}

TODO_TEST(known_to_fail, "it is a demonstration")
{
    CHECK(false);
}

TODO_TEST(passes_although_marked, "it is a demonstration")
{
    CHECK(true);
}

struct seen {
    size_t calls, bytes_all, changed;
};

static void look(const uint8_t *data, size_t bytes, void *context)
{
    static const uint8_t good[] = {1, 2, 3, 0xff};
    struct seen *seen = context;
    seen->calls++;
    seen->bytes_all += bytes;
    if (bytes == sizeof good)
        seen->changed += memcmp(data, good, bytes) != 0;
}

TEST(damage_is_complete)
{
    static const uint8_t good[] = {1, 2, 3, 0xff};
    struct seen seen = {0};
    test_truncations(good, sizeof good, look, &seen);
    CHECK_EQ(seen.calls, 4);
    CHECK_EQ(seen.bytes_all, 0 + 1 + 2 + 3);

    memset(&seen, 0, sizeof seen);
    test_flips(good, sizeof good, look, &seen);
    CHECK_EQ(seen.calls, 16);
    CHECK_EQ(seen.changed, 15); /* setting 0xff to 0xff changes nothing */

    size_t bytes = 0;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", test_scratch(), "file");
    test_write(path, good, sizeof good);
    CHECK_MEM(test_read(path, &bytes), good, sizeof good);
    CHECK_EQ(bytes, sizeof good);
}
