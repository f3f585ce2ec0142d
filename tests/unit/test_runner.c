/* Wine prefixes, the programs in them, and their paths: collect/runner.h. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/thread.h"
#include "made_wine.h"

/* ---- paths of two systems ----------------------------------------------------------------- */

TEST(a_file_of_this_host_has_a_path_of_windows)
{
    static const struct {
        const char *name, *victims, *out, *path, *want;
    } rows[] = {
        {"a victim", "/t/victims", "/t/out", "/t/victims/a/b.exe", "V:\\a\\b.exe"},
        {"of a case", "/t/victims", "/t/out", "/t/out/cases/x.part", "O:\\cases\\x.part"},
        {"a folder whose name only begins so", "/t/victims", "/t/out", "/t/victims2/a", NULL},
        {"the folder itself", "/t/victims", "/t/out", "/t/victims", NULL},
        {"elsewhere", "/t/victims", "/t/out", "/usr/a", NULL},
        {"no drives", NULL, NULL, "/t/victims/a", NULL},
        {"one drive", NULL, "/t/out", "/t/out/a", "O:\\a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct runner runner = {.drives = {rows[i].victims, rows[i].out}};
        test_row(rows[i].name);
        CHECK_STR(runner_guest_path(&runner, rows[i].path, kept()),
                  rows[i].want != NULL ? rows[i].want : rows[i].path);
    }
}

TEST(a_path_of_windows_leads_to_a_file_of_this_host)
{
    static const struct {
        const char *name, *path, *want; /* below the scratch folder; NULL: there is none */
        bool without_prefix;
    } rows[] = {
        {"of the prefix", "C:\\windows\\system32\\kernel32.dll",
         "prefix/drive_c/windows/system32/kernel32.dll", false},
        {"in other letters", "c:\\Windows\\System32\\KERNEL32.DLL",
         "prefix/drive_c/windows/system32/kernel32.dll", false},
        {"no prefix", "C:\\windows\\system32\\kernel32.dll", NULL, true},
        {"a victim", "V:\\Victims-ob2.exe", "victims/Victims-ob2.exe", false},
        {"a small drive letter", "v:\\Victims-ob2.exe", "victims/Victims-ob2.exe", false},
        {"of a case", "O:\\cases\\dump.dmp", "out/cases/dump.dmp", false},
        {"a drive that is none of ours", "D:\\Victims-ob2.exe", NULL, false},
        {"a drive alone", "V:\\", NULL, false},
        {"relative to the folder of a drive", "V:.Victims-ob2.exe", NULL, false},
        {"no colon", "V\\\\Victims-ob2.exe", NULL, false},
        {"no such file", "V:\\none.exe", NULL, false},
        {"a folder", "O:\\cases", NULL, false},
        {"of another machine", "\\\\server\\share\\a.exe", NULL, false},
        {"nothing", "", NULL, false},
    };
    struct runner runner = {.drives = {below("victims"), below("out")}};
    (void)put("prefix/drive_c/windows/system32/kernel32.dll", "k");
    (void)put("victims/Victims-ob2.exe", "v");
    (void)put("out/cases/dump.dmp", "d");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        runner.prefix = rows[i].without_prefix ? NULL : below("prefix");
        CHECK_STR(runner_host_path(&runner, rows[i].path, kept()),
                  rows[i].want != NULL ? below(rows[i].want) : NULL);
    }
    test_row("from the root, by Wine's Z:");
    char *path = arena_printf(kept(), "Z:%s", below("out/cases/dump.dmp"));
    for (char *p = path; *p != '\0'; p++)
        *p = (char)(*p == '/' ? '\\' : *p);
    runner.prefix = NULL;
    CHECK_STR(runner_host_path(&runner, path, kept()), below("out/cases/dump.dmp"));
}

/* ---- prefixes ----------------------------------------------------------------------------- */

