/* What victims list, as victims/victim.c prints it, the lists that are kept in the prefix, and
 * which scenarios of a list an expression chooses. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "collect/list_cache.h"
#include "test.h"

static struct arena paths;

static const char *below(const char *name)
{
    if (paths.limit_bytes == 0)
        arena_init(&paths, 0);
    const char *path = arena_printf(&paths, "%s/%s", test_scratch(), name);
    REQUIRE(path != NULL);
    return path;
}

/* The smallest header of a program of MACHINE: Microsoft's PE format. */
static void put_program(const char *name, uint16_t machine)
{
    uint8_t file[0x200] = {'M', 'Z'};
    struct fault fault = FAULT_INIT;
    file[60] = 0x40;
    memcpy(file + 0x40, "PE\0\0", 4);
    file[0x44] = (uint8_t)machine;
    file[0x45] = (uint8_t)(machine >> 8);
    file[0x54] = 0xe0; /* bytes of the optional header */
    file[0x58] = 0x0b; /* which is that of PE32 */
    file[0x59] = 0x01;
    REQUIRE(folder_make(below("victims"), &fault) == ERR_NONE);
    test_write(below(name), file, sizeof file);
}

enum { X86 = 0x014c, X64 = 0x8664 };

struct listed {
    struct arena keep;
    struct fault fault;
    struct scenario *scenarios;
    uint32_t count;
    enum status status;
};

/* The programs' answer to --list is what SCRIPT prints. */
static struct listed list_of(const char *script, const char *prefix)
{
    static const char *launcher[3];
    struct listed out = {.fault = FAULT_INIT};
    const struct collect_options options = {
        .victims_folder = below("victims"), .launcher = launcher, .prefix_folder = prefix};
    launcher[0] = test_actor();
    launcher[1] = script;
    arena_init(&out.keep, 0);
    out.status = collect_list(&options, &out.keep, &out.scenarios, &out.count, &out.fault);
    return out;
}

TEST(a_scenario_has_what_its_line_says)
{
    static const struct {
        const char *name, *line;
        struct scenario want; /* with the facts that the line states */
        enum status status;
    } rows[] = {
        {"a crash",
         "{\"name\":\"a\",\"kind\":\"crash\",\"group\":\"A1\",\"sentence\":\"s\",\"code\":"
         "\"0xC0000005\",\"exit_code\":\"0xC0000006\",\"doors\":[\"vectored\"],\"subjects\":"
         "[\"x\",\"y\"],\"output\":\"12\",\"limit_ms\":500,\"supported\":true,\"reason\":null}",
         {.kind = CASE_KIND_CRASH,
          .group = "A1",
          .about = "s",
          .code = 0xC0000005,
          .exit_code = 0xC0000006,
          .limit_ms = 500,
          .hooks = 1U << CASE_HOOK_VECTORED,
          .output = "12",
          .subject_count = 2},
         ERR_NONE},
        {"a hang that this host cannot show",
         "{\"name\":\"a\",\"kind\":\"hang\",\"group\":\"A5\",\"sentence\":\"s\",\"doors\":"
         "[\"heartbeat\"],\"supported\":false,\"reason\":\"no such lock\"}",
         {.kind = CASE_KIND_HANG,
          .group = "A5",
          .about = "s",
          .limit_ms = 20000,
          .hooks = 1U << CASE_HOOK_HEARTBEAT,
          .unsupported = "no such lock"},
         ERR_NONE},
        {"without a reason",
         "{\"name\":\"a\",\"kind\":\"hang\",\"supported\":false}",
         {.kind = CASE_KIND_HANG, .limit_ms = 20000, .unsupported = "this host cannot show it"},
         ERR_NONE},
        {"a subject that is no text",
         "{\"name\":\"a\",\"kind\":\"crash\",\"subjects\":[\"x\",1]}",
         {.name = NULL},
         ERR_MALFORMED},
        {"another kind", "{\"name\":\"a\",\"kind\":\"other\"}", {.name = NULL}, ERR_MALFORMED},
        {"no kind", "{\"name\":\"a\"}", {.name = NULL}, ERR_MALFORMED},
    };
    put_program("victims/victims-ob2.exe", X64);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char script[1000];
        (void)snprintf(script, sizeof script, "out %s", rows[i].line);
        test_row(rows[i].name);
        struct listed got = list_of(script, NULL);
        CHECK_EQ(got.status, rows[i].status);
        if (rows[i].status != ERR_NONE) {
            CHECK_HAS(got.fault.path, "victims-ob2.exe");
        } else if (CHECK_EQ(got.count, 1)) {
            const struct scenario *s = &got.scenarios[0], *want = &rows[i].want;
            CHECK_STR(s->name, "a");
            CHECK_STR(s->variant, "ob2");
            CHECK_EQ(s->arch, CPU_X64);
            CHECK_EQ(s->kind, want->kind);
            CHECK_STR(s->group, want->group);
            CHECK_STR(s->about, want->about);
            CHECK_HEX(s->code, want->code);
            CHECK_HEX(s->exit_code, want->exit_code);
            CHECK_EQ(s->limit_ms, want->limit_ms);
            CHECK_HEX(s->hooks, want->hooks);
            CHECK_STR(s->unsupported, want->unsupported);
            CHECK_STR(s->output, want->output);
            if (CHECK_EQ(s->subject_count, want->subject_count) && s->subject_count == 2) {
                CHECK_STR(s->subjects[0], "x");
                CHECK_STR(s->subjects[1], "y");
            }
        }
        arena_free(&got.keep);
    }
}

