/* The list of head problems, asked over a socket of this process: their order, pages and addresses,
 * and which are new. */
#include <stdio.h>
#include <string.h>

#include "inbox/problems.h"
#include "inbox_desk.h"
#include "stream/totals.h"
#include "test.h"

/* One partial result: COUNT times SIGNATURE, of one hour and version. */
static void add(struct totals *totals, const char *of, const char *hour, const char *version,
                const char *signature, uint64_t count)
{
    const struct signature_count row = {
        .text = signature, .example = "x!0x1", .first_seen = hour, .count = count};
    const struct partial p = {.of = of,
                              .hour = hour,
                              .version = version,
                              .stacks = count,
                              .bad = 1,
                              .rows = &row,
                              .count = 1};
    struct fault fault = FAULT_INIT;
    bool is_new = false;
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    REQUIRE(totals_add(totals, &p, &is_new, &fault) == ERR_NONE && is_new);
    REQUIRE(totals_end(totals, &fault) == ERR_NONE);
}

/* One report of version 1.1 in which the dump's stack was cut off. */
static void add_shadow(struct totals *totals)
{
    struct shadow_engine engine = {.engine = "dump",
                                   .against = "offset:rtl",
                                   .result = SHADOW_DIFFERS,
                                   .cause = "truncated",
                                   .module = "ntdll.dll",
                                   .ns = 3000};
    const struct shadow s = {.id = "a-1",
                             .hour = "2026-11-22T09",
                             .version = "1.1",
                             .verdict = "fail",
                             .signature = "worker | main",
                             .engines = &engine,
                             .count = 1};
    struct fault fault = FAULT_INIT;
    bool is_new = false;
    REQUIRE(totals_begin(totals, &fault) == ERR_NONE);
    REQUIRE(totals_add_shadow(totals, &s, &is_new, &fault) == ERR_NONE && is_new);
    REQUIRE(totals_end(totals, &fault) == ERR_NONE);
}

/* poke 5 + 2, worker 4, leaf 1; of 3 hours and 2 versions. */
static void write_totals(const char *path)
{
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "a-1", "2026-11-22T08", "1.0", "poke | main", 5);
    add(totals, "a-2", "2026-11-22T09", "1.1", "poke | main", 2);
    add(totals, "a-3", "2026-11-22T09", "1.1", "worker | main", 4);
    add(totals, "a-4", "2026-11-23T10", "1.1", "leaf", 1);
    add_shadow(totals);
    totals_close(totals);
}

