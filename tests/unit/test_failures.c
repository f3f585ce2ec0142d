/* What is said of a problem: its sentence, its example and its blames say the same. */
#include "study/failures.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { CASES_MAX = 6 };

/* A failing case by a walk that takes a wrong step, or by what F has instead. */
struct made_case {
    const char *scenario;
    uint32_t frames;
    struct finding f;
    const char *variant; /* NULL: ob2 */
};

#define STEP_IN(file)                                                                              \
    .engine = "dump", .against = FINDING_TRUTH, .against_truth = true, .module = (file),           \
    .cause = CAUSE_WRONG_STEP, .facts = {.left_by = "UWOP_SET_FPREG"}
#define LACKS_IN(file) STEP_IN(file), .frame_a = -1
#define LACKS LACKS_IN("a-ob2.exe")
#define EXTRA STEP_IN("a-ob2.exe"), .frame_b = -1
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
                                    .variant = cases[i].variant != NULL ? cases[i].variant : "ob2",
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
         {{"a", 9, {LACKS}, NULL}, {"b", 3, {LACKS}, NULL}, {"c", 5, {EXTRA}, NULL}},
         "b"},
        {"the smallest shows another",
         {{"a", 9, {LACKS}, NULL}, {"b", 7, {LACKS}, NULL}, {"c", 2, {EXTRA}, NULL}},
         "b"},
        {"it comes first",
         {{"c", 2, {EXTRA}, NULL}, {"a", 7, {LACKS}, NULL}, {"b", 9, {LACKS}, NULL}},
         "a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct failures failures;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        group(rows[i].cases, &keep, &failures);
        REQUIRE(failures.count == 1);
        CHECK_STR(failures.rows[0].sentence,
                  "dump lacks a frame that ran, in a-ob2.exe (wrong step by UWOP_SET_FPREG); in 1 "
                  "of them the same fault looks different");
        CHECK_STR(failures.rows[0].example->scenario, rows[i].example);
        CHECK_STR(failures.rows[0].example->reason, "one is lacking");
        arena_free(&keep);
    }
}

/* A reader looks for the file that is named: there is no a.exe where a-ob2.exe is meant. */
TEST(a_problem_names_its_file_or_says_that_there_are_several)
{
    static const struct {
        const char *name;
        struct made_case cases[CASES_MAX];
        const char *module;
    } rows[] = {
        {"one file", {{"a", 1, {LACKS}, NULL}, {"b", 1, {LACKS}, NULL}}, "a-ob2.exe"},
        {"of two builds",
         {{"a", 1, {LACKS}, NULL}, {"a", 1, {LACKS_IN("A-ob0.exe")}, "ob0"}},
         "a-*.exe"},
        {"in other letters",
         {{"a", 1, {LACKS_IN("A.dll")}, NULL}, {"b", 1, {LACKS_IN("a.DLL")}, NULL}},
         "a.dll"},
        {"no module", {{"a", 1, {LACKS_IN(NULL)}, NULL}}, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct failures failures;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        group(rows[i].cases, &keep, &failures);
        REQUIRE(failures.count == 1);
        CHECK_STR(failures.rows[0].place, rows[i].module);
        CHECK_STR(failures.rows[0].sentence,
                  arena_printf(&keep,
                               "dump lacks a frame that ran%s%s (wrong step by "
                               "UWOP_SET_FPREG)",
                               rows[i].module != NULL ? ", in " : "",
                               rows[i].module != NULL ? rows[i].module : ""));
        arena_free(&keep);
    }
}

static const char *written(const struct failures *failures, struct arena *keep)
{
    struct json j;
    size_t bytes = 0;
    json_to_text(&j, false);
    failures_write_json(&j, failures, 0);
    char *text = json_take(&j, &bytes);
    REQUIRE(text != NULL);
    const char *kept = arena_text(keep, text, bytes);
    free(text);
    return kept;
}

/* Who reads blames adds them up: they are those of all cases of a problem, or there are none. */
TEST(blames_add_up_to_the_cases)
{
    static const struct {
        const char *name;
        struct made_case cases[CASES_MAX];
        const char *blames;
    } rows[] = {
        {"all",
         {{"a", 1, {LACKS, BY_WALK}, NULL}, {"b", 1, {LACKS, BY_WALK}, NULL}},
         "walk of dump (2)"},
        {"one has none",
         {{"a", 1, {LACKS, BY_WALK}, NULL},
          {"b", 1, {LACKS}, NULL},
          {"c", 1, {LACKS, BY_WALK}, NULL}},
         "walk of dump (2), not known (1)"},
        {"most have none",
         {{"a", 1, {LACKS}, NULL}, {"b", 1, {LACKS}, NULL}, {"c", 1, {LACKS, BY_WALK}, NULL}},
         "walk of dump (1), not known (2)"},
        {"even votes are another answer than none",
         {{"a", 1, {LACKS, BY_WALK}, NULL},
          {"b", 1, {LACKS, .blame = BLAME_EVEN}, NULL},
          {"c", 1, {LACKS}, NULL}},
         "walk of dump (1), none: the votes are even (1), not known (1)"},
        {"none has one", {{"a", 1, {LACKS}, NULL}, {"b", 1, {LACKS}, NULL}}, ""},
        {"more blames than are listed",
         {{"a", 1, {LACKS, .blame = BLAME_WALK, .blame_engine = "one"}, NULL},
          {"b", 1, {LACKS, .blame = BLAME_WALK, .blame_engine = "two"}, NULL},
          {"c", 1, {LACKS, .blame = BLAME_WALK, .blame_engine = "three"}, NULL},
          {"d", 1, {LACKS, .blame = BLAME_WALK, .blame_engine = "four"}, NULL},
          {"e", 1, {LACKS, .blame = BLAME_WALK, .blame_engine = "five"}, NULL},
          {"f", 1, {LACKS}, NULL}},
         "walk of one (1), walk of two (1), walk of three (1), walk of four (1), others or not "
         "known (2)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct failures failures;
        uint32_t sum = 0, listed = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        group(rows[i].cases, &keep, &failures);
        REQUIRE(failures.count == 1);
        CHECK_STR(failure_blames_text(&failures.rows[0], &keep), rows[i].blames);
        const char *text = written(&failures, &keep);
        for (const char *at = text; (at = strstr(at, "{\"blame\":")) != NULL; listed++) {
            at = strstr(at, "\"cases\":") + strlen("\"cases\":");
            sum += (uint32_t)strtoul(at, NULL, 10);
        }
        CHECK_EQ(sum, listed > 0 ? failures.rows[0].cases : 0);
        CHECK_EQ(listed > 0, rows[i].blames[0] != '\0');
        arena_free(&keep);
    }
}
