/* The command line without a program of its own: exit codes of every verb, and what a few of them
 * print of figures that are given. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cache.h"
#include "base/thread.h"
#include "test.h"
#include "verbs/bench_text.h"
#include "verbs/figures_text.h"
#include "verbs/help.h"
#include "verbs/score_text.h"
#include "verbs/verb.h"

/* What is written to standard output and standard error goes to a file until capture_end(). */
struct capture {
    int out, err;
};

static void capture_file(char path[600])
{
    (void)snprintf(path, 600, "%s/captured", test_scratch());
}

static struct capture capture_begin(void)
{
    char path[600];
    struct capture c = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    capture_file(path);
    (void)fflush(stdout);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    REQUIRE(file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0);
    (void)close(file);
    return c;
}

static const char *capture_end(struct capture c)
{
    static char text[65536];
    char path[600];
    size_t bytes = 0;
    (void)fflush(stdout);
    (void)fflush(stderr);
    (void)dup2(c.out, STDOUT_FILENO);
    (void)dup2(c.err, STDERR_FILENO);
    (void)close(c.out);
    (void)close(c.err);
    capture_file(path);
    const uint8_t *data = test_read(path, &bytes);
    (void)snprintf(text, sizeof text, "%.*s", (int)bytes, (const char *)data);
    return text;
}

/* Runs `twinstack WORDS[0] ...`; NULL ends the words. */
static int run(const char *const *words, const char **text)
{
    static char copies[16][640];
    char *argv[17];
    int count = 0;
    const struct verb *verb = verb_find(words[0]);
    REQUIRE(verb != NULL);
    for (; words[count + 1] != NULL && count < 16; count++) {
        (void)snprintf(copies[count], sizeof copies[count], "%s", words[count + 1]);
        argv[count] = copies[count];
    }
    argv[count] = NULL;
    const struct capture c = capture_begin();
    const int code = verb->run(verb, count, argv);
    *text = capture_end(c);
    return code;
}

TEST(every_verb_has_help_and_refuses_what_it_does_not_know)
{
    for (size_t i = 0; i < verb_count; i++) {
        const struct verb *verb = verbs[i];
        const char *text = NULL;
        char usage[100];
        test_row(verb->name);
        const char *const help[] = {verb->name, "--help", NULL};
        CHECK_EQ(run(help, &text), EXIT_GOOD);
        (void)snprintf(usage, sizeof usage, "usage: twinstack %s", verb->name);
        CHECK_HAS(text, usage);
        const char *const unknown[] = {verb->name, "--no-such-option", NULL};
        CHECK_EQ(run(unknown, &text), EXIT_USAGE);
        CHECK_HAS(text, "there is no option '--no-such-option'");
    }
}

/* man(7): .TH has name and section first; these sections are in this order. */
TEST(every_verb_has_a_manual_page)
{
    static const char *const sections[] = {".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS",
                                           ".SH SEE ALSO"};
    help_about((struct help_table){verbs, verb_count});
    for (size_t i = 0; i < verb_count; i++) {
        const struct verb *verb = verbs[i];
        const char *text = NULL;
        char line[600];
        test_row(verb->name);
        const char *const man[] = {"help", "--man", verb->name, NULL};
        CHECK_EQ(run(man, &text), EXIT_GOOD);
        (void)snprintf(line, sizeof line, ".TH \"twinstack-%s\" 1 ", verb->name);
        CHECK_HAS(text, line);
        (void)snprintf(line, sizeof line, "twinstack\\-%s \\- ", verb->name);
        CHECK_HAS(text, line);
        const char *at = text;
        for (size_t k = 0; k < COUNT_OF(sections) && at != NULL; k++) {
            CHECK_HAS(at, sections[k]);
            at = strstr(at, sections[k]);
        }
        for (const struct subcommand *s = verb->subcommands; s != NULL && s->name != NULL; s++) {
            (void)snprintf(line, sizeof line, "\\fBtwinstack %s %s\\fR ", verb->name, s->name);
            CHECK_HAS(text, line);
        }
        if (verb->subcommands == NULL) { /* its words, up to the first that roff spells otherwise */
            (void)snprintf(line, sizeof line, "\\fBtwinstack %s\\fR %.*s", verb->name,
                           (int)strcspn(verb->usage, "-\\"), verb->usage);
            CHECK_HAS(text, line);
        }
        CHECK_HAS(text, ".TP\n\\fB\\-\\-help\\fR\n");
    }
}

