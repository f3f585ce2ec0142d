/* Builds that a host did not run at all: every face of a report names them. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "store_fixture.h"
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

/* Each run is what becomes of one build in it: P it runs, U it does not, p only its second case
 * does,
 * - the run has another build; an interrupted run follows each. The last one is asked. */
TEST(a_build_that_was_not_run_is_named_with_the_run_in_which_that_began)
{
    static const struct {
        const char *name, *runs, *not_run;
    } past[] = {
        {"no run before", "U", "x86-ob2 (no wine32), and no earlier run has it"},
        {"the run before ran it", "PU",
         "x86-ob2 (no wine32), since run 3 (commit-2), run 1 was good"},
        {"a case of it", "pU", "x86-ob2 (no wine32), since run 3 (commit-2), run 1 was good"},
        {"two runs do not", "PUU", "x86-ob2 (no wine32), since run 3 (commit-2), run 1 was good"},
        {"one between has another build", "PU-U",
         "x86-ob2 (no wine32), since run 3 (commit-2), run 1 was good"},
        {"it never ran", "UU", "x86-ob2 (no wine32), nor in any run before"},
        {"the run before has another build", "-U",
         "x86-ob2 (no wine32), and no earlier run has it"},
        {"more runs than are looked at", "UUUUUUUUUUUUUUUUUUUUUU",
         "x86-ob2 (no wine32), nor in the 20 runs before"},
        {"it runs again", "UP", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(past); i++) {
        struct store_fixture f;
        struct run_info info;
        struct run_figures figures;
        test_row(past[i].name);
        store_set_up(&f);
        for (uint32_t r = 0; past[i].runs[r] != '\0'; r++)
            for (int interrupted = 0; interrupted < 2; interrupted++) {
                const char what = past[i].runs[r];
                struct run_info run = {
                    .uuid = arena_printf(&f.keep, "%u-%d", (unsigned)r, interrupted),
                    .commit = arena_printf(&f.keep, "commit-%u", (unsigned)r + 1),
                    .branch = "main"};
                if (interrupted && past[i].runs[r + 1] == '\0')
                    break;
                REQUIRE(store_begin_run(f.store, &run, &f.keep, &f.fault) == ERR_NONE);
                for (uint32_t k = 0; k < 2; k++) {
                    const bool ran = what == 'P' || (what == 'p' && k == 1) || interrupted;
                    struct run_case c = {
                        .scenario = arena_printf(&f.keep, "case_%u", (unsigned)k),
                        .variant = what == '-' ? "ob2" : "x86-ob2",
                        .kind = CASE_KIND_CRASH,
                        .result = {.verdict = ran ? VERDICT_PASS : VERDICT_UNSUPPORTED,
                                   .reason = ran ? "" : "no wine32"}};
                    REQUIRE(store_put_case(f.store, run.id, &c, &f.fault) == ERR_NONE);
                }
                REQUIRE(store_finish_run(f.store, run.id,
                                         interrupted ? RUN_INTERRUPTED : RUN_COMPLETE, 1,
                                         &f.fault) == ERR_NONE);
            }
        REQUIRE(figures_read(f.store, "latest", NULL, &f.keep, &info, &figures, &f.fault) ==
                ERR_NONE);
        CHECK_STR(lanes_not_run(&figures, &f.keep), past[i].not_run);
        store_tear_down(&f);
    }
}

/* P: PASS, F: FAIL, U: UNSUPPORTED, -: the case is not in that run. */
TEST(a_build_that_no_longer_runs_is_lost)
{
    static const struct {
        const char *name;
        struct {
            const char *variant;
            char before, now;
        } cases[4];
        const char *lost;
    } builds[] = {
        {"nothing is", {{"ob2", 'P', 'P'}, {"x86-ob2", 'P', 'F'}}, NULL},
        {"one of its cases runs", {{"x86-ob2", 'P', 'U'}, {"x86-ob2", 'P', 'P'}}, NULL},
        {"its only case", {{"ob2", 'P', 'P'}, {"x86-ob2", 'P', 'U'}}, "x86-ob2 (1 case)"},
        {"all of its cases",
         {{"x86-ob0", 'P', 'U'}, {"ob2", 'P', 'P'}, {"x86-ob0", 'P', 'U'}},
         "x86-ob0 (2 cases)"},
        {"two builds",
         {{"x86-ob2", 'P', 'U'}, {"x86-ob0", 'P', 'U'}, {"x86-ob2", 'P', 'U'}, {"ob2", 'P', 'P'}},
         "x86-ob2 (2 cases), x86-ob0 (1 case)"},
        {"it failed before", {{"x86-ob2", 'F', 'U'}}, "x86-ob2 (1 case)"},
        {"it was not run before", {{"x86-ob2", 'U', 'U'}}, NULL},
        {"what was not run does not count",
         {{"x86-ob2", 'U', 'U'}, {"x86-ob2", 'P', 'U'}},
         "x86-ob2 (1 case)"},
        {"its cases are gone", {{"x86-ob2", 'P', '-'}}, NULL},
        {"what is gone does not count",
         {{"x86-ob2", 'P', '-'}, {"x86-ob2", 'P', 'U'}},
         "x86-ob2 (1 case)"},
        {"it is new", {{"x86-ob2", '-', 'U'}}, NULL},
        {"it runs since", {{"x86-ob2", 'U', 'P'}}, NULL},
    };
    static const enum verdict verdicts[128] = {
        ['P'] = VERDICT_PASS, ['F'] = VERDICT_FAIL, ['U'] = VERDICT_UNSUPPORTED};
    for (size_t i = 0; i < COUNT_OF(builds); i++) {
        struct diff_case sides[COUNT_OF(builds[i].cases)][2];
        struct diff_case past[2] = {{.variant = "past", .verdict = VERDICT_PASS},
                                    {.variant = "past", .verdict = VERDICT_UNSUPPORTED}};
        struct diff_row list[COUNT_OF(builds[i].cases) + 1];
        struct run_diff diff = {.rows = list};
        struct arena keep;
        test_row(builds[i].name);
        arena_init(&keep, 0);
        memset(sides, 0, sizeof sides);
        memset(list, 0, sizeof list);
        for (uint32_t k = 0; k < COUNT_OF(builds[i].cases) && builds[i].cases[k].variant != NULL;
             k++) {
            const char letters[] = {builds[i].cases[k].before, builds[i].cases[k].now};
            for (int side = 0; side < 2; side++) {
                sides[k][side].variant = builds[i].cases[k].variant;
                sides[k][side].verdict = verdicts[(int)letters[side]];
            }
            list[k].a = letters[0] != '-' ? &sides[k][0] : NULL;
            list[k].b = letters[1] != '-' ? &sides[k][1] : NULL;
            diff.row_count = k + 1;
        }
        /* after the last row: it does not count */
        list[diff.row_count] = (struct diff_row){.a = &past[0], .b = &past[1]};
        CHECK_STR(lanes_lost(&diff, &keep), builds[i].lost);
        arena_free(&keep);
    }
}
