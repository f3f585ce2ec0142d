/* study/triage: the kind of trouble of a failing case, and the sentence for it. */
#include <string.h>

#include "study/triage.h"
#include "test.h"

struct row {
    const char *name;
    enum verdict verdict;
    enum case_kind kind;
    enum stack_state dump;   /* state of engine "dump" */
    enum stack_state offset; /* state of engine "offset:rtl" */
    const char *finding;     /* engine of the failing finding */
    uint64_t record_bytes, dump_bytes;
    enum trouble trouble;
    const char *sentence; /* the expected start of the sentence */
};

static const struct row rows[] = {
    {"a pass", VERDICT_PASS, CASE_KIND_CRASH, STACK_OK, STACK_OK, NULL, 9, 9, TROUBLE_NONE,
     "Right: the engines"},
    {"a healthy program", VERDICT_PASS, CASE_KIND_CALM, STACK_SKIPPED, STACK_SKIPPED, NULL, 0, 0,
     TROUBLE_NONE, "Right: the program is healthy"},
    {"not on this machine", VERDICT_UNSUPPORTED, CASE_KIND_CRASH, STACK_SKIPPED, STACK_SKIPPED,
     NULL, 0, 0, TROUBLE_NONE, "Not tested on this machine: because"},
    {"accepted", VERDICT_XFAIL, CASE_KIND_CRASH, STACK_OK, STACK_OK, "dump", 9, 9, TROUBLE_NONE,
     "Wrong, and accepted: because"},
    {"a dump is missing", VERDICT_FAIL, CASE_KIND_HANG, STACK_SKIPPED, STACK_OK, "dump", 9, 0,
     TROUBLE_NO_DUMP, "Wrong: the process died and left no dump"},
    {"a record is missing", VERDICT_FAIL, CASE_KIND_CRASH, STACK_OK, STACK_SKIPPED, "offset:rtl", 0,
     9, TROUBLE_NO_RECORD, "Wrong: the process died and left no record"},
    {"a dump that gives no stack", VERDICT_FAIL, CASE_KIND_HANG, STACK_FAILED, STACK_OK, "dump", 9,
     9, TROUBLE_NO_DUMP_STACK, "Wrong: there is a dump, and no stack of the dump way: because."},
    {"a record without a stack", VERDICT_FAIL, CASE_KIND_CRASH, STACK_OK, STACK_FAILED,
     "offset:rtl", 9, 9, TROUBLE_NO_OFFSET_STACK,
     "Wrong: there is a record, and no stack of the offset way: because."},
    {"a stack is wrong", VERDICT_FAIL, CASE_KIND_CRASH, STACK_OK, STACK_OK, "dump", 9, 9,
     TROUBLE_WRONG_STACK, "Wrong: the stack of dump differs from what really ran in 1 place."},
    {"nothing was captured", VERDICT_FAIL, CASE_KIND_CRASH, STACK_SKIPPED, STACK_SKIPPED, NULL, 0,
     0, TROUBLE_NOT_CAPTURED, "Wrong: the process died and left neither"},
    {"another exception", VERDICT_FAIL, CASE_KIND_CRASH, STACK_OK, STACK_OK, NULL, 9, 9,
     TROUBLE_WRONG_END, "Wrong: the process did not end as promised: because"},
    {"a false alarm", VERDICT_FAIL, CASE_KIND_CALM, STACK_OK, STACK_OK, NULL, 9, 9,
     TROUBLE_FALSE_ALARM, "Wrong: a healthy program"},
    {"gone or damaged", VERDICT_ERROR, CASE_KIND_CRASH, STACK_OK, STACK_OK, NULL, 9, 9,
     TROUBLE_NOT_JUDGED, "Not judged: because"},
    {"flaky", VERDICT_FLAKY, CASE_KIND_CRASH, STACK_OK, STACK_OK, NULL, 9, 9, TROUBLE_FLAKY,
     "Unstable"},
    {"right though accepted", VERDICT_XPASS, CASE_KIND_CRASH, STACK_OK, STACK_OK, NULL, 9, 9,
     TROUBLE_UNEXPECTED_PASS, "Right, although"},
};

