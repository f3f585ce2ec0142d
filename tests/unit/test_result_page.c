/* Results of several tools: the matrix, the page and the badges. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "suite/result_page.h"
#include "test.h"

#define CASES(SUITE_CASES)                                                                         \
    (struct suite)                                                                                 \
    {                                                                                              \
        .edition = "2026.1", .cases = (SUITE_CASES), .count = COUNT_OF(SUITE_CASES)                \
    }
#define AT(ID, CAPABILITY, SHAPE)                                                                  \
    {.id = (ID),                                                                                   \
     .capability = (CAPABILITY),                                                                   \
     .shape = (SHAPE),                                                                             \
     .position = "body",                                                                           \
     .rule = "a page",                                                                             \
     .level = SUITE_UNKNOWN,                                                                       \
     .question = "{\"asked\":1}\n"}
#define RESULT(NAME, VERSION, LISTS)                                                               \
    "{\"result\":1,\"tool\":{\"name\":\"" NAME "\",\"version\":\"" VERSION                         \
    "\",\"bugs\":null},\"edition\":\"2026.1\",\"when\":\"2026-11-28\",\"wall_ms\":1500,"           \
    "\"peak_bytes\":2097152,\"cases\":{" LISTS "}}"
#define RESULT_OF(ANSWERS) RESULT("t", "1", "\"wrong\":[\"a\",\"d\"]},\"answers\":{" ANSWERS)

/* Not in the order of capability, shape and id. */
static struct suite_case cases[] = {
    AT("d", "moments.x64", "push"),   AT("c", "moments.x64", "push"),
    AT("a", "addresses.pdb", "loop"), AT("b", "moments.x64", "leaf"),
    AT("e", "moments.x64", "push"),
};

static struct arena keep;
static struct fault fault;

static struct matrix matrix_of(const struct suite *suite, const char *const *results,
                               uint32_t count)
{
    struct matrix matrix;
    fault = (struct fault)FAULT_INIT;
    REQUIRE(matrix_open(suite, count, &keep, &matrix, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < count && fault.code == ERR_NONE; i++)
        (void)matrix_add(&matrix, results[i], strlen(results[i]), &keep, &fault);
    return matrix;
}

static const char *page_of(const struct matrix *matrix)
{
    char path[512];
    size_t bytes;
    (void)snprintf(path, sizeof path, "%s/page.html", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    CHECK_EQ(result_page(matrix, NULL, out, &fault), ERR_NONE);
    (void)fclose(out);
    return (const char *)test_read(path, &bytes);
}

TEST(a_result_that_cannot_be_shown_is_refused)
{
    static const struct {
        const char *name, *text;
        enum status want;
    } rows[] = {
        {"a result", RESULT("t", "1", "\"right\":[\"a\"]"), ERR_NONE},
        {"without a case", RESULT("t", "1", ""), ERR_NONE},
        {"unsupported twice", RESULT("t", "1", "\"unsupported\":[\"a\",\"a\"]"), ERR_NONE},
        {"a case has two outcomes", RESULT("t", "1", "\"right\":[\"a\"],\"wrong\":[\"a\"]"),
         ERR_MALFORMED},
        {"a case twice", RESULT("t", "1", "\"wrong\":[\"a\",\"a\"]"), ERR_MALFORMED},
        {"an outcome of another version", RESULT("t", "1", "\"best\":[\"a\"]"), ERR_MALFORMED},
        {"an id that is a number", RESULT("t", "1", "\"right\":[1]"), ERR_MALFORMED},
        {"no tool", "{\"result\":1,\"edition\":\"1\",\"cases\":{}}", ERR_MALFORMED},
        {"no cases", "{\"result\":1,\"edition\":\"1\",\"tool\":{\"name\":\"t\",\"version\":\"1\"}}",
         ERR_MALFORMED},
        {"of another form",
         "{\"result\":2,\"edition\":\"1\",\"tool\":{\"name\":\"t\",\"version\":\"1\"},"
         "\"cases\":{}}",
         ERR_MALFORMED},
        {"an answer", RESULT_OF("\"a\":{\"first\":1,\"frames\":[],\"left_out\":0}"), ERR_NONE},
        {"of a case that is elsewhere", RESULT_OF("\"z\":1"), ERR_NONE},
        {"answers that are a list", RESULT("t", "1", "},\"answers\":[1],\"x\":{"), ERR_MALFORMED},
        {"an answer without frames", RESULT_OF("\"a\":{\"first\":1}"), ERR_MALFORMED},
        {"a frame without an address",
         RESULT_OF("\"d\":{\"first\":1,\"frames\":[{}],\"left_out\":0}"), ERR_MALFORMED},
        {"a frame after more than there can be",
         RESULT_OF("\"d\":{\"first\":1025,\"frames\":[],\"left_out\":0}"), ERR_MALFORMED},
        {"more left out than there can be",
         RESULT_OF("\"d\":{\"first\":1,\"frames\":[],\"left_out\":4294967295}"), ERR_MALFORMED},
        {"another document", "[]", ERR_MALFORMED},
        {"no JSON", "<html>", ERR_MALFORMED},
        {"nothing", "", ERR_MALFORMED},
    };
    const struct suite suite = CASES(cases);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)matrix_of(&suite, &rows[i].text, 1);
        CHECK_EQ(fault.code, rows[i].want);
        arena_free(&keep);
    }
}

