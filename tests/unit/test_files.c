/* base/files, base/process and base/thread against the real system. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "base/files.h"
#include "base/process.h"
#include "base/processor.h"
#include "base/thread.h"
#include "isolate.h"
#include "test.h"

static char *in_scratch(struct arena *keep, const char *name)
{
    char *path = path_join(keep, test_scratch(), name);
    REQUIRE(path != NULL);
    return path;
}

static void run_actor(const char *script, uint32_t limit_ms, const char *input,
                      struct process_result *out, struct arena *keep)
{
    const char *argv[] = {test_actor(), script, NULL};
    const char *environment[] = {"TWINSTACK_TEST=yes", NULL};
    struct process_request request = {.argv = argv,
                                      .environment = environment,
                                      .input = input,
                                      .input_bytes = input != NULL ? strlen(input) : 0,
                                      .limit_ms = limit_ms,
                                      .output_max_bytes = 100000};
    struct fault fault = FAULT_INIT;
    REQUIRE(process_run(&request, keep, out, &fault) == ERR_NONE);
}

TEST(files_come_back_as_they_were_written)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct file_map map;
    char *text;
    size_t bytes;

    arena_init(&keep, 0);
    const char *path = in_scratch(&keep, "a");
    CHECK_EQ(file_write(path, "hello", 5, &fault), ERR_NONE);
    CHECK_EQ(file_write(path, "hullo!", 6, &fault), ERR_NONE); /* replaces the file */
    REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
    CHECK_EQ(map.bytes, 6);
    CHECK_MEM(map.data, "hullo!", 6);
    file_unmap(&map);
    CHECK_EQ(file_read(path, 100, &keep, &text, &bytes, &fault), ERR_NONE);
    CHECK_STR(text, "hullo!");
    CHECK_EQ(path_bytes(path), 6);
    CHECK_EQ(file_write(path, "", 0, &fault), ERR_NONE);
    REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
    CHECK_EQ(map.bytes, 0);
    CHECK(map.data != NULL);
    file_unmap(&map);
    arena_free(&keep);
}

#ifndef _WIN32
/* A device is written to directly. As root, a rename would put a regular file in its place. */
TEST(a_device_is_written_to_and_stays_a_device)
{
    struct arena keep;
    struct fault fault = FAULT_INIT, ignored = FAULT_INIT;
    struct stat info;
    arena_init(&keep, 0);
    const char *device = in_scratch(&keep, "null");
    const char *source = in_scratch(&keep, "source");
    test_write(source, "bytes", 5);
    if (mknod(device, S_IFCHR | 0600, makedev(1, 3)) != 0) {
        arena_free(&keep);
        SKIP("this user may not make a device");
    }
    const bool usable = access(device, W_OK) == 0 && file_write(device, "x", 1, &fault) == ERR_NONE;
    CHECK(stat(device, &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(path_is_stream(device));
    (void)file_copy(source, device, &ignored);
    CHECK(stat(device, &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(path_is_file(source));
    (void)unlink(device);
    arena_free(&keep);
    if (!usable)
        SKIP("devices cannot be opened in this folder");
}

TEST(a_pipe_is_written_to_and_stays_a_pipe)
{
    struct arena keep;
    struct stat info;
    arena_init(&keep, 0);
    const char *pipe_path = in_scratch(&keep, "pipe");
    REQUIRE(mkfifo(pipe_path, 0600) == 0);
    struct fault fault = FAULT_INIT;
    const pid_t reader = fork();
    REQUIRE(reader >= 0);
    if (reader == 0) {
        char got[8];
        FILE *in = fopen(pipe_path, "rb");
        _exit(in != NULL && fread(got, 1, sizeof got, in) == 5 ? 0 : 1);
    }
    CHECK_EQ(file_write(pipe_path, "hello", 5, &fault), ERR_NONE);
    int status = 1;
    CHECK(waitpid(reader, &status, 0) == reader && status == 0);
    CHECK(stat(pipe_path, &info) == 0 && S_ISFIFO(info.st_mode));
    arena_free(&keep);
}

TEST(a_folder_in_memory_is_like_any_other)
{
    static const struct {
        const char *path;
        bool is_stream;
    } rows[] = {
        {"/dev/null", true},          {"/dev/stdout", true}, {"/dev/fd/1", true},
        {"/proc/self/fd/1", true},    {"/dev/shm", false},   {"/dev/shm/not-there.index", false},
        {"/devices/file.txt", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].path);
        CHECK_EQ(path_is_stream(rows[i].path), rows[i].is_stream);
    }
}

TEST(what_a_symbolic_link_leads_to_is_found)
{
    static const struct {
        const char *name, *to, *want;
    } rows[] = {
        {"of a file that is there", "there", "there"},
        {"of a file that is not there", "gone", "gone"},
        {"of a link", "first", "there"},
        {"no link", NULL, "last"},
        {"to itself", "last", "last"},
    };
    struct arena keep;
    arena_init(&keep, 0);
    test_write(in_scratch(&keep, "there"), "x", 1);
    REQUIRE(symlink("there", in_scratch(&keep, "first")) == 0);
    const char *last = in_scratch(&keep, "last");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        (void)unlink(last);
        REQUIRE(rows[i].to == NULL || symlink(rows[i].to, last) == 0);
        CHECK_STR(path_base(path_followed(last, &keep)), rows[i].want);
    }
    CHECK_STR(path_followed("/dev/null", &keep), "/dev/null");
    arena_free(&keep);
}

TEST(a_symbolic_link_is_followed)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;
    struct stat info;
    char *text;
    size_t bytes;
    arena_init(&keep, 0);
    const char *link_path = in_scratch(&keep, "link");
    const char *target = in_scratch(&keep, "target");
    REQUIRE(symlink("target", link_path) == 0);
    static const char *const texts[] = {"first", "again"}; /* the target is missing at first */
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CHECK_EQ(file_write(link_path, texts[i], 5, &fault), ERR_NONE);
        CHECK(lstat(link_path, &info) == 0 && S_ISLNK(info.st_mode));
        CHECK(lstat(target, &info) == 0 && S_ISREG(info.st_mode));
        REQUIRE(file_read(target, 100, &keep, &text, &bytes, &fault) == ERR_NONE);
        CHECK_STR(text, texts[i]);
    }
    arena_free(&keep);
}
#endif

