/* What a document says, in Markdown and on a page: sentences and lists by the rules of sheet.h; and
 * the rows of its tables and the badge, from figures that are counted by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/badge.h"
#include "report/document.h"
#include "report/words.h"
#include "study/accuracy.h"
#include "test.h"

static struct arena keep;

/* What WRITE says; WIDE 0: in Markdown. */
static const char *said(void (*write)(struct sheet *s, const void *context), const void *context,
                        uint32_t wide, uint32_t most_lines)
{
    char name[600];
    struct sheet sheet;
    size_t bytes;
    (void)snprintf(name, sizeof name, "%s/said.txt", test_scratch());
    FILE *out = fopen(name, "wb");
    REQUIRE(out != NULL);
    const struct page page = {.out = out, .columns = wide};
    if (wide > 0)
        sheet_on_page(&sheet, &page, &keep);
    else
        sheet_as_markdown(&sheet, out, 0, &keep);
    sheet.most_lines = most_lines;
    write(&sheet, context);
    REQUIRE(fclose(out) == 0);
    const char *text = (const char *)test_read(name, &bytes);
    return arena_text(&keep, text, bytes);
}

/* ---- sentences and lists ---------------------------------------------------------------- */

static void write_blocks(struct sheet *s, const void *context)
{
    static const char *const commands[] = {"more: ", "a | b", ", and <c>"};
    (void)context;
    sheet_heading(s, "Speed", ": medians");
    sheet_text(s, INK_PLAIN, 0, 0, "first");
    sheet_text(s, INK_PLAIN, 0, 0, NULL);
    sheet_textf(s, INK_BAD, "%u of _%u_", 2U, 3U);
    sheet_commands(s, commands, COUNT_OF(commands));
    sheet_raw(s, "<raw>\n");
    sheet_fold(s, "All");
    sheet_text(s, INK_TITLE, 0, 0, "inside");
    sheet_unfold(s);
    sheet_heading(s, "A", "");
    sheet_heading(s, "B", "");
    sheet_raw(s, "<b>\n");
    sheet_text(s, INK_PLAIN, 0, 0, "last");
}

TEST(blocks_are_apart_in_markdown_and_lines_on_a_page)
{
    arena_init(&keep, 0);
    CHECK_STR(
        said(write_blocks, NULL, 0, 0),
        "### Speed: medians\nfirst\n\n**2 of \\_3\\_**\n\nmore: `a ? b`, and &lt;c\\>\n<raw>\n"
        "\n<details><summary>All</summary>\n\n**inside**\n\n</details>\n\n### A\n\n### "
        "B\n<b>\n\nlast\n");
    CHECK_STR(said(write_blocks, NULL, 80, 0), "\nSPEED: medians\nfirst\n2 of _3_\nmore: `a | b`, "
                                               "and <c>\n\nALL\ninside\n\nA\n\nB\nlast\n");
    arena_free(&keep);
}

static void entry_of(const void *rows, size_t at, struct arena *in, struct sheet_entry *out)
{
    const struct sheet_entry *entries = rows;
    (void)in;
    *out = entries[at];
}

struct list {
    const char *name;
    struct sheet_entry entries[3];
    uint32_t count, most_lines;
    const char *markdown, *page; /* of 40 columns */
};

static void write_list(struct sheet *s, const void *context)
{
    const struct list *list = context;
    (void)sheet_list(s, entry_of, list->entries, list->count, "case", ", below");
}

