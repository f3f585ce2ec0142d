/* Numbers and names as reports spell them: the rules of words.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"
#include "test.h"

TEST(a_time_or_size_has_three_digits_at_most)
{
    static const struct {
        double ns;
        const char *time, *size;
    } rows[] = {
        {NAN, "-", "-"},
        {0, "0 ns", "0 B"},
        {999.4, "999 ns", "999 B"},
        {999.6, "1.00 µs", "1.00 KB"},
        {9994, "9.99 µs", "9.99 KB"},
        {9995, "10.0 µs", "10.0 KB"},
        {99940, "99.9 µs", "99.9 KB"},
        {99950, "100 µs", "100 KB"},
        {999400, "999 µs", "999 KB"},
        {999600, "1.00 ms", "1.00 MB"},
        {999.4e6, "999 ms", "999 MB"},
        {999.6e6, "1.00 s", "1.00 GB"},
        {1234e9, "1234 s", "1234 GB"},
        {4125, "4.13 µs", "4.13 KB"}, /* half of a last digit: up, as on pages */
        {112500, "113 µs", "113 KB"},
        {4115, "4.12 µs", "4.12 KB"},
        {-541314, "-541 µs", "-541 KB"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[24];
        test_row(rows[i].time);
        CHECK_STR(duration_text(rows[i].ns, text), rows[i].time);
        CHECK_STR(bytes_text(rows[i].ns, text), rows[i].size);
    }
}

TEST(a_repeat_has_its_number_and_a_moment_its_second)
{
    static const struct {
        uint32_t repeat;
        uint64_t ns;
        const char *name, *moment;
    } rows[] = {
        {0, 0, "loop.ob2", "1970-01-01T00:00:00Z"},
        {1, 999999999, "loop.ob2#2", "1970-01-01T00:00:00Z"},
        {9, UINT64_C(951782399000000000), "loop.ob2#10", "2000-02-28T23:59:59Z"},
        {10, UINT64_C(951782400000000000), "loop.ob2#11", "2000-02-29T00:00:00Z"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_case c = {.scenario = "loop", .variant = "ob2", .repeat = rows[i].repeat};
        const struct diff_case d = {.scenario = "loop", .variant = "ob2", .repeat = rows[i].repeat};
        char text[160];
        test_row(rows[i].name);
        CHECK_STR(case_name(&c, text), rows[i].name);
        CHECK_STR(diff_case_name(&d, text), rows[i].name);
        CHECK_STR(time_text(rows[i].ns, text), rows[i].moment);
    }
}

/* TEXT in one line. */
static const char *flat(char *text)
{
    size_t wrote = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        const char c = text[i] == '\n' ? ' ' : text[i];
        if (c != ' ' || (wrote > 0 && text[wrote - 1] != ' '))
            text[wrote++] = c;
    }
    text[wrote] = '\0';
    return text;
}

/* On a terminal a long entry is cut: the reason and how many differ otherwise come before that. */
TEST(a_terminal_cuts_no_word_that_decides)
{
    enum { CASES = 7 };
    static struct finding findings[CASES];
    static struct run_case cases[CASES];
    struct run_info run = {.state = RUN_COMPLETE};
    struct run_figures figures;
    struct arena keep;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    for (uint32_t i = 0; i < CASES; i++) {
        findings[i] = (struct finding){
            .cause = CAUSE_LOOKUP_ADDRESS,
            .engine = "dump",
            .against = "offset:rtl",
            .wrong = "offset:rtl",
            .module = i > 0 ? "victims-ob2.exe" : "kernelbase.dll",
            .evidence = "dump reports victims-ob2.exe!0x1f3ae (interrupted), offset:rtl reports "
                        "victims-ob2.exe!0x1f3ae (return)",
            .facts = {.kinds = KINDS_INTERRUPTED},
            .blame = BLAME_RECORD,
            .fails = true};
        cases[i] = (struct run_case){
            .scenario = arena_printf(&keep, "a_case_with_a_long_name_%u", (unsigned)i),
            .variant = "ob2",
            .kind = CASE_KIND_CRASH,
            .result = {.verdict = VERDICT_FAIL,
                       .reason = arena_printf(&keep, "dump, lookup_address: %s; blame: record",
                                              findings[i].evidence),
                       .signature = "dump=lookup_address",
                       .findings = &findings[i],
                       .finding_count = 1}};
    }
    REQUIRE(figures_prepare(&run, cases, CASES, &keep, &figures, &fault) == ERR_NONE);
    FILE *out = tmpfile();
    REQUIRE(out != NULL);
    const struct report_style style = {.columns = 100};
    REQUIRE(report_text(&figures, &style, &keep, out, &fault) == ERR_NONE);
    const size_t bytes = (size_t)ftell(out);
    char *text = arena_alloc(&keep, bytes + 1);
    REQUIRE(text != NULL);
    rewind(out);
    CHECK_EQ(fread(text, 1, bytes, out), bytes);
    text[bytes] = '\0';
    (void)fclose(out);
    const char *said = flat(text);
    CHECK_HAS(said, "the record has a return address, not the interrupted one that dump has, where "
                    "the truth is silent, in victims-ob2.exe (lookup address); 6 of 7 cases show "
                    "this, 1 another effect of the same fault");
    CHECK_HAS(said, "e.g. a_case_with_a_long_name_1.ob2: dump, lookup_address: dump reports "
                    "victims-ob2.exe!0x1f3ae (interrupted), offset:rtl reports "
                    "victims-ob2.exe!0x1f3ae (return); ");
    CHECK_HAS(said, "blame: record (7)");
    arena_free(&keep);
}
