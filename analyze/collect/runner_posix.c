/* Runs Windows programs through Wine: see runner.h.
 *
 * Facts of Wine 8 that shape this file:
 * - a launch takes 16-20 ms with a persistent wineserver and 430-520 ms without;
 *   `wineserver -p` must be the first to start one, or it changes nothing;
 * - what the first program of a session starts (services.exe, ...) inherits its outputs and
 *   outlives it, so the first program writes to /dev/null, or our pipes would never close;
 * - a session's start takes 600 ms of processor time, three quarters of it for programs that no
 *   victim and no judge needs: winemenubuilder, and the services for devices and events;
 * - without services.exe nothing lasts between programs, and each that starts alone first runs
 *   wineboot again: 11 times instead of 3 for eight victims;
 * - a clone of a prefix by hard links takes 20-28 ms and works;
 * - a server can vanish while its services go on, so at the end every process that has our mark
 *   in its environment is ended by its id.  WINEPREFIX cannot be the mark: this program and any
 *   shell that exports it have it, too. */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "base/processor.h"
#include "base/text.h"
#include "collect/program.h"
#include "collect/runner.h"

enum {
    PREFIX_LIMIT_MS = 180000,
    WARM_LIMIT_MS = 90000,
    SERVER_LIMIT_MS = 15000,
    ENVIRON_MAX_BYTES = 1 << 20,
    HOLDER_MAX_BYTES = 120, /* of its command line */
    ROW_MARK = 0,           /* rows of runner.environment */
    ROW_PREFIX = 1,
};

enum status host_describe(struct arena *keep, const char **os, const char **cpu,
                          struct fault *fault)
{
    struct utsname name;
    char line[512];
    FILE *info = fopen("/proc/cpuinfo", "r");

    *cpu = NULL;
    while (info != NULL && *cpu == NULL && fgets(line, sizeof line, info) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL && colon[1] == ' ')
            *cpu = arena_text(keep, colon + 2, strcspn(colon + 2, "\n"));
    }
    if (info != NULL)
        (void)fclose(info);
    *os = uname(&name) == 0
              ? arena_printf(keep, "%s %s %s", name.sysname, name.release, name.machine)
              : NULL;
    return *os != NULL ? ERR_NONE : fault_no_memory(fault, "host");
}

/* Runs a command line of the host in the runner's environment. */
static enum status run_host(const struct runner *runner, const char *const *argv, uint32_t limit_ms,
                            bool despite_interrupt, int *exit_code, struct fault *fault)
{
    struct process_request request;
    struct process_result result;
    struct arena scratch;

    memset(&request, 0, sizeof request);
    request.argv = argv;
    request.environment = runner->environment;
    request.limit_ms = limit_ms;
    request.despite_interrupt = despite_interrupt;
    request.processor = runner->processor;
    arena_init(&scratch, 0);
    if (process_run(&request, &scratch, &result, fault) == ERR_NONE && result.timed_out)
        fault_set_hint(fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "program", "it did not end in time");
    fault_set_path(fault, argv[0]);
    *exit_code = result.exit_code;
    arena_free(&scratch);
    return fault->code;
}

/* Runs a command of the shell, for programs that leave servers running; it closes its outputs
 * itself. Its $1: the loader that replaces `wine`; unset: none does. */
static enum status run_quiet(const struct runner *runner, const char *command, uint32_t limit_ms,
                             struct fault *fault)
{
    const char *const argv[] = {"sh", "-c", command, "sh", runner->loader, NULL};
    int exit_code = 0;

    if (run_host(runner, argv, limit_ms, false, &exit_code, fault) == ERR_NONE && exit_code != 0) {
        fault_set_hint(
            fault, ERR_IO, FAULT_NO_OFFSET, "Wine",
            "it did not start; if nothing else uses this prefix, remove it: it is made again");
        fault_set_path(fault, runner->prefix);
    }
    return fault->code;
}

/* Not mscoree: from .NET 8 on, a runtime imports it. While a prefix is made, it would ask for a
 * package of its own. */
#define NEVER_WANTED "mshtml,winedbg.exe,winemenubuilder.exe"
#define SERVICES ",winedevice.exe,plugplay.exe,svchost.exe"

/* A file in a prefix that is not whole yet. */
#define UNFINISHED "twinstack-unfinished"

