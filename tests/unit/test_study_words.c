/* What study says of two runs in a sentence, and of one run in counts: the words follow from
 * run_difference.h and triage.h, the numbers from what each row has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "model/known.h"
#include "stream/partial.h"
#include "study/accuracy.h"
#include "study/run_difference.h"
#include "study/signatures.h"
#include "study/summary.h"
#include "study/triage.h"
#include "study/work_metrics.h"
#include "test.h"

/* ---- two runs ------------------------------------------------------------------------- */

static const struct {
    const char *name, *want; /* what comes after "From run 3 to run 4: " */
    uint32_t counts[DIFF_GROUPS];
    struct diff_time times[3];
    uint32_t facts; /* how many of the names below */
} sentences[] = {
    {.name = "nothing", .want = "no verdict differs; too few samples to compare times."},
    {.name = "one of each",
     .want = "1 case fails that did not, 1 case is fixed, 1 case differs for another reason, "
             "1 case that failed is accepted, 1 case is only in the later run, 1 case is gone; too "
             "few samples to compare times.",
     .counts = {[DIFF_NEW] = 1,
                [DIFF_FIXED] = 1,
                [DIFF_CHANGED] = 1,
                [DIFF_ACCEPTED] = 1,
                [DIFF_ADDED] = 1,
                [DIFF_GONE] = 1,
                [DIFF_SAME] = 9,
                [DIFF_NOT_SELECTED] = 9}},
    {.name = "two of each",
     .want = "2 cases fail that did not, 3 cases are fixed, 4 cases differ for another reason, 5 "
             "cases that failed are accepted, 6 cases are only in the later run, 7 cases are gone "
             "(8 fail as before); too few samples to compare times.",
     .counts = {[DIFF_NEW] = 2,
                [DIFF_FIXED] = 3,
                [DIFF_CHANGED] = 4,
                [DIFF_ACCEPTED] = 5,
                [DIFF_ADDED] = 6,
                [DIFF_GONE] = 7,
                [DIFF_STILL] = 8}},
    {.name = "one still fails",
     .want = "no verdict differs (1 fails as before); too few samples to compare times.",
     .counts = {[DIFF_STILL] = 1}},
    {.name = "as fast as before",
     .want = "no verdict differs; no engine under test is slower or faster.",
     .times = {{.engine = "dump", .subject = true, .cases = 9, .change = {.change = CHANGE_NONE}}}},
    {.name = "slower and faster",
     .want = "no verdict differs; dump is 15 % slower, offset:rtl is 20 % faster.",
     .times = {{.engine = "dump",
                .subject = true,
                .cases = 9,
                .change = {.change = CHANGE_SLOWER, .effect = 0.15}},
               {.engine = "offset:rtl",
                .subject = true,
                .cases = 1,
                .change = {.change = CHANGE_FASTER, .effect = -0.2}}}},
    {.name = "too noisy, and one that counts for nothing",
     .want = "no verdict differs; dump is too noisy to judge.",
     .times =
         {{.engine = "dump", .subject = true, .cases = 9, .change = {.change = CHANGE_TOO_NOISY}},
          {.engine = "judge:x", .cases = 9, .change = {.change = CHANGE_SLOWER, .effect = 0.5}},
          {.engine = "offset:rtl",
           .subject = true,
           .change = {.change = CHANGE_SLOWER, .effect = 0.5}}}},
    {.name = "too few",
     .want = "no verdict differs; too few samples to compare times.",
     .times = {{.engine = "dump",
                .subject = true,
                .cases = 9,
                .change = {.change = CHANGE_TOO_FEW, .effect = 0.5}}}},
    {.name = "one fact",
     .want = "no verdict differs; too few samples to compare times; not the same around them: "
             "compiler.",
     .facts = 1},
    {.name = "three facts",
     .want = "no verdict differs; too few samples to compare times; not the same around them: "
             "compiler, machine, system.",
     .facts = 3},
    {.name = "four",
     .want = "no verdict differs; too few samples to compare times; not the same around them: "
             "compiler, machine, system and 1 more fact.",
     .facts = 4},
    {.name = "five",
     .want = "no verdict differs; too few samples to compare times; not the same around them: "
             "compiler, machine, system and 2 more facts.",
     .facts = 5},
};

