/* Comparison: names, files, alignment, every cause, verdicts, scores. */
#include <stdio.h>
#include <string.h>

#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

TEST(names_compare_up_to_spelling)
{
    static const struct {
        const char *name, *truth, *other;
        bool same;
    } rows[] = {
        {"equal", "main", "main", true},
        {"different", "main", "mains", false},
        {"parameters", "ns::f", "ns::f(int, char const *)", true},
        {"const member", "A::get", "A::get(void) const", true},
        {"keywords", "f<A,B>", "f<struct A, class B>", true},
        {"a keyword inside a word", "mystruct x", "my x", false},
        {"blanks", "f<A<B>>", "f<A<B> >", true},
        {"anonymous namespaces", "`anonymous namespace'::f", "(anonymous namespace)::f", true},
        {"unqualified truth", "poke", "app::detail::poke", true},
        {"unqualified template", "apply", "app::apply<int,std::pair<a::b,c>>", true},
        {"the wrong end", "poke", "poke::app", false},
        {"qualified truth stays qualified", "a::poke", "b::poke", false},
        {"call operator", "operator()", "run::<lambda_1>::operator()(int) const", true},
        {"less than", "operator<", "A::operator<(A const &)", true},
        {"unknown", "f", NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(compare_names(rows[i].truth, rows[i].other), rows[i].same);
    }
}

TEST(files_compare_relative_to_the_root)
{
    static const struct {
        const char *name, *truth, *file, *root;
        bool bare, same;
    } rows[] = {
        {"as spelt", "victims/a.c", "victims/a.c", NULL, false, true},
        {"backslashes", "victims\\a.c", "victims/a.c", NULL, false, true},
        {"below the root", "victims/a.c", "C:\\build\\victims\\a.c", "c:/build", false, true},
        {"root with a slash", "a.c", "/src/a.c", "/src/", false, true},
        {"a root's name is no prefix", "a.c", "/srcs/a.c", "/src", false, false},
        {"same name elsewhere", "victims/a.c", "other/a.c", NULL, false, false},
        {"dot", "./a.c", "a.c", NULL, false, true},
        {"unknown", "a.c", NULL, NULL, false, false},
        {"a base name", "victims/a.c", "a.c", NULL, false, false},
        {"a base name of an outside tool", "victims/a.c", "a.c", NULL, true, true},
        {"another base name of one", "victims/a.c", "b.c", NULL, true, false},
        {"a part of the base name", "victims/ba.c", "a.c", NULL, true, false},
        {"an outside tool that knows folders", "victims/a.c", "other/a.c", NULL, true, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(compare_files(rows[i].truth, rows[i].file, rows[i].root, rows[i].bare),
                 rows[i].same);
    }
}

#define TRUTH "poke a.c:10\nmiddle a.c:20\nmain a.c:30\n[thread_start]"
#define BASE "kernel32.dll+20 sys BaseThreadInitThunk\nntdll.dll+40 sys RtlUserThreadStart"
#define POKE "app.exe+1005 own poke /src/a.c:10\n"
#define MIDDLE "app.exe+2005 own middle /src/a.c:20\n"
#define MAIN "app.exe+3005 own main /src/a.c:30\n"
#define START "app.exe+4005 runtime mainCRTStartup\n"
#define IN_X "app.exe+1005 own poke /src/x/a.c:10\n" MIDDLE MAIN START BASE
#define GOOD POKE MIDDLE MAIN START BASE
#define GOOD_AT(line) /* also has a line in a system frame */                                      \
    POKE MIDDLE MAIN START "kernel32.dll+20 sys BaseThreadInitThunk /src/k.c:" #line               \
                           "\nntdll.dll+40 sys RtlUserThreadStart"
#define GOOD_INLINE                                                                                \
    "> app.exe+1005 own poke /src/a.c:10\n> app.exe+1005 own middle /src/a.c:20\n"                 \
    "app.exe+1005 own main /src/a.c:30\n" START BASE

/* The next function starts at the return address. A lookup that does not subtract one finds it. */
static uint32_t symbols_at(void *context, const struct frame *frame, uint64_t offset,
                           struct frame *out, uint32_t max)
{
    (void)context;
    (void)frame;
    if (max == 0 || (offset != 0x2005 && offset != 0x2004))
        return 0;
    memset(&out[0], 0, sizeof out[0]);
    out[0].function = offset == 0x2005 ? "next_function" : "middle";
    out[0].line = offset == 0x2005 ? 99 : 20;
    return 1;
}

static bool symbols_alias(void *context, const struct frame *frame, const char *name)
{
    (void)context;
    return frame->offset == 0x2005 && strcmp(name, "middle") == 0;
}

/* A line table with two rows for one address. The last one counts. */
static uint32_t table_at(void *context, const struct frame *frame, uint64_t offset,
                         struct frame *out, uint32_t max)
{
    (void)context;
    if (max == 0 || frame->offset != 0x20 || offset != 0x1f)
        return 0;
    memset(&out[0], 0, sizeof out[0]);
    out[0].function = "BaseThreadInitThunk";
    out[0].line = 268;
    return 1;
}

static uint32_t table_lines(void *context, const struct frame *frame, uint32_t *out, uint32_t max)
{
    (void)context;
    if (max < 2 || frame->offset != 0x20)
        return 0;
    out[0] = 57;
    out[1] = 268;
    return 2;
}

/* A line table in which the row before the address's own has another line. */
static uint32_t rows_at(void *context, const struct frame *frame, uint64_t offset,
                        struct frame *out, uint32_t max)
{
    (void)context;
    if (max == 0 || frame->offset != 0x20 || offset < 0x10 || offset > 0x1f)
        return 0;
    memset(&out[0], 0, sizeof out[0]);
    out[0].function = "BaseThreadInitThunk";
    out[0].line = offset < 0x18 ? 57 : 268;
    return 1;
}

/* The same in the program: line 19 and, which counts, 20 of middle. */
static uint32_t own_at(void *context, const struct frame *frame, uint64_t offset, struct frame *out,
                       uint32_t max)
{
    return symbols_at(context, frame, offset == 0x2004 ? offset : 0, out, max);
}

static uint32_t own_lines(void *context, const struct frame *frame, uint32_t *out, uint32_t max)
{
    (void)context;
    if (max < 2 || frame->offset != 0x2005)
        return 0;
    out[0] = 19;
    out[1] = 20;
    return 2;
}

static const struct compare_symbols own_tables = {.at = own_at, .lines = own_lines};
static const struct compare_symbols rows_before = {.at = rows_at};
static const struct compare_symbols symbols = {.at = symbols_at};
static const struct compare_symbols folding = {.alias = symbols_alias};
static const struct compare_symbols tables = {.at = table_at, .lines = table_lines};

struct row {
    const char *name, *truth, *offset, *dump, *exhibit;
    const struct compare_symbols *symbols;
    enum verdict verdict;
    enum cause cause; /* of the first finding; CAUSE_NONE: there is none */
    const char *engine, *against, *wrong;
};

static const struct row rows[] = {
    {"all agree", TRUTH, GOOD, GOOD, GOOD, NULL, VERDICT_PASS, CAUSE_NONE, NULL, NULL, NULL},
    {"inlined, all agree", TRUTH, GOOD_INLINE, GOOD_INLINE, NULL, NULL, VERDICT_PASS, CAUSE_NONE,
     NULL, NULL, NULL},
    {"no truth, all agree", NULL, GOOD, GOOD, NULL, NULL, VERDICT_PASS, CAUSE_NONE, NULL, NULL,
     NULL},
    {"frames past the thread's start are cut", TRUTH, GOOD "\napp.exe+9 own junk", GOOD, NULL, NULL,
     VERDICT_PASS, CAUSE_NONE, NULL, NULL, NULL},
    {"base names of a judge", "poke x/a.c:10\nmiddle a.c:20\nmain a.c:30", IN_X, IN_X,
     "app.exe+1005 own poke a.c:10\n" MIDDLE MAIN START BASE, NULL, VERDICT_PASS, CAUSE_NONE, NULL,
     NULL, NULL},
    {"truncated", TRUTH, POKE MIDDLE "! memory could not be read", GOOD, NULL, NULL, VERDICT_FAIL,
     CAUSE_TRUNCATED, "offset:rtl", "truth", "offset:rtl"},
    {"short without a reason", TRUTH, POKE MIDDLE, GOOD, NULL, NULL, VERDICT_FAIL,
     CAUSE_UNEXPLAINED, "offset:rtl", "truth", "offset:rtl"},
    {"extra by scan", TRUTH, GOOD,
     POKE "app.exe+7777 own stale /src/b.c:1 scan\n" MIDDLE MAIN START BASE, NULL, NULL,
     VERDICT_FAIL, CAUSE_EXTRA_SCAN, "dump", "truth", "dump"},
    {"extra system frame by scan", TRUTH, GOOD,
     POKE "ntdll.dll+99 sys Foo scan\n" MIDDLE MAIN START BASE, NULL, NULL, VERDICT_PASS,
     CAUSE_EXTRA_SCAN, "dump", "offset:rtl", "dump"},
    {"frames that a frame-pointer chain skips", TRUTH, GOOD, GOOD,
     POKE "app.exe+3005 own main /src/a.c:30 frame_pointer\n" START BASE, NULL, VERDICT_PASS,
     CAUSE_FRAME_POINTER, "judge:other", "truth", "judge:other"},
    {"a judge shows the line of an earlier row", TRUTH, GOOD_AT(268), GOOD_AT(268), GOOD_AT(57),
     &rows_before, VERDICT_PASS, CAUSE_LINE_TABLE, "judge:other", "offset:rtl", NULL},
    {"a judge shows a line that no row has", TRUTH, GOOD_AT(268), GOOD_AT(268), GOOD_AT(58),
     &rows_before, VERDICT_PASS, CAUSE_UNEXPLAINED, "judge:other", "offset:rtl", NULL},
    {"an engine under test has no such excuse", TRUTH, GOOD_AT(268), GOOD_AT(57), NULL,
     &rows_before, VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "offset:rtl", NULL},
    {"a frame where the truth ends", "poke a.c:10\n[system]", POKE "! no unwind data",
     POKE "! no unwind data", POKE MIDDLE, NULL, VERDICT_PASS, CAUSE_BEYOND_TRUTH, "judge:other",
     "truth", NULL},
    {"an engine under test that makes one up there", "poke a.c:10\n[system]",
     POKE "! no unwind data", POKE MIDDLE, NULL, NULL, VERDICT_FAIL, CAUSE_BEYOND_TRUTH, "dump",
     "truth", NULL},
    {"an own frame that the truth lacks", TRUTH, GOOD,
     POKE "app.exe+7777 own stale /src/b.c:1\n" MIDDLE MAIN START BASE, NULL, NULL, VERDICT_FAIL,
     CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"tail call demanded absent", "poke a.c:10\njumper a.c:15 tail\nmiddle a.c:20\nmain a.c:30",
     GOOD, GOOD, NULL, NULL, VERDICT_PASS, CAUSE_NONE, NULL, NULL, NULL},
    {"a tail frame that is claimed", "poke a.c:10\njumper a.c:15 tail\nmiddle a.c:20\nmain a.c:30",
     GOOD, POKE "app.exe+1505 own jumper /src/a.c:15\n" MIDDLE MAIN START BASE, NULL, NULL,
     VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"lookup address, function", TRUTH, GOOD,
     POKE "app.exe+2005 own next_function /src/a.c:99\n" MAIN START BASE, NULL, &symbols,
     VERDICT_FAIL, CAUSE_LOOKUP_ADDRESS, "dump", "truth", "dump"},
    {"lookup address, unknown symbols", TRUTH, GOOD,
     POKE "app.exe+2005 own next_function /src/a.c:99\n" MAIN START BASE, NULL, NULL, VERDICT_FAIL,
     CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"lookup address, kind", TRUTH, GOOD,
     POKE "app.exe+2005 own middle /src/a.c:20 interrupted\n" MAIN START BASE, NULL, NULL,
     VERDICT_FAIL, CAUSE_LOOKUP_ADDRESS, "dump", "offset:rtl", NULL},
    {"inline only", TRUTH, GOOD_INLINE, "app.exe+1005 own main /src/a.c:30\n" START BASE, NULL,
     NULL, VERDICT_FAIL, CAUSE_INLINE_ONLY, "dump", "truth", "dump"},
    {"inline frames that no engine has", TRUTH, "app.exe+1005 own main /src/a.c:30\n" START BASE,
     "app.exe+1005 own main /src/a.c:30\n" START BASE, NULL, NULL, VERDICT_FAIL, CAUSE_INLINE_ONLY,
     "offset:rtl", "truth", "offset:rtl"},
    {"inline frame that the truth lacks", TRUTH,
     POKE "> app.exe+2005 own helper /src/h.h:3\n" MIDDLE MAIN START BASE, GOOD, NULL, NULL,
     VERDICT_FAIL, CAUSE_INLINE_ONLY, "offset:rtl", "truth", "offset:rtl"},
    {"folded", TRUTH, POKE "app.exe+2005 own twin /src/t.c:5\n" MAIN START BASE,
     POKE "app.exe+2005 own twin /src/t.c:5\n" MAIN START BASE, NULL, &folding, VERDICT_PASS,
     CAUSE_FOLDED, "offset:rtl", "truth", NULL},
    {"folded, seen by the start", NULL, "app.exe+1005 own poke a.c:1 start=5\n" MAIN,
     "app.exe+1005 own twin a.c:1 start=5\n" MAIN, NULL, NULL, VERDICT_PASS, CAUSE_FOLDED, "dump",
     "offset:rtl", NULL},
    {"handler context", TRUTH, GOOD,
     "app.exe+6000 capture on_crash\nntdll.dll+88 sys KiUserExceptionDispatcher\n"
     "app.exe+1005 own poke /src/a.c:10 interrupted\n" MIDDLE MAIN START BASE,
     NULL, NULL, VERDICT_PASS, CAUSE_HANDLER_CONTEXT, "dump", "offset:rtl", "dump"},
    {"module unloaded", TRUTH, GOOD, "gone.dll+1 none - unloaded\n" MIDDLE MAIN START BASE, NULL,
     NULL, VERDICT_FAIL, CAUSE_MODULE_UNLOADED, "dump", "truth", "dump"},
    {"module ambiguous", TRUTH, GOOD, "gone.dll+1 none - ambiguous\n" MIDDLE MAIN START BASE, NULL,
     NULL, VERDICT_FAIL, CAUSE_MODULE_UNLOADED, "dump", "truth", "dump"},
    {"symbols missing", TRUTH, GOOD, POKE "app.exe+2005 none -\n" MAIN START BASE, NULL, NULL,
     VERDICT_FAIL, CAUSE_SYMBOLS_MISSING, "dump", "truth", "dump"},
    {"symbols missing, publics only", TRUTH, GOOD,
     POKE "app.exe+2005 own middle public\n" MAIN START BASE, NULL, NULL, VERDICT_FAIL,
     CAUSE_SYMBOLS_MISSING, "dump", "truth", "dump"},
    {"symbols mismatched", TRUTH, GOOD, POKE "app.exe+2005 none - mismatch\n" MAIN START BASE, NULL,
     NULL, VERDICT_FAIL, CAUSE_SYMBOLS_MISMATCH, "dump", "truth", "dump"},
    {"export only", TRUTH, GOOD, POKE "app.exe+2005 none nearest export\n" MAIN START BASE, NULL,
     NULL, VERDICT_FAIL, CAUSE_EXPORT_ONLY, "dump", "truth", "dump"},
    {"export only, system", TRUTH, GOOD,
     POKE MIDDLE MAIN START "kernel32.dll+20 sys Other export\nntdll.dll+40 sys RtlUserThreadStart",
     NULL, NULL, VERDICT_PASS, CAUSE_EXPORT_ONLY, "dump", "offset:rtl", "dump"},
    {"a frame is lost that only an export names", TRUTH, POKE MIDDLE MAIN "k.dll+20 sys Go export",
     POKE MIDDLE MAIN, NULL, NULL, VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "offset:rtl", NULL},
    {"a frame is lost, the next one has no symbols", TRUTH, GOOD, POKE MIDDLE "k.dll+20 none -",
     NULL, NULL, VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"generated code", "poke a.c:10\nmain a.c:30", POKE "?+7ff01234 generated -\n" MAIN START BASE,
     POKE "! no unwind data for code in no known module", NULL, NULL, VERDICT_FAIL,
     CAUSE_GENERATED_CODE, "dump", "truth", "dump"},
    {"a call through null is no generated code", "main a.c:30", "?+0 none -\n" MAIN START BASE,
     "?+0 none -\napp.exe+3005 own main /src/a.c:31\n" START BASE, NULL, NULL, VERDICT_FAIL,
     CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"another line", TRUTH, GOOD, POKE "app.exe+2005 own middle /src/a.c:21\n" MAIN START BASE,
     NULL, NULL, VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"another address", TRUTH, GOOD, POKE "app.exe+2045 own middle /src/a.c:20\n" MAIN START BASE,
     NULL, NULL, VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "offset:rtl", NULL},
    {"the same offset in another module", TRUTH, GOOD,
     POKE "evil.dll+2005 own middle /src/a.c:20\n" MAIN START BASE, NULL, NULL, VERDICT_FAIL,
     CAUSE_UNEXPLAINED, "dump", "offset:rtl", NULL},
    {"another file", TRUTH, GOOD, POKE "app.exe+2005 own middle /src/b.h:20\n" MAIN START BASE,
     NULL, NULL, VERDICT_FAIL, CAUSE_UNEXPLAINED, "dump", "truth", "dump"},
    {"another line of the same address", TRUTH, GOOD_AT(268), GOOD_AT(268), GOOD_AT(57), &tables,
     VERDICT_PASS, CAUSE_LINE_TABLE, "judge:other", "offset:rtl", NULL},
    {"a line that the table does not have", TRUTH, GOOD_AT(268), GOOD_AT(268), GOOD_AT(58), &tables,
     VERDICT_PASS, CAUSE_UNEXPLAINED, "judge:other", "offset:rtl", NULL},
    {"the truth has another line of the same address", TRUTH, GOOD, GOOD,
     POKE "app.exe+2005 own middle /src/a.c:19\n" MAIN START BASE, &own_tables, VERDICT_PASS,
     CAUSE_LINE_TABLE, "judge:other", "truth", "judge:other"},
    {"the truth has a line that the table does not have", TRUTH, GOOD, GOOD,
     POKE "app.exe+2005 own middle /src/a.c:18\n" MAIN START BASE, &own_tables, VERDICT_PASS,
     CAUSE_UNEXPLAINED, "judge:other", "truth", "judge:other"},
    {"exhibits decide nothing", TRUTH, GOOD, GOOD, POKE MIDDLE, NULL, VERDICT_PASS,
     CAUSE_UNEXPLAINED, "judge:other", "truth", "judge:other"},
};

static void judge(struct arena *keep, const struct row *row, const struct crash_case *crash,
                  struct case_result *out)
{
    struct engine_claim *claims = arena_array(keep, 3, sizeof *claims);
    struct compare_input in = {.crash = crash, .claims = claims, .claim_count = 2};
    struct fault fault = FAULT_INIT;
    claims[0] = make_claim(keep, "offset:rtl", true, row->offset);
    claims[1] = make_claim(keep, "dump", true, row->dump);
    if (row->exhibit != NULL)
        claims[in.claim_count++] = make_claim(keep, "judge:other", false, row->exhibit);
    in.truth = make_truth(keep, row->truth);
    in.symbols = row->symbols;
    REQUIRE(compare_case(&in, keep, out, &fault) == ERR_NONE);
}

static void tell(const struct case_result *r)
{
    (void)printf("  verdict %s: %s\n", verdict_name(r->verdict), r->reason);
    for (uint32_t i = 0; i < r->finding_count; i++)
        (void)printf("  %s %s vs %s wrong=%s: %s\n", cause_name(r->findings[i].cause),
                     r->findings[i].engine, r->findings[i].against,
                     r->findings[i].wrong ? r->findings[i].wrong : "?", r->findings[i].evidence);
}

TEST(every_difference_has_its_cause)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct case_result r;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(rows[i].name);
        judge(&keep, &rows[i], &crash, &r);
        const struct finding *f = r.findings;
        bool ok = CHECK_STR(verdict_name(r.verdict), verdict_name(rows[i].verdict));
        ok = CHECK_EQ(r.finding_count > 0, rows[i].cause != CAUSE_NONE) && ok;
        if (r.finding_count > 0) {
            ok = CHECK_STR(cause_name(f->cause), cause_name(rows[i].cause)) && ok;
            ok = CHECK_STR(f->engine, rows[i].engine) && ok;
            ok = CHECK_STR(f->against, rows[i].against) && ok;
            ok = CHECK_STR(f->wrong ? f->wrong : "", rows[i].wrong ? rows[i].wrong : "") && ok;
            ok = CHECK(f->evidence != NULL && strlen(f->evidence) > 5) && ok;
        }
        ok ? (void)0 : tell(&r);
        arena_free(&keep);
    }
}