TEST(head_problems_are_listed_in_pages)
{
    static const struct {
        const char *name, *query;
        int status;
        const char *says[6], *omits;
    } rows[] = {
        {"all",
         "",
         200,
         {"{\"data\":{\"stacks\":12,\"bad\":4,\"reports\":4,\"total\":3,"
          "\"new\":null,"
          "\"first_hour\":\"2026-11-22T08\",\"last_hour\":\"2026-11-23T10\","
          "\"hours\":[{\"hour\":\"2026-11-22T08\",\"count\":5},"
          "{\"hour\":\"2026-11-22T09\",\"count\":6},"
          "{\"hour\":\"2026-11-23T10\",\"count\":1}],\"versions\":["
          "{\"version\":\"1.1\",\"reports\":3,\"stacks\":7,\"first_hour\":\"2026-11-22T09\","
          "\"last_hour\":\"2026-11-23T10\"},"
          "{\"version\":\"1.0\",\"reports\":1,\"stacks\":5,\"first_hour\":\"2026-11-22T08\","
          "\"last_hour\":\"2026-11-22T08\"}],\"problems\":[{\"rank\":1,",
          "{\"rank\":1,\"key\":\"ab1d594c72e21f45\",\"signature\":\"poke | "
          "main\",\"count\":7,\"error\":0,"
          "\"first_seen\":\"2026-11-22T08\",\"last_seen\":\"2026-11-22T09\",\"new\":false,"
          "\"versions\":\"1.0, 1.1\",\"example\":\"x!0x1\",\"judged\":0,\"agreed\":0,"
          "\"by_version\":[{\"version\":\"1.1\",\"stacks\":2,\"first_hour\":\"2026-11-22T09\","
          "\"last_hour\":\"2026-11-22T09\"},{\"version\":\"1.0\",\"stacks\":5,"
          "\"first_hour\":\"2026-11-22T08\",\"last_hour\":\"2026-11-22T08\"}],"
          "\"hours\":[{\"hour\":\"2026-11-22T08\",\"count\":5},"
          "{\"hour\":\"2026-11-22T09\",\"count\":2}]}",
          "{\"rank\":2,\"key\":\"93394d301e610874\",\"signature\":\"worker | main\",\"count\":4,",
          "{\"rank\":3,\"key\":\"24ad84ada20208d5\",\"signature\":\"leaf\",\"count\":1,",
          "\"hours\":[{\"hour\":\"2026-11-23T10\",\"count\":1}]}],\"next\":null,",
          "\"shadow\":{\"reports\":1,\"verdicts\":[{\"verdict\":\"fail\",\"count\":1}],\"engines\":"
          "["
          "{\"engine\":\"dump\",\"against\":\"offset:rtl\",\"same\":0,\"differs\":1,\"failed\":0,"
          "\"median_ns\":3000,\"hours\":[{\"hour\":\"2026-11-22T09\",\"judged\":1,\"agreed\":0}]}],"
          "\"causes\":[{\"engine\":\"dump\",\"result\":\"differs\",\"cause\":\"truncated\","
          "\"module\":\"ntdll.dll\",\"count\":1,\"first_hour\":\"2026-11-22T09\","
          "\"last_hour\":\"2026-11-22T09\",\"report\":\"a-1\"}]}},\"meta\":"},
         "\"rank\":4"},
        {"the first", "?limit=1", 200, {"\"rank\":1,", "\"total\":3", "\"next\":1,"}, "\"rank\":2"},
        {"the second",
         "?limit=1&after=1",
         200,
         {"\"problems\":[{\"rank\":2,", "\"signature\":\"worker | main\"", "\"next\":2,"},
         "\"rank\":3"},
        {"the last ones", "?after=1", 200, {"\"rank\":2,", "\"rank\":3,", "\"next\":null"}, NULL},
        {"after the last", "?after=3", 200, {"\"problems\":[],\"next\":null"}, NULL},
        {"far after it", "?after=2147483647", 200, {"\"problems\":[],\"next\":null"}, NULL},
        {"too far", "?after=2147483648", 400, {"\"key\":\"bad_after\""}, NULL},
        {"no rank", "?after=x", 400, {"\"key\":\"bad_after\""}, NULL},
        {"none at all", "?limit=0", 400, {"\"key\":\"bad_limit\""}, NULL},
        {"the most", "?limit=500", 200, {"\"rank\":3"}, NULL},
        {"more", "?limit=501", 400, {"\"key\":\"bad_limit\""}, NULL},
        {"no number", "?limit=x", 400, {"\"key\":\"bad_limit\""}, NULL},
        {"of a version",
         "?version=1.0",
         200,
         {"\"stacks\":5,", "\"count\":5,", "\"total\":1,", "\"shadow\":{\"reports\":0,"},
         "worker"},
        {"new since a day",
         "?baseline=2026-11-23",
         200,
         {"\"signature\":\"leaf\",\"count\":1,\"error\":0,\"first_seen\":\"2026-11-23T10\","
          "\"last_seen\":\"2026-11-23T10\",\"new\":true"},
         "\"new\":true,\"versions\":\"1.0"},
        {"one by its key",
         "?key=93394d301e610874",
         200,
         {"\"problems\":[{\"rank\":2,", "\"signature\":\"worker | main\"",
          "\"judged\":1,\"agreed\":0,", "\"next\":null", "\"shadow\":{\"reports\":1,"},
         "poke | main"},
        {"its rank in a version",
         "?version=1.1&key=93394d301e610874",
         200,
         {"\"problems\":[{\"rank\":1,", "\"signature\":\"worker | main\""},
         "poke | main"},
        {"differences of others are not its own",
         "?key=ab1d594c72e21f45",
         200,
         {"\"problems\":[{\"rank\":1,", "\"shadow\":{\"reports\":0,"},
         "truncated"},
        {"a key that no problem has",
         "?key=0123456789abcdef",
         200,
         {"\"problems\":[],\"next\":null", "\"shadow\":{\"reports\":0,"},
         "rank"},
        {"a key that is too short", "?key=0123456789abcde", 400, {"\"key\":\"bad_key\""}, NULL},
        {"a key that is none", "?key=0123456789abcdeG", 400, {"\"key\":\"bad_key\""}, NULL},
    };
    struct desk d;
    char path[640];
    (void)snprintf(path, sizeof path, "%s/totals.db", test_scratch());
    write_totals(path);
    open_desk(&d, NULL, (struct dashboard_options){.totals = path});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char target[200];
        test_row(rows[i].name);
        (void)snprintf(target, sizeof target, "/problems%s", rows[i].query);
        ask(&d, target, NULL, NULL, 0);
        CHECK_EQ(d.status, rows[i].status);
        for (size_t k = 0; k < COUNT_OF(rows[i].says) && rows[i].says[k] != NULL; k++)
            CHECK_HAS(d.body, rows[i].says[k]);
        CHECK(rows[i].omits == NULL || strstr(d.body, rows[i].omits) == NULL);
    }
    struct arena keep;
    arena_init(&keep, 0);
    test_row("metrics");
    CHECK_STR(problems_metrics(&d.dashboard, &keep), "# TYPE twinstack_counted_reports gauge\n"
                                                     "twinstack_counted_reports 4\n"
                                                     "# TYPE twinstack_counted_stacks gauge\n"
                                                     "twinstack_counted_stacks 12\n"
                                                     "# TYPE twinstack_counted_bad_lines gauge\n"
                                                     "twinstack_counted_bad_lines 4\n"
                                                     "# TYPE twinstack_signatures gauge\n"
                                                     "twinstack_signatures 3\n");
    arena_free(&keep);
    close_desk(&d);
}