TEST(one_sentence_says_what_differs)
{
    for (size_t i = 0; i < COUNT_OF(sentences); i++) {
        struct diff_fact facts[] = {{"compiler", "a", "b"},
                                    {"machine", "a", "b"},
                                    {"system", "a", "b"},
                                    {"wine", "a", "b"},
                                    {"symbols", "a", "b"}};
        static const struct run_info a = {.id = 3}, b = {.id = 4};
        struct difference d = {.a = &a, .b = &b};
        struct diff_time times[3];
        char text[DIFFERENCE_SENTENCE_BYTES],
            want[DIFFERENCE_SENTENCE_BYTES] = "From run 3 to run 4: ";
        memcpy(d.diff.counts, sentences[i].counts, sizeof d.diff.counts);
        memcpy(times, sentences[i].times, sizeof times);
        d.diff.times = times;
        while (d.diff.time_count < COUNT_OF(times) && times[d.diff.time_count].engine != NULL)
            d.diff.time_count++;
        d.diff.facts = facts;
        d.diff.fact_count = sentences[i].facts;
        strcat(want, sentences[i].want);
        test_row(sentences[i].name);
        CHECK_STR(difference_sentence(&d, text), want);
    }
}

/* Groups of cases that broke; BLAMES of each, and the example's reason. */
static const struct {
    const char *name, *want;
    uint32_t cases;
    struct {
        uint32_t cases;
        struct failure_blame blames[2];
    } groups[2];
    struct case_history since;
} headlines[] = {
    {"nothing broke", NULL, 0, {{0}}, {0}},
    {"one case",
     "1 case broke. Blame: walk of dump (our unwinder, which walks the dump).",
     1,
     {{1, {{"walk of dump", 1}}}},
     {0}},
    {"some of them",
     "3 cases broke. Blame: record (what the capture wrote into the record), for 2 of them.",
     3,
     {{3, {{"record", 2}, {"walk of dump", 1}}}},
     {0}},
    {"the largest sum over all groups",
     "5 cases broke. Blame: dump reader (what reads the dump's modules, threads and memory), for 3 "
     "of them.",
     5,
     {{3, {{"record", 2}, {"dump reader", 1}}}, {2, {{"dump reader", 2}}}},
     {0}},
    {"the walk inside the process",
     "2 cases broke. Blame: walk of offset:rtl (the walk inside the dying process).",
     2,
     {{2, {{"walk of offset:rtl", 2}}}},
     {0}},
    {"the votes are even",
     "2 cases broke, no engine to blame: its reason.",
     2,
     {{2, {{"none: the votes are even", 2}}}},
     {0}},
    {"nothing is blamed, in one of two groups",
     "4 cases broke, no engine to blame: its reason, for 3 of them.",
     4,
     {{3, {{NULL, 0}}}, {1, {{NULL, 0}}}},
     {0}},
    {"since a commit",
     "1 case broke. Blame: record (what the capture wrote into the record). Since commit "
     "0123456789ab; ba9876543210 was good.",
     1,
     {{1, {{"record", 1}}}},
     {4, 3, "0123456789abcdef", "ba9876543210ffff", false}},
    {"since a run, of which no commit is known",
     "1 case broke. Blame: record (what the capture wrote into the record). Since run 4; run 3 was "
     "good.",
     1,
     {{1, {{"record", 1}}}},
     {4, 3, "0123456789abcdef", NULL, false}},
    {"the good run is in another database",
     "1 case broke. Blame: record (what the capture wrote into the record). Since run 4; run 3 of "
     "the other database was good.",
     1,
     {{1, {{"record", 1}}}},
     {4, 3, NULL, NULL, true}},
    {"it always failed",
     "1 case broke. Blame: record (what the capture wrote into the record).",
     1,
     {{1, {{"record", 1}}}},
     {4, 0, "0123456789abcdef", NULL, false}},
};

