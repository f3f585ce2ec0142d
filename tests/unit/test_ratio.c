/* The one ratio of dump to offsets: its words, which bench counts for which run, and what is stored
 * of it. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "study/ratio.h"
#include "study/runs.h"
#include "test.h"

static const struct {
    const char *name;
    struct dump_ratio ratio;
    const char *text, *about, *answer;
} ratios[] = {
    {"of a bench",
     {RATIO_OF_BENCH, 9, CPU_X64, SPEED_INDEX, 13, 12, {7.04, 8.71, 9.36}, 0.141, false},
     "8.7× [7.0, 9.4], noise 14 %, 13 cases",
     "x64, index on disk; bench, run 9",
     "In the back end offsets are faster, a dump takes 7.0 to 9.4 times as long (95 % sure)"},
    {"of a bench that measured no new process",
     {RATIO_OF_BENCH, 9, CPU_X86, SPEED_WARM, 700, 90, {99.6, 101.4, 120}, 0.004, false},
     "101× [100, 120], noise 0 %, 700 cases",
     "x86, symbols loaded; bench, run 9",
     "In the back end offsets are faster, a dump takes 100 to 120 times as long (95 % sure)"},
    {"of one case",
     {RATIO_OF_BENCH, 9, CPU_X64, SPEED_WARM, 1, 1, {NAN, 3, NAN}, 0.02, false},
     "3.0×, no interval, noise 2 %, 1 case",
     "x64, symbols loaded; bench, run 9",
     "In the back end a dump takes 3.0 times as long, how sure is not known"},
    {"of an older bench",
     {RATIO_OF_BENCH, 9, CPU_UNKNOWN, SPEED_WARM, 0, 0, {NAN, 13, NAN}, 0.02, false},
     "13.0×, no interval, noise 2 %",
     "all processors at once, symbols loaded; bench, run 9",
     "In the back end a dump takes 13.0 times as long, how sure is not known"},
    {"of a run, near 1",
     {RATIO_OF_RUN, 7, CPU_X64, SPEED_INDEX, 506, 60, {0.981, 1.049, 1.12}, NAN, false},
     "1.05× [0.98, 1.12], 506 cases, no control",
     "x64, index on disk; of this run",
     "In the back end neither way is surely faster, a dump takes 0.98 to 1.12 times as long"},
    {"of few cases",
     {RATIO_NOT_MEASURED, 7, CPU_X64, SPEED_INDEX, 3, 3, {NAN, NAN, NAN}, NAN, false},
     "too few (3)",
     "x64, index on disk; neither by this run nor by a bench of its commit",
     NULL},
    {"of few scenarios",
     {RATIO_NOT_MEASURED, 7, CPU_X64, SPEED_INDEX, 40, 11, {NAN, NAN, NAN}, NAN, false},
     "few scenarios (11)",
     "x64, index on disk; neither by this run nor by a bench of its commit",
     NULL},
    {"of none",
     {RATIO_NOT_MEASURED, 0, CPU_UNKNOWN, SPEED_INDEX, 0, 0, {NAN, NAN, NAN}, NAN, false},
     "not measured",
     "index on disk; neither by this run nor by a bench of its commit",
     NULL},
    {"of a run, a dump faster",
     {RATIO_OF_RUN, 7, CPU_X64, SPEED_INDEX, 506, 60, {0.41, 0.5, 0.62}, NAN, false},
     "0.50× [0.41, 0.62], 506 cases, no control",
     "x64, index on disk; of this run",
     "In the back end a dump is faster, it takes 0.41 to 0.62 times as long (95 %, no control)"},
    {"of a run whose way took another time in other rounds",
     {RATIO_OF_RUN, 7, CPU_X64, SPEED_INDEX, 506, 60, {8.8, 9.4, 10.1}, NAN, true},
     "9.4× [8.8, 10.1] !, 506 cases, no control",
     "x64, index on disk; of this run",
     "! the same way in other rounds took another time: no ratio to rely on"},
    {"of a bench with more noise than difference",
     {RATIO_OF_BENCH, 9, CPU_X64, SPEED_INDEX, 13, 12, {1.02, 1.08, 1.13}, 0.141, false},
     "1.08× [1.02, 1.13], noise 14 %, 13 cases",
     "x64, index on disk; bench, run 9",
     "In the back end it is too noisy to say which way is faster, a dump takes 1.02 to 1.13 times "
     "as long"},
    {"of a bench with more noise than a dump is faster",
     {RATIO_OF_BENCH, 9, CPU_X64, SPEED_INDEX, 13, 12, {0.9, 0.92, 0.95}, 0.141, false},
     "0.92× [0.90, 0.95], noise 14 %, 13 cases",
     "x64, index on disk; bench, run 9",
     "In the back end it is too noisy to say which way is faster, a dump takes 0.90 to 0.95 times "
     "as long"},
};

TEST(the_one_ratio_says_how_sure_it_is)
{
    for (size_t i = 0; i < COUNT_OF(ratios); i++) {
        char text[RATIO_TEXT];
        struct arena keep;
        test_row(ratios[i].name);
        arena_init(&keep, 0);
        CHECK_STR(ratio_text(&ratios[i].ratio, text), ratios[i].text);
        CHECK_STR(ratio_sentence(&ratios[i].ratio, &keep),
                  arena_printf(&keep, "dump : offsets %s (%s)", ratios[i].text, ratios[i].about));
        const char *answer = ratio_answer(&ratios[i].ratio, &keep);
        if (ratios[i].answer != NULL)
            CHECK_STR(answer, ratios[i].answer);
        else
            CHECK(answer == NULL);
        CHECK_EQ(ratio_note(&ratios[i].ratio) != NULL, ratios[i].ratio.origin == RATIO_OF_RUN);
        arena_free(&keep);
    }
}

/* A database with one run of no cases, and what ratio_read() has of it. */
struct fixture {
    struct arena keep;
    struct store *store;
    struct run_info run;
    struct fault fault;
};

