/* Reports: readable by other projects' readers, capped where required, and byte-identical when
 * written twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "compare/compare.h"
#include "make_case.h"
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

enum { TEXT = -1, JSON = 0, JUNIT = 1, CTRF = 2, MARKDOWN = 3 };

static const struct report_format formats[] = {REPORT_FORMATS(REPORT_FORMAT)};

static const char *const file_names[] = {"run.json",   "junit.xml",      "ctrf.json",
                                         "report.md",  "metrics.txt",    "badge.json",
                                         "folded.txt", "speedscope.json"};

static const char *name_of(int form)
{
    return form == TEXT ? "report.txt" : file_names[form];
}

static void write_form(struct fixture *f, int form, FILE *out)
{
    const struct report_style style = {.columns = f->columns, .details = !f->without_details};
    const struct report_job job = {.report = &f->report, .badge = "exact", .scratch = &f->keep};
    if (form == TEXT)
        (void)report_text(&f->report, &style, &f->keep, out, &f->fault);
    else
        (void)formats[form].write(&job, out, &f->fault);
    CHECK_EQ(f->fault.code, ERR_NONE);
}

static const char *write_file(struct fixture *f, int form)
{
    const char *path = arena_printf(&f->keep, "%s/%s", test_scratch(), name_of(form));
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    write_form(f, form, out);
    (void)fclose(out);
    return path;
}

static char *text_of(struct fixture *f, int form)
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
    for (int form = TEXT; form < (int)COUNT_OF(formats); form++)
        (void)write_file(&f, form);
#ifdef _WIN32
    SKIP("the readers are Debian packages");
#endif
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
    for (int form = TEXT; form < (int)COUNT_OF(formats); form++) {
        test_row(name_of(form));
        const char *first = text_of(&a, form);
        CHECK_STR(text_of(&b, form), first);
        if (form == JUNIT) /* 1,790,000,000 s; the schema of JUnit has no zone */
            CHECK_HAS(first, " timestamp=\"2026-09-21T14:13:20\"");
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
        CHECK_HAS(text, " only offset:rtl is right");
        CHECK_HAS(text, "\n1 that could not be judged, 1 with a wrong stack\n");
        CHECK_HAS(text, "3 PASS, 1 FAIL, 1 ERROR, 1 UNSUPPORTED");
        CHECK_HAS(text, "too few (4)");
        CHECK_HAS(text, "a_scenario_with_a_name_longer_than_is_good");
        CHECK_HAS(text, "ob2#12");
        CHECK_HAS(text, "--repeat");
        CHECK(strchr(text, '\x1b') == NULL);
        check_lines(text, pages[i] == 0 ? 100 : pages[i]);
    }
    arena_free(&f.keep);
}

/* What blame goes by is in the report, row by row; and each engine that was skipped, with its
 * reason, but none that has a stack. */
TEST(the_report_says_who_counts_as_one_and_who_was_skipped)
{
    struct fixture f;
    set_up(&f);
    REQUIRE(f.report.engine_count >= 2);
    struct engine_total *engines = arena_array(&f.keep, f.report.engine_count, sizeof *engines);
    REQUIRE(engines != NULL);
    memcpy(engines, f.report.engines, f.report.engine_count * sizeof *engines);
    f.report.engines = engines;
    f.columns = 200;
    engines[0].skip_reason = "REASON OF AN ENGINE WITH STACKS";
    engines[1].stacks = 0;
    engines[1].skip_reason = "REASON OF AN ENGINE WITHOUT STACKS";
    CHECK_HAS(text_of(&f, CTRF), "\"crash\"");
    const char *text = text_of(&f, TEXT);
    for (int i = 0; i < ENGINE_VOTES; i++) {
        test_row(engine_votes[i].part);
        CHECK_HAS(text,
                  arena_printf(&f.keep, "%s: %s", engine_votes[i].engines, engine_votes[i].when));
    }
    CHECK_HAS(text, "REASON OF AN ENGINE WITHOUT STACKS");
    CHECK(strstr(text, "REASON OF AN ENGINE WITH STACKS") == NULL);
    for (uint32_t i = 0; i < f.report.engine_count; i++)
        engines[i].skip_reason = NULL;
    CHECK(strstr(text_of(&f, TEXT), "SKIPPED ENGINES") == NULL);
    arena_free(&f.keep);
}

