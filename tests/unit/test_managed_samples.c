/* Rows of a run's environment that count right stacks of managed code. */
#include <stdlib.h>
#include <string.h>

#include "model/managed_samples.h"
#include "test.h"

TEST(a_phase_comes_back_from_its_row)
{
    static const struct managed_phase phase = {
        .name = "collects",
        .measured = "2026-11-22",
        .modes = {
            [MANAGED_PLAIN] = {.samples = 1000, .right = 523, .ends = {[MANAGED_REFUSED] = 477}},
            [MANAGED_COPY] =
                {.samples = 1000,
                 .right = 994,
                 .ends = {[MANAGED_HIJACKED] = 3, [MANAGED_ENDED] = 1, [MANAGED_BLOCKED] = 2}},
            [MANAGED_IN_PLACE] = {.samples = 200, .right = 200}}};
    struct managed_phase back[MANAGED_PHASES_MAX];
    struct named_version row;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(managed_phase_note(&phase, &keep, &row));
    CHECK_STR(row.name, "managed stacks: collects");
    CHECK_STR(row.version, "plain 523/1000 (477r), copy 994/1000 (3h 1e 2b), in-place 200/200, "
                           "measured 2026-11-22");
    const struct run_info run = {.environment = &row, .environment_count = 1};
    REQUIRE(managed_phases_read(&run, back) == 1);
    CHECK_STR(back[0].name, phase.name);
    CHECK_STR(back[0].measured, phase.measured);
    CHECK(memcmp(back[0].modes, phase.modes, sizeof phase.modes) == 0);
    CHECK(managed_missing(&run) == NULL);
    arena_free(&keep);
}

TEST(a_row_that_is_not_understood_is_left_out)
{
    static const struct {
        const char *version;
        uint32_t want;
    } rows[] = {{"plain 1/2", 1},
                {"plain 1/2 (1r)", 1},
                {"", 1},
                {"plain", 0},
                {"plain ", 0},
                {"plain 1", 0},
                {"plain 1/", 0},
                {"plain 1/2 (", 0},
                {"plain 1/2 (1", 0},
                {"plain 1/2 (1x)", 0},
                {"plain 1/2 (1r", 0},
                {"plain 1/2 (1r ", 0},
                {"plain 1/2;", 0},
                {"plain 4294967296/2", 0},
                {"upside-down 1/2", 0},
                {"plain 1/2, seeded", 0},
                {NULL, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct managed_phase back[MANAGED_PHASES_MAX];
        char *copy = rows[i].version != NULL
                         ? test_copy(rows[i].version, strlen(rows[i].version) + 1)
                         : NULL;
        struct named_version row = {.name = "managed stacks: x", .version = copy};
        const struct run_info run = {.environment = &row, .environment_count = 1};
        test_row(rows[i].version != NULL ? rows[i].version : "no text");
        CHECK_EQ(managed_phases_read(&run, back), rows[i].want);
        free(copy);
    }
}

TEST(a_run_can_have_no_row_or_more_than_fit)
{
    struct named_version rows[MANAGED_PHASES_MAX + 4];
    struct managed_phase back[MANAGED_PHASES_MAX];
    struct run_info run = {.environment = rows};
    CHECK_EQ(managed_phases_read(&run, back), 0);
    managed_missing_note(&rows[0]);
    run.environment_count = 1;
    CHECK_EQ(managed_phases_read(&run, back), 0);
    CHECK(managed_missing(&run) != NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rows[i] = (struct named_version){"managed stacks: x", "plain 1/2"};
    run.environment_count = COUNT_OF(rows);
    CHECK_EQ(managed_phases_read(&run, back), MANAGED_PHASES_MAX);
}
