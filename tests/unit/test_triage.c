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

TEST(each_failing_case_has_one_trouble_and_a_sentence)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct engine_score scores[2] = {
            {.engine = "offset:rtl", .subject = true, .state = rows[i].offset},
            {.engine = "dump", .subject = true, .state = rows[i].dump}};
        struct finding finding = {.engine = rows[i].finding, .fails = true};
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