TEST(entries_have_a_head_a_reason_and_what_can_be_typed)
{
    static const struct list rows[] = {
        {"no entry", {{.text = NULL}}, 0, 0, "", ""},
        {"a text alone", {{.text = "a"}, {.text = "b"}}, 2, 0, "* a\n* b\n", "a\nb\n"},
        {"a head, and lines that begin below the text",
         {{.head = "FAIL ", .text = "alpha beta gamma delta epsilon zetas eta theta"}},
         1,
         0,
         "* FAIL alpha beta gamma delta epsilon zetas eta theta\n",
         "FAIL alpha beta gamma delta epsilon\n     zetas eta theta\n"},
        {"a given indent, at which the head ends",
         {{.head = "F", .indent = 3, .text = "alpha beta gamma delta epsilon zeta eta theta"}},
         1,
         0,
         "* Falpha beta gamma delta epsilon zeta eta theta\n",
         "F  alpha beta gamma delta epsilon zeta\n   eta theta\n"},
        {"why, note and command",
         {{.text = "a", .why = "w", .note = "n", .command = "c"}},
         1,
         0,
         "* a<br>w<br>n · more: `c`\n",
         "a\n  w\n  n · more: c\n"},
        {"a command without a note",
         {{.text = "a", .command = "c"}},
         1,
         0,
         "* a<br>more: `c`\n",
         "a\n  more: c\n"},
        {"a note alone", {{.text = "a", .note = "n"}}, 1, 0, "* a<br>n\n", "a\n  n\n"},
        {"why, further in",
         {{.text = "a", .why = "w", .why_indent = 4}},
         1,
         0,
         "* a<br>w\n",
         "a\n    w\n"},
        {"at most one line",
         {{.text = "alpha beta gamma delta epsilon zeta eta theta", .most = 1}},
         1,
         0,
         "* alpha beta gamma delta epsilon zeta eta theta\n",
         "alpha beta gamma delta epsilon zeta ...\n"},
        {"what has no room is counted, thing by thing",
         {{.text = "a"}, {.text = "b", .stands_for = 5}, {.text = "c"}},
         3,
         2,
         "* a\n* b\n* c\n",
         "a\nand 6 more cases, below\n"},
        {"the last line is for the last entry",
         {{.text = "a"}, {.text = "b"}},
         2,
         2,
         "* a\n* b\n",
         "a\nb\n"},
        {"no room at all", {{.text = "a"}, {.text = "b"}}, 2, 1, "* a\n* b\n", "2 cases, below\n"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        arena_init(&keep, 0);
        CHECK_STR(said(write_list, &rows[i], 0, rows[i].most_lines), rows[i].markdown);
        CHECK_STR(said(write_list, &rows[i], 40, rows[i].most_lines), rows[i].page);
        arena_free(&keep);
    }
}

/* ---- engines ---------------------------------------------------------------------------- */

static const struct run_info complete = {.state = RUN_COMPLETE};

static void write_engines(struct sheet *s, const void *context)
{
    (void)document_engines(s, context, 0);
}

/* The interval is Wilson's of 1 in 2; the shares are cut after one digit. */
TEST(each_column_of_an_engine_is_its_own_share)
{
    static const struct engine_total engines[] = {
        {.engine = "a",
         .subject = true,
         .stacks = 2,
         .judged = 2,
         .exact = 1,
         .right_frames = 3,
         .own_frames = 4,
         .truth_frames = 5,
         .inline_right = 1,
         .inline_demanded = 3,
         .lines_right = 1,
         .lines_judged = 8,
         .top1 = 2,
         .top5 = 0,
         .physical_same = 2,
         .physical_judged = 3},
        {.engine = "b", .stacks = 1, .judged = 1, .exact = 1},
        {.engine = "c", .stacks = 1},
        {.engine = "d"},
        {.engine = "e"},
    };
    const struct run_figures figures = {
        .run = &complete, .engines = engines, .engine_count = COUNT_OF(engines)};
    arena_init(&keep, 0);
    const char *text = said(write_engines, &figures, 0, 0);
    CHECK_HAS(text,
              "### Engines against the truth\n|  | exact stacks | precision | recall | inline "
              "| lines | top 1 | top 5 | physical |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    CHECK_HAS(text, "| a \\* | 1/2 \\[9-91 %\\] | 75.0 % | 60.0 % | 33.3 % | 12.5 % | 100 % | 0 % "
                    "| 66.6 % |\n");
    CHECK_HAS(text, "| b | 1/1 \\[21-100 %\\] | - | - | - | - | 0 % | 0 % | - |\n");
    CHECK_HAS(text, "| c | nothing to judge by |  |  |  |  |  |  |  |\n");
    CHECK_HAS(text, "\nno stack: d, e\n");
    CHECK(strstr(text, "not in these figures") == NULL);
    arena_free(&keep);
}

TEST(engines_under_test_are_always_shown)
{
    static const struct engine_total engines[] = {
        {.engine = "a", .subject = true, .stacks = 1},
        {.engine = "b", .subject = true, .stacks = 1},
        {.engine = "c", .stacks = 1},
        {.engine = "d", .stacks = 1},
        {.engine = "e", .stacks = 1},
    };
    static const struct {
        uint32_t most;
        size_t left;
        const char *words; /* NULL: nothing is left out */
    } rows[] = {{0, 0, NULL},
                {1, 3, "and 3 more reference engines"},
                {2, 3, "and 3 more reference engines"},
                {3, 2, "and 2 more reference engines"},
                {4, 1, "and 1 more reference engine\n"},
                {5, 0, NULL},
                {6, 0, NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (uint32_t left_out = 0; left_out < 3; left_out++) {
            static const char *const words[] = {NULL, "1 case is not in", "2 cases are not in"};
            const struct run_figures figures = {.run = &complete,
                                                .engines = engines,
                                                .engine_count = COUNT_OF(engines),
                                                .left_out = left_out};
            struct sheet sheet;
            size_t bytes;
            char name[600];
            arena_init(&keep, 0);
            (void)snprintf(name, sizeof name, "%s/engines", test_scratch());
            test_row(rows[i].words != NULL ? rows[i].words : "all");
            FILE *out = fopen(name, "wb");
            REQUIRE(out != NULL);
            sheet_as_markdown(&sheet, out, 0, &keep);
            CHECK_EQ(document_engines(&sheet, &figures, rows[i].most), rows[i].left);
            (void)fclose(out);
            const char *raw = (const char *)test_read(name, &bytes),
                       *text = arena_text(&keep, raw, bytes);
            for (size_t k = 0; k < COUNT_OF(engines); k++) {
                char cell[16];
                (void)snprintf(cell, sizeof cell, "\n| %s ", engines[k].engine);
                CHECK_EQ(strstr(text, cell) != NULL, k < COUNT_OF(engines) - rows[i].left);
            }
            CHECK_EQ(strstr(text, "reference engine") != NULL, rows[i].words != NULL);
            if (rows[i].words != NULL)
                CHECK_HAS(text, rows[i].words);
            CHECK_EQ(strstr(text, "not in these figures") != NULL, left_out > 0);
            if (left_out > 0)
                CHECK_HAS(text, words[left_out]);
            arena_free(&keep);
        }
}

/* ---- grid ------------------------------------------------------------------------------- */

static void write_grid(struct sheet *s, const void *context)
{
    struct fault fault = FAULT_INIT;
    CHECK_EQ(document_grid(s, context, false, &fault), ERR_NONE);
}

#define JUDGED .state = STACK_OK, .judged = true, .frames = 3
TEST(notes_of_the_grid_are_those_of_its_cells)
{
    static const struct {
        struct engine_score score;
        const char *cell, *says;
        uint32_t repeat, more; /* builds that are alike */
    } rows[] = {
        {.score = {JUDGED, .exact = true, .right_frames = 3, .truth_frames = 3},
         .cell = "✓3/3",
         .says =
             "✓ exact: function, file, line of every frame · 2/3: frames right of frames true\n"},
        {.score = {JUDGED, .right_frames = 2, .truth_frames = 3},
         .cell = "✗2/3",
         .says = "✗ not exact · 2/3: frames right of frames true\n"},
        {.score = {JUDGED, .right_frames = 199, .truth_frames = 200},
         .cell = "✗99.5%",
         .says = "✗ not exact · 99.5%: frames right of over 99 true\n"},
        {.score = {JUDGED, .exact = true, .apart = true, .right_frames = 3, .truth_frames = 3},
         .cell = "≠3/3",
         .says =
             "2/3: frames right of frames true\n"
             "≠6/6: right where the truth judges; elsewhere the two ways contradict each other\n"},
        {.score = {.state = STACK_OK, .frames = 7},
         .cell = " 7",
         .says = "7: frames, with no truth to compare them with\n"},
        {.score = {.state = STACK_FAILED},
         .cell = "ob2#3",
         .says = "·: no stack\n"
                 "ob2#3: the third time that this run took ob2 (--repeat)\n",
         .repeat = 2},
        {.score = {.state = STACK_FAILED},
         .cell = "all 2",
         .says = "·: no stack\n",
         .repeat = 2,
         .more = 1},
        {.score = {.state = STACK_BLOCKED},
         .cell = "stuck",
         .says = "stuck: the walk waited for a lock that was never released, and was given up\n"},
    };
    static const struct engine_total engines[] = {{.engine = "dump", .subject = true, .stacks = 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_score score = rows[i].score;
        score.engine = "dump";
        const struct scenario_builds build = {.scenario = "a", .cases = 1 + rows[i].more};
        const struct run_case c = {
            .scenario = "a",
            .variant = "ob2",
            .repeat = rows[i].repeat,
            .result = {.verdict = VERDICT_FAIL, .scores = &score, .score_count = 1}};
        const struct run_case cases[] = {c, c};
        const struct run_figures figures = {.run = &complete,
                                            .engines = engines,
                                            .engine_count = 1,
                                            .cases = cases,
                                            .case_count = 1 + rows[i].more,
                                            .builds = &build,
                                            .build_count = 1,
                                            .total_cases = 1 + rows[i].more};
        test_row(rows[i].cell);
        arena_init(&keep, 0);
        const char *text = said(write_grid, &figures, 100, 0), *row = strstr(text, rows[i].cell);
        REQUIRE(row != NULL);
        CHECK_STR(strchr(row, '\n') + 1, rows[i].says);
        const char *first = arena_text(&keep, rows[i].says, strcspn(rows[i].says, "\n"));
        CHECK_HAS(said(write_grid, &figures, 0, 0), first);
        arena_free(&keep);
    }
}

/* ---- symbols ---------------------------------------------------------------------------- */

static void write_symbols(struct sheet *s, const void *context)
{
    document_symbols(s, context);
}

TEST(builds_of_a_module_are_one_row)
{
    static const struct symbol_row rows[] = {
        {.module = "a.dll", .code_id = "1", .symbols = SYMBOLS_PDB, .frames = 3, .inlined = 1},
        {.module = "b.dll", .symbols = SYMBOLS_NONE, .frames = 2},
        {.module = "a.dll", .code_id = "2", .symbols = SYMBOLS_PDB, .frames = 4},
    };
    const struct run_figures figures = {
        .run = &complete, .symbols = rows, .symbol_count = COUNT_OF(rows)};
    const struct run_figures none = {.run = &complete};
    arena_init(&keep, 0);
    const char *text = said(write_symbols, &figures, 0, 0);
    CHECK_HAS(text, "\n| module | source | frames | inlined |\n|---|---|--:|--:|\n");
    CHECK_HAS(text, "\n| a.dll | pdb | 7 | 1 |\n");
    CHECK_HAS(text, "\n| b.dll | none | 2 |  |\n");
    CHECK_STR(said(write_symbols, &none, 0, 0), "");
    arena_free(&keep);
}

/* ---- refused snapshots ------------------------------------------------------------------ */

static void write_refused(struct sheet *s, const void *context)
{
    document_refused(s, context);
}

TEST(refused_snapshots_beyond_the_room_are_counted)
{
    static struct finding findings[REFUSED_SHOWN + 2];
    static const struct engine_total engines[] = {{.engine = "dbgeng"}, {.engine = "mscordbi"}};
    static const struct {
        const char *name;
        uint32_t count;
        const char *more; /* NULL: all are listed */
    } rows[] = {{"none", 0, NULL},
                {"one", 1, NULL},
                {"as many as there is room for", REFUSED_SHOWN, NULL},
                {"one more", REFUSED_SHOWN + 1, "\nand 1 more\n"},
                {"two more", REFUSED_SHOWN + 2, "\nand 2 more\n"}};
    for (size_t i = 0; i < COUNT_OF(findings); i++)
        findings[i] = (struct finding){
            .cause = CAUSE_SNAPSHOT_REFUSED, .engine = "mscordbi", .evidence = "UNSAFE"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_case one = {
            .scenario = "s",
            .variant = "v",
            .result = {.findings = findings, .finding_count = rows[i].count}};
        struct case_sums sums = {.findings = 0};
        const struct run_figures figures = {
            .run = &complete, .sums = &sums, .engines = engines, .engine_count = COUNT_OF(engines)};
        uint32_t listed = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        text_pool_init(&sums.texts, &keep);
        case_sums_add(&sums, &one);
        const char *text = said(write_refused, &figures, 0, 0);
        for (const char *at = text; (at = strstr(at, "UNSAFE")) != NULL; at++)
            listed++;
        CHECK_EQ(listed, rows[i].count < REFUSED_SHOWN ? rows[i].count : REFUSED_SHOWN);
        CHECK_EQ(strstr(text, " more\n") != NULL, rows[i].more != NULL);
        if (rows[i].more != NULL)
            CHECK_HAS(text, rows[i].more);
        arena_free(&keep);
    }
}

/* ---- what engines share ------------------------------------------------------------------ */

static void write_shared(struct sheet *s, const void *context)
{
    document_shared(s, context);
}

static void write_accuracy(struct sheet *s, const void *context)
{
    (void)document_accuracy(s, context);
}

TEST(what_engines_share_and_who_was_skipped_is_listed)
{
    static const struct engine_total engines[] = {
        {.engine = "a", .shares = "PDB reader", .stacks = 1},
        {.engine = "b", .skip_reason = "no Wine"},
        {.engine = "c", .stacks = 1, .skip_reason = "of one case"},
        {.engine = "d"},
    };
    struct run_figures figures = {.run = &complete, .engines = engines, .engine_count = 4};
    arena_init(&keep, 0);
    CHECK_STR(
        said(write_shared, &figures, 0, 0),
        "### What the engines share \\(agreement is only as good as independence\\)\n"
        "|  |  |\n"
        "|---|---|\n"
        "| a | PDB reader |\n"
        "| b | nothing of ours |\n"
        "| c | nothing of ours |\n"
        "| d | nothing of ours |\n"
        "\n"
        "### Who counts as one \\(when engines disagree and one is blamed\\)\n"
        "|  |  |\n"
        "|---|---|\n"
        "| symbol lookup | all that use ours: one voter about names and lines |\n"
        "| symbol files | those that have none for a module of the program: no vote about names a"
        "nd lines |\n"
        "| unwinder | those of one walk, and those that use the system's: one voter about where f"
        "rames lie |\n"
        "| writer of the record | all walkers of the process, and who takes their frames: one vot"
        "er where all of them contradict the truth and no other engine agrees |\n"
        "\n"
        "### Skipped engines\n"
        "|  |  |\n"
        "|---|---|\n"
        "| b | no Wine |\n");
    figures.engine_count = 1;
    CHECK(strstr(said(write_shared, &figures, 0, 0), "Skipped") == NULL);
    arena_free(&keep);
}

TEST(both_ways_are_compared_over_the_same_cases)
{
    static struct accuracy a = {
        .judged = {.both = 5, .only_offset = 2, .only_dump = 3, .neither = 4},
        .exact = {.both = 1, .only_offset = 6, .only_dump = 7, .neither = 8},
        .scenarios = 9};
    const struct run_figures figures = {.run = &complete, .accuracy = &a};
    for (int way = 0; way < ACCURACY_WAYS; way++)
        a.ways[way] =
            (struct accuracy_way){.engine = way == 0 ? "offset:rtl" : "dump",
                                  .exact = {.right = 3, .total = 5, .share = {0.23, 0.6, 0.88}},
                                  .top1 = {.right = 4, .total = 5},
                                  .top3 = {.right = 5, .total = 5},
                                  .recall_macro = way == 0 ? (double)NAN : 0.9876,
                                  .recall_micro = {.right = 0, .total = way == 0 ? 0 : 7}};
    arena_init(&keep, 0);
    CHECK_STR(
        said(write_accuracy, &figures, 0, 0),
        "### Both ways over the same 5 cases; judged only offset 2, only dump 3, neither 4\n"
        "|  | exact stacks | top 1 | top 3 | recall, macro | recall, micro |\n"
        "|---|---|--:|--:|--:|--:|\n"
        "| offset:rtl | 3/5 \\[23-88 %\\] | 80.0 % | 100 % | - | - |\n"
        "| dump | 3/5 \\[23-88 %\\] | 80.0 % | 100 % | 98.7 % | 0 % |\n"
        "\n"
        "both exact 1, only offset 6, only dump 7, neither 8 · macro: by scenario \\(9\\); micro: b"
        "y frame\n");
    a.ways[1].recall_macro = 1; /* as the other shares */
    CHECK_HAS(said(write_accuracy, &figures, 0, 0), "| 100 % | 0 % |");
    a.judged.both = 1;
    CHECK_HAS(said(write_accuracy, &figures, 0, 0), "over the same 1 case;");
    a.judged.both = 0;
    CHECK_STR(said(write_accuracy, &figures, 0, 0), "");
    arena_free(&keep);
}

/* ---- badge ------------------------------------------------------------------------------ */

TEST(a_badge_is_green_only_where_all_is_well)
{
    static const struct {
        const char *name;
        uint32_t pass, fail, error, problems;
        enum run_state state;
        const char *message;
        enum badge_color color;
    } rows[] = {
        {"all pass", 5, 0, 0, 0, RUN_COMPLETE, "5 of 5 pass", BADGE_BRIGHT_GREEN},
        {"one fails", 4, 1, 0, 0, RUN_COMPLETE, "1 of 5 fail", BADGE_RED},
        {"an error fails, too", 3, 1, 1, 0, RUN_COMPLETE, "2 of 5 fail", BADGE_RED},
        {"an acceptance that is not needed", 5, 0, 0, 1, RUN_COMPLETE,
         "known mismatches out of date", BADGE_RED},
        {"a failure goes before it", 4, 1, 0, 1, RUN_COMPLETE, "1 of 5 fail", BADGE_RED},
        {"an interrupted run is none", 5, 0, 0, 0, RUN_INTERRUPTED, "interrupted",
         BADGE_LIGHT_GREY},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_info run = {.state = rows[i].state};
        struct run_figures figures = {.run = &run,
                                      .total_cases = rows[i].pass + rows[i].fail + rows[i].error,
                                      .problem_count = rows[i].problems};
        struct fault fault = FAULT_INIT;
        struct badge badge;
        figures.verdicts[VERDICT_PASS] = rows[i].pass;
        figures.verdicts[VERDICT_FAIL] = rows[i].fail;
        figures.verdicts[VERDICT_ERROR] = rows[i].error;
        test_row(rows[i].name);
        REQUIRE(report_make_badge(&figures, "verdict", &badge, &fault) == ERR_NONE);
        CHECK_STR(badge.label, "stacks");
        CHECK_STR(badge.message, rows[i].message);
        CHECK_EQ(badge.color, rows[i].color);
    }
}

/* What an engine saves is a negative time; bytes are never saved. */
TEST(amounts_of_the_first_table_have_their_sign_and_unit)
{
    static const struct {
        const char *name;
        bool bytes;
        double value;
        const char *text;
    } rows[] = {
        {"a time", false, 1500, "1.50 µs"},
        {"a time that is saved", false, -1500, "-1.50 µs"},
        {"no time", false, 0, "0 ns"},
        {"bytes", true, 1500, "1.50 KB"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct headline_row row = {.bytes = rows[i].bytes};
        char text[24];
        test_row(rows[i].name);
        CHECK_STR(headline_amount_text(&row, rows[i].value, text), rows[i].text);
    }
}

/* Bright green from 99.5 %, green from 95 %, yellow from 80 %; shares are cut, not
 * rounded. F1 is twice what is right over what either side has. */
TEST(a_badge_of_a_share_has_its_colour_from_the_share)
{
    static const struct {
        const char *name, *metric;
        uint32_t part, whole; /* exact of judged stacks, captured of expected ones */
        const char *message;
        enum badge_color color;
    } rows[] = {
        {"none was judged", "exact", 0, 0, "no data", BADGE_LIGHT_GREY},
        {"all", "exact", 200, 200, "100 %", BADGE_BRIGHT_GREEN},
        {"99.5 %", "exact", 199, 200, "99.5 %", BADGE_BRIGHT_GREEN},
        {"just below", "exact", 1989, 2000, "99.4 %", BADGE_GREEN},
        {"95 %", "exact", 19, 20, "95.0 %", BADGE_GREEN},
        {"below 95 %", "exact", 949, 1000, "94.9 %", BADGE_YELLOW},
        {"80 %", "exact", 8, 10, "80.0 %", BADGE_YELLOW},
        {"below 80 %", "exact", 799, 1000, "79.9 %", BADGE_RED},
        {"captured", "capture_rate", 19, 20, "95.0 %", BADGE_GREEN},
        {"nothing to capture", "capture_rate", 0, 0, "no data", BADGE_LIGHT_GREY},
        {"F1: 3 right of 4 true ones and 6 own ones", "f1", 3, 4, "60.0 %", BADGE_RED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct run_info run = {.state = RUN_COMPLETE};
        struct engine_total engines[2] = {
            {.engine = "dump", .subject = true, .judged = rows[i].whole, .exact = rows[i].part},
            {.engine = "judge", .judged = 7}}; /* not under test: it does not count */
        struct run_figures figures = {.run = &run, .engines = engines, .engine_count = 2};
        struct fault fault = FAULT_INIT;
        struct badge badge;
        figures.captured = rows[i].part;
        figures.captures_expected = rows[i].whole;
        engines[0].right_frames = rows[i].part;
        engines[0].truth_frames = rows[i].whole;
        engines[0].own_frames = 6;
        test_row(rows[i].name);
        REQUIRE(report_make_badge(&figures, rows[i].metric, &badge, &fault) == ERR_NONE);
        CHECK_STR(badge.message, rows[i].message);
        CHECK_EQ(badge.color, rows[i].color);
    }
}
