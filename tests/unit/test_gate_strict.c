/* What closes a gate only when it is strict, how many cases may pass by acceptance, and the run
 * that is made of parts. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gate_fixture.h"
#include "stream/shadow_result.h"
#include "stream/totals.h"
#include "study/merge.h"

/* A complete run of three cases, of which XFAILS pass only by acceptance; the frames of app.exe
 * have their names from FROM. */
static uint64_t put_named(struct store_fixture *f, struct run_info run, uint32_t xfails,
                          uint64_t finished_ns, enum symbols_from from)
{
    const struct module module = {.name = "app.exe", .unloaded_at_ns = MODULE_STILL_LOADED};
    struct frame frame = {
        .module = &module, .module_name = "app.exe", .function = "f", .symbols = from};
    struct stack stack = {.frames = &frame, .frame_count = 1, .role = THREAD_ROLE_SUSPECT};
    static const char *const names[] = {"one", "two", "three"};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < COUNT_OF(names); i++) {
        struct engine_claim claim = {.engine = "offset:rtl",
                                     .subject = true,
                                     .stacks = &stack,
                                     .stack_count = from != SYMBOLS_NONE};
        struct engine_score score = {
            .engine = "offset:rtl", .subject = true, .judged = true, .exact = true};
        struct run_case c = {.scenario = names[i],
                             .variant = "ob2",
                             .kind = CASE_KIND_CRASH,
                             .timing = {.record_bytes = 1},
                             .claims = &claim,
                             .claim_count = 1,
                             .result = {.verdict = i < xfails ? VERDICT_XFAIL : VERDICT_PASS,
                                        .reason = i < xfails ? "known" : "",
                                        .right = "all",
                                        .scores = &score,
                                        .score_count = 1}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, finished_ns, &f->fault) == ERR_NONE);
    return run.id;
}

static uint64_t put_run(struct store_fixture *f, struct run_info run, uint32_t xfails,
                        uint64_t finished_ns)
{
    return put_named(f, run, xfails, finished_ns, SYMBOLS_NONE);
}

static struct run_info plain(void)
{
    return (struct run_info){.label = "run",
                             .command = "twinstack run",
                             .commit = "c",
                             .branch = "main",
                             .platform = "linux",
                             .compiler = "clang 19"};
}

TEST(other_conditions_close_the_gate_only_when_strict)
{
    static const struct {
        const char *name, *compiler, *checkout, *check; /* CHECK NULL: there is none */
        enum symbols_from then, now;
    } rows[] = {
        {"the same", "clang 19", "c", NULL, SYMBOLS_PDB, SYMBOLS_PDB},
        {"names from exports only", "clang 19", "c", "symbols", SYMBOLS_PDB, SYMBOLS_EXPORT},
        {"another compiler", "clang 20", "c", "environment", SYMBOLS_NONE, SYMBOLS_NONE},
        {"another commit in the folder", "clang 19", "d", "checkout", SYMBOLS_NONE, SYMBOLS_NONE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int strict = 0; strict < 2; strict++) {
            struct store_fixture f;
            struct gate gate;
            store_set_up(&f);
            test_row(rows[i].name);
            struct run_info now = plain();
            now.compiler = rows[i].compiler;
            (void)put_named(&f, plain(), 0, 1, rows[i].then);
            (void)put_named(&f, now, 0, 1, rows[i].now);
            decide(&f,
                   (struct gate_request){.against = "1",
                                         .checkout = rows[i].checkout,
                                         .max_accepted = GATE_ACCEPTED_OF_BASELINE,
                                         .strict = strict != 0},
                   &gate);
            CHECK_EQ(gate.open, rows[i].check == NULL || strict == 0);
            if (rows[i].check != NULL) {
                const struct gate_check *check = check_of(&gate, rows[i].check);
                if (CHECK(check != NULL))
                    CHECK_EQ(check->holds, strict == 0);
            }
            store_tear_down(&f);
        }
    }
}