TEST(files_faults_name_the_path)
{
    struct arena keep;
    struct file_map map;
    char *text;
    size_t bytes;
    struct fault absent = FAULT_INIT, folder = FAULT_INIT, large = FAULT_INIT;

    arena_init(&keep, 0);
    CHECK_EQ(file_map(in_scratch(&keep, "none"), &map, &absent), ERR_ABSENT);
    CHECK_EQ(absent.reason, FAULT_NO_REASON); /* the disk is not full */
    CHECK_HAS(absent.path, "none");
    CHECK_EQ(file_map(test_scratch(), &map, &folder), ERR_UNSUPPORTED);
    const char *path = in_scratch(&keep, "large");
    test_write(path, "0123456789", 10);
    CHECK_EQ(file_read(path, 9, &keep, &text, &bytes, &large), ERR_LIMIT);
    arena_free(&keep);
}

TEST(folders_are_made_listed_in_order_and_removed)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;
    const char **names;
    size_t count;

    arena_init(&keep, 0);
    CHECK_EQ(folder_make(in_scratch(&keep, "x/y/z"), &fault), ERR_NONE);
    CHECK_EQ(folder_make(in_scratch(&keep, "x/y/z"), &fault), ERR_NONE);
    for (int i = 99; i >= 10; i--) {
        char name[32];
        (void)snprintf(name, sizeof name, "x/y/f%d", i);
        test_write(in_scratch(&keep, name), "", 0);
    }
    REQUIRE(folder_list(in_scratch(&keep, "x/y"), &keep, &names, &count, &fault) == ERR_NONE);
    REQUIRE(count == 91);
    CHECK_STR(names[0], "f10");
    CHECK_STR(names[89], "f99");
    CHECK_STR(names[90], "z");
    CHECK_EQ(path_remove(in_scratch(&keep, "x"), &fault), ERR_NONE);
    CHECK(!path_is_folder(in_scratch(&keep, "x")));
    CHECK_EQ(path_remove(in_scratch(&keep, "x"), &fault), ERR_NONE);
    CHECK_EQ(folder_list(in_scratch(&keep, "x"), &keep, &names, &count, &fault), ERR_ABSENT);
    arena_free(&keep);
}