TEST(what_the_truth_says_and_where_it_is_silent_are_two_troubles)
{
    static const struct {
        const char *name;
        bool first, second; /* findings against the truth */
        enum trouble trouble;
    } against[] = {
        {"both where it is silent", false, false, TROUBLE_NOT_AGREED},
        {"first against it", true, false, TROUBLE_WRONG_STACK},
        {"then against it", false, true, TROUBLE_WRONG_STACK},
        {"both against it", true, true, TROUBLE_WRONG_STACK},
    };
    for (size_t i = 0; i < COUNT_OF(against); i++) {
        struct engine_score score = {.engine = "dump", .subject = true, .state = STACK_OK};
        struct finding findings[] = {
            {.engine = "dump", .fails = true, .against_truth = against[i].first},
            {.engine = "dump", .fails = true, .against_truth = against[i].second}};
        const struct run_case c = {.kind = CASE_KIND_CRASH,
                                   .timing = {.record_bytes = 9, .dump_bytes = 9},
                                   .result = {.verdict = VERDICT_FAIL,
                                              .scores = &score,
                                              .score_count = 1,
                                              .findings = findings,
                                              .finding_count = COUNT_OF(findings)}};
        test_row(against[i].name);
        CHECK_STR(trouble_name(triage_trouble(&c)), trouble_name(against[i].trouble));
    }
}

TEST(each_failing_case_has_one_trouble_and_a_sentence)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct engine_score scores[2] = {
            {.engine = "offset:rtl", .subject = true, .state = rows[i].offset},
            {.engine = "dump", .subject = true, .state = rows[i].dump}};
        struct finding finding = {.engine = rows[i].finding,
                                  .against = FINDING_TRUTH,
                                  .against_truth = true,
                                  .fails = true};
        const struct run_case c = {
            .scenario = "s",
            .variant = "v",
            .kind = rows[i].kind,
            .timing = {.record_bytes = rows[i].record_bytes, .dump_bytes = rows[i].dump_bytes},
            .result = {.verdict = rows[i].verdict,
                       .reason = "because",
                       .right = "all",
                       .scores = scores,
                       .score_count = 2,
                       .findings = &finding,
                       .finding_count = rows[i].finding != NULL}};
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_STR(trouble_name(triage_trouble(&c)), trouble_name(rows[i].trouble));
        const char *sentence = triage_sentence(&c, &keep);
        REQUIRE(sentence != NULL);
        if (strncmp(sentence, rows[i].sentence, strlen(rows[i].sentence)) != 0)
            CHECK_STR(sentence, rows[i].sentence);
        arena_free(&keep);
    }
}

/* A stack that contradicts the truth, and two that contradict each other where it is silent. */
TEST(two_kinds_of_difference_are_two_sentences)
{
    static const struct {
        const char *name;
        uint32_t truth, silent, rows; /* findings of dump, in so many rows */
        const char *sentence;
    } kinds[] = {
        {"only against the truth", 2, 0, 2,
         "Wrong: the stack of dump differs from what really ran in 2 places."},
        {"only where the truth is silent", 0, 1, 1,
         "Not agreed: the stack of dump differs from that of offset:rtl in 1 place; the truth is "
         "silent there."},
        {"one place, by both measures", 1, 1, 1,
         "Wrong: the stack of dump differs from what really ran in 1 place."},
        {"both", 1, 3, 4,
         "Wrong: the stack of dump differs from what really ran in 1 place; and the stack of dump "
         "differs from that of offset:rtl in 3 more, where the truth is silent."},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct arena keep;
        struct finding findings[4] = {{0}};
        struct engine_score scores[2] = {{.engine = "offset:rtl", .subject = true},
                                         {.engine = "dump", .subject = true}};
        const uint32_t count = kinds[i].truth + kinds[i].silent;
        for (uint32_t f = 0; f < count; f++)
            findings[f] =
                (struct finding){.engine = "dump",
                                 .against = f < kinds[i].truth ? FINDING_TRUTH : "offset:rtl",
                                 .against_truth = f < kinds[i].truth,
                                 .row = f % kinds[i].rows,
                                 .fails = true};
        const struct run_case c = {.scenario = "s",
                                   .variant = "v",
                                   .kind = CASE_KIND_CRASH,
                                   .result = {.verdict = VERDICT_FAIL,
                                              .right = "offset:rtl",
                                              .scores = scores,
                                              .score_count = 2,
                                              .findings = findings,
                                              .finding_count = count}};
        test_row(kinds[i].name);
        arena_init(&keep, 0);
        CHECK_STR(triage_sentence(&c, &keep), kinds[i].sentence);
        arena_free(&keep);
    }
}

