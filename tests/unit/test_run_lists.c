/* study/run_lists: what named the frames, signatures of cases, and what acceptances cover. */
#include <stdlib.h>
#include <string.h>

#include "store_fixture.h"
#include "study/run_keep.h"
#include "study/run_lists.h"
#include "study/summary.h"

TEST(modules_are_added_up_by_identity_and_list_the_best_source_first)
{
    static const struct symbol_row rows[] = {
        {"app.exe", "C1", "D1", SYMBOLS_NONE, 2, 0}, {"app.exe", "C1", "D1", SYMBOLS_PDB, 5, 3},
        {"app.exe", "C2", "D2", SYMBOLS_PDB, 1, 0}, /* another build */
        {NULL, NULL, NULL, SYMBOLS_JIT, 4, 0},       {"app.exe", "C1", "D1", SYMBOLS_EXPORT, 7, 0},
    };
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct named_module *modules = NULL;
    struct symbol_row *sums = NULL;
    uint32_t count = 0;
    arena_init(&keep, 0);
    REQUIRE(named_modules_make(rows, COUNT_OF(rows), &keep, &modules, &count, &fault) == ERR_NONE);
    REQUIRE(count == 3);
    CHECK_EQ(modules[0].frames, 14);
    CHECK_EQ(modules[0].inlined, 3);
    REQUIRE(modules[0].source_count == 3);
    CHECK_EQ(modules[0].sources[0].symbols, SYMBOLS_PDB);
    CHECK_EQ(modules[0].sources[1].symbols, SYMBOLS_EXPORT);
    CHECK_EQ(modules[0].sources[2].symbols, SYMBOLS_NONE);
    CHECK_STR(modules[1].debug_id, "D2");
    CHECK(modules[2].module == NULL);
    struct json j;
    json_to_text(&j, false);
    named_modules_write_json(&j, &modules[1], 1);
    char *text = json_take(&j, NULL);
    CHECK_STR(text,
              "[{\"module\":\"app.exe\",\"code_id\":\"C2\",\"debug_id\":\"D2\",\"frames\":1,"
              "\"inlined\":0,\"sources\":[{\"symbols\":\"pdb\",\"frames\":1,\"inlined\":0}]}]");
    free(text);

    REQUIRE(symbol_rows_sum(rows, COUNT_OF(rows), &keep, &sums, &count, &fault) == ERR_NONE);
    REQUIRE(count == 4);
    CHECK_EQ(sums[0].frames, 7);
    CHECK_EQ(sums[1].frames, 6); /* both builds */
    CHECK_EQ(sums[1].symbols, SYMBOLS_PDB);
    CHECK_STR(sums[2].module, "(no module)");
    arena_free(&keep);
}

/* COUNT cases: each third one fails with signature "rare", the others are accepted as "old". */
static uint64_t put_run(struct store_fixture *f, uint32_t count)
{
    struct run_info run = {.label = "run", .branch = "", .platform = ""};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < count; i++) {
        const bool rare = i % 3 == 0;
        struct run_case c = {.scenario = "null_write",
                             .variant = arena_printf(&f->keep, "v%u", i),
                             .known_id = rare ? NULL : "old",
                             .result = {.verdict = rare ? VERDICT_FAIL : VERDICT_XFAIL,
                                        .reason = "",
                                        .signature = rare ? "dump=rare" : "dump=usual"}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 2, &f->fault) == ERR_NONE);
    return run.id;
}

