/* Known mismatches, signatures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/known.h"
#include "compare/signature.h"
#include "make_run.h"
#include "test.h"

#include "make_case.h"

#define BLOCK(id, scope, cause, expires)                                                           \
    "[" id "]\nscope: " scope "\ncause: " cause "\nreason: because\nexpires: " expires "\n\n"

TEST(damaged_files_are_said_with_their_line)
{
    static const struct {
        const char *name, *text;
        enum status want;
        uint64_t offset;
    } rows[] = {
        {"empty", "", ERR_NONE, FAULT_NO_OFFSET},
        {"comments", "# only\r\n\n  # this\n", ERR_NONE, FAULT_NO_OFFSET},
        {"good", BLOCK("a", "x.*", "dump=*", "2027-05-01"), ERR_NONE, FAULT_NO_OFFSET},
        {"pins by blanks and commas",
         BLOCK("a", "x.*", "dump=*\npins: a=9/9, b=9/9,c=1/2\td=0/0", "2027-05-01"), ERR_NONE,
         FAULT_NO_OFFSET},
        {"no pin", "[a]\npins: none\nscope: x\ncause: y\nreason: z\nexpires: 2027-05-01\n",
         ERR_NONE, FAULT_NO_OFFSET},
        {"a pin without lines", "[a]\npins: a=9/9, b=9\n", ERR_MALFORMED, 17},
        {"a pin without an engine", "[a]\npins: =9/9\n", ERR_MALFORMED, 10},
        {"a pin that is a sentence", "[a]\npins: nine of nine\n", ERR_MALFORMED, 10},
        {"a pin with a semicolon", "[a]\npins: a=9/9;b=9/9\n", ERR_MALFORMED, 10},
        {"no id", "scope: x\n", ERR_MALFORMED, 0},
        {"unclosed id", "[a\n", ERR_MALFORMED, 0},
        {"unknown field", "[a]\ncolour: red\n", ERR_MALFORMED, 4},
        {"no date", "[a]\nscope: x\ncause: y\nreason: z\nexpires: soon\n", ERR_MALFORMED,
         FAULT_NO_OFFSET},
        {"no reason", "[a]\nscope: x\ncause: y\nexpires: 2027-05-01\n", ERR_MALFORMED,
         FAULT_NO_OFFSET},
        {"no scope", "[a]\ncause: y\nreason: z\nexpires: 2027-05-01\n", ERR_MALFORMED,
         FAULT_NO_OFFSET},
        {"no cause", "[a]\nscope: x\nreason: z\nexpires: 2027-05-01\n", ERR_MALFORMED,
         FAULT_NO_OFFSET},
        {"twice", BLOCK("a", "x", "y", "2027-05-01") "[a]\n", ERR_MALFORMED, 59},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct known_list list;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_EQ(known_parse(rows[i].text, strlen(rows[i].text), &keep, &list, &fault),
                 rows[i].want);
        CHECK_EQ(fault.offset, rows[i].offset);
        arena_free(&keep);
    }
}

#define PINNED                                                                                     \
    "dump=*\npins: offset:rtl=0/0 dump=3/0\nframe: dump function poke\nframe: dump function "      \
    "middle"

/* A run applies its list to each case that it has judged, and in the end to all of them. */
static void check_applied_again(struct known_list *list, struct run_case *cases, struct arena *keep)
{
    const char *reasons[MADE_CASES];
    enum verdict verdicts[MADE_CASES];
    struct fault fault = FAULT_INIT;
    const uint32_t hits = list->items[0].hits, in_scope = list->items[0].in_scope;
    bool changed[MADE_CASES];

    for (uint32_t i = 0; i < MADE_CASES; i++) {
        reasons[i] = cases[i].result.reason;
        verdicts[i] = cases[i].result.verdict;
    }
    REQUIRE(known_apply(list, cases, MADE_CASES, "2027-01-01", keep, changed, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < MADE_CASES; i++) {
        CHECK(!changed[i]);
        CHECK(cases[i].result.reason == reasons[i]);
        CHECK_EQ(cases[i].result.verdict, verdicts[i]);
    }
    CHECK_EQ(list->items[0].hits, hits);
    CHECK_EQ(list->items[0].in_scope, in_scope);
}

/* divide_by_zero.ob2 of the made run fails with dump=unexplained and dump=inline_only. */
TEST(what_an_acceptance_does_to_a_run)
{
    static const struct {
        const char *name, *text;
        const char *failing, *passing; /* verdicts afterwards: divide_by_zero.ob2, null_write.ob2 */
        const char *problem;           /* NULL: none */
        uint32_t wrong_lines;          /* of the dump, in the failing one */
    } rows[] = {
        {"covers it", BLOCK("a", "divide_by_zero.ob2", "dump=*", "2027-05-01"), "XFAIL", "PASS",
         NULL, 0},
        {"covers both causes by name",
         BLOCK("a", "divide_by_zero.*", "dump=unexplained dump=inline_only", "2027-05-01"), "XFAIL",
         "PASS", NULL, 0},
        {"pinned, and no worse",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/9", "2027-05-01"), "XFAIL", "PASS",
         NULL, 0},
        {"pinned, and worse",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=0/0", "2027-05-01"), "FAIL", "PASS",
         NULL, 0},
        {"pinned, as many lines",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/2", "2027-05-01"), "XFAIL", "PASS",
         NULL, 2},
        {"pinned, one line more",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/1", "2027-05-01"), "FAIL", "PASS",
         NULL, 2},
        {"its last day is today", BLOCK("a", "divide_by_zero.*", "dump=*", "2027-01-01"), "XFAIL",
         "PASS", NULL, 0},
        {"its last day was yesterday", BLOCK("a", "divide_by_zero.*", "dump=*", "2026-12-31"),
         "FAIL", "PASS", "expired on 2026-12-31", 0},
        {"pinned with a comma",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: offset:rtl=9/9, dump=9/9", "2027-05-01"),
         "XFAIL", "PASS", NULL, 0},
        {"another engine is pinned",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: x=9/9", "2027-05-01"), "FAIL", "PASS", NULL,
         0},
        {"nothing is pinned", BLOCK("a", "divide_by_zero.*", "dump=*\npins: none", "2027-05-01"),
         "FAIL", "PASS", NULL, 0},
        {"its frames", BLOCK("a", "divide_by_zero.*", PINNED, "2027-05-01"), "XFAIL", "PASS", NULL,
         0},
        {"its frames by patterns",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/9\nframe: dump *", "2027-05-01"),
         "XFAIL", "PASS", NULL, 0},
        {"no frame",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/9\nframe: none", "2027-05-01"),
         "FAIL", "PASS", NULL, 0},
        {"one frame of two",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/9\nframe: dump function poke",
               "2027-05-01"),
         "FAIL", "PASS", NULL, 0},
        {"another level of its frames",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=9/9\nframe: dump line *", "2027-05-01"),
         "FAIL", "PASS", NULL, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_run(&keep, &run, cases);
        cases[2].result.scores[1].lines_judged += rows[i].wrong_lines;
        REQUIRE(known_parse(rows[i].text, strlen(rows[i].text), &keep, &list, &fault) == ERR_NONE);
        REQUIRE(known_apply(&list, cases, MADE_CASES, "2027-01-01", &keep, NULL, &fault) ==
                ERR_NONE);
        CHECK_STR(verdict_name(cases[2].result.verdict), rows[i].failing);
        CHECK_STR(verdict_name(cases[1].result.verdict), rows[i].passing);
        CHECK_STR(verdict_name(cases[4].result.verdict), "ERROR");
        check_applied_again(&list, cases, &keep);
        const char *problem = known_problem(&list.items[0], false, &keep);
        if (rows[i].problem == NULL)
            CHECK_STR(problem != NULL ? problem : "none", "none");
        else
            CHECK_HAS(problem != NULL ? problem : "none", rows[i].problem);
        /* After a run of all scenarios, a scope that matches no case is a mistake. */
        if (list.items[0].seen == 0)
            CHECK_HAS(known_problem(&list.items[0], true, &keep), "there is no case elsewhere.*");
        arena_free(&keep);
    }
}

/* What else fails there is what a reader has to see, and the acceptance is still needed. */
TEST(an_acceptance_for_a_part_of_a_case_is_named)
{
    static const struct {
        const char *name, *cause, *reason; /* NULL: as it was */
    } rows[] = {
        {"the one that decides", "dump=inline_only",
         "beyond what [a] accepted: dump=unexplained; "},
        {"another one", "dump=unexplained", NULL},
        {"a longer name", "xdump=inline_only dump=inline_only_too", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        char text[512];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_run(&keep, &run, cases);
        (void)snprintf(text, sizeof text, BLOCK("a", "divide_by_zero.*", "%s", "2027-05-01"),
                       rows[i].cause);
        REQUIRE(known_parse(text, strlen(text), &keep, &list, &fault) == ERR_NONE);
        REQUIRE(known_apply(&list, cases, MADE_CASES, "2027-01-01", &keep, NULL, &fault) ==
                ERR_NONE);
        CHECK_STR(verdict_name(cases[2].result.verdict), "FAIL");
        CHECK(known_problem(&list.items[0], false, &keep) == NULL ||
              strstr(known_problem(&list.items[0], false, &keep), "not needed") == NULL);
        if (rows[i].reason != NULL)
            CHECK_HAS(cases[2].result.reason, rows[i].reason);
        else
            CHECK(strstr(cases[2].result.reason, "beyond") == NULL);
        arena_free(&keep);
    }
}

TEST(a_broad_acceptance_must_say_so)
{
    static const struct {
        const char *name, *scope, *broad, *expires;
        const char *problem; /* NULL: none */
    } rows[] = {
        {"builds of one scenario", "divide_by_zero.*", "", "2027-05-01", NULL},
        {"180 days", "divide_by_zero.*", "", "2027-06-30", NULL},
        {"181 days", "divide_by_zero.*", "", "2027-07-01",
         "holds for more than 180 days, until 2027-07-01"},
        {"181 days, and it says so", "divide_by_zero.*", "broad: yes\n", "2027-07-01", NULL},
        {"without end", "divide_by_zero.*", "", "2099-01-01", "holds for more than 180 days"},
        {"everything", "*", "", "2027-05-01", "covers more than one scenario, *"},
        {"many scenarios", "divide_*.ob2", "", "2027-05-01", "covers more than one scenario"},
        {"many scenarios, and it says so", "divide_*.ob2", "broad: yes\n", "2027-05-01", NULL},
        {"one letter", "divide?by_zero.ob2", "", "2027-05-01", "covers more than one scenario"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_run(&keep, &run, cases);
        const char *text = arena_printf(
            &keep,
            "[a]\nscope: %s\ncause: dump=*\npins: dump=9/9\nframe: *\nreason: r\n%sexpires: %s\n",
            rows[i].scope, rows[i].broad, rows[i].expires);
        REQUIRE(known_parse(text, strlen(text), &keep, &list, &fault) == ERR_NONE);
        REQUIRE(known_apply(&list, cases, MADE_CASES, "2027-01-01", &keep, NULL, &fault) ==
                ERR_NONE);
        CHECK_STR(verdict_name(cases[2].result.verdict), "XFAIL");
        const char *problem = known_problem(&list.items[0], true, &keep);
        CHECK_HAS(problem != NULL ? problem : "none",
                  rows[i].problem != NULL ? rows[i].problem : "none");
        arena_free(&keep);
    }
}

TEST(days_between_two_dates)
{
    static const struct {
        const char *from, *to;
        int64_t days;
    } rows[] = {{"2027-01-01", "2027-01-01", 0},    {"2027-01-01", "2027-06-30", 180},
                {"2027-06-30", "2027-01-01", -180}, {"2028-02-28", "2028-03-01", 2},
                {"2027-02-28", "2027-03-01", 1},    {"2000-01-01", "2001-01-01", 366},
                {"1970-01-01", "2026-11-25", 20782}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].to);
        CHECK_EQ(known_days(rows[i].from, rows[i].to), rows[i].days);
    }
}

TEST(an_acceptance_for_a_build_that_was_not_run_is_no_problem)
{
    static const struct {
        const char *scope;
        bool problem;
    } rows[] = {{"elsewhere.ob2", true},
                {"elsewhere", true},
                {"elsewhere.*", true},
                {"elsewhere.x86-*", false},
                {"divide_by_zero.x86-ob2", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].scope);
        make_run(&keep, &run, cases);
        const char *text =
            arena_printf(&keep, BLOCK("a", "%s", "dump=*", "2027-05-01"), rows[i].scope);
        REQUIRE(known_parse(text, strlen(text), &keep, &list, &fault) == ERR_NONE);
        REQUIRE(known_apply(&list, cases, MADE_CASES, "2026-12-31", &keep, NULL, &fault) ==
                ERR_NONE);
        CHECK_EQ(known_problem(&list.items[0], true, &keep) != NULL, rows[i].problem);
        arena_free(&keep);
    }
}

