/* Running one test in a process of its own.  One implementation per system:
 * isolate_posix.c, isolate_windows.c. */
#ifndef TESTS_ISOLATE_H
#define TESTS_ISOLATE_H

#include <stdlib.h>

#include "test.h"

enum { ISOLATE_PASS = 0, ISOLATE_FAIL = 1, ISOLATE_SKIP = 77, TEST_SECONDS = 60 };

/* SECONDS times TWINSTACK_TEST_SLOWNESS: builds with sanitizers and busy machines need longer. */
static inline unsigned isolate_seconds(unsigned seconds)
{
    const char *text = getenv("TWINSTACK_TEST_SLOWNESS");
    const long factor = text != NULL ? strtol(text, NULL, 10) : 1;
    return seconds * (unsigned)(factor >= 1 && factor <= 100 ? factor : 1);
}

/* Runs the body of a test in this process and returns its outcome. */
typedef int isolate_body_fn(const struct test_case *test);

/* Runs TEST in a child process and waits. The child runs BODY, or is PROGRAM with "--here" and the
 * test's name. Returns ISOLATE_PASS, ISOLATE_FAIL or ISOLATE_SKIP; a crash or a time limit is a
 * failure, and WHY names it (else ""). */
int isolate_run(const struct test_case *test, isolate_body_fn *body, const char *program, char *why,
                size_t why_bytes);

/* Ends the running test SECONDS from now. */
void isolate_limit(unsigned seconds);

/* Sets a variable of the environment; VALUE NULL: removes it. */
void isolate_environment(const char *name, const char *value);

/* Starts this program again, if its clock is moved in such a way that a file which is touched now
 * is of the future. */
void isolate_clock(char **argv);

/* Makes a fresh folder and writes its path to OUT; false: it could not be made. */
bool isolate_folder(char *out, size_t out_bytes);

#endif
