/* The gate: what closes it, and which cases a run was asked for. */
#include <math.h>
#include <string.h>

#include "gate_fixture.h"

/* A complete run of the scenarios NAMES, separated by blanks; a name that begins with '-' fails,
 * with
 * '?' it is UNSUPPORTED, with '86' it is of the build x86-ob2. `judge:lldb` is exact in EXACT of
 * them. */
static uint64_t put_run(struct store_fixture *f, const char *command, const char *names,
                        uint32_t exact)
{
    struct run_info run = {
        .label = "run", .command = command, .commit = "c", .branch = "main", .platform = "linux"};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; *names != 0; i++) {
        const size_t size = strcspn(names, " ");
        const bool fails = *names == '-', lacks = *names == '?';
        const char *name = arena_text(&f->keep, names + (fails || lacks), size - (fails || lacks));
        const bool x86 = strncmp(name, "86", 2) == 0;
        struct engine_claim claims[2] = {{.engine = "offset:rtl", .subject = true},
                                         {.engine = "judge:lldb"}};
        struct engine_score scores[2] = {
            {.engine = "offset:rtl", .subject = true, .judged = true, .exact = !fails},
            {.engine = "judge:lldb", .judged = true, .exact = i < exact}};
        struct run_case c = {.scenario = name + (x86 ? 2 : 0),
                             .variant = x86 ? "x86-ob2" : "ob2",
                             .kind = CASE_KIND_CRASH,
                             .timing = {.record_bytes = 1},
                             .claims = claims,
                             .claim_count = 2,
                             .result = {.verdict = fails   ? VERDICT_FAIL
                                                   : lacks ? VERDICT_UNSUPPORTED
                                                           : VERDICT_PASS,
                                        .reason = lacks ? "no wine32" : "",
                                        .right = "all",
                                        .scores = scores,
                                        .score_count = 2}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
        names += size + (names[size] == ' ');
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 1, &f->fault) == ERR_NONE);
    return run.id;
}

TEST(a_reference_engine_that_is_named_must_be_exact)
{
    static const struct {
        const char *name, *engine;
        uint32_t exact;
        bool open;
    } rows[] = {{"all exact", "judge:lldb", 3, true},
                {"one is not", "judge:lldb", 2, false},
                {"it was not asked", "judge:dbghelp", 3, false},
                {"it is not named", NULL, 0, true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        (void)put_run(&f, "twinstack run", "a b c", rows[i].exact);
        decide(&f,
               (struct gate_request){.engines = &rows[i].engine,
                                     .engine_count = rows[i].engine != NULL},
               &gate);
        CHECK_EQ(gate.open, rows[i].open);
        if (rows[i].engine != NULL) {
            const struct gate_check *check = check_of(&gate, rows[i].engine);
            if (CHECK(check != NULL))
                CHECK_EQ(check->holds, rows[i].open);
        }
        store_tear_down(&f);
    }
}

/* As pages have it: of the time since the run began. */
TEST(the_age_of_a_run_is_stated)
{
    static const struct {
        const char *name, *text; /* NULL: none is stated */
        uint64_t seconds;
    } rows[] = {
        {"the same moment", NULL, 0},
        {"a second", ", under 1 min old", 1},
        {"less than a minute", ", under 1 min old", 59},
        {"a minute", ", 1 min old", 60},
        {"less than an hour", ", 59 min old", 3599},
        {"an hour", ", 1 h old", 3600},
        {"less than two days", ", 47 h old", 2 * 86400 - 1},
        {"two days", ", 2 days old", 2 * 86400},
        {"less than three days", ", 2 days old", 3 * 86400 - 1},
    };
    static const uint64_t started_s = 1000, second_ns = 1000000000;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        struct run_info run = {.label = "run", .started_ns = started_s * second_ns};
        test_row(rows[i].name);
        store_set_up(&f);
        const uint64_t finished_ns = run.started_ns + 3 * second_ns;
        REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE &&
                store_finish_run(f.store, run.id, RUN_COMPLETE, finished_ns, &f.fault) == ERR_NONE);
        decide(&f, (struct gate_request){.now_ns = run.started_ns + rows[i].seconds * second_ns},
               &gate);
        CHECK_STR(check_of(&gate, "run")->text,
                  arena_printf(&f.keep, "run 1 of commit (unknown)%s: 0 of 0 cases judged",
                               rows[i].text != NULL ? rows[i].text : ""));
        store_tear_down(&f);
    }
}

