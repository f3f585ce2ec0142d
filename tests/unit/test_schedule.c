/* Which victim runs next: collect/schedule.h. */
#include <string.h>

#include "base/turns.h"
#include "collect/schedule.h"
#include "test.h"

/* ---- the order -------------------------------------------------------------------------- */

TEST(hangs_come_first_where_two_can_run)
{
    static const struct scenario crash = {.name = "crash", .kind = CASE_KIND_CRASH},
                                 hang = {.name = "hang", .kind = CASE_KIND_HANG},
                                 not_here = {.kind = CASE_KIND_HANG, .unsupported = "no lock"};
    static const struct collected list[] = {{.scenario = &crash},
                                            {.scenario = &hang},
                                            {.scenario = &not_here},
                                            {.scenario = &crash},
                                            {.scenario = &hang}};
    static const struct {
        const char *name;
        uint32_t jobs, waiting, order[COUNT_OF(list)];
    } rows[] = {{"one at a time: in the order of the list", 1, 0, {0, 1, 2, 3, 4}},
                {"two: what waits goes first", 2, 2, {1, 4, 0, 2, 3}}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct schedule s;
        struct arena keep;
        uint32_t index = 99;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(schedule_open(list, COUNT_OF(list), rows[i].jobs, &keep, &s, &fault) == ERR_NONE);
        CHECK_EQ(s.waiting_count, rows[i].waiting);
        for (size_t k = 0; k < COUNT_OF(list); k++) {
            CHECK(!schedule_is_done(&s));
            CHECK_EQ(schedule_take(&s, k < s.waiting_count ? SCHEDULE_HANGS : SCHEDULE_OTHERS, 0,
                                   &index),
                     SCHEDULE_ONE);
            CHECK_EQ(index, rows[i].order[k]);
        }
        CHECK(schedule_is_done(&s));
        CHECK_EQ(schedule_take(&s, SCHEDULE_ALL, 0, &index), SCHEDULE_NONE);
        arena_free(&keep);
    }
}

/* ---- lanes ------------------------------------------------------------------------------ */