/* MANY cases of 40 scenarios in four builds, in all verdicts, each with a reason of its own. */
static void make_many(struct fixture *f, uint32_t many, bool failing)
{
    static const char *const variants[] = {"ob0", "ob1", "ob2", "ob2-fp"};
    static const int from[] = {2, 3, 4, 0, 1, 5};
    struct run_case *cases = arena_array(&f->keep, many, sizeof *cases);
    REQUIRE(cases != NULL);
    f->run.id = 12;
    for (uint32_t i = 0; i < many; i++) {
        cases[i] = f->cases[failing ? from[i % COUNT_OF(from)] : i % 2 == 0 ? 3 : 5];
        cases[i].scenario = arena_printf(&f->keep, "scenario_%u_with_a_long_name", i / 4);
        cases[i].variant = variants[i % 4];
        cases[i].folder = arena_printf(&f->keep, "build/runs/20261122T042329Z/%u", i);
        if (cases[i].result.reason != NULL && cases[i].result.verdict != VERDICT_PASS)
            cases[i].result.reason = cases[i].result.signature =
                arena_printf(&f->keep, "reason %u: %0200d", i % 97, 7);
    }
    REQUIRE(figures_prepare(&f->run, cases, many, &f->keep, &f->report, &f->fault) == ERR_NONE);
}

/* Every step of both ways was measured in the cases of make_many(). */
static void give_steps(struct fixture *f, uint32_t many)
{
    static struct way_cost ways[WAY_COUNT];
    const struct way_parts parts = {.whole_ns = 800,
                                    .open_ns = 100,
                                    .unwind_ns = 200,
                                    .load_ns = 100,
                                    .resolve_ns = 300,
                                    .own_ns = 700,
                                    .even_ns = 800,
                                    .odd_ns = 800};
    struct run_case *cases = arena_array(&f->keep, many, sizeof *cases);
    REQUIRE(cases != NULL);
    for (int way = 0; way < WAY_COUNT; way++)
        ways[way] = (struct way_cost){.cold = parts, .warm = parts, .frames = 4, .same = 1};
    for (uint32_t i = 0; i < many; i++) {
        cases[i] = f->report.cases[i];
        cases[i].ways = ways;
        cases[i].timing.record_gzip_bytes = 2000;
        cases[i].timing.dump_gzip_bytes = 30000;
    }
    REQUIRE(figures_prepare(&f->run, cases, many, &f->keep, &f->report, &f->fault) == ERR_NONE);
}

