/* A bench in several processes (verbs/bench_processes.h). This program is the one that is started:
 * with the words of a bench it notes them, and stores what the row asks for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "store/store.h"
#include "test.h"
#include "verbs/bench_processes.h"

enum { WORDS_MAX = 32, ROUNDS_MAX = 20 };

static const char *word_after(char **words, int count, const char *name)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0)
            return words[i + 1];
    return "";
}

/* Nanoseconds of the control in process NUMBER, from 0 on: the last of the list goes on. */
static uint64_t control_of(unsigned long number)
{
    const char *at = getenv("TEST_CONTROL_NS");
    while (number-- > 0 && strchr(at, ' ') != NULL)
        at = strchr(at, ' ') + 1;
    return strtoul(at, NULL, 10);
}

/* Stores a run: each of its rounds took 1,000 ns by offsets, and the control what the row says. */
static void store_run(const char *db, uint32_t rounds, uint64_t control_ns)
{
    struct bench_sample samples[2 * ROUNDS_MAX];
    struct bench_case cost = {.scenario = "s", .variant = "ob2", .kind = CASE_KIND_CRASH};
    struct run_info run = {.label = "bench", .command = "c"};
    struct store *store = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    for (uint32_t i = 0; i < rounds; i++) {
        samples[2 * i] = (struct bench_sample){LANE_OFFSET, STAGE_TOTAL, false, i, 1000};
        samples[2 * i + 1] = (struct bench_sample){LANE_CONTROL, STAGE_TOTAL, false, i, control_ns};
    }
    if (store_open(db, STORE_WRITE, &store, &fault) == ERR_NONE &&
        store_begin_run(store, &run, &keep, &fault) == ERR_NONE &&
        store_put_samples(store, run.id, samples, 2 * rounds, &fault) == ERR_NONE &&
        store_put_bench_cases(store, run.id, &cost, 1, &fault) == ERR_NONE)
        (void)store_finish_run(store, run.id, RUN_COMPLETE, 1, &fault);
    store_close(store);
    arena_free(&keep);
}

static void play_a_bench(char **words, int count)
{
    char line[200];
    FILE *log = fopen(getenv("TEST_LOG"), "ab");
    const char *failing = getenv("TEST_FAILING");
    if (log == NULL)
        exit(99);
    unsigned long number = 0;
    for (FILE *before = fopen(getenv("TEST_LOG"), "rb"); before != NULL; before = NULL) {
        while (fgets(line, sizeof line, before) != NULL)
            number++;
        (void)fclose(before);
    }
    for (int i = 1; i < count; i++)
        if (strcmp(words[i - 1], "--db") != 0)
            (void)fprintf(log, "%s ", words[i]);
    while (fgets(line, sizeof line, stdin) != NULL)
        (void)fprintf(log, "<%.*s> ", (int)strcspn(line, "\n"), line);
    (void)fprintf(log, "%s\n", getenv("TWINSTACK_DEBUGGER"));
    (void)fclose(log);
    if (failing != NULL && strtoul(failing, NULL, 10) == number) {
        (void)fprintf(stderr, "the first line\nthe second\n");
        exit(3);
    }
    store_run(word_after(words, count, "--db"),
              (uint32_t)strtoul(word_after(words, count, "--samples"), NULL, 10),
              control_of(number));
    exit((int)number % 2); /* 1: a verdict, as of a bench that finds a difference */
}

TEST_BEFORE_MAIN(be_the_program)
{
    static char text[8000];
    char *words[WORDS_MAX];
    int count = 0;
    FILE *own = fopen("/proc/self/cmdline", "rb");
    const size_t bytes = own != NULL ? fread(text, 1, sizeof text - 1, own) : 0;
    if (own != NULL)
        (void)fclose(own);
    for (size_t at = 0; at < bytes && count < WORDS_MAX; at += strlen(text + at) + 1)
        words[count++] = text + at;
    if (count > 2 && strcmp(words[1], "bench") == 0 && strcmp(words[2], "-") == 0)
        play_a_bench(words, count);
}

static const char *log_path(void)
{
    static char path[700];
    (void)snprintf(path, sizeof path, "%s/log", test_scratch());
    return path;
}

/* "TURN+ROUNDS " of each process that was started. */
static const char *started(char *out, size_t bytes)
{
    char line[500];
    FILE *log = fopen(log_path(), "rb");
    out[0] = '\0';
    while (log != NULL && fgets(line, sizeof line, log) != NULL) {
        const char *turn = strstr(line, "--turn ");
        const char *samples = strstr(line, "--samples ");
        const size_t at = strlen(out);
        REQUIRE(turn != NULL && samples != NULL);
        (void)snprintf(out + at, bytes - at, "%lu+%lu ", strtoul(turn + 7, NULL, 10),
                       strtoul(samples + 10, NULL, 10));
    }
    if (log != NULL)
        (void)fclose(log);
    return out;
}

