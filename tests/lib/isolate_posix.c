/* One test, one child process: fork, run, wait. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolate.h"

void isolate_limit(unsigned seconds)
{
    (void)alarm(isolate_seconds(seconds));
}

int isolate_run(const struct test_case *test, isolate_body_fn *body, const char *program, char *why,
                size_t why_bytes)
{
    (void)program;
    why[0] = '\0';
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        snprintf(why, why_bytes, "cannot fork: %s", strerror(errno));
        return ISOLATE_FAIL;
    }
    if (child == 0) {
        isolate_limit(TEST_SECONDS);
        exit(body(test));
    }

    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return ISOLATE_FAIL;
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        snprintf(why, why_bytes, "%s", number == SIGALRM ? "time limit" : strsignal(number));
        return ISOLATE_FAIL;
    }
    int code = WEXITSTATUS(status);
    if (code == ISOLATE_PASS || code == ISOLATE_FAIL || code == ISOLATE_SKIP)
        return code;
    snprintf(why, why_bytes, "exit status %d", code);
    return ISOLATE_FAIL;
}

/* faketime moves all moments that are read from files, and those that are written only if it is
 * asked to; it reads that once, when a program starts. */
void isolate_clock(char **argv)
{
    const char *preloaded = getenv("LD_PRELOAD");
    if (preloaded == NULL || strstr(preloaded, "faketime") == NULL || getenv("FAKE_UTIME") != NULL)
        return;
    (void)setenv("FAKE_UTIME", "1", 1);
    (void)execv(argv[0], argv);
}

bool isolate_folder(char *out, size_t out_bytes)
{
    const char *root = getenv("TMPDIR");
    snprintf(out, out_bytes, "%s/twinstack-test-XXXXXX", root && *root ? root : "/tmp");
    return mkdtemp(out) != NULL;
}

void isolate_environment(const char *name, const char *value)
{
    if (value != NULL)
        (void)setenv(name, value, 1);
    else
        (void)unsetenv(name);
}
