/* The collector where it needs no Windows program: when the launcher, the victims or their answers
 * are wrong. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "base/turns.h"
#include "collect/collect.h"
#include "test.h"

/* A launcher that answers for every program: `actor SCRIPT victims-ob2.exe --list --json`. */
static const char *const *launcher_of(const char *script)
{
    static const char *words[3];
    words[0] = test_actor();
    words[1] = script;
    return words;
}

static const char *victims_folder(void)
{
    static char folder[4200], path[4300];
    struct fault fault = FAULT_INIT;
    (void)snprintf(folder, sizeof folder, "%s/victims", test_scratch());
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    (void)snprintf(path, sizeof path, "%s/victims-ob2.exe", folder);
    test_write(path, "MZ", 2);
    (void)snprintf(path, sizeof path, "%s/twinstack-launch.exe", folder);
    test_write(path, "MZ", 2);
    return folder;
}

#define LIST_ROW(name)                                                                             \
    "{\"name\":\"" name "\",\"kind\":\"crash\",\"group\":\"A1\",\"sentence\":\"s\","               \
    "\"code\":\"0xC0000005\",\"exit_code\":\"0xC0000005\",\"doors\":[\"vectored\"],"               \
    "\"limit_ms\":500,\"supported\":true,\"reason\":null}"

static const struct {
    const char *name, *script;
    enum status want;
    uint32_t count;
} lists[] = {
    {"two scenarios", "out " LIST_ROW("b") "\nout " LIST_ROW("a"), ERR_NONE, 2},
    {"Windows line ends", "out " LIST_ROW("a") "\r", ERR_NONE, 1},
    {"it fails", "exit 3", ERR_IO, 0},
    {"it says nothing", "exit 0", ERR_IO, 0},
    {"no JSON", "out hello", ERR_MALFORMED, 0},
    {"no name", "out {\"kind\":\"crash\"}", ERR_MALFORMED, 0},
    {"doors that are no list", "out {\"name\":\"a\",\"kind\":\"crash\",\"doors\":1}", ERR_MALFORMED,
     0},
};