#define LINE(NAME) "{\"name\":\"" NAME "\",\"kind\":\"crash\"}"

/* Scenarios may be missing from it, and a run without them is no run of all. */
TEST(a_list_that_was_cut_is_none)
{
    put_program("victims/victims-ob2.exe", X64);
    struct listed got = list_of("out " LINE("a") "\nzeros 67108864", NULL);
    CHECK_EQ(got.status, ERR_IO);
    CHECK_HAS(got.fault.path, "victims-ob2.exe");
    CHECK_STR(got.fault.hint, "it printed more than 64 MiB, and the rest is cut");
    arena_free(&got.keep);
}

/* By name, then by build. */
TEST(scenarios_of_all_programs_are_in_order)
{
    static const char *const want[][2] = {
        {"a", "ob0"}, {"a", "x86-ob2"}, {"b", "ob0"}, {"b", "x86-ob2"}};
    put_program("victims/victims-x86-ob2.exe", X86);
    put_program("victims/victims-ob0.exe", X64);
    put_program("victims/other.exe", X64);
    put_program("victims/victims-.exe", X64);
    struct listed got = list_of("out " LINE("b") "\nout\nout " LINE("a"), NULL);
    REQUIRE(got.status == ERR_NONE && got.count == COUNT_OF(want));
    for (uint32_t i = 0; i < got.count; i++) {
        CHECK_STR(got.scenarios[i].name, want[i][0]);
        CHECK_STR(got.scenarios[i].variant, want[i][1]);
        CHECK_EQ(got.scenarios[i].arch, want[i][1][0] == 'x' ? CPU_X86 : CPU_X64);
    }
    arena_free(&got.keep);
}

TEST(a_build_that_has_a_program_is_listed_once)
{
    static const char builds[] = "{\"variants\": {\"x86-ob2\": \"\"}}";
    put_program("victims/victims-x86-ob2.exe", X86);
    test_write(below("victims/toolchain.json"), builds, sizeof builds - 1);
    struct listed got = list_of("out " LINE("a"), NULL);
    CHECK_EQ(got.status, ERR_NONE);
    CHECK_EQ(got.count, 1);
    arena_free(&got.keep);
}

TEST(there_are_at_most_so_many_scenarios)
{
    enum { MOST = 4096 };
    static char script[(MOST + 1) * 40];
    put_program("victims/victims-ob2.exe", X64);
    for (uint32_t lines = MOST - 1; lines <= MOST;
         lines++) { /* the end of the text counts as one */
        const char *path = below("list");
        char *end = script;
        for (uint32_t i = 0; i < lines; i++)
            end += sprintf(end, "%s\n", LINE("a"));
        test_write(path, script, (size_t)(end - script));
        char show[4400];
        (void)snprintf(show, sizeof show, "show %s", path);
        struct listed got = list_of(show, NULL);
        CHECK_EQ(got.status, lines < MOST ? ERR_NONE : ERR_LIMIT);
        if (lines < MOST)
            CHECK_EQ(got.count, lines);
        arena_free(&got.keep);
    }
}

/* A 32-bit program that cannot be started has the scenarios of the build that has most of them.
 * With no other build there is nothing that it could have. */
