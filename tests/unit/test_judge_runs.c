/* Judges that are Windows programs, or come with Wine: which command asks them, and what becomes of
 * their answer. A script is the launcher here, and says what the program would. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "engine/judge_pool.h"
#include "engine/judges.h"
#include "judge_asked.h"
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
    test_write(below(name), text, strlen(text));
    REQUIRE(chmod(below(name), 0755) == 0);
}

/* The smallest image for x64: Microsoft's PE format. */
static void put_image(const char *name)
{
    uint8_t file[0x200] = {'M', 'Z'};
    file[60] = 0x40;
    memcpy(file + 0x40, "PE\0\0\x64\x86", 6);
    file[0x54] = 0xf0; /* bytes of the optional header */
    file[0x58] = 0x0b; /* which is that of PE32+ */
    file[0x59] = 0x02;
    file[0x58 + 108] = 16; /* directories */
    test_write(below(name), file, sizeof file);
}

/* The launcher, and the debuggers of PATH, note their overrides and words, and what is beside the
 * program; then they do what MODE says. */
static void make_world(void)
{
    static const char *const images[] = {
        "judges/twinstack-dbghelp.exe", "judges/twinstack-dbghelp-x86.exe",
        "judges/twinstack-dbgeng.exe",  "microsoft/dbghelp.dll",
        "microsoft/dbgcore.dll",        "microsoft/msdia140.dll",
        "microsoft/dbgeng.dll",         "microsoft/dbgmodel.dll"};
    struct fault fault = FAULT_INIT;
    REQUIRE(folder_make(below("judges"), &fault) == ERR_NONE);
    REQUIRE(folder_make(below("microsoft"), &fault) == ERR_NONE);
    REQUIRE(folder_make(below("bin"), &fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(images); i++)
        put_image(images[i]);
    const char *script = arena_printf(
        &paths,
        "#!/bin/sh\ncase \"$*\" in *--version*) echo; echo ' fake version 1'; exit 0;; esac\n"
        "echo \"$WINEDLLOVERRIDES|$*|$(cd \"$(dirname \"$1\")\" 2>&- && echo *)\" >>'%s'\n. '%s'\n",
        below("log"), below("mode"));
    put_script("launcher", script);
    put_script("bin/winedbg", script);
    put_script("bin/lldb-19", script);
    test_environment("WINEDLLOVERRIDES", "");
    test_environment("TWINSTACK_JUDGES", "all");
    test_environment("PATH", arena_printf(&paths, "%s:/usr/bin:/bin", below("bin")));
    REQUIRE(microsoft_set(below("microsoft"), &fault) == ERR_NONE);
}

static const char *launcher[2];

struct asked {
    struct arena keep;
    struct crash_case crash;
    struct case_file files[2];
    struct opened_case opened;
    struct engine_input in;
};

/* Only the files of a case with IMAGES stay in a pool. */
static void open_asked(struct asked *a, enum cpu arch, uint32_t images)
{
    struct fault fault = FAULT_INIT;
    arena_init(&a->keep, 0);
    make_case("g05-minidump2-x86/minidump2.dmp", &a->crash, a->files);
    a->crash.arch = arch;
    a->crash.file_count += images;
    a->files[1] = (struct case_file){.role = ROLE_IMAGE, .path = "test_app.exe"};
    put_image("test_app.exe");
    launcher[0] = below("launcher");
    REQUIRE(opened_case_open(&a->crash, NULL, &a->keep, &a->opened, &fault) == ERR_NONE);
    a->in = (struct engine_input){
        .opened = &a->opened, .launcher = launcher, .judge_folder = below("judges")};
}

static void close_asked(struct asked *a)
{
    opened_case_close(&a->opened);
    arena_free(&a->keep);
}

/* What was noted since the last call. */
static const char *noted(void)
{
    struct fault ignored = FAULT_INIT;
    size_t bytes = 0;
    if (!path_is_file(below("log")))
        return "";
    const char *text = arena_printf(&paths, "%s", (const char *)test_read(below("log"), &bytes));
    (void)path_remove(below("log"), &ignored);
    return text;
}

#define ANSWER                                                                                     \
    "echo '{\"schema_version\":1,\"version\":\"tool 1.0\",\"threads\":[{\"id\":3060,\"crashed\":"  \
    "true,\"frames\":[{\"index\":0,\"inline_depth\":0,\"module\":\"test_app.exe\",\"offset\":"     \
    "\"0x429e\",\"function\":\"inner\"}]}]}'\n"
#define NATIVES "mscoree,mshtml,winedbg.exe=;dbghelp,dbgcore,msdia140,dbgeng,dbgmodel=n"

TEST(a_judge_is_asked_by_a_launcher)
{
    static const struct {
        const char *name;
        const struct judge *judge;
        enum cpu arch;
        const char *mode;
        enum status want;
        const char *log, *version, *why, *function;
    } rows[] = {
        {"dbghelp", &judge_dbghelp, CPU_X64, ANSWER, ERR_NONE,
         "|twinstack-dbghelp.exe dump.dmp .|dump.dmp twinstack-dbghelp.exe\n", "tool 1.0", NULL,
         "inner"},
        {"dbghelp of x86", &judge_dbghelp, CPU_X86, ANSWER, ERR_NONE,
         "|twinstack-dbghelp-x86.exe dump.dmp .|dump.dmp twinstack-dbghelp-x86.exe\n", "tool 1.0",
         NULL, "inner"},
        {"Microsoft's dbghelp", &judge_dbghelp_microsoft, CPU_X86, ANSWER, ERR_NONE,
         NATIVES "|microsoft/twinstack-dbghelp.exe dump.dmp .|dbgcore.dll dbghelp.dll msdia140.dll "
                 "twinstack-dbghelp.exe\n",
         "tool 1.0", NULL, "inner"},
        {"WinDbg's engine", &judge_dbgeng, CPU_X64, ANSWER, ERR_NONE,
         NATIVES
         "|microsoft-engine/twinstack-dbgeng.exe dump.dmp .|dbgcore.dll dbgeng.dll dbghelp.dll "
         "dbgmodel.dll msdia140.dll twinstack-dbgeng.exe\n",
         "tool 1.0", NULL, "inner"},
        {"it fails", &judge_dbghelp, CPU_X64, "printf 'first\\nlast words\\n\\n' >&2\nexit 3\n",
         ERR_IO, NULL, NULL, "its program ended with status 3: last words", NULL},
        {"it fails without a word", &judge_dbghelp, CPU_X64, "exit 4\n", ERR_IO, NULL, NULL,
         "its program ended with status 4", NULL},
        {"no answer", &judge_dbghelp, CPU_X64, "echo nonsense\necho why >&2\n", ERR_MALFORMED, NULL,
         NULL, "its answer cannot be read, and it printed: why", NULL},
        {"no answer and no word", &judge_dbghelp, CPU_X64, "echo nonsense\n", ERR_MALFORMED, NULL,
         NULL, NULL, NULL},
        {"it says why it has none", &judge_dbghelp, CPU_X64,
         "echo '{\"error\":\"no such dump\"}'\necho why >&2\n", ERR_IO, NULL, NULL, "no such dump",
         NULL},
        {"winedbg", &judge_winedbg, CPU_X86,
         "cat commands\nls winedbg.dmp >&2 || exit 1\nd=$(basename \"$PWD\")\necho Backtrace:\n"
         "echo \"=>0 0x0040429e inner+0x1() [$d/a.c:58] in test_app (0x0040429e)\"\n"
         "echo \"  1 0x0040429e outer+0x2() [$d/b.c:60] in test_app (0x0040429e)\"\n"
         "echo \"  2 0x0040429e outer+0x2() in test_app (0x0040429e)\"\n"
         "echo \"  3 0x004042a0 main+0x4() in test_app (0x004042a0)\"\necho again\n"
         "echo \"=>0 0x0040429e last+0x1() in test_app (0x0040429e)\"\n",
         ERR_NONE, "mscoree,mshtml=|winedbg --file commands winedbg.dmp|", "fake version 1", NULL,
         "inner"},
        {"winedbg without an end", &judge_winedbg, CPU_X86,
         "echo Backtrace:\necho \"=>0 0x0040429e inner+0x1() in test_app (0x0040429e)\"\n"
         "head -c 67108865 /dev/zero\n",
         ERR_LIMIT, NULL, NULL, "its program printed more than 64 MiB, and the rest is cut", NULL},
        {"winedbg without a backtrace", &judge_winedbg, CPU_X86, "echo no\n", ERR_NONE, NULL,
         "fake version 1", NULL, NULL},
        {"lldb", &judge_lldb, CPU_X86,
         "grep -q 'target create -c dump.dmp' commands || exit 1\n"
         "echo '  * frame #0: 0x0040429e test_app.exe`outer [inlined] inner at /x/a.c:58'\n"
         "echo '    frame #1: 0x0040429e test_app.exe`outer at /x/b.c:60'\n"
         "echo '    frame #2: 0x0040429e test_app.exe`outer at /x/b.c:60'\n"
         "echo '    frame #3: 0x004042a0 test_app.exe`main at /x/c.c:1'\n",
         ERR_NONE, "|--no-lldbinit -b -s commands|", "fake version 1", NULL, "inner"},
    };
    make_world();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_result result = {0};
        struct fault fault = FAULT_INIT;
        struct asked a;
        const char *why = NULL;
        const struct engine *engine = &rows[i].judge->engine;
        test_row(rows[i].name);
        open_asked(&a, rows[i].arch, 0);
        test_write(below("mode"), rows[i].mode, strlen(rows[i].mode));
        CHECK(engine->available(engine, &a.in, &why));
        CHECK(why == NULL);
        CHECK_EQ(engine->run(engine, &a.in, &a.keep, &result, &fault), rows[i].want);
        const char *log = noted();
        if (rows[i].log != NULL)
            CHECK_HAS(log, rows[i].log);
        CHECK_STR(result.version, rows[i].version);
        CHECK_STR(result.why, rows[i].why);
        CHECK(result.cost.total_ns > 0);
        if (rows[i].want == ERR_NONE && rows[i].function != NULL) {
            REQUIRE(result.stack_count == 1 && result.stacks[0].frame_count > 0);
            const struct frame *frames = result.stacks[0].frames;
            CHECK_STR(frames[0].function, rows[i].function);
            CHECK_HEX(frames[0].offset, 0x429e);
            if (CHECK_EQ(result.stacks[0].frame_count,
                         engine->parts & ENGINE_SHARES_DUMP_READER ? 4 : 1) &&
                result.stacks[0].frame_count == 4) {
                static const uint32_t index[] = {0, 0, 1, 2}, depth[] = {1, 0, 0, 0};
                static const char *const names[] = {"inner", "outer", "outer", "main"};
                for (int k = 0; k < 4; k++) {
                    CHECK_EQ(frames[k].index, index[k]);
                    CHECK_EQ(frames[k].inline_depth, depth[k]);
                    CHECK_STR(frames[k].function, names[k]);
                }
                CHECK_STR(frames[0].file, rows[i].judge == &judge_lldb ? "/x/a.c" : "a.c");
                CHECK_EQ(frames[0].line, 58);
            }
        } else if (rows[i].want == ERR_NONE) {
            CHECK_EQ(result.stacks[0].state, STACK_FAILED);
        }
        close_asked(&a);
    }
}