/* A row in which both stacks are wrong is one place, and one of two threads is another. */
TEST(a_row_is_one_place_however_many_stacks_are_wrong_there)
{
    struct engine_score scores[2] = {{.engine = "offset:rtl", .subject = true},
                                     {.engine = "dump", .subject = true}};
    struct finding findings[5];
    struct run_case c = {
        .kind = CASE_KIND_CRASH,
        .result = {
            .verdict = VERDICT_FAIL, .scores = scores, .score_count = 2, .findings = findings}};
    struct arena keep;
    for (uint32_t i = 0; i < COUNT_OF(findings); i++)
        findings[i] = (struct finding){.engine = scores[i % 2].engine,
                                       .against = FINDING_TRUTH,
                                       .against_truth = true,
                                       .row = i / 2,
                                       .thread_id = i / 4,
                                       .fails = true};
    arena_init(&keep, 0);
    for (uint32_t places = 1; places <= 3; places++) {
        c.result.finding_count = places < 3 ? 2 * places : COUNT_OF(findings);
        CHECK_EQ(finding_places(findings, c.result.finding_count, NULL, NULL), places);
        CHECK_STR(triage_sentence(&c, &keep),
                  arena_printf(&keep,
                               "Wrong: the stacks of offset:rtl and dump differ from what really "
                               "ran in %u %s.",
                               places, places == 1 ? "place" : "places"));
    }
    findings[0].evidence = "what is said; and 7 more frames"; /* is not read back */
    findings[0].facts.more = 3;
    CHECK_EQ(finding_places(findings, COUNT_OF(findings), NULL, NULL), 5); /* rows 0 to 3, and 1 */
    findings[0].fails = false;
    CHECK_EQ(finding_places(findings, 1, NULL, NULL), 0);
    CHECK_EQ(finding_places(NULL, 0, NULL, NULL), 0);
    arena_free(&keep);
}

/* ---- groups of failing cases ---------------------------------------------------------------- */

struct failing {
    const char *variant, *engine, *against, *wrong, *module;
    int32_t frame_a, frame_b;
    enum finding_level level;
    enum cause cause;
    enum blame blame;
    const char *evidence;
};

#define STEP(code) "the walks part at main (a.exe!0x10), which dump leaves by " code ": why"
#define LOST_BY(variant, module, cause, blame, evidence)                                           \
    {variant, "dump", FINDING_TRUTH, "dump", module, -1, 3, LEVEL_FUNCTION, cause, blame, evidence}
#define LOST(variant, module, blame) LOST_BY(variant, module, CAUSE_UNEXPLAINED, blame, NULL)
#define FALSE_ONE(module, cause, blame, evidence)                                                  \
    {"ob2", "dump", FINDING_TRUTH, "dump", module, 3, -1, LEVEL_PHYSICAL, cause, blame, evidence}
#define LINE_OF(engine) LINE_IN(engine, "a.exe")
#define LINE_IN(engine, module)                                                                    \
    {"ob2",                                                                                        \
     engine,                                                                                       \
     FINDING_TRUTH,                                                                                \
     engine,                                                                                       \
     module,                                                                                       \
     2,                                                                                            \
     2,                                                                                            \
     LEVEL_LINE,                                                                                   \
     CAUSE_UNEXPLAINED,                                                                            \
     BLAME_SYMBOLS_SHARED,                                                                         \
     NULL}