TEST(a_program_for_another_half_of_wine_borrows_its_list)
{
    static const struct {
        const char *name;
        const char *managed, *ob2; /* kept answers; NULL: there is no such program */
        enum status want;
        uint32_t borrowed;
    } rows[] = {
        {"alone", NULL, NULL, ERR_IO, 0},
        {"beside a build with one", NULL, LINE("a") "\n", ERR_NONE, 1},
        {"beside another build", NULL, LINE("a") "\n" LINE("b") "\n", ERR_NONE, 2},
        {"of two builds: the one with more", LINE("m") "\n", LINE("a") "\n" LINE("b") "\n",
         ERR_NONE, 2},
        {"of two builds: the first one", LINE("m") "\n" LINE("n") "\n" LINE("o"), LINE("a") "\n",
         ERR_NONE, 3},
    };
    static const char programs[3][32] = {"victims/victims-managed.exe", "victims/victims-ob2.exe",
                                         "victims/victims-x86-ob2.exe"};
    static const char script[] = "err experimental wow64 mode\nexit 0";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const answers[] = {rows[i].managed, rows[i].ob2,
                                       rows[i].want == ERR_NONE ? "" : NULL};
        struct fault fault = FAULT_INIT;
        struct list_cache cache;
        struct arena keep;
        const char *prefix = below("prefix");
        test_row(rows[i].name);
        arena_init(&keep, 0);
        REQUIRE(path_remove(below("victims"), &fault) == ERR_NONE);
        REQUIRE(path_remove(prefix, &fault) == ERR_NONE);
        const char *const launcher[] = {test_actor(), script, NULL};
        const struct collect_options options = {.launcher = launcher, .prefix_folder = prefix};
        list_cache_open(&options, &keep, &cache);
        put_program(programs[2], X86);
        for (size_t k = 0; k < COUNT_OF(programs); k++)
            if (answers[k] != NULL) {
                if (k < 2)
                    test_write(below(programs[k]), k == 0 ? "MZm" : "MZo", 3);
                list_cache_write(&cache, list_cache_path(&cache, below(programs[k]), &keep),
                                 answers[k]);
            }
        struct listed got = list_of(script, rows[i].want == ERR_NONE ? prefix : NULL);
        CHECK_EQ(got.status, rows[i].want);
        uint32_t borrowed = 0;
        for (uint32_t k = 0; k < got.count && got.status == ERR_NONE; k++) {
            const bool x86 = strcmp(got.scenarios[k].variant, "x86-ob2") == 0;
            borrowed += x86;
            CHECK_STR(got.scenarios[k].unsupported, x86 ? COLLECT_NO_WINE32 : NULL);
            CHECK_EQ(got.scenarios[k].arch, x86 ? CPU_X86 : CPU_X64);
            if (x86)
                CHECK_HAS(got.scenarios[k].program, "victims-x86-ob2.exe");
        }
        CHECK_EQ(borrowed, rows[i].borrowed);
        arena_free(&got.keep);
        arena_free(&keep);
    }
}

/* ---- what is kept ----------------------------------------------------------------------- */

TEST(a_kept_list_is_the_one_that_was_written)
{
    static const struct {
        const char *name, *text;
        int64_t at;  /* where a byte is changed; -1: nowhere */
        int64_t cut; /* bytes that are left; -1: all */
        bool kept;
    } rows[] = {
        {"a list", "{\"name\":\"a\"}\n", -1, -1, true},
        {"of no byte", "", -1, -1, true},
        {"a byte of the list", "{\"name\":\"a\"}\n", 70, -1, false},
        {"the last digit of its sum", "{\"name\":\"a\"}\n", 63, -1, false},
        {"the line end after its sum", "{\"name\":\"a\"}\n", 64, -1, false},
        {"without the last byte", "{\"name\":\"a\"}\n", -1, 77, false},
        {"the sum alone", "", -1, 64, false},
        {"nothing", "", -1, 0, false},
    };
    const struct list_cache cache = {.folder = below("lists"), .facts = "x"};
    put_program("victims/victims-ob2.exe", X64);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        size_t bytes;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        const char *path = list_cache_path(&cache, below("victims/victims-ob2.exe"), &keep);
        REQUIRE(path != NULL);
        list_cache_write(&cache, path, rows[i].text);
        uint8_t *data = test_read(path, &bytes);
        CHECK_EQ(bytes, 65 + strlen(rows[i].text));
        if (rows[i].at >= 0)
            data[rows[i].at] ^= 1;
        test_write(path, data, rows[i].cut >= 0 ? (size_t)rows[i].cut : bytes);
        CHECK_STR(list_cache_read(path, &keep), rows[i].kept ? rows[i].text : NULL);
        arena_free(&keep);
    }
    const struct list_cache none = {NULL, NULL}; /* no prefix */
    CHECK(list_cache_read(NULL, &paths) == NULL);
    CHECK(list_cache_path(&none, below("victims/victims-ob2.exe"), &paths) == NULL);
}

