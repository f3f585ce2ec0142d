/* study/run_lists: what named the frames, signatures of cases, and what acceptances cover. */
#include <stdlib.h>
#include <string.h>

#include "store_fixture.h"
#include "study/run_keep.h"
#include "study/run_lists.h"
#include "study/signatures.h"
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

/* ---- signatures of stored runs -------------------------------------------------------------- */

/* A run with a case for each letter of FUNCTIONS, whose stack is that function. */
static uint64_t put_functions(struct store_fixture *f, const char *functions)
{
    struct run_info run = {.label = "run", .branch = "", .platform = ""};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; functions[i] != '\0'; i++) {
        const char name[] = {functions[i], '\0'};
        struct frame frame = {.module_name = "app.exe", .function = name, .frame_class = CLASS_OWN};
        struct stack stack = {.frames = &frame, .frame_count = 1, .role = THREAD_ROLE_SUSPECT};
        struct engine_claim claim = {
            .engine = "dump", .subject = true, .stacks = &stack, .stack_count = 1};
        struct run_case c = {.scenario = "case",
                             .variant = arena_printf(&f->keep, "v%u", i),
                             .claims = &claim,
                             .claim_count = 1,
                             .result = {.reason = "", .right = "all"}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 1, &f->fault) == ERR_NONE);
    return run.id;
}

TEST(signatures_of_a_run_know_the_runs_before_it)
{
    static const struct {
        const char *name, *before; /* the text of a file */
        enum status status;
        struct {
            const char *text, *first_seen;
            uint32_t rank_before;
        } rows[4];
    } lists[] = {
        {"from the database",
         NULL,
         ERR_NONE,
         {{"b", "run 1", 1}, {"a", "run 1", 0}, {"c", "run 3", 2}, {"d", "run 4", 0}}},
        {"from a file",
         "{\"signatures\":[{\"signature\":\"d\",\"rank\":7,\"first_seen\":\"x\"},"
         "{\"signature\":\"none\",\"rank\":1},{\"signature\":\"b\",\"rank\":2},{\"rank\":3}]}",
         ERR_NONE,
         {{"b", "run 4", 2}, {"a", "run 4", 0}, {"c", "run 4", 0}, {"d", "x", 7}}},
        {"from a file of something else", "{}", ERR_MALFORMED, {{NULL, NULL, 0}}},
    };
    struct store_fixture f;
    store_set_up(&f);
    (void)put_functions(&f, "aab");
    (void)put_functions(&f, ""); /* is no run before */
    (void)put_functions(&f, "bbbc");
    REQUIRE(put_functions(&f, "dbacb") == 4);
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct signature_request request = {.engine = "dump"};
        struct signature_list list = {.count = 0};
        struct fault fault = FAULT_INIT;
        bool database = true;
        test_row(lists[i].name);
        if (lists[i].before != NULL) {
            request.before = arena_printf(&f.keep, "%s/before-%zu.json", test_scratch(), i);
            test_write(request.before, lists[i].before, strlen(lists[i].before));
        }
        CHECK_EQ(signatures_of_run(f.store, "4", &request, &f.keep, &list, &database, &fault),
                 lists[i].status);
        CHECK(!database);
        if (lists[i].status != ERR_NONE) {
            CHECK_STR(fault.path, request.before);
            continue;
        }
        CHECK_STR(list.of, "run 4");
        CHECK_EQ(list.stacks, 5);
        REQUIRE(list.count == 4);
        for (uint32_t k = 0; k < 4; k++) {
            CHECK_STR(list.items[k].text, lists[i].rows[k].text);
            CHECK_EQ(list.items[k].rank, k + 1);
            CHECK_EQ(list.items[k].count, k == 0 ? 2 : 1);
            CHECK_STR(list.items[k].first_seen, lists[i].rows[k].first_seen);
            CHECK_EQ(list.items[k].rank_before, lists[i].rows[k].rank_before);
        }
    }
    const struct signature_request other = {.engine = "offset:rtl"};
    struct signature_list list;
    bool database = true;
    REQUIRE(signatures_of_run(f.store, "4", &other, &f.keep, &list, &database, &f.fault) ==
            ERR_NONE);
    CHECK_EQ(list.count, 0);
    struct fault fault = FAULT_INIT;
    CHECK_EQ(signatures_of_run(f.store, "9", &other, &f.keep, &list, &database, &fault),
             ERR_ABSENT);
    CHECK(!database);
    store_tear_down(&f);
}

