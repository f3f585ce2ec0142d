/* Reports: readable by other projects' readers, capped where required, and byte-identical when
 * written twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "make_run.h"
#include "report/report.h"
#include "test.h"

struct fixture {
    struct arena keep;
    struct run_info run;
    struct run_case cases[MADE_CASES];
    struct run_figures report;
    struct fault fault;
    uint32_t columns;
    bool without_details;
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->fault.offset = FAULT_NO_OFFSET;
    arena_init(&f->keep, 0);
    make_run(&f->keep, &f->run, f->cases);
    REQUIRE(figures_prepare(&f->run, f->cases, MADE_CASES, &f->keep, &f->report, &f->fault) ==
            ERR_NONE);
}

enum form { TEXT, JSON, JUNIT, CTRF, MARKDOWN, OPENMETRICS, BADGE, FOLDED, SPEEDSCOPE, FORM_COUNT };

static const char *const file_names[FORM_COUNT] = {"report.txt", "run.json",   "junit.xml",
                                                   "ctrf.json",  "report.md",  "metrics.txt",
                                                   "badge.json", "folded.txt", "speedscope.json"};

static void write_form(struct fixture *f, enum form form, FILE *out)
{
    const struct report_style style = {.columns = f->columns, .details = !f->without_details};
    struct fault *fault = &f->fault;
    switch (form) {
    case TEXT:
        (void)report_text(&f->report, &style, &f->keep, out, fault);
        break;
    case JSON:
        (void)report_json(&f->report, out, fault);
        break;
    case JUNIT:
        (void)report_junit(&f->report, out, fault);
        break;
    case CTRF:
        (void)report_ctrf(&f->report, out, fault);
        break;
    case MARKDOWN:
        (void)report_markdown(&f->report, 0, &f->keep, out, fault);
        break;
    case OPENMETRICS:
        (void)report_openmetrics(&f->report, &f->keep, out, fault);
        break;
    case BADGE:
        (void)report_badge(&f->report, "exact", out, fault);
        break;
    case FOLDED:
        (void)report_folded(&f->report, NULL, &f->keep, out, fault);
        break;
    case SPEEDSCOPE:
    case FORM_COUNT:
        (void)report_speedscope(&f->report, NULL, &f->keep, out, fault);
        break;
    }
    CHECK_EQ(fault->code, ERR_NONE);
}

static const char *write_file(struct fixture *f, enum form form)
{
    const char *path = arena_printf(&f->keep, "%s/%s", test_scratch(), file_names[form]);
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    write_form(f, form, out);
    (void)fclose(out);
    return path;
}

static char *text_of(struct fixture *f, enum form form)
{
    size_t bytes = 0;
    uint8_t *data = test_read(write_file(f, form), &bytes);
    char *text = arena_text(&f->keep, (const char *)data, bytes);
    REQUIRE(text != NULL && bytes > 0);
    return text;
}

TEST(other_peoples_readers_read_them)
{
    struct fixture f;
    struct process_result result;
    set_up(&f);
    for (int form = 0; form < FORM_COUNT; form++)
        (void)write_file(&f, (enum form)form);
    /* The readers are Debian packages, so Debian's own Python has them. */
    const char *python = path_is_file("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
    const char *const argv[] = {python, test_source("tests/golden/read_reports.py"), test_scratch(),
                                NULL};
    const struct process_request request = {.argv = argv};
    if (process_run(&request, &f.keep, &result, &f.fault) == ERR_ABSENT)
        SKIP("python3 is not installed");
    if (result.exit_code == 77)
        SKIP("a reader is not installed: see tests/golden/read_reports.py");
    if (result.exit_code != 0)
        FAIL("%s", result.errors);
    arena_free(&f.keep);
}

TEST(same_input_same_bytes)
{
    struct fixture a, b;
    set_up(&a);
    set_up(&b);
    for (int form = 0; form < FORM_COUNT; form++) {
        test_row(file_names[form]);
        const char *first = text_of(&a, (enum form)form);
        CHECK_STR(text_of(&b, (enum form)form), first);
    }
    arena_free(&a.keep);
    arena_free(&b.keep);
}

static void check_lines(char *text, uint32_t most)
{
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t columns = 0;
        for (const char *at = line; *at != 0; at++)
            columns += ((unsigned char)*at & 0xc0) != 0x80;
        if (columns > most)
            FAIL("%zu columns, not %u: %s", columns, most, line);
        if (strstr(line, "…") != NULL)
            FAIL("cut at %u columns: %s", most, line);
    }
}