static const struct grouped {
    const char *name;
    struct failing cases[4];
    uint32_t count, groups;
    const char *sentence, *blames; /* of the first group */
    uint32_t firsts;               /* cases like the first one; 0: it alone */
} grouped[] = {
    {"one fault in two builds is one group",
     {LOST("ob0", "victims-ob0.exe", BLAME_WALK), LOST("ob2", "Victims-ob2.exe", BLAME_WALK)},
     2,
     1,
     "dump lacks a frame that ran, in victims-*.exe",
     "walk of dump (2)",
     0},
    {"two faults are two groups",
     {LOST("ob2", "ntdll.dll", BLAME_WALK), LOST("ob2", "kernel32.dll", BLAME_WALK),
      LOST("ob0", "kernel32.dll", BLAME_WALK)},
     3,
     2,
     "dump lacks a frame that ran, in kernel32.dll",
     "walk of dump (2)",
     0},
    {"a group has the blames of all its cases",
     {LOST("o0", "a.dll", BLAME_EVEN), LOST("ob0", "a.dll", BLAME_WALK),
      LOST("ob2", "a.dll", BLAME_WALK)},
     3,
     1,
     "dump lacks a frame that ran, in a.dll",
     "walk of dump (2), none: the votes are even (1)",
     0},
    {"the truth is silent, and one is wrong",
     {{"ob2", "dump", "offset:rtl", "dump", "ntdll.dll", -1, 6, LEVEL_PHYSICAL, CAUSE_TRUNCATED,
       BLAME_WALK, NULL}},
     1,
     1,
     "dump lacks a frame that offset:rtl has, where the truth is silent, in ntdll.dll (truncated)",
     "walk of dump (1)",
     0},
    {"the truth is silent, and the other one is wrong",
     {{"ob2", "dump", "offset:rtl", "offset:rtl", "ntdll.dll", -1, 6, LEVEL_PHYSICAL,
       CAUSE_UNEXPLAINED, BLAME_UNKNOWN, NULL}},
     1,
     1,
     "offset:rtl has a frame that dump has not, where the truth is silent, in ntdll.dll",
     "",
     0},
    {"the truth is silent, and neither is known to be wrong",
     {{"ob2", "dump", "offset:rtl", NULL, "ntdll.dll", 4, 4, LEVEL_PHYSICAL, CAUSE_UNEXPLAINED,
       BLAME_UNKNOWN, NULL}},
     1,
     1,
     "dump and offset:rtl disagree where the truth is silent: their addresses differ, in ntdll.dll",
     "",
     0},
    {"one unwind code is one fault, whatever it does to the stack",
     {LOST_BY("ob2", "a.exe", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_SET_FPREG")),
      LOST_BY("ob0", "a.exe", CAUSE_WRONG_STEP, BLAME_EVEN, STEP("UWOP_SET_FPREG")),
      FALSE_ONE("b.dll", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_SET_FPREG"))},
     3,
     1,
     "dump lacks a frame that ran, in a.exe (wrong step by UWOP_SET_FPREG); 2 of 3 cases show "
     "this, 1 "
     "another effect of the same fault",
     "walk of dump (2), none: the votes are even (1)",
     0},
    {"two unwind codes are two faults",
     {LOST_BY("ob2", "a.exe", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_SET_FPREG")),
      LOST_BY("ob0", "a.exe", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_SET_FPREG")),
      LOST_BY("ob2", "a.exe", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_ALLOC_SMALL"))},
     3,
     2,
     "dump lacks a frame that ran, in a.exe (wrong step by UWOP_SET_FPREG)",
     "walk of dump (2)",
     0},
    {"what follows from a wrong step of the walk is part of it",
     {LOST_BY("ob2", "a.exe", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_SET_FPREG")),
      LOST_BY("ob0", "a.exe", CAUSE_WRONG_STEP, BLAME_WALK, STEP("UWOP_SET_FPREG")),
      FALSE_ONE(NULL, CAUSE_GENERATED_CODE, BLAME_WALK, "why")},
     3,
     1,
     "dump lacks a frame that ran, in a.exe (wrong step by UWOP_SET_FPREG); 2 of 3 cases show "
     "this, 1 "
     "another effect of the same fault",
     "walk of dump (3)",
     0},
    {"no walk takes a wrong step where the dump was read wrongly",
     {LOST_BY("ob2", "a.exe", CAUSE_WRONG_STEP, BLAME_DUMP_READER, STEP("UWOP_SET_FPREG")),
      LOST_BY("ob0", "a.exe", CAUSE_WRONG_STEP, BLAME_DUMP_READER, STEP("UWOP_ALLOC_SMALL")),
      FALSE_ONE(NULL, CAUSE_GENERATED_CODE, BLAME_DUMP_READER, "why")},
     3,
     1,
     "dump lacks a frame that ran, in a.exe; 2 of 3 cases show this, 1 "
     "another effect of the same fault",
     "dump reader (3)",
     0},
    {"a module without symbols is named, not the module of the first frame",
     {LOST_BY("ob2", "ntdll.dll", CAUSE_SYMBOLS_MISSING, BLAME_SYMBOLS_SHARED,
              "a-ob2.exe has no symbols: a.pdb: no such file was found"),
      LOST_BY("ob0", "kernel32.dll", CAUSE_SYMBOLS_MISSING, BLAME_SYMBOLS_SHARED,
              "a-ob0.exe has no symbols: a.pdb: no such file was found")},
     2,
     1,
     "a-*.exe has no symbols: no such file was found (symbols missing)",
     "symbols of both ways (2)",
     0},
    {"wrong lines of a module are one fault, by either way",
     {LINE_OF("dump"), LINE_OF("offset:rtl"), LINE_OF("offset:rtl")},
     3,
     1,
     "symbols give another line than ran, in a.exe",
     "symbols of both ways (3)",
     0},
    {"one without a blame is put down to ten of the walk",
     {LOST("ob2", "a.exe", BLAME_WALK),
      {"ob2", "dump", FINDING_TRUTH, "dump", "b.dll", 3, -1, LEVEL_PHYSICAL, CAUSE_UNEXPLAINED,
       BLAME_EVEN, "why"}},
     11,
     1,
     "dump lacks a frame that ran, in a.exe; 10 of 11 cases show this, 1 "
     "another effect of the same fault",
     "walk of dump (10), none: the votes are even (1)",
     10},
    {"nine are too few",
     {LOST("ob2", "a.exe", BLAME_WALK),
      {"ob2", "dump", FINDING_TRUTH, "dump", "b.dll", 3, -1, LEVEL_PHYSICAL, CAUSE_UNEXPLAINED,
       BLAME_EVEN, "why"}},
     10,
     2,
     "dump lacks a frame that ran, in a.exe",
     "walk of dump (9)",
     9},
    {"to ten of the reader of dumps",
     {LOST("ob2", "a.exe", BLAME_DUMP_READER),
      {"ob2", "dump", FINDING_TRUTH, "dump", "b.dll", 3, -1, LEVEL_PHYSICAL, CAUSE_UNEXPLAINED,
       BLAME_EVEN, "why"}},
     11,
     1,
     "dump lacks a frame that ran, in a.exe; 10 of 11 cases show this, 1 "
     "another effect of the same fault",
     "dump reader (10), none: the votes are even (1)",
     10},
    {"to none of the other engine",
     {LOST("ob2", "a.exe", BLAME_WALK),
      {"ob2", "offset:rtl", FINDING_TRUTH, "offset:rtl", "b.dll", 3, -1, LEVEL_PHYSICAL,
       CAUSE_UNEXPLAINED, BLAME_EVEN, "why"}},
     11,
     2,
     "dump lacks a frame that ran, in a.exe",
     "walk of dump (10)",
     10},
    {"by offsets, to ten of the record",
     {{"ob2", "offset:rtl", FINDING_TRUTH, "offset:rtl", "a.exe", -1, 3, LEVEL_FUNCTION,
       CAUSE_UNEXPLAINED, BLAME_RECORD, NULL},
      {"ob2", "offset:rtl", FINDING_TRUTH, "offset:rtl", "b.dll", 3, -1, LEVEL_PHYSICAL,
       CAUSE_UNEXPLAINED, BLAME_EVEN, "why"}},
     11,
     1,
     "offset:rtl lacks a frame that ran, in a.exe; 10 of 11 cases show this, 1 "
     "another effect of the same fault",
     "record (10), none: the votes are even (1)",
     10},
    {"a dump's is not of the record",
     {{"ob2", "offset:rtl", FINDING_TRUTH, "offset:rtl", "a.exe", -1, 3, LEVEL_FUNCTION,
       CAUSE_UNEXPLAINED, BLAME_RECORD, NULL},
      {"ob2", "dump", FINDING_TRUTH, "dump", "b.dll", 3, -1, LEVEL_PHYSICAL, CAUSE_UNEXPLAINED,
       BLAME_EVEN, "why"}},
     11,
     2,
     "offset:rtl lacks a frame that ran, in a.exe",
     "record (10)",
     10},
    {"by dumps, to ten of the symbols",
     {LOST("ob2", "a.exe", BLAME_SYMBOLS_SHARED),
      {"ob2", "dump", FINDING_TRUTH, "dump", "b.dll", 3, -1, LEVEL_PHYSICAL, CAUSE_UNEXPLAINED,
       BLAME_EVEN, "why"}},
     11,
     1,
     "dump lacks a frame that ran, in a.exe; 10 of 11 cases show this, 1 "
     "another effect of the same fault",
     "symbols of both ways (10), none: the votes are even (1)",
     10},
    {"by offsets, too",
     {LOST("ob2", "a.exe", BLAME_SYMBOLS_SHARED),
      {"ob2", "offset:rtl", FINDING_TRUTH, "offset:rtl", "b.dll", 3, -1, LEVEL_PHYSICAL,
       CAUSE_UNEXPLAINED, BLAME_EVEN, "why"}},
     11,
     1,
     "dump lacks a frame that ran, in a.exe; 10 of 11 cases show this, 1 "
     "another effect of the same fault",
     "symbols of both ways (10), none: the votes are even (1)",
     10},
    {"a judge has symbols of its own",
     {LOST("ob2", "a.exe", BLAME_SYMBOLS_SHARED),
      {"ob2", "judge:x", FINDING_TRUTH, "judge:x", "b.dll", 3, -1, LEVEL_PHYSICAL,
       CAUSE_UNEXPLAINED, BLAME_EVEN, "why"}},
     11,
     2,
     "dump lacks a frame that ran, in a.exe",
     "symbols of both ways (10)",
     10},
    {"lines of another module are wrong as those of ten",
     {LINE_OF("dump"), LINE_IN("dump", "b.exe")},
     11,
     1,
     "symbols give another line than ran, in a.exe; 10 of 11 cases show this, 1 "
     "another effect of the same fault",
     "symbols of both ways (11)",
     10},
    {"as those of nine they are not",
     {LINE_OF("dump"), LINE_IN("dump", "b.exe")},
     10,
     2,
     "symbols give another line than ran, in a.exe",
     "symbols of both ways (9)",
     9},
};

TEST(failing_cases_are_grouped_by_mechanism_and_place)
{
    for (size_t i = 0; i < COUNT_OF(grouped); i++) {
        struct arena keep;
        struct failures failures;
        struct failure_count count;
        struct fault fault = FAULT_INIT;
        test_row(grouped[i].name);
        arena_init(&keep, 0);
        failures_begin(&count, &keep, &failures);
        for (uint32_t k = 0; k < grouped[i].count; k++) {
            const uint32_t firsts = grouped[i].firsts;
            const struct failing *f =
                &grouped[i].cases[k < firsts ? 0 : k - (firsts > 0 ? firsts - 1 : 0)];
            struct finding finding = {.engine = f->engine,
                                      .against = f->against,
                                      .against_truth = strcmp(f->against, FINDING_TRUTH) == 0,
                                      .wrong = f->wrong,
                                      .module = f->module,
                                      .frame_a = f->frame_a,
                                      .frame_b = f->frame_b,
                                      .level = f->level,
                                      .cause = f->cause,
                                      .blame = f->blame,
                                      .blame_engine = "dump",
                                      .evidence = f->evidence,
                                      .fails = true};
            finding_read_evidence(&finding, &keep);
            const struct diff_case c = {.scenario = "s",
                                        .variant = f->variant,
                                        .reason = "because",
                                        .finding = &finding,
                                        .verdict = VERDICT_FAIL};
            uint32_t numbers[FAILURES_OF_CASE];
            CHECK(failures_add(&count, &c, numbers));
        }
        REQUIRE(failures_end(&count, NULL, &fault) == ERR_NONE);
        CHECK_EQ(failures.count, grouped[i].groups);
        CHECK_EQ(failures.cases, grouped[i].count);
        CHECK_STR(failures.rows[0].sentence, grouped[i].sentence);
        CHECK_STR(failure_blames_text(&failures.rows[0], &keep), grouped[i].blames);
        arena_free(&keep);
    }
}

/* Wrong lines at the right addresses, and further out a walk that goes wrong. */
TEST(two_faults_in_one_case_are_two_groups)
{
    static const struct finding line = {.engine = "offset:rtl",
                                        .against = FINDING_TRUTH,
                                        .against_truth = true,
                                        .level = LEVEL_LINE,
                                        .cause = CAUSE_UNEXPLAINED,
                                        .row = 2,
                                        .blame = BLAME_SYMBOLS_SHARED,
                                        .fails = true};
    static const struct finding step = {.engine = "dump",
                                        .against = "offset:rtl",
                                        .wrong = "dump",
                                        .frame_a = -1,
                                        .frame_b = 6,
                                        .row = 6,
                                        .cause = CAUSE_WRONG_STEP,
                                        .blame = BLAME_WALK,
                                        .blame_engine = "dump",
                                        .facts = {.left_by = "UWOP_SET_FPREG"},
                                        .fails = true};
    static const struct finding end = {.engine = "dump",
                                       .against = FINDING_TRUTH,
                                       .against_truth = true,
                                       .frame_a = -1,
                                       .row = 1,
                                       .cause = CAUSE_TRUNCATED,
                                       .blame = BLAME_WALK,
                                       .blame_engine = "dump",
                                       .fails = true};
    static const struct {
        const char *name;
        const struct finding *findings[3];
        uint32_t count, groups;
    } cases[] = {
        {"lines, then a step", {&line, &step}, 2, 2},
        {"in another order", {&step, &line}, 2, 2},
        {"lines alone", {&line, &line}, 2, 1},
        {"a walk that ended early, of which more may follow", {&end, &line, &step}, 3, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct failures failures;
        struct failure_count count;
        struct fault fault = FAULT_INIT;
        struct finding findings[3];
        uint32_t numbers[FAILURES_OF_CASE];
        test_row(cases[i].name);
        arena_init(&keep, 0);
        for (uint32_t k = 0; k < cases[i].count; k++)
            findings[k] = *cases[i].findings[k];
        const struct run_case c = {.scenario = "s",
                                   .variant = "v",
                                   .result = {.verdict = VERDICT_FAIL,
                                              .findings = findings,
                                              .finding_count = cases[i].count}};
        const struct diff_case as = failures_case(&c);
        failures_begin(&count, &keep, &failures);
        CHECK(failures_add(&count, &as, numbers));
        REQUIRE(failures_end(&count, NULL, &fault) == ERR_NONE);
        CHECK_EQ(failures.count, cases[i].groups);
        CHECK_EQ(failures.cases, 1);
        CHECK_EQ(numbers[1] != UINT32_MAX, cases[i].groups == 2);
        arena_free(&keep);
    }
}

/* Later rows often only follow from the first one that is wrong. */
TEST(the_first_wrong_row_decides)
{
    static const struct {
        const char *name;
        struct finding findings[3];
        int decides;
    } order[] = {
        {"none fails", {{.row = 1}}, -1},
        {"one that does not fail comes earlier", {{.row = 1}, {.row = 2, .fails = true}}, 1},
        {"a later row without a known cause",
         {{.row = 2, .fails = true, .cause = CAUSE_TRUNCATED},
          {.row = 5, .fails = true, .cause = CAUSE_UNEXPLAINED}},
         0},
        {"the earlier row is found later",
         {{.row = 4, .fails = true}, {.row = 3, .fails = true}},
         1},
        {"an earlier row of a later thread",
         {{.thread_id = 7, .row = 4, .fails = true}, {.thread_id = 8, .row = 1, .fails = true}},
         0},
    };
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        const struct finding *got = finding_deciding(order[i].findings, 3);
        test_row(order[i].name);
        CHECK_EQ(got == NULL ? -1 : (int)(got - order[i].findings), order[i].decides);
    }
}

TEST(names_of_groups_are_read_back)
{
    for (int g = 0; g < TRIAGE_GROUPS; g++) {
        enum triage_group got = TRIAGE_REST;
        CHECK(triage_group_parse(triage_group_name((enum triage_group)g), &got));
        CHECK_EQ(got, g);
    }
    enum triage_group got = TRIAGE_REST;
    CHECK(!triage_group_parse("later", &got));
}