TEST(as_many_cases_as_allowed_may_pass_by_acceptance)
{
    static const struct {
        const char *name;
        uint32_t before, now;
        uint64_t most; /* or GATE_ACCEPTED_OF_BASELINE */
        bool alone, open;
    } rows[] = {{"alone: as many as allowed", 0, 2, 2, true, true},
                {"alone: one more", 0, 2, 1, true, false},
                {"alone: any number", 0, 3, GATE_ACCEPTED_OF_BASELINE, true, true},
                {"as many as the baseline", 2, 2, GATE_ACCEPTED_OF_BASELINE, false, true},
                {"one more than the baseline", 1, 2, GATE_ACCEPTED_OF_BASELINE, false, false},
                {"one more than the baseline, allowed", 1, 2, 2, false, true},
                {"two more than allowed", 1, 3, 1, false, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        if (!rows[i].alone)
            (void)put_run(&f, plain(), rows[i].before, 1);
        (void)put_run(&f, plain(), rows[i].now, 1);
        decide(&f,
               (struct gate_request){.against = rows[i].alone ? NULL : "1",
                                     .max_accepted = rows[i].most},
               &gate);
        CHECK_EQ(gate.open, rows[i].open);
        store_tear_down(&f);
    }
}

/* A complete run of the cases in TEXT, each as SCENARIO/VARIANT/REPEAT; '~' before one: it passes
 * only by acceptance. */
static void put_cases(struct store_fixture *f, const char *text)
{
    struct run_info run = plain();
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (const char *at = text; *at != '\0'; at += strspn(at, " ")) {
        const bool accepted = *at == '~';
        char scenario[8], variant[8];
        struct run_case c = {.scenario = scenario,
                             .variant = variant,
                             .kind = CASE_KIND_CRASH,
                             .result = {.verdict = accepted ? VERDICT_XFAIL : VERDICT_PASS,
                                        .reason = "",
                                        .right = "all"}};
        at += accepted;
        REQUIRE(sscanf(at, "%7[^/]/%7[^/]/%u", scenario, variant, &c.repeat) == 3);
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
        at += strcspn(at, " ");
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 1, &f->fault) == ERR_NONE);
}

