/* Sealed cases of an old run, judged again: conduct/regrade.h. Their verdicts are what the victims
 * themselves printed (corpus/cases): all are right. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "conduct/regrade.h"
#include "test.h"

static const char *sealed(const char *name, char path[600])
{
    (void)snprintf(path, 600, "%s/%s", test_source("corpus/cases"), name);
    return path;
}

struct seen {
    uint32_t calls, last, count, damaged;
};

static void note_progress(void *context, uint32_t number, uint32_t count, const struct run_case *c)
{
    struct seen *seen = context;
    (void)c;
    seen->calls++;
    seen->last = number;
    seen->count = count;
}

static void note_damage(void *context, const struct fault *fault)
{
    struct seen *seen = context;
    seen->damaged += fault->code != ERR_NONE;
}

/* An old run that got everything wrong: two sealed cases, one that left none, one whose folder is
 * gone, one that was damaged since. */
static struct stored_run *old_run(void)
{
    static char right[600], other[600], gone[600], damaged[600];
    static struct named_version tools[] = {{"twinstack", "0.0.1"}, {"wine", "8"}, {NULL, NULL}};
    static struct run_case cases[5];
    static struct stored_run run;
    (void)snprintf(gone, sizeof gone, "%s/gone", test_scratch());
    (void)snprintf(damaged, sizeof damaged, "%s", test_scratch());
    (void)memset(cases, 0, sizeof cases);
    cases[0] = (struct run_case){.scenario = "null_write",
                                 .variant = "ob2",
                                 .folder = sealed("null_write.ob2", right),
                                 .repeat = 3};
    cases[1] = (struct run_case){
        .scenario = "inline_chain", .variant = "ob2", .folder = sealed("inline_chain.ob2", other)};
    cases[2] = (struct run_case){.id = 9, .scenario = "not_here", .variant = "ob0"};
    cases[2].result.verdict = VERDICT_UNSUPPORTED;
    cases[2].result.reason = "not on Wine";
    cases[2].known_id = cases[0].known_id = "an-acceptance-of-the-old-run";
    cases[3] = (struct run_case){.scenario = "lost", .variant = "ob2", .folder = gone};
    cases[3].wall_ms = 77;
    cases[4] = (struct run_case){.scenario = "damaged", .variant = "ob0", .folder = damaged};
    cases[0].result.verdict = cases[1].result.verdict = VERDICT_FAIL;
    cases[3].result.verdict = cases[4].result.verdict = VERDICT_PASS;
    run = (struct stored_run){.info = {.id = 12,
                                       .uuid = "u",
                                       .label = "run",
                                       .commit = "0123",
                                       .platform = "linux",
                                       .tools = tools,
                                       .tool_count = COUNT_OF(tools) - 1,
                                       .started_ns = 5,
                                       .finished_ns = 6,
                                       .state = RUN_COMPLETE,
                                       .verdicts = {[VERDICT_ERROR] = 99},
                                       .selection = {.known = true}},
                              .cases = cases,
                              .case_count = COUNT_OF(cases)};
    return &run;
}

static void regrade(const char *expr, struct stored_run *old, struct store *store,
                    struct arena *keep, struct seen *seen, struct regraded *out)
{
    static const char *symbols[1];
    static char known[600];
    struct fault fault = FAULT_INIT;
    (void)snprintf(known, sizeof known, "%s/known.txt", test_scratch());
    test_write(known, "", 0);
    symbols[0] = test_source("corpus/symbols");
    *seen = (struct seen){0};
    const struct regrade_request request = {.old = old,
                                            .expr = expr,
                                            .known = known,
                                            .symbols = symbols,
                                            .symbol_count = 1,
                                            .progress = note_progress,
                                            .damaged = note_damage,
                                            .context = seen};
    CHECK_EQ(regrade_run(store, &request, keep, out, &fault), ERR_NONE);
}

