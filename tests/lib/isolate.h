/* Running one test in a process of its own.  One implementation per system:
 * isolate_posix.c, isolate_windows.c. */
#ifndef TESTS_ISOLATE_H
#define TESTS_ISOLATE_H

#include "test.h"

enum { ISOLATE_PASS = 0, ISOLATE_FAIL = 1, ISOLATE_SKIP = 77, TEST_SECONDS = 60 };

/* Runs TEST elsewhere and waits.  Returns ISOLATE_PASS, ISOLATE_FAIL or ISOLATE_SKIP; a
 * crash or a time limit fails, and WHY says which ("" else). */
int isolate_run(const struct test_case *test, const char *program, char *why, size_t why_bytes);

/* Gives the running test so many seconds from now. */
void isolate_limit(unsigned seconds);

/* Makes a fresh folder and writes its path to OUT; false: could not. */
bool isolate_folder(char *out, size_t out_bytes);

/* Runs the body in this process, reports, and returns its outcome (test.c). */
int test_run_here(const struct test_case *test);

#endif