TEST(an_acceptance_without_pins_holds_for_a_while)
{
    static const struct {
        const char *name, *cause, *today, *reason;
        const char *problem; /* NULL: none */
    } rows[] = {
        {"before", "dump=*", "2027-02-28", "known [a], unpinned: because", NULL},
        {"after", "dump=*", "2027-03-01", "known [a], unpinned: because",
         "[a] in line 1 is unpinned, which fails since 2027-03-01"},
        {"counts alone", "dump=*\npins: dump=9/9", "2027-03-01", "known [a], unpinned: because",
         "is unpinned"},
        {"pinned", PINNED, "2027-03-01", "known [a]: because", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_run(&keep, &run, cases);
        const char *text = arena_printf(&keep,
                                        "[a]\nscope: divide_by_zero.*\ncause: %s\nreason: because\n"
                                        "expires: 2027-05-01\n",
                                        rows[i].cause);
        REQUIRE(known_parse(text, strlen(text), &keep, &list, &fault) == ERR_NONE);
        REQUIRE(known_apply(&list, cases, MADE_CASES, rows[i].today, &keep, NULL, &fault) ==
                ERR_NONE);
        CHECK_STR(verdict_name(cases[2].result.verdict), "XFAIL");
        CHECK_STR(cases[2].result.reason, rows[i].reason);
        const char *problem = known_problem(&list.items[0], false, &keep);
        CHECK_HAS(problem != NULL ? problem : "none",
                  rows[i].problem != NULL ? rows[i].problem : "none");
        arena_free(&keep);
    }
}

/* known.h: every other byte stays; none ends later than before. */
TEST(items_are_dropped_or_ended_and_nothing_else_changes)
{
#define A                                                                                          \
    "[a]\nscope: x.*\ncause: y\nreason: expires: never\n  expires : 2027-05-01\n# of a\nissue: "   \
    "i\n"
#define A_ENDED                                                                                    \
    "[a]\nscope: x.*\ncause: y\nreason: expires: never\nexpires: 2026-11-21\n# of a\nissue: i\n"
#define B "\n# of b\n[b]\nscope: z.*\ncause: y\nreason: r\nexpires: 2026-11-22"
#define B_ENDED "\n# of b\n[b]\nscope: z.*\ncause: y\nreason: r\nexpires: 2026-11-21\n"
    static const char text[] = "# head\n\n" A B;
    static const struct {
        const char *name, *day; /* NULL: dropped */
        bool marked[2];
        const char *want;
    } rows[] = {
        {"none is dropped", NULL, {false, false}, "# head\n\n" A B},
        {"the first",
         NULL,
         {true, false},
         "# head\n\n# of b\n[b]\nscope: z.*\ncause: y\nreason: r\nexpires: 2026-11-22"},
        {"the last", NULL, {false, true}, "# head\n\n" A "\n# of b\n"},
        {"both", NULL, {true, true}, "# head\n\n# of b\n"},
        {"none is ended", "2026-11-21", {false, false}, "# head\n\n" A B},
        {"the first is ended", "2026-11-21", {true, false}, "# head\n\n" A_ENDED B},
        {"the last is ended", "2026-11-21", {false, true}, "# head\n\n" A B_ENDED},
        {"both are ended", "2026-11-21", {true, true}, "# head\n\n" A_ENDED B_ENDED},
        {"on its own last day", "2026-11-22", {false, true}, "# head\n\n" A B},
        {"one that ended before", "2026-12-01", {false, true}, "# head\n\n" A B},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct known_list list;
        struct fault fault = FAULT_INIT;
        size_t bytes = 0;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        char *exact = test_copy(text, sizeof text); /* with its end, which text has, too */
        REQUIRE(known_parse(exact, sizeof text - 1, &keep, &list, &fault) == ERR_NONE &&
                list.count == 2);
        const char *out =
            rows[i].day == NULL
                ? known_drop(exact, sizeof text - 1, &list, rows[i].marked, &keep, &bytes)
                : known_end(exact, sizeof text - 1, &list, rows[i].marked, rows[i].day, &keep,
                            &bytes);
        CHECK_STR(out, rows[i].want);
        CHECK_EQ(bytes, strlen(rows[i].want));
        free(exact);
        arena_free(&keep);
    }
#undef A
#undef A_ENDED
#undef B
#undef B_ENDED
}

/* The pins that `accept` and `accept --update` write cover the same run, but no worse one. */
TEST(pins_are_written_and_hold)
{
    static const struct {
        const char *name, *text;
        uint32_t changed;
        const char *has; /* in the new text */
    } rows[] = {
        {"unpinned", BLOCK("a", "divide_by_zero.*", "dump=*", "2027-05-01"), 1,
         "cause: dump=*\npins: offset:rtl=0/0 dump="},
        {"pinned to more",
         BLOCK("a", "divide_by_zero.*", "dump=*\npins: dump=99/99\nframe: *", "2027-05-01"), 1,
         "\nframe: dump function "},
        {"nothing needs it", BLOCK("a", "null_write.*", "dump=*\npins: dump=99/99", "2027-05-01"),
         0, "pins: dump=99/99\n"},
        {"the other blocks stay",
         "# kept\n" BLOCK("b", "x.*", "y", "2027-05-01")
             BLOCK("a", "divide_by_zero.*", "dump=*", "2027-05-01") "# also kept\n",
         1, "[b]\nscope: x.*\ncause: y\nreason"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        static const bool all[] = {true, true};
        uint32_t changed = 0;
        size_t bytes = 0;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_run(&keep, &run, cases);
        REQUIRE(known_parse(rows[i].text, strlen(rows[i].text), &keep, &list, &fault) == ERR_NONE);
        const char *text = known_pin(rows[i].text, strlen(rows[i].text), &list, all, cases,
                                     MADE_CASES, &keep, &bytes, &changed);
        REQUIRE(text != NULL);
        CHECK_EQ(changed, rows[i].changed);
        CHECK_EQ(bytes, strlen(text));
        CHECK_HAS(text, rows[i].has);
        REQUIRE(known_parse(text, bytes, &keep, &list, &fault) == ERR_NONE);
        if (rows[i].changed > 0) {
            const struct known *k = &list.items[list.count - 1];
            CHECK(known_is_pinned(k));
            REQUIRE(known_apply(&list, cases, MADE_CASES, "2027-04-01", &keep, NULL, &fault) ==
                    ERR_NONE);
            CHECK_STR(verdict_name(cases[2].result.verdict), "XFAIL");
            cases[2].result.verdict = VERDICT_FAIL;
            cases[2].result.scores[1].right_frames = 0;
            REQUIRE(known_apply(&list, cases, MADE_CASES, "2027-04-01", &keep, NULL, &fault) ==
                    ERR_NONE);
            CHECK_STR(verdict_name(cases[2].result.verdict), "FAIL");
            CHECK_HAS(cases[2].result.reason, "beyond what [a] accepted: dump has 3 functions");
        }
        arena_free(&keep);
    }
}

TEST(a_scope_may_be_several_words)
{
    static const struct {
        const char *name, *scope; /* a line of it may be followed by others */
        bool covers, wide;
    } rows[] = {
        {"one name", "divide_by_zero.ob2", true, false},
        {"the last of three", "a.ob0 b.ob0 divide_by_zero.ob2", true, false},
        {"the first of two", "divide_by_zero.ob2 z.ob0", true, false},
        {"in another line", "a.ob0\nscope: divide_by_zero.ob2\nscope: z.ob0", true, false},
        {"names that begin alike", "divide_by_zero.ob divide_by_zero.ob2-fp", false, false},
        {"a pattern beside a name", "a.ob0 divide_by_zero.*", true, false},
        {"a wide one beside a name", "a.ob0 *_zero.ob2", true, true},
        {"none of them", "a.ob0 b.ob2", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct run_info run;
        struct run_case cases[MADE_CASES];
        struct known_list list;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        make_run(&keep, &run, cases);
        const char *text =
            arena_printf(&keep, "[a]\nscope: %s\ncause: dump=*\nreason: r\nexpires: 2027-05-01\n",
                         rows[i].scope);
        REQUIRE(known_parse(text, strlen(text), &keep, &list, &fault) == ERR_NONE);
        CHECK_EQ(known_covers(&list.items[0], &cases[2]), rows[i].covers);
        CHECK_EQ(known_is_wide(list.items[0].scope), rows[i].wide);
        REQUIRE(known_apply(&list, cases, MADE_CASES, "2027-01-01", &keep, NULL, &fault) ==
                ERR_NONE);
        CHECK_STR(verdict_name(cases[2].result.verdict), rows[i].covers ? "XFAIL" : "FAIL");
        arena_free(&keep);
    }
}

/* One block for all cases of a problem: it names each of them once, and holds for no other and for
 * nothing worse. */
TEST(cases_are_accepted_together)
{
    enum { MANY = 12 };
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES], many[MANY];
    const struct run_case *together[MANY];
    struct known_list list = {NULL, 0};
    struct fault fault = FAULT_INIT;
    const struct known_words words = {"one fault", NULL, "2099-05-01", NULL, true};
    const char *text = NULL, *block = NULL;
    arena_init(&keep, 0);
    make_run(&keep, &run, cases);
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = cases[2];
        many[i].scenario = arena_printf(&keep, "a_rather_long_scenario_%u", i / 2);
        many[i].repeat = i % 2;
        together[i] = &many[i];
    }
    REQUIRE(known_add_cases(NULL, &list, "problem-1", together, MANY, &words, &keep, &text, &block,
                            &fault) == ERR_NONE);
    CHECK_HAS(block,
              "[problem-1]\nscope: a_rather_long_scenario_0.ob2 a_rather_long_scenario_1.ob2 "
              "a_rather_long_scenario_2.ob2\nscope: a_rather_long_scenario_3.ob2 ");
    REQUIRE(known_parse(text, strlen(text), &keep, &list, &fault) == ERR_NONE);
    REQUIRE(list.count == 1);
    many[0].variant = "o b";
    CHECK_EQ(known_add_cases(text, &list, "p", together, 1, &words, &keep, &text, &block, &fault),
             ERR_USAGE);
    CHECK_HAS(fault.hint, "a blank in its name");
    fault_clear(&fault);
    many[0].variant = "ob2";
    CHECK_EQ(known_add_cases(text, &list, "problem-1", together, MANY, &words, &keep, &text, &block,
                             &fault),
             ERR_USAGE); /* accepted already */
    many[1].result.verdict = VERDICT_PASS;
    struct engine_score worse[CLAIMS_MAX];
    memcpy(worse, many[2].result.scores, many[2].result.score_count * sizeof worse[0]);
    worse[1].right_frames = 0;
    many[2].result.scores = worse;
    many[3].variant = "ob0";
    REQUIRE(known_apply(&list, many, MANY, "2027-01-01", &keep, NULL, &fault) == ERR_NONE);
    static const char *const want[MANY] = {"XFAIL", "XPASS", "FAIL", "FAIL"};
    for (uint32_t i = 0; i < MANY; i++)
        CHECK_STR(verdict_name(many[i].result.verdict), want[i] != NULL ? want[i] : "XFAIL");
    CHECK_EQ(list.items[0].in_scope, MANY - 1);
    arena_free(&keep);
}

TEST(signatures_say_what_is_particular)
{
    static const struct {
        const char *name, *rules, *stack, *want;
    } rows[] = {
        {"system and runtime frames say nothing", NULL,
         "ntdll.dll+1 sys RtlFail\napp.exe+1 own poke\napp.exe+2 own middle\napp.exe+3 runtime "
         "start",
         "poke | middle"},
        {"three at most", NULL,
         "app.exe+1 own a\napp.exe+2 own b\napp.exe+3 own c\napp.exe+4 own d", "a | b | c"},
        {"recursion is one word", NULL, "app.exe+1 own f\napp.exe+2 own f\napp.exe+3 own main",
         "f | main"},
        {"joined ones do not count", NULL,
         "app.exe+1 own my_assert_failed\napp.exe+2 own a\napp.exe+3 own b\napp.exe+4 own c",
         "my_assert_failed | a | b | c"},
        {"own rules", "depth 1\nskip function helper*\nkeep module ntdll.dll",
         "app.exe+1 own helper_one\nntdll.dll+2 sys RtlFail\napp.exe+3 own main", "RtlFail"},
        {"nothing in our own code", NULL, "ntdll.dll+2a sys RtlFail", "ntdll.dll!0x2a"},
        {"a hook of the capture, and the handler that called it", NULL,
         "app.exe+1 capture on_terminate\napp.exe+2 own handler\napp.exe+3 own inner\n"
         "app.exe+4 own log\napp.exe+5 own flush\napp.exe+6 own std::terminate\n"
         "app.exe+7 own __cxa_throw\napp.exe+8 own parse\napp.exe+9 own main",
         "parse | main"},
        {"an exception's way through the runtime, without a hook", NULL,
         "kernelbase.dll+1 sys RaiseException\napp.exe+2 own _Unwind_RaiseException\n"
         "app.exe+3 own __cxa_throw\napp.exe+4 own parse\napp.exe+5 own main",
         "parse | main"},
        {"a crash in what the runtime calls at the end of all is its own", NULL,
         "app.exe+1 own close\napp.exe+2 own ~archive\napp.exe+3 own std::terminate\n"
         "app.exe+4 own main",
         "close | ~archive | main"},
        {"an abort that is no terminate", NULL,
         "app.exe+1 capture on_abort\nmsvcrt.dll+2 sys abort\napp.exe+3 own abandon\n"
         "app.exe+4 own serve\napp.exe+5 own loop\napp.exe+6 own main",
         "abandon | serve | loop"},
        {"function objects", NULL,
         "app.exe+1 own poke\napp.exe+2 own std::__invoke_impl<void>\n"
         "app.exe+3 own std::function<void()>::operator()\napp.exe+4 own start::'lambda'()::_FUN\n"
         "app.exe+5 own serve\napp.exe+6 own main",
         "poke | serve | main"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct signature_rules *rules = NULL;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        const char *text = rows[i].rules != NULL ? rows[i].rules : signature_default_rules;
        REQUIRE(signature_read_rules(text, strlen(text), &keep, &rules, &fault) == ERR_NONE);
        const struct stack stack = make_stack(&keep, "dump", rows[i].stack);
        CHECK_STR(signature_of(rules, &stack, &keep), rows[i].want);
        arena_free(&keep);
    }
    static const char *const broken[] = {"forget function", "skip everything", "hide class own",
                                         "depth 0", "skip class"};
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct arena keep;
        struct signature_rules *rules = NULL;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(broken[i]);
        CHECK_EQ(signature_read_rules(broken[i], strlen(broken[i]), &keep, &rules, &fault),
                 ERR_MALFORMED);
        arena_free(&keep);
    }
}
