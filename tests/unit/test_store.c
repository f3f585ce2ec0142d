/* The store: what is written can be read back, completely or not at all, and a file that is not a
 * database is reported as such. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "make_run.h"
#include "old_store.h"
#include "store/store.h"
#include "test.h"

struct fixture {
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES];
    struct store *store;
    struct fault fault;
    char path[512];
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->fault.offset = FAULT_NO_OFFSET;
    arena_init(&f->keep, 0);
    make_run(&f->keep, &f->run, f->cases);
    (void)snprintf(f->path, sizeof f->path, "%s/t.db", test_scratch());
    REQUIRE(store_open(f->path, STORE_WRITE, &f->store, &f->fault) == ERR_NONE);
}

static void put_all(struct fixture *f)
{
    REQUIRE(store_begin_run(f->store, &f->run, &f->keep, &f->fault) == ERR_NONE);
    for (int i = 0; i < MADE_CASES; i++)
        REQUIRE(store_put_case(f->store, f->run.id, &f->cases[i], &f->fault) == ERR_NONE);
    REQUIRE(store_finish_run(f->store, f->run.id, RUN_COMPLETE, f->run.finished_ns, &f->fault) ==
            ERR_NONE);
}

static void tear_down(struct fixture *f)
{
    store_close(f->store);
    arena_free(&f->keep);
}

static void evidence_in_words(struct json *j, const struct stack *s)
{
    for (uint32_t i = 0; i < s->evidence_count; i++) {
        const struct frame_evidence *e = &s->evidence[i];
        json_uint(j, e->index);
        json_hex(j, e->sp_va);
        json_string(j, e->where);
        json_hex(j, e->function_begin_rva);
        json_hex(j, e->function_end_rva);
        json_hex(j, e->unwind_data_va);
        json_hex(j, e->return_slot_va);
        json_hex(j, e->caller_sp_va);
        json_string(j, e->steps);
        json_string(j, e->code_before);
        json_string(j, e->code_after);
        json_bool(j, e->code_aligned);
    }
}

static void beside_in_words(struct json *j, const struct run_case *c)
{
    for (uint32_t i = 0; i < c->claim_count; i++)
        for (uint32_t k = 0; k < c->claims[i].stack_count; k++)
            evidence_in_words(j, &c->claims[i].stacks[k]);
    for (uint32_t i = 0; i < c->artifact_count; i++) {
        char again[65];
        text_sha256(c->artifacts[i].data, c->artifacts[i].bytes, again);
        json_string(j, artifact_role_name(c->artifacts[i].role));
        json_string(j, c->artifacts[i].name);
        json_string(j, c->artifacts[i].sha256);
        json_string(j, again);
    }
}

/* A case as text, with its alignment table and the data stored next to it. */
static char *in_words(const struct run_case *c)
{
    struct json j;
    json_to_text(&j, true);
    json_array(&j);
    made_case_write(&j, c);
    for (uint32_t t = 0; t < c->result.thread_count; t++) {
        const struct thread_result *thread = &c->result.threads[t];
        json_array(&j);
        json_string(&j, thread_role_name(thread->role, thread->role_word));
        json_uint(&j, thread->reference);
        for (uint32_t i = 0; i < thread->row_count * thread->column_count; i++) {
            const struct align_cell *cell = &thread->cells[i];
            char text[64];
            (void)snprintf(text, sizeof text, "%d %s %s", cell->frame, cell_mark_name(cell->mark),
                           cause_name(cell->cause));
            json_string(&j, text);
        }
        if (thread->truth != NULL)
            for (uint32_t i = 0; i < thread->truth->frame_count; i++) {
                json_string(&j, thread->truth->frames[i].function);
                json_string(&j, truth_gap_name(thread->truth->frames[i].gap));
                json_uint(&j, thread->truth->frames[i].line);
            }
        json_array_end(&j);
    }
    beside_in_words(&j, c);
    json_array_end(&j);
    return json_take(&j, NULL);
}