/* With all services, since some of them write to the registry. What an attempt that was killed has
 * left is made again: Wine itself leaves out what its time stamp covers. */
static enum status make_prefix(const struct runner *runner, struct fault *fault)
{
    log_progress_news("making the Wine prefix %s, once; this takes 5 s to a minute",
                      runner->prefix);
    return run_quiet(runner,
                     "cd \"$WINEPREFIX\" && : >" UNFINISHED " && rm -f .update-timestamp && "
                     "export WINEDLLOVERRIDES=mscoree," NEVER_WANTED "= && "
                     "${1:+\"$1\"} wineboot -i </dev/null >/dev/null 2>&1 && wineserver -w && "
                     "rm " UNFINISHED,
                     PREFIX_LIMIT_MS, fault);
}

static enum status clone_prefix(const struct runner *runner, const char *from, struct fault *fault)
{
    const char *const argv[] = {"cp", "-al", from, runner->prefix, NULL};
    int exit_code = 0;

    if (path_remove(runner->prefix, fault) != ERR_NONE)
        return fault->code;
    if (run_host(runner, argv, WARM_LIMIT_MS, false, &exit_code, fault) == ERR_NONE &&
        exit_code != 0) {
        fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "clone of the Wine prefix", "cp failed");
        fault_set_path(fault, from);
    }
    return fault->code;
}

/* A process that is killed ends nothing, and Wine's persistent server would go on without it. So a
 * shell waits for the end of this process, which closes its input, and then ends what has the
 * runner's mark. It has a group of its own, and no mark. Without it everything works. */
static void start_guard(struct runner *runner)
{
    static const char script[] = "trap '' INT TERM HUP; cat >/dev/null; for round in 1 2 3; do"
                                 " ids=$(grep -lzsxF -e \"$1\" /proc/[0-9]*/environ | cut -d/ "
                                 "-f3); [ -n \"$ids\" ] || exit 0;"
                                 " kill -9 $ids 2>/dev/null; sleep 0.2; done";
    const char *const argv[] = {"sh", "-c", script, "sh", runner->environment[ROW_MARK], NULL};
    const struct process_request request = {.argv = argv};
    struct fault ignored = FAULT_INIT;
    if (runner->guard == NULL)
        (void)process_open(&request, &runner->guard, &ignored);
}

/* Starts the persistent server and Wine's services. */
static enum status warm_up(const struct runner *runner, struct fault *fault)
{
    return run_quiet(runner,
                     "exec </dev/null >/dev/null 2>&1; wineserver -p; "
                     "exec \"${1:-wine}\" cmd /c exit 0",
                     WARM_LIMIT_MS, fault);
}

/* True when the environment of process ID holds ROW.  TEXT: room for ENVIRON_MAX_BYTES. */
static bool process_has(uint64_t id, const char *row, char *text)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/environ", id);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t bytes = 0;
    ssize_t got = 1;

    while (file >= 0 && got > 0 && bytes < ENVIRON_MAX_BYTES - 1) {
        got = read(file, text + bytes, ENVIRON_MAX_BYTES - 1 - bytes);
        bytes += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0)
        (void)close(file);
    text[bytes] = '\0';
    for (size_t at = 0; at < bytes; at += strlen(text + at) + 1)
        if (strcmp(text + at, row) == 0)
            return true;
    return false;
}

/* Makes two drives, so that records and dumps name no folder of this machine: V: is the victims'
 * folder, O: the folder of the cases. */
static const struct {
    const char *link, *start;
} drives[] = {{"v:", "V:\\"}, {"o:", "O:\\"}};

enum { DRIVE_VICTIMS, DRIVE_OUT, DRIVE_COUNT };

static bool make_drives(struct runner *runner)
{
    const struct collect_options *options = runner->options;
    const char *folders[DRIVE_COUNT] = {options->victims_folder, options->out_folder};

    for (int i = 0; i < DRIVE_COUNT; i++) {
        const char *link =
            arena_printf(&runner->keep, "%s/dosdevices/%s", runner->prefix, drives[i].link);
        if (link == NULL)
            return false;
        (void)unlink(link);
        runner->drives[i] = folders[i] != NULL ? path_absolute(folders[i], &runner->keep) : NULL;
        if (runner->drives[i] != NULL && symlink(runner->drives[i], link) != 0)
            runner->drives[i] = NULL; /* then the path starts at Z: */
    }
    return true;
}

