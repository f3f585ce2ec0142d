/* What a run notes of its code, tools and victims: conduct/run_facts.h. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "collect/collect.h"
#include "conduct/run_facts.h"
#include "model/managed_samples.h"
#include "study/lanes.h"
#include "test.h"

static const char *in_scratch(const char *name)
{
    static char path[4][600];
    static size_t next;
    char *out = path[next++ % COUNT_OF(path)];
    (void)snprintf(out, sizeof path[0], "%s/%s", test_scratch(), name);
    return out;
}

static void put(const char *name, const char *text)
{
    test_write(in_scratch(name), text, strlen(text));
}

/* A program `git` that is the only one on the path. */
static void put_git(const char *script)
{
    test_environment("PATH", test_scratch());
    put("git", script);
    REQUIRE(chmod(in_scratch("git"), 0755) == 0);
}

TEST(the_commit_is_what_git_says_else_what_ci_says)
{
    static const struct {
        const char *name, *git, *ci, *want;
    } rows[] = {
        {"the first line of git", "#!/bin/sh\nprintf '0123abc\\nmore\\n'\n", "ci", "0123abc"},
        {"a line that ends as on Windows", "#!/bin/sh\nprintf '0123abc\\r\\n'\n", "ci", "0123abc"},
        {"git refuses", "#!/bin/sh\necho 0123abc\nexit 128\n", "ci", "ci"},
        {"git says nothing", "#!/bin/sh\n", "ci", "ci"},
        {"nothing is known", "#!/bin/sh\nexit 1\n", "", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        put_git(rows[i].git);
        test_environment("GITHUB_SHA", rows[i].ci);
        CHECK_STR(run_facts_commit(&keep), rows[i].want);
        arena_free(&keep);
    }
}

static void read_facts(struct arena *keep, const char *writer, struct run_info *out)
{
    char word[] = "twinstack", verb[] = "run", *argv[] = {word, verb, NULL};
    const struct collect_options options = {.victims_folder = test_scratch(), .writer = writer};
    struct fault fault = FAULT_INIT;
    REQUIRE(run_facts(&options, "run", 2, argv, keep, out, &fault) == ERR_NONE);
}

static const char *version_of(const struct named_version *rows, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].version;
    return NULL;
}

TEST(compiler_and_builds_come_from_the_toolchain)
{
    struct arena keep;
    struct run_info run;
    arena_init(&keep, 0);
    put_git("#!/bin/sh\n[ $2 = HEAD ] && echo 12ab || echo topic\n");
    put("toolchain.json", "{\"compiler\": \"clang 19\", \"variants\": {\"ob0\": \"-O0\", \"n\": 1, "
                          "\"ob2\": \"-O2 -g\", \"x86-ob2\": \"-m32\", \"fp\": \"-Oy\"}}");
    put("victims-ob0.exe", "");
    read_facts(&keep, NULL, &run);
    CHECK_STR(run.label, "run");
    CHECK_STR(run.compiler, "clang 19");
    CHECK_STR(run.flags, "ob0: -O0; ob2: -O2 -g; x86-ob2: -m32; fp: -Oy");
    CHECK_STR(run.commit, "12ab");
    CHECK_STR(run.branch, "topic");
    CHECK_HAS(run.command, "run");
    CHECK(run.started_ns > 0 && run.finished_ns == 0);
    CHECK_STR(version_of(run.environment, run.environment_count, RUN_FACT_NOT_BUILT), "ob2, fp");
    CHECK_STR(run_facts_not_built(test_scratch(), &keep), "ob2, fp");
    CHECK_STR(run.tools[0].name, "twinstack");
    CHECK_STR(version_of(run.tools, run.tool_count, "victims' compiler"), "clang 19");
    CHECK_STR(version_of(run.tools, run.tool_count, "wine"), NULL);
    const char *plain = run.platform;
    read_facts(&keep, "dbgcore 10", &run);
    CHECK_HAS(run.platform, plain);
    CHECK_STR(run.platform + strlen(plain), ", dbgcore 10");
    put("victims-ob2.exe", "");
    put("victims-fp.exe", "");
    read_facts(&keep, NULL, &run);
    CHECK_EQ(run.environment_count, 0);
    put("toolchain.json", "{\"compiler\": ");
    read_facts(&keep, NULL, &run);
    CHECK_STR(run.compiler, NULL);
    CHECK_EQ(run.tool_count, 1);
    arena_free(&keep);
}