/* The words say which side has what: the reader needs no other page. */
TEST(an_unexplained_difference_says_which_side_has_what)
{
    static const struct {
        const char *name, *dump, *evidence;
    } unexplained[] = {
        {"another line", POKE "app.exe+2005 own middle /src/a.c:21\n" MAIN START BASE,
         "middle is at line 21 in dump and at line 20 in truth"},
        {"another file", POKE "app.exe+2005 own middle /src/b.h:20\n" MAIN START BASE,
         "file differs: /src/b.h:20 in dump / a.c:20 in truth"},
        {"another function", POKE "app.exe+2005 own twin /src/t.c:5\n" MAIN START BASE,
         "app.exe!0x2005 is twin in dump and middle in truth"},
        {"another place", POKE "app.exe+2045 own middle /src/a.c:20\n" MAIN START BASE,
         "middle is at app.exe!0x2045 in dump and at app.exe!0x2005 in offset:rtl"},
        {"a frame more", POKE "app.exe+5005 own extra /src/a.c:50\n" MIDDLE MAIN START BASE,
         "extra at app.exe!0x5005 is in dump and not in truth"},
        {"a frame less", POKE MAIN START BASE, "middle is in truth and not in dump"},
    };
    for (size_t i = 0; i < COUNT_OF(unexplained); i++) {
        const struct row row = {.truth = TRUTH, .offset = GOOD, .dump = unexplained[i].dump};
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        struct case_result r;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(unexplained[i].name);
        judge(&keep, &row, &crash, &r);
        if (CHECK(r.finding_count > 0 && r.findings[0].cause == CAUSE_UNEXPLAINED))
            CHECK_HAS(r.findings[0].evidence, unexplained[i].evidence);
        else
            tell(&r);
        arena_free(&keep);
    }
}