/* Calls FOUND with what this runner started, directly or not, and what still runs. */
static void each_started(const struct runner *runner, void (*found)(uint64_t id, int argument),
                         int argument)
{
    struct fault ignored = FAULT_INIT;
    struct arena scratch;
    const char **names = NULL;
    size_t count = 0;

    arena_init(&scratch, 0);
    const char *row = runner->environment[ROW_MARK];
    char *text = arena_alloc(&scratch, ENVIRON_MAX_BYTES);
    if (text != NULL && folder_list("/proc", &scratch, &names, &count, &ignored) == ERR_NONE) {
        for (size_t i = 0; i < count; i++) {
            uint64_t id = 0;
            if (text_parse_uint(names[i], strlen(names[i]), &id) && id > 1 &&
                process_has(id, row, text))
                found(id, argument);
        }
    }
    arena_free(&scratch);
}

static void end_by_signal(uint64_t id, int number)
{
    (void)kill((pid_t)id, number);
}

static void end_server(const struct runner *runner)
{
    static const char *const stop[] = {"wineserver", "-k", NULL};
    static const char *const wait[] = {"wineserver", "-w", NULL};
    struct fault ignored = FAULT_INIT;
    int exit_code = 0;

    (void)run_host(runner, stop, SERVER_LIMIT_MS, true, &exit_code, &ignored);
    fault_clear(&ignored);
    (void)run_host(runner, wait, SERVER_LIMIT_MS, true, &exit_code, &ignored);
    each_started(runner, end_by_signal, SIGKILL);
}

void runner_move(struct runner *runner, uint32_t processor)
{
    if (runner->prefix == NULL || processor == 0 || runner->processor == processor)
        return;
    runner->processor = processor;
    each_started(runner, processor_move, processor_number(processor));
}

/* A session of judges has Wine's. */
static bool takes_dlls(const struct collect_options *options)
{
    return options->dlls != NULL && !options->beside_run;
}

/* Puts DLLS, if any, into FOLDER of the system, if Wine has it. Wine finds the DLL there first,
 * where it is a fake of its own. The files of a clone are links, so they are removed before others
 * take their place. */
static enum status take_dlls(const struct runner *runner, const char *const *dlls,
                             const char *folder, struct fault *fault)
{
    enum { COPY_WORDS = 3, WORDS_MAX = 12 };
    const char *argv[WORDS_MAX + 1] = {"cp", "--remove-destination", "--"};
    struct arena scratch;
    size_t words = COPY_WORDS;
    int exit_code = 0;

    arena_init(&scratch, 0);
    for (const char *const *path = dlls; path != NULL && *path != NULL && words + 1 < WORDS_MAX;
         path++)
        argv[words++] = *path;
    argv[words] = arena_printf(&scratch, "%s/drive_c/windows/%s/", runner->prefix, folder);
    const char *kernel = path_join(&scratch, argv[words], "kernel32.dll");
    if (words > COPY_WORDS && kernel != NULL && path_is_file(kernel) &&
        run_host(runner, argv, WARM_LIMIT_MS, false, &exit_code, fault) == ERR_NONE &&
        exit_code != 0) {
        fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "DLLs of the victims", "cp failed");
        fault_set_path(fault, runner->prefix);
    }
    arena_free(&scratch);
    return fault->code;
}

static bool set_environment(struct runner *runner, const char *prefix, uint32_t worker)
{
    const char **row = runner->environment;

    if (prefix == NULL)
        return false;
    runner->prefix = prefix;
    runner->environment[ROW_MARK] =
        arena_printf(&runner->keep, "TWINSTACK_RUNNER=%ld-%u", (long)getpid(), (unsigned)worker);
    runner->environment[ROW_PREFIX] = arena_printf(&runner->keep, "WINEPREFIX=%s", prefix);
    row += ROW_PREFIX + 1;
    *row++ = "WINEARCH=win64";
    *row++ = "WINEDEBUG=-all";
    *row++ = takes_dlls(runner->options) ? "WINEDLLOVERRIDES=" NEVER_WANTED SERVICES
                                           "=;dbghelp,dbgcore=n,b"
                                         : "WINEDLLOVERRIDES=" NEVER_WANTED SERVICES "=";
    *row++ = "DISPLAY=";
    if (runner->loader != NULL)
        *row++ = arena_printf(&runner->keep, "WINELOADER=%s", runner->loader);
    return runner->environment[ROW_MARK] != NULL && runner->environment[ROW_PREFIX] != NULL;
}

