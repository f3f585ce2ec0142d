/* The reference suite: results, and what contestants do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "suite/result_file.h"
#include "suite/score_conflicts.h"
#include "suite_made.h"
#include "test.h"

TEST(a_result_says_what_became_worse)
{
#define OLD(EDITION, CASES)                                                                        \
    "{\"result\":1,\"tool\":{\"name\":\"t\",\"version\":\"1\"},\"edition\":\"" EDITION             \
    "\",\"cases\":{" CASES "}}"
    static const struct {
        const char *name, *old;
        enum status want;
        uint32_t worse, better, compared;
    } rows[] = {
        {"as before",
         OLD("2026.1", "\"wrong\":[\"moments/x64/a/0\"],\"right\":[\"moments/x64/b/1\"]"), ERR_NONE,
         0, 0, 2},
        {"right before", OLD("2026.1", "\"right\":[\"moments/x64/a/0\",\"moments/x64/b/1\"]"),
         ERR_NONE, 1, 0, 2},
        {"early before", OLD("2026.1", "\"early\":[\"moments/x64/a/0\"]"), ERR_NONE, 1, 0, 1},
        {"crashed before", OLD("2026.1", "\"crashed\":[\"moments/x64/a/0\",\"moments/x64/b/1\"]"),
         ERR_NONE, 0, 2, 2},
        {"other cases", OLD("2026.1", "\"right\":[\"moments/x64/z/0\"]"), ERR_NONE, 0, 0, 0},
        {"another edition", OLD("2025.9", ""), ERR_ABSENT, 0, 0, 0},
        {"an outcome of another version", OLD("2026.1", "\"brilliant\":[]"), ERR_MALFORMED, 0, 0,
         0},
        {"no result", "{}", ERR_MALFORMED, 0, 0, 0},
        {"no JSON", "{", ERR_MALFORMED, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct suite_answer answers[] = {{.outcome = SUITE_WRONG}, {.outcome = SUITE_RIGHT}};
        const struct score score = {.name = {"t", "2", NULL, NULL}, .answers = answers};
        struct result_difference difference;
        struct suite suite;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(suite_open(make_suite(LIST, good_index, NULL), NULL, &keep, &suite, &fault) ==
                ERR_NONE);
        CHECK_EQ(result_compare(&suite, &score, rows[i].old, strlen(rows[i].old), &keep,
                                &difference, &fault),
                 rows[i].want);
        if (rows[i].want == ERR_NONE) {
            CHECK_EQ(difference.worse_count, rows[i].worse);
            CHECK_EQ(difference.better_count, rows[i].better);
            CHECK_EQ(difference.compared, rows[i].compared);
        }
        arena_free(&keep);
    }
}

TEST(sums_are_by_shape_and_position)
{
    struct fault fault = FAULT_INIT;
    struct suite_answer answers[] = {{.outcome = SUITE_WRONG}, {.outcome = SUITE_RIGHT}};
    const struct score score = {.name = {"t", "2", NULL, NULL}, .answers = answers};
    struct result_row *rows = NULL;
    uint32_t count = 0;
    struct suite suite;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(suite_open(make_suite(LIST, good_index, NULL), NULL, &keep, &suite, &fault) ==
            ERR_NONE);
    for (int by_position = 0; by_position < 2; by_position++) {
        REQUIRE(result_rows(&suite, &score, by_position, &keep, &rows, &count, &fault) == ERR_NONE);
        REQUIRE(count == 1);
        CHECK_EQ(rows[0].counts[SUITE_WRONG], 1);
        CHECK_EQ(rows[0].counts[SUITE_RIGHT], 1);
        CHECK((rows[0].position != NULL) == (by_position != 0));
    }
    CHECK_STR(result_sum(&suite, &score, "moments.x64", &keep), "1 right, 1 wrong");
    CHECK(result_sum(&suite, &score, "dumps.x64", &keep) == NULL);
    arena_free(&keep);
}

#define WELCOME "read hello\necho '{\"name\":\"t\",\"version\":\"1\",\"can\":[\"moments.x64\"]}'\n"

/* A suite of one moment, and a contestant that is a shell script. */
struct scripted {
    struct arena keep;
    struct suite suite;
    struct contestant *contestant;
    struct contestant_name name;
    struct fault fault;
};