/* Beside results that were read, as --html shows them: of its answers those that it says it can
 * give. */
TEST(a_score_has_its_column_beside_results)
{
    static const char *const results[] = {RESULT("t", "1", "\"right\":[\"c\"]")};
    static const char *const can[] = {"moments.x64", NULL};
    struct suite_answer answers[] = {{.outcome = SUITE_RIGHT},
                                     {.outcome = SUITE_WRONG},
                                     {.outcome = SUITE_RIGHT},
                                     {.outcome = SUITE_EARLY},
                                     {.outcome = SUITE_CRASHED}};
    static const struct {
        const char *name, *tool, *id;
        uint32_t at;
        int outcome;
    } rows[] = {
        {"the first", "u", "d", 0, SUITE_RIGHT},           {"the second", "u", "c", 1, SUITE_WRONG},
        {"what it cannot", "u", "a", 2, MATRIX_NOT_ASKED}, {"the last", "u", "e", 4, SUITE_CRASHED},
        {"of the result", "t", "c", 1, SUITE_RIGHT},
    };
    const struct suite suite = CASES(cases);
    const struct score score = {.name = {.name = "u", .version = "2", .can = can},
                                .answers = answers,
                                .wall_ns = 2500000000,
                                .peak_bytes = 4096};
    arena_init(&keep, 0);
    struct matrix matrix = matrix_of(&suite, results, COUNT_OF(results));
    REQUIRE(matrix_add_score(&matrix, &score, "2026-11-28", &keep, &fault) == ERR_NONE);
    REQUIRE(matrix.count == 2);
    CHECK_STR(matrix.tools[1].name, "u");
    CHECK_STR(matrix.tools[1].version, "2");
    CHECK_EQ(matrix.tools[1].wall_ms, 2500);
    CHECK_EQ(matrix.tools[1].peak_bytes, 4096);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct matrix_tool *tool = &matrix.tools[strcmp(rows[i].tool, "u") == 0];
        CHECK_STR(suite.cases[rows[i].at].id, rows[i].id);
        CHECK_EQ(tool->outcomes[rows[i].at], rows[i].outcome);
    }
    arena_free(&keep);
}

TEST(each_case_has_one_outcome_of_each_tool)
{
    static const char *const results[] = {
        RESULT("t", "1", "\"right\":[\"c\",\"d\"],\"wrong\":[\"e\"],\"timeout\":[\"other\"]"),
        RESULT("t", "2", "\"early\":[\"c\"],\"crashed\":[\"d\"],\"unsupported\":[\"e\",\"a\"]"),
        RESULT("t", "1", "\"garbage\":[\"a\"],\"unsupported\":[\"c\"]"),
    };
    static const struct {
        const char *name, *id;
        int outcome[2];
    } rows[] = {
        {"of the second result of a tool", "a", {SUITE_GARBAGE, SUITE_UNSUPPORTED}},
        {"no result has it", "b", {MATRIX_NOT_ASKED, MATRIX_NOT_ASKED}},
        {"unsupported in the second result", "c", {SUITE_RIGHT, SUITE_EARLY}},
        {"answered in the first", "d", {SUITE_RIGHT, SUITE_CRASHED}},
        {"unsupported", "e", {SUITE_WRONG, SUITE_UNSUPPORTED}},
    };
    const struct suite suite = CASES(cases);
    arena_init(&keep, 0);
    const struct matrix matrix = matrix_of(&suite, results, COUNT_OF(results));
    REQUIRE(fault.code == ERR_NONE);
    REQUIRE(matrix.count == 2);
    CHECK_EQ(matrix.tools[0].elsewhere, 1);
    CHECK_EQ(matrix.tools[0].wall_ms, 3000);
    CHECK_EQ(matrix.tools[0].peak_bytes, 2097152);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(suite.cases[matrix.order[i]].id, rows[i].id);
        for (int k = 0; k < 2; k++)
            CHECK_EQ(matrix.tools[k].outcomes[matrix.order[i]], rows[i].outcome[k]);
    }
    const char *page = page_of(&matrix);
    CHECK_HAS(page, "<tr><th>push<td class=\"bad\"><a href=\"#s2\">2 right, 1 wrong</a>"
                    "<td class=\"bad\"><a href=\"#s2\">1 early, 1 crashed, 1 unsupported</a>\n");
    CHECK_HAS(page, "<tr><th>leaf<td class=\"none\">1 not asked<td class=\"none\">1 not asked\n");
    CHECK_HAS(page, "<tr><th>loop<td class=\"bad\"><a href=\"#s0\">1 garbage</a>\n");
    CHECK_HAS(page, "<summary>d (body)</summary><pre id=\"c0\">rule: a page\n"
                    "truth: unknown, any answer is right\nright: t 1\ncrashed: t 2\n"
                    "code at the step out of frame 0: not shown, the case has no frame\n"
                    "again: twinstack score --cmd COMMAND -k 'd' --details\n</pre>");
    CHECK(strstr(page, "<summary>b (body)") == NULL);
    arena_free(&keep);
}