/* collect/list_cache.h: the name is a hash of the program, the launcher, the host and the Wine. */
TEST(another_program_launcher_or_wine_has_another_list)
{
    enum { KINDS = 6 };
    const char *path[KINDS];
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    put_program("victims/victims-ob2.exe", X64);
    put_program("victims/victims-managed10.exe", X64);
    for (int i = 0; i < KINDS; i++) {
        const char *const launcher[] = {test_actor(), i == 1 ? "out 1" : "out 2", NULL};
        const struct collect_options options = {.launcher = launcher,
                                                .prefix_folder = below("prefix")};
        struct list_cache cache;
        if (i == 2)
            put_program("victims/victims-ob2.exe", X86);
        if (i == 3) {
            REQUIRE(folder_make(below("prefix/drive_c/windows/syswow64"), &fault) == ERR_NONE);
            test_write(below("prefix/drive_c/windows/syswow64/kernel32.dll"), "", 0);
        }
        if (i == 4) { /* managed victims list what they can show by this file */
            REQUIRE(folder_make(below("victims/dotnet"), &fault) == ERR_NONE);
            test_write(below("victims/dotnet/coreclr.dll"), "", 0);
        }
        list_cache_open(&options, &keep, &cache);
        CHECK_HAS(cache.folder, "/prefix/twinstack-lists");
        path[i] = list_cache_path(&cache, below("victims/victims-ob2.exe"), &keep);
        REQUIRE(path[i] != NULL);
        CHECK_STR(list_cache_path(&cache, below("victims/victims-ob2.exe"), &keep), path[i]);
        for (int k = 0; k < i; k++)
            CHECK_EQ(strcmp(path[k], path[i]) == 0, i == 5 && k == 4);
    }
    arena_free(&keep);
}

/* Lists of victims that have been built again since are not kept. */
TEST(many_lists_are_dropped)
{
    enum { MOST = 256 };
    const struct list_cache cache = {.folder = below("many"), .facts = "x"};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(folder_make(below("many"), &fault) == ERR_NONE);
    for (int i = 0; i < MOST - 1; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "many/old-%d", i);
        test_write(below(name), "", 0);
    }
    for (int again = 0; again < 2; again++) { /* the first fills the folder */
        const char **names = NULL;
        size_t count = 0;
        list_cache_write(&cache, below("many/new"), "text");
        REQUIRE(folder_list(below("many"), &keep, &names, &count, &fault) == ERR_NONE);
        CHECK_EQ(count, again ? 1 : MOST);
        CHECK_STR(list_cache_read(below("many/new"), &keep), "text");
    }
    arena_free(&keep);
}

TEST(a_folder_without_victims_says_so)
{
    struct listed got = list_of("out " LINE("a"), NULL);
    CHECK_EQ(got.status, ERR_ABSENT); /* no folder */
    CHECK_STR(got.fault.path, below("victims"));
    arena_free(&got.keep);
    put_program("victims/other.exe", X64);
    got = list_of("out " LINE("a"), NULL);
    CHECK_EQ(got.status, ERR_ABSENT);
    CHECK_EQ(got.count, 0);
    CHECK_STR(got.fault.path, below("victims"));
    arena_free(&got.keep);
}

TEST(a_run_of_nothing_is_refused)
{
    static const struct scenario one = {.name = "a", .kind = CASE_KIND_CRASH};
    static const struct {
        const char *name;
        uint32_t count, repeat;
    } rows[] = {{"no scenario", 0, 1}, {"no repeat", 1, 0}, {"too many cases", 2, UINT32_MAX}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct collect_options options = {.victims_folder = below("victims"),
                                                .out_folder = below("out")};
        struct fault fault = FAULT_INIT;
        struct collected *results = NULL;
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_EQ(collect_run(&options, &one, rows[i].count, rows[i].repeat, &keep, NULL, NULL,
                             &results, &fault),
                 ERR_USAGE);
        CHECK(results == NULL && !path_is_folder(below("out")));
        arena_free(&keep);
    }
}

