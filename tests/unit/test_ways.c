/* What each way costs for the same stack: measured on the kept cases, stored and read back. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "conduct/measure.h"
#include "engine/engines.h"
#include "make_run.h"
#include "model/case.h"
#include "store/store.h"
#include "symbol/symbol_store.h"
#include "test.h"

/* Opens a kept case, and a store with the corpus's symbols. */
static void open_case(const char *name, struct arena *keep, struct crash_case *out,
                      struct symbol_store **symbols)
{
    const char *const roots[] = {test_source("corpus/symbols")};
    const struct symbol_store_options options = {.roots = roots, .root_count = 1};
    struct fault fault = FAULT_INIT;
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s/%s", test_source("corpus/cases"), name);
    REQUIRE(case_read(folder, keep, out, &fault) == ERR_NONE);
    REQUIRE(symbol_store_open(&options, symbols, &fault) == ERR_NONE);
}

/* The costs of a kept case, in KEEP. */
static const struct way_cost *measured(const char *name, struct arena *keep)
{
    struct crash_case crash;
    struct opened_case opened;
    struct symbol_store *symbols = NULL;
    struct way_cost *ways = NULL;
    struct fault fault = FAULT_INIT;
    open_case(name, keep, &crash, &symbols);
    opened_case_name(&crash, keep, &opened);
    const struct engine_input in = {.opened = &opened, .symbols = symbols};
    REQUIRE(measure_case(&in, NULL, 0, keep, &ways, &fault) == ERR_NONE);
    symbol_store_close(symbols);
    return ways;
}

static uint64_t parts_ns(const struct way_parts *p)
{
    return p->open_ns + p->unwind_ns + p->load_ns + p->resolve_ns;
}