TEST(a_launcher_that_is_missing_is_named)
{
    static const char *const none[] = {NULL}, *const absent[] = {"no-such-wine", NULL};
    static const struct {
        const char *name;
        const char *const *launcher;
        const char *path, *hint;
    } rows[] = {
        {"no list", NULL, "", "or name one with --launcher"},
        {"an empty list", none, "", "or name one with --launcher"},
        {"not there", absent, "no-such-wine", "or name another with --launcher"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct collect_options options = options_of(rows[i].launcher);
        struct runner runner;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(runner_open(&options, 0, &runner, &fault), ERR_ABSENT);
        CHECK_STR(fault.path, rows[i].path);
        CHECK_HAS(fault.hint, rows[i].hint);
        CHECK(!path_is_folder(options.prefix_folder));
        runner_close(&runner);
    }
}

TEST(a_prefix_is_made_once_and_again_after_a_failure)
{
    static const char made[] = "boot -i\nserver -w prefix\n";
    static const char warm[] = "server -p prefix\nwine cmd /c exit 0\n";
    static const char ended[] = "server -k prefix\nserver -w prefix\n";
    static const struct {
        const char *name;
        bool fails, cold; /* before it is opened */
        enum status want;
        bool makes, made; /* it is whole afterwards */
    } rows[] = {
        {"wineboot fails", true, false, ERR_IO, true, false},
        {"what it left is made again", false, false, ERR_NONE, true, true},
        {"it is there", false, false, ERR_NONE, false, true},
        {"nothing starts in it", false, true, ERR_IO, false, true},
    };
    const struct collect_options options = options_of(put_wine());
    CHECK(!runner_is_prepared(&options));
    (void)put("prefix/.update-timestamp", "of an attempt that was killed");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct runner runner;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        (void)remove(below("fails"));
        (void)remove(below("cold"));
        if (rows[i].fails || rows[i].cold)
            (void)put(rows[i].fails ? "fails" : "cold", "");
        CHECK_EQ(runner_open(&options, 0, &runner, &fault), rows[i].want);
        if (rows[i].want != ERR_NONE) {
            CHECK_STR(fault.path, below("prefix"));
            CHECK_HAS(fault.hint, "remove it: it is made again");
        }
        CHECK_STR(calls(), arena_printf(kept(), "%s%s",
                                        !rows[i].makes  ? ""
                                        : rows[i].fails ? "boot -i\n"
                                                        : made,
                                        rows[i].fails ? "" : warm));
        CHECK_EQ(runner_is_prepared(&options), rows[i].made);
        runner_close(&runner);
        CHECK_STR(calls(), ended);
    }
}

TEST(a_worker_has_a_clone_and_drives_of_its_own)
{
    const char *const dlls[] = {put("own/dbghelp.dll", "64"), put("own/dbgcore.dll", "64"), NULL};
    const char *const dlls_x86[] = {put("own/x86/dbghelp.dll", "32"), NULL};
    static const struct {
        const char *name;
        uint32_t worker;
        bool with_dlls, beside_run;
        const char *prefix, *override; /* of which the environment has this part */
        const char *dll, *dll_x86;     /* what dbghelp.dll of the prefix holds */
    } rows[] = {
        {"the first", 0, false, false, "prefix", "svchost.exe=", "wine", "wine"},
        {"the third", 2, false, false, "prefix-2", "svchost.exe=", "wine", "wine"},
        {"the first, with DLLs", 0, true, false, "prefix-0", "=;dbghelp,dbgcore=n,b", "64", "32"},
        {"a session beside a run has none", RUNNER_SESSION, true, true, "prefix-128",
         "svchost.exe=", "wine", "wine"},
    };
    struct collect_options options = options_of(put_wine());
    (void)put("prefix/system.reg", "");
    (void)put("prefix/dosdevices/o:", "of an earlier run");
    for (int i = 0; i < 2; i++) {
        const char *folder = i == 0 ? "system32" : "syswow64";
        (void)put(arena_printf(kept(), "prefix/drive_c/windows/%s/kernel32.dll", folder), "");
        (void)put(arena_printf(kept(), "prefix/drive_c/windows/%s/dbghelp.dll", folder), "wine");
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct runner runner;
        struct fault fault = FAULT_INIT;
        char leads[4200] = "";
        test_row(rows[i].name);
        options.dlls = rows[i].with_dlls ? dlls : NULL;
        options.dlls_x86 = rows[i].with_dlls ? dlls_x86 : NULL;
        options.beside_run = rows[i].beside_run;
        if (rows[i].worker == 2)
            (void)put("prefix-2/of-before", "");
        REQUIRE(runner_open(&options, rows[i].worker, &runner, &fault) == ERR_NONE);
        CHECK_STR(runner.prefix, below(rows[i].prefix));
        CHECK_STR(runner.environment[0], arena_printf(kept(), "TWINSTACK_RUNNER=%ld-%u",
                                                      (long)getpid(), (unsigned)rows[i].worker));
        CHECK_STR(runner.environment[1],
                  arena_printf(kept(), "WINEPREFIX=%s", below(rows[i].prefix)));
        CHECK_HAS(runner.environment[4], "WINEDLLOVERRIDES=mshtml,");
        CHECK_STR(runner.environment[4] + strlen(runner.environment[4]) - strlen(rows[i].override),
                  rows[i].override);
        CHECK(runner.environment[6] == NULL); /* no loader */
        CHECK_STR(text_of(arena_printf(kept(), "%s/drive_c/windows/system32/dbghelp.dll",
                                       rows[i].prefix)),
                  rows[i].dll);
        CHECK_STR(text_of(arena_printf(kept(), "%s/drive_c/windows/syswow64/dbghelp.dll",
                                       rows[i].prefix)),
                  rows[i].dll_x86);
        CHECK_STR(text_of(arena_printf(kept(), "%s/drive_c/windows/system32/dbgcore.dll",
                                       rows[i].prefix)),
                  rows[i].dll[0] == '6' ? "64" : NULL);
        CHECK(text_of(arena_printf(kept(), "%s/of-before", rows[i].prefix)) == NULL);
        CHECK_EQ(runner.processor, rows[i].worker + 1);
        for (int drive = 0; drive < 2; drive++) {
            const char *link =
                arena_printf(kept(), "%s/dosdevices/%s", rows[i].prefix, drive == 0 ? "v:" : "o:");
            memset(leads, 0, sizeof leads);
            CHECK(readlink(below(link), leads, sizeof leads - 1) > 0);
            CHECK_STR(leads, below(drive == 0 ? "victims" : "out"));
            CHECK_STR(runner.drives[drive], below(drive == 0 ? "victims" : "out"));
        }
        runner_close(&runner);
    }
    CHECK_STR(text_of("prefix/drive_c/windows/system32/dbghelp.dll"), "wine");
}