/* ---- partial results ------------------------------------------------------------------------ */

static const struct signature_count seen[] = {
    {.text = "a", .count = 5, .first_seen = "run 1", .example = "x.ob2"},
    {.text = "b", .count = 3, .error = 2},
    {.text = "c", .count = 1},
};

#define ROW_A "5\t0\trun 1\tx.ob2\ta\n"
#define ROW_B "3\t2\t\t\tb\n"
#define ROW_C "1\t0\t\t\tc\n"

/* The text as stream/partial.h describes it. */
TEST(what_a_partial_result_leaves_out_raises_its_floor)
{
    static const struct {
        const char *name;
        uint64_t top, floor;
        const char *want;
    } rows[] = {
        {"more than there are", 9, 0, "#signatures\t1\t3\t9\t0\t2\tnow\t\t\n" ROW_A ROW_B ROW_C},
        {"all", 3, 0, "#signatures\t1\t3\t9\t0\t2\tnow\t\t\n" ROW_A ROW_B ROW_C},
        {"two", 2, 0, "#signatures\t1\t2\t9\t1\t2\tnow\t\t\n" ROW_A ROW_B},
        {"one", 1, 0, "#signatures\t1\t1\t9\t3\t2\tnow\t\t\n" ROW_A},
        {"two, above a higher floor", 2, 2, "#signatures\t1\t2\t9\t2\t2\tnow\t\t\n" ROW_A ROW_B},
        {"none", 0, 0, "#signatures\t1\t0\t9\t5\t2\tnow\t\t\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct signature_list list = {.of = "now",
                                            .items = seen,
                                            .count = COUNT_OF(seen),
                                            .stacks = 9,
                                            .bad = 2,
                                            .floor = rows[i].floor};
        char text[400] = "";
        FILE *out = tmpfile();
        test_row(rows[i].name);
        REQUIRE(out != NULL);
        CHECK(signatures_write_partial(out, &list, rows[i].top, false));
        rewind(out);
        (void)!fread(text, 1, sizeof text - 1, out);
        (void)fclose(out);
        CHECK_STR(text, rows[i].want);
    }
}

TEST(a_partial_result_as_ndjson_has_a_line_for_its_head)
{
    const struct signature_list list = {
        .of = "now", .items = seen, .count = COUNT_OF(seen), .stacks = 9, .bad = 2};
    char text[600] = "";
    FILE *out = tmpfile();
    REQUIRE(out != NULL);
    CHECK(signatures_write_partial(out, &list, 1, true));
    rewind(out);
    (void)!fread(text, 1, sizeof text - 1, out);
    (void)fclose(out);
    CHECK_STR(text, "{\"schema_version\":1,\"of\":\"now\",\"total\":1,\"stacks\":9,\"floor\":3,"
                    "\"bad\":2}\n{\"signature\":\"a\",\"count\":5,\"first_seen\":\"run 1\","
                    "\"example\":\"x.ob2\"}\n");
}

/* Of a full disk no partial result must be left that looks whole. */
TEST(a_partial_result_that_is_not_written_whole_says_so)
{
    const struct signature_list list = {
        .of = "now", .items = seen, .count = COUNT_OF(seen), .stacks = 9};
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL)
        return; /* of Linux */
    CHECK(!signatures_write_partial(full, &list, 9, false));
    (void)fclose(full);
}

/* The first one left out what was seen once: that may have been "c". */
#define FIRST "#signatures\t1\t2\t9\t1\t2\tone\t\t\n" ROW_A "3\t0\t\t\tb\n"
#define SECOND "#signatures\t1\t2\t6\t0\t1\ttwo\t\t\n2\t0\trun 2\t\ta\n4\t0\trun 2\t\tc\n"
#define MOST_STACKS "1125899906842624" /* 2 to the 50th */

