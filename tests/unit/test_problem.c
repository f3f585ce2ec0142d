/* One problem of a run: its cases as a matrix of scenarios and builds, and when it cannot be
 * accepted. study/problem.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "study/problem.h"
#include "test.h"

static const struct diff_case example = {.scenario = "loop", .variant = "ob2"};

/* Two problems among the failing cases, one among the accepted ones. */
static struct failure failing[] = {{.key = "first", .example = &example, .cases = 4, .fresh = 2},
                                   {.key = "second", .example = &example, .cases = 1}};
static struct failure accepted[] = {{.key = "third", .example = &example, .cases = 1}};

#define NONE UINT32_MAX

static struct triage_item items[] = {
    {.scenario = "race", .variant = "ob2", .failures = {0, NONE}},
    {.scenario = "loop", .variant = "ob2", .failures = {0, NONE}},
    {.scenario = "able", .variant = "ob2", .failures = {1, 0}},
    {.scenario = "loop", .variant = "ob0", .failures = {0, NONE}},
    {.scenario = "race", .variant = "ob2", .repeat = 1, .failures = {NONE, NONE}},
    {.scenario = "able", .variant = "ob0", .failures = {NONE, NONE}},
    {.scenario = "zero", .variant = "fp", .failures = {NONE, NONE}},
    {.scenario = "loop",
     .variant = "ob2",
     .repeat = 1,
     .group = TRIAGE_ACCEPTED,
     .failures = {0, NONE}},
};

static struct triage triage_of(struct triage_item *of, uint32_t count)
{
    return (struct triage){.items = of,
                           .item_count = count,
                           .failures = {failing, COUNT_OF(failing), 4, 0},
                           .accepted = {accepted, COUNT_OF(accepted), 1, 0}};
}

static const char *written(const struct triage *t, const char *key, uint32_t after,
                           struct arena *keep)
{
    struct fault fault = FAULT_INIT;
    struct json j;
    size_t bytes = 0;
    json_to_text(&j, false);
    REQUIRE(problem_write_json(&j, t, key, after, keep, &fault) == ERR_NONE);
    char *text = json_take(&j, &bytes);
    const char *kept = arena_text(keep, text, bytes);
    free(text);
    return kept;
}

#define VARIANTS "\"matrix\":{\"variants\":[\"fp\",\"ob0\",\"ob2\"],\"rows\":["
#define LOOP "{\"scenario\":\"loop\",\"cases\":[0,1,1],\"of\":[0,1,2]}"
#define ABLE "{\"scenario\":\"able\",\"cases\":[0,0,1],\"of\":[0,1,1]}"
#define RACE "{\"scenario\":\"race\",\"cases\":[0,0,1],\"of\":[0,0,2]}"
#define END(before, hit) "],\"rows_before\":" before ",\"rows_left\":0,\"variants_hit\":" hit "}}"

TEST(a_problem_is_a_matrix_most_cases_first)
{
    static const struct {
        const char *name, *key;
        uint32_t after;
        const char *want; /* how it ends */
    } rows[] = {
        {"all of it", "first", 0, "\"new\":2," VARIANTS LOOP "," ABLE "," RACE END("0", "2")},
        {"after a scenario", "first", 1, VARIANTS ABLE "," RACE END("1", "2")},
        {"after the last", "first", 3, VARIANTS END("3", "2")},
        {"after more than there are", "first", 9, VARIANTS END("3", "2")},
        {"of a case with two", "second", 0, "\"new\":0," VARIANTS ABLE END("0", "1")},
        {"of what is accepted", "third", 0,
         VARIANTS "{\"scenario\":\"loop\",\"cases\":[0,0,1],\"of\":[0,1,2]}" END("0", "1")},
        {"there is none", "fourth", 0, "null"},
        {"none is named", NULL, 0, "null"},
    };
    const struct triage t = triage_of(items, COUNT_OF(items));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *text = written(&t, rows[i].key, rows[i].after, &keep);
        const size_t bytes = strlen(text), end = strlen(rows[i].want);
        CHECK_STR(bytes > end ? text + bytes - end : text, rows[i].want);
        arena_free(&keep);
    }
}

TEST(a_matrix_comes_in_parts)
{
    static const struct {
        const char *name;
        uint32_t scenarios, after, rows, left;
        const char *first;
    } rows[] = {
        {"as many as fit", PROBLEM_ROWS_MOST, 0, PROBLEM_ROWS_MOST, 0, "s1000"},
        {"one more", PROBLEM_ROWS_MOST + 1, 0, PROBLEM_ROWS_MOST, 1, "s1000"},
        {"the part after it", PROBLEM_ROWS_MOST + 1, PROBLEM_ROWS_MOST, 1, 0, "s1200"},
        {"in the middle", PROBLEM_ROWS_MOST + 9, 2, PROBLEM_ROWS_MOST, 7, "s1002"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        cJSON *root = NULL;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        struct triage_item *many = ARENA_ARRAY(&keep, rows[i].scenarios, struct triage_item);
        REQUIRE(many != NULL);
        for (uint32_t k = 0; k < rows[i].scenarios; k++)
            many[k] = (struct triage_item){.scenario = arena_printf(&keep, "s%u", 1000 + k),
                                           .variant = "ob2",
                                           .failures = {0, NONE}};
        const struct triage t = triage_of(many, rows[i].scenarios);
        const char *text = written(&t, "first", rows[i].after, &keep);
        REQUIRE(json_parse(text, strlen(text), &root, &fault) == ERR_NONE);
        const cJSON *matrix = json_get_object(root, "matrix", &fault);
        const cJSON *list = json_get_array(matrix, "rows", &fault);
        CHECK_EQ(cJSON_GetArraySize(list), rows[i].rows);
        CHECK_EQ(json_get_uint(matrix, "rows_before", 99, &fault), rows[i].after);
        CHECK_EQ(json_get_uint(matrix, "rows_left", 99, &fault), rows[i].left);
        CHECK_STR(json_get_string(cJSON_GetArrayItem(list, 0), "scenario", &keep, &fault),
                  rows[i].first);
        CHECK_EQ(fault.code, ERR_NONE);
        cJSON_Delete(root);
        arena_free(&keep);
    }
}

TEST(a_problem_without_a_case_that_can_be_accepted_is_refused)
{
    static const struct {
        const char *name, *key;
        enum verdict verdict;
        enum status want;
    } rows[] = {
        {"there is none", "fourth", VERDICT_FAIL, ERR_ABSENT},
        {"an error", "second", VERDICT_ERROR, ERR_USAGE},
        {"it passes now", "second", VERDICT_XPASS, ERR_USAGE},
        {"it is accepted", "third", VERDICT_XFAIL, ERR_USAGE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct triage t = triage_of(items, COUNT_OF(items));
        struct acceptance acceptance = {.text = ""};
        const struct known_words words = {.reason = "r", .expires = "2999-01-01"};
        struct fault fault = FAULT_INIT;
        const char *block = NULL;
        uint32_t count = 0;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        items[2].verdict = items[7].verdict = rows[i].verdict;
        CHECK_EQ(
            problem_accept(&acceptance, &t, rows[i].key, &words, &keep, &block, &count, &fault),
            rows[i].want);
        CHECK(block == NULL && count == 0);
        arena_free(&keep);
    }
}