/* Windows has a limit of 260 UTF-16 units for paths that are used as they are. */
TEST(a_long_path_is_made_absolute)
{
    struct arena keep;
    struct fault fault = FAULT_INIT;

    arena_init(&keep, 0);
    const char *folder = in_scratch(&keep, "long");
    for (int i = 0; i < 4; i++)
        folder = path_join(
            &keep, folder,
            "a-name-of-a-hundred-characters-of-which-each-one-is-needed-so-that-four-are-too-long-"
            "for-plain-win32");
    REQUIRE(folder_make(folder, &fault) == ERR_NONE);
    const char *file = path_join(&keep, folder, "file.txt");
    test_write(file, "x", 1);
    const char *rows[] = {folder, file};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *found = path_absolute(rows[i], &keep);
        REQUIRE(found != NULL && strlen(found) > 400);
        CHECK_STR(path_base(found), path_base(rows[i]));
        CHECK(path_is_file(found) == (i == 1));
    }
    CHECK(path_absolute(path_join(&keep, folder, "none"), &keep) == NULL);
    arena_free(&keep);
}

TEST(paths_know_both_separators)
{
    struct arena keep;
    arena_init(&keep, 0);
    CHECK_STR(path_base("C:\\a\\b.dll"), "b.dll");
    CHECK_STR(path_base("/usr/lib/x"), "x");
    CHECK_STR(path_base("plain"), "plain");
    CHECK_STR(path_join(&keep, "a", "b"), "a/b");
    CHECK_STR(path_join(&keep, "a/", "b"), "a/b");
    CHECK_STR(path_join(&keep, "", "b"), "b");
    arena_free(&keep);
}

TEST(process_gives_output_errors_and_the_exit_code)
{
    struct arena keep;
    struct process_result out;
    arena_init(&keep, 0);
    run_actor("cat\nenv TWINSTACK_TEST\nerr bad\nexit 7", 5000, "in\n", &out, &keep);
    CHECK_STR(out.output, "in\nyes\n");
    CHECK_STR(out.errors, "bad\n");
    CHECK_EQ(out.exit_code, 7);
    CHECK(!out.timed_out);
#ifndef _WIN32 /* Wine reports no peak for a process that has ended */
    CHECK(out.peak_bytes > 0);
    run_actor("hold 90000000", 20000, "", &out, &keep);
    CHECK(out.peak_bytes > 90000000);
#endif
    arena_free(&keep);
}

TEST(process_over_its_limit_is_ended_with_all_it_started)
{
    struct arena keep;
    struct process_result out;
    arena_init(&keep, 0);
    const uint64_t start_ns = clock_ns();
    run_actor("spawn 30", 200, NULL, &out, &keep);
    CHECK(out.timed_out);
    CHECK(clock_ns() - start_ns < isolate_seconds(10) * UINT64_C(1000000000));
    arena_free(&keep);
}

#ifndef _WIN32 /* there an interruption comes from a console */
TEST(process_that_does_not_poll_ends_within_a_second_of_an_interruption)
{
    _Static_assert(PROCESS_INTERRUPT_LIMIT_MS <= 500, "the rest is for what a busy machine adds");
    struct arena keep;
    struct process_result out;
    arena_init(&keep, 0);
    run_actor("interrupted 7", 20000, NULL, &out, &keep);
    CHECK_EQ(out.exit_code, 7);
    CHECK(out.wall_ns >= PROCESS_INTERRUPT_LIMIT_MS * 1000000U);
    arena_free(&keep);
}
#endif

TEST(process_keeps_no_more_output_than_asked_and_says_so)
{
    struct arena keep;
    struct process_result out;
    arena_init(&keep, 0);
    run_actor("zeros 300000", 5000, NULL, &out, &keep);
    CHECK_EQ(out.output_bytes, 100000);
    CHECK(out.output_cut);
    CHECK_EQ(out.exit_code, 0);
    arena_free(&keep);
}

TEST(process_that_does_not_read_its_input_is_no_problem)
{
    struct arena keep;
    struct process_result out;
    const size_t bytes = 1 << 20;
    arena_init(&keep, 0);
    char *input = arena_alloc(&keep, bytes + 1);
    REQUIRE(input != NULL);
    memset(input, 'x', bytes);
    run_actor("deaf\nout done", 5000, input, &out, &keep);
    CHECK_STR(out.output, "done\n");
    arena_free(&keep);
}

#ifndef _WIN32
TEST(a_file_that_shrinks_while_it_is_read_is_an_error)
{
    enum { BYTES = 1 << 16, EXIT_INPUT = 3 };
    struct fault fault = FAULT_INIT;
    struct file_map map;
    char path[600];
    int status = 0;
    char *zeros = calloc(1, BYTES);
    REQUIRE(zeros != NULL);
    (void)snprintf(path, sizeof path, "%s/shrinks", test_scratch());
    test_write(path, zeros, BYTES);
    REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
    REQUIRE(truncate(path, 0) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        process_prepare();
        _exit(((const volatile char *)map.data)[BYTES / 2] == 0 ? 0 : 1);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INPUT);
    file_unmap(&map);
    free(zeros);
}