TEST(a_quarter_of_the_processors_is_for_hangs)
{
    static const struct {
        const char *name;
        uint32_t jobs, waiting, others, lanes;
    } rows[] = {
        {"one processor", 1, 9, 9, 0},
        {"no hang", 4, 0, 9, 0},
        {"two processors", 2, 9, 9, 1},
        {"four", 4, 9, 9, 1},
        {"sixteen", 16, 9, 9, 4},
        {"fewer hangs than lanes", 16, 2, 9, 2},
        {"only hangs: a judge needs one", 4, 9, 0, 3},
        {"one hang alone", 4, 1, 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct schedule s = {.jobs = rows[i].jobs};
        test_row(rows[i].name);
        schedule_open_lanes(&s, rows[i].waiting, rows[i].others);
        CHECK_EQ(s.lanes, rows[i].lanes);
    }
}

enum step { END, HANG, OTHER, COMPUTES, ENDS };

/* In one lane. */
TEST(the_next_hang_begins_to_compute_when_the_one_before_has_ended)
{
    enum { LATER = 90, NO_ONE = 91 };
    static const struct {
        const char *name;
        struct {
            enum step step;
            uint64_t at_ns, value; /* what is taken, or for how long it has computed */
        } steps[10];
    } rows[] = {
        {"alone until the first one has ended",
         {{HANG, 0, 2},
          {HANG, 1, LATER},
          {COMPUTES, 60, 0},
          {HANG, 61, LATER},
          {ENDS, 100, 40},
          {HANG, 101, 3}}},
        {"at once, when it waits longer than the other computes",
         {{HANG, 0, 2},
          {COMPUTES, 60, 0},
          {ENDS, 100, 40},
          {HANG, 101, 3},
          {HANG, 110, LATER},
          {COMPUTES, 160, 0},
          {HANG, 160, 4}}},
        {"later, when it waits for a shorter time",
         {{HANG, 0, 2},
          {COMPUTES, 20, 0},
          {ENDS, 100, 80},
          {HANG, 101, 3},
          {COMPUTES, 120, 0},
          {HANG, 199, LATER},
          {HANG, 200, 4}}},
        {"others go on meanwhile, and after the hangs",
         {{OTHER, 0, 0}, {HANG, 0, 2}, {OTHER, 1, 1}, {OTHER, 2, NO_ONE}}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t order[] = {2, 3, 4, 0, 1};
        struct schedule s = {
            .order = order, .count = 5, .waiting_count = 3, .next_other = 3, .jobs = 2, .lanes = 1};
        test_row(rows[i].name);
        for (size_t k = 0; k < COUNT_OF(rows[i].steps) && rows[i].steps[k].step != END; k++) {
            const uint64_t at_ns = rows[i].steps[k].at_ns;
            uint32_t index = NO_ONE;
            switch (rows[i].steps[k].step) {
            case COMPUTES:
                schedule_computes(&s, at_ns);
                break;
            case ENDS:
                CHECK(!schedule_ended(&s, 100, rows[i].steps[k].value));
                break;
            default:
                if (schedule_take(&s,
                                  rows[i].steps[k].step == HANG ? SCHEDULE_HANGS : SCHEDULE_OTHERS,
                                  at_ns, &index) == SCHEDULE_LATER)
                    index = LATER;
                CHECK_EQ(index, rows[i].steps[k].value);
            }
        }
    }
}

TEST(after_the_last_hang_its_lane_is_for_all)
{
    uint32_t order[] = {0, 1}, index = 9;
    struct schedule s = {
        .order = order, .count = 2, .waiting_count = 1, .next_other = 1, .jobs = 2};
    schedule_open_lanes(&s, 1, 1);
    CHECK_EQ(schedule_take(&s, SCHEDULE_ALL, 0, &index), SCHEDULE_ONE);
    CHECK_EQ(index, 0);
    CHECK(schedule_ended(&s, 5, 0));
    CHECK_EQ(schedule_take(&s, SCHEDULE_HANGS, 5, &index), SCHEDULE_NONE);
    CHECK(!schedule_is_done(&s)); /* the other one is left */
    CHECK_EQ(schedule_take(&s, SCHEDULE_ALL, 5, &index), SCHEDULE_ONE);
    CHECK_EQ(index, 1);
    CHECK(schedule_is_done(&s));
}

/* Two lanes: two compute and two wait, at most; a hang that was skipped says nothing of the others.
 */
TEST(two_lanes_hold_four_hangs)
{
    static const struct {
        const char *name;
        uint32_t waiting, computing, lived;
        uint64_t life_ns, computing_ns; /* of all that lived */
        uint64_t at_ns;                 /* since the last one began to compute */
        bool starts;
    } rows[] = {
        {"nothing runs", 0, 0, 0, 0, 0, 0, true},
        {"one waits", 1, 0, 0, 0, 0, 0, true},
        {"both lanes wait", 2, 0, 0, 0, 0, 1000, false},
        {"no time is known yet", 2, 2, 0, 0, 0, 1000, false},
        /* of 100 ns the last 40 compute: 50 ns with a reserve, and the next one waits 60 */
        {"it waits longer than the other computes", 2, 1, 1, 100, 40, 0, true},
        {"both lanes have one that waits", 3, 1, 1, 100, 40, 1000, false},
        {"one computes in each, and one waits", 3, 2, 1, 100, 40, 0, true},
        {"every place is taken", 4, 2, 1, 100, 40, 1000, false},
        {"every place is taken, and all compute", 4, 4, 1, 100, 40, 1000, false},
        /* of 100 ns the last 80 compute: 100 ns with a reserve, less the 20 that the next one waits
         */
        {"too early", 2, 2, 1, 100, 80, 79, false},
        {"just in time", 2, 2, 1, 100, 80, 80, true},
        {"of two lives: the mean, too early", 2, 2, 2, 200, 160, 79, false},
        {"of two lives: the mean, in time", 2, 2, 2, 200, 160, 80, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t order[] = {0}, index = 99;
        struct schedule s = {.order = order,
                             .count = 1,
                             .waiting_count = 1,
                             .next_other = 1,
                             .jobs = 8,
                             .lanes = 2,
                             .waiting_now = rows[i].waiting,
                             .computing_now = rows[i].computing,
                             .began_ns = 5000,
                             .lived = rows[i].lived,
                             .life_ns = rows[i].life_ns,
                             .computing_ns = rows[i].computing_ns};
        test_row(rows[i].name);
        CHECK_EQ(schedule_take(&s, SCHEDULE_HANGS, 5000 + rows[i].at_ns, &index),
                 rows[i].starts ? SCHEDULE_ONE : SCHEDULE_LATER);
        CHECK_EQ(s.waiting_now, rows[i].waiting + rows[i].starts);
    }
}

/* Without lanes as many run as there are jobs. */
TEST(without_lanes_each_job_has_one)
{
    for (uint32_t running = 0; running < 4; running++) {
        uint32_t order[] = {0}, index = 99;
        struct schedule s = {.order = order,
                             .count = 1,
                             .waiting_count = 1,
                             .next_other = 1,
                             .jobs = 3,
                             .waiting_now = running};
        CHECK_EQ(schedule_take(&s, SCHEDULE_ALL, 0, &index),
                 running < 3 ? SCHEDULE_ONE : SCHEDULE_LATER);
    }
}

TEST(what_a_hang_leaves_when_it_ends)
{
    static const struct {
        const char *name;
        uint64_t life_ns, computing_ns;
        uint32_t computing, lived; /* after it, of two that ran and one that computed */
    } rows[] = {{"it computed", 100, 40, 0, 4},
                {"it never did", 100, 0, 1, 4},
                {"it was skipped", 0, 0, 1, 3}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint32_t left = 0; left < 2; left++) {
            struct schedule s = {.waiting_count = left,
                                 .waiting_now = 2,
                                 .computing_now = 1,
                                 .lived = 3,
                                 .life_ns = 1000,
                                 .computing_ns = 500};
            test_row(rows[i].name);
            CHECK(
                !schedule_ended(&s, rows[i].life_ns, rows[i].computing_ns)); /* another one runs */
            CHECK_EQ(s.waiting_now, 1);
            CHECK_EQ(s.computing_now, rows[i].computing);
            CHECK_EQ(s.lived, rows[i].lived);
            CHECK_EQ(s.life_ns, 1000 + rows[i].life_ns);
            CHECK_EQ(s.computing_ns, 500 + rows[i].computing_ns);
            CHECK_EQ(schedule_ended(&s, 0, 0), left == 0);
        }
}

/* ---- turns on the processors -------------------------------------------------------------- */

/* The time line at the head of run_pipeline.c. */
TEST(a_forced_turn_makes_all_that_are_out_crowded)
{
    enum { A, B, C, H, JUDGING_A, JUDGING_B, JUDGING_C, TURNS };
    enum step { TAKE, FORCE, GIVE };
    static const struct {
        const char *name;
        enum step step;
        int turn;
        uint32_t processor; /* of a turn that is taken */
    } rows[] = {{"a starts", TAKE, A, 1},
                {"b starts", TAKE, B, 2},
                {"a has ended", GIVE, A, 0},
                {"a is judged", TAKE, JUDGING_A, 1},
                {"b has ended", GIVE, B, 0},
                {"c starts", TAKE, C, 2},
                {"the record of h is there", FORCE, H, 1},
                {"a was judged", GIVE, JUDGING_A, 0},
                {"c has ended", GIVE, C, 0},
                {"b is judged", TAKE, JUDGING_B, 2},
                {"h has ended", GIVE, H, 0},
                {"b was judged", GIVE, JUDGING_B, 0},
                {"c is judged", TAKE, JUDGING_C, 1},
                {"c was judged", GIVE, JUDGING_C, 0}};
    static const bool crowded[TURNS] = {[C] = true, [H] = true, [JUDGING_A] = true};
    struct turn turns[TURNS] = {{0}};
    struct turns *two = turns_new(2, 2);
    REQUIRE(two != NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct turn *turn = &turns[rows[i].turn];
        test_row(rows[i].name);
        if (rows[i].step == TAKE)
            turns_take(two, turn);
        else if (rows[i].step == FORCE)
            turns_force(two, turn);
        else
            turns_give(two, turn);
        CHECK_EQ(turn->out, rows[i].step != GIVE);
        if (rows[i].step != GIVE)
            CHECK_EQ(turn->processor, rows[i].processor);
        if (rows[i].step == GIVE)
            CHECK_EQ(turn->crowded, crowded[rows[i].turn]);
    }
    turns_free(two);
}
