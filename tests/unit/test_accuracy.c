/* How right both ways are over the same cases: innermost frames, and the
 * arithmetic with invented scores. */
#include <math.h>
#include <string.h>

#include "compare/compare.h"
#include "make_case.h"
#include "study/accuracy.h"
#include "test.h"

/* A stack that is exact has the right first frame, also where the truth demands none. */
TEST(the_innermost_frames_are_counted_from_the_first)
{
#define TRUTH "poke a.c:10\nmiddle a.c:20\nmain a.c:30\n[thread_start]"
#define POKE "app.exe+1005 own poke /src/a.c:10\n"
#define MIDDLE "app.exe+2005 own middle /src/a.c:20\n"
#define MAIN "app.exe+3005 own main /src/a.c:30\n"
#define END "kernel32.dll+20 sys BaseThreadInitThunk\nntdll.dll+40 sys RtlUserThreadStart"
#define ALL_OF_IT POKE MIDDLE MAIN END
#define LOST "?+41414141 none -"
#define DEEP "poke a.c:10\nmiddle a.c:20\nmain a.c:30\nfourth a.c:40\n[thread_start]"
#define FOURTH "app.exe+5005 own fourth /src/a.c:40\n"
#define WRONG "app.exe+7777 own stale /src/b.c:1\n"
    static const struct {
        const char *name, *truth, *offset, *dump;
        bool exact, top1, top3, top5; /* of the dump */
    } rows[] = {
        {"all", TRUTH, ALL_OF_IT, ALL_OF_IT, true, true, true, true},
        {"the first three of four", DEEP, POKE MIDDLE MAIN FOURTH END, POKE MIDDLE MAIN END, false,
         true, true, false},
        {"the second is lost", TRUTH, ALL_OF_IT, POKE MAIN END, false, true, false, false},
        {"the first is lost", TRUTH, ALL_OF_IT, MIDDLE MAIN END, false, false, false, false},
        {"one before the first", TRUTH, ALL_OF_IT, WRONG POKE MIDDLE MAIN END, false, false, false,
         false},
        {"nothing is demanded", "[system]", LOST, LOST, true, true, true, true},
        {"nothing is demanded, and it is elsewhere", "[system]", LOST, "?+51515151 none -", false,
         false, false, false},
        {"nothing is demanded, and there is more", "[system]", LOST, LOST "\n" WRONG, false, false,
         false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct case_result r;
        struct fault fault = FAULT_INIT;
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        arena_init(&keep, 0);
        test_row(rows[i].name);
        struct engine_claim claims[] = {make_claim(&keep, ENGINE_NAME_OFFSET, true, rows[i].offset),
                                        make_claim(&keep, ENGINE_NAME_DUMP, true, rows[i].dump)};
        const struct compare_input in = {.crash = &crash,
                                         .truth = make_truth(&keep, rows[i].truth),
                                         .claims = claims,
                                         .claim_count = 2};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_EQ(r.scores[0].exact, true);
        CHECK_EQ(r.scores[1].exact, rows[i].exact);
        CHECK_EQ(r.scores[1].top1, rows[i].top1);
        CHECK_EQ(r.scores[1].top3, rows[i].top3);
        CHECK_EQ(r.scores[1].top5, rows[i].top5);
        arena_free(&keep);
    }
}

/* What a way did in a case: not judged, or so many frames right of so many, and its first one. */
struct made {
    bool judged, exact, top1, top3;
    uint32_t right, truth;
};
#define NO_STACK {false, false, false, false, 0, 0}
#define ALL(COUNT) {true, true, true, true, COUNT, COUNT}

enum { CASES = 8 };

static const struct {
    const char *scenario;
    enum case_kind kind;
    struct made offset, dump;
    enum verdict verdict;
} made[CASES] = {
    {"plain", CASE_KIND_CRASH, ALL(4), ALL(4), VERDICT_PASS},
    {"plain", CASE_KIND_CRASH, ALL(4), {true, false, true, false, 1, 4}, VERDICT_PASS},
    {"recursion", CASE_KIND_CRASH, ALL(1000), ALL(1000), VERDICT_PASS},
    {"wild", CASE_KIND_CRASH, ALL(0), {true, false, false, false, 0, 0}, VERDICT_PASS},
    {"only_offset", CASE_KIND_CRASH, ALL(5), NO_STACK, VERDICT_PASS},
    {"neither", CASE_KIND_HANG, NO_STACK, NO_STACK, VERDICT_PASS},
    {"calm", CASE_KIND_CALM, NO_STACK, NO_STACK, VERDICT_PASS},
    {"no record by design", CASE_KIND_CRASH, NO_STACK, ALL(2), VERDICT_NOT_CAPTURED_AS_EXPECTED},
};

static void put(struct engine_score *score, const char *engine, const struct made *from)
{
    *score = (struct engine_score){.engine = engine,
                                   .subject = true,
                                   .judged = from->judged,
                                   .exact = from->exact,
                                   .top1 = from->top1,
                                   .top3 = from->top3,
                                   .right_frames = from->right,
                                   .truth_frames = from->truth};
}

static bool is_split(const struct accuracy_split *s, uint32_t both, uint32_t only_offset,
                     uint32_t only_dump, uint32_t neither)
{
    return s->both == both && s->only_offset == only_offset && s->only_dump == only_dump &&
           s->neither == neither;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

TEST(both_ways_are_counted_over_the_same_cases)
{
    struct run_case cases[CASES];
    struct engine_score scores[CASES][2];
    struct run_info run = {.state = RUN_COMPLETE};
    struct run_figures figures;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    memset(cases, 0, sizeof cases);
    for (int i = 0; i < CASES; i++) {
        put(&scores[i][0], ENGINE_NAME_OFFSET, &made[i].offset);
        put(&scores[i][1], ENGINE_NAME_DUMP, &made[i].dump);
        cases[i].scenario = made[i].scenario;
        cases[i].variant = "ob0";
        cases[i].kind = made[i].kind;
        cases[i].result.verdict = made[i].verdict;
        cases[i].result.scores = scores[i];
        cases[i].result.score_count = 2;
    }
    REQUIRE(figures_prepare(&run, cases, CASES, &keep, &figures, &fault) == ERR_NONE);
    const struct accuracy *a = figures.accuracy;
    const struct accuracy_way *offset = &a->ways[ACCURACY_OFFSET], *dump = &a->ways[ACCURACY_DUMP];
    CHECK(is_split(&a->judged, 4, 1, 1, 1)); /* a calm program is to have none */
    CHECK(is_split(&a->exact, 2, 2, 0, 0));
    CHECK_EQ(a->unusable[ACCURACY_OFFSET], 2);
    CHECK_EQ(a->unusable[ACCURACY_DUMP], 3);
    CHECK_EQ(offset->exact.right, 4); /* not 5: the same cases */
    CHECK_EQ(offset->exact.total, 4);
    CHECK_EQ(dump->exact.right, 2);
    CHECK_EQ(dump->top1.right, 3);
    CHECK_EQ(dump->top3.right, 2);
    CHECK_EQ(dump->recall_micro.right, 1005);
    CHECK_EQ(dump->recall_micro.total, 1008);
    CHECK_EQ(a->scenarios, 2);                                      /* "wild" demands no frame */
    CHECK(is_near(dump->recall_macro, ((1 + 0.25) / 2 + 1.0) / 2)); /* plain, recursion */
    CHECK(is_near(offset->recall_macro, 1));
    CHECK(dump->exact.share.low > 0.1 && dump->exact.share.high < 0.9);
    arena_free(&keep);
}

TEST(no_case_in_common_has_no_share)
{
    struct run_case c = {.scenario = "plain", .variant = "ob0", .kind = CASE_KIND_CRASH};
    struct run_info run = {.state = RUN_COMPLETE};
    struct run_figures figures;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    REQUIRE(figures_prepare(&run, &c, 1, &keep, &figures, &fault) == ERR_NONE);
    CHECK(is_split(&figures.accuracy->judged, 0, 0, 0, 1));
    CHECK_EQ(figures.accuracy->ways[ACCURACY_DUMP].exact.total, 0);
    CHECK(isnan(figures.accuracy->ways[ACCURACY_DUMP].recall_macro));
    arena_free(&keep);
}