TEST(process_that_nobody_waited_for_is_gone)
{
    char self[PROCESS_NAME_BYTES], name[PROCESS_NAME_BYTES + 32];
    siginfo_t ended;
    process_name_self(self);
    CHECK_EQ(process_life_of(self), PROCESS_ALIVE);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        _exit(0);
    REQUIRE(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) == 0);
    (void)snprintf(name, sizeof name, "%ld%s", (long)child, strchr(self, '@'));
    CHECK_EQ(process_life_of(name), PROCESS_GONE);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    CHECK_EQ(process_life_of(name), PROCESS_GONE);
}
#endif

#ifdef __linux__
/* What /proc says about the processors of process ID; "self": of the program that prints it. */
static void print_processors(const char *id, uint32_t processor, struct arena *keep,
                             struct process_result *out)
{
    const char *const argv[] = {"grep", "Cpus_allowed_list",
                                arena_printf(keep, "/proc/%s/status", id), NULL};
    const struct process_request request = {.argv = argv, .processor = processor};
    struct fault fault = FAULT_INIT;
    REQUIRE(argv[2] != NULL && process_run(&request, keep, out, &fault) == ERR_NONE);
}

TEST(a_program_stays_on_its_processor)
{
    struct process_result all, one, moved;
    struct arena keep;
    arena_init(&keep, 0);
    print_processors("self", 0, &keep, &all);
    CHECK_EQ(processor_number(0), -1);
    for (uint32_t n = 1; n <= thread_processors() + 1; n++) { /* counted round */
        const char *want = arena_printf(&keep, "Cpus_allowed_list:\t%d\n", processor_number(n));
        const pid_t child = fork();
        if (child == 0) {
            (void)pause();
            _exit(0);
        }
        const char *id = arena_printf(&keep, "%ld", (long)child);
        REQUIRE(child > 0 && want != NULL && id != NULL);
        print_processors("self", n, &keep, &one);
        processor_move((uint64_t)child, -1);
        print_processors(id, 0, &keep, &moved);
        CHECK_STR(moved.output, all.output);
        processor_move((uint64_t)child, processor_number(n));
        print_processors(id, 0, &keep, &moved);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        CHECK_STR(one.output, want);
        CHECK_STR(moved.output, want);
    }
    print_processors("self", 0, &keep, &one);
    CHECK_STR(one.output, all.output); /* ours are as before */
    processor_move(UINT64_MAX, 0);     /* no such process: nothing */
    arena_free(&keep);
}
#endif

TEST(process_absent_program_is_absent)
{
    struct arena keep;
    struct process_result out;
    struct fault fault = FAULT_INIT;
    const char *argv[] = {"no-such-program-here", NULL};
    const struct process_request request = {.argv = argv};
    arena_init(&keep, 0);
    CHECK_EQ(process_run(&request, &keep, &out, &fault), ERR_ABSENT);
    CHECK_STR(fault.path, "no-such-program-here");
    arena_free(&keep);
}

struct counter {
    struct mutex *mutex;
    struct signal *full;
    unsigned count;
};

static void count_up(void *context)
{
    struct counter *c = context;
    for (int i = 0; i < 10000; i++) {
        mutex_lock(c->mutex);
        c->count++;
        if (c->count == 40000)
            signal_wake_all(c->full);
        mutex_unlock(c->mutex);
    }
}

TEST(threads_count_together)
{
    struct counter c = {mutex_new(), signal_new(), 0};
    struct thread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = thread_start(count_up, &c);
    mutex_lock(c.mutex);
    while (c.count < 40000)
        signal_wait(c.full, c.mutex);
    mutex_unlock(c.mutex);
    for (int i = 0; i < 4; i++)
        thread_join(threads[i]);
    CHECK_EQ(c.count, 40000);
    CHECK(thread_processors() >= 1);
    signal_free(c.full);
    mutex_free(c.mutex);
}

static volatile bool busy; /* written by the test, read by its threads */

static void compute(void *context)
{
    struct counter *started = context;
    mutex_lock(started->mutex);
    started->count++;
    signal_wake_all(started->full);
    mutex_unlock(started->mutex);
    while (busy)
        continue;
}

/* Windows has no load average, so it is measured there: a busy machine must show within one
 * measurement. On other systems the load of the last minute counts. */
