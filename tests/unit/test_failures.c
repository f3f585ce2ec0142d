/* What is said of a problem: its sentence, its example and its blames say the same. */
#include "study/failures.h"
#include "test.h"

enum { CASES_MAX = 6 };

/* A failing case by a walk that takes a wrong step, or by what F has instead. */
struct made_case {
    const char *scenario;
    uint32_t frames;
    struct finding f;
};

#define STEP                                                                                       \
    .engine = "dump", .against = FINDING_TRUTH, .against_truth = true, .module = "a-ob2.exe",      \
    .cause = CAUSE_WRONG_STEP,                                                                     \
    .evidence = "the walks part at main (a.exe!0x10), which dump leaves by UWOP_SET_FPREG: why"
#define LACKS STEP, .frame_a = -1
#define EXTRA STEP, .frame_b = -1
#define BY_WALK .blame = BLAME_WALK, .blame_engine = "dump"

static void group(const struct made_case *cases, struct arena *keep, struct failures *out)
{
    struct failure_count count;
    struct fault fault = FAULT_INIT;
    uint32_t numbers[FAILURES_OF_CASE];
    failures_begin(&count, keep, out);
    for (size_t i = 0; i < CASES_MAX && cases[i].scenario != NULL; i++) {
        const struct finding *f = &cases[i].f;
        const struct diff_case c = {.scenario = cases[i].scenario,
                                    .variant = "ob2",
                                    .reason = f->frame_a < 0 ? "one is lacking" : "one too many",
                                    .finding = f,
                                    .frames = cases[i].frames,
                                    .verdict = VERDICT_FAIL};
        CHECK(failures_add(&count, &c, numbers));
    }
    REQUIRE(failures_end(&count, NULL, &fault) == ERR_NONE);
}

/* The sentence says what most cases show, so a case that shows something else is no example of it,
 * however small its stack is. */
TEST(an_example_shows_what_the_sentence_says)
{
    static const struct {
        const char *name;
        struct made_case cases[CASES_MAX];
        const char *example;
    } rows[] = {
        {"the smallest shows the same",
         {{"a", 9, {LACKS}}, {"b", 3, {LACKS}}, {"c", 5, {EXTRA}}},
         "b"},
        {"the smallest shows another",
         {{"a", 9, {LACKS}}, {"b", 7, {LACKS}}, {"c", 2, {EXTRA}}},
         "b"},
        {"it comes first", {{"c", 2, {EXTRA}}, {"a", 7, {LACKS}}, {"b", 9, {LACKS}}}, "a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct failures failures;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        group(rows[i].cases, &keep, &failures);
        REQUIRE(failures.count == 1);
        CHECK_STR(failures.rows[0].shows,
                  "dump lacks a frame that ran, in a.exe (wrong step by UWOP_SET_FPREG)");
        CHECK_STR(failures.rows[0].example->scenario, rows[i].example);
        CHECK_STR(failures.rows[0].example->reason, "one is lacking");
        arena_free(&keep);
    }
}