/* Which problems are new since a version: the names in the list with new=1. */
TEST(new_since_a_version_is_what_no_older_one_has)
{
    static const struct {
        const char *of, *hour, *version, *signature;
    } parts[] = {
        {"a-1", "2026-11-20T08", "", "before all"},     {"a-2", "2026-11-22T08", "1.0", "always"},
        {"a-3", "2026-11-22T09", "2.0", "of 2.0"},      {"a-4", "2026-11-22T09", "2.1", "of 2.1"},
        {"a-5", "2026-11-22T10", "2.1", "always"},      {"a-6", "2026-11-23T10", "2.1", "of 2.0"},
        {"a-7", "2026-11-23T10", "1.0", "late in 1.0"}, {"a-8", "2026-11-23T11", "", "not stated"},
        {"a-9", "2026-11-23T12", "2.1", "before all"},
    };
    static const struct {
        const char *name, *query;
        uint64_t count;
        const char *says[6];
    } rows[] = {
        {"the newest: of two of one hour, the greater name",
         "since=2.1",
         2,
         {"not stated", "of 2.1"}},
        {"a version before it", "since=2.0", 3, {"not stated", "of 2.0", "of 2.1"}},
        {"the oldest has what was not before it",
         "since=1.0",
         5,
         {"always", "late in 1.0", "not stated", "of 2.0", "of 2.1"}},
        {"and since a day", "since=2.1&baseline=2026-11-23", 1, {"not stated"}},
        {"in a version", "since=2.0&version=2.1", 2, {"of 2.0", "of 2.1"}},
        {"a version without reports", "since=3.0", 0, {NULL}},
        {"since nothing", "", 0, {NULL}},
    };
    struct desk d;
    char path[640];
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    (void)snprintf(path, sizeof path, "%s/since.db", test_scratch());
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        add(totals, parts[i].of, parts[i].hour, parts[i].version, parts[i].signature, 1);
    totals_close(totals);
    open_desk(&d, NULL, (struct dashboard_options){.totals = path});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char target[200], count[40];
        size_t listed = 0;
        test_row(rows[i].name);
        (void)snprintf(target, sizeof target, "/problems?new=1&%s", rows[i].query);
        ask(&d, target, NULL, NULL, 0);
        CHECK_EQ(d.status, 200);
        (void)snprintf(count, sizeof count, "\"new\":%llu,", (unsigned long long)rows[i].count);
        if (rows[i].query[0] != '\0')
            CHECK_HAS(d.body, count);
        for (const char *at = d.body; (at = strstr(at, "\"rank\":")) != NULL; at++)
            listed++;
        CHECK_EQ(listed, rows[i].count);
        for (size_t k = 0; k < COUNT_OF(rows[i].says) && rows[i].says[k] != NULL; k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "\"signature\":\"%s\"", rows[i].says[k]);
            CHECK_HAS(d.body, name);
        }
        /* page by page it is the same list */
        (void)snprintf(target, sizeof target, "/problems?new=1&limit=1&%s", rows[i].query);
        ask(&d, target, NULL, NULL, 0);
        CHECK_HAS(d.body, rows[i].count > 1 ? "\"next\":1," : "\"next\":null,");
    }
    close_desk(&d);
}