TEST(overload_is_a_factor_that_a_busy_machine_raises)
{
    enum { THREADS_MAX = 64, FOR_EACH = 4, MOST = 16 };
    struct thread *threads[THREADS_MAX];
    struct counter started = {mutex_new(), signal_new(), 0};
    const uint32_t wanted = thread_processors() * FOR_EACH;
    uint32_t count = 0;

    busy = true;
    while (count < wanted && count < THREADS_MAX)
        threads[count++] = thread_start(compute, &started);
    mutex_lock(started.mutex);
    while (started.count < count) /* what has not begun makes no machine busy */
        signal_wait(started.full, started.mutex);
    mutex_unlock(started.mutex);
    const uint64_t start_ns = clock_ns();
    const uint32_t overload = thread_overload();
    CHECK(clock_ns() - start_ns < isolate_seconds(5) * UINT64_C(1000000000));
    CHECK(overload >= 1 && overload <= MOST);
#if defined(_WIN32)
    if (wanted <= THREADS_MAX)
        CHECK(overload >= 2);
    CHECK_EQ(thread_overload(), overload); /* kept for some seconds */
#endif
    busy = false;
    while (count > 0)
        thread_join(threads[--count]);
    signal_free(started.full);
    mutex_free(started.mutex);
}

enum { MUCH_BYTES = 64 << 20 };

/* Memory that is really allocated: the compiler must not optimise it away. */
static volatile char *take_much(void)
{
    volatile char *bytes = malloc(MUCH_BYTES);
    REQUIRE(bytes != NULL);
    for (size_t i = 0; i < MUCH_BYTES; i += 4096)
        bytes[i] = 1;
    return bytes;
}

TEST(a_peak_begins_anew_and_tells_what_was_added)
{
    const uint64_t held_bytes = memory_peak_restart();
    volatile char *bytes = take_much();
    CHECK(memory_held_bytes() >= held_bytes + MUCH_BYTES / 8 * 7); /* the count is coarse */
    free((void *)(uintptr_t)bytes);
    CHECK(memory_peak_beyond(held_bytes) >= MUCH_BYTES / 8 * 7);
}

/* No peak is given for a small child of a large process: it would be this process's own size. */
TEST(a_small_child_of_a_large_process_has_no_peak)
{
    struct arena keep;
    struct process_result out;
    volatile char *bytes = take_much();
    arena_init(&keep, 0);
    run_actor("exit 0", 5000, "", &out, &keep);
#ifdef _WIN32
    CHECK(out.peak_bytes < MUCH_BYTES); /* Windows measures each process by itself */
#else
    CHECK_EQ(out.peak_bytes, 0);
#endif
    arena_free(&keep);
    free((void *)(uintptr_t)bytes);
}

/* Giving memory back must change nothing that is read, and must leave memory that is no map. */
TEST(memory_that_is_given_back_reads_the_same)
{
    enum { BYTES = 24 << 20, STEP = 8 << 20 };
    char path[512];
    uint8_t *text = malloc(BYTES);
    struct fault fault = FAULT_INIT;
    struct file_map map;
    REQUIRE(text != NULL);
    for (uint32_t i = 0; i < BYTES; i++)
        text[i] = (uint8_t)(i * 7 + i / 251);
    (void)snprintf(path, sizeof path, "%s/mapped", test_scratch());
    test_write(path, text, BYTES);
    REQUIRE(file_map(path, &map, &fault) == ERR_NONE);
    for (uint64_t from = 0; from <= BYTES; from += STEP) {
        file_release(&map, from, STEP);
        CHECK_EQ(memcmp(map.data, text, BYTES), 0);
    }
    bool is_less = memory_mapped_bytes() == 0; /* the system does not report it */
    for (int i = 0; i < 10 && !is_less; i++) { /* its count is coarse, and may be late */
        const uint64_t mapped_bytes = memory_mapped_bytes();
        file_release(&map, 0, UINT64_MAX);
        is_less = memory_mapped_bytes() + BYTES / 2 <= mapped_bytes;
        CHECK_EQ(memcmp(map.data, text, BYTES), 0);
    }
    CHECK(is_less);
    const struct file_map copy = {.data = text, .bytes = BYTES};
    for (uint64_t from = 0; from <= BYTES; from += STEP)
        file_release(&copy, from, STEP);
    CHECK_EQ(memcmp(map.data, text, BYTES), 0);
    file_unmap(&map);
    free(text);
}
