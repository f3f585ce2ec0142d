/* Which engine caused a difference. Each row has one fault in claims that otherwise agree, and the
 * expected blame with its witnesses. */
#include <stdio.h>
#include <string.h>

#include "compare/align.h"
#include "compare/blame.h"
#include "compare/blame_voters.h"
#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "poke a.c:10\nmiddle a.c:20\nmain a.c:30\n[thread_start]"
#define POKE "app.exe+1005 own poke /src/a.c:10\n"
#define MIDDLE "app.exe+2005 own middle /src/a.c:20\n"
#define MAIN "app.exe+3005 own main /src/a.c:30\n"
#define START "app.exe+4005 runtime mainCRTStartup\n"
#define THUNK "kernel32.dll+20 sys BaseThreadInitThunk\n"
#define LAST "ntdll.dll+40 sys RtlUserThreadStart"
#define GOOD POKE MIDDLE MAIN START THUNK LAST
#define OFF_BY_ONE POKE "app.exe+2005 own middle /src/a.c:21\n" MAIN START THUNK LAST
#define NO_THUNK POKE MIDDLE MAIN START LAST
#define NO_MIDDLE POKE MAIN START THUNK LAST
#define OTHER_MODULE POKE "evil.dll+2005 own middle /src/a.c:20\n" MAIN START THUNK LAST
/* Each return address is four bytes too large, where other lines are. */
#define LATER                                                                                      \
    POKE "app.exe+2009 own middle /src/a.c:21\napp.exe+3009 own main /src/a.c:31\n"                \
         "app.exe+4009 runtime mainCRTStartup\nkernel32.dll+24 sys BaseThreadInitThunk\n"          \
         "ntdll.dll+44 sys RtlUserThreadStart"
#define WORDLESS(word)                                                                             \
    "app.exe+1005 runtime - " word "\napp.exe+2005 runtime - " word                                \
    "\napp.exe+3005 runtime - " word "\n" THUNK LAST
#define MADE_UP POKE "app.exe+7777 own stale /src/b.c:1\n" MIDDLE MAIN START THUNK LAST
/* The first address is right, but its module has a wrong base. The frames after it are wrong. */
#define SHIFTED                                                                                    \
    "app.exe+5 own start /src/b.c:9 pc=140101005\napp.exe+7777 own stale /src/b.c:1\n" LAST
/* Frames of the truth's functions that have lost their names, and with them their class. */
#define NAMELESS                                                                                   \
    "app.exe+1005 none - none\napp.exe+2005 none - none\napp.exe+3005 none - none\n" LAST
#define CALLED "app.exe+1005 own poke /src/a.c:10 return\n" MIDDLE MAIN START THUNK LAST
#define UNIDENTIFIED                                                                               \
    "app.exe+1005 none - other_pdb\napp.exe+2005 none - other_pdb\napp.exe+3005 none - "           \
    "other_pdb\n" LAST
/* The same where the image has symbols of its own. */
#define NAMED_BY_IMAGE                                                                             \
    "app.exe+1005 own main other_pdb coff\napp.exe+2005 own main other_pdb coff\n"                 \
    "app.exe+3005 own main other_pdb coff\n" LAST
#define MISNAMED                                                                                   \
    "app.exe+1005 runtime a\napp.exe+2005 runtime b\napp.exe+3005 runtime c\n" THUNK LAST
#define OF_NOBODY                                                                                  \
    "app.exe+1005 none poke /src/a.c:10\napp.exe+2005 none middle /src/a.c:20\n"                   \
    "app.exe+3005 none main /src/a.c:30\n" LAST
#define OTHER_MODULES                                                                              \
    "evil.dll+1005 own stale /src/b.c:1\nevil.dll+2005 own stale /src/b.c:2\n"                     \
    "evil.dll+3005 own stale /src/b.c:3\n" LAST
#define NOWHERE "?+0 none -\n"
#define INLINED "> app.exe+2005 own helper /src/h.h:3\n"