TEST(each_failing_case_has_a_command_that_can_be_typed)
{
    static const struct {
        const char *name, *folder, *command;
    } rows[] = {
        {"a kept case", "build/runs/1/0", "more: twinstack check build/runs/1/0\n"},
        {"a folder with a blank", "my runs/1/0", "more: twinstack check 'my runs/1/0'\n"},
        {"no files: it never started", NULL,
         "more: twinstack run -k scenario_0_with_a_long_name.ob0\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        make_many(&f, 1, true);
        struct run_case only = f.report.cases[0];
        only.folder = rows[i].folder;
        f.report.cases = &only;
        CHECK_HAS(text_of(&f, TEXT), rows[i].command);
        arena_free(&f.keep);
    }
}

static uint32_t lines_before(const char *text, const char *end)
{
    const char *at = strstr(text, end);
    uint32_t lines = 0;
    if (at == NULL)
        FAIL("there is no '%s'", end);
    for (; text < at; text++)
        lines += *text == '\n';
    return lines;
}

/* Makes COUNT engines: those of the run, and more reference engines with the numbers of the last
 * one that has stacks. */
static void add_engines(struct fixture *f, uint32_t count)
{
    static const char *const names[] = {"backtrace", "framepointer", "rtl-suspended",
                                        "dbghelp-own"};
    const uint32_t made = f->report.engine_count;
    struct engine_total *engines = arena_array(&f->keep, count + 1, sizeof *engines);
    if (count == 0)
        return;
    REQUIRE(engines != NULL && made < count);
    for (uint32_t i = 0; i < count; i++) {
        engines[i] = f->report.engines[i < made ? i : 1];
        if (i >= made) {
            engines[i].subject = false;
            engines[i].engine =
                arena_printf(&f->keep, "offset:%s%.0u", names[i % COUNT_OF(names)], i / 8);
        }
    }
    f->report.engines = engines;
    f->report.engine_count = count;
}

/* "  3 cases reason 7: ...", not only how many more there are. */
static bool names_a_reason(const char *text)
{
    static const char title[] = "NOT SHOWN HERE (UNSUPPORTED: counted, never passed)\n";
    const char *at = strstr(text, title), *reason = at != NULL ? strstr(at, " reason ") : NULL;
    return reason != NULL && reason < strchr(at + sizeof title, '\n');
}

TEST(the_answer_comes_first_and_the_whole_has_one_screen)
{
    static const struct {
        const char *name;
        uint32_t many, columns;
        bool failing;
        uint32_t engines; /* 0: as made */
        bool steps;       /* every step was measured: they have lines of their own */
    } rows[] = {
        {"all is well", 400, 100, false, 0, false},
        {"much fails", 400, 100, true, 0, false},
        {"all is well, and all was measured", 400, 100, false, 0, true},
        {"much fails, and all was measured", 400, 100, true, 14, true},
        {"all was measured, on a narrow page", 400, 80, true, 14, true},
        {"a narrow page", 400, 80, true, 0, false},
        {"a wide page", 400, 200, true, 0, false},
        {"a single failure", 1, 100, true, 0, false},
        {"as many engines as there are", 400, 100, false, 12, false},
        {"more engines than find room", 400, 100, false, 30, false},
        {"much fails, and many engines", 400, 100, true, 14, false},
        {"many engines on a narrow page", 400, 80, true, 14, false},
    };
    static const char *const order[] = {" cases: ", "BOTH WAYS over the same", "SPEED",
                                        "NOT SHOWN HERE"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        f.columns = rows[i].columns;
        f.without_details = true;
        make_many(&f, rows[i].many, rows[i].failing);
        if (rows[i].steps)
            give_steps(&f, rows[i].many);
        add_engines(&f, rows[i].engines);
        const char *text = text_of(&f, TEXT);
        CHECK(lines_before(text, "--details` shows every case") < (rows[i].failing ? 60 : 36));
        if (rows[i].steps)
            CHECK_HAS(text, " plain dump : offsets");
        if (rows[i].steps)
            CHECK_HAS(text, "one crash, 20 Mbit/s");
        if (rows[i].failing)
            CHECK(lines_before(text, "WHAT FAILS, and why: ") + 3 <= lines_before(text, order[1]));
        if (rows[i].many > 1)
            CHECK(names_a_reason(text));
        CHECK(strncmp(text, rows[i].failing ? "FAIL   " : "PASS   ", 7) == 0);
        if (rows[i].failing) {
            CHECK_HAS(text, "more: twinstack check build/runs/20261122T042329Z/0\n");
            CHECK(lines_before(text, "WHAT FAILS, and why") < lines_before(text, order[1]));
        }
        for (size_t k = 1; k < COUNT_OF(order) && rows[i].many > 1; k++)
            CHECK(lines_before(text, order[k - 1]) < lines_before(text, order[k]));
        arena_free(&f.keep);
    }
}

TEST(heads_of_columns_break_between_words_only)
{
    static const uint32_t pages[] = {60, 80, 100, 120, 132, 160};
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        struct fixture f;
        test_row("a page");
        set_up(&f);
        f.columns = pages[i];
        f.without_details = true;
        make_many(&f, 400, true);
        f.run.id = 0; /* never stored: nothing is left out */
        add_engines(&f, 8);
        char *text = strstr(text_of(&f, TEXT), "\nCASES THAT DEVIATE: ");
        REQUIRE(text != NULL);
        *strstr(text, "\nscenario_0") = 0;
        static const char *const parts[] = {"backtrace", "framepointer", "suspended", "dbghelp"};
        for (size_t k = 0; k < COUNT_OF(parts); k++) {
            const char *part = strstr(text, arena_printf(&f.keep, "%.4s", parts[k]));
            if (part != NULL && strncmp(part, parts[k], strlen(parts[k])) != 0)
                FAIL("%u columns: '%s' is broken in:%s", pages[i], parts[k], text);
        }
        arena_free(&f.keep);
    }
}

