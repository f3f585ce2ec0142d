/* The test framework's checks, helpers and main().  See test.h. */
#include "test.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "isolate.h"

static struct test_case *all_tests; /* in the order of the file, by test_register */
static const struct test_case *running;
static char row[256];
static unsigned failures; /* of the running test */
static char scratch[512]; /* "" until the first request */
static char skip_reason[256];
static bool together;       /* all tests run in this process */
static jmp_buf end_of_test; /* where one of them goes on that ends early */

/* Limit on the printed failures of one test, so that a table of ten thousand rows stays
 * readable. */
enum { FAILURES_SHOWN = 20 };

void test_register(struct test_case *test)
{
    struct test_case **end = &all_tests;
    while (*end)
        end = &(*end)->next;
    *end = test;
}

void test_row(const char *name)
{
    snprintf(row, sizeof row, "%s", name ? name : "");
}

void test_limit(unsigned seconds)
{
    if (!together)
        isolate_limit(seconds);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list list;
    failures++;
    if (failures > FAILURES_SHOWN)
        return;
    if (strncmp(file, TEST_SOURCE_ROOT "/", sizeof TEST_SOURCE_ROOT) == 0)
        file += sizeof TEST_SOURCE_ROOT; /* as it is spelt in the source tree */
    while (strncmp(file, "../", 3) == 0)
        file += 3; /* ccache gives the compiler a path from the build folder */
    printf("  %s:%d: ", file, line);
    if (row[0])
        printf("[%s] ", row);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
}

bool test_check(const char *file, int line, const char *what, bool held)
{
    if (!held)
        test_fail(file, line, "%s", what);
    return held;
}

/* Ends the running test at once; its allocations belong to the child process and end with it. */
static void end_test(int outcome)
{
    if (scratch[0])
        (void)path_remove(scratch, &(struct fault)FAULT_INIT);
    fflush(NULL);
    if (together)
        longjmp(end_of_test, outcome);
    _Exit(outcome);
}

void test_require(const char *file, int line, const char *what, bool held)
{
    if (test_check(file, line, what, held))
        return;
    end_test(ISOLATE_FAIL);
}

bool test_check_number(const char *file, int line, const char *what, int64_t got, int64_t want)
{
    if (got != want)
        test_fail(file, line, "%s is %" PRId64 ", not %" PRId64, what, got, want);
    return got == want;
}

bool test_check_hex(const char *file, int line, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        test_fail(file, line, "%s is 0x%" PRIx64 ", not 0x%" PRIx64, what, got, want);
    return got == want;
}

bool test_check_string(const char *file, int line, const char *what, const char *got,
                       const char *want)
{
    bool held = got && want ? strcmp(got, want) == 0 : got == want;
    if (!held)
        test_fail(file, line, "%s is \"%s\", not \"%s\"", what, got ? got : "(null)",
                  want ? want : "(null)");
    return held;
}

bool test_check_part(const char *file, int line, const char *what, const char *got,
                     const char *part)
{
    bool held = got && strstr(got, part);
    if (!held)
        test_fail(file, line, "%s lacks \"%s\": \"%s\"", what, part, got ? got : "(null)");
    return held;
}

bool test_check_near(const char *file, int line, const char *what, double got, double want,
                     double within)
{
    bool held = fabs(got - want) <= within; /* false for NaN */
    if (!held)
        test_fail(file, line, "%s is %.9g, not within %g of %.9g", what, got, within, want);
    return held;
}

bool test_check_memory(const char *file, int line, const char *what, const void *got,
                       const void *want, size_t size)
{
    const uint8_t *a = got;
    const uint8_t *b = want;
    for (size_t i = 0; i < size; i++) {
        if (a[i] == b[i])
            continue;
        test_fail(file, line, "%s differs at byte %zu: %02x, not %02x", what, i, a[i], b[i]);
        return false;
    }
    return true;
}

void test_skip(const char *file, int line, const char *reason)
{
    (void)file;
    (void)line;
    printf("skip %s: %s\n", running->name, reason);
    end_test(failures ? ISOLATE_FAIL : ISOLATE_SKIP);
}