static const char program[] = "this one";

static void end_run(struct fixture *f, struct run_info *run)
{
    REQUIRE(store_begin_run(f->store, run, &f->keep, &f->fault) == ERR_NONE);
    REQUIRE(store_finish_run(f->store, run->id, RUN_COMPLETE, 2, &f->fault) == ERR_NONE);
    REQUIRE(store_read_run(f->store, run->id, &f->keep, run, &f->fault) == ERR_NONE);
}

static void set_up_at(struct fixture *f, const char *path)
{
    static const struct fault none = FAULT_INIT;
    *f = (struct fixture){.run = {.label = "run", .commit = "c", .started_ns = 1}};
    f->fault = none;
    arena_init(&f->keep, 0);
    REQUIRE(store_open(path, STORE_WRITE, &f->store, &f->fault) == ERR_NONE);
    store_set_program(f->store, program);
    end_run(f, &f->run);
}

static void set_up(struct fixture *f)
{
    set_up_at(f, ":memory:");
}

static void tear_down(struct fixture *f)
{
    CHECK_EQ(f->fault.code, ERR_NONE);
    store_close(f->store);
    arena_free(&f->keep);
}

static void put(struct fixture *f, const char *text, size_t bytes)
{
    const struct shown_text shown = {ratio_address(f->run.id, &f->keep), text, bytes};
    const uint64_t basis = store_shown_basis(f->store, f->run.id, false);
    REQUIRE(text != NULL && shown.address != NULL && basis != 0);
    REQUIRE(store_put_shown(f->store, basis, &shown, 1, &f->fault) == ERR_NONE);
}

TEST(a_ratio_that_is_stored_is_the_one_that_is_read)
{
    for (size_t i = 0; i < COUNT_OF(ratios); i++) {
        struct fixture f;
        size_t bytes = 0;
        char text[RATIO_TEXT];
        test_row(ratios[i].name);
        set_up(&f);
        const char *stored = ratio_stored_text(&ratios[i].ratio, &f.keep, &bytes);
        put(&f, stored, bytes);
        const struct dump_ratio *read = ratio_read(f.store, &f.run, &f.keep, &f.fault);
        REQUIRE(read != NULL);
        CHECK_STR(ratio_text(read, text), ratios[i].text);
        CHECK_STR(ratio_sentence(read, &f.keep), ratio_sentence(&ratios[i].ratio, &f.keep));
        CHECK_STR(ratio_stored_text(read, &f.keep, &bytes), stored);
        CHECK(read->value.value == ratios[i].ratio.value.value || isnan(read->value.value));
        tear_down(&f);
    }
}

static void nothing_happens(struct fixture *f)
{
    (void)f;
}

static void no_program_asks(struct fixture *f)
{
    store_set_program(f->store, NULL);
}

static void another_program_asks(struct fixture *f)
{
    store_set_program(f->store, "another");
}

static void a_run_ends(struct fixture *f)
{
    struct run_info later = {.label = "run", .commit = "c", .started_ns = 3};
    end_run(f, &later);
}

static void its_bench_ends(struct fixture *f)
{
    struct run_info bench = {.label = "bench", .commit = "c", .started_ns = 3};
    end_run(f, &bench);
}

static void it_is_damaged(struct fixture *f)
{
    put(f, "{\"value\":", 9);
}

