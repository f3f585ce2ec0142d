/* Two runs compared with what the database knows of this machine: study/run_difference.h. */
#include <stdlib.h>
#include <string.h>

#include "store_fixture.h"
#include "study/bench.h"
#include "study/clusters.h"
#include "study/run_difference.h"

/* ---- limits ----------------------------------------------------------------------------- */

struct made {
    const char *platform;
    uint32_t cases;
    uint64_t offset_ns, dump_ns; /* of each case */
};

static uint64_t put_run(struct store_fixture *f, const struct made *m)
{
    struct run_info run = {
        .label = "run", .branch = "main", .platform = m->platform, .started_ns = 1};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < m->cases; i++) {
        struct engine_claim claims[] = {
            {.engine = "offset:rtl", .subject = true, .cost = {.total_ns = m->offset_ns}},
            {.engine = "dump", .subject = true, .cost = {.total_ns = m->dump_ns}}};
        struct engine_score scores[] = {
            {.engine = "offset:rtl", .subject = true, .state = STACK_OK, .frames = 3},
            {.engine = "dump", .subject = true, .state = STACK_OK, .frames = 3}};
        struct run_case c = {.scenario = "null_write",
                             .variant = arena_printf(&f->keep, "v%u", (unsigned)i),
                             .kind = CASE_KIND_CRASH,
                             .claims = claims,
                             .claim_count = COUNT_OF(claims),
                             .result = {.verdict = VERDICT_PASS,
                                        .reason = "",
                                        .right = "all",
                                        .scores = scores,
                                        .score_count = COUNT_OF(scores)}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 2, &f->fault) == ERR_NONE);
    return run.id;
}

static void put_bench(struct store_fixture *f, uint64_t control_ns)
{
    struct run_info run = {.label = "bench", .platform = "linux", .started_ns = 1};
    const struct bench_sample samples[] = {{LANE_OFFSET, STAGE_TOTAL, false, 0, 1000},
                                           {LANE_CONTROL, STAGE_TOTAL, false, 0, control_ns}};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    REQUIRE(store_put_samples(f->store, run.id, samples, 2, &f->fault) == ERR_NONE);
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 2, &f->fault) == ERR_NONE);
}

static struct diff_limits limits_of(struct store_fixture *f, uint64_t id, double floor)
{
    struct run_info run = {.id = id, .state = RUN_COMPLETE, .platform = "linux", .case_count = 10};
    struct diff_side side = {.run = &run};
    struct difference out;
    REQUIRE(difference_make(f->store, &side, &side, floor, &f->keep, &out, &f->fault) == ERR_NONE);
    return out.limits;
}

/* The fence is the third quartile and three times what is between the quartiles, as a share above
 * the median: of 100, 110, 120, 130 and 140 that is 190 of 120. Fewer than four runs have none. */