TEST(every_case_of_a_large_run_is_counted)
{
    enum { CASES = 1500 };
    struct known items[] = {{.id = "old"}, {.id = "unused"}};
    const struct known_list known = {.items = items, .count = COUNT_OF(items)};
    struct case_difference *list = NULL;
    struct store_fixture f;
    struct triage triage;
    uint32_t *hits = NULL, count = 0;
    store_set_up(&f);
    const uint64_t first = put_run(&f, 3), run = put_run(&f, CASES);
    REQUIRE(acceptance_hits(f.store, run, &known, &f.keep, &hits, &f.fault) == ERR_NONE);
    CHECK_EQ(hits[0], CASES / 3 * 2);
    CHECK_EQ(hits[1], 0);
    REQUIRE(triage_make(f.store, "latest", &f.keep, &triage, &f.fault) == ERR_NONE);
    REQUIRE(case_differences_make(f.store, &triage, &f.keep, &list, &count, &f.fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_STR(list[0].signatures[0].text, "dump=usual");
    CHECK_STR(list[0].known_id, "old");
    CHECK_EQ(list[0].failure->verdict, VERDICT_XFAIL);
    CHECK_EQ(list[0].failure->cases, CASES / 3 * 2);
    CHECK_EQ(list[0].failure->since.failing_run, first);
    CHECK_EQ(list[0].rank_before, 1);
    CHECK_EQ(list[1].failure->cases, CASES / 3);
    CHECK_EQ(list[1].failure->since.failing_run, first);
    CHECK_EQ(list[1].rank_before, 2);
    CHECK(list[1].known_id == NULL);
    store_tear_down(&f);
}

/* Two faults with one signature are two differences, and one fault with seven is one. */
TEST(differences_are_by_mechanism_and_place)
{
    static const struct {
        const char *signature, *module;
    } rows[] = {
        {"dump=unexplained", "one.dll"},
        {"dump=unexplained", "two.dll"},
        {"a", "two.dll"},
        {"b", "two.dll"},
        {"b", "two.dll"},
        {"c", "two.dll"},
        {"d", "two.dll"},
        {"e", "two.dll"},
        {"f", "two.dll"},
    };
    struct store_fixture f;
    struct run_info run = {.label = "run", .branch = "", .platform = ""};
    struct case_difference *list = NULL;
    struct triage triage;
    uint32_t count = 0;
    store_set_up(&f);
    (void)put_run(&f, 3);
    REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct finding finding = {.engine = "dump",
                                  .against = "truth",
                                  .wrong = "dump",
                                  .cause = CAUSE_UNEXPLAINED,
                                  .module = rows[i].module,
                                  .fails = true,
                                  .against_truth = true};
        struct run_case c = {.scenario = "null_write",
                             .variant = arena_printf(&f.keep, "v%zu", COUNT_OF(rows) - i),
                             .result = {.verdict = VERDICT_FAIL,
                                        .reason = "it differs",
                                        .signature = rows[i].signature,
                                        .findings = &finding,
                                        .finding_count = 1}};
        REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f.store, run.id, RUN_COMPLETE, 2, &f.fault) == ERR_NONE);
    REQUIRE(triage_make(f.store, "latest", &f.keep, &triage, &f.fault) == ERR_NONE);
    REQUIRE(case_differences_make(f.store, &triage, &f.keep, &list, &count, &f.fault) == ERR_NONE);
    REQUIRE(count == 2);
    CHECK_STR(list[0].failure->place, "two.dll");
    CHECK_EQ(list[0].failure->cases, 8);
    CHECK_EQ(list[0].rank_before, 0);
    CHECK_EQ(list[0].signature_count, DIFFERENCE_SIGNATURES);
    CHECK_EQ(list[0].signatures_left, 2);
    CHECK_STR(list[0].signatures[0].text, "b");
    CHECK_EQ(list[0].signatures[0].cases, 2);
    CHECK_STR(list[0].signatures[1].text, "a"); /* of equal ones the first by name */
    CHECK_STR(list[0].signatures[4].text, "dump=unexplained");
    CHECK_EQ(list[0].example_count, DIFFERENCE_EXAMPLES);
    CHECK_STR(list[0].examples[0]->variant, "v1");
    CHECK_STR(list[0].examples[4]->variant, "v5");
    CHECK_STR(list[1].failure->place, "one.dll");
    CHECK_EQ(list[1].example_count, 1);
    store_tear_down(&f);
}

/* Groups of failing and of unsupported cases: the largest first, of equals the one that came first;
 * and what counts as captured. */