TEST(a_missing_frame_is_a_gap_and_shifts_nothing)
{
    struct arena keep;
    struct case_result r;
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    const struct row row = {.truth = TRUTH, .offset = GOOD, .dump = POKE MAIN START BASE};
    arena_init(&keep, 0);
    judge(&keep, &row, &crash, &r);
    REQUIRE(r.thread_count == 1);
    const struct thread_result *t = &r.threads[0];
    static const enum cell_mark want[] = {CELL_SAME, CELL_MISSING, CELL_SAME,
                                          CELL_SAME, CELL_SAME,    CELL_SAME};
    REQUIRE(t->row_count >= COUNT_OF(want));
    for (uint32_t i = 0; i < COUNT_OF(want); i++)
        CHECK_STR(cell_mark_name(thread_result_cell(t, i, 2)->mark), cell_mark_name(want[i]));
    CHECK_EQ(thread_result_cell(t, 1, 0)->frame, 1);
    CHECK_EQ(thread_result_cell(t, 1, 2)->frame, -1);
    CHECK_STR(r.right, "offset:rtl");
    CHECK_EQ(r.scores[1].right_frames, 2);
    CHECK_EQ(r.scores[1].truth_frames, 3);
    CHECK_EQ(r.scores[1].first_divergence, 1);
    CHECK(r.scores[0].exact && r.scores[0].top1 && r.scores[0].top5);
    CHECK(!r.scores[1].exact && r.scores[1].top1 && !r.scores[1].top5);
    arena_free(&keep);
}