static const struct {
    const char *name, *truth;
    const char *rtl, *backtrace, *dump, *dbghelp, *symbolizer; /* NULL: not asked */
    const char *blame, *witnesses;                             /* expected in the finding */
    const char *engine; /* engine of the finding; NULL: the first that fails */
    const char *right;
} rows[] = {
    {"rtl lost a frame of the system's", TRUTH, NO_THUNK, NULL, GOOD, GOOD, NULL,
     "walk of offset:rtl", "dump, judge:dbghelp", NULL, "dump"},
    {"so did who walks alike, which adds no weight", TRUTH, NO_THUNK, NO_THUNK, GOOD, GOOD, NULL,
     "record", "dump, judge:dbghelp", NULL, "dump"},
    {"the frame of the example in blame.c: 1 voter to 2", TRUTH, NO_THUNK, NO_THUNK, GOOD, GOOD,
     NO_THUNK, "record", "dump, judge:dbghelp", NULL, "dump"},
    {"the line of the example in blame.c: 1 voter to 3", TRUTH, OFF_BY_ONE, OFF_BY_ONE, OFF_BY_ONE,
     GOOD, GOOD, "symbols of both ways", "judge:dbghelp, judge:llvm-symbolizer, truth", NULL,
     "none"},
    {"rtl lost a frame that the truth has", TRUTH, NO_MIDDLE, NULL, GOOD, NULL, NULL,
     "walk of offset:rtl", "dump, truth", "offset:rtl", "dump"},
    {"who was not at the place has no vote about what is inlined there", TRUTH,
     POKE INLINED MIDDLE MAIN START THUNK LAST, NO_MIDDLE,
     POKE INLINED MIDDLE MAIN START THUNK LAST, NULL, GOOD, "symbols of both ways",
     "judge:llvm-symbolizer, truth", "offset:rtl", "none"},
    {"the dump's walk calls what was interrupted a return address", TRUTH,
     POKE "app.exe+2005 own middle /src/a.c:20 interrupted\n" MAIN START THUNK LAST, NULL,
     POKE "app.exe+2005 own middle /src/a.c:20 return machine_frame\n" MAIN START THUNK LAST, NULL,
     NULL, "walk of dump", "offset:rtl", "dump", "offset:rtl"},
    {"the record names other modules, in all of its walks", TRUTH, OTHER_MODULES, OTHER_MODULES,
     GOOD, NULL, NULL, "record", "dump, truth", "offset:rtl", "dump"},
    {"the dump's walk lost a frame", TRUTH, GOOD, NULL, NO_THUNK, GOOD, NULL, "walk of dump",
     "offset:rtl, judge:dbghelp", NULL, "offset:rtl"},
    {"the dump's walk made one up", TRUTH, GOOD, NULL, MADE_UP, GOOD, NULL, "walk of dump",
     "offset:rtl, judge:dbghelp, truth", NULL, "offset:rtl"},
    {"rtl starts inside the exception handler, so what crashed returns to it", TRUTH,
     "app.exe+6000 capture on_crash\nntdll.dll+88 sys KiUserExceptionDispatcher\n" GOOD, NULL, GOOD,
     NULL, NULL, "walk of offset:rtl", "dump", NULL, "dump"},
    {"one against one, and no other engine saw it", NULL, NO_THUNK, NULL, GOOD, NULL, NULL,
     "none: the votes are even", "offset:rtl, dump", "dump", NULL},
    {"the shared lookup is off by one line", TRUTH, OFF_BY_ONE, NULL, OFF_BY_ONE, NULL, GOOD,
     "symbols of both ways", "judge:llvm-symbolizer, truth", NULL, "none"},
    {"the same, and only the truth contradicts it", TRUTH, OFF_BY_ONE, NULL, OFF_BY_ONE, NULL, NULL,
     "symbols of both ways", "truth", NULL, "none"},
    {"one subject's lookup is asked wrongly", TRUTH, GOOD, NULL, OFF_BY_ONE, NULL, GOOD,
     "symbols of dump", "offset:rtl, judge:llvm-symbolizer, truth", NULL, "offset:rtl"},
    {"a judge's symbols", TRUTH, GOOD, NULL, GOOD, OFF_BY_ONE, GOOD, "symbols of judge:dbghelp",
     "offset:rtl, dump, judge:llvm-symbolizer, truth", "judge:dbghelp", "all"},
    {"the truth is off by one line", "poke a.c:10\nmiddle a.c:21\nmain a.c:30\n[thread_start]",
     GOOD, NULL, GOOD, GOOD, GOOD, "truth suspect",
     "offset:rtl, dump, judge:dbghelp, judge:llvm-symbolizer", NULL, "none"},
    {"the truth lacks a frame that every walk has", "poke a.c:10\nmain a.c:30\n[thread_start]",
     GOOD, NULL, GOOD, GOOD, NULL, "truth suspect", "offset:rtl, dump, judge:dbghelp", NULL,
     "none"},
    {"the dump reader lost the thread", TRUTH, GOOD, NULL, "!! no such thread", GOOD, NULL,
     "dump reader", "offset:rtl, judge:dbghelp, truth", NULL, "offset:rtl"},
    {"the dump's walk gave up, and only the truth knows more", TRUTH, NULL, NULL,
     POKE "! stack pointer does not rise", NULL, NULL, "walk of dump", "truth", "dump", "none"},
    {"the dump's walk went nowhere", TRUTH, GOOD, NULL, "! end of stack", GOOD, NULL,
     "walk of dump", "offset:rtl, judge:dbghelp, truth", NULL, "offset:rtl"},
    {"the record has the wrong module", TRUTH, OTHER_MODULE, NULL, GOOD, GOOD, NULL, "record",
     "dump, judge:dbghelp", NULL, "dump"},
    {"the dump reader has the wrong module", TRUTH, GOOD, NULL, OTHER_MODULE, GOOD, NULL,
     "dump reader", "offset:rtl, judge:dbghelp", NULL, "offset:rtl"},
    {"an inline frame that only the truth and a judge have",
     "poke a.c:10\nhelper h.h:3\nmiddle a.c:20\nmain a.c:30\n[thread_start]", GOOD, NULL, GOOD,
     NULL, POKE INLINED MIDDLE MAIN START THUNK LAST, "symbols of both ways",
     "judge:llvm-symbolizer, truth", NULL, "none"},
    {"the dump's modules are a page too high", TRUTH, GOOD, NULL, SHIFTED, GOOD, NULL,
     "dump reader", "offset:rtl, judge:dbghelp, truth", "dump", "offset:rtl"},
    {"the same where the call went into no module", "middle a.c:20\nmain a.c:30\n[thread_start]",
     NOWHERE MIDDLE MAIN START THUNK LAST, NULL,
     NOWHERE "app.exe+1005 own stale /src/b.c:9 pc=140102005\n" LAST,
     NOWHERE MIDDLE MAIN START THUNK LAST, NULL, "dump reader", "offset:rtl, judge:dbghelp, truth",
     "dump", "offset:rtl"},
    {"the record's modules are a page too high", TRUTH, SHIFTED, NULL, GOOD, GOOD, NULL, "record",
     "dump, judge:dbghelp, truth", "offset:rtl", "dump"},
    {"the same where it names the capture, so that it seems to start in the handler", TRUTH,
     "> app.exe+5 capture write_at /src/b.c:9 pc=140101005\n" SHIFTED, NULL, GOOD, NULL, NULL,
     "record", "dump, truth", "offset:rtl", "dump"},
    {"the shared lookup knows no procedure", TRUTH, NAMELESS, NULL, NAMELESS, NULL, OF_NOBODY,
     "symbols of both ways", "judge:llvm-symbolizer, truth", NULL, "none"},
    {"the shared lookup knows wrong procedures", TRUTH, MISNAMED, NULL, MISNAMED, NULL, OF_NOBODY,
     "symbols of both ways", "judge:llvm-symbolizer, truth", NULL, "none"},
    {"the record has another identity, and so has the dump that it wrote", TRUTH, UNIDENTIFIED,
     NULL, UNIDENTIFIED, NULL, OF_NOBODY, "record", "judge:llvm-symbolizer, truth", NULL, "none"},
    {"the same, and the image names its functions", TRUTH, NAMED_BY_IMAGE, NULL, NAMED_BY_IMAGE,
     NULL, OF_NOBODY, "record", "judge:llvm-symbolizer, truth", NULL, "none"},
    {"the record takes the fault for a call", TRUTH, CALLED, CALLED, GOOD, NULL, NULL, "record",
     "dump", "dump", "dump"},
    {"the dump reader takes the fault for a call", TRUTH, GOOD, NULL, CALLED, NULL, NULL,
     "dump reader", "offset:rtl", "dump", "offset:rtl"},
    {"the record names the module before, in a frame further out", TRUTH,
     POKE MIDDLE MAIN START "app.exe+20 sys -\n" LAST, NULL, GOOD, NULL, NULL, "record", "dump",
     "dump", "dump"},
    {"the walk ends at an address that no program has", TRUTH,
     POKE "?+6e006900000001 none -\n! bad_stack_pointer", NULL, GOOD, NULL, NULL,
     "walk of offset:rtl", "dump, truth", "offset:rtl", "dump"},
    {"the dump reader has another identity", TRUTH, GOOD, NULL, UNIDENTIFIED, NULL, OF_NOBODY,
     "dump reader", "offset:rtl, judge:llvm-symbolizer, truth", NULL, "offset:rtl"},
};