TEST(the_headline_names_cases_blame_and_commit)
{
    for (size_t i = 0; i < COUNT_OF(headlines); i++) {
        const struct diff_case example = {.reason = "its reason"};
        struct failure rows[2] = {{.example = &example, .since = headlines[i].since},
                                  {.example = &example}};
        struct difference d = {.clusters = {.rows = rows, .cases = headlines[i].cases}};
        struct arena keep;
        for (uint32_t g = 0; g < 2 && headlines[i].groups[g].cases > 0; g++) {
            d.clusters.count++;
            rows[g].cases = headlines[i].groups[g].cases;
            for (uint32_t b = 0; b < 2 && headlines[i].groups[g].blames[b].text != NULL; b++)
                rows[g].blames[rows[g].blame_count++] = headlines[i].groups[g].blames[b];
        }
        arena_init(&keep, 0);
        test_row(headlines[i].name);
        const char *text = difference_headline(&d, &keep);
        CHECK_EQ(text == NULL, headlines[i].want == NULL);
        if (text != NULL && headlines[i].want != NULL)
            CHECK_STR(text, headlines[i].want);
        arena_free(&keep);
    }
}

/* ---- one run -------------------------------------------------------------------------- */

static char *json_of(void (*write)(struct json *j, const struct triage *t), const struct triage *t)
{
    struct json j;
    json_to_text(&j, false);
    write(&j, t);
    char *text = json_take(&j, NULL);
    REQUIRE(text != NULL);
    return text;
}

TEST(what_is_wrong_is_counted_most_cases_first)
{
    struct triage t = {.wrong = 12, .fresh = 5, .baseline = 2};
    t.troubles[TROUBLE_NONE] = 99;
    t.troubles[TROUBLE_NOT_CAPTURED] = 2;
    t.troubles[TROUBLE_WRONG_STACK] = 6;
    t.troubles[TROUBLE_UNEXPECTED_PASS] = 4;
    char *text = json_of(triage_write_wrong, &t);
    CHECK_STR(text, "{\"total\":12,\"new\":5,\"baseline\":2,\"groups\":["
                    "{\"trouble\":\"wrong_stack\",\"text\":\"with a wrong stack\",\"cases\":6},"
                    "{\"trouble\":\"unexpected_pass\",\"text\":\"right although accepted as "
                    "wrong\",\"cases\":4},"
                    "{\"trouble\":\"not_captured\",\"text\":\"with neither record nor "
                    "dump\",\"cases\":2}],\"shared\":0,\"problems\":[],\"problems_left\":0}");
    free(text);
    t.baseline = 0;
    text = json_of(triage_write_wrong, &t);
    CHECK_HAS(text, "\"baseline\":null");
    free(text);
}

TEST(reports_have_the_same_counts_in_words)
{
    struct arena keep;
    arena_init(&keep, 0);
    CHECK_STR(troubles_text(
                  (const uint32_t[TROUBLES]){
                      [TROUBLE_NONE] = 99, [TROUBLE_NO_DUMP] = 2, [TROUBLE_WRONG_STACK] = 134},
                  &keep),
              "134 with a wrong stack, 2 without a dump");
    CHECK_STR(troubles_text((const uint32_t[TROUBLES]){[TROUBLE_NONE] = 99}, &keep), "");
    arena_free(&keep);
}

TEST(which_way_is_right_is_said_of_one_case)
{
    static const struct {
        const char *right, *want;
    } rows[] = {{"none", "in a.ob2 neither way is right"},
                {"dump", "in a.ob2 only dump is right"},
                {"all", "in a.ob2 each way is right"},
                {NULL, NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_case c = {
            .scenario = "a", .variant = "ob2", .result = {.right = rows[i].right}};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].right != NULL ? rows[i].right : "not known");
        CHECK_STR(summary_right(&c, &keep), rows[i].want);
        arena_free(&keep);
    }
}

