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
                  "dump lacks a frame that ran, in a-ob2.exe (wrong step by UWOP_SET_FPREG); 2 of "
                  "3 cases show this, 1 another effect of the same fault");
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

/* Of symbols a reader must know what to mend: the file, or what reads it. */
TEST(a_blame_of_symbols_says_whether_the_file_or_its_reader)
{
#define PART_OF(side, what) .blame = (side), .blame_engine = "dump", .facts = {.part = (what)}
    static const struct {
        const char *name, *want;
        struct finding f;
    } rows[] = {
        {"of an older version",
         "symbols of both ways",
         {PART_OF(BLAME_SYMBOLS_SHARED, PART_UNSTATED)}},
        {"only the truth contradicts",
         "symbols of both ways: the file or our reader",
         {PART_OF(BLAME_SYMBOLS_SHARED, PART_UNDECIDED)}},
        {"another program reads it rightly",
         "symbols of both ways: our reader",
         {PART_OF(BLAME_SYMBOLS_SHARED, PART_READER)}},
        {"nothing reads it",
         "symbols of both ways: the file",
         {PART_OF(BLAME_SYMBOLS_SHARED, PART_FILE)}},
        {"of one way", "symbols of dump: our reader", {PART_OF(BLAME_SYMBOLS, PART_READER)}},
        {"of a walk", "walk of dump", {PART_OF(BLAME_WALK, PART_READER)}},
        {"damage", "symbols of dump", {PART_OF(BLAME_SYMBOLS, (enum finding_part)FINDING_PARTS)}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[BLAME_TEXT_BYTES];
        test_row(rows[i].name);
        CHECK_STR(finding_fault_text(&rows[i].f, text), rows[i].want);
    }
}

/* Who adds up the cases of two problems counts those in both twice. */
TEST(cases_of_two_problems_are_counted_as_such)
{
    static const struct {
        const char *name;
        uint32_t both, lines, steps;
        const char *text;
    } rows[] = {
        {"some", 2, 3, 1, ", 2 of the cases in both"},
        {"all", 3, 0, 0, ", 3 of the cases in both"},
        {"none", 0, 2, 1, ""},
    };
    static const struct finding line = {.engine = "dump",
                                        .against = FINDING_TRUTH,
                                        .against_truth = true,
                                        .level = LEVEL_LINE,
                                        .cause = CAUSE_UNEXPLAINED,
                                        .blame = BLAME_SYMBOLS_SHARED};
    const struct finding step = {LACKS, BY_WALK};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct failures failures;
        struct failure_count count;
        struct fault fault = FAULT_INIT;
        uint32_t numbers[FAILURES_OF_CASE];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        failures_begin(&count, &keep, &failures);
        for (uint32_t k = 0; k < rows[i].both + rows[i].lines + rows[i].steps; k++) {
            const bool both = k < rows[i].both, of_lines = k < rows[i].both + rows[i].lines;
            const struct diff_case c = {.scenario = "s",
                                        .variant = "ob2",
                                        .finding = of_lines ? &line : &step,
                                        .second = both ? &step : NULL,
                                        .verdict = VERDICT_FAIL};
            CHECK(failures_add(&count, &c, numbers));
        }
        REQUIRE(failures_end(&count, NULL, &fault) == ERR_NONE);
        REQUIRE(failures.count == 2);
        CHECK_EQ(failures.shared, rows[i].both);
        CHECK_EQ(failures.rows[0].shared, rows[i].both);
        CHECK_EQ(failures.rows[1].shared, rows[i].both);
        CHECK_EQ(failures.rows[0].cases + failures.rows[1].cases - failures.shared, failures.cases);
        CHECK_STR(failures_shared_text(failures.count, failures.shared, &keep), rows[i].text);
        arena_free(&keep);
    }
}