TEST(a_stored_ratio_counts_as_all_that_is_shown_of_a_run)
{
    static const struct {
        const char *name;
        void (*happens)(struct fixture *f);
        bool counts;
    } rows[] = {
        {"nothing", nothing_happens, true},
        {"a later run", a_run_ends, true},
        {"a bench of its commit", its_bench_ends, false},
        {"a program without a name", no_program_asks, false},
        {"another program", another_program_asks, false},
        {"damage", it_is_damaged, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        size_t bytes = 0;
        test_row(rows[i].name);
        set_up(&f);
        const char *stored = ratio_stored_text(&ratios[0].ratio, &f.keep, &bytes);
        put(&f, stored, bytes);
        rows[i].happens(&f);
        const struct dump_ratio *read = ratio_read(f.store, &f.run, &f.keep, &f.fault);
        REQUIRE(read != NULL); /* of a run without cases, if it is not the stored one */
        CHECK_EQ(read->origin, rows[i].counts ? RATIO_OF_BENCH : RATIO_NOT_MEASURED);
        tear_down(&f);
    }
}

/* `compare A.db B.db`: both were stored when their runs ended. */
TEST(a_ratio_that_is_stored_in_another_database_is_the_one_that_is_read)
{
    static const struct {
        const char *name, *asks;
        bool counts;
    } rows[] = {
        {"its program", program, true},
        {"a program without a name", NULL, false},
        {"another program", "another", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        struct store *other = NULL;
        struct run_side side;
        char path[1024], word[1040];
        size_t bytes = 0;
        test_row(rows[i].name);
        (void)snprintf(path, sizeof path, "%s/other%zu.db", test_scratch(), i);
        (void)snprintf(word, sizeof word, "%s:1", path);
        set_up_at(&f, path);
        const char *stored = ratio_stored_text(&ratios[0].ratio, &f.keep, &bytes);
        put(&f, stored, bytes);
        REQUIRE(store_open(":memory:", STORE_WRITE, &other, &f.fault) == ERR_NONE);
        store_set_program(other, rows[i].asks);
        REQUIRE(study_read_side(other, word, DIFF_TIMES, &f.keep, &side, &f.fault) == ERR_NONE);
        REQUIRE(side.ratio != NULL); /* of a run without cases, if it is not the stored one */
        CHECK_EQ(side.ratio->origin, rows[i].counts ? RATIO_OF_BENCH : RATIO_NOT_MEASURED);
        store_close(other);
        tear_down(&f);
    }
}

/* Two runs of which none was measured have nothing to show: no face has a line of them. */
TEST(the_ratios_of_two_runs_are_shown_if_one_was_measured)
{
    const struct dump_ratio *const bench = &ratios[0].ratio, *const run = &ratios[4].ratio,
                                   *const few = &ratios[5].ratio, *const none = &ratios[7].ratio;
    const struct {
        const char *name;
        const struct dump_ratio *a, *b;
        bool shown;
    } rows[] = {
        {"both", bench, run, true},       {"the one before", run, none, true},
        {"the other", none, bench, true}, {"of too few cases", none, few, true},
        {"alone", NULL, run, true},       {"alone, and not", NULL, none, false},
        {"neither", none, none, false},   {"no run", NULL, NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json j;
        size_t bytes = 0;
        test_row(rows[i].name);
        CHECK_EQ(ratio_of_either(rows[i].a, rows[i].b), rows[i].shown);
        json_to_text(&j, false);
        json_object(&j);
        ratio_write_both(&j, rows[i].a, rows[i].b);
        json_object_end(&j);
        char *text = json_take(&j, &bytes);
        REQUIRE(text != NULL);
        CHECK_EQ(strstr(text, "\"a\":null") == NULL, rows[i].shown && rows[i].a != NULL);
        CHECK_EQ(strstr(text, "\"b\":null") == NULL, rows[i].shown && rows[i].b != NULL);
        free(text);
    }
}

TEST(a_bench_counts_for_runs_of_its_commit_machine_and_victims)
{
    static const struct run_info run = {.id = 3,
                                        .label = "run",
                                        .state = RUN_COMPLETE,
                                        .commit = "c",
                                        .platform = "p",
                                        .cpu = "u",
                                        .compiler = "l",
                                        .flags = "f"};
    static const struct {
        const char *name;
        size_t field; /* of the bench, which is another one; 0: none */
        const char *value;
        enum run_state state;
        bool is_beside;
    } rows[] = {
        {"the same", 0, NULL, RUN_COMPLETE, true},
        {"one that is not complete", 0, NULL, RUN_INTERRUPTED, false},
        {"another commit", offsetof(struct run_info, commit), "d", RUN_COMPLETE, false},
        {"an unknown commit", offsetof(struct run_info, commit), NULL, RUN_COMPLETE, false},
        {"another system", offsetof(struct run_info, platform), "q", RUN_COMPLETE, false},
        {"another processor", offsetof(struct run_info, cpu), "v", RUN_COMPLETE, false},
        {"another compiler", offsetof(struct run_info, compiler), "m", RUN_COMPLETE, false},
        {"other flags", offsetof(struct run_info, flags), "g", RUN_COMPLETE, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run_info bench = run, unknown = run;
        test_row(rows[i].name);
        bench.id = 9;
        bench.label = "bench";
        bench.state = rows[i].state;
        if (rows[i].field != 0)
            memcpy((char *)&bench + rows[i].field, &rows[i].value, sizeof rows[i].value);
        CHECK_EQ(ratio_bench_of(&run, &bench, 1) == &bench, rows[i].is_beside);
        CHECK(ratio_bench_of(&bench, NULL, 0) == &bench); /* its own */
        unknown.commit = bench.commit = NULL;
        CHECK(ratio_bench_of(&unknown, &bench, 1) == NULL);
    }
}
