/* A bench of programs: scripts are this program, and the launcher of the judges. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/files.h"
#include "collect/collect.h"
#include "conduct/bench_programs.h"
#include "engine/microsoft.h"
#include "test.h"

static struct arena paths;

static const char *below(const char *name)
{
    if (paths.limit_bytes == 0)
        arena_init(&paths, 0);
    return path_join(&paths, test_scratch(), name);
}

static void put_script(const char *name, const char *text)
{
    const char *script =
        arena_printf(&paths, "#!/bin/sh\necho \"$*\" >>'%s'\n%s", below("log"), text);
    test_write(below(name), script, strlen(script));
    REQUIRE(chmod(below(name), 0755) == 0);
}

/* How often LINE was noted. */
static uint32_t times_noted(const char *line)
{
    size_t bytes = 0;
    uint32_t count = 0;
    const char *text =
        path_is_file(below("log")) ? (const char *)test_read(below("log"), &bytes) : "";
    for (const char *end; (end = memchr(text, '\n', bytes)) != NULL; text = end + 1) {
        count += (size_t)(end - text) == strlen(line) && memcmp(text, line, strlen(line)) == 0;
        bytes -= (size_t)(end + 1 - text);
    }
    return count;
}

#define ANSWER                                                                                     \
    "echo '{\"schema_version\":1,\"version\":\"tool 1.0\",\"threads\":[{\"id\":1,\"crashed\":true" \
    ",\"frames\":[{\"index\":0,\"inline_depth\":0,\"module\":\"a.exe\",\"offset\":\"0x10\"}]}]}'"  \
    "\n"
#define JUDGE                                                                                      \
    "case \"$*\" in *--serve*) while read -r q; do\n" ANSWER "done; exit 0;; esac\n" ANSWER

struct rounds {
    uint32_t calls, stop_at, cold;
};

static bool count_round(void *context, bool cold, uint32_t round, uint32_t rounds)
{
    struct rounds *r = context;
    CHECK_EQ(round, r->calls + 1);
    CHECK_EQ(rounds, 5);
    r->calls = round;
    r->cold += cold;
    return round != r->stop_at;
}

/* JUDGE: what the launcher does with the judge's program. */
static void make_world(const char *program, const char *judge)
{
    struct fault fault = FAULT_INIT;
    REQUIRE(folder_make(below("judges"), &fault) == ERR_NONE);
    test_write(below("judges/twinstack-dbghelp.exe"), "MZ", 2);
    put_script("launcher", judge);
    put_script("ours", program);
    if (path_is_file(below("log")))
        REQUIRE(path_remove(below("log"), &fault) == ERR_NONE);
}

/* The cases of x64: the one of x86 between them counts nowhere. */
static const char *const folders[] = {
    "corpus/cases/null_write.ob2", "corpus/cases/call_data.x86-ob2", "corpus/cases/null_call.ob2"};
enum { X64_CASES = 2, PROCESSES = 2, AGAIN = 3 };

static enum status measure(uint32_t count, const char *cache, struct rounds *rounds,
                           struct arena *keep, struct bench_programs *out, struct fault *fault)
{
    static const char *launcher[2];
    static char cases[COUNT_OF(folders)][600];
    static const char *names[COUNT_OF(folders)];
    static struct bench_case costs[] = {
        {.scenario = "null_write", .variant = "ob2", .ns = {[LANE_OFFSET] = 70, [LANE_DUMP] = 900}},
        {.scenario = "null_write", .variant = "ob2", .ns = {[LANE_OFFSET] = 60, [LANE_DUMP] = 950}},
        {.scenario = "null_write", .variant = "ob2", .cold = true, .ns = {1, 1}},
        {.scenario = "null_write", .variant = "ob0", .ns = {1, 1}},
        {.scenario = "null_call", .variant = "ob2", .ns = {[LANE_OFFSET] = 40, [LANE_DUMP] = 500}},
    };
    const struct bench measured = {.costs = costs, .cost_count = COUNT_OF(costs)};
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        (void)snprintf(cases[i], sizeof cases[i], "%s", test_source(folders[i]));
        names[i] = cases[i];
    }
    launcher[0] = below("launcher");
    const struct bench_request bench = {.folders = names,
                                        .folder_count = count,
                                        .cache = cache,
                                        .progress = rounds != NULL ? count_round : NULL,
                                        .context = rounds};
    const struct collect_options windows = {.launcher = launcher,
                                            .victims_folder = below("judges")};
    const struct bench_programs_request request = {
        .bench = &bench, .measured = &measured, .windows = &windows, .program = below("ours")};
    return bench_programs_measure(&request, keep, out, fault);
}

