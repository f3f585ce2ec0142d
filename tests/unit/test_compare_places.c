/* In how many places a case is wrong: rows between those of one finding may be another finding's.
 */
#include <string.h>

#include "compare/compare.h"
#include "compare/mismatch.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "act a.c:20\nrun a.c:32\nmain v.c:341\n"
#define OFF_BY_ONE(between)                                                                        \
    "> app.exe+1010 own act a.c:21\n> app.exe+2010 own run a.c:33\n" between                       \
    "> app.exe+3010 own main v.c:342\n> ntdll.dll+4a sys RtlUserThreadStart\n"

TEST(each_row_that_differs_is_one_place)
{
    static const struct {
        const char *name, *offset, *dump;
        uint32_t places, findings; /* findings: of the lines of the dump */
    } rows[] = {
        {"three lines in both", OFF_BY_ONE(""), OFF_BY_ONE(""), 3, 1},
        {"and a frame that one of them made up", OFF_BY_ONE(""),
         OFF_BY_ONE("> other.dll+9 none -\n"), 4, 2},
        {"two of them", OFF_BY_ONE(""), OFF_BY_ONE("> other.dll+9 none -\n> other.dll+7 none -\n"),
         5, 2},
    };
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct case_result r;
        struct arena keep;
        uint32_t lines = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        struct engine_claim claims[] = {make_claim(&keep, "offset:rtl", true, rows[i].offset),
                                        make_claim(&keep, "dump", true, rows[i].dump)};
        const struct compare_input in = {.crash = &crash,
                                         .claims = claims,
                                         .claim_count = COUNT_OF(claims),
                                         .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_EQ(finding_places(r.findings, r.finding_count, NULL, NULL), rows[i].places);
        for (uint32_t f = 0; f < r.finding_count; f++)
            lines += r.findings[f].level == LEVEL_LINE && strcmp(r.findings[f].engine, "dump") == 0;
        CHECK_EQ(lines, rows[i].findings);
        arena_free(&keep);
    }
}

/* The dump ends after its first frame; the walk of another engine goes through data between the
 * frames that ran. */
TEST(what_only_other_engines_have_parts_no_finding)
{
    static const struct {
        const char *name, *other;
        bool subject;
        uint32_t findings;
    } rows[] = {
        {"each frame that ran",
         "> app.exe+1010 own act a.c:20\n> app.exe+2010 own run a.c:32\n"
         "> app.exe+3010 own main v.c:341\n",
         false, 1},
        {"data between them",
         "> app.exe+1010 own act a.c:20\n> other.dll+9 none -\n> app.exe+2010 own run a.c:32\n"
         "> other.dll+7 none -\n> app.exe+3010 own main v.c:341\n",
         false, 1},
        {"the same by an engine under test",
         "> app.exe+1010 own act a.c:20\n> other.dll+9 none -\n> app.exe+2010 own run a.c:32\n"
         "> other.dll+7 none -\n> app.exe+3010 own main v.c:341\n",
         true, 2},
    };
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fault fault = FAULT_INIT;
        struct case_result r;
        struct arena keep;
        uint32_t lost = 0;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        struct engine_claim claims[] = {
            make_claim(&keep, "dump", true, "> app.exe+1010 own act a.c:20\n"),
            make_claim(&keep, "offset:dbghelp", rows[i].subject, rows[i].other)};
        const struct compare_input in = {.crash = &crash,
                                         .claims = claims,
                                         .claim_count = COUNT_OF(claims),
                                         .truth = make_truth(&keep, TRUTH)};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        CHECK_EQ(finding_places(r.findings, r.finding_count, NULL, NULL), rows[i].subject ? 4 : 2);
        for (uint32_t f = 0; f < r.finding_count; f++)
            lost += r.findings[f].level == LEVEL_FUNCTION && r.findings[f].against_truth &&
                    strcmp(r.findings[f].engine, "dump") == 0;
        CHECK_EQ(lost, rows[i].findings);
        arena_free(&keep);
    }
}

/* Addresses of 64-bit programs have 48 bits; what is in a module or a method is a place, not an
 * address. */
TEST(a_frame_above_all_addresses_is_made_up)
{
    static const struct module module = {.name = "app.exe"};
    static const struct {
        const char *name;
        struct frame frame;
        bool want;
    } rows[] = {
        {"the last address", {.offset = 0xffffffffffff}, false},
        {"the next", {.offset = 0x1000000000000}, true},
        {"the largest number", {.offset = UINT64_MAX}, true},
        {"in a module", {.offset = 0x1000000000000, .module = &module}, false},
        {"in one of that name", {.offset = 0x1000000000000, .module_name = "app.exe"}, false},
        {"in a method", {.offset = 0x1000000000000, .method_token = 1}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_EQ(rule_is_made_up(&rows[i].frame), rows[i].want);
    }
}