TEST(a_sealed_case_is_judged_by_the_code_of_now)
{
    struct regraded out;
    struct seen seen;
    struct arena keep;
    arena_init(&keep, 0);
    struct stored_run *old = old_run();
    regrade(NULL, old, NULL, &keep, &seen, &out);
    REQUIRE(out.run.case_count == old->case_count);
    static const enum verdict want[] = {VERDICT_PASS, VERDICT_PASS, VERDICT_UNSUPPORTED,
                                        VERDICT_ERROR, VERDICT_ERROR};
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        const struct run_case *c = &out.run.cases[i];
        test_row(old->cases[i].scenario);
        CHECK_STR(c->scenario, old->cases[i].scenario);
        CHECK_STR(c->variant, old->cases[i].variant);
        CHECK_EQ(c->result.verdict, want[i]);
        CHECK_EQ(c->repeat, old->cases[i].repeat);
        CHECK_EQ(c->id, 0);
        CHECK_STR(c->known_id, NULL);
        CHECK_EQ(c->claim_count > 0, want[i] == VERDICT_PASS);
        CHECK_EQ(c->truth != NULL, want[i] == VERDICT_PASS);
    }
    test_row(NULL);
    CHECK_STR(out.run.cases[2].result.reason, "not on Wine");
    CHECK_HAS(out.run.cases[3].result.reason, "gone or damaged: ");
    CHECK_EQ(out.run.cases[3].wall_ms, 0);
    const struct run_case *first = &out.run.cases[0];
    CHECK(first->timing.record_bytes > 0);
    bool has_truth = false;
    for (uint32_t i = 0; i < first->artifact_count; i++) {
        const struct case_artifact *a = &first->artifacts[i];
        if (strcmp(a->name, "truth.json") != 0)
            continue;
        size_t bytes;
        const uint8_t *truth =
            test_read(test_source("corpus/cases/null_write.ob2/truth.json"), &bytes);
        has_truth = CHECK_EQ(a->bytes, bytes);
        if (has_truth)
            CHECK_MEM(a->data, truth, bytes);
    }
    CHECK(has_truth);
    REQUIRE(first->ways != NULL);
    for (uint32_t i = 0; i < first->claim_count; i++) {
        const struct engine_claim *claim = &first->claims[i];
        test_row(claim->engine);
        if (strcmp(claim->engine, ENGINE_NAME_DUMP) == 0)
            CHECK_EQ(claim->cost.cold_ns, first->ways[WAY_DUMP].cold.whole_ns);
        if (strcmp(claim->engine, ENGINE_NAME_OFFSET) == 0)
            CHECK_EQ(claim->cost.cold_ns, first->ways[WAY_OFFSET].cold.whole_ns);
    }
    test_row(NULL);
    CHECK_EQ(out.chosen, 5);
    CHECK_EQ(out.missing, 2);
    CHECK_EQ(seen.calls, 5);
    CHECK_EQ(seen.last, 5);
    CHECK_EQ(seen.count, 5);
    CHECK_EQ(seen.damaged, 1);
    arena_free(&keep);
}

/* What `gzip -6 -n` and `zstd -3 --no-check` make of the files; another version may do a little
 * better. */
TEST(files_of_a_case_are_packed_as_by_other_tools)
{
    struct regraded out;
    struct seen seen;
    struct arena keep;
    arena_init(&keep, 0);
    regrade("null_write", old_run(), NULL, &keep, &seen, &out);
    REQUIRE(out.run.case_count == 1);
    const struct case_timing *times = &out.run.cases[0].timing;
    const struct {
        const char *name;
        uint64_t got;
        double want;
    } rows[] = {{"record, gzip", times->record_gzip_bytes, 587},
                {"record, zstd", times->record_zstd_bytes, 605},
                {"dump, gzip", times->dump_gzip_bytes, 51733},
                {"dump, zstd", times->dump_zstd_bytes, 62786},
                {"tuned dump, gzip", times->dump_tuned_gzip_bytes, 5319},
                {"tuned dump, zstd", times->dump_tuned_zstd_bytes, 5577}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_NEAR((double)rows[i].got, rows[i].want, 0.02 * rows[i].want);
    }
    arena_free(&keep);
}