/* dbghelp follows frame pointers without reporting it; a walker that reports it is the witness. */
TEST(a_walker_that_does_not_say_how_is_known_by_one_that_does)
{
    static const struct {
        const char *name, *silent;
        enum cause cause;
    } walks[] = {
        {"passes over the same frame", POKE MAIN START BASE, CAUSE_FRAME_POINTER},
        {"ends before it", POKE, CAUSE_UNEXPLAINED},
        {"goes elsewhere", POKE "app.exe+7777 own stale /src/b.c:1\n" MAIN START BASE,
         CAUSE_UNEXPLAINED},
    };
    for (size_t i = 0; i < COUNT_OF(walks); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(walks[i].name);
        const struct engine_claim claims[] = {
            make_claim(&keep, "dump", true, GOOD),
            make_claim(&keep, "offset:framepointer", false,
                       POKE "app.exe+3005 own main /src/a.c:30 frame_pointer\n" START BASE),
            make_claim(&keep, "judge:other", false, walks[i].silent)};
        const struct compare_input in = {.crash = &crash,
                                         .truth = make_truth(&keep, TRUTH),
                                         .claims = claims,
                                         .claim_count = COUNT_OF(claims)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        const struct finding *found = NULL;
        for (uint32_t k = 0; k < r.finding_count && found == NULL; k++)
            if (strcmp(r.findings[k].engine, "judge:other") == 0)
                found = &r.findings[k];
        if (CHECK(found != NULL))
            CHECK_STR(cause_name(found->cause), cause_name(walks[i].cause));
        arena_free(&keep);
    }
}

TEST(inline_recall_counts_what_no_engine_has_as_a_physical_frame)
{
    struct arena keep;
    struct case_result r;
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    const struct row row = {.truth = TRUTH,
                            .offset = GOOD_INLINE,
                            .dump = "app.exe+1005 own main /src/a.c:30\n" START BASE};
    arena_init(&keep, 0);
    judge(&keep, &row, &crash, &r);
    CHECK_EQ(r.scores[0].inline_demanded, 2);
    CHECK_EQ(r.scores[0].inline_right, 2);
    CHECK_EQ(r.scores[1].inline_demanded, 2);
    CHECK_EQ(r.scores[1].inline_right, 0);
    CHECK_EQ(r.scores[1].physical_judged, r.scores[1].physical_same);
    arena_free(&keep);
}

TEST(a_frame_that_jumped_away_is_told_between_engines_too)
{
    struct arena keep;
    struct case_result r;
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    const struct row row = {.truth = "poke a.c:10\njumper a.c:15 tail\nmiddle a.c:20\nmain a.c:30",
                            .offset = GOOD,
                            .dump = GOOD,
                            .exhibit = POKE
                            "app.exe+1505 own jumper /src/a.c:15\n" MIDDLE MAIN START BASE};
    arena_init(&keep, 0);
    judge(&keep, &row, &crash, &r);
    REQUIRE(r.finding_count == 2);
    CHECK_STR(r.findings[0].against, "truth");
    CHECK_STR(cause_name(r.findings[1].cause), "tail_call");
    CHECK_STR(r.findings[1].wrong, "judge:other");
    arena_free(&keep);
}

/* A recursion so deep that both stacks are cut, one of them a frame further than the other. */
TEST(recursion_is_elided_alike_or_says_so)
{
    struct arena keep;
    struct case_result r;
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    enum { DEPTH = 1024 };
    arena_init(&keep, 0);
    char *deep = arena_alloc(&keep, (DEPTH + 8) * 48),
         *truth = arena_alloc(&keep, (DEPTH + 8) * 24);
    size_t at = 0, said = 0;
    for (int i = 0; i < DEPTH - 4; i++) {
        at += (size_t)sprintf(deep + at, "app.exe+1005 own dive /src/a.c:10\n");
        said += (size_t)sprintf(truth + said, i == 768 ? "[elided]\n" : "dive a.c:10\n");
    }
    (void)sprintf(deep + at, MAIN START BASE);
    (void)sprintf(truth + said, "main a.c:30\n");
    struct row row = {.truth = truth, .offset = deep, .dump = deep};
    judge(&keep, &row, &crash, &r);
    REQUIRE(r.finding_count > 0);
    CHECK_STR(cause_name(r.findings[0].cause), "recursion_elided");
    CHECK_STR(verdict_name(r.verdict), "PASS");
    arena_free(&keep);
}

/* What counts as a right line: function, file and line. */
TEST(scores_count_what_is_right)
{
    static const struct {
        const char *name, *middle;
        uint32_t functions, lines;
        bool exact, other_place;
    } cases[] = {
        {"right", MIDDLE, 3, 3, true, false},
        {"another line", "app.exe+2005 own middle /src/a.c:21\n", 3, 2, false, false},
        {"another file", "app.exe+2005 own middle /src/b.c:20\n", 3, 2, false, false},
        {"another folder", "app.exe+2005 own middle /src/x/a.c:20\n", 3, 2, false, false},
        {"no line", "app.exe+2005 own middle\n", 3, 2, false, false},
        {"another function", "app.exe+2005 own wrong /src/a.c:20\n", 2, 2, false, false},
        {"missing", "", 2, 2, false, true},
        {"another offset", "app.exe+2009 own middle /src/a.c:20\n", 3, 3, true, true},
        {"another kind", "app.exe+2005 own middle /src/a.c:20 interrupted\n", 3, 3, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(cases[i].name);
        const char *text = arena_printf(&keep, "%s%s%s", POKE, cases[i].middle, MAIN START BASE);
        struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                         make_claim(&keep, "dump", true, text)};
        const struct compare_input in = {
            .crash = &crash, .claims = claims, .claim_count = 2, .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        const struct engine_score *s = &r.scores[1];
        CHECK_EQ(s->truth_frames, 3);
        CHECK_EQ(s->right_frames, cases[i].functions);
        CHECK_EQ(s->lines_right, cases[i].lines);
        CHECK_EQ(s->exact, cases[i].exact);
        CHECK_EQ(s->physical_same, s->physical_judged - cases[i].other_place);
        arena_free(&keep);
    }
}

/* The watcher has no `rtl` walker; inside the process, a missing `rtl` stack is a failure. */
TEST(a_watcher_is_asked_for_no_stack_that_it_cannot_take)
{
    static const struct {
        const char *name, *hooks;
        enum stack_state state;
        const char *dump;
        enum verdict verdict;
        enum cause cause;
    } cases[] = {
        {"watched", "watcher", STACK_NOT_APPLICABLE, GOOD, VERDICT_PASS, CAUSE_UNSUPPORTED_HERE},
        {"watched, the dump is wrong", "watcher", STACK_NOT_APPLICABLE, POKE MAIN START BASE,
         VERDICT_FAIL, CAUSE_UNSUPPORTED_HERE},
        {"watched, no dump", "watcher", STACK_NOT_APPLICABLE, "! no thread", VERDICT_FAIL,
         CAUSE_UNSUPPORTED_HERE},
        {"watched, blocked", "watcher", STACK_BLOCKED, GOOD, VERDICT_FAIL, CAUSE_NOT_CAPTURED},
        {"in the process", "unhandled", STACK_NOT_APPLICABLE, GOOD, VERDICT_FAIL,
         CAUSE_NOT_CAPTURED},
        {"in the process too", "watcher,unhandled", STACK_NOT_APPLICABLE, GOOD, VERDICT_FAIL,
         CAUSE_NOT_CAPTURED},
        {"unknown", NULL, STACK_NOT_APPLICABLE, GOOD, VERDICT_FAIL, CAUSE_NOT_CAPTURED},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        test_row(cases[i].name);
        struct crash_case crash = make_crash(CASE_KIND_CRASH);
        crash.expect.hooks = crash.got.hooks = hooks_parse(cases[i].hooks);
        struct engine_claim claims[2] = {
            make_claim(&keep, "offset:rtl", true, "! walks only its own process"),
            make_claim(&keep, "dump", true, cases[i].dump)};
        claims[0].stacks[0].state = cases[i].state;
        const struct compare_input in = {
            .crash = &crash, .claims = claims, .claim_count = 2, .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        bool ok = CHECK_STR(verdict_name(r.verdict), verdict_name(cases[i].verdict));
        ok = CHECK(r.finding_count > 0) && ok;
        if (r.finding_count > 0) {
            ok = CHECK_STR(cause_name(r.findings[0].cause), cause_name(cases[i].cause)) && ok;
            ok = CHECK_STR(r.findings[0].engine, "offset:rtl") && ok;
        }
        if (!ok)
            tell(&r);
        arena_free(&keep);
    }
}

TEST(a_subject_that_fails_is_an_error_and_never_a_failure)
{
    struct arena keep;
    struct case_result r;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    struct engine_claim claims[2] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                     {.engine = "dump", .subject = true, .why = "dump: truncated"}};
    const struct compare_input in = {
        .crash = &crash, .claims = claims, .claim_count = 2, .truth = make_truth(&keep, TRUTH)};
    REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
    CHECK_STR(verdict_name(r.verdict), "ERROR");
    CHECK_HAS(r.reason, "truncated");
    arena_free(&keep);
}
