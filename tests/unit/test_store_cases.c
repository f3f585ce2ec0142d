/* In which order the store lists the cases of a run. */
#include <stdio.h>
#include <string.h>

#include "store_fixture.h"
#include "test.h"

TEST(cases_are_listed_by_repeat_scenario_and_variant)
{
    enum { CASES = 2 * 3 * 3 };
    static const char *const names[] = {"b", "a", "a2"}, *const variants[] = {"x64", "arm", "x86"};
    struct store_fixture f;
    struct run_info run = {.label = "run"};
    uint64_t *ids = NULL;
    uint32_t count = 0;
    char last[64] = "";
    store_set_up(&f);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (uint32_t i = 0; i < CASES; i++) {
        struct run_case c = {.scenario = names[i % 3],
                             .variant = variants[i / 3 % 3],
                             .repeat = i < CASES / 2 ? 10 : 9,
                             .kind = CASE_KIND_CRASH};
        REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    }
    REQUIRE(store_list_case_ids(f.store, run.id, &f.keep, &ids, &count, &f.fault) == ERR_NONE);
    CHECK_EQ(count, CASES);
    for (uint32_t i = 0; i < count; i++) {
        struct run_case c;
        char now[64];
        REQUIRE(store_read_parts(f.store, ids[i], 0, &f.keep, &c, &f.fault) == ERR_NONE);
        (void)snprintf(now, sizeof now, "%05u %s %s", c.repeat, c.scenario, c.variant);
        CHECK(strcmp(last, now) < 0);
        memcpy(last, now, sizeof last);
    }
    REQUIRE(store_list_case_ids(f.store, run.id + 1, &f.keep, &ids, &count, &f.fault) == ERR_NONE);
    CHECK_EQ(count, 0);
    store_tear_down(&f);
}