/* Two stacks have the same frames, but the table shifts one of them by a row. */
TEST(rows_that_are_laid_out_wrong_are_blamed_on_the_alignment)
{
    struct arena keep;
    struct compare_input in = {0};
    arena_init(&keep, 0);
    const struct engine_claim a = make_claim(&keep, "offset:rtl", true, POKE MIDDLE);
    const struct engine_claim b = make_claim(&keep, "dump", true, POKE MIDDLE);
    const struct frame_key keys[] = {{.module = 1, .offset = 0x1005},
                                     {.module = 1, .offset = 0x2005}};
    struct column columns[] = {{0}, {&a, a.stacks, NULL, keys, 2}, {&b, b.stacks, NULL, keys, 2}};
    int32_t cells[] = {-1, 0, -1, -1, 1, 0, -1, -1, 1};
    const struct table table = {3, 3, columns, cells, 1, NULL};
    struct finding f = {.level = LEVEL_PHYSICAL,
                        .cause = CAUSE_UNEXPLAINED,
                        .engine = "dump",
                        .against = "offset:rtl",
                        .frame_a = 0,
                        .frame_b = 1,
                        .row = 1};
    finding_blame(&in, &table, &keep, &f);
    CHECK_EQ(f.blame, BLAME_ALIGNMENT);
    CHECK_STR(f.witnesses, "offset:rtl, dump");
    arena_free(&keep);
}