TEST(markdown_has_the_same_order)
{
    static const char *const order[] = {"cases fail",
                                        "### What fails",
                                        "### Engines against the truth",
                                        "### Speed",
                                        "### Not shown",
                                        "### Cases that deviate",
                                        "### Right stacks of managed code",
                                        "<summary>All"};
    struct named_version managed = {.name = "managed stacks: x", .version = "plain 1/2"};
    struct fixture f;
    set_up(&f);
    make_many(&f, 40, true);
    f.run.environment = &managed;
    f.run.environment_count = 1;
    const char *text = text_of(&f, MARKDOWN);
    for (size_t k = 1; k < COUNT_OF(order); k++) {
        test_row(order[k]);
        CHECK(lines_before(text, order[k - 1]) < lines_before(text, order[k]));
    }
    arena_free(&f.keep);
}

TEST(builds_that_are_alike_share_a_row)
{
    static const struct {
        const char *name;
        int from[4]; /* which made case each build has */
        bool details;
        const char *has, *lacks;
    } rows[] = {
        {"all pass", {0, 1, 0, 1}, true, "null_write all 4 ✓ PASS", "ob0"},
        {"all fail", {2, 2, 2, 2}, false, "null_write all 4 ✗ FAIL", "ob0 "},
        {"one fails", {0, 2, 1, 0}, false, "null_write ob1   ✗ FAIL", "ob2-fp"},
        {"one fails, details",
         {0, 2, 1, 0},
         true,
         "null_write ob0, ob2, ob2-fp ✓ PASS  ✓3/3   ✓3/3\n           ob1              ✗ FAIL",
         "all "},
        {"unsupported deviates from nothing",
         {3, 3, 3, 3},
         false,
         "4 UNSUPPORTED",
         "CASES THAT DEVIATE"},
    };
    static const char *const variants[] = {"ob0", "ob1", "ob2", "ob2-fp"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        struct run_case cases[4];
        test_row(rows[i].name);
        set_up(&f);
        f.without_details = !rows[i].details;
        for (int k = 0; k < 4; k++) {
            cases[k] = f.cases[rows[i].from[k]];
            cases[k].scenario = "null_write";
            cases[k].variant = variants[k];
        }
        REQUIRE(figures_prepare(&f.run, cases, 4, &f.keep, &f.report, &f.fault) == ERR_NONE);
        const char *text = text_of(&f, TEXT);
        const char *grid = strstr(text, "CASES THAT DEVIATE");
        grid = grid != NULL ? grid : strstr(text, "ALL 4 CASES");
        CHECK_HAS(text, rows[i].has);
        if (grid != NULL)
            grid = arena_text(&f.keep, grid, strcspn(grid, "·"));
        if (strstr(grid != NULL ? grid : text, rows[i].lacks) != NULL)
            FAIL("%s: there is '%s' in %s", rows[i].name, rows[i].lacks, grid);
        arena_free(&f.keep);
    }
}