static void put_into_cache(const struct cache *cache, enum cache_kind kind, const char *key,
                           size_t bytes, struct arena *keep)
{
    static const char zeroes[700000];
    struct fault fault = FAULT_INIT;
    const char *partial = cache_partial(cache, keep);
    REQUIRE(partial != NULL && bytes <= sizeof zeroes);
    test_write(partial, zeroes, bytes);
    REQUIRE(cache_publish(cache, partial, kind, key, &fault) == ERR_NONE);
    thread_sleep_ms(20); /* so that the next one is later */
}

TEST(the_cache_is_listed_and_cleared)
{
    static const struct {
        const char *name, *words[4];
        int code;
        const char *says[3];
        uint32_t left;
    } rows[] = {
        {"listed",
         {"list"},
         0,
         {"index      1.00 KB  ", "  one\n", ": 3 files, 1.20 MB of at most"},
         3},
        {"the least recently used first", {"list"}, 0, {"one\ndownload", "two\n", "three\n"}, 3},
        {"as JSON",
         {"list", "--json"},
         0,
         {"\"bytes\": 1201000", "\"key\": \"two\"", "\"kind\": \"download\""},
         3},
        {"nothing is too much", {"clear", "--keep-mib", "2"}, 0, {": 0 files deleted, 0 B"}, 3},
        {"down to a size", {"clear", "--keep-mib", "1"}, 0, {": 2 files deleted, 601 KB"}, 1},
        {"all", {"clear"}, 0, {": 3 files deleted, 1.20 MB"}, 0},
        {"more than a number can say",
         {"clear", "--keep-mib", "17592186044416"},
         2,
         {"--keep-mib is too large"},
         3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct cache_item *items = NULL;
        struct cache cache;
        struct arena keep;
        uint32_t count = 0;
        const char *text = NULL;
        char folder[600];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(folder, sizeof folder, "%s/cache%u", test_scratch(), (unsigned)i);
        cache_locate(folder, &keep, &cache);
        put_into_cache(&cache, CACHE_INDEX, "one", 1000, &keep);
        put_into_cache(&cache, CACHE_DOWNLOAD, "two", 600000, &keep);
        put_into_cache(&cache, CACHE_INDEX, "three", 600000, &keep);
        const char *const *w = rows[i].words;
        const char *const words[] = {"cache", w[0], "--cache", folder, w[1], w[1] ? w[2] : NULL,
                                     NULL};
        CHECK_EQ(run(words, &text), rows[i].code);
        for (size_t k = 0; k < COUNT_OF(rows[i].says) && rows[i].says[k] != NULL; k++)
            CHECK_HAS(text, rows[i].says[k]);
        REQUIRE(cache_list(&cache, &keep, &items, &count, &fault) == ERR_NONE);
        CHECK_EQ(count, rows[i].left);
        arena_free(&keep);
    }
    const char *text = NULL;
    const char *const none[] = {"cache", "clear", "--cache", "none", NULL};
    CHECK_EQ(run(none, &text), EXIT_INPUT);
    CHECK_HAS(text, "the cache is turned off");
}

/* analyze/verbs/README.md: 2 usage, 3 input, 4 database, 5 nothing selected. */
TEST(what_is_missing_has_an_exit_code)
{
    static const struct {
        const char *name;
        const char *words[10];
        int code;
        const char *says;
    } rows[] = {
        {"no victims", {"run", "--victims", "no/such/folder"}, 3, "no/such/folder: folder of"},
        {"no victims to list", {"list", "--victims", "no/such/folder"}, 3, "no/such/folder"},
        {"no database", {"signatures", "--db", "no/such.db"}, 4, "no/such.db: database: absent"},
        {"no database to report", {"report", "--db", "no/such.db"}, 4, "database: absent"},
        {"no database to compare", {"compare", "--db", "no/such.db", "1", "2"}, 4, "absent"},
        {"no database at a gate", {"gate", "--db", "no/such.db"}, 4, "database: absent"},
        {"two words that are no files", {"signatures", "a", "b"}, 2, "one run, or files"},
        {"nothing to merge", {"signatures", "--merge"}, 2, "--merge adds up files"},
        {"no dump", {"dump", "no/such.dmp"}, 3, "no/such.dmp"},
        {"no stacks", {"resolve", "no/such.txt"}, 3, "no/such.txt"},
        {"no case", {"check", "no/such/case"}, 3, "no/such/case"},
        {"a word after version", {"version", "extra"}, 2, "'extra' is too many"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *text = NULL;
        test_row(rows[i].name);
        CHECK_EQ(run(rows[i].words, &text), rows[i].code);
        CHECK_HAS(text, rows[i].says);
    }
}

TEST(a_score_is_printed_in_columns)
{
    static const char *const can[] = {"moments.x64", NULL};
    static const struct suite_frame frames[] = {{.ip = 0x1234}, {.ip = 0xabc}};
    static const struct suite_walk walk = {frames, 2};
    static const struct suite_walk first = {frames, 1};
    static const struct suite_frame moved_frames[] = {{.ip = 0x1234, .sp = 0x8}};
    static const struct suite_walk moved = {moved_frames, 1};
    struct suite_case cases[] = {{.id = "a-1",
                                  .shape = "push",
                                  .position = "body",
                                  .rule = "rule 1",
                                  .walks = &walk,
                                  .walk_count = 1},
                                 {.id = "a-2",
                                  .shape = "push",
                                  .position = "prologue",
                                  .rule = "rule 2",
                                  .walks = &walk,
                                  .walk_count = 1},
                                 {.id = "a-3",
                                  .shape = "a_longer_shape",
                                  .position = "body",
                                  .rule = "rule 3",
                                  .rule_url = "https://x.example",
                                  .walks = &walk,
                                  .walk_count = 1},
                                 {.id = "a-4",
                                  .shape = "push",
                                  .position = "body",
                                  .rule = "rule 4",
                                  .walks = &walk,
                                  .walk_count = 1},
                                 {.id = "b-1", .shape = "other", .position = "row", .rule = ""}};
    struct suite_answer answers[] = {{.outcome = SUITE_RIGHT},
                                     {.outcome = SUITE_RIGHT},
                                     {.outcome = SUITE_EARLY, .walk = first},
                                     {.outcome = SUITE_WRONG, .walk = moved},
                                     {.outcome = SUITE_UNSUPPORTED}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        cases[i].kind = SUITE_MOMENT;
        cases[i].capability = "moments.x64";
        cases[i].processor = "x64";
    }
    cases[COUNT_OF(cases) - 1].capability = "addresses.pdb";
    const struct suite suite = {
        .edition = "2026.11", .cases = cases, .count = COUNT_OF(cases), .not_asked = 4};
    const struct score score = {.name = {.name = "tool", .version = "1.2", .can = can},
                                .answers = answers,
                                .wall_ns = UINT64_C(2500000000)};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    static const char by_shape[] =
        "tool 1.2, suite 2026.11: 5 cases in 2.5 s\n"
        "moments.x64: 2 right, 1 early, 1 wrong\n"
        "not asked: 4 cases of other kinds\n"
        "\nmoments.x64          right       early       wrong     crashed     timeout     garbage "
        "unsupported\n"
        "a_longer_shape           0           1           -           -           -           -    "
        " "
        "      -\n"
        "push                     2           -           1           -           -           -    "
        " "
        "      -\n"
        "\nearly  a-3\n"
        "  rule      rule 3, https://x.example\n"
        "  truth     1234 abc\n"
        "  answer    1234\n"
        "  again     twinstack score --cmd 'tool' -k a-3 --details\n"
        "\nwrong  a-4\n"
        "  rule      rule 4\n"
        "  truth     1234 sp 0 abc sp 0\n"
        "  answer    1234 sp 8\n"
        "  again     twinstack score --cmd 'tool' -k a-4 --details\n";
    arena_init(&keep, 0);
    struct capture c = capture_begin();
    const enum status status =
        score_text(&suite, &score, &(struct score_style){.command = "tool"}, &keep, &fault);
    CHECK_STR(capture_end(c), by_shape);
    CHECK_EQ(status, ERR_NONE);
    c = capture_begin();
    (void)score_text(&suite, &score,
                     &(struct score_style){.command = "tool", .folder = "s", .details = true},
                     &keep, &fault);
    const char *text = capture_end(c);
    CHECK_HAS(text, "\na_longer_shape body           0           1           -");
    CHECK_HAS(text, "\npush body                     1           -           1");
    CHECK_HAS(text, "\npush prologue                 1           -           -");
    CHECK_HAS(text, "  again     twinstack score --cmd 'tool' --suite s -k a-3 --details\n");
    arena_free(&keep);
}

TEST(a_bench_is_printed_with_its_noise_and_its_verdict)
{
    static struct bench_findings findings;
    struct arena keep;
    arena_init(&keep, 0);
    findings.case_count = 28;
    findings.captured = 12;
    findings.capture_arch = CPU_X64;
    findings.side_count = 1;
    for (int i = 0; i < BENCH_CAPTURE_STAGES; i++)
        findings.capture[i] = (struct bench_row){
            .name = "walk", .ways = {measurement_none, measurement_none}, .ratio = NAN};
    struct bench_side *side = &findings.sides[0];
    for (int i = 0; i < BENCH_STAGES; i++)
        side->stages[i] =
            (struct bench_row){.name = "total",
                               .ways = {{.n = 30, .value = 1000, .low = 900, .high = 1100},
                                        {.n = 30, .value = 3000, .low = 2900, .high = 3100}},
                               .ratio = 3};
    side->noise = 0.125;
    side->ratio_count = 1;
    side->ratios[0] = (struct bench_ratio){.arch = CPU_X64,
                                           .cases = 24,
                                           .scenarios = 12,
                                           .processes = 2,
                                           .ratio = {.value = 3, .low = 2.5, .high = 3.5}};
    side->dump =
        (struct change_verdict){.change = CHANGE_SLOWER, .p = 0.001, .threshold = 0.5, .effect = 2};
    side->then[0] = (struct change_verdict){
        .change = CHANGE_NONE, .p = 0.5, .threshold = 0.0625, .effect = 0.03125};
    side->then[1] = (struct change_verdict){.change = CHANGE_TOO_FEW};
    const struct capture c = capture_begin();
    bench_print(&findings, &keep);
    const char *text = capture_end(c);
    CHECK_HAS(text, "IN THE DYING PROCESS, x64: medians of 12 cases");
    CHECK_HAS(text, "x64, WARM (symbols stay open); per stack, medians of 30 rounds over 12 cases");
    CHECK_HAS(text, "today's noise (offset against itself): 12.5 %");
    CHECK_HAS(text, "dump : offset = 3.0 : 1  [2.5, 3.5]  x64, 24 cases of 12 scenarios, "
                    "2 processes");
    CHECK_HAS(text, "dump against offset: p 0.001, threshold 50.0 %: the dump way is ");
    CHECK_HAS(text, " against the last bench: +3.1 %  p 0.5, threshold 6.2 %: ");
    CHECK(strstr(text, "COLD") == NULL);
    const char *again = strstr(text, " against the last bench");
    CHECK(again != NULL && strstr(again + 1, " against the last bench") == NULL);
    arena_free(&keep);
}

/* Columns of 30, 11, 8, 11 and 8 with a blank between them; ratios are of the row of offsets. */
TEST(programs_of_a_bench_are_printed_against_offsets)
{
    static const struct bench_programs programs = {
        .rows = {{.name = "offset", .process = {.value = 2e6}, .again = {.value = 1e6}},
                 {.name = "dump", .process = {.value = 5e6}, .again = {.value = 4e6}},
                 {.name = "judge:a", .version = "1.2", .why_not = "it is not here"},
                 {.name = "judge:b",
                  .version = "10.0",
                  .process = {.value = 50e6},
                  .again = {.value = 12e6}},
                 {.name = "judge:c", .process = {.value = 1e6}, .again = {.value = 1e6}}},
        .case_count = 12,
        .arch = CPU_X64};
    static const char want[] =
        "\nPROGRAMS, medians of 12 cases of x64: a process for each crash, and the same again in "
        "one\n"
        "                               new process : offset  same again : offset\n"
        "offset                             2.00 ms     1.00     1.00 ms     1.00\n"
        "dump                               5.00 ms     2.50     4.00 ms     4.00\n"
        "judge:a (1.2)\n"
        "judge:b (10.0)                     50.0 ms     25.0     12.0 ms     12.0\n"
        "judge:c                            1.00 ms     0.50     1.00 ms     1.00\n"
        "judge:a was not timed: it is not here\n";
    struct arena keep;
    arena_init(&keep, 0);
    struct capture c = capture_begin();
    bench_print_programs(&programs, &keep);
    CHECK_STR(capture_end(c), want);
    c = capture_begin();
    bench_print_programs(NULL, &keep);
    CHECK_HAS(capture_end(c), "WinDbg's engine was not timed: ");
    arena_free(&keep);
}

TEST(a_score_of_addresses_shows_functions)
{
    static const char *const can[] = {"addresses.pdb", NULL};
    static const char *functions[] = {"inner", "other"}, *files[] = {"/a.c"};
    static const struct suite_frame frames[] = {
        {.function = {functions, 2}, .file = {files, 1}, .line = 7, .inlined = SUITE_INLINED},
        {.line = 0}};
    static const struct suite_walk walk = {frames, 2}, none = {frames, 0};
    static const struct suite_walk many[] = {{frames, 1}, {frames + 1, 1}};
    struct suite_case cases[8];
    struct suite_answer answers[8] = {{.outcome = SUITE_WRONG, .walk = none},
                                      {.outcome = SUITE_GARBAGE, .words = "no JSON"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const char *const shapes[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s6"};
        cases[i] = (struct suite_case){.kind = SUITE_ADDRESS,
                                       .id = shapes[i],
                                       .capability = "addresses.pdb",
                                       .processor = "x64",
                                       .shape = shapes[i],
                                       .position = "row",
                                       .rule = "r",
                                       .walks = i == 1 ? many : &walk,
                                       .walk_count = i == 1 ? 2 : 1};
        if (i > 1)
            answers[i] = answers[0];
    }
    const struct suite suite = {.edition = "1", .cases = cases, .count = COUNT_OF(cases)};
    const struct score score = {.name = {.name = "tool", .version = "1", .can = can},
                                .answers = answers};
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    const struct capture c = capture_begin();
    CHECK_EQ(score_text(&suite, &score, &(struct score_style){.command = "tool"}, &keep, &fault),
             ERR_NONE);
    const char *text = capture_end(c);
    CHECK_HAS(text, "\nwrong  s0\n"
                    "  rule      r\n"
                    "  truth     inner /a.c:7 inlined\n"
                    "            ? ?:0\n"
                    "  answer    nothing\n"
                    "  again     twinstack score --cmd 'tool' -k s0 --details\n");
    CHECK_HAS(text, "\ngarbage  s1\n"
                    "  rule      r\n"
                    "  because   no JSON\n"
                    "  truth     inner /a.c:7 inlined\n"
                    "  or        ? ?:0\n"
                    "  again     twinstack score --cmd 'tool' -k s1 --details\n");
    CHECK_HAS(text, "\nwrong  s4\n"); /* five are shown; of s6 there are two of one kind */
    CHECK(strstr(text, "\nwrong  s5\n") == NULL);
    CHECK_HAS(text, "\nand 2 more shapes and positions: --details\n");
    arena_free(&keep);
}

TEST(what_changed_since_an_older_score_is_printed)
{
    static const struct suite_case of = {.id = "a-1"};
    static struct result_change worse[21];
    static struct result_change better[] = {{.of = &of, .before = SUITE_EARLY, .now = SUITE_RIGHT}};
    static const struct {
        const char *name, *version;
        uint32_t worse, better;
        const char *says, *more;
    } rows[] = {
        {"both", "1.2", 1, 1,
         "\nagainst version 1.2: 1 worse, 1 better of 9 cases that both have\n"
         "worse  a-1: wrong, was right\nbetter  a-1: right, was early\n",
         NULL},
        {"twenty", NULL, 20, 0, "\nagainst version : 20 worse, 0 better of 9 cases", NULL},
        {"one more", "1", 21, 0, ": 21 worse, ", "worse  and 1 more\n"},
    };
    for (size_t i = 0; i < COUNT_OF(worse); i++)
        worse[i] = (struct result_change){.of = &of, .before = SUITE_RIGHT, .now = SUITE_WRONG};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t shown = 0;
        test_row(rows[i].name);
        const struct capture c = capture_begin();
        score_text_difference(&(struct result_difference){.version = rows[i].version,
                                                          .worse = worse,
                                                          .better = better,
                                                          .worse_count = rows[i].worse,
                                                          .better_count = rows[i].better,
                                                          .compared = 9});
        const char *text = capture_end(c);
        CHECK_HAS(text, rows[i].says);
        for (const char *at = text; (at = strstr(at, "worse  a-1")) != NULL; at++)
            shown++;
        CHECK_EQ(shown, rows[i].worse < 20 ? rows[i].worse : 20);
        if (rows[i].more != NULL)
            CHECK_HAS(text, rows[i].more);
        else
            CHECK(strstr(text, " more\n") == NULL);
    }
}

/* man(7), and the first screen of a program that was started without a word. */
TEST(the_program_has_a_page_and_a_first_screen)
{
    const char *text = NULL;
    help_about((struct help_table){verbs, verb_count});
    const char *const man[] = {"help", "--man", NULL};
    CHECK_EQ(run(man, &text), EXIT_GOOD);
    CHECK_HAS(text, ".TH \"twinstack\" 1 ");
    CHECK_HAS(text,
              "twinstack \\- crash stacks taken by dump and by offsets, resolved and compared\n");
    CHECK_HAS(text, ".SH SYNOPSIS\n\\fBtwinstack\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] ");
    CHECK_HAS(text, ".SH VERBS\nEach has a page of its own, twinstack\\-VERB(1).\n");
    for (size_t i = 0; i < verb_count; i++) {
        char line[200];
        (void)snprintf(line, sizeof line, ".TP\n\\fB%s\\fR\n", verbs[i]->name);
        CHECK_HAS(text, line);
    }
    const struct capture c = capture_begin();
    help_tasks(stdout);
    text = capture_end(c);
    CHECK_HAS(text, "usage: twinstack VERB [OPTION...] [ARGUMENT...]\n");
    CHECK_HAS(text, "\n  the stacks of a minidump           twinstack dump --stacks ");
    CHECK_HAS(text, "\n`twinstack help` lists all verbs, `twinstack VERB --help` explains one.\n");
}

/* verbs/figures_text.h: a number up to 1, or percents, of which there may be more than 100. */
TEST(a_share_is_a_number_or_percents)
{
    static const struct {
        const char *text;
        double share; /* below 0: refused */
    } rows[] = {
        {"50%", 0.5},   {"50 %", 0.5}, {"50  %", 0.5}, {"0", 0},     {"0.25", 0.25}, {"1", 1},
        {"1e-2", 0.01}, {"0%", 0},     {"150%", 1.5},  {"1.01", -1}, {"5", -1},      {"", -1},
        {"%", -1},      {"x", -1},     {"5%x", -1},    {"5%%", -1},  {"-1%", -1},    {"-0.5", -1},
        {"nan", -1},    {"0.5 x", -1}, {"0.5 ", 0.5},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double got = -1;
        test_row(rows[i].text);
        CHECK_EQ(parse_share(rows[i].text, &got), rows[i].share >= 0);
        if (rows[i].share >= 0)
            CHECK_NEAR(got, rows[i].share, 1e-12);
    }
}
