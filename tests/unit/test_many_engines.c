/* A case or a run with more engines than CLAIMS_MAX is an error wherever it is met: a claim that is
 * dropped silently would be missing from every figure. */
#include <string.h>

#include "compare/compare.h"
#include "compare/known.h"
#include "compare/run_diff.h"
#include "store_fixture.h"

struct met {
    struct store_fixture fixture;
    struct run_info run;
    struct run_case c;
};

/* A case with COUNT engines, none of them ours. */
static void make(struct met *m, uint32_t count)
{
    struct arena *keep = &m->fixture.keep;
    store_set_up(&m->fixture);
    struct engine_claim *claims = ARENA_ARRAY(keep, count, struct engine_claim);
    struct engine_score *scores = ARENA_ARRAY(keep, count, struct engine_score);
    REQUIRE(claims != NULL && scores != NULL);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = arena_printf(keep, "judge:no-%u", i);
        claims[i] = (struct engine_claim){.engine = name, .subject = true};
        scores[i] = (struct engine_score){
            .engine = name, .subject = true, .state = STACK_OK, .judged = true, .truth_frames = 1};
    }
    m->run = (struct run_info){.label = "many", .branch = "", .platform = ""};
    m->c = (struct run_case){
        .scenario = "null_write",
        .variant = "ob2",
        .claims = claims,
        .claim_count = count,
        .result = {.verdict = VERDICT_FAIL, .reason = "", .scores = scores, .score_count = count}};
}

static void store_it(struct met *m)
{
    struct store_fixture *f = &m->fixture;
    REQUIRE(store_begin_run(f->store, &m->run, &f->keep, &f->fault) == ERR_NONE);
    REQUIRE(store_put_case(f->store, m->run.id, &m->c, &f->fault) == ERR_NONE);
    REQUIRE(store_finish_run(f->store, m->run.id, RUN_COMPLETE, 2, &f->fault) == ERR_NONE);
    m->run.case_count = 1;
}

static enum status meet_totals(struct met *m, struct fault *fault)
{
    struct engine_total *totals = NULL;
    uint32_t count = 0;
    return run_total_engines(&m->c, 1, &m->fixture.keep, &totals, &count, fault);
}

static enum status meet_comparison(struct met *m, struct fault *fault)
{
    const struct crash_case crash = {.scenario = "null_write"};
    const struct compare_input in = {
        .crash = &crash, .claims = m->c.claims, .claim_count = m->c.claim_count};
    struct case_result out;
    return compare_case(&in, &m->fixture.keep, &out, fault);
}

static enum status meet_side(struct met *m, struct fault *fault)
{
    struct diff_side side;
    return diff_side_of(&m->run, &m->c, 1, &m->fixture.keep, &side, fault);
}

static enum status meet_stored_case(struct met *m, struct fault *fault)
{
    struct run_case c;
    store_it(m);
    return store_read_case(m->fixture.store, m->c.id, &m->fixture.keep, &c, fault);
}

static enum status meet_stored_side(struct met *m, struct fault *fault)
{
    struct diff_side side;
    store_it(m);
    return store_read_side(m->fixture.store, &m->run, DIFF_TIMES, &m->fixture.keep, &side, fault);
}

static enum status meet_pins(struct met *m, struct fault *fault)
{
    static const char text[] =
        "[a]\nscope: *\ncause: verdict\nreason: because\nbroad: yes\nexpires: 2030-01-01\n";
    const bool pin[] = {true};
    struct known_list list;
    size_t bytes = 0;
    uint32_t changed = 0;
    REQUIRE(known_parse(text, strlen(text), &m->fixture.keep, &list, fault) == ERR_NONE);
    const char *pinned =
        known_pin(text, strlen(text), &list, pin, &m->c, 1, &m->fixture.keep, &bytes, &changed);
    if (pinned != NULL && strstr(pinned, "judge:no-63=1/") == NULL)
        return ERR_ABSENT;
    return pinned != NULL ? ERR_NONE : ERR_LIMIT;
}

TEST(an_engine_has_the_versions_of_all_cases)
{
    static const struct {
        const char *name, *versions[3], *want; /* NULL: no dump; "-": one without a version */
    } rows[] = {
        {"no dump in the first case",
         {NULL, "dbgcore.amd64,10", "dbgcore.amd64,10"},
         "dbgcore.amd64,10"},
        {"two processors",
         {"dbgcore.i386,10", NULL, "dbgcore.amd64,10"},
         "dbgcore.amd64,10 and dbgcore.i386,10"},
        {"the second again", {"a", "b", "b"}, "a and b"},
        {"one begins as the other does", {"10.0.29", "10.0.2", NULL}, "10.0.2 and 10.0.29"},
        {"three", {"a", "b", "c"}, "several"},
        {"none", {NULL, NULL, NULL}, NULL},
        {"Wine's alone", {"-", "-", NULL}, NULL},
        {"a dump without a name", {"a", "-", "a"}, "a and one without a name"},
        {"two, and one without a name", {"a", "-", "b"}, "a and b"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_claim claims[3];
        struct engine_score scores[3];
        struct run_case cases[3];
        struct engine_total *totals = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        uint32_t count = 0;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        for (int k = 0; k < 3; k++) {
            const char *version = rows[i].versions[k];
            const bool is_stated = version != NULL && strcmp(version, "-") != 0;
            claims[k] =
                (struct engine_claim){.engine = "dump", .version = is_stated ? version : NULL};
            scores[k] = (struct engine_score){
                .engine = "dump", .state = STACK_OK, .frames = version != NULL ? 1 : 0};
            cases[k] = (struct run_case){.claims = &claims[k],
                                         .claim_count = 1,
                                         .result = {.scores = &scores[k], .score_count = 1}};
        }
        REQUIRE(run_total_engines(cases, 3, &keep, &totals, &count, &fault) == ERR_NONE);
        CHECK_EQ(count, 1);
        CHECK(rows[i].want == NULL ? totals[0].version == NULL
                                   : strcmp(totals[0].version, rows[i].want) == 0);
        arena_free(&keep);
    }
}

TEST(no_claim_is_dropped_silently)
{
    static const struct {
        const char *name;
        enum status (*meet)(struct met *m, struct fault *fault);
    } rows[] = {{"totals of a run", meet_totals},    {"comparison", meet_comparison},
                {"side of a difference", meet_side}, {"stored case", meet_stored_case},
                {"stored side", meet_stored_side},   {"pins of an acceptance", meet_pins}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint32_t more = 0; more < 2; more++) {
            struct fault fault = FAULT_INIT;
            struct met m;
            test_row(rows[i].name);
            make(&m, CLAIMS_MAX + more);
            CHECK_EQ(rows[i].meet(&m, &fault), more != 0 ? ERR_LIMIT : ERR_NONE);
            store_tear_down(&m.fixture);
        }
}