/* Keeps the paths of test_fixture and test_source reachable, so they are not reported as leaks. */
static const char *path_of(const char *folder, const char *name)
{
    static char paths[64][768];
    static unsigned next;
    char *path = paths[next++ % COUNT_OF(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *test_source(const char *name)
{
    return path_of(TEST_SOURCE_ROOT, name);
}

#define BESIDE TEST_SOURCE_ROOT "/../shared/fixtures"

const char *test_fixture(const char *name)
{
    const char *root = getenv("TWINSTACK_FIXTURES");
    if (!root || !*root)
        root = path_is_folder(BESIDE) ? BESIDE : TEST_SOURCE_ROOT "/build/fixtures";
    const char *path = path_of(root, name);
    if (!path_is_file(path) && !path_is_folder(path)) {
        snprintf(skip_reason, sizeof skip_reason, "no fixture %s ($TWINSTACK_FIXTURES)", name);
        test_skip(__FILE__, __LINE__, skip_reason);
    }
    return path;
}

const char *test_scratch(void)
{
    if (!scratch[0] && !isolate_folder(scratch, sizeof scratch)) {
        test_fail(__FILE__, __LINE__, "cannot make a folder %s", scratch);
        scratch[0] = '\0';
        end_test(ISOLATE_FAIL);
    }
    return scratch;
}

/* Ends the test because of an error with FILE. */
static void give_up(const char *path, const char *what)
{
    test_fail(__FILE__, __LINE__, "cannot %s %s", what, path);
    end_test(ISOLATE_FAIL);
}

const char *test_actor(void)
{
    return TEST_ACTOR;
}

/* What test_environment() has replaced, for tests that run together. */
static struct {
    char name[64], value[1024];
    bool was_set;
} replaced[16];
static unsigned replaced_count;

void test_environment(const char *name, const char *value)
{
    const char *old = getenv(name);
    size_t known = 0;
    while (known < replaced_count && strcmp(replaced[known].name, name) != 0)
        known++;
    if (together && known == replaced_count) {
        REQUIRE(replaced_count < COUNT_OF(replaced));
        snprintf(replaced[replaced_count].name, sizeof replaced[0].name, "%s", name);
        snprintf(replaced[replaced_count].value, sizeof replaced[0].value, "%s", old ? old : "");
        replaced[replaced_count++].was_set = old != NULL;
    }
    isolate_environment(name, value);
}

static void restore_environment(void)
{
    while (replaced_count > 0) {
        replaced_count--;
        isolate_environment(replaced[replaced_count].name, replaced[replaced_count].was_set
                                                               ? replaced[replaced_count].value
                                                               : NULL);
    }
}

void *test_copy(const void *data, size_t bytes)
{
    void *copy = malloc(bytes);
    REQUIRE(copy != NULL || bytes == 0);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    return copy;
}

uint8_t *test_read(const char *path, size_t *bytes)
{
    static void *kept[256]; /* reachable, so not reported as a leak */
    static unsigned next;
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (!file)
        give_up(path, "open");
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        give_up(path, "size");
    uint8_t *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        give_up(path, "read");
    fclose(file);
    data[size] = 0; /* not counted; lets text be read as a string */
    *bytes = (size_t)size;
    kept[next++ % COUNT_OF(kept)] = data;
    return data;
}

void test_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        give_up(path, "create");
    size_t written = fwrite(data, 1, bytes, file);
    if (fclose(file) != 0 || written != bytes)
        give_up(path, "write");
}

static void damage(const uint8_t *data, size_t bytes, size_t at, int change, test_damage_fn *fn,
                   void *context)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    if (!copy) {
        FAIL("out of memory for %zu bytes", bytes);
        return;
    }
    memcpy(copy, data, bytes);
    switch (change) {
    case 1:
        copy[at] = 0x00;
        break;
    case 2:
        copy[at] = 0xff;
        break;
    case 3:
        copy[at] = (uint8_t)(copy[at] + 1);
        break;
    case 4:
        copy[at] ^= 0x80;
        break;
    default:
        break;
    }
    fn(copy, bytes, context);
    free(copy);
}

void test_truncations(const uint8_t *data, size_t bytes, test_damage_fn *fn, void *context)
{
    const size_t step = bytes / TEST_DAMAGE_CALLS + 1;
    for (size_t size = 0; size < bytes; size += step)
        damage(data, size, 0, 0, fn, context);
}

void test_flips(const uint8_t *data, size_t bytes, test_damage_fn *fn, void *context)
{
    const size_t step = bytes * 4 / TEST_DAMAGE_CALLS + 1;
    for (size_t at = 0; at < bytes; at += step)
        for (int change = 1; change <= 4; change++)
            damage(data, bytes, at, change, fn, context);
}

static int run_here(const struct test_case *test)
{
    running = test;
    test->body();
    if (failures > FAILURES_SHOWN)
        printf("  ... and %u more\n", failures - FAILURES_SHOWN);
    if (scratch[0])
        (void)path_remove(scratch, &(struct fault)FAULT_INIT);
    fflush(NULL);
    return failures ? ISOLATE_FAIL : ISOLATE_PASS;
}

static bool wanted(const struct test_case *test, int count, char **filters)
{
    for (int i = 0; i < count; i++)
        if (strstr(test->name, filters[i]))
            return true;
    return count == 0;
}

/* Prints the result of TEST and returns the outcome to count. WHY: "" or what ended it. */
static int report(const struct test_case *test, int outcome, const char *why, double ms,
                  bool verbose)
{
    if (test->todo && outcome == ISOLATE_FAIL) {
        printf("skip %s: known to fail: %s\n", test->name, test->todo);
        return ISOLATE_SKIP;
    }
    if (test->todo && outcome == ISOLATE_PASS) {
        printf("FAIL %s: passes now, so make it a TEST\n", test->name);
        return ISOLATE_FAIL;
    }
    if (outcome == ISOLATE_FAIL)
        printf("FAIL %s%s%s (%.0f ms)\n", test->name, why[0] ? ": " : "", why, ms);
    else if (verbose && outcome == ISOLATE_PASS)
        printf("pass %s (%.0f ms)\n", test->name, ms);
    return outcome;
}

/* Runs the body in this process, which it does not end. */
static int run_beside_others(const struct test_case *test)
{
    failures = 0;
    row[0] = scratch[0] = '\0';
    int outcome = setjmp(end_of_test);
    if (outcome == 0)
        outcome = run_here(test);
    restore_environment();
    return outcome;
}

static int run_and_report(const struct test_case *test, const char *program, bool verbose)
{
    char why[128] = "";
    uint64_t start_ns = clock_ns();
    int outcome =
        together ? run_beside_others(test) : isolate_run(test, run_here, program, why, sizeof why);

    return report(test, outcome, why, (double)(clock_ns() - start_ns) / 1e6, verbose);
}

/* "--here NAME": runs the body in this process, for a child and for a debugger. */
static int run_one_here(const char *name)
{
    for (const struct test_case *test = all_tests; test; test = test->next) {
        if (strcmp(test->name, name) != 0)
            continue;
        isolate_limit(TEST_SECONDS);
        return run_here(test);
    }
    return 2;
}

int main(int argc, char **argv)
{
    const char *program = argv[0];
    bool verbose = false;
    unsigned passed = 0, failed = 0, skipped = 0;

    isolate_clock(argv);
    isolate_environment("TWINSTACK_CACHE", "none"); /* tests of the cache name a folder */
    if (argc == 3 && strcmp(argv[1], "--here") == 0)
        return run_one_here(argv[2]);
    argc--, argv++;
    if (argc > 0 && strcmp(argv[0], "-l") == 0) {
        for (const struct test_case *test = all_tests; test; test = test->next)
            puts(test->name);
        return 0;
    }
    if (argc > 0 && strcmp(argv[0], "--together") == 0) {
        /* where starting a process takes longer than a test; who asks runs failures again alone */
        together = true;
        isolate_limit(4 * TEST_SECONDS);
        argc--, argv++;
    }
    if (argc > 0 && strcmp(argv[0], "-v") == 0) {
        verbose = true;
        argc--, argv++;
    }
    for (const struct test_case *test = all_tests; test; test = test->next) {
        if (!wanted(test, argc, argv))
            continue;
        int outcome = run_and_report(test, program, verbose);
        passed += outcome == ISOLATE_PASS;
        failed += outcome == ISOLATE_FAIL;
        skipped += outcome == ISOLATE_SKIP;
    }
    printf("tally %u %u %u\n", passed, failed, skipped);
    return failed ? 1 : 0;
}