/* Of the pool's programs each is started once, and the folder of the case's files is numbered. */
TEST(a_judge_that_stays_is_asked_in_lines)
{
    static const struct {
        const char *name;
        const struct judge *judge;
        const char *mode, *log;
        enum status want;
        bool warm[3];
        const char *why;
    } rows[] = {
        {"it stays",
         &judge_dbghelp,
         "while read -r q; do\necho \"$q\" >>\"$0.q\"\n" ANSWER "done\n",
         "|twinstack-dbghelp.exe --serve|1 twinstack-dbghelp.exe\n",
         ERR_NONE,
         {false, true, true},
         NULL},
        {"Microsoft's",
         &judge_dbghelp_microsoft,
         "while read -r q; do\necho \"$q\" >>\"$0.q\"\n" ANSWER "done\n",
         NATIVES "|microsoft/twinstack-dbghelp.exe --serve|dbgcore.dll dbghelp.dll msdia140.dll "
                 "twinstack-dbghelp.exe\n",
         ERR_NONE,
         {false, true, true},
         NULL},
        {"it ends",
         &judge_dbghelp,
         "read -r q\necho \"$q\" >>\"$0.q\"\nexit 1\n",
         NULL,
         ERR_IO,
         {false, false, false},
         "its program ended before it answered"},
    };
    make_world();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct engine *engine = &rows[i].judge->engine;
        struct judge_pool *pool = NULL;
        struct fault fault = FAULT_INIT;
        struct asked a;
        size_t bytes = 0;
        test_row(rows[i].name);
        open_asked(&a, CPU_X64, 1);
        test_write(below("mode"), rows[i].mode, strlen(rows[i].mode));
        REQUIRE(judge_pool_open(below("pool"), &pool, &fault) == ERR_NONE);
        CHECK_STR(judge_pool_folder(pool), below("pool"));
        a.in.judges = pool;
        for (int turn = 0; turn < 3; turn++) {
            struct engine_result result = {0};
            fault_clear(&fault);
            CHECK_EQ(engine->run(engine, &a.in, &a.keep, &result, &fault), rows[i].want);
            CHECK_EQ(result.warm, rows[i].warm[turn]);
            CHECK_STR(result.why, rows[i].why);
            if (rows[i].want == ERR_NONE && CHECK_EQ(result.stack_count, 1))
                CHECK_STR(result.stacks[0].frames[0].function, "inner");
        }
        judge_pool_close(pool);
        const char *log = noted();
        if (rows[i].log != NULL)
            CHECK_STR(log, rows[i].log);
        const char *questions = (const char *)test_read(below("launcher.q"), &bytes);
        CHECK(bytes == 3 * strlen("1/dump.dmp\t1\n") &&
              strncmp(questions, "1/dump.dmp\t1\n1/dump.dmp\t1\n1/dump.dmp\t1\n", bytes) == 0);
        REQUIRE(path_remove(below("launcher.q"), &fault) == ERR_NONE || fault.code == ERR_IO);
        close_asked(&a);
    }
}