TEST(the_terminal_report_fits_its_page_and_says_who_is_right)
{
    static const uint32_t pages[] = {0, 80, 100, 132, 200};
    struct fixture f;
    set_up(&f);
    f.cases[3].scenario = "a_scenario_with_a_name_longer_than_is_good";
    f.cases[2].repeat = 11;
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        test_row(arena_printf(&f.keep, "%u columns", pages[i]));
        f.columns = pages[i];
        char *text = text_of(&f, TEXT);
        CHECK_HAS(text, "right: offset:rtl");
        CHECK_HAS(text, "3 PASS, 1 FAIL, 1 ERROR, 1 UNSUPPORTED");
        CHECK_HAS(text, "4.5 : 1");
        CHECK_HAS(text, "a_scenario_with_a_name_longer_than_is_good");
        CHECK_HAS(text, "ob2#12");
        CHECK(strchr(text, '\x1b') == NULL);
        check_lines(text, pages[i] == 0 ? 100 : pages[i]);
    }
    arena_free(&f.keep);
}

TEST(doors_are_told_by_what_they_saw)
{
    static const struct {
        const char *name, *promised, *seen, *row;
    } rows[] = {
        {"as promised", "vectored,unhandled", "vectored,unhandled",
         "null_write +2 4     ✓     ✓\nseen                4     4\n"},
        {"promised, not seen", "vectored,unhandled", "vectored",
         "null_write.ob0 1     ✓     ✗\nnull_write  +2 3     ✓     ✓\npromised             4     "
         "4\n"},
        {"seen, not promised", "vectored", "vectored,unhandled", "null_write.ob0 1     ✓     +\n"},
        {"no hook was expected to see it", NULL, NULL, "null_write.ob0 1     ·     ·\n"},
        {"an unknown hook", "vectored,import", "vectored,import", "tored handled import\n"},
        {"part of a name is no name", "vectored", "vector",
         "null_write.ob0 1     ✗     ·       +\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        for (uint32_t c = 0; c < MADE_CASES; c++)
            f.cases[c].expected_doors = f.cases[c].got_doors = "vectored,unhandled";
        f.cases[0].expected_doors = rows[i].promised;
        f.cases[0].got_doors = rows[i].seen;
        f.without_details = true;
        const char *text = text_of(&f, TEXT);
        CHECK_HAS(text, "HOOKS");
        CHECK_HAS(text, rows[i].row);
        arena_free(&f.keep);
    }
}

TEST(markdown_is_capped_and_counts_what_it_leaves_out)
{
    enum { MANY = 2000, CAP = 20000 };
    struct fixture f;
    set_up(&f);
    struct run_case *many = arena_array(&f.keep, MANY, sizeof *many);
    for (int i = 0; i < MANY; i++)
        many[i] = f.cases[2]; /* the failing one */
    REQUIRE(figures_prepare(&f.run, many, MANY, &f.keep, &f.report, &f.fault) == ERR_NONE);
    const char *path = arena_printf(&f.keep, "%s/capped.md", test_scratch());
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    REQUIRE(report_markdown(&f.report, CAP, &f.keep, out, &f.fault) == ERR_NONE);
    (void)fclose(out);
    size_t bytes = 0;
    const char *text = arena_text(&f.keep, (const char *)test_read(path, &bytes), 0);
    CHECK(bytes <= CAP && bytes > CAP / 2);
    text = (const char *)test_read(path, &bytes);
    char *copy = arena_text(&f.keep, text, bytes);
    CHECK_HAS(copy, "2000 of 2000 cases fail");
    CHECK_HAS(copy, "more failing cases.");
    CHECK(strstr(copy, "<script") == NULL && strstr(copy, "</script") == NULL);
    arena_free(&f.keep);
}

TEST(badges_know_their_metrics)
{
    struct fixture f;
    set_up(&f);
    static const struct {
        const char *metric;
        enum status want;
    } rows[] = {{"verdict", ERR_NONE}, {"capture_rate", ERR_NONE}, {"exact", ERR_NONE},
                {"f1", ERR_NONE},      {"speed_ratio", ERR_NONE},  {"mood", ERR_USAGE}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        FILE *out = tmpfile();
        struct fault fault = FAULT_INIT;
        test_row(rows[i].metric);
        REQUIRE(out != NULL);
        CHECK_EQ(report_badge(&f.report, rows[i].metric, out, &fault), rows[i].want);
        (void)fclose(out);
    }
    arena_free(&f.keep);
}