/* Judges are asked by the launcher's words. */
TEST(a_session_has_the_words_of_its_launcher)
{
    static const struct {
        const char *name;
        const char *words[3];
        enum status want;
    } rows[] = {{"none", {NULL}, ERR_ABSENT},
                {"not there", {"/no/such/program", NULL}, ERR_ABSENT},
                {"two words", {"", "-x", NULL}, ERR_NONE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *words[3];
        struct fault fault = FAULT_INIT;
        struct collect_session *session = NULL;
        test_row(rows[i].name);
        memcpy(words, rows[i].words, sizeof words);
        if (rows[i].want == ERR_NONE)
            words[0] = test_actor();
        const struct collect_options options = {.launcher = words};
        CHECK_EQ(collect_session_open(&options, &session, &fault), rows[i].want);
        CHECK_EQ(session != NULL, rows[i].want == ERR_NONE);
        if (session != NULL) {
            const char *const *launcher = collect_session_launcher(session);
            CHECK_STR(launcher[0], words[0]);
            CHECK_STR(launcher[1], "-x");
            CHECK(launcher[2] == NULL);
        } else if (words[0] != NULL) {
            CHECK_STR(fault.path, words[0]);
        }
        collect_session_close(session);
    }
}

/* ---- which of them are chosen ---------------------------------------------------------------- */

static const struct scenario crash_ob2 = {
    .name = "stack_overflow", .variant = "ob2", .kind = CASE_KIND_CRASH, .group = "A3"};

static const struct {
    const char *expr;
    bool selected;
    enum status status;
} selections[] = {
    {NULL, true, ERR_NONE},
    {"stack", true, ERR_NONE},
    {"overflow.ob2", true, ERR_NONE},
    {"ob0", false, ERR_NONE},
    {"crash", true, ERR_NONE},
    {"hang", false, ERR_NONE},
    {"A3", true, ERR_NONE},
    {"A", false, ERR_NONE},
    {"not hang", true, ERR_NONE},
    {"not not crash", true, ERR_NONE},
    {"hang or crash", true, ERR_NONE},
    {"crash and ob0", false, ERR_NONE},
    {"hang and ob0 or crash", true, ERR_NONE},
    {"hang and (ob0 or crash)", false, ERR_NONE},
    {"crash and not (ob0 or hang)", true, ERR_NONE},
    {"(crash)and(ob2)", true, ERR_NONE},
    {"  crash  ", true, ERR_NONE},
    {"unwind", true, ERR_NONE},
    {"bypass", false, ERR_NONE},
    {"", false, ERR_USAGE},
    {"and", false, ERR_USAGE},
    {"crash or or", false, ERR_USAGE},
    {"not", false, ERR_USAGE},
    {"crash and", false, ERR_USAGE},
    {"crash hang", false, ERR_USAGE},
    {"(crash", false, ERR_USAGE},
    {"crash)", false, ERR_USAGE},
    {"()", false, ERR_USAGE},
};

TEST(expressions_select_or_say_what_is_wrong)
{
    for (size_t i = 0; i < COUNT_OF(selections); i++) {
        struct fault fault = FAULT_INIT;
        bool selected = true;
        test_row(selections[i].expr != NULL ? selections[i].expr : "none");
        CHECK_EQ(scenario_select(selections[i].expr, &crash_ob2, &selected, &fault),
                 selections[i].status);
        CHECK_EQ(selected, selections[i].selected);
    }
}

TEST(each_group_has_a_word)
{
    static const char *const words[] = {"hardware", "bypass", "unwind",
                                        "threads",  "hangs",  "managed"};
    static const char *const groups[] = {"A1", "A2", "A3", "A4", "A5", "A6"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const struct scenario s = {.name = "x", .variant = "ob2", .group = groups[i]};
        test_row(words[i]);
        for (size_t k = 0; k < COUNT_OF(words); k++)
            CHECK_EQ(scenario_has_tag(&s, words[k]), k == i);
    }
}

TEST(deep_parentheses_are_refused_not_followed)
{
    char expr[4096];
    struct fault fault = FAULT_INIT;
    bool selected = true;
    memset(expr, '(', sizeof expr - 1);
    expr[sizeof expr - 1] = '\0';
    CHECK_EQ(scenario_select(expr, &crash_ob2, &selected, &fault), ERR_USAGE);
}