TEST(without_totals_no_problem_is_listed)
{
    static const char *const files[] = {NULL, "no-such-folder/totals.db"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct desk d;
        struct arena keep;
        arena_init(&keep, 0);
        open_desk(&d, NULL, (struct dashboard_options){.totals = files[i]});
        ask(&d, "/problems", NULL, NULL, 0);
        CHECK_EQ(d.status, 200);
        CHECK_HAS(d.body, "\"stacks\":0,\"bad\":0,\"reports\":0,\"total\":0,\"new\":null,"
                          "\"first_hour\":null,\"last_hour\":null,\"hours\":[],\"versions\":[],"
                          "\"problems\":[],\"next\":null,");
        CHECK_STR(problems_metrics(&d.dashboard, &keep), "");
        arena_free(&keep);
        close_desk(&d);
    }
    struct desk d;
    char path[640];
    (void)snprintf(path, sizeof path, "%s/text.db", test_scratch());
    test_write(path, "not a database, and long enough to be read as one", 49);
    open_desk(&d, NULL, (struct dashboard_options){.totals = path});
    ask(&d, "/problems", NULL, NULL, 0);
    CHECK_EQ(d.status, 422);
    close_desk(&d);
}

/* A version or hour that a report does not state is null, not an empty text. */
TEST(what_a_report_does_not_state_is_null)
{
    struct totals *totals = NULL;
    struct fault fault = FAULT_INIT;
    struct desk d;
    char path[640];
    (void)snprintf(path, sizeof path, "%s/unstated.db", test_scratch());
    REQUIRE(totals_open(path, true, &totals, &fault) == ERR_NONE);
    add(totals, "a-1", "", "", "poke | main", 5);
    totals_close(totals);
    open_desk(&d, NULL, (struct dashboard_options){.totals = path});
    ask(&d, "/problems", NULL, NULL, 0);
    CHECK_EQ(d.status, 200);
    CHECK_HAS(
        d.body,
        "\"by_version\":[{\"version\":null,\"stacks\":5,\"first_hour\":null,\"last_hour\":null}]");
    close_desk(&d);
}