/* Only one process at a time uses a prefix: its drives lead into one run's folders, and a process
 * that ends stops its server. All runners of this process share the lock, since it covers their
 * clones as well. */
static pthread_mutex_t holders_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders;
static int held_file = -1;

static const uint64_t SAY_AGAIN_NS = UINT64_C(30000000000);

/* "process 123 (twinstack run --db a.db)": who holds held_file. */
static const char *describe_holder(struct arena *keep)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char words[HOLDER_MAX_BYTES];

    if (fcntl(held_file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0)
        return "another process";
    const char *path = arena_printf(keep, "/proc/%ld/cmdline", (long)lock.l_pid);
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    const size_t bytes = file != NULL ? fread(words, 1, sizeof words - 1, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    words[bytes] = '\0';
    for (size_t i = 0; i + 1 < bytes; i++)
        if (words[i] == '\0' || iscntrl((unsigned char)words[i]))
            words[i] = ' ';
    const char *holder = arena_printf(keep, "process %ld (%s)", (long)lock.l_pid, words);
    return holder != NULL ? holder : "another process";
}

static enum status wait_for_prefix(const char *prefix, const struct collect_options *options,
                                   struct arena *keep, struct fault *fault)
{
    static const struct timespec pause = {.tv_nsec = 100000000};
    const char *path = arena_printf(keep, "%s.lock", prefix);
    const uint64_t since_ns = clock_ns();
    uint64_t said_ns = 0;

    held_file = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    while (held_file >= 0 && lockf(held_file, F_TLOCK, 0) != 0) {
        const bool gives_up =
            options->keeps_waiting != NULL && !options->keeps_waiting(options->wait_context);
        if (gives_up || process_interrupted()) {
            (void)close(held_file);
            return gives_up ? fault_set_hint(fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "Wine prefix",
                                             "another process uses it; --prefix DIR takes another")
                            : fault_set(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "Wine prefix");
        }
        const uint64_t now_ns = clock_ns();
        if (said_ns == 0 || now_ns - said_ns > SAY_AGAIN_NS) {
            log_warn("prefix=%s waiting for %s, which uses it (for %" PRIu64
                     " s so far; --prefix DIR takes another and does not wait)",
                     prefix, describe_holder(keep), (now_ns - since_ns) / 1000000000U);
            said_ns = now_ns;
        }
        (void)nanosleep(&pause, NULL);
    }
    if (said_ns != 0)
        log_warn("prefix=%s free after %" PRIu64 " s", prefix,
                 (clock_ns() - since_ns) / 1000000000U);
    return ERR_NONE; /* if no file can be made, Wine reports why */
}

static enum status hold_prefix(struct runner *runner, const char *prefix, struct fault *fault)
{
    (void)pthread_mutex_lock(&holders_lock);
    if (holders > 0 || wait_for_prefix(prefix, runner->options, &runner->keep, fault) == ERR_NONE) {
        holders++;
        runner->holds_prefix = true;
    }
    (void)pthread_mutex_unlock(&holders_lock);
    return fault->code;
}

static void let_prefix_go(struct runner *runner)
{
    if (!runner->holds_prefix)
        return;
    (void)pthread_mutex_lock(&holders_lock);
    if (--holders == 0 && held_file >= 0)
        (void)close(held_file);
    (void)pthread_mutex_unlock(&holders_lock);
}

static bool prefix_is_made(const char *prefix, struct arena *keep)
{
    const char *registry = path_join(keep, prefix, "system.reg");
    const char *unfinished = path_join(keep, prefix, UNFINISHED);
    return registry != NULL && path_is_file(registry) && unfinished != NULL &&
           !path_is_file(unfinished);
}

bool runner_is_prepared(const struct collect_options *options)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    const bool made =
        options->prefix_folder == NULL || prefix_is_made(options->prefix_folder, &scratch);
    arena_free(&scratch);
    return made;
}

