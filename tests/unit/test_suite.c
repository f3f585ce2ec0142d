/* The reference suite: its files, answers of contestants, and results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/process.h"
#include "base/text.h"
#include "suite/result.h"
#include "suite/suite_parts.h"
#include "test.h"

#define CASE(ID, TRUTH) CASE_OF(ID, TRUTH, "null")
#define CASE_OF(ID, TRUTH, ADDRESS)                                                                \
    "{\"id\":\"" ID "\",\"kind\":\"moment\",\"processor\":\"x64\",\"shape\":\"push\","             \
    "\"position\":\"body\",\"rule\":{\"kind\":\"page\",\"name\":\"a page\",\"address\":" ADDRESS   \
    "},"                                                                                           \
    "\"needs\":[],\"capability\":\"moments.x64\",\"given\":{\"registers\":{}},\"truth\":" TRUTH    \
    "}"
#define FRAMES "[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x20\",\"sp\":\"0x108\"}]"

static const char must[] =
    CASE("moments/x64/a/0", "{\"level\":\"must\",\"frames\":" FRAMES ",\"whole\":true}");
static const char open_end[] =
    CASE("moments/x64/a/0", "{\"level\":\"must\",\"frames\":" FRAMES "}");
static const char may[] = CASE("moments/x64/a/0", "{\"level\":\"may\",\"accepted\":[" FRAMES
                                                  ",[{\"ip\":\"0x10\",\"sp\":\"0x100\"}]]}");
static const char dump[] =
    "{\"id\":\"moments/x64/a/0\",\"kind\":\"dump\",\"processor\":\"x64\",\"shape\":\"threads\","
    "\"position\":\"thread\",\"rule\":{\"kind\":\"page\",\"name\":\"a "
    "page\",\"address\":null},\"needs\":[],"
    "\"capability\":\"dumps.x64\",\"given\":{\"dump\":\"a.dmp\",\"symbols\":\"symbols\",\"thread\":"
    "7},"
    "\"truth\":{\"level\":\"must\",\"frames\":" FRAMES "}}";
static const char unknown[] = CASE("moments/x64/a/0", "{\"level\":\"unknown\"}");

TEST(an_answer_is_judged_by_the_truth)
{
#define ANSWER(REST) "{\"id\":\"moments/x64/a/0\"," REST "}"
    static const struct {
        const char *name, *of, *answer;
        enum suite_outcome want;
        uint32_t first;
    } rows[] = {
        {"the truth", must, ANSWER("\"frames\":" FRAMES), SUITE_RIGHT, 2},
        {"in another order of members, other spelling", must,
         "{\"frames\":[{\"sp\":256,\"ip\":\"0x0010\"},{\"sp\":\"0x108\",\"ip\":32}],"
         "\"id\":\"moments/x64/a/0\"}",
         SUITE_RIGHT, 2},
        {"no stack pointers", must, ANSWER("\"frames\":[{\"ip\":\"0x10\"},{\"ip\":\"0x20\"}]"),
         SUITE_RIGHT, 2},
        {"stack pointers that are null", must,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":null},{\"ip\":\"0x20\",\"sp\":null}]"),
         SUITE_RIGHT, 2},
        {"an end that is printed as a frame", must,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x20\",\"sp\":\"0x108\"},"
                "{\"ip\":\"0x0\",\"sp\":\"0x110\"}]"),
         SUITE_RIGHT, 2},
        {"a beginning", must, ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"}]"),
         SUITE_EARLY, 1},
        {"nothing", must, ANSWER("\"frames\":[]"), SUITE_EARLY, 0},
        {"another caller", must,
         ANSWER(
             "\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x21\",\"sp\":\"0x108\"}]"),
         SUITE_WRONG, 1},
        {"another stack pointer", must,
         ANSWER(
             "\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x20\",\"sp\":\"0x110\"}]"),
         SUITE_WRONG, 1},
        {"frames after the end", must,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x20\",\"sp\":\"0x108\"},"
                "{\"ip\":\"0x30\",\"sp\":\"0x110\"}]"),
         SUITE_WRONG, 2},
        {"frames after those that are known", open_end,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x20\",\"sp\":\"0x108\"},"
                "{\"ip\":\"0x30\",\"sp\":\"0x110\"}]"),
         SUITE_RIGHT, 2},
        {"of a dump, with inlined functions", dump,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"function\":\"f\",\"inlined\":true},"
                "{\"ip\":\"0x10\",\"sp\":\"0x100\",\"function\":\"g\",\"inlined\":false},"
                "{\"ip\":\"0x20\",\"sp\":\"0x108\"},{\"ip\":\"0x30\",\"sp\":null}]"),
         SUITE_RIGHT, 2},
        {"of a dump, the caller twice", dump,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"inlined\":false},{\"ip\":\"0x10\"}]"), SUITE_WRONG,
         1},
        {"the first of two answers", may, ANSWER("\"frames\":" FRAMES), SUITE_RIGHT, 2},
        {"the second", may, ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"}]"), SUITE_RIGHT,
         1},
        {"frames after the second, where the tables are wrong", may,
         ANSWER(
             "\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x77\",\"sp\":\"0x108\"}]"),
         SUITE_RIGHT, 1},
        {"neither", may, ANSWER("\"frames\":[{\"ip\":\"0x11\",\"sp\":\"0x100\"}]"), SUITE_WRONG, 0},
        {"the beginning of both", may, ANSWER("\"frames\":[]"), SUITE_EARLY, 0},
        {"any answer", unknown, ANSWER("\"frames\":[{\"ip\":\"0x77\"}]"), SUITE_RIGHT, 0},
        {"unsupported", must, ANSWER("\"unsupported\":true,\"reason\":\"no\""), SUITE_UNSUPPORTED,
         0},
        {"its tool failed", must, ANSWER("\"error\":\"broken\""), SUITE_CRASHED, 0},
        {"of another question", must, "{\"id\":\"moments/x64/a/1\",\"frames\":" FRAMES "}",
         SUITE_GARBAGE, 0},
        {"of no question", must, "{\"frames\":" FRAMES "}", SUITE_GARBAGE, 0},
        {"neither frames nor a reason", must, ANSWER("\"x\":1"), SUITE_GARBAGE, 0},
        {"unsupported: false", must, ANSWER("\"unsupported\":false"), SUITE_GARBAGE, 0},
        {"frames that are no list", must, ANSWER("\"frames\":{}"), SUITE_GARBAGE, 0},
        {"a frame without an address", must, ANSWER("\"frames\":[{\"sp\":\"0x100\"}]"),
         SUITE_GARBAGE, 0},
        {"an address that is none", must, ANSWER("\"frames\":[{\"ip\":\"main\"}]"), SUITE_GARBAGE,
         0},
        {"no JSON", must, "Segmentation fault", SUITE_GARBAGE, 0},
        {"nothing at all", must, "", SUITE_GARBAGE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct suite_answer answer;
        struct suite_case c;
        struct arena keep;
        bool is_read = false;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(suite_case_read(rows[i].of, strlen(rows[i].of), &keep, &c, &is_read, &fault) ==
                ERR_NONE);
        REQUIRE(is_read);
        CHECK_EQ(suite_answer_judge(&c, rows[i].answer, &keep, &answer, &fault), ERR_NONE);
        CHECK_STR(suite_outcome_name(answer.outcome), suite_outcome_name(rows[i].want));
        if (rows[i].want == SUITE_WRONG || rows[i].want == SUITE_EARLY)
            CHECK_EQ(answer.first, rows[i].first);
        CHECK((answer.words != NULL) ==
              (rows[i].want >= SUITE_CRASHED && rows[i].want != SUITE_RIGHT));
        arena_free(&keep);
    }
}

TEST(a_contestant_does_not_see_the_truth)
{
    struct fault fault = FAULT_INIT;
    struct suite_case c;
    struct arena keep;
    bool is_read = false;
    arena_init(&keep, 0);
    REQUIRE(suite_case_read(must, strlen(must), &keep, &c, &is_read, &fault) == ERR_NONE);
    CHECK_STR(c.question,
              "{\"id\":\"moments/x64/a/0\",\"kind\":\"moment\",\"processor\":\"x64\","
              "\"capability\":\"moments.x64\",\"needs\":[],\"given\":{\"registers\":{}}}\n");
    arena_free(&keep);
}

#define NAMED(TRUTH)                                                                               \
    "{\"id\":\"addresses/x64/a/0\",\"kind\":\"address\",\"processor\":\"x64\","                    \
    "\"shape\":\"inline\",\"position\":\"row\",\"rule\":{\"name\":\"a page\",\"address\":null},"   \
    "\"needs\":[],\"capability\":\"addresses.pdb\",\"given\":{},\"truth\":" TRUTH "}"
#define INNER "\"function\":\"leaf\",\"file\":\"/s/a.h\",\"line\":7"
#define OUTER "\"function\":\"n::f<int>\",\"file\":\"/s/a.c\",\"line\":9,\"inlined\":false"
static const char names[] =
    NAMED("{\"level\":\"must\",\"frames\":[{\"function\":[\"leaf\",\"_Zleaf\"],\"file\":[\"/s/"
          "a.h\"],\"line\":"
          "7,\"inlined\":true},{\"function\":[\"n::f<int>\"],\"file\":[\"/s/./a.c\"],\"line\":9,"
          "\"inlined\":false}]}");
static const char padding[] = NAMED("{\"level\":\"may\",\"accepted\":[[]]}");

TEST(names_of_an_address_are_judged_by_what_they_mean)
{
#define SAID(FRAMES) "{\"id\":\"addresses/x64/a/0\",\"frames\":[" FRAMES "]}"
#define OUTER_IS(FUNCTION, FILE, LINE)                                                             \
    SAID("{" INNER "},{\"function\":" FUNCTION ",\"file\":" FILE ",\"line\":" LINE "}")
    static const struct {
        const char *name, *of, *answer;
        enum suite_outcome want;
        uint32_t first;
    } rows[] = {
        {"the truth", names, SAID("{" INNER ",\"inlined\":true},{" OUTER "}"), SUITE_RIGHT, 0},
        {"inlined is not stated", names, SAID("{" INNER "},{" OUTER "}"), SUITE_RIGHT, 0},
        {"another accepted name, blanks", names, OUTER_IS("\"n::f< int >\"", "\"/s/a.c\"", "9"),
         SUITE_RIGHT, 0},
        {"parameters, the global scope", names, OUTER_IS("\"::n::f<int>(int)\"", "\"/s/a.c\"", "9"),
         SUITE_RIGHT, 0},
        {"a path with . and .. and the other slash", names,
         OUTER_IS("\"n::f<int>\"", "\"/s\\\\b/../a.c\"", "9"), SUITE_RIGHT, 0},
        {"a file without its folder", names, OUTER_IS("\"n::f<int>\"", "\"a.c\"", "9"), SUITE_RIGHT,
         0},
        {"another folder", names, OUTER_IS("\"n::f<int>\"", "\"/t/a.c\"", "9"), SUITE_WRONG, 1},
        {"a relative folder", names, OUTER_IS("\"n::f<int>\"", "\"s/a.c\"", "9"), SUITE_WRONG, 1},
        {"a folder that is joined twice", names, OUTER_IS("\"n::f<int>\"", "\"/s/s/a.c\"", "9"),
         SUITE_WRONG, 1},
        {"another name", names, OUTER_IS("\"n::f<long>\"", "\"/s/a.c\"", "9"), SUITE_WRONG, 1},
        {"the beginning of a name", names, OUTER_IS("\"n::f\"", "\"/s/a.c\"", "9"), SUITE_WRONG, 1},
        {"another line", names, OUTER_IS("\"n::f<int>\"", "\"/s/a.c\"", "10"), SUITE_WRONG, 1},
        {"no name", names, OUTER_IS("null", "\"/s/a.c\"", "9"), SUITE_EARLY, 1},
        {"no file", names, OUTER_IS("\"n::f<int>\"", "null", "9"), SUITE_EARLY, 1},
        {"no line", names, OUTER_IS("\"n::f<int>\"", "\"/s/a.c\"", "null"), SUITE_EARLY, 1},
        {"no word of a line", names,
         SAID("{" INNER "},{\"function\":\"n::f<int>\",\"file\":\"/s/a.c\"}"), SUITE_EARLY, 1},
        {"no line, and another name", names, OUTER_IS("\"g\"", "\"/s/a.c\"", "null"), SUITE_WRONG,
         1},
        {"no caller", names, SAID("{" INNER "}"), SUITE_EARLY, 1},
        {"nothing", names, SAID(""), SUITE_EARLY, 0},
        {"not inlined", names, SAID("{" INNER ",\"inlined\":false},{" OUTER "}"), SUITE_WRONG, 0},
        {"the other order", names, SAID("{" OUTER "},{" INNER "}"), SUITE_WRONG, 0},
        {"the caller alone", names, SAID("{" OUTER "}"), SUITE_WRONG, 0},
        {"a caller too many", names, SAID("{" INNER "},{" OUTER "},{" OUTER "}"), SUITE_WRONG, 2},
        {"nothing in padding", padding, SAID(""), SUITE_RIGHT, 0},
        {"a name in padding", padding, SAID("{" INNER "}"), SUITE_WRONG, 0},
        {"a frame without a function", names, SAID("{\"line\":7}"), SUITE_GARBAGE, 0},
        {"a line that is none", names, SAID("{\"function\":\"leaf\",\"line\":-7}"), SUITE_GARBAGE,
         0},
        {"a name that is none", names, SAID("{\"function\":7}"), SUITE_GARBAGE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct suite_answer answer;
        struct suite_case c;
        struct arena keep;
        bool is_read = false;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(suite_case_read(rows[i].of, strlen(rows[i].of), &keep, &c, &is_read, &fault) ==
                ERR_NONE);
        CHECK_EQ(c.kind, SUITE_ADDRESS);
        CHECK_EQ(suite_answer_judge(&c, rows[i].answer, &keep, &answer, &fault), ERR_NONE);
        CHECK_STR(suite_outcome_name(answer.outcome), suite_outcome_name(rows[i].want));
        if (rows[i].want == SUITE_WRONG || rows[i].want == SUITE_EARLY)
            CHECK_EQ(answer.first, rows[i].first);
        arena_free(&keep);
    }
}

static void read_damaged(const uint8_t *data, size_t bytes, void *context)
{
    struct fault fault = FAULT_INIT;
    struct suite_case c;
    struct arena keep;
    bool is_read = false;
    uint32_t *read = context;
    arena_init(&keep, 0);
    *read += suite_case_read((const char *)data, bytes, &keep, &c, &is_read, &fault) == ERR_NONE;
    CHECK(fault.code == ERR_NONE || fault.code == ERR_MALFORMED || fault.code == ERR_LIMIT);
    arena_free(&keep);
}

TEST(damaged_cases_are_refused)
{
    uint32_t read = 0;
    test_truncations((const uint8_t *)must, sizeof must - 2, read_damaged, &read);
    CHECK_EQ(read, 0);
    test_flips((const uint8_t *)may, sizeof may - 1, read_damaged, &read);
    test_flips((const uint8_t *)names, sizeof names - 1, read_damaged, &read);
}

/* A suite of LINES and one image in the scratch folder; HASH: of the image; NULL: its own. */
static const char *make_suite(const char *lines, const char *index, const char *hash)
{
    static char text[1024];
    char path[512], own[65];
    text_sha256("image", 5, own);
    (void)snprintf(path, sizeof path, "%s/image.dll", test_scratch());
    test_write(path, "image", 5);
    (void)snprintf(path, sizeof path, "%s/list.ndjson", test_scratch());
    test_write(path, lines, strlen(lines));
    (void)snprintf(path, sizeof path, "%s/suite.json", test_scratch());
    const char *place = strstr(index, "HASH");
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place != NULL ? place - index : 0), index,
                   place == NULL  ? ""
                   : hash != NULL ? hash
                                  : own,
                   place != NULL ? place + strlen("HASH") : index);
    test_write(path, text, strlen(text));
    return test_scratch();
}