static void add(struct compare_input *in, struct engine_claim *claims, struct arena *keep,
                const char *engine, uint32_t parts, const char *text)
{
    if (text == NULL)
        return;
    claims[in->claim_count] = make_claim(
        keep, engine, strcmp(engine, "offset:rtl") == 0 || strcmp(engine, "dump") == 0, text);
    claims[in->claim_count].parts = parts;
    in->claim_count++;
}

static const struct finding *find(const struct case_result *r, const char *engine)
{
    for (uint32_t i = 0; i < r->finding_count; i++)
        if (engine == NULL ? r->findings[i].fails : strcmp(r->findings[i].engine, engine) == 0)
            return &r->findings[i];
    return NULL;
}

/* The symbols of a program whose call of noreturn() is the last instruction of middle(). */
static uint32_t symbols_at(void *context, const struct frame *frame, uint64_t offset,
                           struct frame *out, uint32_t max)
{
    (void)context;
    if (frame->offset != 0x2005 || max == 0)
        return 0;
    *out = (struct frame){.function = offset == 0x2004 ? "middle" : "next",
                          .file = "/src/a.c",
                          .line = offset == 0x2004 ? 20 : 40};
    return 1;
}

/* All engines, and a judge that is asked about the address that we computed, are against the
 * truth. */
