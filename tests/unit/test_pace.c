/* The pace of a run: what is stored, and what the JSON of a run shows of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "test.h"

/* What a page shows of a run in progress: {"progress": ...} at the end of its JSON. */
TEST(the_pace_of_a_run_gives_rate_and_time_left)
{
    static const struct {
        const char *name;
        struct run_pace pace;
        uint32_t judged;
        enum run_state state;
        const char *want;
    } rows[] = {
        {"total not known", {0, 0, 0, 0, 0}, 3, RUN_RUNNING, "null"},
        {"complete", {10, 10, 0, 1, 2}, 10, RUN_COMPLETE, "null"},
        {"no verdict yet",
         {500, 2, 0, 1000, 2000},
         0,
         RUN_RUNNING,
         "{\"total\":500,\"captured\":2,\"judged\":0,\"failing\":0,\"since_ns\":1000,"
         "\"at_ns\":2000,\"cases_per_minute\":null,\"left_ms\":null}"},
        {"resumed: what it had is no rate",
         {500, 130, 100, 1000000000, 31000000000},
         110,
         RUN_RUNNING,
         "{\"total\":500,\"captured\":130,\"judged\":110,\"failing\":110,\"since_ns\":1000000000,"
         "\"at_ns\":31000000000,\"cases_per_minute\":20,\"left_ms\":1170000}"},
        {"interrupted",
         {500, 130, 100, 1000000000, 31000000000},
         110,
         RUN_INTERRUPTED,
         "{\"total\":500,\"captured\":130,\"judged\":110,\"failing\":110,\"since_ns\":1000000000,"
         "\"at_ns\":31000000000,\"cases_per_minute\":20,\"left_ms\":null}"},
    };
    struct arena keep;
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    struct run_info run = {.label = "run", .started_ns = 1};
    char path[512];

    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/pace.db", test_scratch());
    REQUIRE(store_open(path, STORE_WRITE, &store, &fault) == ERR_NONE);
    REQUIRE(store_begin_run(store, &run, &keep, &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_info back;
        struct json j;
        test_row(rows[i].name);
        REQUIRE(store_put_pace(store, run.id, &rows[i].pace, &fault) == ERR_NONE);
        REQUIRE(store_read_run(store, run.id, &keep, &back, &fault) == ERR_NONE);
        back.state = rows[i].state;
        back.case_count = back.verdicts[VERDICT_FAIL] = rows[i].judged;
        json_to_text(&j, false);
        run_info_write_json(&j, &back);
        char *text = json_take(&j, NULL);
        const char *got = text != NULL ? strstr(text, "\"progress\":") : NULL;
        REQUIRE(got != NULL);
        text[strlen(text) - 1] = '\0'; /* remove the closing brace of the run */
        CHECK_STR(got + strlen("\"progress\":"), rows[i].want);
        free(text);
    }
    store_close(store);
    arena_free(&keep);
}
