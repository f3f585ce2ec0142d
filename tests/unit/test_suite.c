/* The reference suite: its files, and answers of contestants. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "suite/result_file.h"
#include "suite/suite_case.h"
#include "suite_made.h"
#include "test.h"

static const char must[] =
    CASE("moments/x64/a/0", "{\"level\":\"must\",\"frames\":" FRAMES ",\"whole\":true}");
static const char open_end[] =
    CASE("moments/x64/a/0", "{\"level\":\"must\",\"frames\":" FRAMES "}");
static const char may[] = CASE("moments/x64/a/0", "{\"level\":\"may\",\"accepted\":[" FRAMES
                                                  ",[{\"ip\":\"0x10\",\"sp\":\"0x100\"}]]}");
static const char apart[] = CASE("moments/x64/a/0", "{\"level\":\"may\",\"accepted\":[" FRAMES
                                                    ",[{\"ip\":\"0x11\",\"sp\":\"0x100\"}]]}");
static const char apart_first[] =
    CASE("moments/x64/a/0",
         "{\"level\":\"may\",\"accepted\":[[{\"ip\":\"0x11\",\"sp\":\"0x100\"}]," FRAMES "]}");
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
        {"neither, and the place is that of the first", apart,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x77\"}]"), SUITE_WRONG,
         1},
        {"neither, in the other order", apart_first,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"},{\"ip\":\"0x77\"}]"), SUITE_WRONG,
         0},
        {"a beginning of the second is better than another than the first", apart_first,
         ANSWER("\"frames\":[{\"ip\":\"0x10\",\"sp\":\"0x100\"}]"), SUITE_EARLY, 1},
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

/* answer.h: a walk has at most 1,024 frames. Of a dump's, those that are inlined do not count. */
TEST(a_walk_is_read_up_to_its_limit)
{
    enum { MOST = 1024 };
    static const struct {
        const char *name;
        int frames, inlined; /* frames of each kind */
        enum suite_kind kind;
        enum status want;
        uint32_t count;
    } rows[] = {{"none", 0, 0, SUITE_MOMENT, ERR_NONE, 0},
                {"the most", MOST, 0, SUITE_MOMENT, ERR_NONE, MOST},
                {"one more", MOST + 1, 0, SUITE_MOMENT, ERR_LIMIT, 0},
                {"of a dump", 3, 2, SUITE_DUMP, ERR_NONE, 3},
                {"no list", -1, 0, SUITE_MOMENT, ERR_MALFORMED, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cJSON *list = rows[i].frames < 0 ? cJSON_CreateObject() : cJSON_CreateArray();
        struct fault fault = FAULT_INIT;
        struct suite_walk walk = {0};
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        for (int k = 0; k < rows[i].frames + rows[i].inlined; k++) {
            cJSON *frame = cJSON_CreateObject();
            (void)cJSON_AddStringToObject(frame, "ip", "0x10");
            (void)cJSON_AddBoolToObject(frame, "inlined", k < rows[i].inlined);
            (void)cJSON_AddItemToArray(list, frame);
        }
        CHECK_EQ(suite_walk_read(list, rows[i].kind, &keep, &walk, &fault), rows[i].want);
        CHECK_EQ(walk.count, rows[i].count);
        cJSON_Delete(list);
        arena_free(&keep);
    }
}

TEST(a_case_says_what_it_conflicts_with)
{
    static const struct {
        const char *name, *member;
        enum status want;
        uint32_t count;
    } rows[] = {
        {"nothing", "\"conflicts_with\":[]", ERR_NONE, 0},
        {"two", "\"conflicts_with\":[\"moments/x64/b/1\",\"moments/x64/b/2\"]", ERR_NONE, 2},
        {"no id", "\"conflicts_with\":[7]", ERR_MALFORMED, 0},
        {"an empty id", "\"conflicts_with\":[\"\"]", ERR_MALFORMED, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct suite_case c;
        struct arena keep;
        bool is_read = false;
        char line[2000];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(line, sizeof line, "{%s,%s", rows[i].member, &must[1]);
        CHECK_EQ(suite_case_read(line, strlen(line), &keep, &c, &is_read, &fault), rows[i].want);
        if (rows[i].want == ERR_NONE)
            CHECK_EQ(c.conflict_count, rows[i].count);
        if (rows[i].want == ERR_NONE && rows[i].count > 0)
            CHECK_STR(c.conflicts[1], "moments/x64/b/2");
        arena_free(&keep);
    }
}

TEST(damaged_cases_are_refused)
{
    uint32_t read = 0;
    test_truncations((const uint8_t *)must, sizeof must - 2, read_damaged, &read);
    CHECK_EQ(read, 0);
    test_flips((const uint8_t *)may, sizeof may - 1, read_damaged, &read);
    test_flips((const uint8_t *)names, sizeof names - 1, read_damaged, &read);
}

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