TEST(every_way_takes_the_same_stack_and_its_parts_fit_into_the_whole)
{
    static const struct {
        const char *name;
        bool same, tuned;
    } rows[] = {
        {"null_write.ob2", true, true},
        {"crash_in_dll.ob2", true, true},
        {"null_call.ob2", true, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const struct way_cost *ways = measured(rows[i].name, &keep);
        CHECK_EQ(ways[WAY_FOREIGN].frames, 0);
        CHECK(ways[WAY_DUMP].frames > 1);
        CHECK_EQ(ways[WAY_OFFSET].frames, ways[WAY_DUMP].frames);
        CHECK_EQ(ways[WAY_DUMP].same, rows[i].same);
        CHECK_EQ(ways[WAY_TUNED].frames > 0, rows[i].tuned);
        for (int way = WAY_DUMP; way < WAY_COUNT; way++) {
            const struct way_parts *both[] = {&ways[way].cold, &ways[way].warm};
            for (size_t k = 0; k < COUNT_OF(both); k++) {
                CHECK(both[k]->whole_ns >= parts_ns(both[k]));
                CHECK(both[k]->own_ns > 0);
                CHECK(both[k]->even_ns >= both[k]->whole_ns); /* the least of half of the rounds */
                CHECK(both[k]->odd_ns >= both[k]->whole_ns);
            }
        }
        arena_free(&keep);
    }
}

/* Both rounds of each way; what was kept for the measurement is gone. */
TEST(one_case_of_twelve_is_measured_without_an_index)
{
    static const struct {
        const char *name;
        bool first;
    } rows[] = {{"null_write.ob2", false}, {"inline_twice.ob2", true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const struct way_cost *ways = measured(rows[i].name, &keep);
        for (int way = WAY_DUMP; way < WAY_COUNT; way++) {
            const struct way_first *first = &ways[way].first;
            CHECK_EQ(first->whole_ns > 0, rows[i].first);
            CHECK_EQ(first->even_ns > 0, rows[i].first);
            CHECK_EQ(first->odd_ns > 0, rows[i].first);
            CHECK(first->whole_ns <= first->even_ns && first->whole_ns <= first->odd_ns);
        }
        arena_free(&keep);
    }
}

/* A foreign program answers for two threads; its costs are those of the suspect's alone. */
TEST(a_foreign_stack_counts_only_for_its_thread_and_with_the_same_frames)
{
    static const struct {
        const char *name;
        uint32_t left_out; /* frames of the suspect's stack */
        bool same, states_times;
        uint64_t whole_ns;
    } rows[] = {
        {"as it is", 0, true, true, 700},
        {"one frame less", 1, false, true, 700},
        {"no times per thread", 0, false, false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct crash_case crash;
        struct symbol_store *symbols = NULL;
        struct way_cost *ways = NULL;
        struct fault fault = FAULT_INIT;
        struct way_parts ignored;
        struct stack stacks[2] = {{.thread_id = 1}};
        test_row(rows[i].name);
        arena_init(&keep, 0);
        open_case("null_write.ob2", &keep, &crash, &symbols);
        struct opened_case opened;
        opened_case_name(&crash, &keep, &opened);
        const struct engine_input in = {.opened = &opened, .symbols = symbols};
        const struct measure_request request = {.in = &in, .way = WAY_DUMP};
        REQUIRE(measure_once(&request, &keep, &ignored, &stacks[1], &fault) == ERR_NONE);
        stacks[1].frame_count -= rows[i].left_out;
        stacks[0].cost = stacks[1].cost = (struct engine_cost){.unwind_ns = 0};
        if (rows[i].states_times) {
            stacks[0].cost = (struct engine_cost){.unwind_ns = 100, .resolve_ns = 200};
            stacks[1].cost =
                (struct engine_cost){.unwind_ns = 10, .resolve_ns = 300, .system_ns = 50};
        }
        const struct engine_claim claim = {.engine = "judge:dbghelp",
                                           .stacks = stacks,
                                           .stack_count = 2,
                                           .cost = {.total_ns = 1000, .cold_ns = 1000}};
        REQUIRE(measure_case(&in, &claim, 1, &keep, &ways, &fault) == ERR_NONE);
        CHECK_EQ(ways[WAY_FOREIGN].same, rows[i].same);
        CHECK_EQ(ways[WAY_FOREIGN].cold.whole_ns, rows[i].whole_ns);
        CHECK_EQ(ways[WAY_FOREIGN].cold.own_ns, rows[i].whole_ns > 0 ? rows[i].whole_ns - 50 : 0);
        CHECK_EQ(ways[WAY_FOREIGN].warm.whole_ns, 0);
        symbol_store_close(symbols);
        arena_free(&keep);
    }
}

TEST(costs_are_read_back_as_they_were_written)
{
    struct way_cost ways[WAY_COUNT] = {
        [WAY_TUNED] = {.cold = {1, 2, 3, 4, 5, 6, 17, 18},
                       .warm = {7, 8, 9, 10, 11, 12, 19, 20},
                       .first = {21, 22, 23},
                       .frames = 13},
        [WAY_OFFSET] = {.cold = {.whole_ns = 14}, .frames = 15, .same = 1}};
    struct run_case cases[MADE_CASES];
    struct fault fault = FAULT_INIT;
    struct store *store = NULL;
    struct run_info run;
    struct arena keep;
    char path[512];
    arena_init(&keep, 0);
    make_run(&keep, &run, cases);
    cases[1].ways = ways;
    cases[1].timing.stop_tuned_ns = 95000000;
    (void)snprintf(path, sizeof path, "%s/ways.db", test_scratch());
    REQUIRE(store_open(path, STORE_WRITE, &store, &fault) == ERR_NONE);
    REQUIRE(store_begin_run(store, &run, &keep, &fault) == ERR_NONE);
    for (int i = 0; i < MADE_CASES; i++)
        REQUIRE(store_put_case(store, run.id, &cases[i], &fault) == ERR_NONE);
    for (uint32_t i = 0; i < MADE_CASES; i++) {
        struct run_case part, whole;
        test_row(cases[i].scenario);
        REQUIRE(store_read_parts(store, cases[i].id, CASE_SCORES, &keep, &part, &fault) ==
                ERR_NONE);
        REQUIRE(store_read_case(store, cases[i].id, &keep, &whole, &fault) == ERR_NONE);
        const struct run_case *read[] = {&part, &whole};
        for (size_t k = 0; k < COUNT_OF(read); k++) {
            CHECK_EQ(read[k]->timing.stop_tuned_ns, cases[i].timing.stop_tuned_ns);
            CHECK((read[k]->ways != NULL) == (cases[i].ways != NULL));
            CHECK(read[k]->ways == NULL || memcmp(read[k]->ways, ways, sizeof ways) == 0);
        }
    }
    store_close(store);
    arena_free(&keep);
}

/* Databases compare with these names. */
TEST(the_engines_under_test_are_stored_by_their_names)
{
    CHECK_STR(engine_subject(ENGINE_KIND_OFFSET)->name, ENGINE_NAME_OFFSET);
    CHECK_STR(engine_subject(ENGINE_KIND_DUMP)->name, ENGINE_NAME_DUMP);
    for (size_t i = 0; engine_dump_readers[i] != NULL; i++) {
        uint32_t found = 0;
        test_row(engine_dump_readers[i]);
        for (uint32_t n = 0; n < engine_count; n++)
            found += strcmp(engines[n]->name, engine_dump_readers[i]) == 0;
        CHECK_EQ(found, 1);
    }
}