/* What a file says that a tool answered is shown where its outcome is early or wrong, and only
 * there. */
TEST(answers_of_files_are_shown)
{
    static const struct suite_frame truth[] = {{.ip = 0x10, .sp = 0x100},
                                               {.ip = 0x20, .sp = 0x108}};
    static const struct suite_walk walk = {truth, 2};
    static const struct {
        const char *name, *result, *want, *never;
    } rows[] = {
        {"wrong",
         RESULT("t", "1",
                "\"wrong\":[\"d\"]},\"answers\":{\"d\":{\"first\":1,\"frames\":[{\"ip\":"
                "\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x66\",\"sp\":null}],\"left_out\":7}"),
         "t 1 answered:\n  10  sp 100\n  66\n  and 7 more\n"
         "code at the step out of frame 0: not shown, it is in no image of the suite\n",
         NULL},
        {"early",
         RESULT("t", "1",
                "\"early\":[\"d\"]},\"answers\":{\"d\":{\"first\":2,\"frames\":[],"
                "\"left_out\":2}"),
         "t 1 answered: the first 2 of these frames, no more\ncode at the step out of frame 1",
         NULL},
        {"a version without answers", RESULT("t", "1", "\"wrong\":[\"d\"]"),
         "wrong: t 1\ncode at the step out of frame 0", " 1 answered"},
        {"an answer to a case that it has right",
         RESULT("t", "1",
                "\"right\":[\"d\"],\"wrong\":[\"e\"]},\"answers\":{\"d\":{\"first\":1,"
                "\"frames\":[],\"left_out\":0}"),
         "wrong: t 1", " 1 answered"},
        {"of a hostile tool",
         RESULT("<b>", "1",
                "\"wrong\":[\"d\"]},\"answers\":{\"d\":{\"first\":0,\"frames\":[],"
                "\"left_out\":0}"),
         "&lt;b&gt; 1 answered: no frame\n", "<b> 1"},
    };
    struct suite_case made[COUNT_OF(cases)];
    memcpy(made, cases, sizeof made);
    for (size_t i = 0; i < COUNT_OF(made); i++)
        if (made[i].shape[0] == 'p') {
            made[i].level = SUITE_MUST;
            made[i].walks = &walk;
            made[i].walk_count = 1;
        }
    const struct suite suite = CASES(made);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const struct matrix matrix = matrix_of(&suite, &rows[i].result, 1);
        REQUIRE(fault.code == ERR_NONE);
        const char *page = page_of(&matrix);
        CHECK_HAS(page, rows[i].want);
        CHECK(rows[i].never == NULL || strstr(page, rows[i].never) == NULL);
        arena_free(&keep);
    }
}