TEST(lists_of_victims_are_input_like_any_other)
{
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct collect_options options = {.victims_folder = victims_folder(),
                                          .launcher = launcher_of(lists[i].script)};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct scenario *scenarios = NULL;
        uint32_t count = 0;
        test_row(lists[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(collect_list(&options, &keep, &scenarios, &count, &fault), lists[i].want);
        if (lists[i].want == ERR_NONE && CHECK_EQ(count, lists[i].count)) {
            CHECK_STR(scenarios[0].name, "a");
            CHECK_STR(scenarios[0].variant, "ob2");
            CHECK_HEX(scenarios[0].code, 0xC0000005);
            CHECK_EQ(scenarios[0].limit_ms, 500);
        }
        arena_free(&keep);
    }
}

TEST(builds_for_x86_without_a_program_are_listed_as_unsupported)
{
    static const char named[] =
        "{\"variants\": {\"ob2\": \"-O3\", \"x86-ob2\": \"-O3\", \"lua-ob2\": \"-O3\"}}";
    static const struct {
        const char *name, *toolchain;
        enum status want;
        uint32_t count;
    } rows[] = {{"no list of builds", NULL, ERR_NONE, 2},
                {"one is named", named, ERR_NONE, 4},
                {"none is", "{\"variants\": {\"ob2\": \"\"}}", ERR_NONE, 2},
                {"damaged", "{", ERR_MALFORMED, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *folder = victims_folder();
        struct collect_options options = {
            .victims_folder = folder,
            .launcher = launcher_of("out " LIST_ROW("b") "\nout " LIST_ROW("a"))};
        struct fault fault = FAULT_INIT;
        struct arena keep;
        struct scenario *scenarios = NULL;
        uint32_t count = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        if (rows[i].toolchain != NULL)
            test_write(path_join(&keep, folder, "toolchain.json"), rows[i].toolchain,
                       strlen(rows[i].toolchain));
        CHECK_EQ(collect_list(&options, &keep, &scenarios, &count, &fault), rows[i].want);
        if (rows[i].want == ERR_NONE)
            CHECK_EQ(count, rows[i].count);
        for (uint32_t k = 0; k < count && fault.code == ERR_NONE; k++) {
            const bool x86 = strcmp(scenarios[k].variant, "x86-ob2") == 0;
            CHECK_STR(scenarios[k].unsupported, x86 ? COLLECT_NO_WINE32 : NULL);
            CHECK_EQ(scenarios[k].arch, x86 ? CPU_X86 : CPU_X64);
        }
        arena_free(&keep);
    }
}

TEST(what_is_missing_is_named)
{
    static const char *const nothing[] = {"no-such-launcher", NULL};
    struct collect_options options = {.victims_folder = "no/such/folder", .launcher = nothing};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct scenario *scenarios = NULL;
    uint32_t count = 0;
    arena_init(&keep, 0);
    CHECK_EQ(collect_list(&options, &keep, &scenarios, &count, &fault), ERR_ABSENT);
    CHECK_STR(fault.path, "no/such/folder");
    fault_clear(&fault);
    options.victims_folder = victims_folder();
    CHECK_EQ(collect_list(&options, &keep, &scenarios, &count, &fault), ERR_ABSENT);
    CHECK_STR(fault.path, "no-such-launcher");
    arena_free(&keep);
}

/* One run with a script in place of twinstack-launch.exe. TIMEOUT_MS: of the user; 0: none. */
static struct collected run_within(const char *script, uint64_t timeout_ms, struct arena *keep)
{
    static struct scenario scenario;
    static char program[4300];
    struct collect_options options = {.victims_folder = victims_folder(),
                                      .out_folder = test_scratch(),
                                      .timeout_ms = timeout_ms,
                                      .launcher = launcher_of(script)};
    struct collected *results = NULL;
    struct fault fault = FAULT_INIT;
    (void)snprintf(program, sizeof program, "%s/victims-ob2.exe", options.victims_folder);
    scenario = (struct scenario){.name = "a",
                                 .variant = "ob2",
                                 .kind = CASE_KIND_CRASH,
                                 .program = program,
                                 .limit_ms = 500};
    const enum status status =
        collect_run(&options, &scenario, 1, 1, keep, NULL, NULL, &results, &fault);
    REQUIRE(status == ERR_NONE && results != NULL);
    return results[0];
}

static struct collected run_once(const char *script, struct arena *keep)
{
    return run_within(script, 0, keep);
}

/* A limit of weeks does not become one of milliseconds, after which all would be killed. */
TEST(a_limit_of_the_user_holds_however_long_it_is)
{
    static const struct {
        const char *name;
        uint64_t timeout_ms;
        enum collect_outcome want;
    } rows[] = {
        {"an hour", 3600000, COLLECT_ERROR},
        {"seven weeks, and the time after it that the launcher has", UINT32_MAX - 44899,
         COLLECT_ERROR},
        {"as many milliseconds as 32 bits have, and one", UINT64_C(1) + UINT32_MAX, COLLECT_ERROR},
        {"years", UINT64_MAX / 4, COLLECT_ERROR},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const struct collected got =
            run_within("sleep 1\nerr too late\nexit 3", rows[i].timeout_ms, &keep);
        CHECK_EQ(got.outcome, rows[i].want);
        CHECK_HAS(got.why, "too late");
        arena_free(&keep);
    }
}

/* As victims/harness/launcher reads its words. */
TEST(the_launcher_is_asked_for_a_scenario_of_a_program)
{
    static const char *const parts[] = {
        "victim could not be started: ", "twinstack-launch.exe --out ",
        "a.ob2.part --limit-ms 12345 ", "victims-ob2.exe a"};
    struct arena keep;
    arena_init(&keep, 0);
    const struct collected got = run_within("args\nexit 3", 12345, &keep);
    const char *at = got.why;
    for (size_t i = 0; i < COUNT_OF(parts) && CHECK_HAS(at, parts[i]); i++)
        at = strstr(at, parts[i]) + strlen(parts[i]);
    CHECK_STR(at, "");
    arena_free(&keep);
}

/* A case is in its folder only when it is sealed: a run that goes on has it. */
TEST(a_sealed_case_is_kept_by_a_run_that_goes_on)
{
    static const struct {
        const char *name;
        bool goes_on;
    } rows[] = {{"it goes on", true}, {"a new run", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct collect_options options = {.victims_folder = victims_folder(),
                                                .out_folder = test_scratch(),
                                                .reuse_sealed = rows[i].goes_on,
                                                .launcher = launcher_of("exit 3")};
        const struct scenario scenario = {
            .name = "a", .variant = "ob2", .program = "a.exe", .limit_ms = 500};
        struct collected *results = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        char sealed[4300];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(sealed, sizeof sealed, "%s/cases.1/a.ob2", test_scratch());
        REQUIRE(folder_make(sealed, &fault) == ERR_NONE);
        REQUIRE(collect_run(&options, &scenario, 1, 2, &keep, NULL, NULL, &results, &fault) ==
                ERR_NONE);
        CHECK_EQ(results[0].outcome, COLLECT_ERROR);
        CHECK_EQ(results[1].outcome, rows[i].goes_on ? COLLECT_SEALED : COLLECT_ERROR);
        CHECK_EQ(path_is_folder(sealed), rows[i].goes_on);
        if (rows[i].goes_on)
            CHECK_HAS(results[1].folder, "/cases.1/a.ob2");
        arena_free(&keep);
    }
}

TEST(a_folder_without_the_launcher_is_one_error)
{
    char path[4300];
    struct scenario scenario = {.name = "a", .variant = "ob2", .kind = CASE_KIND_CRASH};
    struct collect_options options = {.victims_folder = victims_folder(),
                                      .out_folder = test_scratch(),
                                      .launcher = launcher_of("exit 1")};
    struct collected *results = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    (void)snprintf(path, sizeof path, "%s/twinstack-launch.exe", options.victims_folder);
    REQUIRE(path_remove(path, &fault) == ERR_NONE);
    CHECK_EQ(collect_run(&options, &scenario, 1, 1, &keep, NULL, NULL, &results, &fault),
             ERR_ABSENT);
    CHECK_HAS(fault.path, "twinstack-launch.exe"); /* with either slash on Windows */
    CHECK(results == NULL);
    arena_free(&keep);
}

TEST(a_victim_that_does_not_start_is_an_error_and_leaves_no_case)
{
    static const struct {
        const char *name, *script, *why;
    } rows[] = {
        {"launcher says 3", "err no such program\nexit 3",
         "the victim could not be started: no such program"},
        {"launcher is lost twice", "exit 5", "the victim could not be started"},
        {"launcher is lost once", "once 5\nerr then\nexit 3",
         "the victim could not be started: then"},
        {"the system refuses once", "err first\nonce 3\noutcome hello", "outcome.json"},
        {"launcher leaves nothing", "exit 0", "outcome.json"},
        {"and is not started again", "once 0\nerr again\nexit 3", "outcome.json"},
        {"launcher is lost after its outcome", "outcome hello\nexit 5", "outcome.json"},
        {"outcome is no JSON", "outcome hello", "outcome.json"},
        {"image is no image", "outcome {\"exit_code\":\"0x1\",\"wall_ms\":1,\"ended_by\":\"exit\"}",
         "image of a victim"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        char path[4300];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(path, sizeof path, "%s/cases/lost", test_scratch());
        REQUIRE(path_remove(path, &fault) == ERR_NONE); /* what `once` remembers */
        const struct collected got = run_once(rows[i].script, &keep);
        CHECK_EQ(got.outcome, COLLECT_ERROR);
        CHECK(got.folder == NULL);
        CHECK_HAS(got.why, rows[i].why);
        CHECK(got.wall_ns > 0);
        (void)snprintf(path, sizeof path, "%s/cases/a.ob2", test_scratch());
        CHECK(!path_is_folder(path));
        (void)snprintf(path, sizeof path, "%s/cases/a.ob2.part", test_scratch());
        CHECK(!path_is_folder(path));
        arena_free(&keep);
    }
}

TEST(what_this_host_cannot_show_is_not_started)
{
    struct scenario scenario = {
        .name = "a", .variant = "ob2", .kind = CASE_KIND_CRASH, .unsupported = "no such lock here"};
    struct collect_options options = {.victims_folder = victims_folder(),
                                      .out_folder = test_scratch(),
                                      .launcher = launcher_of("exit 1")};
    struct collected *results = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(collect_run(&options, &scenario, 1, 2, &keep, NULL, NULL, &results, &fault) ==
            ERR_NONE);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(results[i].outcome, COLLECT_UNSUPPORTED);
        CHECK_EQ(results[i].repeat, i);
        CHECK_STR(results[i].why, "no such lock here");
        CHECK(results[i].folder == NULL);
    }
    arena_free(&keep);
}

/* Appends the scenario's name, so the text lists the scenarios in the order in which they ended. */
static void note_end(void *context, const struct collected *done)
{
    char *text = context;
    (void)snprintf(text + strlen(text), 64 - strlen(text), "%s ", done->scenario->name);
}

TEST(hangs_run_first_and_compute_from_their_record_on)
{
    static const struct {
        const char *name, *script;
        uint32_t jobs;
        const char *order;
        bool crowded; /* expected of the hangs: there is one processor */
    } rows[] = {
        {"one at a time: in the order of the list", "record r\nexit 3", 1, "a b c ", false},
        {"hangs compute at the same time", "record r\nsleep 1\nexit 3", 2, "b c a ", true},
        {"hangs wait at the same time", "sleep 1\nexit 3", 2, "b c a ", false},
        {"an opened record holds nothing yet", "record\nsleep 1\nexit 3", 2, "b c a ", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char program[4300], order[64] = "";
        struct turns *turns = turns_new(rows[i].jobs, 1);
        struct collect_options options = {.victims_folder = victims_folder(),
                                          .out_folder = test_scratch(),
                                          .launcher = launcher_of(rows[i].script),
                                          .jobs = rows[i].jobs,
                                          .turns = turns};
        (void)snprintf(program, sizeof program, "%s/victims-ob2.exe", options.victims_folder);
        const struct scenario base = {.variant = "ob2", .program = program, .limit_ms = 500};
        struct scenario list[3] = {base, base, base};
        struct collected *results = NULL;
        struct fault fault = FAULT_INIT;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        list[0].name = "a";
        list[0].kind = CASE_KIND_CRASH;
        list[1].name = "b";
        list[2].name = "c";
        list[1].kind = list[2].kind = CASE_KIND_HANG;
        REQUIRE(collect_run(&options, list, 3, 1, &keep, note_end, order, &results, &fault) ==
                ERR_NONE);
        if (order[0] == 'c') { /* two hangs end at the same time */
            order[0] = 'b';
            order[2] = 'c';
        }
        CHECK_STR(order, rows[i].order);
        CHECK_EQ(results[1].crowded, rows[i].crowded);
        CHECK_EQ(results[2].crowded, rows[i].crowded);
        turns_free(turns);
        arena_free(&keep);
    }
}

struct ends {
    struct turns *turns;
    uint32_t count;
};

/* Takes both turns when both victims have ended. */
static void take_all_at_last(void *context, const struct collected *done)
{
    struct ends *ends = context;
    struct turn first = {0}, second = {0};
    (void)done;
    if (++ends->count < 2)
        return;
    turns_take(ends->turns, &first);
    turns_take(ends->turns, &second); /* would wait forever if one were kept for hangs */
    turns_give(ends->turns, &first);
    turns_give(ends->turns, &second);
}

/* Where there are two processors, hangs have one of them for themselves. */
TEST(no_turn_is_kept_for_hangs_after_the_last_one)
{
    struct ends ends = {.turns = turns_new(2, 1)};
    struct collect_options options = {.victims_folder = victims_folder(),
                                      .out_folder = test_scratch(),
                                      .launcher = launcher_of("exit 3"),
                                      .turns = ends.turns};
    struct scenario list[2] = {{.name = "a", .variant = "ob2", .program = "a.exe"},
                               {.name = "b", .variant = "ob2", .program = "b.exe"}};
    struct collected *results = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    list[1].kind = CASE_KIND_HANG;
    arena_init(&keep, 0);
    REQUIRE(collect_run(&options, list, 2, 1, &keep, take_all_at_last, &ends, &results, &fault) ==
            ERR_NONE);
    CHECK_EQ(ends.count, 2);
    turns_free(ends.turns);
    arena_free(&keep);
}

static bool skips_b(const void *context, const struct scenario *scenario, uint32_t repeat)
{
    (void)context;
    return scenario->name[0] == 'b' && repeat == 1;
}

/* A run that goes on has some cases: they are neither started nor reported again. */
TEST(what_a_run_has_is_skipped)
{
    const struct scenario base = {
        .variant = "ob2", .kind = CASE_KIND_CRASH, .unsupported = "not here"};
    struct scenario list[2] = {base, base};
    const struct collect_options options = {.victims_folder = victims_folder(),
                                            .out_folder = test_scratch(),
                                            .skip = skips_b,
                                            .launcher = launcher_of("exit 1")};
    struct collected *results = NULL;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    char order[64] = "";
    arena_init(&keep, 0);
    list[0].name = "a";
    list[1].name = "b";
    REQUIRE(collect_run(&options, list, 2, 2, &keep, note_end, order, &results, &fault) ==
            ERR_NONE);
    for (int i = 0; i < 4; i++) {
        const bool skipped =
            skips_b(NULL, results[i].scenario, results[i].repeat); /* in order of the list */
        CHECK_EQ(results[i].outcome, skipped ? COLLECT_SKIPPED : COLLECT_UNSUPPORTED);
    }
    CHECK_EQ(strlen(order), 6); /* three ended */
    CHECK_EQ(collect_run(&options, list, 0, 2, &keep, NULL, NULL, &results, &fault), ERR_USAGE);
    fault_clear(&fault);
    CHECK_EQ(collect_run(&options, list, 2, 0, &keep, NULL, NULL, &results, &fault), ERR_USAGE);
    fault_clear(&fault);
    CHECK_EQ(
        collect_run(&options, list, 2, UINT32_MAX / 2 + 1, &keep, NULL, NULL, &results, &fault),
        ERR_USAGE);
    arena_free(&keep);
}

#define REPORTER "corpus/reporter/symbols/"
#define MANAGED "corpus/managed/"

/* Without its PDB the functions of a victim have no names, and its cases fail. */
TEST(a_pdb_that_is_missing_or_of_another_build_is_named)
{
    static const struct {
        const char *name;
        const char *files[6]; /* what is copied, and to where in the folder */
        const char *toolchain, *want, *plugins;
    } rows[] = {
        {"it is there",
         {REPORTER "app.exe", "app.exe", REPORTER "app.pdb", "app.pdb"},
         "{}",
         NULL,
         NULL},
        {"it is missing", {REPORTER "app.exe", "app.exe"}, "{}", "app.pdb is missing", NULL},
        {"of another build",
         {REPORTER "app.exe", "app.exe", REPORTER "plug.pdb", "app.pdb"},
         "{}",
         "app.pdb is of another build",
         NULL},
        {"two",
         {REPORTER "app.exe", "app.exe", REPORTER "plug.dll", "plug.dll"},
         "{}",
         "app.pdb is missing, plug.pdb is missing",
         NULL},
        {"no program", {REPORTER "app.exe", "app.txt"}, "{}", NULL, NULL},
        {"a portable PDB",
         {MANAGED "shapes.dll", "s.dll", MANAGED "shapes.pdb", "shapes.pdb"},
         "{}",
         NULL,
         NULL},
        {"a portable one of another build",
         {MANAGED "shapes.dll", "s.dll", MANAGED "fsharp.pdb", "shapes.pdb"},
         "{}",
         "shapes.pdb is of another build",
         NULL},
        {"a plugin in a folder of its own",
         {REPORTER "app.exe", "victims-ob2.exe", REPORTER "app.pdb", "app.pdb", REPORTER "plug.dll",
          "other/plug.dll"},
         "{\"plugins\":{\"ob2\":[\"other/plug.dll\"]}}",
         "other/plug.pdb is missing",
         NULL},
        {"plugins that are missing",
         {REPORTER "app.exe", "victims-ob2.exe", REPORTER "app.pdb", "app.pdb"},
         "{\"plugins\":{\"ob2\":[\"a.dll\",\"other/b.dll\"],\"fp\":[\"c.dll\"]}}",
         NULL,
         "a.dll, other/b.dll"},
        {"nothing", {NULL}, "{}", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *folder = arena_printf(&keep, "%s/lacking-%zu", test_scratch(), i);
        REQUIRE(folder_make(path_join(&keep, folder, "other"), &fault) == ERR_NONE);
        for (size_t k = 0; k + 1 < COUNT_OF(rows[i].files) && rows[i].files[k] != NULL; k += 2) {
            size_t bytes;
            const uint8_t *data = test_read(test_source(rows[i].files[k]), &bytes);
            test_write(path_join(&keep, folder, rows[i].files[k + 1]), data, bytes);
        }
        test_write(path_join(&keep, folder, "toolchain.json"), rows[i].toolchain,
                   strlen(rows[i].toolchain));
        CHECK_STR(collect_lacking_pdbs(folder, &keep), rows[i].want);
        CHECK_STR(collect_lacking_plugins(folder, &keep), rows[i].plugins);
        arena_free(&keep);
    }
}

TEST(a_pdb_that_cannot_be_opened_is_named)
{
    static const struct {
        const char *name, *image[2], *pdb[2]; /* what is copied, and to where in the folder */
        double part;                          /* of the PDB that is there */
        const char *want;
    } rows[] = {
        {"whole", {REPORTER "app.exe", "app.exe"}, {REPORTER "app.pdb", "app.pdb"}, 1, NULL},
        {"half",
         {REPORTER "app.exe", "app.exe"},
         {REPORTER "app.pdb", "app.pdb"},
         0.5,
         "app.pdb is damaged"},
        {"empty",
         {REPORTER "app.exe", "app.exe"},
         {REPORTER "app.pdb", "app.pdb"},
         0,
         "app.pdb is damaged"},
        {"another file of that name",
         {REPORTER "app.exe", "app.exe"},
         {REPORTER "app.exe", "app.pdb"},
         1,
         "app.pdb is damaged"},
        {"half of a portable one",
         {MANAGED "shapes.dll", "s.dll"},
         {MANAGED "shapes.pdb", "shapes.pdb"},
         0.5,
         "shapes.pdb is damaged"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct fault fault = FAULT_INIT;
        size_t bytes;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *folder = arena_printf(&keep, "%s/damaged-%zu", test_scratch(), i);
        REQUIRE(folder_make(folder, &fault) == ERR_NONE);
        const uint8_t *image = test_read(test_source(rows[i].image[0]), &bytes);
        test_write(path_join(&keep, folder, rows[i].image[1]), image, bytes);
        const uint8_t *pdb = test_read(test_source(rows[i].pdb[0]), &bytes);
        test_write(path_join(&keep, folder, rows[i].pdb[1]), pdb,
                   (size_t)((double)bytes * rows[i].part));
        CHECK_STR(collect_lacking_pdbs(folder, &keep), rows[i].want);
        arena_free(&keep);
    }
}