/* Of the first 65 questions the 33rd and the last one are asked with nothing loaded. */
TEST(a_judge_is_started_afresh_now_and_then)
{
    struct judge_pool *pool = NULL;
    struct fault fault = FAULT_INIT;
    REQUIRE(judge_pool_open(below("pool"), &pool, &fault) == ERR_NONE);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(judge_pool_takes_sample(pool, "judge:a"), i == 32 || i == 64);
        if (i < 40)
            CHECK_EQ(judge_pool_takes_sample(pool, "judge:b"), i == 32);
    }
    CHECK(judge_pool_version(pool, "wine") == NULL);
    judge_pool_set_version(pool, "wine", "wine-10.0");
    judge_pool_set_version(pool, "lldb", "19");
    CHECK_STR(judge_pool_version(pool, "wine"), "wine-10.0");
    CHECK_STR(judge_pool_version(pool, "lldb"), "19");
    judge_pool_close(pool);
}

TEST(a_judge_that_lacks_something_says_what)
{
    static const struct {
        const char *name;
        const struct judge *judge;
        bool launcher, folder, microsoft, program;
        const char *wanted, *why; /* NULL: it is there */
    } rows[] = {
        {"all there", &judge_dbgeng, true, true, true, true, "", NULL},
        {"no launcher", &judge_dbghelp, false, true, true, true, "",
         "a Windows program, and no launcher was named"},
        {"no launcher of Wine", &judge_winedbg, false, true, true, true, "all",
         "a program of Wine, and no launcher was named"},
        {"no folder", &judge_dbghelp, true, false, true, true, "", "no folder of judges was named"},
        {"no program", &judge_dbghelp, true, true, true, false, "",
         "twinstack-dbghelp.exe is not in the folder of judges"},
        {"not Microsoft's files", &judge_dbgeng, true, true, false, true, "", microsoft_why_not},
        {"not asked for", &judge_winedbg, true, true, true, true, "lldb",
         "asked only when TWINSTACK_JUDGES names it"},
        {"asked for", &judge_winedbg, true, true, true, true, "lldb,winedbg", NULL},
    };
    make_world();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct asked a;
        const char *why = NULL;
        test_row(rows[i].name);
        open_asked(&a, CPU_X64, 0);
        test_environment("TWINSTACK_JUDGES", rows[i].wanted);
        if (!rows[i].launcher)
            a.in.launcher = NULL;
        if (!rows[i].folder)
            a.in.judge_folder = NULL;
        if (!rows[i].program)
            a.in.judge_folder = below("bin");
        if (!rows[i].microsoft)
            REQUIRE(path_remove(below("microsoft/dbgmodel.dll"), &fault) == ERR_NONE);
        CHECK_EQ(judge_available(&rows[i].judge->engine, &a.in, &why), rows[i].why == NULL);
        CHECK_STR(why, rows[i].why);
        put_image("microsoft/dbgmodel.dll");
        close_asked(&a);
    }
}

TEST(a_judge_that_does_not_start_is_found_out)
{
    static const struct {
        const char *name, *mode;
        enum status want;
        const char *says;
    } rows[] = {{"it ends when it is asked nothing", "read -r q || exit 0\nexit 5\n", ERR_NONE, ""},
                {"it does not run", "exit 1\n", ERR_IO, "it does not run here"}};
    make_world();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct asked a;
        char text[600];
        test_row(rows[i].name);
        open_asked(&a, CPU_X64, 0);
        test_write(below("mode"), rows[i].mode, strlen(rows[i].mode));
        CHECK_EQ(judge_starts(&judge_dbghelp.engine, &a.in, &a.keep, &fault), rows[i].want);
        if (fault.code != ERR_NONE) {
            fault_describe(&fault, text, sizeof text);
            CHECK_HAS(text, rows[i].says);
        }
        CHECK_HAS(noted(), "judges/twinstack-dbghelp.exe --serve|");
        close_asked(&a);
    }
}