TEST(a_case_comes_out_as_it_went_in)
{
    struct fixture f;
    set_up(&f);
    put_all(&f);
    for (int i = 0; i < MADE_CASES; i++) {
        struct run_case back;
        test_row(f.cases[i].scenario);
        REQUIRE(store_read_case(f.store, f.cases[i].id, &f.keep, &back, &f.fault) == ERR_NONE);
        char *want = in_words(&f.cases[i]), *got = in_words(&back);
        REQUIRE(want != NULL && got != NULL);
        CHECK(strlen(want) > 200);
        CHECK_STR(got, want);
        free(want);
        free(got);
    }
    tear_down(&f);
}

/* What store_read_batch() reads of C, as text: the whole case without its stacks. */
static char *part_in_words(struct fixture *f, uint64_t id)
{
    struct run_case c;
    REQUIRE(store_read_case(f->store, id, &f->keep, &c, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < c.claim_count; i++)
        c.claims[i].stack_count = 0;
    c.result.thread_count = c.artifact_count = 0;
    c.truth = NULL;
    return in_words(&c);
}

TEST(cases_that_are_read_together_are_those_that_are_read_alone)
{
    static const struct {
        const char *name;
        uint32_t count;
        uint64_t ids[MADE_CASES];
        enum status status;
    } rows[] = {
        {"all of a run", 6, {1, 2, 3, 4, 5, 6}, ERR_NONE},
        {"backwards", 6, {6, 5, 4, 3, 2, 1}, ERR_NONE},
        {"every other", 3, {9, 11, 7}, ERR_NONE},
        {"far apart", 3, {48, 1, 20}, ERR_NONE},
        {"one is gone", 3, {2, 49, 1}, ERR_ABSENT},
    };
    struct way_cost ways[WAY_COUNT] = {[WAY_DUMP] = {.cold = {.whole_ns = 1}, .frames = 4}};
    struct fixture f;
    set_up(&f);
    f.cases[1].ways = f.cases[4].ways = ways;
    for (uint32_t i = 0; i < 8; i++, f.run.uuid = NULL)
        put_all(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_case back[MADE_CASES];
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(store_read_batch(f.store, rows[i].ids, rows[i].count, CASE_SCORES | CASE_FINDINGS,
                                  &f.keep, back, &fault),
                 rows[i].status);
        for (uint32_t k = 0; k < rows[i].count && rows[i].status == ERR_NONE; k++) {
            char *want = part_in_words(&f, rows[i].ids[k]), *got = in_words(&back[k]);
            REQUIRE(want != NULL && got != NULL);
            CHECK_STR(got, want);
            CHECK_EQ(back[k].ways != NULL, rows[i].ids[k] % MADE_CASES % 3 == 2);
            free(want);
            free(got);
        }
    }
    tear_down(&f);
}

/* More modules than the writer has slots for. Modules that share a slot must not be mixed up. */
TEST(many_modules_stay_apart)
{
    enum { MODULES = 1500 };
    struct fixture f;
    struct run_case back;
    set_up(&f);
    struct module *modules = arena_array(&f.keep, MODULES, sizeof *modules);
    struct frame *frames = arena_array(&f.keep, MODULES, sizeof *frames);
    for (uint32_t i = 0; i < MODULES; i++) {
        modules[i].index = frames[i].index = i;
        modules[i].name = modules[i].path = modules[i].pdb_name = "m.dll";
        modules[i].base_va = 0x180000000u + 0x10000u * (uint64_t)i;
        frames[i].module = &modules[i];
    }
    struct stack stack = {.state = STACK_OK, .frames = frames, .frame_count = MODULES};
    struct engine_claim claim = {.engine = "dump", .stacks = &stack, .stack_count = 1};
    struct engine_score score = {.engine = "dump"};
    struct run_case c = f.cases[3];
    c.claims = &claim;
    c.result.scores = &score;
    c.claim_count = c.result.score_count = 1;
    REQUIRE(store_begin_run(f.store, &f.run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, f.run.id, &c, &f.fault) == ERR_NONE);
    REQUIRE(store_read_case(f.store, c.id, &f.keep, &back, &f.fault) == ERR_NONE);
    for (uint32_t i = 0; i < MODULES; i++)
        if (!CHECK_EQ(back.claims[0].stacks[0].frames[i].module->base_va, modules[i].base_va))
            break;
    tear_down(&f);
}

TEST(a_run_comes_out_with_its_tools_and_true_totals)
{
    struct fixture f;
    struct run_info back;
    set_up(&f);
    put_all(&f);
    REQUIRE(store_read_run(f.store, f.run.id, &f.keep, &back, &f.fault) == ERR_NONE);
    CHECK_EQ(back.case_count, MADE_CASES);
    CHECK_EQ(back.verdicts[VERDICT_PASS], f.run.verdicts[VERDICT_PASS]);
    CHECK_EQ(back.verdicts[VERDICT_FAIL], 1);
    CHECK_EQ(back.tool_count, 2);
    CHECK_STR(back.tools[1].name, "clang");
    CHECK_STR(back.environment[0].version, "19.1.7");
    CHECK_EQ(back.finished_ns, f.run.finished_ns);
    CHECK_EQ(strlen(back.uuid), 32);
    tear_down(&f);
}

TEST(a_finished_run_is_never_changed)
{
    struct fixture f;
    set_up(&f);
    put_all(&f);
    CHECK_EQ(store_put_case(f.store, f.run.id, &f.cases[0], &f.fault), ERR_USAGE);
    fault_clear(&f.fault);
    CHECK_EQ(store_set_verdict(f.store, f.cases[0].id, VERDICT_XFAIL, "x", "k", &f.fault),
             ERR_USAGE);
    fault_clear(&f.fault);
    CHECK_EQ(store_finish_run(f.store, f.run.id, RUN_INTERRUPTED, 1, &f.fault), ERR_USAGE);
    fault_clear(&f.fault);
    CHECK_EQ(store_resume_run(f.store, f.run.id, &f.fault), ERR_USAGE);
    tear_down(&f);
}

TEST(an_interrupted_run_can_be_taken_up_again)
{
    struct fixture f;
    struct run_page page;
    struct run_query query = {.limit = 10};
    set_up(&f);
    REQUIRE(store_begin_run(f.store, &f.run, &f.keep, &f.fault) == ERR_NONE);
    REQUIRE(store_put_case(f.store, f.run.id, &f.cases[0], &f.fault) == ERR_NONE);
    REQUIRE(store_list_runs(f.store, &query, &f.keep, &page, &f.fault) == ERR_NONE);
    CHECK_EQ(page.total, 0); /* a run in progress is listed only on request */
    query.with_running = true;
    REQUIRE(store_list_runs(f.store, &query, &f.keep, &page, &f.fault) == ERR_NONE);
    CHECK_EQ(page.total, 1);
    REQUIRE(store_finish_run(f.store, f.run.id, RUN_INTERRUPTED, 5, &f.fault) == ERR_NONE);
    REQUIRE(store_resume_run(f.store, f.run.id, &f.fault) == ERR_NONE);
    REQUIRE(store_set_verdict(f.store, f.cases[0].id, VERDICT_XFAIL, "known", "k1", &f.fault) ==
            ERR_NONE);
    struct run_info back;
    REQUIRE(store_read_run(f.store, f.run.id, &f.keep, &back, &f.fault) == ERR_NONE);
    CHECK_EQ(back.verdicts[VERDICT_XFAIL], 1);
    CHECK_EQ(back.verdicts[VERDICT_PASS], 0);
    tear_down(&f);
}

TEST(a_case_that_does_not_fit_leaves_nothing_behind)
{
    struct fixture f;
    set_up(&f);
    REQUIRE(store_begin_run(f.store, &f.run, &f.keep, &f.fault) == ERR_NONE);
    struct run_case broken = f.cases[0];
    broken.claims = f.cases[0].claims;
    struct engine_claim claims[2] = {broken.claims[0], broken.claims[0]};
    claims[1].engine = NULL; /* breaks a constraint half way through */
    broken.claims = claims;
    broken.claim_count = 2;
    CHECK(store_put_case(f.store, f.run.id, &broken, &f.fault) != ERR_NONE);
    fault_clear(&f.fault);
    struct case_page page;
    const struct case_query query = {.run_id = f.run.id};
    REQUIRE(store_list_cases(f.store, &query, &f.keep, &page, &f.fault) == ERR_NONE);
    CHECK_EQ(page.total, 0);
    REQUIRE(store_put_case(f.store, f.run.id, &f.cases[0], &f.fault) == ERR_NONE);
    tear_down(&f);
}

TEST(pages_go_on_by_key_and_tell_the_true_total)
{
    struct fixture f;
    set_up(&f);
    put_all(&f);
    struct case_query query = {.run_id = f.run.id, .limit = 4};
    struct case_page page;
    REQUIRE(store_list_cases(f.store, &query, &f.keep, &page, &f.fault) == ERR_NONE);
    CHECK_EQ(page.count, 4);
    CHECK_EQ(page.total, MADE_CASES);
    CHECK(page.next != 0);
    query.after = page.next;
    REQUIRE(store_list_cases(f.store, &query, &f.keep, &page, &f.fault) == ERR_NONE);
    CHECK_EQ(page.count, 2);
    CHECK_EQ(page.next, 0);
    CHECK_STR(page.cases[1].scenario, "recursion");
    const struct {
        const char *name;
        struct case_query query;
        uint64_t total;
    } rows[] = {
        {"by verdict", {.verdict = &(const enum verdict){VERDICT_FAIL}}, 1},
        {"by cause", {.cause = &(const enum cause){CAUSE_UNEXPLAINED}}, 1},
        {"by variant", {.variant = "ob0"}, 1},
        {"by part of the name", {.search = "_in"}, 1},
        {"by kind", {.kind = CASE_KIND_HANG}, 0},
        {"by scenario", {.scenario = "null_write"}, 2},
        {"a quote is no SQL", {.search = "' OR 1=1 --"}, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        REQUIRE(store_list_cases(f.store, &rows[i].query, &f.keep, &page, &f.fault) == ERR_NONE);
        CHECK_EQ(page.total, rows[i].total);
        CHECK_EQ(page.count, rows[i].total);
    }
    tear_down(&f);
}

TEST(runs_are_found_by_word)
{
    struct fixture f;
    uint64_t id = 0;
    set_up(&f);
    put_all(&f);
    const uint64_t first = f.run.id;
    f.run.uuid = NULL;
    put_all(&f);
    CHECK(store_find_run(f.store, "latest", &id, &f.fault) == ERR_NONE && id == f.run.id);
    CHECK(store_find_run(f.store, "latest~1", &id, &f.fault) == ERR_NONE && id == first);
    CHECK(store_find_run(f.store, f.run.uuid, &id, &f.fault) == ERR_NONE && id == f.run.id);
    CHECK_EQ(store_find_run(f.store, "latest~2", &id, &f.fault), ERR_ABSENT);
    fault_clear(&f.fault);
    CHECK_EQ(store_find_run(f.store, "baseline", &id, &f.fault), ERR_ABSENT);
    fault_clear(&f.fault);
    REQUIRE(store_set_baseline(f.store, first, NULL, NULL, &f.fault) == ERR_NONE);
    CHECK(store_find_run(f.store, "baseline", &id, &f.fault) == ERR_NONE && id == first);
    REQUIRE(store_set_baseline(f.store, f.run.id, "main", NULL, &f.fault) == ERR_NONE);
    CHECK(store_get_baseline(f.store, "main", "here", &id, &f.fault) == ERR_NONE && id == f.run.id);
    CHECK(store_get_baseline(f.store, "other", NULL, &id, &f.fault) == ERR_NONE && id == first);
    tear_down(&f);
}

TEST(figures_for_pages)
{
    struct fixture f;
    set_up(&f);
    put_all(&f);
    struct cause_count *causes = NULL;
    struct hook_outcome *hooks = NULL;
    struct symbol_row *symbols = NULL;
    struct trend_point *points = NULL;
    uint32_t count = 0;
    CHECK(store_count_causes(f.store, f.run.id, &f.keep, &causes, &count, &f.fault) == ERR_NONE);
    CHECK(count > 0 && causes[0].findings > 0);
    CHECK(store_read_hooks(f.store, f.run.id, &f.keep, &hooks, &count, &f.fault) == ERR_NONE);
    CHECK_EQ(count, MADE_CASES);
    CHECK(store_read_symbols(f.store, f.run.id, &f.keep, &symbols, &count, &f.fault) == ERR_NONE);
    CHECK(count >= 2);
    static const struct {
        enum metric metric;
        double value;
    } rows[] = {{METRIC_OFFSET, 2e6},
                {METRIC_DUMP, 9e6},
                {METRIC_CAPTURE_RATE, 1},
                {METRIC_EXACT, 7.0 / 8}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(metric_name(rows[i].metric));
        const struct trend_query query = {.metric = rows[i].metric, .limit = 10};
        REQUIRE(store_read_trend(f.store, &query, &f.keep, &points, &count, &f.fault) == ERR_NONE);
        REQUIRE(count == 1);
        CHECK_NEAR(points[0].value, rows[i].value, 1e-9);
    }
    tear_down(&f);
}

TEST(trends_of_times_are_medians)
{
    struct fixture f;
    struct trend_point *points = NULL;
    uint32_t count = 0;
    set_up(&f);
    f.cases[0].claims[0].cost.total_ns = 1000000000000; /* one cold case must not move the median */
    put_all(&f);
    const struct trend_query query = {.metric = METRIC_OFFSET};
    REQUIRE(store_read_trend(f.store, &query, &f.keep, &points, &count, &f.fault) == ERR_NONE);
    REQUIRE(count == 1);
    CHECK_NEAR(points[0].value, 2e6, 1e-9);
    tear_down(&f);
}

TEST(artifacts_are_found_by_content_and_kept_once)
{
    struct fixture f;
    struct case_artifact found;
    set_up(&f);
    put_all(&f);
    const struct case_artifact *put = &f.cases[0].artifacts[0];
    REQUIRE(store_read_artifact(f.store, put->sha256, &f.keep, &found, &f.fault) == ERR_NONE);
    CHECK_EQ(found.role, ARTIFACT_SOURCE);
    CHECK_STR(found.name, "a.c");
    CHECK_EQ(found.bytes, put->bytes);
    CHECK(memcmp(found.data, put->data, put->bytes) == 0);
    CHECK_EQ(store_read_artifact(f.store, "../../etc/passwd", &f.keep, &found, &f.fault),
             ERR_ABSENT);
    tear_down(&f);
}

TEST(outcomes_are_the_cases_with_a_signature_or_an_acceptance)
{
    struct fixture f;
    struct run_case *cases = NULL;
    uint32_t count = 0, at = 0;
    set_up(&f);
    f.cases[MADE_CASES - 1].result.verdict = VERDICT_XFAIL;
    f.cases[MADE_CASES - 1].result.signature = NULL;
    put_all(&f);
    REQUIRE(store_read_outcomes(f.store, f.run.id, &f.keep, &cases, &count, &f.fault) == ERR_NONE);
    for (uint32_t i = 0; i < MADE_CASES; i++) {
        const struct case_result *want = &f.cases[i].result;
        test_row(f.cases[i].scenario);
        if (want->signature == NULL && want->verdict != VERDICT_XFAIL)
            continue;
        REQUIRE(at < count);
        CHECK_STR(cases[at].scenario, f.cases[i].scenario);
        CHECK_STR(cases[at].variant, f.cases[i].variant);
        CHECK_EQ(cases[at].result.verdict, want->verdict);
        CHECK_STR(cases[at].result.signature, want->signature);
        at++;
    }
    CHECK_EQ(at, count);
    CHECK(at > 0 && at < MADE_CASES);
    tear_down(&f);
}

static void script(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
}

/* Sums are computed when a run ends. A database without them gets them when it is upgraded, and an
 * unfinished run gets them on request. */
TEST(sums_are_the_same_kept_live_and_after_an_upgrade)
{
    struct fixture f;
    set_up(&f);
    put_all(&f);
    store_close(f.store);
    static const struct {
        const char *name, *undo, *sql; /* C promises no literal of more than 4,095 characters */
    } rows[] = {
        {"kept", "", "SELECT 1"},
        {"live", "",
         "UPDATE run SET state = 'running'; DELETE FROM run_engine;"
         "DELETE FROM run_symbol; DELETE FROM run_cause"},
        {"upgraded from one version less than sums",
         UNDO_VERSION_22 UNDO_VERSION_21 UNDO_VERSION_20 UNDO_VERSION_19 UNDO_VERSION_18
             UNDO_VERSION_17 UNDO_VERSION_16 UNDO_VERSION_15 UNDO_VERSION_14 UNDO_VERSION_13,
         "UPDATE run SET state = 'complete'; DELETE FROM run_engine"},
        {"upgraded",
         UNDO_VERSION_22 UNDO_VERSION_21 UNDO_VERSION_20 UNDO_VERSION_19 UNDO_VERSION_18
             UNDO_VERSION_17 UNDO_VERSION_16 UNDO_VERSION_15 UNDO_VERSION_14 UNDO_VERSION_13
                 UNDO_VERSION_12 UNDO_VERSION_11,
         "UPDATE run SET state = 'complete'; DROP TABLE run_engine; DROP TABLE run_symbol;"
         "DROP TABLE run_cause; DROP TABLE run_figure; DROP TABLE run_median;"
         "DROP TABLE case_artifact; DROP TABLE artifact; DROP INDEX case_in_run;"
         "ALTER TABLE claim DROP COLUMN cold_ns; ALTER TABLE crash_case DROP COLUMN dump_tuned_ns;"
         "ALTER TABLE crash_case DROP COLUMN dump_tuned_bytes;"
         "ALTER TABLE crash_case DROP COLUMN capture_now_ns; DROP TABLE way_cost;"
         "ALTER TABLE crash_case DROP COLUMN hang_late_ns; DROP TABLE run_pace;"
         "ALTER TABLE crash_case DROP COLUMN stop_tuned_ns;"
         "ALTER TABLE crash_case DROP COLUMN stop_copy_ns;"
         "ALTER TABLE crash_case DROP COLUMN crowded; DROP TABLE evidence;"
         "ALTER TABLE finding DROP COLUMN blame; ALTER TABLE finding DROP COLUMN witnesses;"
         "ALTER TABLE finding DROP COLUMN module; ALTER TABLE finding DROP COLUMN function;"
         "PRAGMA user_version = 1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_total *engines = NULL, *want = NULL;
        struct symbol_row *symbols = NULL;
        uint32_t count = 0, wanted = 0;
        test_row(rows[i].name);
        script(f.path, rows[i].undo);
        script(f.path, rows[i].sql);
        REQUIRE(store_open(f.path, STORE_WRITE, &f.store, &f.fault) == ERR_NONE);
        REQUIRE(store_total_engines(f.store, f.run.id, &f.keep, &engines, &count, &f.fault) ==
                ERR_NONE);
        REQUIRE(run_total_engines(f.cases, MADE_CASES, &f.keep, &want, &wanted, &f.fault) ==
                ERR_NONE);
        REQUIRE(count == wanted && count == 3);
        for (uint32_t k = 0; k < count; k++) {
            CHECK_STR(engines[k].engine, want[k].engine);
            CHECK_EQ(engines[k].subject, want[k].subject);
            CHECK_EQ(engines[k].cases, want[k].cases);
            CHECK_EQ(engines[k].stacks, want[k].stacks);
            CHECK_EQ(engines[k].exact, want[k].exact);
            CHECK_EQ(engines[k].top3, want[k].top3);
            CHECK_EQ(engines[k].right_frames, want[k].right_frames);
            CHECK_EQ(engines[k].skipped, want[k].skipped);
            CHECK_STR(engines[k].skip_reason, want[k].skip_reason);
        }
        CHECK(store_read_symbols(f.store, f.run.id, &f.keep, &symbols, &count, &f.fault) ==
              ERR_NONE);
        CHECK_EQ(count, 2);
        store_close(f.store);
    }
    REQUIRE(store_open(f.path, STORE_WRITE, &f.store, &f.fault) == ERR_NONE);
    tear_down(&f);
}

TEST(readers_cannot_write)
{
    struct fixture f;
    struct store *reader = NULL;
    set_up(&f);
    put_all(&f);
    REQUIRE(store_open(f.path, STORE_READ, &reader, &f.fault) == ERR_NONE);
    CHECK(store_delete_run(reader, f.run.id, &f.fault) != ERR_NONE);
    fault_clear(&f.fault);
    const uint64_t before = store_version(reader);
    REQUIRE(store_delete_run(f.store, f.run.id, &f.fault) == ERR_NONE);
    CHECK(store_version(reader) != before);
    uint64_t id = 0;
    CHECK_EQ(store_find_run(reader, "latest", &id, &f.fault), ERR_ABSENT);
    store_close(reader);
    tear_down(&f);
}

/* archive.h: one state between the two, whatever is written meanwhile; the newest one after it. */
TEST(what_is_read_together_is_of_one_state)
{
    struct fixture f;
    struct store *reader = NULL;
    uint64_t id = 0;
    set_up(&f);
    put_all(&f);
    REQUIRE(store_open(f.path, STORE_READ, &reader, &f.fault) == ERR_NONE);
    for (int turn = 0; turn < 2; turn++) {
        struct run_info next = {.label = "next"};
        struct fault none = FAULT_INIT;
        char word[24];
        store_begin_reading(reader);
        REQUIRE(store_find_run(reader, "latest", &id, &f.fault) == ERR_NONE);
        REQUIRE(store_begin_run(f.store, &next, &f.keep, &f.fault) == ERR_NONE);
        (void)snprintf(word, sizeof word, "%llu", (unsigned long long)next.id);
        CHECK_EQ(store_find_run(reader, word, &id, &none), ERR_ABSENT);
        store_end_reading(reader);
        CHECK(store_find_run(reader, word, &id, &f.fault) == ERR_NONE && id == next.id);
    }
    store_close(reader);
    tear_down(&f);
}

TEST(whole_databases_are_copied_published_and_pruned)
{
    struct fixture f;
    struct store *other = NULL, *published = NULL;
    char path[512], copy[512];
    uint32_t count = 0;
    set_up(&f);
    put_all(&f);
    (void)snprintf(path, sizeof path, "%s/other.db", test_scratch());
    (void)snprintf(copy, sizeof copy, "%s/published.db", test_scratch());
    REQUIRE(store_open(path, STORE_WRITE, &other, &f.fault) == ERR_NONE);
    REQUIRE(store_import(other, f.store, &count, &f.fault) == ERR_NONE);
    CHECK_EQ(count, 1);
    REQUIRE(store_import(other, f.store, &count, &f.fault) == ERR_NONE);
    CHECK_EQ(count, 0); /* the same run is not copied twice */
    struct run_info back;
    REQUIRE(store_read_run(other, 1, &f.keep, &back, &f.fault) == ERR_NONE);
    CHECK_STR(back.uuid, f.run.uuid);
    CHECK_EQ(back.case_count, MADE_CASES);
    REQUIRE(store_publish(other, copy, &f.fault) == ERR_NONE);
    REQUIRE(store_open(copy, STORE_READ, &published, &f.fault) == ERR_NONE);
    CHECK(!path_is_file(arena_printf(&f.keep, "%s-wal", copy)));
    struct run_case c;
    CHECK(store_read_case(published, 1, &f.keep, &c, &f.fault) == ERR_NONE);
    REQUIRE(store_prune(other, 0, &count, &f.fault) == ERR_NONE);
    CHECK_EQ(count, 1);
    CHECK_EQ(store_read_run(other, 1, &f.keep, &back, &f.fault), ERR_ABSENT);
    store_close(published);
    store_close(other);
    tear_down(&f);
}