TEST(a_return_address_that_was_looked_up_at_itself_is_blamed_on_the_lookup)
{
    static const char late[] = POKE "app.exe+2005 own next /src/a.c:40\n" MAIN START THUNK LAST;
    const struct compare_symbols symbols = {.at = symbols_at};
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    struct arena keep;
    struct case_result r;
    struct fault fault = FAULT_INIT;
    char text[BLAME_TEXT_BYTES];
    arena_init(&keep, 0);
    struct engine_claim *claims = arena_array(&keep, 3, sizeof *claims);
    struct compare_input in = {.crash = &crash, .claims = claims, .symbols = &symbols};
    add(&in, claims, &keep, "offset:rtl", 0, late);
    add(&in, claims, &keep, "dump", 0, late);
    add(&in, claims, &keep, "judge:llvm-symbolizer", ENGINE_SHARES_RECORD_FRAMES, late);
    in.truth = make_truth(&keep, TRUTH);
    REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
    const struct finding *f = find(&r, NULL);
    REQUIRE(f != NULL);
    CHECK_STR(finding_blame_text(f, text), "symbols of both ways");
    CHECK_STR(f->witnesses, "truth");
    CHECK_EQ(f->cause, CAUSE_LOOKUP_ADDRESS);
    arena_free(&keep);
}

TEST(a_single_fault_is_blamed_on_what_it_was_put_into)
{
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        char text[BLAME_TEXT_BYTES];
        test_row(rows[i].name);
        arena_init(&keep, 0);
        struct engine_claim *claims = arena_array(&keep, 5, sizeof *claims);
        struct compare_input in = {.crash = &crash, .claims = claims};
        add(&in, claims, &keep, "offset:rtl", 0, rows[i].rtl);
        add(&in, claims, &keep, "dump", 0, rows[i].dump);
        add(&in, claims, &keep, "offset:backtrace",
            ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_SYSTEM_UNWINDER, rows[i].backtrace);
        if (rows[i].backtrace != NULL)
            claims[0].parts = ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_SYSTEM_UNWINDER;
        add(&in, claims, &keep, "judge:dbghelp", 0, rows[i].dbghelp);
        add(&in, claims, &keep, "judge:llvm-symbolizer", ENGINE_SHARES_RECORD_FRAMES,
            rows[i].symbolizer);
        in.truth = rows[i].truth != NULL ? make_truth(&keep, rows[i].truth) : NULL;
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        const struct finding *f = find(&r, rows[i].engine);
        if (!CHECK(f != NULL))
            continue;
        CHECK_STR(finding_blame_text(f, text), rows[i].blame);
        CHECK_STR(f->witnesses != NULL ? f->witnesses : "",
                  rows[i].witnesses != NULL ? rows[i].witnesses : "");
        CHECK_STR(r.right != NULL ? r.right : "", rows[i].right != NULL ? rows[i].right : "");
        struct finding again = {0};
        finding_blame_parse(finding_blame_text(f, text), &again);
        CHECK_EQ(again.blame, f->blame);
        arena_free(&keep);
    }
}

/* The voters of the worked example at the head of blame.c. */
TEST(engines_that_share_a_part_are_one_voter)
{
    enum { RTL = 1, BACKTRACE, DUMP, DBGHELP, SYMBOLIZER, COLUMNS };
    static const struct {
        const char *name;
        uint32_t columns; /* as bits */
        voter_fn *voter;
        uint32_t want;
    } votes[] = {
        {"who lacks the frame", 1 << RTL | 1 << BACKTRACE | 1 << SYMBOLIZER, voter_of_walk, 1},
        {"who has it", 1 << DUMP | 1 << DBGHELP, voter_of_walk, 2},
        {"who says 21", 1 << RTL | 1 << BACKTRACE | 1 << DUMP, voter_of_name, 1},
        {"who says 20", 1 << DBGHELP | 1 << SYMBOLIZER | 1, voter_of_name, 3},
    };
    const uint32_t both = ENGINE_SHARES_SYMBOLS | ENGINE_SHARES_SYSTEM_UNWINDER;
    struct arena keep;
    struct column columns[COLUMNS] = {{0}};
    arena_init(&keep, 0);
    struct engine_claim *claims = arena_array(&keep, COLUMNS, sizeof *claims);
    struct compare_input in = {.claims = claims};
    add(&in, claims, &keep, "offset:rtl", both, GOOD);
    add(&in, claims, &keep, "offset:backtrace", both, GOOD);
    add(&in, claims, &keep, "dump", 0, GOOD);
    add(&in, claims, &keep, "judge:dbghelp", 0, GOOD);
    add(&in, claims, &keep, "judge:llvm-symbolizer", ENGINE_SHARES_RECORD_FRAMES, GOOD);
    for (uint32_t c = 1; c < COLUMNS; c++)
        columns[c] = (struct column){.claim = &claims[c - 1], .count = 1};
    const struct table table = {.column_count = COLUMNS, .columns = columns};
    for (size_t i = 0; i < COUNT_OF(votes); i++) {
        test_row(votes[i].name);
        CHECK_EQ(voters_weigh(&table, votes[i].columns, votes[i].voter), votes[i].want);
    }
    arena_free(&keep);
}