TEST(partial_results_add_up_or_are_named)
{
    static const struct {
        const char *name, *files[2]; /* texts; NULL: no such file */
        uint32_t count, most;
        enum status status;
        int wrong; /* the file that is named */
        uint64_t stacks, bad, floor;
        struct {
            const char *text, *first_seen;
            uint64_t count, error;
        } rows[3];
    } lists[] = {
        {"in order",
         {FIRST, SECOND},
         2,
         0,
         ERR_NONE,
         0,
         15,
         3,
         1,
         {{"a", "run 1", 7, 0}, {"c", "run 2", 5, 1}, {"b", "sum", 3, 0}}},
        {"in the other order",
         {SECOND, FIRST},
         2,
         0,
         ERR_NONE,
         0,
         15,
         3,
         1,
         {{"a", "run 1", 7, 0}, {"c", "run 2", 5, 1}, {"b", "sum", 3, 0}}},
        {"in one file",
         {FIRST SECOND},
         1,
         0,
         ERR_NONE,
         0,
         15,
         3,
         1,
         {{"a", "run 1", 7, 0}, {"c", "run 2", 5, 1}, {"b", "sum", 3, 0}}},
        {"the most frequent one",
         {FIRST, SECOND},
         2,
         1,
         ERR_NONE,
         0,
         15,
         3,
         5,
         {{"a", "run 1", 7, 0}}},
        {"the second is cut",
         {FIRST, "#signatures\t1\t2\t6\t0\t1\ttwo\t\t\n2\t0\t\t\ta\n"},
         2,
         0,
         ERR_TRUNCATED,
         1,
         0,
         0,
         0,
         {{NULL, NULL, 0, 0}}},
        {"in one file, and the second is cut in a row",
         {FIRST "#signatures\t1\t2\t6\t0\t1\ttwo\t\t\n2\t0\t\t\ta\n4\t"},
         1,
         0,
         ERR_TRUNCATED,
         0,
         0,
         0,
         0,
         {{NULL, NULL, 0, 0}}},
        {"the second is something else",
         {FIRST, "hello, this is no partial result\n"},
         2,
         0,
         ERR_MALFORMED,
         1,
         0,
         0,
         0,
         {{NULL, NULL, 0, 0}}},
        {"the second is not there",
         {FIRST, NULL},
         2,
         0,
         ERR_ABSENT,
         1,
         0,
         0,
         0,
         {{NULL, NULL, 0, 0}}},
        {"the first is empty", {"", SECOND}, 2, 0, ERR_TRUNCATED, 0, 0, 0, 0, {{NULL, NULL, 0, 0}}},
        {"as many stacks as can be",
         {"#signatures\t1\t0\t" MOST_STACKS "\t0\t0\tx\t\t\n"},
         1,
         0,
         ERR_NONE,
         0,
         UINT64_C(1) << 50,
         0,
         0,
         {{NULL, NULL, 0, 0}}},
        {"one more",
         {"#signatures\t1\t0\t" MOST_STACKS "\t0\t0\tx\t\t\n",
          "#signatures\t1\t0\t1\t0\t0\tx\t\t\n"},
         2,
         0,
         ERR_LIMIT,
         1,
         0,
         0,
         0,
         {{NULL, NULL, 0, 0}}},
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const struct signature_request request = {.engine = NULL};
        struct signature_list list = {.count = 0};
        struct fault fault = FAULT_INIT;
        const char *paths[2];
        struct arena keep;
        test_row(lists[i].name);
        arena_init(&keep, 0);
        for (uint32_t k = 0; k < lists[i].count; k++) {
            paths[k] = arena_printf(&keep, "%s/%zu-%u", test_scratch(), i, k);
            if (lists[i].files[k] != NULL)
                test_write(paths[k], lists[i].files[k], strlen(lists[i].files[k]));
        }
        CHECK_EQ(signatures_merged(paths, lists[i].count, "sum", &request, lists[i].most, &keep,
                                   &list, &fault),
                 lists[i].status);
        if (lists[i].status != ERR_NONE) {
            CHECK_STR(fault.path, paths[lists[i].wrong]);
        } else {
            CHECK_STR(list.of, "sum");
            CHECK_EQ(list.stacks, lists[i].stacks);
            CHECK_EQ(list.bad, lists[i].bad);
            CHECK_EQ(list.floor, lists[i].floor);
        }
        for (uint32_t k = 0; k < COUNT_OF(lists[i].rows) && lists[i].rows[k].text != NULL; k++) {
            REQUIRE(k < list.count);
            CHECK_STR(list.items[k].text, lists[i].rows[k].text);
            CHECK_STR(list.items[k].first_seen, lists[i].rows[k].first_seen);
            CHECK_EQ(list.items[k].count, lists[i].rows[k].count);
            CHECK_EQ(list.items[k].error, lists[i].rows[k].error);
            CHECK_EQ(list.items[k].rank, k + 1);
        }
        arena_free(&keep);
    }
}
