/* A small test framework: tests register themselves, each runs in a process of its own
 * under a time limit, so that a crash or a hang counts as just one failure.
 *
 *     TEST(superblock_rejects_what_later_code_would_trust)
 *     {
 *         for (size_t i = 0; i < COUNT_OF(rows); i++) {
 *             test_row(rows[i].name);
 *             CHECK_EQ(msf_read_superblock(...), rows[i].want);
 *         }
 *     }
 *
 * A file of tests needs no main().  Arguments of the program: substrings of test names to
 * run (default all), -l lists them, -v prints each with its time.  The last line is
 * "tally PASSED FAILED SKIPPED", which the runner sums; the exit status is 0 or 1.
 *
 * Outcomes: pass, fail, skip with a reason (printed and counted), and TODO_TEST, which
 * is known to fail, counts as a skip while it does, and fails once it passes. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct test_case {
    const char *name;
    const char *todo; /* why it is known to fail; NULL: it has to pass */
    void (*body)(void);
    struct test_case *next;
};

void test_register(struct test_case *test);

/* The two ways to run code before main(); everything else here is plain C11. */
#if defined(_MSC_VER)
#pragma section(".CRT$XCU", read)
#define TEST_BEFORE_MAIN(function)                                                                 \
    static void __cdecl function(void);                                                            \
    __declspec(allocate(".CRT$XCU")) void(__cdecl * function##_entry)(void) = function;            \
    static void __cdecl function(void)
#else
#define TEST_BEFORE_MAIN(function)                                                                 \
    __attribute__((constructor)) static void function(void);                                       \
    static void function(void)
#endif

#define TEST_DEFINE(id, why)                                                                       \
    static void test_body_##id(void);                                                              \
    TEST_BEFORE_MAIN(test_register_##id)                                                           \
    {                                                                                              \
        static struct test_case test = {#id, why, test_body_##id, NULL};                           \
        test_register(&test);                                                                      \
    }                                                                                              \
    static void test_body_##id(void)

#define TEST(id) TEST_DEFINE(id, NULL)
#define TODO_TEST(id, why) TEST_DEFINE(id, why)

/* Names the row of a table that the following checks belong to; NULL: none.  Copied. */
void test_row(const char *name);

/* Gives this test SECONDS from now instead of the usual 60. */
void test_limit(unsigned seconds);

/* Checks continue after a failure; REQUIRE ends the test, for conditions that later lines rely
 * on. */
#define CHECK(what) test_check(__FILE__, __LINE__, #what, (what))
#define REQUIRE(what) test_require(__FILE__, __LINE__, #what, (what))
#define CHECK_EQ(got, want)                                                                        \
    test_check_number(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(want))
#define CHECK_HEX(got, want)                                                                       \
    test_check_hex(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(want))
#define CHECK_STR(got, want) test_check_string(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_HAS(got, part) test_check_part(__FILE__, __LINE__, #got, (got), (part))
#define CHECK_NEAR(got, want, within)                                                              \
    test_check_near(__FILE__, __LINE__, #got, (got), (want), (within))
#define CHECK_MEM(got, want, size)                                                                 \
    test_check_memory(__FILE__, __LINE__, #got, (got), (want), (size))
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Ends the test as skipped; the reason is printed. */
#define SKIP(reason) test_skip(__FILE__, __LINE__, (reason))

/* Each returns whether the check held. */
bool test_check(const char *file, int line, const char *what, bool held);
void test_require(const char *file, int line, const char *what, bool held);
bool test_check_number(const char *file, int line, const char *what, int64_t got, int64_t want);
bool test_check_hex(const char *file, int line, const char *what, uint64_t got, uint64_t want);
bool test_check_string(const char *file, int line, const char *what, const char *got,
                       const char *want);
bool test_check_part(const char *file, int line, const char *what, const char *got,
                     const char *part);
bool test_check_near(const char *file, int line, const char *what, double got, double want,
                     double within);
bool test_check_memory(const char *file, int line, const char *what, const void *got,
                       const void *want, size_t size);
void test_fail(const char *file, int line, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
void test_skip(const char *file, int line, const char *reason);

/* The path of a file of the fixtures ("g07-conpty-x64/conpty.pdb"): under
 * $TWINSTACK_FIXTURES, else next to the source tree, else where tests/fixtures.sh unpacks
 * corpus/fixtures. Skips the test when it is absent. Paths from here live until the test ends. */
const char *test_fixture(const char *name);

/* The path of a file of the source tree ("corpus/g14-botman/symbols.csv"); never skips. */
const char *test_source(const char *name);

/* The path of a program that does what its first argument says: see actor.c. */
const char *test_actor(void);

/* Sets a variable of the environment for this test. */
void test_environment(const char *name, const char *value);

/* A fresh folder for this test, removed when it ends; the same one at every call. */
const char *test_scratch(void);

/* A copy of BYTES bytes in an allocation of exactly that size, so that a sanitizer detects each
 * read past its end. Ends the test when out of memory. The caller frees it. */
void *test_copy(const void *data, size_t bytes);

/* Reads a file whole; ends the test when it cannot.  Lives until the test ends. */
uint8_t *test_read(const char *path, size_t *bytes);

/* Writes a file; ends the test when it cannot. */
void test_write(const char *path, const void *data, size_t bytes);

/* Code to run on damaged bytes: it must neither crash nor hang nor allocate hugely. The bytes are a
 * heap block of exactly that size, so that a sanitizer detects a read of one byte too many. */
typedef void test_damage_fn(const uint8_t *data, size_t bytes, void *context);

enum { TEST_DAMAGE_CALLS = 20000 };

/* Calls FN with every proper prefix of DATA; with an even spread of TEST_DAMAGE_CALLS of
 * them when there are more. */
void test_truncations(const uint8_t *data, size_t bytes, test_damage_fn *fn, void *context);

/* Calls FN with DATA with one byte changed, four ways per byte (0x00, 0xff, +1, top bit); also
 * spread evenly when there are more. */
void test_flips(const uint8_t *data, size_t bytes, test_damage_fn *fn, void *context);

#endif