enum status runner_open(const struct collect_options *options, uint32_t worker, struct runner *out,
                        struct fault *fault)
{
    memset(out, 0, sizeof *out);
    out->options = options;
    out->processor = worker + 1;
    arena_init(&out->keep, 0);
    if (options->launcher == NULL || options->launcher[0] == NULL)
        return fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "launcher for Windows programs",
                              "install Wine, or name one with --launcher");
    if (process_find(options->launcher[0], &out->keep) == NULL) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "launcher for Windows programs",
                       "install Wine, or name another with --launcher");
        fault_set_path(fault, options->launcher[0]);
        return fault->code;
    }
    if (options->prefix_folder == NULL)
        return ERR_NONE;
    if (folder_make(options->prefix_folder, fault) != ERR_NONE)
        return fault->code;
    const char *base = path_absolute(options->prefix_folder, &out->keep);
    const bool is_clone = worker != 0 || takes_dlls(options);
    const char *mine = !is_clone || base == NULL
                           ? base
                           : arena_printf(&out->keep, "%s-%u", base, (unsigned)worker);
    out->loader = base != NULL ? wine32_loader(base, options->launcher[0], &out->keep) : NULL;
    if (!set_environment(out, base, worker))
        return fault_no_memory(fault, "Wine prefix");
    if (hold_prefix(out, base, fault) != ERR_NONE) {
        out->prefix = NULL; /* nothing of ours is in it */
        return fault->code;
    }
    start_guard(out);
    if (out->loader != NULL)
        wine32_link(base, &out->keep);
    if (worker == 0 && !prefix_is_made(base, &out->keep))
        (void)make_prefix(out, fault);
    if (fault->code == ERR_NONE && !set_environment(out, mine, worker))
        fault_no_memory(fault, "Wine prefix");
    if (fault->code == ERR_NONE && is_clone && clone_prefix(out, base, fault) == ERR_NONE &&
        takes_dlls(options) && take_dlls(out, options->dlls, "system32", fault) == ERR_NONE)
        (void)take_dlls(out, options->dlls_x86, "syswow64", fault);
    if (fault->code == ERR_NONE && !make_drives(out))
        fault_no_memory(fault, "Wine prefix");
    if (fault->code != ERR_NONE)
        return fault->code;
    return warm_up(out, fault);
}

void runner_close(struct runner *runner)
{
    if (runner->prefix != NULL)
        end_server(runner);
    process_close(runner->guard);
    let_prefix_go(runner);
    arena_free(&runner->keep);
    memset(runner, 0, sizeof *runner);
}

enum status runner_reset(struct runner *runner, struct fault *fault)
{
    if (runner->prefix == NULL)
        return ERR_NONE;
    end_server(runner);
    return warm_up(runner, fault);
}

const char *runner_guest_path(const struct runner *runner, const char *path, struct arena *keep)
{
    for (int i = 0; i < DRIVE_COUNT; i++) {
        const size_t length = runner->drives[i] != NULL ? strlen(runner->drives[i]) : 0;
        if (length == 0 || strncmp(path, runner->drives[i], length) != 0 || path[length] != '/')
            continue;
        char *out = arena_printf(keep, "%s%s", drives[i].start, path + length + 1);
        for (char *p = out; p != NULL && *p != '\0'; p++)
            if (*p == '/')
                *p = '\\';
        return out;
    }
    return path;
}

/* The folder that the drive of a Windows path leads to; NULL: an unknown drive. */
static const char *drive_folder(const struct runner *runner, const char *windows_path,
                                struct arena *keep)
{
    if (text_glob("z:\\*", windows_path))
        return "";
    if (runner->prefix == NULL)
        return NULL;
    if (text_glob("c:\\*", windows_path))
        return path_join(keep, runner->prefix, "drive_c");
    for (int i = 0; i < DRIVE_COUNT; i++)
        if (tolower((unsigned char)windows_path[0]) == drives[i].link[0] &&
            windows_path[1] == ':' && windows_path[2] == '\\')
            return runner->drives[i];
    return NULL;
}

/* Names in the prefix are lower case. */
const char *runner_host_path(const struct runner *runner, const char *windows_path,
                             struct arena *keep)
{
    const char *folder = drive_folder(runner, windows_path, keep);
    char *inner = folder != NULL ? arena_string(keep, windows_path + 3) : NULL;

    for (char *p = inner; p != NULL && *p != '\0'; p++)
        if (*p == '\\')
            *p = '/';
    for (int attempt = 0; inner != NULL && attempt < 2; attempt++) {
        const char *path = arena_printf(keep, "%s/%s", folder, inner);
        if (path != NULL && path_is_file(path))
            return path;
        text_lower(inner);
    }
    return NULL;
}
