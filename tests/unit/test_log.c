/* What goes to stderr, as log.h states it: messages, and progress in each style. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE /* the size of a terminal */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/process.h"
#include "test.h"

/* Sends stderr to a file from now on, and returns the file's name. */
static const char *redirect(void)
{
    static char path[600];
    (void)snprintf(path, sizeof path, "%s/stderr", test_scratch());
    REQUIRE(freopen(path, "wb", stderr) != NULL);
    return path;
}

static void check_written(const char *path, const char *want)
{
    char text[1024] = "";
    size_t bytes;
    (void)fflush(stderr);
    const uint8_t *data = test_read(path, &bytes);
    memcpy(text, data, bytes < sizeof text ? bytes : sizeof text - 1);
    CHECK_STR(text, want);
}

TEST(a_message_has_a_line_and_its_level)
{
    const char *path = redirect();
    struct fault fault = FAULT_INIT;
    log_error("%d of %s", 1, "them");
    log_warn("two");
    log_note("three");
    (void)fault_set(&fault, ERR_ABSENT, FAULT_NO_OFFSET, "the file");
    log_fault(&fault);
    char want[600], described[400];
    fault_describe(&fault, described, sizeof described);
    (void)snprintf(want, sizeof want,
                   "twinstack: error: 1 of them\ntwinstack: warning: two\ntwinstack: note: three\n"
                   "twinstack: error: %s\n",
                   described);
    check_written(path, want);
}

TEST(progress_in_each_style)
{
    static const struct {
        const char *style;
        bool known;
        const char *want;
    } rows[] = {
        {"none", true, "twinstack: note: after\n"},
        {"plain", true, "twinstack: news 3\ntwinstack: note: after\n"},
        {"bar", true,
         "\r\033[Kfirst 1\r\033[K2 of 9\r\033[Ktwinstack: news 3\n\r\033[Kmore\r\033[K"
         "twinstack: note: after\n"},
        {"", false, "twinstack: news 3\ntwinstack: note: after\n"}, /* no terminal: plain */
        {"ba", false, "twinstack: news 3\ntwinstack: note: after\n"},
        {"auto", false, "twinstack: news 3\ntwinstack: note: after\n"},
    };
    for (size_t i = COUNT_OF(rows); i-- > 0;) { /* those that are unknown change nothing */
        const char *path = redirect();
        test_row(rows[i].style);
        CHECK_EQ(log_progress_as(rows[i].style), rows[i].known);
        log_progress("first %d", 1); /* a plain line is due after a second, at the earliest */
        log_progress_of(2, 9, "%d of %d", 2, 9);
        log_progress_news("news %d", 3);
        log_progress("more");
        log_progress_end();
        log_progress_end(); /* once is enough */
        log_note("after");
        check_written(path, rows[i].want);
    }
}

/* A line of progress leaves the last column free. */
TEST(progress_is_cut_to_the_terminal)
{
    static const struct {
        const char *name;
        uint16_t columns;
        const char *text, *want;
    } rows[] = {
        {"shorter", 10, "abcdefgh", "abcdefgh"},
        {"up to the last column", 10, "abcdefghi", "abcdefghi"},
        {"a letter more", 10, "abcdefghij", "abcdefghi"},
        {"letters of two bytes", 5, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6",
         "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4"},
        {"a terminal that states no size", 0, "abcdefghij", "abcdefghij"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct winsize size = {.ws_row = 24, .ws_col = rows[i].columns};
        char got[200] = "", want[200];
        size_t have = 0;
        test_row(rows[i].name);
        const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
        if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
            SKIP("this machine gives no terminal");
        const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
        REQUIRE(end >= 0 && ioctl(end, TIOCSWINSZ, &size) == 0 && dup2(end, STDERR_FILENO) >= 0);
        log_progress("%s", rows[i].text); /* a terminal has a bar */
        log_progress_end();
        (void)fflush(stderr);
        (void)snprintf(want, sizeof want, "\r\033[K%s\r\033[K", rows[i].want);
        while (have < strlen(want)) { /* a terminal hands on in pieces */
            struct pollfd waiting = {.fd = terminal, .events = POLLIN};
            if (poll(&waiting, 1, 10000) <= 0) /* a shorter text */
                break;
            const ssize_t bytes = read(terminal, got + have, sizeof got - 1 - have);
            REQUIRE(bytes > 0);
            have += (size_t)bytes;
        }
        CHECK_STR(got, want);
        (void)close(end);
        (void)close(terminal);
    }
}

/* Numbers of <errno.h>; one without a hint of its own has that of all others. */
TEST(refusals_of_the_system_have_a_hint)
{
    static const struct {
        int number;
        const char *hint;
    } rows[] = {{EPIPE, "the reader has closed the pipe"},
                {ENOMEM, "out of memory"},
                {ENOEXEC, "not a program of this system"},
                {EXDEV, "on another file system"},
                {EDOM, "the system refused"},
                {0, "the system refused"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_STR(fault_errno_hint(rows[i].number), rows[i].hint);
}

/* "PID@" and what process_name_self() has after it. */
TEST(names_that_are_of_no_process_here)
{
    char self[PROCESS_NAME_BYTES], name[PROCESS_NAME_BYTES + 32];
    process_name_self(self);
    const char *const here = strchr(self, '@');
    static const struct {
        const char *id;
        enum process_life life;
    } rows[] = {{"0", PROCESS_UNKNOWN},          {"", PROCESS_UNKNOWN},
                {"x1", PROCESS_UNKNOWN},         {"-1", PROCESS_UNKNOWN},
                {"2147483648", PROCESS_UNKNOWN}, {"2147483647", PROCESS_GONE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].id);
        (void)snprintf(name, sizeof name, "%s%s", rows[i].id, here);
        CHECK_EQ(process_life_of(name), rows[i].life);
    }
    CHECK_EQ(process_life_of(NULL), PROCESS_UNKNOWN);
    CHECK_EQ(process_life_of("1"), PROCESS_UNKNOWN);
    (void)snprintf(name, sizeof name, "%sx", self);
    CHECK_EQ(process_life_of(name), PROCESS_UNKNOWN);
}