TEST(the_largest_group_comes_first_and_captured_is_what_left_something)
{
    static const struct {
        enum verdict verdict;
        enum case_kind kind;
        const char *reason, *module;
        uint64_t record_bytes, dump_bytes;
    } rows[] = {
        {VERDICT_UNSUPPORTED, CASE_KIND_CRASH, "once", "", 0, 0},
        {VERDICT_FAIL, CASE_KIND_CRASH, "small", "z.dll", 9, 0},
        {VERDICT_UNSUPPORTED, CASE_KIND_CRASH, "twice", "", 0, 0},
        {VERDICT_FAIL, CASE_KIND_CRASH, "large", "b.dll", 0, 9},
        {VERDICT_FAIL, CASE_KIND_CRASH, "large", "b.dll", 9, 9},
        {VERDICT_UNSUPPORTED, CASE_KIND_CRASH, "twice", "", 0, 0},
        {VERDICT_UNSUPPORTED, CASE_KIND_CRASH, "again", "", 0, 0},
        {VERDICT_FAIL, CASE_KIND_CRASH, "other", "a.dll", 0, 0},
        {VERDICT_PASS, CASE_KIND_CALM, "", "", 0, 0},
    };
    static const char *const unsupported[] = {"twice", "once", "again"};
    struct run_case cases[COUNT_OF(rows)];
    struct finding findings[COUNT_OF(rows)];
    struct engine_score scores[COUNT_OF(rows)];
    const struct run_info run = {.label = "run", .branch = "", .platform = ""};
    struct run_figures figures;
    struct fault fault = FAULT_INIT;
    struct summary summary;
    struct arena keep;

    arena_init(&keep, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        findings[i] = (struct finding){.engine = "dump",
                                       .against = "truth",
                                       .wrong = "dump",
                                       .cause = CAUSE_UNEXPLAINED,
                                       .module = rows[i].module,
                                       .fails = true,
                                       .against_truth = true};
        /* the group that comes first has the longest stack */
        scores[i] = (struct engine_score){
            .engine = "dump", .subject = true, .state = STACK_OK, .frames = i == 1 ? 9 : 1};
        cases[i] = (struct run_case){
            .scenario = "null_write",
            .variant = arena_printf(&keep, "v%zu", i),
            .kind = rows[i].kind,
            .timing = {.record_bytes = rows[i].record_bytes, .dump_bytes = rows[i].dump_bytes},
            .result = {.verdict = rows[i].verdict,
                       .reason = rows[i].reason,
                       .signature = rows[i].reason,
                       .scores = &scores[i],
                       .score_count = 1,
                       .findings = &findings[i],
                       .finding_count = rows[i].verdict == VERDICT_FAIL}};
    }
    REQUIRE(figures_prepare(&run, cases, COUNT_OF(rows), &keep, &figures, &fault) == ERR_NONE);
    CHECK_EQ(figures.captures_expected, 4);
    CHECK_EQ(figures.captured, 3);
    REQUIRE(summary_make(&figures, &keep, &summary, &fault) == ERR_NONE);
    REQUIRE(summary.not_shown.count == COUNT_OF(unsupported));
    for (size_t i = 0; i < COUNT_OF(unsupported); i++)
        CHECK_STR(summary.not_shown.rows[i].reason, unsupported[i]);
    CHECK_EQ(summary.not_shown.cases, 4);
    REQUIRE(summary.failing.count >= 2);
    for (uint32_t i = 1; i < summary.failing.count; i++)
        CHECK(summary.failing.rows[i - 1].count >= summary.failing.rows[i].count);
    CHECK_STR(summary.failing.rows[0].reason, "large");
    CHECK_EQ(summary.failing.rows[0].count, 2);
    CHECK(summary.failing.rows[0].cases[0] == &cases[3]);
    CHECK(summary.failing.rows[0].cases[1] == &cases[4]);
    CHECK_STR(summary.failing.rows[1].reason, "small");
    CHECK(summary.failing.rows[1].cases[0] == &cases[1]);
    arena_free(&keep);
}

/* ---- runs that were judged without a database --------------------------------------------- */

TEST(a_run_that_was_judged_is_kept_whole_and_complete)
{
    for (uint32_t count = 0; count <= 3; count++) {
        struct run_case cases[4];
        struct store_fixture f;
        struct run_info run = {.label = "run", .branch = "", .platform = ""}, back;
        test_row(count == 0 ? "no case" : "cases");
        store_set_up(&f);
        for (uint32_t i = 0; i < COUNT_OF(cases); i++)
            cases[i] =
                (struct run_case){.scenario = "null_write",
                                  .variant = arena_printf(&f.keep, "v%u", i),
                                  .result = {.verdict = i == 0 ? VERDICT_FAIL : VERDICT_PASS}};
        REQUIRE(run_keep(f.store, &run, cases, count, &f.keep, &f.fault) == ERR_NONE);
        REQUIRE(store_read_run(f.store, run.id, &f.keep, &back, &f.fault) == ERR_NONE);
        CHECK_EQ(back.state, RUN_COMPLETE);
        CHECK(back.finished_ns != 0);
        CHECK_EQ(back.case_count, count);
        CHECK_EQ(back.verdicts[VERDICT_FAIL], count > 0);
        CHECK_EQ(back.verdicts[VERDICT_PASS], count > 0 ? count - 1 : 0);
        store_tear_down(&f);
    }
}