/* SCRIPT NULL: there is no such program. Returns what contestant_open() does. */
static enum status start_script(struct scripted *s, const char *script)
{
    char path[512], command[600];
    *s = (struct scripted){.fault = FAULT_INIT};
    arena_init(&s->keep, 0);
    if (process_find("sh", &s->keep) == NULL)
        SKIP("sh");
    REQUIRE(suite_open(make_suite(LIST, good_index, NULL), NULL, &s->keep, &s->suite, &s->fault) ==
            ERR_NONE);
    (void)snprintf(path, sizeof path, "%s/contestant.sh", test_scratch());
    if (script != NULL)
        test_write(path, script, strlen(script));
    (void)snprintf(command, sizeof command, "%s %s", script != NULL ? "sh" : "/no/such/program",
                   path);
    const struct contestant_request request = {
        .command = command, .suite = &s->suite, .limit_ms = 60000};
    return contestant_open(&request, &s->keep, &s->contestant, &s->name, &s->fault);
}

static void end_script(struct scripted *s)
{
    (void)contestant_close(s->contestant);
    arena_free(&s->keep);
}

/* A contestant is a program that may end in any way; what it wrote last is repeated. */
TEST(what_a_contestant_does_costs_its_case_only)
{
    static const struct {
        const char *name, *script;
        enum suite_outcome want;
        const char *words; /* NULL: none */
    } rows[] = {
        {"the truth", WELCOME "read q\necho '{\"id\":\"moments/x64/a/0\",\"frames\":" FRAMES "}'\n",
         SUITE_RIGHT, NULL},
        {"no JSON", WELCOME "read q\necho nonsense\nread q\n", SUITE_GARBAGE, NULL},
        {"it ends without a word", WELCOME "read q\nexit 0\n", SUITE_CRASHED, "it ended, exit 0"},
        {"it ends with words", WELCOME "read q\nprintf 'first\\nlast words\\n' >&2\nexit 3\n",
         SUITE_CRASHED, "it ended, exit 3: last words"},
        {"it is killed", WELCOME "read q\nkill -SEGV $$\n", SUITE_CRASHED, "it ended, signal 11"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scripted s;
        struct suite_answer answer;
        const char *line;
        test_row(rows[i].name);
        REQUIRE(start_script(&s, rows[i].script) == ERR_NONE);
        CHECK_STR(s.name.name, "t");
        CHECK(contestant_can(&s.name, "moments.x64") && !contestant_can(&s.name, "moments.x86"));
        for (int turn = 0; turn < 2; turn++) { /* it is started again for the second question */
            REQUIRE(contestant_ask(s.contestant, &s.suite.cases[0], &s.keep, &answer, &line,
                                   &s.fault) == ERR_NONE);
            CHECK_EQ(answer.outcome, rows[i].want);
            if (rows[i].words != NULL)
                CHECK_STR(answer.words, rows[i].words);
            if (answer.outcome == SUITE_RIGHT)
                break;
        }
        end_script(&s);
    }
}

TEST(what_is_no_contestant_is_refused)
{
    static const struct {
        const char *name, *script; /* SCRIPT NULL: there is no such program */
        enum status want;
    } rows[] = {{"no program", NULL, ERR_ABSENT},
                {"it ends", "exit 1\n", ERR_IO},
                {"no welcome", "read hello\necho '[]'\n", ERR_MALFORMED},
                {"a welcome without a version", "read hello\necho '{\"name\":\"t\",\"can\":[]}'\n",
                 ERR_MALFORMED}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scripted s;
        test_row(rows[i].name);
        CHECK_EQ(start_script(&s, rows[i].script), rows[i].want);
        end_script(&s);
    }
}

static void count_done(void *context, uint32_t done, uint32_t all)
{
    uint32_t *last = context;
    CHECK_EQ(done, *last + 1);
    CHECK_EQ(all, 2);
    *last = done;
}

/* Each case is asked once, of any number of processes; what a contestant does not name is not. */
TEST(a_score_has_an_answer_for_each_case)
{
#define ANSWERS                                                                                    \
    "while read q; do case $q in\n*a/0*) i=a/0;;\n*) i=b/1;;\nesac\n"                              \
    "echo \"{\\\"id\\\":\\\"moments/x64/$i\\\",\\\"frames\\\":[{\\\"ip\\\":16}]}\"\ndone\n"
    static const struct {
        const char *name, *script;
        uint32_t jobs;
        enum suite_outcome want[2];
        const char *words; /* of the second; NULL: none */
    } rows[] = {
        {"one process", WELCOME ANSWERS, 1, {SUITE_EARLY, SUITE_RIGHT}, NULL},
        {"more than cases", WELCOME ANSWERS, 3, {SUITE_EARLY, SUITE_RIGHT}, NULL},
        {"other capabilities",
         "read hello\necho '{\"name\":\"t\",\"version\":\"1\",\"can\":[\"dumps.x64\"]}'\n" ANSWERS,
         1,
         {SUITE_UNSUPPORTED, SUITE_UNSUPPORTED},
         "it does not name this capability"},
        {"it crashes at each case",
         WELCOME "read q\nexit 4\n",
         2,
         {SUITE_CRASHED, SUITE_CRASHED},
         "it ended, exit 4"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scripted s;
        struct score score;
        char command[600];
        uint32_t done = 0;
        test_row(rows[i].name);
        REQUIRE(start_script(&s, rows[i].script) == ERR_NONE);
        (void)snprintf(command, sizeof command, "sh %s/contestant.sh", test_scratch());
        const struct score_request request = {
            .contestant = {.command = command, .suite = &s.suite, .limit_ms = 60000},
            .jobs = rows[i].jobs,
            .progress = rows[i].want[0] == SUITE_UNSUPPORTED ? NULL : count_done,
            .context = &done};
        CHECK_EQ(score_all(&request, &s.keep, &score, &s.fault), ERR_NONE);
        CHECK_STR(score.name.name, "t");
        for (int k = 0; k < 2; k++)
            CHECK_STR(suite_outcome_name(score.answers[k].outcome),
                      suite_outcome_name(rows[i].want[k]));
        CHECK_STR(score.answers[1].words, rows[i].words);
        CHECK_EQ(done, request.progress != NULL ? 2 : 0);
        if (rows[i].words == NULL && CHECK_EQ(score.answers[0].walk.count, 1))
            CHECK_HEX(score.answers[0].walk.frames[0].ip, 16);
        end_script(&s);
    }
}

TEST(a_fault_where_windows_versions_disagree_counts_where_both_are_wrong)
{
    static const struct {
        const char *name;
        enum suite_outcome newer, older, want_newer, want_older;
    } rows[] = {
        {"as newer Windows", SUITE_RIGHT, SUITE_WRONG, SUITE_RIGHT, SUITE_UNSUPPORTED},
        {"as older Windows, whose way is lost", SUITE_EARLY, SUITE_RIGHT, SUITE_UNSUPPORTED,
         SUITE_RIGHT},
        {"as neither", SUITE_WRONG, SUITE_EARLY, SUITE_WRONG, SUITE_EARLY},
        {"it crashes", SUITE_RIGHT, SUITE_CRASHED, SUITE_RIGHT, SUITE_CRASHED},
        {"both, by looking at the code", SUITE_RIGHT, SUITE_RIGHT, SUITE_RIGHT, SUITE_RIGHT},
    };
    static const char *newer[] = {"newer"}, *older[] = {"elsewhere", "older"};
    static struct suite_case cases[] = {{.id = "other"},
                                        {.id = "older", .conflicts = newer, .conflict_count = 1},
                                        {.id = "newer", .conflicts = older, .conflict_count = 2}};
    const struct suite suite = {.cases = cases, .count = COUNT_OF(cases)};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct suite_answer answers[] = {{.outcome = SUITE_WRONG},
                                         {.outcome = rows[i].older, .first = 2},
                                         {.outcome = rows[i].newer, .first = 2}};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(score_settle_conflicts(&suite, answers, &keep, &fault), ERR_NONE);
        CHECK_EQ(answers[0].outcome, SUITE_WRONG);
        CHECK_EQ(answers[1].outcome, rows[i].want_older);
        CHECK_EQ(answers[2].outcome, rows[i].want_newer);
        CHECK_STR(answers[1].words, rows[i].want_older == SUITE_UNSUPPORTED
                                        ? "it is right in newer, of another Windows"
                                        : NULL);
        arena_free(&keep);
    }
}

/* JUnit counts failures and skips; the third answer belongs to no case. */
TEST(a_result_is_written_as_junit)
{
    struct fault fault = FAULT_INIT;
    struct suite_answer answers[] = {{.outcome = SUITE_WRONG, .words = "frame 1"},
                                     {.outcome = SUITE_UNSUPPORTED},
                                     {.outcome = SUITE_CRASHED}},
                        right[] = {{.outcome = SUITE_TIMEOUT, .words = "no answer in time"},
                                   {.outcome = SUITE_RIGHT}};
    const struct score score = {.name = {"t", "2", NULL, NULL}, .answers = answers},
                       other = {.name = {"t", "3", NULL, NULL}, .answers = right};
    struct suite suite;
    struct arena keep;
    char path[512];
    arena_init(&keep, 0);
    REQUIRE(suite_open(make_suite(LIST, good_index, NULL), NULL, &keep, &suite, &fault) ==
            ERR_NONE);
    CHECK_STR(suite.cases[0].rule, "a page");
    CHECK_STR(suite.cases[0].rule_url, "https://example.org/page");
    CHECK(suite.cases[1].rule_url == NULL);
    (void)snprintf(path, sizeof path, "%s/junit.xml", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    result_junit(&suite, &score, out);
    (void)fclose(out);
    size_t bytes;
    const char *text = (const char *)test_read(path, &bytes);
    CHECK_HAS(text, "tests=\"2\" failures=\"1\" skipped=\"1\"");
    CHECK_HAS(text, "<failure message=\"wrong\">frame 1</failure>");
    CHECK_HAS(text, "<skipped message=\"unsupported\">a page</skipped>");
    out = fopen(path, "wb");
    REQUIRE(out != NULL);
    result_junit(&suite, &other, out);
    (void)fclose(out);
    text = (const char *)test_read(path, &bytes);
    CHECK_HAS(text, "tests=\"2\" failures=\"1\" skipped=\"0\"");
    CHECK_HAS(text, "<failure message=\"timeout\">no answer in time</failure>");
    CHECK_HAS(text, "name=\"moments/x64/b/1\"/>\n  </testsuite>");
    arena_free(&keep);
}

/* The members are those of $defs/result in corpus/reference/schema.json; the third answer belongs
 * to no case. */
TEST(a_result_is_written_as_json)
{
    struct fault fault = FAULT_INIT;
    static const struct suite_frame frames[] = {{.ip = 0x10, .sp = 0x100},
                                                {.ip = 0x66, .sp = UINT64_MAX},
                                                {.ip = 1},
                                                {.ip = 2},
                                                {.ip = 3},
                                                {.ip = 4}};
    struct suite_answer answers[] = {{.outcome = SUITE_WRONG, .first = 1, .walk = {frames, 6}},
                                     {.outcome = SUITE_EARLY, .first = 2, .walk = {frames, 2}},
                                     {.outcome = SUITE_WRONG, .first = 0, .walk = {frames, 1}}};
    static const char *const can[] = {"moments.x64", NULL};
    const struct score score = {.name = {"t", "2", "https://example.org/bugs", can},
                                .answers = answers,
                                .wall_ns = 1999999,
                                .peak_bytes = 77,
                                .cached = 5};
    const struct result_context context = {"2026-11-28", "Linux 6", "x"};
    struct suite suite;
    struct arena keep;
    struct json j;

    arena_init(&keep, 0);
    REQUIRE(suite_open(make_suite(LIST, good_index, NULL), NULL, &keep, &suite, &fault) ==
            ERR_NONE);
    json_to_text(&j, false);
    REQUIRE(result_write(&suite, &score, &context, &j, &fault) == ERR_NONE);
    char *text = json_take(&j, NULL);
    REQUIRE(text != NULL);
    CHECK_STR(
        text,
        "{\"result\":1,\"tool\":{\"name\":\"t\",\"version\":\"2\",\"bugs\":"
        "\"https://example.org/bugs\"},\"edition\":\"2026.1\",\"when\":\"2026-11-28\","
        "\"context\":{\"os\":\"Linux 6\",\"processor\":\"x\"},\"wall_ms\":1,"
        "\"peak_bytes\":77,\"cached\":5,\"by\":[{\"capability\":\"moments.x64\",\"shape\":\"push\","
        "\"position\":\"body\",\"right\":0,\"early\":1,\"wrong\":1,\"crashed\":0,"
        "\"timeout\":0,\"garbage\":0,\"unsupported\":0}],\"cases\":{\"right\":[],"
        "\"early\":[\"moments/x64/b/1\"],\"wrong\":[\"moments/x64/a/0\"],\"crashed\":[],"
        "\"timeout\":[],\"garbage\":[],\"unsupported\":[]},\"answers\":{"
        "\"moments/x64/a/0\":{\"first\":1,\"frames\":["
        "{\"ip\":\"0x10\",\"sp\":\"0x100\"},"
        "{\"ip\":\"0x66\",\"sp\":null},{\"ip\":\"0x1\",\"sp\":"
        "\"0x0\"},"
        "{\"ip\":\"0x2\",\"sp\":\"0x0\"}],\"left_out\":2},"
        "\"moments/x64/b/1\":{\"first\":2,\"frames\":[],\"left_out\":2}}}\n");
    free(text);
    arena_free(&keep);
}