TEST(a_case_that_was_asked_for_and_is_gone_closes_the_gate)
{
    static const struct {
        const char *name, *before, *now, *command, *allowed;
        bool open;
        const char *text;
    } rows[] = {
        {"nothing is gone", "one two", "one two", "", NULL, true, "0 gone"},
        {"one more", "one two", "one two three", "", NULL, true, "0 gone"},
        {"one is gone", "one two", "one", "", NULL, false, "1 gone"},
        {"one that failed is gone", "one -two", "one", "", NULL, false, "1 gone"},
        {"two of ten are left", "a b c d e f g h i j", "a b", "", NULL, false, "8 gone"},
        {"it is repeated less often", "one one two", "one two", "", NULL, true, "0 gone"},
        {"it was repeated, and is gone", "one two two two", "one", "", NULL, false, "1 gone"},
        {"it may be", "one two", "one", "", "two", true, "beside 1 allowed"},
        {"another may be", "one two", "one", "", "one", false, "1 gone"},
        {"not asked for", "one two", "one", " -k one", NULL, true,
         "and 1 that this run was not asked for"},
        {"asked for by name", "one two three", "one", " -k 'one or two'", NULL, false, "1 gone"},
        {"another variant", "one two", "one", " --variant=ob0", NULL, true, "and 1 that"},
        {"this variant", "one two", "one", " --variant ob0,ob2", NULL, false, "1 gone"},
        {"a part by number", "one two three", "one", " --shard 2/3", NULL, true, "part 2 of 3"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        (void)put_run(&f, "twinstack run --variant ob2", rows[i].before, 0);
        (void)put_run(&f, arena_printf(&f.keep, "twinstack run%s", rows[i].command), rows[i].now,
                      0);
        decide(&f, (struct gate_request){.against = "1", .allow_missing = rows[i].allowed}, &gate);
        CHECK_EQ(gate.open, rows[i].open);
        const struct gate_check *check = check_of(&gate, "cases gone");
        if (CHECK(check != NULL))
            CHECK_HAS(check->text, rows[i].text);
        store_tear_down(&f);
    }
}

TEST(a_build_that_the_baseline_ran_and_this_host_does_not_closes_the_gate)
{
    static const struct {
        const char *name, *before, *now, *command, *allowed;
        bool open;
        const char *builds; /* NULL: there is no such check */
    } rows[] = {
        {"both ran", "a 86a 86b", "a 86a 86b", "", NULL, true, NULL},
        {"x86 is not run", "a 86a 86b", "a ?86a ?86b", "", NULL, false, "x86-ob2 (2 cases)"},
        {"that is allowed", "a 86a", "a ?86a", "", "x86", true, "x86-ob2 (1 case)"},
        {"one case is", "a 86a 86b", "a 86a ?86b", "", "b", true, NULL},
        {"it was not run before", "a ?86a", "a ?86a", "", NULL, true, NULL},
        {"it is run now", "a ?86a", "a 86a", "", NULL, true, NULL},
        {"not asked for", "a 86a", "a", " --variant ob2", NULL, true, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        (void)put_run(&f, "twinstack run", rows[i].before, 0);
        (void)put_run(&f, arena_printf(&f.keep, "twinstack run%s", rows[i].command), rows[i].now,
                      0);
        decide(&f, (struct gate_request){.against = "1", .allow_missing = rows[i].allowed}, &gate);
        CHECK_EQ(gate.open, rows[i].open);
        const struct gate_check *check = check_of(&gate, "builds");
        CHECK_EQ(check != NULL, rows[i].builds != NULL);
        if (check != NULL && rows[i].builds != NULL)
            CHECK_HAS(check->text, rows[i].builds);
        store_tear_down(&f);
    }
}

TEST(new_failures_close_the_gate_old_ones_only_when_strict)
{
    static const struct {
        const char *name, *before, *now;
        uint64_t max_new;
        bool strict, open;
    } rows[] = {{"none", "a b", "a b", 0, false, true},
                {"a new one", "a b", "a -b", 0, false, false},
                {"one is allowed", "a b", "a -b", 1, false, true},
                {"two are not", "a b", "-a -b", 1, false, false},
                {"an old one", "a -b", "a -b", 0, false, true},
                {"an old one, strict", "a -b", "a -b", 0, true, false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        (void)put_run(&f, "twinstack run", rows[i].before, 0);
        (void)put_run(&f, "twinstack run", rows[i].now, 0);
        decide(&f,
               (struct gate_request){
                   .against = "1", .max_new = rows[i].max_new, .strict = rows[i].strict},
               &gate);
        CHECK_EQ(gate.open, rows[i].open);
        store_tear_down(&f);
    }
}

static const char no_stack[] = "no stack";

/* A complete run of two cases whose dumps are by the writers A and B; NULL: one gives no name;
 * no_stack: no dump was read. */
static void put_run_of_writers(struct store_fixture *f, const char *a, const char *b,
                               uint64_t dump_ns)
{
    const char *const writers[] = {a, b};
    struct run_info run = {.label = "run", .commit = "c", .branch = "main", .platform = "linux"};
    REQUIRE(store_begin_run(f->store, &run, &f->keep, &f->fault) == ERR_NONE);
    for (uint32_t i = 0; i < 20; i++) {
        const bool lost = writers[i % 2] == no_stack;
        struct stack stack = {.engine = "dump"};
        struct frame frame = {.module_name = "a.exe"};
        stack.frames = &frame;
        stack.frame_count = 1;
        struct engine_claim claim = {.engine = "dump",
                                     .kind = ENGINE_KIND_DUMP,
                                     .subject = true,
                                     .version = lost ? NULL : writers[i % 2],
                                     .stacks = &stack,
                                     .stack_count = !lost,
                                     .skipped = lost,
                                     .cost = {.total_ns = dump_ns}};
        struct engine_score score = {
            .engine = "dump", .subject = true, .judged = true, .exact = true, .frames = !lost};
        struct run_case c = {.scenario = arena_printf(&f->keep, "s%u", (unsigned)i),
                             .variant = "ob2",
                             .kind = CASE_KIND_CRASH,
                             .claims = &claim,
                             .claim_count = 1,
                             .result = {.verdict = VERDICT_PASS,
                                        .reason = "",
                                        .right = "all",
                                        .scores = &score,
                                        .score_count = 1}};
        REQUIRE(store_put_case(f->store, run.id, &c, &f->fault) == ERR_NONE);
    }
    REQUIRE(store_finish_run(f->store, run.id, RUN_COMPLETE, 1, &f->fault) == ERR_NONE);
}

/* A run of dumps by Microsoft's writer says nothing about one of Wine's: not whether it is slower,
 * nor whether its stacks are as good. */
TEST(runs_of_two_writers_are_never_compared)
{
    static const char wines[] = "none", of_ms[] = "dbgcore.amd64,10.0.29507.1001",
                      later[] = "dbgcore.amd64,10.0.30000.1",
                      of_x86[] = "dbgcore.i386,10.0.29507.1001";
    static const struct {
        const char *name, *was[2], *is[2];
        bool open;
        const char *text; /* of the check "writer"; NULL: there is none */
    } rows[] = {
        {"Wine's twice", {NULL, NULL}, {NULL, NULL}, true, NULL},
        {"Microsoft's twice", {of_ms, of_ms}, {of_ms, of_ms}, true, NULL},
        {"Wine's, then Microsoft's",
         {NULL, NULL},
         {of_ms, of_ms},
         false,
         "writer of dumps: it gives no name -> dbgcore.amd64,10.0.29507.1001"},
        {"two versions",
         {of_ms, of_ms},
         {later, later},
         false,
         "29507.1001 -> dbgcore.amd64,10.0.3"},
        {"a run of two writers",
         {of_ms, of_ms},
         {of_ms, NULL},
         false,
         "29507.1001 and one without a name:"},
        {"a run of two versions", {of_ms, of_ms}, {of_ms, wines}, false, "29507.1001 and none:"},
        {"two processors twice", {of_ms, of_x86}, {of_ms, of_x86}, true, NULL},
        {"no dump was read, so no writer is known",
         {of_ms, of_ms},
         {no_stack, no_stack},
         false,
         NULL},
        {"one of two processors", {of_ms, of_x86}, {of_ms, of_ms}, true, NULL},
        {"one processor, and then two", {of_ms, of_ms}, {of_ms, of_x86}, true, NULL},
        {"another version for one of two processors",
         {of_ms, of_x86},
         {of_ms, later},
         false,
         "i386,10.0.29507.1001 -> dbgcore.amd64,10.0.29507.1001 and dbgcore.amd64,10.0.3"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct store_fixture f;
        struct gate gate;
        store_set_up(&f);
        test_row(rows[i].name);
        put_run_of_writers(&f, rows[i].was[0], rows[i].was[1], 1000000);
        put_run_of_writers(&f, rows[i].is[0], rows[i].is[1], 4000000);
        decide(&f, (struct gate_request){.against = "1", .max_accepted = GATE_ACCEPTED_OF_BASELINE},
               &gate);
        CHECK_EQ(gate.open, rows[i].open);
        const struct gate_check *check = check_of(&gate, "writer");
        if (CHECK_EQ(check != NULL, rows[i].text != NULL) && check != NULL)
            CHECK_HAS(check->text, rows[i].text);
        decide(&f,
               (struct gate_request){
                   .against = "1", .max_slowdown = 0.1, .max_accepted = GATE_ACCEPTED_OF_BASELINE},
               &gate);
        CHECK_EQ(check_of(&gate, "dump") != NULL, rows[i].text == NULL); /* on its times */
        CHECK(!gate.open);
        store_tear_down(&f);
    }
}