static const char good_index[] =
    "{\"suite\":1,\"edition\":\"2026.1\",\"lists\":[\"list.ndjson\"],\"retired\":[],"
    "\"files\":[{\"path\":\"image.dll\",\"sha256\":\"HASH\",\"licence\":\"MIT\"}]}";

#define LIST                                                                                       \
    CASE_OF("moments/x64/a/0", "{\"level\":\"must\",\"frames\":" FRAMES ",\"whole\":true}",        \
            "\"https://example.org/page\"")                                                        \
    "\n" CASE("moments/x64/b/1", "{\"level\":\"unknown\"}") "\n"

TEST(a_suite_is_read_with_its_files)
{
    static const struct {
        const char *name, *lines, *index, *hash, *expr;
        enum status want;
        uint32_t count, others;
    } rows[] = {
        {"all", LIST, good_index, NULL, NULL, ERR_NONE, 2, 0},
        {"a selection by id", LIST, good_index, NULL, "x64/b", ERR_NONE, 1, 0},
        {"by level", LIST, good_index, NULL, "must", ERR_NONE, 1, 0},
        {"by shape and position", LIST, good_index, NULL, "push and body and not a/0", ERR_NONE, 1,
         0},
        {"nothing", LIST, good_index, NULL, "else", ERR_NONE, 0, 0},
        {"a selection that is none", LIST, good_index, NULL, "a and", ERR_USAGE, 0, 0},
        {"another kind of case", "{\"id\":\"lists/x\",\"kind\":\"list\"}\n" LIST, good_index, NULL,
         NULL, ERR_NONE, 2, 1},
        {"no end of the last line", "{\"id\":\"lists/x\",\"kind\":\"list\"}", good_index, NULL,
         NULL, ERR_NONE, 0, 1},
        {"a changed image", LIST, good_index, "00", NULL, ERR_MALFORMED, 0, 0},
        {"a damaged line", LIST "{\"id\":", good_index, NULL, NULL, ERR_MALFORMED, 0, 0},
        {"a damaged line of one byte", LIST "x\n", good_index, NULL, NULL, ERR_MALFORMED, 0, 0},
        {"a line of no byte", LIST "\n", good_index, NULL, NULL, ERR_NONE, 2, 0},
        {"a missing list", LIST, "{\"suite\":1,\"edition\":\"1\",\"lists\":[\"no\"],\"files\":[]}",
         NULL, NULL, ERR_ABSENT, 0, 0},
        {"a path that leads out", LIST,
         "{\"suite\":1,\"edition\":\"1\",\"lists\":[\"../list.ndjson\"],\"files\":[]}", NULL, NULL,
         ERR_MALFORMED, 0, 0},
        {"an absolute path", LIST,
         "{\"suite\":1,\"edition\":\"1\",\"lists\":[\"/etc/passwd\"],\"files\":[]}", NULL, NULL,
         ERR_MALFORMED, 0, 0},
        {"another version", LIST, "{\"suite\":2,\"edition\":\"1\",\"lists\":[],\"files\":[]}", NULL,
         NULL, ERR_MALFORMED, 0, 0},
        {"no suite", LIST, "[]", NULL, NULL, ERR_MALFORMED, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct suite suite;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *folder = make_suite(rows[i].lines, rows[i].index, rows[i].hash);
        CHECK_EQ(suite_open(folder, rows[i].expr, &keep, &suite, &fault), rows[i].want);
        if (rows[i].want == ERR_NONE) {
            CHECK_EQ(suite.count, rows[i].count);
            CHECK_EQ(suite.not_asked, rows[i].others);
        } else {
            CHECK(fault.code == ERR_USAGE || fault.path[0] != '\0');
        }
        arena_free(&keep);
    }
}

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
        test_row(rows[i].name);
        REQUIRE(start_script(&s, rows[i].script) == ERR_NONE);
        CHECK_STR(s.name.name, "t");
        CHECK(contestant_can(&s.name, "moments.x64") && !contestant_can(&s.name, "moments.x86"));
        for (int turn = 0; turn < 2; turn++) { /* it is started again for the second question */
            REQUIRE(contestant_ask(s.contestant, &s.suite.cases[0], &s.keep, &answer, &s.fault) ==
                    ERR_NONE);
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

/* JUnit counts failures and skips; the third answer belongs to no case. */
TEST(a_result_is_written_as_junit)
{
    struct fault fault = FAULT_INIT;
    struct suite_answer answers[] = {{.outcome = SUITE_WRONG, .words = "frame 1"},
                                     {.outcome = SUITE_UNSUPPORTED},
                                     {.outcome = SUITE_CRASHED}};
    const struct score score = {.name = {"t", "2", NULL, NULL}, .answers = answers};
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
    arena_free(&keep);
}

/* The members are those of $defs/result in corpus/reference/schema.json. */
TEST(a_result_is_written_as_json)
{
    struct fault fault = FAULT_INIT;
    struct suite_answer answers[] = {{.outcome = SUITE_WRONG}, {.outcome = SUITE_EARLY}};
    static const char *const can[] = {"moments.x64", NULL};
    const struct score score = {.name = {"t", "2", "https://example.org/bugs", can},
                                .answers = answers,
                                .wall_ns = 1999999,
                                .peak_bytes = 77};
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
    CHECK_STR(text,
              "{\"result\":1,\"tool\":{\"name\":\"t\",\"version\":\"2\",\"bugs\":"
              "\"https://example.org/bugs\"},\"edition\":\"2026.1\",\"when\":\"2026-11-28\","
              "\"context\":{\"os\":\"Linux 6\",\"processor\":\"x\"},\"wall_ms\":1,"
              "\"peak_bytes\":77,\"by\":[{\"capability\":\"moments.x64\",\"shape\":\"push\","
              "\"position\":\"body\",\"right\":0,\"early\":1,\"wrong\":1,\"crashed\":0,"
              "\"timeout\":0,\"garbage\":0,\"unsupported\":0}],\"cases\":{\"right\":[],"
              "\"early\":[\"moments/x64/b/1\"],\"wrong\":[\"moments/x64/a/0\"],\"crashed\":[],"
              "\"timeout\":[],\"garbage\":[],\"unsupported\":[]}}\n");
    free(text);
    arena_free(&keep);
}