/* How many processes have the mark of worker 0 of this process, once they are WANT; what is killed
 * needs a moment to end. */
static int started(int want)
{
    const char *command =
        arena_printf(kept(), "grep -lzsxF -e TWINSTACK_RUNNER=%ld-0 /proc/[0-9]*/environ | wc -l",
                     (long)getpid());
    int count = -1;
    for (int turn = 0; turn < 500 && count != want; turn++) {
        if (turn > 0)
            thread_sleep_ms(20);
        FILE *out = popen(command, "r");
        REQUIRE(out != NULL && fscanf(out, "%d", &count) == 1);
        (void)pclose(out);
    }
    return count;
}

TEST(what_was_started_is_ended)
{
    const struct collect_options options = options_of(put_wine());
    struct runner runner, unused = {.options = &options};
    struct fault fault = FAULT_INIT;
    REQUIRE(runner_open(&options, 0, &runner, &fault) == ERR_NONE);
    CHECK_EQ(started(1), 1);
    (void)calls();
    CHECK_EQ(runner_reset(&runner, &fault), ERR_NONE);
    CHECK_STR(calls(),
              "server -k prefix\nserver -w prefix\nserver -p prefix\nwine cmd /c exit 0\n");
    CHECK_EQ(started(1), 1); /* another one */
    runner_close(&runner);
    CHECK_EQ(started(0), 0);
    (void)calls();
    test_row("without Wine there is nothing to end");
    CHECK_EQ(runner_reset(&unused, &fault), ERR_NONE);
    runner_close(&unused);
    CHECK_STR(calls(), "");
}

/* ---- a prefix that another process uses ------------------------------------------------- */

/* A process that holds the lock of the prefix until it is ended. */
static pid_t hold(const char *prefix)
{
    int ready[2];
    char byte = 0;
    REQUIRE(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen(arena_printf(kept(), "%s.lock", prefix), "w");
        const bool held = file != NULL && lockf(fileno(file), F_TLOCK, 0) == 0;
        (void)!write(ready[1], held ? "y" : "n", 1);
        for (;;)
            (void)pause();
    }
    REQUIRE(child > 0 && read(ready[0], &byte, 1) == 1);
    REQUIRE(byte == 'y');
    (void)close(ready[0]);
    (void)close(ready[1]);
    return child;
}

struct patience {
    pid_t holder;
    int asked, ends_at, gives_up_at;
};

static void end_holder(pid_t holder)
{
    (void)kill(holder, SIGKILL);
    (void)waitpid(holder, NULL, 0);
}

static bool keeps_waiting(void *context)
{
    struct patience *p = context;
    p->asked++;
    if (p->asked == p->ends_at)
        end_holder(p->holder);
    return p->asked != p->gives_up_at;
}