TEST(hooks_are_reported_by_what_they_saw)
{
    static const struct {
        const char *name, *promised, *seen, *row, *legend;
    } rows[] = {
        {"as promised", "vectored,unhandled", "vectored,unhandled",
         "null_write +2 4     ✓        ✓\nseen                4        4\n",
         "\n✓ as expected · +2 after a name: 2 more scenarios of that kind\n"},
        {"promised, not seen", "vectored,unhandled", "vectored",
         "null_write.ob0    1     ✓        ✗\nnull_write     +2 3     ✓        ✓\n"
         "promised                4        4\n",
         "\n✓ as expected · ✗ expected, not seen · +2 after a name: 2 more"},
        {"seen, not promised", "vectored", "vectored,unhandled",
         "null_write.ob0    1     ✓        +\n", "\n✓ as expected · + seen, not expected · +2"},
        {"no hook was expected to see it", NULL, NULL, "null_write.ob0    1     ·        ·\n",
         "\n· neither expected nor seen · ✓ as expected · +2"},
        {"a hook of imports", "vectored,import", "vectored,import",
         "cases vectored unhandled import\n", "· ✓ as expected · +2"},
        {"part of a name is no name", "vectored", "vector",
         "null_write.ob0    1     ✗        ·         +\n",
         "\n· neither expected nor seen · ✓ as expected · ✗ expected, not seen · + seen, not"},
        {"a hook of a newer program", "vectored,novel", "vectored,novel",
         "cases vectored unhandled other\n", "· ✓ as expected · +2"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        test_row(rows[i].name);
        set_up(&f);
        for (uint32_t c = 0; c < MADE_CASES; c++)
            f.cases[c].expected_hooks = f.cases[c].got_hooks = hooks_parse("vectored,unhandled");
        f.cases[0].expected_hooks = hooks_parse(rows[i].promised);
        f.cases[0].got_hooks = hooks_parse(rows[i].seen);
        REQUIRE(figures_prepare(&f.run, f.cases, MADE_CASES, &f.keep, &f.report, &f.fault) ==
                ERR_NONE);
        f.without_details = true;
        const char *text = text_of(&f, TEXT);
        CHECK_HAS(text, "HOOKS");
        CHECK_HAS(text, rows[i].row);
        CHECK_HAS(text, rows[i].legend);
        arena_free(&f.keep);
    }
}

/* Causes that fail no case are one line, unless all is asked for. */
TEST(causes_that_fail_nothing_are_one_line)
{
    struct fixture f;
    set_up(&f);
    f.run.id = 12;
    for (uint32_t i = 0; i < f.cases[2].result.finding_count; i++)
        f.cases[2].result.findings[i].fails = false;
    REQUIRE(figures_prepare(&f.run, f.cases, 3, &f.keep, &f.report, &f.fault) == ERR_NONE);
    f.without_details = true;
    const char *text = text_of(&f, TEXT);
    CHECK_HAS(text, " in cases that do not fail, with findings: ");
    CHECK(strstr(text, "0 failing") == NULL);
    f.without_details = false;
    text = text_of(&f, TEXT);
    CHECK(strstr(text, " in cases that do not fail") == NULL);
    CHECK_HAS(text, "0 failing");
    arena_free(&f.keep);
}

TEST(markdown_is_capped_and_counts_what_it_leaves_out)
{
    enum { MANY = 2000, CAP = 20000 };
    struct fixture f;
    set_up(&f);
    struct run_case *many = arena_array(&f.keep, MANY, sizeof *many);
    for (int i = 0; i < MANY; i++) {
        many[i] = f.cases[2]; /* the failing one; cases that fail alike would share a row */
        many[i].scenario = arena_printf(&f.keep, "divide_by_%d", i);
        many[i].result.signature = many[i].scenario;
    }
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
    CHECK_HAS(copy, "more cases");
    CHECK(strstr(copy, "<script") == NULL && strstr(copy, "</script") == NULL);
    arena_free(&f.keep);
}

/* The HRESULT of a snapshot that the runtime refused, and that something was stood in for. */
TEST(refused_snapshots_are_on_every_face)
{
    static const char refused[] = "snapshot refused: UNSAFE", result[] = "0x80131360";
    static const char stand_in[] = "under Wine a stand-in answers for the trap flags";
    static const int forms[] = {TEXT, JSON, MARKDOWN};
    struct fixture f;
    set_up(&f);
    struct run_case *c = &f.cases[0];
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    c->claims[2] = make_claim(&f.keep, "offset:snapshot", false,
                              "!! snapshot refused: UNSAFE "
                              "(0x80131360)");
    c->claims[2].shares = stand_in;
    const struct compare_input in = {
        .crash = &crash, .truth = c->truth, .claims = c->claims, .claim_count = c->claim_count};
    REQUIRE(compare_case(&in, &f.keep, &c->result, &f.fault) == ERR_NONE);
    CHECK_STR(verdict_name(c->result.verdict), "PASS");
    REQUIRE(figures_prepare(&f.run, f.cases, MADE_CASES, &f.keep, &f.report, &f.fault) == ERR_NONE);
    f.columns = 200;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        size_t bytes = 0;
        const char *path = arena_printf(&f.keep, "%s/refused", test_scratch());
        FILE *out = fopen(path, "wb");
        REQUIRE(out != NULL);
        write_form(&f, forms[i], out);
        (void)fclose(out);
        const char *data = (const char *)test_read(path, &bytes);
        const char *text = arena_text(&f.keep, data, bytes);
        test_row(name_of(forms[i]));
        CHECK_HAS(text, refused);
        CHECK_HAS(text, result);
        CHECK_HAS(text, stand_in);
    }
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
        CHECK_EQ(report_badge(&(struct report_job){.report = &f.report, .badge = rows[i].metric},
                              out, &fault),
                 rows[i].want);
        (void)fclose(out);
    }
    arena_free(&f.keep);
}