/* Three walkers of one process, each with an unwinder of its own, and the dump. */
TEST(walkers_that_share_the_writer_of_their_record_vote_once)
{
    static const struct {
        const char *name, *rtl, *dbghelp, *framepointer, *dump, *blame, *engine;
    } cases[] = {
        {"every return address in the record is too large", LATER, LATER, LATER, GOOD, "record",
         "offset:rtl"},
        {"one walker's are", LATER, GOOD, GOOD, GOOD, "walk of offset:rtl", "offset:rtl"},
        {"the dump's are", GOOD, GOOD, GOOD, LATER, "walk of dump", "dump"},
        {"the dump's walk ends early, since its memory cannot be read", GOOD, GOOD, GOOD,
         POKE MIDDLE "! stack memory is missing", "dump reader", "dump"},
        {"the dump's walk ends early for another reason", GOOD, GOOD, GOOD,
         POKE MIDDLE "! no progress", "walk of dump", "dump"},
        {"one walker ends early", POKE MIDDLE "! no progress", GOOD, GOOD, GOOD,
         "walk of offset:rtl", "offset:rtl"},
        {"a chain of frame pointers that ended before a frame of the truth has no vote", GOOD, GOOD,
         POKE, NO_THUNK, "walk of dump", "dump"},
    };
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        char text[BLAME_TEXT_BYTES];
        test_row(cases[i].name);
        arena_init(&keep, 0);
        struct engine_claim *claims = arena_array(&keep, 4, sizeof *claims);
        struct compare_input in = {.crash = &crash, .claims = claims};
        add(&in, claims, &keep, "offset:rtl", 0, cases[i].rtl);
        add(&in, claims, &keep, "dump", 0, cases[i].dump);
        add(&in, claims, &keep, "offset:dbghelp", 0, cases[i].dbghelp);
        add(&in, claims, &keep, "offset:framepointer", 0, cases[i].framepointer);
        in.truth = make_truth(&keep, TRUTH);
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        const struct finding *f = find(&r, cases[i].engine);
        if (CHECK(f != NULL))
            CHECK_STR(finding_blame_text(f, text), cases[i].blame);
        arena_free(&keep);
    }
}

static const char *sought_in(void *context, const struct frame *frame, struct arena *keep)
{
    (void)context;
    (void)frame;
    (void)keep;
    return "a folder";
}

/* An own module without symbols: all engines that need its file lack the same names. Where its
 * image is there and names another PDB, no file is missing: the identity is wrong, which the
 * capture wrote. */
