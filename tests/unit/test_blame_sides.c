/* What is blamed beyond the engine: the file of symbols or our reader of it, where modules lie by
 * how much; and that the marked cell is that of the side with the blame. */
#include <string.h>

#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "poke a.c:10\nmiddle a.c:20\nmain a.c:30\n[thread_start]"
#define MAIN "app.exe+3005 own main /src/a.c:30\n"
#define LAST "ntdll.dll+40 sys RtlUserThreadStart"
#define POKE "app.exe+1005 own poke /src/a.c:10\n"
#define GOOD POKE "app.exe+2005 own middle /src/a.c:20\n" MAIN LAST
#define OFF_BY_ONE POKE "app.exe+2005 own middle /src/a.c:21\n" MAIN LAST
#define NO_FILE(why)                                                                               \
    "app.exe+1005 runtime - " why "\napp.exe+2005 runtime - " why "\napp.exe+3005 runtime - " why  \
    "\n" LAST
#define SHIFTED                                                                                    \
    "app.exe+5 own start /src/b.c:9 pc=140101005\napp.exe+7777 own stale /src/b.c:1\n" LAST
#define CALLED                                                                                     \
    "app.exe+1005 own poke /src/a.c:10 return\napp.exe+2005 own middle /src/a.c:20\n" MAIN LAST
#define WITHOUT_MIDDLE POKE MAIN LAST

static void add(struct compare_input *in, struct engine_claim *claims, struct arena *keep,
                const char *engine, uint32_t parts, const char *text)
{
    const bool subject = strcmp(engine, "offset:rtl") == 0 || strcmp(engine, "dump") == 0;
    if (text == NULL)
        return;
    claims[in->claim_count] = make_claim(keep, engine, subject, text);
    claims[in->claim_count++].parts = parts;
}

static const struct finding *judge(const char *rtl, const char *dump, const char *symbolizer,
                                   struct arena *keep, struct case_result *out)
{
    static const char *own[] = {"app.exe"};
    struct engine_claim *claims = arena_array(keep, 3, sizeof *claims);
    struct fault fault = FAULT_INIT;
    struct crash_case *crash = ARENA_NEW(keep, struct crash_case);
    REQUIRE(claims != NULL && crash != NULL);
    *crash = make_crash(CASE_KIND_CRASH);
    crash->own.images = own;
    crash->own.image_count = 1;
    struct compare_input in = {.crash = crash, .claims = claims, .truth = make_truth(keep, TRUTH)};
    add(&in, claims, keep, "offset:rtl", 0, rtl);
    add(&in, claims, keep, "dump", 0, dump);
    add(&in, claims, keep, "judge:llvm-symbolizer", ENGINE_SHARES_RECORD_FRAMES, symbolizer);
    REQUIRE(compare_case(&in, keep, out, &fault) == ERR_NONE);
    for (uint32_t i = 0; i < out->finding_count; i++)
        if (out->findings[i].fails)
            return &out->findings[i];
    return NULL;
}

TEST(symbols_are_wrong_by_their_file_or_by_our_reader)
{
    static const struct {
        const char *name, *rtl, *dump, *symbolizer, *want;
    } rows[] = {
        {"another program has the line", OFF_BY_ONE, OFF_BY_ONE, GOOD,
         "symbols of both ways: our reader"},
        {"only the truth has it", OFF_BY_ONE, OFF_BY_ONE, NULL,
         "symbols of both ways: the file or our reader"},
        {"our lookup has it where it is asked rightly", GOOD, OFF_BY_ONE, GOOD, "symbols of dump"},
        {"one way alone asked", NULL, OFF_BY_ONE, GOOD, "symbols of dump: our reader"},
        {"no program reads the file", NO_FILE("mismatch"), NO_FILE("mismatch"), NO_FILE("mismatch"),
         "symbols of both ways: the file"},
        {"another program reads it", NO_FILE("mismatch"), NO_FILE("mismatch"), GOOD,
         "symbols of both ways: our reader"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[BLAME_TEXT_BYTES];
        struct case_result r;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        const struct finding *f = judge(rows[i].rtl, rows[i].dump, rows[i].symbolizer, &keep, &r);
        if (CHECK(f != NULL))
            CHECK_STR(finding_fault_text(f, text), rows[i].want);
        arena_free(&keep);
    }
}

TEST(modules_that_lie_elsewhere_are_said_to_by_how_much)
{
    struct case_result r;
    struct arena keep;
    arena_init(&keep, 0);
    const struct finding *f = judge(GOOD, SHIFTED, NULL, &keep, &r);
    REQUIRE(f != NULL);
    CHECK_EQ(f->blame, BLAME_DUMP_READER);
    CHECK_EQ(f->facts.input, INPUT_PLACES);
    CHECK_EQ(f->facts.shift, 0x1000);
    f = judge(GOOD, WITHOUT_MIDDLE, NULL, &keep, &r);
    REQUIRE(f != NULL);
    CHECK_EQ(f->facts.input, INPUT_UNSTATED);
    arena_free(&keep);
}

/* Offset:rtl is column 1, dump column 2. */
TEST(a_cell_is_marked_where_the_blame_is)
{
    static const struct {
        const char *name, *rtl, *dump;
        enum cell_mark of_rtl, of_dump;
    } rows[] = {
        {"the record takes the fault for a call", CALLED, GOOD, CELL_PHYSICAL, CELL_SAME},
        {"the dump reader does", GOOD, CALLED, CELL_SAME, CELL_PHYSICAL},
        {"both agree", GOOD, GOOD, CELL_SAME, CELL_SAME},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct case_result r;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        const struct finding *f = judge(rows[i].rtl, rows[i].dump, NULL, &keep, &r);
        const struct align_cell *row = r.threads[0].cells;
        CHECK_EQ(row[1].mark, rows[i].of_rtl);
        CHECK_EQ(row[2].mark, rows[i].of_dump);
        CHECK_EQ(row[1].cause, rows[i].of_rtl == CELL_SAME ? CAUSE_NONE : CAUSE_LOOKUP_ADDRESS);
        CHECK_EQ(row[2].cause, rows[i].of_dump == CELL_SAME ? CAUSE_NONE : CAUSE_LOOKUP_ADDRESS);
        if (f != NULL) /* the reason begins with the one that is wrong */
            CHECK(strncmp(r.reason, f->wrong, strlen(f->wrong)) == 0);
        arena_free(&keep);
    }
}