TEST(what_one_tool_alone_has_wrong_is_found)
{
    static const struct {
        const char *name, *results[3];
        bool want;
        uint32_t tool;
    } rows[] = {
        {"wrong, another is right",
         {RESULT("s", "1", "\"right\":[\"a\"]"), RESULT("t", "1", "\"wrong\":[\"a\"]"),
          RESULT("u", "1", "\"early\":[\"a\"]")},
         true,
         1},
        {"no answer",
         {RESULT("s", "1", "\"right\":[\"a\"]"), RESULT("t", "1", ""),
          RESULT("u", "1", "\"timeout\":[\"a\"]")},
         true,
         2},
        {"two versions of one tool",
         {RESULT("t", "1", "\"wrong\":[\"a\"]"), RESULT("t", "2", "\"crashed\":[\"a\"]"),
          RESULT("u", "1", "\"right\":[\"a\"]")},
         true,
         0},
        {"only another version is right",
         {RESULT("t", "1", "\"wrong\":[\"a\"]"), RESULT("t", "2", "\"right\":[\"a\"]"),
          RESULT("u", "1", "\"early\":[\"a\"]")},
         false,
         0},
        {"two tools are wrong",
         {RESULT("s", "1", "\"right\":[\"a\"]"), RESULT("t", "1", "\"wrong\":[\"a\"]"),
          RESULT("u", "1", "\"wrong\":[\"a\"]")},
         false,
         0},
        {"no other was asked",
         {RESULT("s", "1", ""), RESULT("t", "1", "\"wrong\":[\"a\"]"),
          RESULT("u", "1", "\"unsupported\":[\"a\"]")},
         false,
         0},
        {"early is not wrong",
         {RESULT("s", "1", "\"right\":[\"a\"]"), RESULT("t", "1", "\"early\":[\"a\"]"),
          RESULT("u", "1", "\"right\":[\"a\"]")},
         false,
         0},
    };
    const struct suite suite = CASES(cases);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t tool = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const struct matrix matrix = matrix_of(&suite, rows[i].results, 3);
        CHECK_EQ(matrix_wrong_here_only(&matrix, 2, &tool), rows[i].want);
        if (rows[i].want)
            CHECK_EQ(tool, rows[i].tool);
        const char *page = page_of(&matrix);
        CHECK_EQ(strstr(page, "<p>None.</p>") == NULL, rows[i].want);
        CHECK_EQ(strstr(page, "asked: {&quot;asked&quot;:1}") != NULL, rows[i].want);
        arena_free(&keep);
    }
}

#define EVIL "<img src=x onerror=alert(1)>\\\"'&"
#define EVIL_C "<img src=x onerror=alert(1)>\"'&"
#define SAFE "&lt;img src=x onerror=alert(1)&gt;&quot;'&amp;"