TEST(programs_are_measured_alone_and_again)
{
    static const struct {
        const char *engine, *version, *why_not;
        size_t process, again;
        double again_ns; /* 0: not known */
    } rows[BENCH_PROGRAMS] = {
        [PROGRAM_OFFSETS] = {"offset", NULL, NULL, X64_CASES, X64_CASES, 50},
        [PROGRAM_DUMP] = {"dump", NULL, NULL, X64_CASES, X64_CASES, 700},
        [PROGRAM_DBGHELP_MICROSOFT] = {"judge:dbghelp-microsoft", NULL, microsoft_why_not, 0, 0, 0},
        [PROGRAM_DBGENG] = {"judge:dbgeng", NULL, microsoft_why_not, 0, 0, 0},
        [PROGRAM_DBGHELP] = {"judge:dbghelp", "tool 1.0", NULL, X64_CASES, X64_CASES, 0},
    };
    struct rounds rounds = {0};
    struct bench_programs programs;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    make_world("exit 0\n", JUDGE);
    REQUIRE(measure(COUNT_OF(folders), NULL, &rounds, &keep, &programs, &fault) == ERR_NONE);
    CHECK_EQ(rounds.calls, PROCESSES + AGAIN);
    CHECK_EQ(rounds.cold, PROCESSES);
    CHECK_EQ(programs.case_count, X64_CASES);
    CHECK_EQ(programs.arch, CPU_X64);
    for (int i = 0; i < BENCH_PROGRAMS; i++) {
        const struct bench_program *row = &programs.rows[i];
        test_row(rows[i].engine);
        CHECK_STR(row->name, rows[i].engine);
        CHECK_STR(row->version, rows[i].version);
        CHECK_STR(row->why_not, rows[i].why_not);
        CHECK_EQ(row->process.n, rows[i].process);
        CHECK_EQ(row->again.n, rows[i].again);
        if (rows[i].process != 0)
            CHECK(row->process.least > 0);
        if (rows[i].again_ns > 0)
            CHECK(row->again.value == rows[i].again_ns);
    }
    CHECK_EQ(times_noted("dump --symbols . dump.dmp"), X64_CASES * PROCESSES);
    CHECK_EQ(times_noted("resolve --symbols . record.rec"), X64_CASES * PROCESSES);
    CHECK_EQ(times_noted("twinstack-dbghelp.exe dump.dmp ."), X64_CASES * PROCESSES);
    CHECK_EQ(times_noted("twinstack-dbghelp.exe --serve"), 1);
    arena_free(&keep);
}

TEST(a_bench_of_programs_ends_early)
{
    static const struct {
        const char *name, *program;
        bool cache;
        uint32_t stop_at;
        enum status want;
        uint32_t dumps; /* that were read before */
    } rows[] = {{"this program fails", "exit 1\n", false, 0, ERR_IO, 0},
                {"it fails with dumps", "[ \"$1\" = resolve ]\n", true, 0, ERR_IO, 1},
                {"at once", "exit 0\n", true, 1, ERR_INTERRUPTED, 0},
                {"after one round", "exit 0\n", true, 2, ERR_INTERRUPTED, X64_CASES}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rounds rounds = {.stop_at = rows[i].stop_at};
        struct bench_programs programs;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        make_world(rows[i].program, JUDGE);
        const char *cache = rows[i].cache ? below("cache") : NULL;
        CHECK_EQ(measure(COUNT_OF(folders), cache, &rounds, &keep, &programs, &fault),
                 rows[i].want);
        CHECK_EQ(times_noted(arena_printf(&keep, "dump --symbols . dump.dmp --cache %s", cache)),
                 rows[i].dumps);
        arena_free(&keep);
    }
}

TEST(a_program_that_never_answers_says_so)
{
    struct bench_programs programs;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    make_world("exit 0\n", "exit 1\n");
    CHECK_EQ(measure(1, NULL, NULL, &keep, &programs, &fault), ERR_NONE);
    CHECK_EQ(programs.case_count, 1);
    CHECK(programs.rows[PROGRAM_DUMP].why_not == NULL);
    CHECK_STR(programs.rows[PROGRAM_DBGHELP].why_not, "it answered in no case");
    CHECK(programs.rows[PROGRAM_DBGHELP].version == NULL);
    arena_free(&keep);
}

TEST(a_bench_of_no_case_measures_no_program)
{
    struct bench_programs programs;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    const struct bench_request bench = {.folder_count = 0};
    const struct bench_programs_request request = {.bench = &bench, .program = "none"};
    arena_init(&keep, 0);
    CHECK_EQ(bench_programs_measure(&request, &keep, &programs, &fault), ERR_NONE);
    CHECK_EQ(programs.case_count, 0);
    CHECK_STR(programs.rows[PROGRAM_DBGENG].name, "judge:dbgeng");
    arena_free(&keep);
}