TEST(the_fence_is_of_earlier_runs_of_the_platform_with_about_as_many_cases)
{
    static const struct {
        const char *name;
        struct made other; /* beside five runs that count */
        bool itself;       /* the other one is the run that is judged */
        double offset, dump;
    } rows[] = {
        {"of another platform", {"windows", 10, 9000, 9000}, false, 190.0 / 120 - 1, 0},
        {"of no platform", {NULL, 10, 9000, 9000}, false, 190.0 / 120 - 1, 0},
        {"two cases more", {"linux", 12, 9000, 9000}, false, 190.0 / 120 - 1, 0},
        {"two cases fewer", {"linux", 8, 9000, 9000}, false, 190.0 / 120 - 1, 0},
        {"without times", {"linux", 10, 0, 0}, false, 190.0 / 120 - 1, 0},
        {"the run itself", {"linux", 10, 9000, 9000}, true, 190.0 / 120 - 1, 0},
        /* of six values the quartiles are 112.5 and 137.5 or 102.5 and 127.5; of the dump 100, 100,
         * 100, 100, 100, 140: 0 */
        {"one case more", {"linux", 11, 150, 140}, false, (137.5 + 75) / 125 - 1, 0},
        {"one case fewer", {"linux", 9, 90, 60}, false, (127.5 + 75) / 115 - 1, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        test_row(rows[i].name);
        store_set_up(&f);
        for (uint64_t k = 0; k < 5; k++)
            (void)put_run(&f, &(struct made){"linux", 10, 100 + 10 * k, 100});
        const uint64_t other = put_run(&f, &rows[i].other);
        const struct diff_limits got = limits_of(&f, rows[i].itself ? other : 1000, 0.05);
        REQUIRE(got.fence_count == 2);
        CHECK_STR(got.fences[0].engine, "offset:rtl");
        CHECK_STR(got.fences[1].engine, "dump");
        CHECK_NEAR(got.fences[0].share, rows[i].offset, 1e-9);
        CHECK_NEAR(got.fences[1].share, rows[i].dump, 1e-9);
        store_tear_down(&f);
    }
}

TEST(the_newest_thirty_runs_make_the_fence)
{
    struct store_fixture f;
    store_set_up(&f);
    for (uint64_t k = 0; k < 32; k++) /* without the first two all are 100 */
        (void)put_run(&f, &(struct made){"linux", 10, k < 2 ? 9 : 100, k < 20 ? 500 : 100});
    const struct diff_limits got = limits_of(&f, 1000, 0.05);
    CHECK_NEAR(got.fences[0].share, 0, 1e-9);
    CHECK_NEAR(got.fences[1].share, (500 + 3 * 400) / 500.0 - 1, 1e-9); /* 18 of 30 are 500 */
    store_tear_down(&f);
}

TEST(noise_is_what_the_newest_bench_measured_or_what_is_tolerated)
{
    static const struct {
        const char *name;
        uint64_t older, control; /* of two benches; 0: there is none */
        double floor, noise, measured;
    } rows[] = {
        {"no bench", 0, 0, 0.05, 0.05, 0},      {"noisier than tolerated", 0, 1200, 0.05, 0.2, 0.2},
        {"less noisy", 0, 1200, 0.3, 0.3, 0.2}, {"faster than itself", 0, 900, 0.05, 0.1, 0.1},
        {"no noise", 0, 1000, 0.05, 0.05, 0},   {"the newest counts", 1900, 1200, 0.05, 0.2, 0.2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        test_row(rows[i].name);
        store_set_up(&f);
        for (int k = 0; k < 2; k++)
            if ((k == 0 ? rows[i].older : rows[i].control) > 0)
                put_bench(&f, k == 0 ? rows[i].older : rows[i].control);
        const struct diff_limits got = limits_of(&f, 1000, rows[i].floor);
        CHECK_NEAR(got.noise, rows[i].noise, 1e-9);
        CHECK_NEAR(got.measured, rows[i].measured, 1e-9);
        store_tear_down(&f);
    }
}

TEST(slower_is_a_subject_that_is_slower)
{
    static const struct {
        const char *name;
        struct diff_time times[2];
        bool slower;
    } rows[] = {
        {"neither", {{.subject = true, .change = {CHANGE_NONE, 0, 0, 0, 0}}}, false},
        {"the first", {{.subject = true, .change = {CHANGE_SLOWER, 0, 0, 0, 0}}}, true},
        {"the second",
         {{.subject = true}, {.subject = true, .change = {CHANGE_SLOWER, 0, 0, 0, 0}}},
         true},
        {"a reference", {{.subject = false, .change = {CHANGE_SLOWER, 0, 0, 0, 0}}}, false},
        {"faster", {{.subject = true, .change = {CHANGE_FASTER, 0, 0, 0, 0}}}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct diff_time times[2];
        memcpy(times, rows[i].times, sizeof times);
        test_row(rows[i].name);
        CHECK_EQ(difference_is_slower(&(struct run_diff){.times = times, .time_count = 2}),
                 rows[i].slower);
    }
    struct diff_time slower[] = {{.subject = true, .change = {CHANGE_SLOWER, 0, 0, 0, 0}}};
    CHECK(!difference_is_slower(&(struct run_diff){.times = slower, .time_count = 0}));
}

/* ---- the document ------------------------------------------------------------------------ */

#define CASE(NAME, VERDICT, SIGNATURE, REASON)                                                     \
    {.scenario = NAME,                                                                             \
     .variant = "ob2",                                                                             \
     .verdict = VERDICT,                                                                           \
     .signature = SIGNATURE,                                                                       \
     .reason = REASON}

/* Two runs of a platform and of another; a case in each group; times of two engines. */
static void make_sides(struct store_fixture *f, struct run_info runs[2], struct diff_side sides[2])
{
    static struct diff_case before[] = {
        CASE("as_before", VERDICT_FAIL, "s", "r"), CASE("fixed", VERDICT_FAIL, "s", "r"),
        CASE("gone", VERDICT_PASS, NULL, NULL),    CASE("other", VERDICT_FAIL, "old", "r"),
        CASE("same", VERDICT_PASS, NULL, NULL),    CASE("taken", VERDICT_ERROR, NULL, "e")};
    static struct diff_case now[] = {
        CASE("added", VERDICT_PASS, NULL, NULL),   CASE("as_before", VERDICT_FAIL, "s", "r"),
        CASE("fixed", VERDICT_PASS, NULL, NULL),   CASE("new_1", VERDICT_FAIL, "n", "why 1"),
        CASE("new_2", VERDICT_FAIL, "n", "why 2"), CASE("other", VERDICT_FAIL, "new", "r2"),
        CASE("same", VERDICT_PASS, NULL, NULL),    CASE("taken", VERDICT_XFAIL, NULL, "e")};
    for (uint32_t i = 0; i < COUNT_OF(before); i++)
        before[i].index = i;
    for (uint32_t i = 0; i < COUNT_OF(now); i++)
        now[i].index = i;
    now[4].repeat = 3;
    for (uint32_t i = 0; i < 2; i++)
        runs[i] = (struct run_info){.id = i + 7,
                                    .uuid = i == 0 ? "u7" : "u8",
                                    .state = RUN_COMPLETE,
                                    .platform = i == 0 ? "linux" : "windows",
                                    .case_count = i == 0 ? COUNT_OF(before) : COUNT_OF(now)};
    sides[0] = (struct diff_side){.run = &runs[0], .cases = before, .count = COUNT_OF(before)};
    sides[1] = (struct diff_side){.run = &runs[1], .cases = now, .count = COUNT_OF(now)};
    for (int side = 0; side < 2; side++) {
        struct diff_series *offset =
            diff_side_series(&sides[side], "offset:rtl", true, &f->keep, &f->fault);
        struct diff_series *judge =
            diff_side_series(&sides[side], "judge:gdb", false, &f->keep, &f->fault);
        REQUIRE(offset != NULL && judge != NULL);
        offset->total_ns[side == 0 ? 0 : 1] = side == 0 ? 1000 : 2000; /* as_before */
        offset->total_ns[side == 0 ? 4 : 6] = side == 0 ? 1000 : 8000; /* same */
    }
}

/* What WRITE writes, in KEEP. */
static const char *written(void (*write)(struct json *j, const struct difference *d),
                           const struct difference *d, struct arena *keep)
{
    struct json j;
    size_t bytes = 0;
    json_to_text(&j, false);
    write(&j, d);
    char *text = json_take(&j, &bytes);
    REQUIRE(text != NULL);
    const char *out = arena_text(keep, text, bytes);
    free(text);
    return out;
}

static void write_changes(struct json *j, const struct difference *d)
{
    difference_write_changes(j, &d->diff, &(struct difference_rows){.most = 0});
}

static void write_all(struct json *j, const struct difference *d)
{
    difference_write_json(j, d, &(struct difference_rows){.most = 0});
}

static void write_first(struct json *j, const struct difference *d)
{
    difference_write_json(j, d, &(struct difference_rows){.most = 1});
}

/* Of the second new case nothing is written where one of each group is asked for; counts are of
 * all. */
static const char head_text[] =
    "{\"schema_version\":1,\"a\":{\"id\":7,\"uuid\":\"u7\",\"state\":\"complete\",\"label\":null,"
    "\"started_ns\":0,\"finished_ns\":null,"
    "\"commit\":null,\"branch\":null,\"platform\":\"linux\",\"compiler\":null,\"flags\":null,"
    "\"cpu\":null,\"command\":null,\"tools\":[],"
    "\"environment\":[],\"managed_stacks\":[],"
    "\"case_count\":6,\"verdicts\":{\"PASS\":0,\"FAIL\":0,\"XFAIL\":0,\"XPASS\":0,\"FLAKY\":0,"
    "\"ERROR\":0,\"UNSUPPORTED\":0,\"NOT-CAPTURED-AS-EXPECTED\":0},"
    "\"progress\":null},"
    "\"b\":{\"id\":8,\"uuid\":\"u8\",\"state\":\"complete\",\"label\":null,\"started_ns\":0,"
    "\"finished_ns\":null,\"commit\":null,"
    "\"branch\":null,\"platform\":\"windows\",\"compiler\":null,\"flags\":null,\"cpu\":null,"
    "\"command\":null,\"tools\":[],"
    "\"environment\":[],\"managed_stacks\":[],"
    "\"case_count\":8,\"verdicts\":{\"PASS\":0,\"FAIL\":0,\"XFAIL\":0,\"XPASS\":0,\"FLAKY\":0,"
    "\"ERROR\":0,\"UNSUPPORTED\":0,\"NOT-CAPTURED-AS-EXPECTED\":0},"
    "\"progress\":null},"
    "\"sentence\":\"From run 7 to run 8: 2 cases fail that did not, 1 case is fixed,"
    " 1 case differs for another reason, 1 case that failed is accepted, 1 case is only in the "
    "later run,"
    " 1 case is gone (1 fails as before); too few samples to compare times; not the same around "
    "them: platform.\","
    "\"environment\":[{\"name\":\"platform\",\"a\":\"linux\",\"b\":\"windows\"}],"
    "\"totals\":{\"new\":2,\"fixed\":1,\"changed\":1,\"still\":1,\"same\":1,\"added\":1,\"gone\":1,"
    "\"accepted\":1,\"not_selected\":0},"
    "\"changes\":";
static const char first_changes[] =
    "{\"new\":[{\"scenario\":\"new_1\",\"variant\":\"ob2\",\"repeat\":0,\"was\":null,\"is\":"
    "\"FAIL\",\"signature\":\"n\",\"reason\":\"why 1\"}";
static const char second_change[] =
    ",{\"scenario\":\"new_2\",\"variant\":\"ob2\",\"repeat\":3,\"was\":null,\"is\":\"FAIL\","
    "\"signature\":\"n\",\"reason\":\"why 2\"}";
static const char other_changes[] =
    "],"
    "\"fixed\":[{\"scenario\":\"fixed\",\"variant\":\"ob2\",\"repeat\":0,\"was\":\"FAIL\",\"is\":"
    "\"PASS\",\"signature\":null,\"reason\":null}],"
    "\"changed\":[{\"scenario\":\"other\",\"variant\":\"ob2\",\"repeat\":0,\"was\":\"FAIL\",\"is\":"
    "\"FAIL\",\"signature\":\"new\",\"reason\":\"r2\"}],"
    "\"still\":[{\"scenario\":\"as_before\",\"variant\":\"ob2\",\"repeat\":0,\"was\":\"FAIL\","
    "\"is\":\"FAIL\",\"signature\":\"s\",\"reason\":\"r\"}],"
    "\"added\":[{\"scenario\":\"added\",\"variant\":\"ob2\",\"repeat\":0,\"was\":null,\"is\":"
    "\"PASS\",\"signature\":null,\"reason\":null}],"
    "\"gone\":[{\"scenario\":\"gone\",\"variant\":\"ob2\",\"repeat\":0,\"was\":\"PASS\",\"is\":"
    "null,\"signature\":null,\"reason\":null}],"
    "\"accepted\":[{\"scenario\":\"taken\",\"variant\":\"ob2\",\"repeat\":0,\"was\":\"ERROR\","
    "\"is\":\"XFAIL\",\"signature\":null,\"reason\":\"e\"}],"
    "\"not_selected\":[],"
    "\"counts\":{\"new\":2,\"fixed\":1,\"changed\":1,\"still\":1,\"same\":1,\"added\":1,\"gone\":1,"
    "\"accepted\":1,\"not_selected\":0}}";
static const char first_cases[] =
    ",\"cases\":[{\"group\":\"added\",\"scenario\":\"added\",\"variant\":\"ob2\",\"repeat\":0,"
    "\"a\":null,\"b\":\"PASS\",\"signature\":null,\"reason\":null},"
    "{\"group\":\"still\",\"scenario\":\"as_before\",\"variant\":\"ob2\",\"repeat\":0,\"a\":"
    "\"FAIL\",\"b\":\"FAIL\",\"signature\":\"s\",\"reason\":\"r\"},"
    "{\"group\":\"fixed\",\"scenario\":\"fixed\",\"variant\":\"ob2\",\"repeat\":0,\"a\":\"FAIL\","
    "\"b\":\"PASS\",\"signature\":null,\"reason\":null},"
    "{\"group\":\"gone\",\"scenario\":\"gone\",\"variant\":\"ob2\",\"repeat\":0,\"a\":\"PASS\","
    "\"b\":null,\"signature\":null,\"reason\":null},"
    "{\"group\":\"new\",\"scenario\":\"new_1\",\"variant\":\"ob2\",\"repeat\":0,\"a\":null,\"b\":"
    "\"FAIL\",\"signature\":\"n\",\"reason\":\"why 1\"}";
static const char second_case[] =
    ",{\"group\":\"new\",\"scenario\":\"new_2\",\"variant\":\"ob2\",\"repeat\":3,\"a\":null,\"b\":"
    "\"FAIL\",\"signature\":\"n\",\"reason\":\"why 2\"}";
static const char other_cases[] =
    ",{\"group\":\"changed\",\"scenario\":\"other\",\"variant\":\"ob2\",\"repeat\":0,\"a\":"
    "\"FAIL\",\"b\":\"FAIL\",\"signature\":\"new\",\"reason\":\"r2\"},"
    "{\"group\":\"same\",\"scenario\":\"same\",\"variant\":\"ob2\",\"repeat\":0,\"a\":\"PASS\","
    "\"b\":\"PASS\",\"signature\":null,\"reason\":null},"
    "{\"group\":\"accepted\",\"scenario\":\"taken\",\"variant\":\"ob2\",\"repeat\":0,\"a\":"
    "\"ERROR\",\"b\":\"XFAIL\",\"signature\":null,\"reason\":\"e\"}]";
static const char rest_text[] =
    ",\"broke\":3,\"clusters\":[{\"cases\":1,\"shared\":0,\"cause\":\"FAIL\","
    "\"module\":null,\"key\":"
    "\"6270d1df3f989556\",\"sentence\":\"why 1\",\"file\":null,\"verdict\":\"FAIL\",\"blames\":[],"
    "\"example\":{\"scenario\":\"new_1\",\"variant\":\"ob2\",\"repeat\":0,\"folder\":null},"
    "\"reason\":\"why 1\",\"since\":null,\"before\":null,\"blame\":null},"
    "{\"cases\":1,\"shared\":0,\"cause\":\"FAIL\",\"module\":null,\"key\":\"6270d0df3f9893a3\","
    "\"sentence\":"
    "\"why 2\",\"file\":null,\"verdict\":\"FAIL\",\"blames\":[],"
    "\"example\":{\"scenario\":\"new_2\",\"variant\":\"ob2\",\"repeat\":3,\"folder\":null},"
    "\"reason\":\"why 2\",\"since\":null,\"before\":null,\"blame\":null},"
    "{\"cases\":1,\"shared\":0,\"cause\":\"FAIL\",\"module\":null,\"key\":\"961cd4762bcda1ad\","
    "\"sentence\":"
    "\"r2\",\"file\":null,\"verdict\":\"FAIL\",\"blames\":[],"
    "\"example\":{\"scenario\":\"other\",\"variant\":\"ob2\",\"repeat\":0,\"folder\":null},"
    "\"reason\":\"r2\",\"since\":null,\"before\":null,\"blame\":null}],"
    "\"timing\":[{\"engine\":\"offset:rtl\",\"subject\":true,\"cases\":2,\"samples\":2,\"a_ns\":"
    "1000,\"b_ns\":5000,\"ratio\":4,"
    "\"change\":\"too_few\",\"effect\":null,\"threshold\":null,\"p\":null}],"
    "\"times\":[{\"engine\":\"offset:rtl\",\"subject\":true,\"cases\":2,\"samples\":2,\"a_ns\":"
    "1000,\"b_ns\":5000,\"ratio\":4,"
    "\"change\":\"too_few\",\"effect\":null,\"threshold\":null,\"p\":null}],"
    "\"speed_ratio\":{\"a\":null,\"b\":null}}";

TEST(each_case_is_in_its_group_with_what_it_was_and_is)
{
    struct store_fixture f;
    struct run_info runs[2];
    struct diff_side sides[2];
    struct difference d;
    store_set_up(&f);
    make_sides(&f, runs, sides);
    REQUIRE(difference_make(f.store, &sides[0], &sides[1], 0.03, &f.keep, &d, &f.fault) ==
            ERR_NONE);
    CHECK(d.a == &runs[0] && d.b == &runs[1]);
    CHECK_STR(written(write_changes, &d, &f.keep),
              arena_printf(&f.keep, "%s%s%s", first_changes, second_change, other_changes));
    CHECK_STR(written(write_all, &d, &f.keep),
              arena_printf(&f.keep, "%s%s%s%s%s%s%s%s", head_text, first_changes, second_change,
                           other_changes, first_cases, second_case, other_cases, rest_text));
    CHECK_STR(written(write_first, &d, &f.keep),
              arena_printf(&f.keep, "%s%s%s%s%s%s", head_text, first_changes, other_changes,
                           first_cases, other_cases, rest_text));
    store_tear_down(&f);
}

/* A run that was not asked for a case has not lost it. */
TEST(what_the_later_run_was_not_asked_for_is_not_gone)
{
    struct store_fixture f;
    struct run_info runs[2];
    struct diff_side sides[2];
    struct difference d;
    struct run_diff verdicts;
    store_set_up(&f);
    make_sides(&f, runs, sides);
    runs[1].selection.expr = "not gone";
    REQUIRE(difference_make(f.store, &sides[0], &sides[1], 0.03, &f.keep, &d, &f.fault) ==
            ERR_NONE);
    CHECK_EQ(d.diff.counts[DIFF_GONE], 0);
    CHECK_EQ(d.diff.counts[DIFF_NOT_SELECTED], 1);
    REQUIRE(difference_of_verdicts(&sides[0], &sides[1], &f.keep, &verdicts, &f.fault) == ERR_NONE);
    CHECK_EQ(verdicts.counts[DIFF_GONE], 0);
    CHECK_EQ(verdicts.counts[DIFF_NOT_SELECTED], 1);
    REQUIRE(difference_of_facts(&runs[0], &runs[1], &f.keep, &verdicts, &f.fault) == ERR_NONE);
    CHECK_EQ(verdicts.fact_count, 1);
    CHECK_STR(verdicts.facts[0].name, "platform");
    CHECK_EQ(verdicts.row_count, 0);
    store_tear_down(&f);
}

/* model/difference.h: the numbers of two runs are of two databases if just one of them is here. */
TEST(a_good_run_is_of_the_same_database_or_of_another)
{
    static const struct {
        const char *name;
        bool good_here, failing_here, elsewhere;
    } rows[] = {
        {"both are here", true, true, false},
        {"the good one is elsewhere", false, true, true},
        {"the failing one is elsewhere", true, false, true},
        {"both are elsewhere", false, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct run_info runs[2];
        struct failures found = {0};
        store_set_up(&f);
        test_row(rows[i].name);
        for (int k = 0; k < 2; k++) {
            const uint64_t id = put_run(&f, &(struct made){"linux", 1, 1, 1});
            REQUIRE(store_read_run(f.store, id, &f.keep, &runs[k], &f.fault) == ERR_NONE);
            runs[k].commit = k == 0 ? "good" : "bad";
            if (k == 0 ? !rows[i].good_here : !rows[i].failing_here)
                runs[k].uuid = "0123456789abcdef0123456789abcdef";
        }
        const struct diff_case before = {
            .scenario = "gone", .variant = "ob2", .verdict = VERDICT_PASS};
        const struct diff_case now = {
            .scenario = "gone", .variant = "ob2", .verdict = VERDICT_FAIL, .reason = "r"};
        struct diff_row row = {DIFF_NEW, &before, &now, true};
        const struct run_diff diff = {.rows = &row, .row_count = 1};
        REQUIRE(clusters_make(f.store, &runs[0], &runs[1], &diff, &f.keep, &found, &f.fault) ==
                ERR_NONE);
        REQUIRE(found.count == 1);
        CHECK_EQ(found.rows[0].since.good_run, runs[0].id);
        CHECK_EQ(found.rows[0].since.failing_run, runs[1].id);
        CHECK_STR(found.rows[0].since.good_commit, "good");
        CHECK_STR(found.rows[0].since.failing_commit, "bad");
        CHECK_EQ(found.rows[0].since.good_elsewhere, rows[i].elsewhere);
        store_tear_down(&f);
    }
}
