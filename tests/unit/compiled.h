/* A program that a test has compiled for itself. */
#ifndef TESTS_COMPILED_H
#define TESTS_COMPILED_H

#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "test.h"

/* Writes SOURCE to the file NAME of the scratch folder, runs ARGV in that folder, and reads the
 * file OUTPUT that it made there; *bytes: its size. Skips the test where the compiler does not
 * exist; where it fails, too, if LACK says what it may lack, else the test fails. */
static inline uint8_t *compile_text(const char *const *argv, const char *name, const char *source,
                                    const char *output, const char *lack, size_t *bytes)
{
    char path[600];
    struct fault fault = FAULT_INIT;
    struct process_result result;
    struct arena keep;
    const struct process_request request = {.argv = argv, .folder = test_scratch()};

    arena_init(&keep, 0);
    if (process_find(argv[0], &keep) == NULL)
        SKIP(argv[0]);
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), name);
    test_write(path, source, strlen(source));
    REQUIRE(process_run(&request, &keep, &result, &fault) == ERR_NONE);
    if (result.exit_code != 0 && lack != NULL)
        SKIP(lack);
    REQUIRE(result.exit_code == 0);
    arena_free(&keep);
    (void)snprintf(path, sizeof path, "%s/%s", test_scratch(), output);
    return test_read(path, bytes);
}

#endif