static enum status run(const struct bench_request *request, uint32_t processes, struct arena *keep,
                       struct bench *out, struct fault *fault)
{
    struct fault ignored = FAULT_INIT;
    char temporary[700];
    const char **names = NULL;
    size_t left = 99;
    (void)snprintf(temporary, sizeof temporary, "%s/tmp", test_scratch());
    REQUIRE(folder_make(temporary, &ignored) == ERR_NONE);
    (void)path_remove(log_path(), &ignored);
    test_environment("TMPDIR", temporary);
    test_environment("TEST_LOG", log_path());
    const enum status got = bench_processes(request, processes, keep, out, fault);
    CHECK_EQ(folder_list(temporary, keep, &names, &left, &ignored), ERR_NONE);
    CHECK_EQ(left, 0); /* nothing stays */
    return got;
}

/* While the offset way differs by more than 25 % from itself (statistics.h), one more, up to twice
 * as many. A process's rounds begin where those before it end. */
TEST(rounds_are_spread_over_processes)
{
    static const struct {
        const char *name;
        uint32_t rounds, processes;
        const char *control_ns, *want;
        uint32_t total; /* rounds of all processes */
    } rows[] = {
        {"two halves", 10, 2, "1000", "0+5 5+5 ", 10},
        {"three parts of seven", 7, 3, "1000", "0+2 2+2 4+3 ", 7},
        {"one for each round", 2, 5, "1000", "0+1 1+1 ", 2},
        {"as many as rounds", 3, 3, "1000", "0+1 1+1 2+1 ", 3},
        {"as much noise as may be", 4, 2, "1250", "0+2 2+2 ", 4},
        {"more noise", 4, 2, "1251", "0+2 2+2 4+2 6+2 ", 8},
        {"it is too fast", 4, 2, "749", "0+2 2+2 4+2 6+2 ", 8},
        {"noise in the first, of which the third makes a minority", 6, 2, "9000 1000",
         "0+3 3+3 6+3 ", 9},
        {"noise that ends in the first half", 9, 3, "9000 1000", "0+3 3+3 6+3 ", 9},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const char *const folders[] = {"a"};
        const struct bench_request request = {
            .folders = folders, .folder_count = 1, .rounds = rows[i].rounds};
        struct bench_sample old = {.ns = 1};
        struct bench out = {.samples = &old, .sample_count = 1};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char text[200];
        arena_init(&keep, 0);
        test_row(rows[i].name);
        test_environment("TEST_CONTROL_NS", rows[i].control_ns);
        CHECK_EQ(run(&request, rows[i].processes, &keep, &out, &fault), ERR_NONE);
        CHECK_STR(started(text, sizeof text), rows[i].want);
        REQUIRE(out.sample_count == 2 * rows[i].total);
        for (uint32_t k = 0; k < out.sample_count; k++) {
            CHECK_EQ(out.samples[k].round, k / 2);
            CHECK_EQ(out.samples[k].lane, k % 2 == 0 ? LANE_OFFSET : LANE_CONTROL);
        }
        for (uint32_t k = 0; k < out.cost_count; k++)
            CHECK_EQ(out.costs[k].process, k);
        CHECK_EQ(out.cost_count, strlen(rows[i].want) / 4);
        arena_free(&keep);
    }
}

TEST(each_process_is_asked_the_same)
{
    static const char *const folders[] = {"cases/one", "cases/two of them"};
    static const struct {
        const char *name, *cache, *want;
        bool cold;
    } rows[] = {
        {"plain", NULL,
         "bench - --db --processes 1 --progress none --turn 0 --samples 1 --warmup 3 <cases/one> "
         "<cases/two of them> \n",
         false},
        {"cold, with a cache", "/c",
         "bench - --db --processes 1 --progress none --turn 0 --samples 1 --warmup 3 --cold "
         "--cache /c <cases/one> <cases/two of them> \n",
         true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct bench_request request = {.folders = folders,
                                              .folder_count = 2,
                                              .rounds = 1,
                                              .warmup = 3,
                                              .cold = rows[i].cold,
                                              .cache = rows[i].cache};
        struct bench out = {0};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        size_t bytes = 0;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        test_environment("TEST_CONTROL_NS", "1000");
        test_environment("TWINSTACK_DEBUGGER", "mine"); /* which would be timed */
        CHECK_EQ(run(&request, 1, &keep, &out, &fault), ERR_NONE);
        const char *text = (const char *)test_read(log_path(), &bytes);
        CHECK_EQ(bytes, strlen(rows[i].want));
        CHECK_MEM(text, rows[i].want, bytes < strlen(rows[i].want) ? bytes : strlen(rows[i].want));
        arena_free(&keep);
    }
}

TEST(a_process_that_fails_ends_the_bench)
{
    static const struct {
        const char *failing, *want;
    } rows[] = {{"0", "0+2 "}, {"1", "0+2 2+2 "}, {"2", "0+2 2+2 4+2 "}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static const char *const folders[] = {"a"};
        const struct bench_request request = {.folders = folders, .folder_count = 1, .rounds = 6};
        struct bench out = {0};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char text[200];
        arena_init(&keep, 0);
        test_row(rows[i].failing);
        test_environment("TEST_CONTROL_NS", "1000");
        test_environment("TEST_FAILING", rows[i].failing);
        CHECK_EQ(run(&request, 3, &keep, &out, &fault), ERR_IO);
        CHECK_STR(fault.hint, "the first line");
        CHECK_STR(started(text, sizeof text), rows[i].want);
        arena_free(&keep);
    }
}