TEST(what_one_missing_file_hides_is_no_evidence_against_the_truth)
{
    static const struct {
        const char *name, *stack, *blame, *cause;
    } cases[] = {
        {"of another build", WORDLESS("mismatch"), "symbols of both ways", "symbols_mismatch"},
        {"one of two modules", POKE "plugin.dll+2005 runtime - mismatch\n" MAIN START THUNK LAST,
         "symbols of both ways", "symbols_mismatch"},
        {"its image names another PDB", UNIDENTIFIED, "record", "symbols_mismatch"},
    };
    static const struct compare_symbols symbols = {.sought = sought_in};
    const char *own[] = {"app.exe", "plugin.dll"};
    struct crash_case crash = make_crash(CASE_KIND_CRASH);
    crash.own.images = own;
    crash.own.image_count = 2;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        char text[BLAME_TEXT_BYTES];
        test_row(cases[i].name);
        arena_init(&keep, 0);
        struct engine_claim *claims = arena_array(&keep, 4, sizeof *claims);
        struct compare_input in = {.crash = &crash, .claims = claims, .symbols = &symbols};
        add(&in, claims, &keep, "offset:rtl", 0, cases[i].stack);
        add(&in, claims, &keep, "dump", 0, cases[i].stack);
        add(&in, claims, &keep, "offset:dbghelp", 0, cases[i].stack);
        add(&in, claims, &keep, "judge:lldb", 0, cases[i].stack);
        in.truth = make_truth(&keep, TRUTH);
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        for (uint32_t k = 0; k < r.finding_count; k++) {
            const struct finding *f = &r.findings[k];
            if (!f->fails)
                continue;
            CHECK_STR(cause_name(f->cause), cases[i].cause);
            CHECK_STR(finding_blame_text(f, text), cases[i].blame);
        }
        CHECK(find(&r, NULL) != NULL);
        arena_free(&keep);
    }
}

/* A record or dump that is there and has no stack for its engine; and a walk that guessed. */
TEST(a_file_without_a_stack_and_a_guess_are_blamed_on_their_side)
{
    static const struct {
        const char *name, *rtl, *dump, *dbghelp; /* NULL: skipped */
        enum case_role role;
        uint64_t bytes; /* of that file; 0: the case does not have it */
        const char *blame, *witnesses;
    } cases[] = {
        {"a record without a stack", NULL, GOOD, NULL, ROLE_RECORD, 9, "record", "dump, truth"},
        {"no record, and a dump", NULL, GOOD, NULL, ROLE_DUMP, 9, "", ""},
        {"a dump without a stack", GOOD, NULL, NULL, ROLE_DUMP, 9, "dump reader",
         "offset:rtl, truth"},
        {"a guess, and others that guess alike", GOOD,
         POKE "app.exe+3005 own main /src/a.c:30 frame_pointer\n" START THUNK LAST, NO_MIDDLE,
         ROLE_DUMP, 9, "walk of dump", "truth"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct case_file file = {.role = cases[i].role, .bytes = cases[i].bytes};
        struct crash_case crash = make_crash(CASE_KIND_CRASH);
        const char *const texts[] = {cases[i].rtl, cases[i].dump, cases[i].dbghelp,
                                     cases[i].dbghelp};
        static const char *const engines[] = {"offset:rtl", "dump", "offset:dbghelp",
                                              "offset:dbghelp-own"};
        struct fault fault = FAULT_INIT;
        char text[BLAME_TEXT_BYTES];
        struct case_result r;
        struct arena keep;
        crash.files = &file;
        crash.file_count = 1;
        arena_init(&keep, 0);
        struct engine_claim *claims = arena_array(&keep, COUNT_OF(texts), sizeof *claims);
        struct compare_input in = {.crash = &crash, .claims = claims};
        for (size_t k = 0; k < COUNT_OF(texts); k++) {
            add(&in, claims, &keep, engines[k], 0, texts[k] != NULL ? texts[k] : "! no stack");
            if (texts[k] == NULL) {
                claims[in.claim_count - 1].skipped = true;
                claims[in.claim_count - 1].stack_count = 0;
            }
        }
        in.truth = make_truth(&keep, TRUTH);
        test_row(cases[i].name);
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        const struct finding *f = find(&r, NULL);
        if (CHECK(f != NULL)) {
            CHECK_STR(f->blame != BLAME_UNKNOWN ? finding_blame_text(f, text) : "", cases[i].blame);
            CHECK_STR(f->witnesses != NULL ? f->witnesses : "", cases[i].witnesses);
        }
        arena_free(&keep);
    }
}