TEST(hostile_names_are_text)
{
    static const char *name[] = {EVIL_C};
    static const struct suite_frame frame = {.function = {name, 1}, .file = {name, 1}, .line = 7};
    static const struct suite_walk walk = {&frame, 1};
    static const struct suite_frame bare = {.line = 8, .inlined = SUITE_INLINED};
    static const struct suite_walk bare_walk = {&bare, 1};
    static const struct suite_case plain = AT("a", "addresses.pdb", "loop");
    static const char result[] = RESULT("t", "1", "\"wrong\":[\"a\"]");
    static const struct {
        const char *name, *result;
        struct suite_case of;
        const char *want;
    } rows[] = {
        {"the tool", RESULT(EVIL, "1", "\"wrong\":[\"a\"]"), plain, "<tr><th>" SAFE " 1"},
        {"its version", RESULT("t", EVIL, "\"wrong\":[\"a\"]"), plain, "<tr><th>t " SAFE},
        {"no UTF-8", RESULT("t\xff\xc3", "1", "\"wrong\":[\"a\"]"), plain, "<tr><th>t?? 1"},
        {"where its faults are reported, its edition and day",
         "{\"result\":1,\"tool\":{\"name\":\"t\",\"version\":\"1\",\"bugs\":\"javascript:" EVIL
         "\"},\"edition\":\"" EVIL "\",\"when\":\"" EVIL "\",\"cases\":{\"wrong\":[\"a\"]}}",
         plain, "faults: javascript:" SAFE "<td>" SAFE "<td>" SAFE "<td>"},
        {"an address with a quote",
         "{\"result\":1,\"tool\":{\"name\":\"t\",\"version\":\"1\",\"bugs\":\"https://" EVIL
         "\"},\"edition\":\"1\",\"when\":\"1\",\"cases\":{\"wrong\":[\"a\"]}}",
         plain, "<a rel=\"noreferrer\" href=\"https://" SAFE "\">https://" SAFE "</a>"},
        {"the id", RESULT("t", "1", "\"wrong\":[\"" EVIL "\"]"),
         AT(EVIL_C, "addresses.pdb", "loop"), "<summary>" SAFE " (body)"},
        {"the capability", result, AT("a", EVIL_C, "loop"), "<h2>" SAFE "</h2>"},
        {"the shape", result, AT("a", "addresses.pdb", EVIL_C), "<tr><th>" SAFE "<td"},
        {"position, rule and truth",
         result,
         {.kind = SUITE_ADDRESS,
          .id = "a",
          .capability = "addresses.pdb",
          .shape = "loop",
          .position = EVIL_C,
          .rule = EVIL_C,
          .rule_url = "JavaScript:" EVIL_C,
          .walks = &walk,
          .walk_count = 1,
          .question = EVIL_C},
         "<summary>a (" SAFE ")</summary><pre id=\"c0\">rule: " SAFE "\ntruth:\n  " SAFE "  " SAFE
         ":7\n"},
        {"a frame of which only the line is known",
         result,
         {.kind = SUITE_ADDRESS,
          .id = "a",
          .capability = "addresses.pdb",
          .shape = "loop",
          .position = "row",
          .rule = "a page",
          .walks = &bare_walk,
          .walk_count = 1,
          .question = ""},
         "truth:\n  ?  ?:8  inlined\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct suite_case of[] = {rows[i].of};
        const struct suite suite = CASES(of);
        const char *const results[] = {rows[i].result};
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const struct matrix matrix = matrix_of(&suite, results, 1);
        CHECK_EQ(fault.code, ERR_NONE);
        const char *page = page_of(&matrix);
        CHECK_HAS(page, rows[i].want);
        CHECK(strstr(page, "<img") == NULL);
        CHECK(strstr(page, "href=\"javascript:") == NULL);
        CHECK(strstr(page, "href=\"JavaScript:") == NULL);
        arena_free(&keep);
    }
}

TEST(a_badge_says_what_a_tool_covers)
{
    static const struct {
        const char *name;
        struct suite_badge badge;
        const char *words, *file, *color;
    } rows[] = {
        {"all right",
         {"lldb with names", "19.1.7", "1", "moments.x64", {[SUITE_RIGHT] = 31}},
         "31 right",
         "lldb-with-names-19.1.7-moments.x64.svg",
         "#1e7b34"},
        {"some early",
         {"T", "1", "1", "moments.x64", {[SUITE_RIGHT] = 31, [SUITE_EARLY] = 2}},
         "31 right, 2 early",
         "t-1-moments.x64.svg",
         "#8a5a00"},
        {"some not asked",
         {"t", "1", "1", "x", {[SUITE_RIGHT] = 31, [MATRIX_NOT_ASKED] = 4}},
         "31 right, 4 not asked",
         "t-1-x.svg",
         "#8a5a00"},
        {"some wrong",
         {"t", "1", "1", "x", {[SUITE_RIGHT] = 31, [SUITE_EARLY] = 2, [SUITE_WRONG] = 1}},
         "31 right, 2 early, 1 wrong",
         "t-1-x.svg",
         "#b3261e"},
        {"none right",
         {"t", "1", "1", "x", {[SUITE_TIMEOUT] = 5}},
         "0 right, 5 timeout",
         "t-1-x.svg",
         "#b3261e"},
        {"always unsupported",
         {"t", "1", "1", "x", {[SUITE_UNSUPPORTED] = 5, [MATRIX_NOT_ASKED] = 1}},
         "not covered",
         "t-1-x.svg",
         "#6b6b6b"},
        {"a path",
         {"../../etc/a\\b", "1:2", "1", "x", {[SUITE_RIGHT] = 1}},
         "1 right",
         "-.-..-etc-a-b-1-2-x.svg",
         "#1e7b34"},
        {"XML",
         {"<t>", "\"&", "1", "x", {[SUITE_RIGHT] = 1}},
         "1 right",
         "-t-----x.svg",
         "<title>&lt;t&gt; &quot;&amp;, reference suite 1, x: 1 right</title>"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char path[512];
        size_t bytes;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *words = suite_badge_words(&rows[i].badge, &keep);
        CHECK_STR(words, rows[i].words);
        CHECK_STR(suite_badge_file_name(&rows[i].badge, &keep), rows[i].file);
        (void)snprintf(path, sizeof path, "%s/badge.svg", test_scratch());
        FILE *out = fopen(path, "wb");
        REQUIRE(out != NULL);
        suite_badge_write(&rows[i].badge, words, out);
        (void)fclose(out);
        CHECK_HAS((const char *)test_read(path, &bytes), rows[i].color);
        arena_free(&keep);
    }
}