/* The version is the first line that Wine prints. */
TEST(the_platform_of_a_run_names_the_system_and_wine)
{
    char word[] = "twinstack", verb[] = "run", *argv[] = {word, verb, NULL};
    const char *const launcher[] = {in_scratch("wine-of-a-test"), NULL};
    const struct collect_options options = {.victims_folder = test_scratch(), .launcher = launcher};
    struct fault fault = FAULT_INIT;
    struct run_info plain, run;
    struct arena keep;
    arena_init(&keep, 0);
    put_git("#!/bin/sh\n");
    put("wine-of-a-test",
        "#!/bin/sh\n[ \"$1\" = --version ] && printf 'wine-9.0 (Made)\\nmore\\n'\n");
    REQUIRE(chmod(launcher[0], 0755) == 0);
    read_facts(&keep, NULL, &plain);
    REQUIRE(run_facts(&options, "run", 2, argv, &keep, &run, &fault) == ERR_NONE);
    CHECK_STR(run.platform, arena_printf(&keep, "%s, wine-9.0 (Made)", plain.platform));
    CHECK_STR(version_of(run.tools, run.tool_count, "wine"), "wine-9.0 (Made)");
    CHECK_EQ(run.tool_count, plain.tool_count + 1);
    arena_free(&keep);
}

#define ENDS ",\"refused\":1,\"hijacked\":2,\"ended\":3,\"wrong\":4,\"blocked\":5}\n"

TEST(stacks_of_managed_code_are_counted_by_phase_and_mode)
{
    static const uint32_t ends[MANAGED_ENDS] = {1, 2, 3, 4, 5};
    struct managed_phase phases[MANAGED_PHASES_MAX];
    struct arena keep;
    struct run_info run;
    arena_init(&keep, 0);
    put_git("#!/bin/sh\n");
    read_facts(&keep, NULL, &run);
    CHECK_STR(managed_missing(&run), NULL);
    put("managed-stops.exe", "");
    read_facts(&keep, NULL, &run);
    CHECK(managed_missing(&run) != NULL);
    put("managed-samples.ndjson",
        "{\"phase\":\"PhaseThrow\",\"mode\":\"plain\",\"samples\":20,\"right\":5" ENDS
        "{\"phase\":\"PhaseCollect\",\"mode\":\"copy\",\"samples\":7,\"right\":7}\n"
        "{damaged\n"
        "{\"phase\":\"PhaseThrow\",\"mode\":\"sideways\",\"samples\":1,\"right\":1}\n"
        "{\"mode\":\"plain\",\"samples\":1,\"right\":1}\n"
        "{\"phase\":\"PhaseThrow\",\"mode\":\"in-place\",\"samples\":9,\"right\":8}");
    read_facts(&keep, NULL, &run);
    CHECK_STR(managed_missing(&run), NULL);
    CHECK_EQ(run.environment_count, 2);
    REQUIRE(managed_phases_read(&run, phases) == 2);
    CHECK_STR(phases[0].name, "throws");
    CHECK_EQ(phases[0].modes[MANAGED_PLAIN].samples, 20);
    CHECK_EQ(phases[0].modes[MANAGED_PLAIN].right, 5);
    CHECK_MEM(phases[0].modes[MANAGED_PLAIN].ends, ends, sizeof ends);
    CHECK_EQ(phases[0].modes[MANAGED_IN_PLACE].samples, 9);
    CHECK_EQ(phases[0].modes[MANAGED_IN_PLACE].right, 8);
    CHECK_EQ(phases[0].modes[MANAGED_COPY].samples, 0);
    CHECK_EQ(phases[1].modes[MANAGED_COPY].samples, 7);
    CHECK_EQ(phases[1].modes[MANAGED_COPY].right, 7);
    arena_free(&keep);
}

TEST(a_run_that_is_judged_again_has_the_version_of_now)
{
    struct named_version tools[] = {{"wine", "8"}, {"twinstack", "0.0.1"}, {"gdb", "13"}};
    struct run_info run = {.tools = tools, .tool_count = COUNT_OF(tools)};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct run_info fresh;
    arena_init(&keep, 0);
    put_git("#!/bin/sh\n");
    read_facts(&keep, NULL, &fresh);
    REQUIRE(run_facts_renew(&run, &keep, &fault) == ERR_NONE);
    CHECK_EQ(run.tool_count, COUNT_OF(tools));
    CHECK_STR(run.tools[0].version, "8");
    CHECK_STR(run.tools[1].name, "twinstack");
    CHECK_STR(run.tools[1].version, fresh.tools[0].version);
    CHECK_STR(run.tools[2].version, "13");
    CHECK_STR(tools[1].version, "0.0.1");
    arena_free(&keep);
}