TEST(acceptances_that_the_baseline_did_not_have_are_counted)
{
    static const struct {
        const char *name, *before, *now;
        uint32_t accepted, added, most;
    } rows[] = {
        {"the same ones, in another order", "~b/o/0 ~a/o/0 ~c/o/0", "~a/o/0 ~c/o/0 ~b/o/0", 3, 0,
         3},
        {"two builds, in another order", "~a/o/0 ~a/p/0", "~a/p/0 ~a/o/0", 2, 0, 2},
        {"of another build", "~a/o/0", "~a/p/0", 1, 1, 1},
        {"of another scenario", "~a/o/0", "~b/o/0", 1, 1, 1},
        {"it passed before", "a/o/0 ~b/o/0", "~a/o/0 ~b/o/0", 2, 1, 1},
        {"it was not there", "b/o/0", "~a/o/0 b/o/0", 1, 1, 0},
        {"one more repeat", "~a/o/0", "~a/o/0 ~a/o/1", 2, 0, 1},
        {"one of the repeats was accepted", "a/o/0 ~a/o/1", "~a/o/0", 1, 0, 1},
        {"each repeat of a new one counts", "~b/o/0", "~a/o/0 ~a/o/1 ~b/o/0", 3, 2, 1},
        {"new ones before, between and after", "~b/o/0 ~d/o/0",
         "~a/o/0 ~b/o/0 ~c/o/0 ~d/o/0 ~e/o/0", 5, 3, 2},
        {"one that is gone", "~a/o/0 ~b/o/0 ~c/o/0", "~c/o/0", 1, 0, 3},
        {"none any more", "~a/o/0", "a/o/0", 0, 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        put_cases(&f, rows[i].before);
        put_cases(&f, rows[i].now);
        decide(&f, (struct gate_request){.against = "1", .max_accepted = GATE_ACCEPTED_OF_BASELINE},
               &gate);
        const struct gate_check *check = check_of(&gate, "accepted");
        if (CHECK(check != NULL)) {
            CHECK_STR(check->text,
                      arena_printf(&f.keep,
                                   "%u cases pass only by acceptance, %u of them new since run 1, "
                                   "at most %u allowed (--max-accepted)",
                                   rows[i].accepted, rows[i].added, rows[i].most));
            CHECK_EQ(check->holds, rows[i].accepted <= rows[i].most);
        }
        store_tear_down(&f);
    }
}

TEST(a_merged_run_starts_and_ends_with_its_last_part)
{
    static const struct {
        const char *name;
        uint64_t started_ns[2], finished_ns[2];
    } rows[] = {{"one after the other", {100, 200}, {150, 260}},
                {"the second part ran first", {200, 100}, {260, 150}},
                {"one inside the other", {100, 120}, {300, 140}}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const char *const words[] = {"1", "2"};
        struct store_fixture f;
        struct run_info merged;
        const uint64_t *start = rows[i].started_ns, *end = rows[i].finished_ns;
        store_set_up(&f);
        test_row(rows[i].name);
        for (uint32_t k = 0; k < 2; k++) {
            struct run_info part = plain();
            part.command = k == 0 ? "twinstack run --shard 1/2" : "twinstack run --shard 2/2";
            part.selection.shard = k + 1;
            part.selection.shard_count = 2;
            part.started_ns = start[k];
            (void)put_run(&f, part, 0, end[k]);
        }
        REQUIRE(study_merge(f.store, words, 2, &f.keep, &merged, &f.fault) == ERR_NONE);
        CHECK_EQ(merged.started_ns, start[0] > start[1] ? start[0] : start[1]);
        CHECK_EQ(merged.finished_ns, end[0] > end[1] ? end[0] : end[1]);
        CHECK_STR(merged.command, "twinstack run");
        store_tear_down(&f);
    }
}

/* merge.h. Each row changes one thing of the second of two parts. */
TEST(runs_are_merged_that_are_parts_of_one)
{
    enum what { NOTHING, SHARD, SHARDS, ALONE, RUNNING, EXPR, VARIANTS, TEXT };
    static const struct {
        const char *name;
        enum what what;
        uint32_t number;
        size_t field; /* of TEXT */
        const char *text, *path, *hint;
        enum status status;
    } rows[] = {
        {"two parts", NOTHING, 0, 0, NULL, "", NULL, ERR_NONE},
        {"no part", SHARDS, 0, 0, NULL, "2", "it was not taken with --shard", ERR_USAGE},
        {"of other parts", SHARDS, 3, 0, NULL, "1 and 2", "their numbers of parts differ",
         ERR_USAGE},
        {"one that has not ended", RUNNING, 0, 0, NULL, "2", "it is not complete", ERR_USAGE},
        {"the same part", SHARD, 1, 0, NULL, "1 and 2", "both are the same part", ERR_USAGE},
        {"the second is missing", ALONE, 0, 0, NULL, "part 2 of 2", "it is missing", ERR_ABSENT},
        {"-k", EXPR, 0, 0, "x", "1 and 2", "their -k differ", ERR_USAGE},
        {"--variant", VARIANTS, 0, 0, "x", "1 and 2", "their --variant differ", ERR_USAGE},
        {"commit", TEXT, 0, offsetof(struct run_info, commit), "x", "1 and 2",
         "their commits differ", ERR_USAGE},
        {"branch", TEXT, 0, offsetof(struct run_info, branch), "x", "1 and 2",
         "their branches differ", ERR_USAGE},
        {"platform", TEXT, 0, offsetof(struct run_info, platform), "x", "1 and 2",
         "their platforms differ", ERR_USAGE},
        {"compiler", TEXT, 0, offsetof(struct run_info, compiler), "x", "1 and 2",
         "their compilers differ", ERR_USAGE},
        {"flags", TEXT, 0, offsetof(struct run_info, flags), "x", "1 and 2",
         "their compiler flags differ", ERR_USAGE},
        {"acceptances", TEXT, 0, offsetof(struct run_info, known_text), "x", "1 and 2",
         "their lists of acceptances differ", ERR_USAGE},
        {"another processor", TEXT, 0, offsetof(struct run_info, cpu), "x", "", NULL, ERR_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const char *const words[] = {"1", "2"};
        struct store_fixture f;
        struct fault fault = FAULT_INIT;
        struct run_info merged;
        store_set_up(&f);
        test_row(rows[i].name);
        for (uint32_t k = 0; k < 2; k++) {
            struct run_info part = plain();
            const enum what what = k == 1 ? rows[i].what : NOTHING;
            part.command = k == 0 ? "twinstack run --shard=1/2 -k a --json"
                                  : "twinstack run --shard=2/2 -k a --json";
            part.cpu = "c";
            part.selection.known = true;
            part.selection.shard = what == SHARD ? rows[i].number : k + 1;
            part.selection.shard_count = what == SHARDS ? rows[i].number : 2;
            part.selection.expr = what == EXPR ? rows[i].text : NULL;
            part.selection.variants = what == VARIANTS ? rows[i].text : NULL;
            if (what == TEXT)
                memcpy((char *)&part + rows[i].field, &rows[i].text, sizeof rows[i].text);
            if (what == RUNNING)
                REQUIRE(store_begin_run(f.store, &part, &f.keep, &f.fault) == ERR_NONE);
            else
                (void)put_run(&f, part, 0, 9);
        }
        CHECK_EQ(
            study_merge(f.store, words, rows[i].what == ALONE ? 1 : 2, &f.keep, &merged, &fault),
            rows[i].status);
        CHECK_STR(fault.hint, rows[i].hint);
        CHECK_STR(fault.path, rows[i].path);
        if (rows[i].status == ERR_NONE) {
            CHECK_STR(merged.cpu, rows[i].what == TEXT ? "several kinds" : "c");
            CHECK_STR(merged.command, "twinstack run -k a --json");
            CHECK_EQ(merged.selection.shard, 0);
            CHECK_EQ(merged.selection.shard_count, 0);
        }
        store_tear_down(&f);
    }
}

/* gate.h: the share in which an engine agrees, of the reports that it could read or not; 99 % if
 * nothing else is asked. */
TEST(sampled_reports_decide_by_their_agreement)
{
    static const struct {
        const char *name;
        uint32_t same, differs, failed;
        double least;
        bool strict, enough, agrees;
        const char *text;
    } rows[] = {
        {"99 of 100", 99, 1, 0, NAN, false, true, true,
         "agrees with offset:rtl in 99.00 % of 100 reports (1 differ, 0 failed), at least 99.00 % "
         "demanded"},
        {"98 of 100", 98, 1, 1, NAN, true, true, false,
         "agrees with offset:rtl in 98.00 % of 100 reports (1 differ, 1 failed), at least 99.00 % "
         "demanded"},
        {"none", 0, 0, 0, NAN, false, false, true, NULL},
        {"29", 29, 0, 0, NAN, false, true, true,
         "agrees with offset:rtl in 100.00 % of 29 reports (0 differ, 0 failed), at least 99.00 % "
         "demanded"},
        {"29 are too few to be strict", 29, 0, 0, 0.5, true, false, true,
         "agrees with offset:rtl in 100.00 % of 29 reports (0 differ, 0 failed), at least 50.00 % "
         "demanded"},
        {"30 are enough", 15, 15, 0, 0.5, true, true, true,
         "agrees with offset:rtl in 50.00 % of 30 reports (15 differ, 0 failed), at least 50.00 % "
         "demanded"},
        {"two thirds are no 67 %", 2, 0, 1, 0.67, false, true, false,
         "agrees with offset:rtl in 66.66 % of 3 reports (0 differ, 1 failed), at least 67.00 % "
         "demanded"},
        {"nothing is demanded", 0, 1, 0, 0, false, true, true,
         "agrees with offset:rtl in 0.00 % of 1 reports (1 differ, 0 failed), at least 0.00 % "
         "demanded"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct gate_request request = {.strict = rows[i].strict,
                                             .min_agreement = rows[i].least};
        const uint32_t judged = rows[i].same + rows[i].differs + rows[i].failed;
        struct shadow_engine engines[] = {{"offset:rtl", NULL, SHADOW_SAME, NULL, NULL, 1},
                                          {.engine = "dump", .against = "offset:rtl"}};
        struct shadow s = {
            .hour = "2026-11-22T08", .verdict = "PASS", .engines = engines, .count = 2};
        struct totals *totals = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct gate gate;
        char path[600];
        bool is_new = false;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/agreement-%zu", test_scratch(), i);
        CHECK_EQ(gate_decide_shadow(path, &request, &keep, &gate, &fault), ERR_ABSENT);
        fault_clear(&fault);
        REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE &&
                totals_begin(totals, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < judged; k++) {
            s.id = arena_printf(&keep, "id-%u", (unsigned)k);
            engines[1].result = k < rows[i].same                     ? SHADOW_SAME
                                : k < rows[i].same + rows[i].differs ? SHADOW_DIFFERS
                                                                     : SHADOW_FAILED;
            REQUIRE(totals_add_shadow(totals, &s, &is_new, &fault) == ERR_NONE);
        }
        REQUIRE(totals_end(totals, &fault) == ERR_NONE);
        totals_close(totals);
        REQUIRE(gate_decide_shadow(path, &request, &keep, &gate, &fault) == ERR_NONE);
        REQUIRE(gate.check_count == (judged > 0 ? 2 : 1));
        CHECK_STR(gate.checks[0].name, "sampled reports");
        CHECK_EQ(gate.checks[0].holds, rows[i].enough);
        CHECK_STR(gate.checks[0].text, arena_printf(&keep, "%u were judged, at least %d demanded",
                                                    (unsigned)judged, rows[i].strict ? 30 : 1));
        if (judged > 0) {
            CHECK_STR(gate.checks[1].name, "dump");
            CHECK_EQ(gate.checks[1].holds, rows[i].agrees);
            CHECK_STR(gate.checks[1].text, rows[i].text);
        }
        CHECK(gate.shadow && gate.open == (rows[i].enough && rows[i].agrees));
        arena_free(&keep);
    }
}