TEST(a_prefix_in_use_is_waited_for)
{
    static const struct {
        const char *name;
        int ends_at, gives_up_at;
        enum status want;
        int asked;
    } rows[] = {
        {"until it is free", 2, 9, ERR_NONE, 2},
        {"until patience ends", 9, 3, ERR_TIMEOUT, 3},
    };
    struct collect_options options = options_of(put_wine());
    struct fault made = FAULT_INIT;
    REQUIRE(folder_make(options.prefix_folder, &made) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct patience patience = {.holder = hold(options.prefix_folder),
                                    .ends_at = rows[i].ends_at,
                                    .gives_up_at = rows[i].gives_up_at};
        struct runner runner;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        options.keeps_waiting = keeps_waiting;
        options.wait_context = &patience;
        (void)calls();
        CHECK_EQ(runner_open(&options, 0, &runner, &fault), rows[i].want);
        CHECK_EQ(patience.asked, rows[i].asked);
        if (rows[i].want != ERR_NONE)
            CHECK_HAS(fault.hint, "--prefix DIR takes another");
        runner_close(&runner);
        CHECK_EQ(strlen(calls()) > 0, rows[i].want == ERR_NONE); /* it is not ours to end */
        if (rows[i].want != ERR_NONE)
            end_holder(patience.holder);
    }
    test_row("two of one process share it");
    struct runner first, second;
    struct fault fault = FAULT_INIT;
    options.keeps_waiting = NULL;
    REQUIRE(runner_open(&options, 0, &first, &fault) == ERR_NONE);
    REQUIRE(runner_open(&options, 1, &second, &fault) == ERR_NONE);
    runner_close(&first);
    const pid_t child = fork(); /* another process still waits for it */
    if (child == 0) {
        FILE *file = fopen(arena_printf(kept(), "%s.lock", options.prefix_folder), "r+");
        _exit(file != NULL && lockf(fileno(file), F_TEST, 0) == 0 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQ(WEXITSTATUS(status), 1);
    runner_close(&second);
}

/* Wine says on standard error in which mode it starts a program, if it is asked to. */
TEST(a_runner_with_mode_differs_in_one_variable)
{
    const struct runner runner = {
        .environment = {"A=1", "WINEDEBUG_OF=x", "WINEDEBUG=-all", "WINEARCH=win64"}};
    static const char *const want[] = {"A=1", "WINEDEBUG_OF=x", "WINEDEBUG=-all,err+environ",
                                       "WINEARCH=win64", NULL};
    const struct runner loud = runner_with_mode(&runner);
    for (size_t i = 0; i < COUNT_OF(want); i++)
        CHECK_STR(loud.environment[i], want[i]);
    CHECK_STR(runner.environment[2], "WINEDEBUG=-all");
}

/* Of two programs, and ended once. */
TEST(victims_are_listed_by_one_runner)
{
    struct collect_options options = options_of(put_wine());
    struct scenario *scenarios = NULL;
    struct fault fault = FAULT_INIT;
    uint32_t count = 0;
    (void)put("prefix/system.reg", "");
    (void)put("victims/victims-ob0.exe", "MZ");
    (void)put("victims/victims-ob2.exe", "MZ");
    (void)put_program("bin/wine", arena_printf(kept(),
                                               "#!/bin/sh\necho \"wine $*\" >>%s\n"
                                               "[ \"$2\" != --list ] || echo "
                                               "'{\"name\":\"a\",\"kind\":\"crash\"}'\n",
                                               below("calls")));
    options.ask_victims = true;
    CHECK_EQ(collect_list(&options, kept(), &scenarios, &count, &fault), ERR_NONE);
    CHECK_EQ(count, 2);
    const char *asked =
        arena_printf(kept(), "wine %s --list --json\nwine %s --list --json\n",
                     below("victims/victims-ob0.exe"), below("victims/victims-ob2.exe"));
    CHECK_STR(calls(), arena_printf(kept(),
                                    "wine --version\nserver -p prefix\nwine cmd /c exit 0\n"
                                    "%sserver -k prefix\nserver -w prefix\n",
                                    asked));
}

TEST(a_session_starts_programs_in_its_prefix)
{
    static const struct {
        const char *name, *prefix;
        bool beside_run, without_wine;
    } rows[] = {
        {"alone", "prefix", false, false},
        {"beside a run", "prefix-128", true, false},
        {"without Wine", NULL, false, true},
    };
    struct collect_options options = options_of(put_wine());
    (void)put("prefix/system.reg", "");
    (void)put("prefix/dosdevices/x", "");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct collect_session *session;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        options.beside_run = rows[i].beside_run;
        options.prefix_folder = rows[i].without_wine ? NULL : below("prefix");
        REQUIRE(collect_session_open(&options, &session, &fault) == ERR_NONE);
        const char *const *word = collect_session_launcher(session);
        if (rows[i].prefix != NULL) {
            CHECK_STR(word[0], "env");
            CHECK_STR(word[2], arena_printf(kept(), "WINEPREFIX=%s", below(rows[i].prefix)));
            for (word++; *word != NULL && strchr(*word, '=') != NULL;)
                word++;
        }
        CHECK_STR(word[0], below("bin/wine"));
        CHECK(word[1] == NULL);
        collect_session_close(session);
    }
}