TEST(a_run_that_is_judged_again_is_a_run_of_its_own)
{
    struct regraded out;
    struct seen seen;
    struct arena keep;
    arena_init(&keep, 0);
    struct stored_run *old = old_run();
    regrade(NULL, old, NULL, &keep, &seen, &out);
    const struct run_info *info = &out.run.info;
    CHECK_STR(info->label, "regrade of 12");
    CHECK_STR(info->uuid, NULL);
    CHECK_STR(info->commit, "0123");
    CHECK(info->started_ns > old->info.started_ns);
    CHECK(info->finished_ns >= info->started_ns);
    CHECK_EQ(info->state, RUN_COMPLETE);
    CHECK_EQ(info->case_count, 5);
    CHECK_EQ(info->verdicts[VERDICT_PASS], 2);
    CHECK_EQ(info->verdicts[VERDICT_UNSUPPORTED], 1);
    CHECK_EQ(info->verdicts[VERDICT_ERROR], 2);
    CHECK(strcmp(info->tools[0].version, "0.0.1") != 0);
    CHECK_STR(info->tools[1].version, "8");
    CHECK_EQ(out.changes.counts[DIFF_FIXED], 2);
    CHECK_EQ(out.changes.counts[DIFF_NEW], 2);
    arena_free(&keep);
}

TEST(only_what_is_chosen_is_judged)
{
    static const struct {
        const char *name, *expr, *before, *selects;
        bool known;
        uint32_t cases, missing, damaged;
    } rows[] = {
        {"all", NULL, NULL, NULL, true, 5, 2, 1},
        {"all of a part", NULL, "ob2", "ob2", true, 5, 2, 1},
        {"one", "null_write", NULL, "null_write", true, 1, 0, 0},
        {"one of a part", "lost", "ob2", "(ob2) and (lost)", true, 1, 1, 0},
        {"a variant", "ob2", NULL, "ob2", true, 3, 1, 0},
        {"what the old run was asked for is not known", "ob2", NULL, NULL, false, 3, 1, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct regraded out;
        struct seen seen;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        struct stored_run *old = old_run();
        old->info.selection.expr = rows[i].before;
        old->info.selection.known = rows[i].known;
        regrade(rows[i].expr, old, NULL, &keep, &seen, &out);
        CHECK_EQ(out.chosen, rows[i].cases);
        CHECK_EQ(out.run.case_count, rows[i].cases);
        CHECK_EQ(out.missing, rows[i].missing);
        CHECK_EQ(seen.damaged, rows[i].damaged);
        CHECK_STR(out.run.info.selection.expr, rows[i].selects);
        arena_free(&keep);
    }
}

TEST(nothing_is_done_where_nothing_is_chosen)
{
    struct regraded out;
    struct seen seen;
    struct arena keep;
    arena_init(&keep, 0);
    regrade("none_of_these", old_run(), NULL, &keep, &seen, &out);
    CHECK_EQ(out.chosen, 0);
    CHECK_EQ(seen.calls, 0);
    struct fault fault = FAULT_INIT;
    const struct regrade_request wrong = {.old = old_run(), .expr = "and and"};
    CHECK_EQ(regrade_run(NULL, &wrong, &keep, &out, &fault), ERR_USAGE);
    arena_free(&keep);
}

TEST(a_run_that_is_judged_again_is_stored)
{
    struct regraded out;
    struct seen seen;
    struct arena keep;
    struct store *store = NULL;
    struct stored_run back;
    struct fault fault = FAULT_INIT;
    char path[600];
    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/runs.db", test_scratch());
    REQUIRE(store_open(path, STORE_WRITE, &store, &fault) == ERR_NONE);
    regrade("ob2", old_run(), store, &keep, &seen, &out);
    REQUIRE(study_read_run(store, "latest", &keep, &back, &fault) == ERR_NONE);
    CHECK_STR(back.info.label, "regrade of 12");
    CHECK_EQ(back.info.state, RUN_COMPLETE);
    CHECK_EQ(back.info.finished_ns, out.run.info.finished_ns);
    CHECK_EQ(back.case_count, 3);
    CHECK_EQ(back.info.verdicts[VERDICT_PASS], 2);
    CHECK_EQ(back.info.verdicts[VERDICT_ERROR], 1);
    store_close(store);
    arena_free(&keep);
}