/* What is accepted is not what is wrong with a case that fails in something else. */
TEST(the_trouble_of_a_case_is_not_what_was_accepted)
{
    static const struct {
        const char *name, *reason;
        enum trouble trouble;
        const char *engine; /* of the finding by which it is in a group */
    } rows[] = {
        {"nothing is accepted", "dump=not_captured", TROUBLE_NO_DUMP, "dump"},
        {"no reason", NULL, TROUBLE_NO_DUMP, "dump"},
        {"the lost dump is accepted", KNOWN_BEYOND "a] accepted: offset:rtl=line_table; b",
         TROUBLE_WRONG_STACK, "offset:rtl"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_score scores[] = {
            {.engine = "offset:rtl", .subject = true, .state = STACK_OK},
            {.engine = "dump", .subject = true, .state = STACK_SKIPPED}};
        struct finding findings[] = {{.engine = "dump", .cause = CAUSE_NOT_CAPTURED, .fails = true},
                                     {.engine = "offset:rtl",
                                      .cause = CAUSE_LINE_TABLE,
                                      .row = 1,
                                      .against_truth = true,
                                      .fails = true}};
        const struct run_case c = {.kind = CASE_KIND_HANG,
                                   .timing = {.record_bytes = 9},
                                   .result = {.verdict = VERDICT_FAIL,
                                              .reason = rows[i].reason,
                                              .scores = scores,
                                              .score_count = COUNT_OF(scores),
                                              .findings = findings,
                                              .finding_count = COUNT_OF(findings)}};
        test_row(rows[i].name);
        CHECK_STR(trouble_name(triage_trouble(&c)), trouble_name(rows[i].trouble));
        CHECK_STR(failures_case(&c).finding->engine, rows[i].engine);
    }
}

/* The finding is of the engine that was compared; the blame may be the other's. */
TEST(a_sentence_names_the_stack_that_is_wrong)
{
    static const struct {
        const char *name, *wrong, *want;
    } rows[] = {
        {"the one that was compared", "dump",
         "Not agreed: the stack of dump differs from that of offset:rtl in 1 place; the truth is "
         "silent there."},
        {"the other one", "offset:rtl",
         "Not agreed: the stack of offset:rtl differs from that of dump in 1 place; the truth is "
         "silent there."},
        {"not known", NULL,
         "Not agreed: the stack of dump differs from that of offset:rtl in 1 place; the truth is "
         "silent there."},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_score scores[] = {
            {.engine = "offset:rtl", .subject = true, .state = STACK_OK},
            {.engine = "dump", .subject = true, .state = STACK_OK}};
        struct finding finding = {
            .engine = "dump", .against = "offset:rtl", .wrong = rows[i].wrong, .fails = true};
        const struct run_case c = {.kind = CASE_KIND_CRASH,
                                   .timing = {.record_bytes = 9, .dump_bytes = 9},
                                   .result = {.verdict = VERDICT_FAIL,
                                              .right = "none",
                                              .scores = scores,
                                              .score_count = COUNT_OF(scores),
                                              .findings = &finding,
                                              .finding_count = 1}};
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        CHECK_STR(triage_sentence(&c, &keep), rows[i].want);
        arena_free(&keep);
    }
}

TEST(shares_say_of_what_they_are)
{
    static const struct {
        const char *name;
        enum verdict verdict;
        enum case_kind kind;
        enum trouble trouble;
        uint32_t right, total, left_out;
    } rows[] = {
        {"right", VERDICT_PASS, CASE_KIND_CRASH, TROUBLE_NONE, 1, 1, 0},
        {"a wrong stack was captured", VERDICT_FAIL, CASE_KIND_CRASH, TROUBLE_WRONG_STACK, 1, 1, 0},
        {"without anything", VERDICT_FAIL, CASE_KIND_CRASH, TROUBLE_NOT_CAPTURED, 0, 1, 0},
        {"without a dump", VERDICT_FAIL, CASE_KIND_HANG, TROUBLE_NO_DUMP, 0, 1, 0},
        {"without a record", VERDICT_FAIL, CASE_KIND_CRASH, TROUBLE_NO_RECORD, 0, 1, 0},
        {"a record without a stack", VERDICT_FAIL, CASE_KIND_CRASH, TROUBLE_NO_OFFSET_STACK, 1, 1,
         0},
        {"not judged", VERDICT_ERROR, CASE_KIND_CRASH, TROUBLE_NOT_JUDGED, 0, 1, 0},
        {"a healthy program", VERDICT_PASS, CASE_KIND_CALM, TROUBLE_NONE, 0, 0, 1},
        {"not on this machine", VERDICT_UNSUPPORTED, CASE_KIND_CRASH, TROUBLE_NONE, 0, 0, 1},
        {"no hook can see it", VERDICT_NOT_CAPTURED_AS_EXPECTED, CASE_KIND_CRASH, TROUBLE_NONE, 0,
         0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct accuracy both = {.judged = {.both = 4},
                                      .ways = {{.engine = "offset:rtl", .exact = {.right = 3}},
                                               {.engine = "dump", .exact = {.right = 2}}}};
        struct triage_item item = {
            .verdict = rows[i].verdict, .kind = rows[i].kind, .trouble = rows[i].trouble};
        const struct triage t = {.items = &item, .item_count = 1, .figures = {.accuracy = &both}};
        struct arena keep;
        arena_init(&keep, 0);
        char *text = json_of(triage_write_shares, &t);
        test_row(rows[i].name);
        CHECK_STR(text,
                  arena_printf(
                      &keep,
                      "[{\"name\":\"captured\",\"right\":%u,\"total\":%u,\"left_out\":%u,\"of\":"
                      "\"cases that should leave a record and a dump\",\"left_out_why\":%s},"
                      "{\"name\":\"offset:rtl\",\"right\":3,\"total\":4,\"left_out\":0,\"of\":"
                      "\"cases of which both ways have a stack that could be judged\","
                      "\"left_out_why\":null},"
                      "{\"name\":\"dump\",\"right\":2,\"total\":4,\"left_out\":0,\"of\":"
                      "\"cases of which both ways have a stack that could be judged\","
                      "\"left_out_why\":null}]",
                      rows[i].right, rows[i].total, rows[i].left_out,
                      rows[i].left_out > 0 ? "\"nothing is to be captured, or not on this machine\""
                                           : "null"));
        free(text);
        arena_free(&keep);
    }
}

TEST(names_are_read_as_they_are_written)
{
    enum triage_group group;
    enum trouble trouble;
    for (int t = 0; t < TROUBLES; t++) {
        REQUIRE(trouble_parse(trouble_name((enum trouble)t), &trouble));
        CHECK_EQ(trouble, t);
    }
    for (int g = 0; g < TRIAGE_GROUPS; g++) {
        REQUIRE(triage_group_parse(triage_group_name((enum triage_group)g), &group));
        CHECK_EQ(group, g);
    }
    CHECK(!trouble_parse("no", &trouble));
    CHECK(!triage_group_parse("", &group));
}

/* ---- partial results ------------------------------------------------------------------- */

/* signatures.h: what is left out raises the floor, since it was seen so often. */
TEST(a_partial_result_says_what_it_leaves_out)
{
    static const struct signature_count items[] = {{.text = "poke | main", .count = 9},
                                                   {.text = "leaf | main", .count = 5},
                                                   {.text = "root", .count = 3}};
    static const struct {
        const char *name;
        uint64_t floor, top, want_floor;
        uint32_t want;
    } rows[] = {
        {"all", 0, UINT64_MAX, 0, 3},
        {"as many as there are", 1, 3, 1, 3},
        {"all but the last", 1, 2, 3, 2},
        {"the first", 1, 1, 5, 1},
        {"none", 1, 0, 9, 0},
        {"a floor that is higher", 4, 2, 4, 2},
        {"a floor that is as high", 3, 2, 3, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows) * 2; i++) {
        const size_t row = i / 2;
        const struct signature_list list = {.of = "run 1",
                                            .items = items,
                                            .count = 3,
                                            .stacks = 17,
                                            .bad = 2,
                                            .floor = rows[row].floor};
        struct fault fault = FAULT_INIT;
        struct partial partial;
        struct arena keep;
        char text[1000];
        size_t used = 0;
        FILE *stream = tmpfile();
        REQUIRE(stream != NULL);
        arena_init(&keep, 0);
        test_row(rows[row].name);
        CHECK(signatures_write_partial(stream, &list, rows[row].top, i % 2 == 1));
        const size_t bytes = (size_t)ftell(stream);
        rewind(stream);
        REQUIRE(bytes < sizeof text && fread(text, 1, bytes, stream) == bytes);
        (void)fclose(stream);
        REQUIRE(partial_read(text, bytes, &keep, &partial, &used, &fault) == ERR_NONE);
        CHECK_EQ(used, bytes);
        CHECK_EQ(partial.stacks, 17);
        CHECK_EQ(partial.bad, 2);
        CHECK_EQ(partial.floor, rows[row].want_floor);
        if (CHECK_EQ(partial.count, rows[row].want))
            for (uint32_t k = 0; k < partial.count; k++) {
                CHECK_STR(partial.rows[k].text, items[k].text);
                CHECK_EQ(partial.rows[k].count, items[k].count);
            }
        arena_free(&keep);
    }
}

TEST(a_partial_result_that_is_not_written_is_an_error)
{
    const struct signature_list list = {.of = "run 1", .stacks = 17};
    char path[700];
    (void)snprintf(path, sizeof path, "%s/file", test_scratch());
    test_write(path, "", 0);
    FILE *stream = fopen(path, "rb"); /* which takes nothing */
    REQUIRE(stream != NULL);
    CHECK(!signatures_write_partial(stream, &list, 10, false));
    CHECK(!signatures_write_partial(stream, &list, 10, true));
    (void)fclose(stream);
}

static bool three_reports(struct queue *queue, enum queue_channel channel, uint64_t *out)
{
    (void)queue;
    *out = 3;
    return channel == QUEUE_REPORTS;
}

static bool dead_for_90_s(struct queue *queue, enum queue_channel channel, uint64_t *stored_ns)
{
    (void)queue;
    *stored_ns = clock_wall_ns() - UINT64_C(90500000000);
    return channel == QUEUE_DEAD;
}

static char *metrics_of(struct work_metrics *m, const struct work_figures *figures,
                        struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    work_metrics_end(m, figures);
    REQUIRE(file_read(m->path, UINT64_C(1) << 16, keep, &text, &bytes, &fault) == ERR_NONE);
    return text;
}

static double value_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    REQUIRE(at != NULL);
    return strtod(at + strlen(name), NULL);
}

/* A rate is that of the time since the last figures, a second at least. */
TEST(a_worker_states_its_figures_as_metrics)
{
#define COUNTER(NAME, VALUE)                                                                       \
    "# TYPE twinstack_work_" NAME " counter\ntwinstack_work_" NAME "{role=\"worker\"} " VALUE "\n"
#define GAUGE(NAME, VALUE)                                                                         \
    "# TYPE twinstack_work_" NAME " gauge\ntwinstack_work_" NAME "{role=\"worker\"} " VALUE "\n"
    static const char want[] = COUNTER("reports_total", "7") COUNTER("stacks_total", "70")
        COUNTER("bad_lines_total", "1") COUNTER("dead_letters_total", "2")
            COUNTER("queue_failures_total", "4") COUNTER("judged_total", "5")
                COUNTER("left_to_newer_total", "6") GAUGE("stacks_per_second", "0")
                    GAUGE("reports_per_second", "0") GAUGE("waiting", "1") GAUGE("disk_full", "0");
    static const char rest[] =
        "# TYPE twinstack_work_queue_pending gauge\n"
        "twinstack_work_queue_pending{role=\"worker\",channel=\"reports\"} 3\n"
        "# TYPE twinstack_work_queue_oldest_seconds gauge\n"
        "twinstack_work_queue_oldest_seconds{role=\"worker\",channel=\"dead\"} 90\n";
    static const char stacks[] = "stacks_per_second{role=\"worker\"} ",
                      reports[] = "reports_per_second{role=\"worker\"} ";
    struct work_figures f = {.reports = 7,
                             .stacks = 70,
                             .bad = 1,
                             .buried = 2,
                             .failures = 4,
                             .judged = 5,
                             .newer = 6,
                             .waiting = true};
    struct queue queue = {.pending = three_reports, .oldest = dead_for_90_s};
    struct arena keep;
    arena_init(&keep, 0);
    struct work_metrics m = {
        .path = path_join(&keep, test_scratch(), "metrics"), .role = "worker", .queue = &queue};
    const double before = (double)clock_wall_ns() / 1e9;
    char *text = metrics_of(&m, &f, &keep);
    const double written = value_of(text, "written_seconds{role=\"worker\"} ");
    CHECK(written >= before && written <= (double)clock_wall_ns() / 1e9);
    CHECK_HAS(text, rest);
    text[sizeof want - 1] = '\0';
    CHECK_STR(text, want);
    f.stacks += 50;
    f.reports += 20;
    m.written_ns = clock_ns(); /* a moment ago */
    text = metrics_of(&m, &f, &keep);
    CHECK(value_of(text, stacks) <= 50 && value_of(text, stacks) > 0);
    CHECK(value_of(text, reports) <= 20 && value_of(text, reports) > 0);
    CHECK(fabs(value_of(text, stacks) / value_of(text, reports) - 2.5) < 1e-9);
    f.stacks += 50;
    m.written_ns = clock_ns() - UINT64_C(10000000000);
    text = metrics_of(&m, &f, &keep);
    CHECK(value_of(text, stacks) <= 5 && value_of(text, stacks) > 0);
    CHECK(value_of(text, reports) == 0);
    arena_free(&keep);
}
