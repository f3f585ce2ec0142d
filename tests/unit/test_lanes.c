/* Builds that a host did not run at all: every face of a report names them. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "study/lanes.h"
#include "test.h"

enum { CASES_MAX = 8 };

struct made_case {
    const char *variant;
    enum cpu arch;
    const char *why; /* UNSUPPORTED; NULL: PASS */
};

static const struct {
    const char *name;
    struct made_case cases[CASES_MAX];
    const char *not_built, *variants; /* a fact of the run; what it was asked for */
    const char *not_run, *counts;
} rows[] = {
    {"all are run",
     {{"ob0", CPU_X64, NULL}, {"ob2", CPU_X64, NULL}, {"x86-ob2", CPU_X86, NULL}},
     NULL,
     NULL,
     NULL,
     "x64 2 of 2, x86 1 of 1"},
    {"some cases of a build are not",
     {{"ob2", CPU_X64, NULL}, {"x86-ob2", CPU_X86, NULL}, {"x86-ob2", CPU_X86, "no tables"}},
     NULL,
     NULL,
     NULL,
     "x64 1 of 1, x86 1 of 2"},
    {"no case of two builds",
     {{"ob2", CPU_X64, NULL},
      {"x86-ob2", CPU_X86, "no wine32"},
      {"x86-ob0", CPU_X86, "no wine32"},
      {"x86-ob0", CPU_X86, "no wine32"}},
     NULL,
     NULL,
     "x86-ob0, x86-ob2 (no wine32)",
     "x64 1 of 1, x86 0 of 3"},
    {"two reasons",
     {{"ob2", CPU_X64, NULL},
      {"managed-ob2", CPU_X64, "no .NET runtime"},
      {"x86-ob2", CPU_X86, "no wine32"}},
     NULL,
     NULL,
     "managed-ob2 (no .NET runtime); x86-ob2 (no wine32)",
     ".NET 3.1 0 of 1, x64 1 of 1, x86 0 of 1"},
    {"a build without a program",
     {{"ob2", CPU_X64, NULL}},
     "lua-ob0, lua-ob2",
     NULL,
     "lua-ob0, lua-ob2 (not built)",
     "x64 1 of 1"},
    {"it was not asked for",
     {{"ob2", CPU_X64, NULL}},
     "lua-ob0, lua-ob2",
     "ob2",
     NULL,
     "x64 1 of 1"},
    {"nothing is run",
     {{"x86-ob2", CPU_X86, "no wine32"}},
     NULL,
     NULL,
     "x86-ob2 (no wine32)",
     "x86 0 of 1"},
};

struct world {
    struct arena keep;
    struct fault fault;
    struct run_info run;
    struct named_version fact;
    struct run_case cases[CASES_MAX];
    struct run_figures figures;
};

static void make_world(struct world *w, size_t row)
{
    uint32_t count = 0;
    memset(w, 0, sizeof *w);
    arena_init(&w->keep, 0);
    w->run.id = 1;
    w->run.state = RUN_COMPLETE;
    w->run.selection.known = true;
    w->run.selection.variants = rows[row].variants;
    w->fact = (struct named_version){RUN_FACT_NOT_BUILT, rows[row].not_built};
    w->run.environment = &w->fact;
    w->run.environment_count = rows[row].not_built != NULL;
    for (; count < CASES_MAX && rows[row].cases[count].variant != NULL; count++) {
        const struct made_case *from = &rows[row].cases[count];
        w->cases[count] = (struct run_case){
            .scenario = "null_write",
            .variant = from->variant,
            .arch = from->arch,
            .kind = CASE_KIND_CRASH,
            .repeat = count,
            .result = {.verdict = from->why != NULL ? VERDICT_UNSUPPORTED : VERDICT_PASS,
                       .reason = from->why != NULL ? from->why : ""}};
    }
    REQUIRE(figures_prepare(&w->run, w->cases, count, &w->keep, &w->figures, &w->fault) ==
            ERR_NONE);
}

TEST(a_build_that_was_not_run_is_named_with_its_reason)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        test_row(rows[i].name);
        make_world(&w, i);
        CHECK_STR(lanes_not_run(&w.figures, &w.keep), rows[i].not_run);
        CHECK_STR(lanes_counts(&w.figures, &w.keep), rows[i].counts);
        arena_free(&w.keep);
    }
}

static char *written(struct world *w, int form)
{
    FILE *out = tmpfile();
    const struct report_style style = {.columns = 200};
    REQUIRE(out != NULL);
    if (form == 0)
        (void)report_text(&w->figures, &style, &w->keep, out, &w->fault);
    else if (form == 1)
        (void)report_markdown(&w->figures, 0, &w->keep, out, &w->fault);
    else
        (void)report_badge(&(struct report_job){.report = &w->figures, .badge = "verdict"}, out,
                           &w->fault);
    CHECK_EQ(w->fault.code, ERR_NONE);
    const size_t bytes = (size_t)ftell(out);
    char *text = arena_alloc(&w->keep, bytes + 1);
    REQUIRE(text != NULL);
    rewind(out);
    CHECK_EQ(fread(text, 1, bytes, out), bytes);
    text[bytes] = '\0';
    (void)fclose(out);
    return text;
}

TEST(terminal_markdown_and_badge_name_it)
{
    static const char *const heads[] = {"NOT RUN: ", "NOT RUN: ", ", not run: "};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int form = 0; form < 3; form++) {
            struct world w;
            test_row(rows[i].name);
            make_world(&w, i);
            const char *text = written(&w, form);
            const bool named = strstr(text, heads[form]) != NULL;
            CHECK_EQ(named, rows[i].not_run != NULL);
            if (form == 2)
                CHECK_EQ(strstr(text, "brightgreen") != NULL, rows[i].not_run == NULL);
            arena_free(&w.keep);
        }
}
