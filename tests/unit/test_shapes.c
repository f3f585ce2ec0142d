/* Causes that the shape of a stack shows: the worked example at the head of cause_shape.c. */
#include <string.h>

#include "base/array.h"
#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

#define POKE "app.exe+1005 own poke /src/a.c:10\n"
#define MIDDLE "app.exe+2005 own middle /src/a.c:20\n"
#define MAIN "app.exe+3005 own main /src/a.c:30\n"
#define START "ntdll.dll+40 sys RtlUserThreadStart"
#define HANDLER "app.exe+6000 capture on_crash\nntdll.dll+88 sys KiUserExceptionDispatcher\n"

TEST(the_examples_of_shapes_have_their_causes)
{
    static const struct {
        const char *name, *dump, *cause, *evidence;
    } rows[] = {
        {"starts in the handler", HANDLER POKE MIDDLE MAIN START, "handler_context",
         "dump starts inside the exception handler: 2 extra frames, on_crash on top; "
         "and 1 more frame"},
        {"starts too late", MIDDLE MAIN START, "truncated",
         "dump starts at app.exe!0x2005: the frames further in are missing"},
        {"stops early", POKE MIDDLE "! no progress", "truncated",
         "dump stopped after 2 frames at app.exe!0x2005: no progress; and 1 more frame"},
        {"by frame pointers", POKE "app.exe+3005 own main /src/a.c:30 frame_pointer\n" START,
         "frame_pointer", "dump found app.exe!0x3005 by the frame pointer"},
        {"by scanning", POKE MIDDLE "app.exe+7777 own stale /src/b.c:1 scan\n" MAIN START,
         "extra_scan", "dump found app.exe!0x7777 by scanning the stack"},
        {"inlined", POKE "> app.exe+2005 own helper /src/h.h:3\n" MIDDLE MAIN START, "inline_only",
         "only dump shows helper, inlined at 0x2005"},
    };
    const struct crash_case crash = make_crash(CASE_KIND_CRASH);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct engine_claim claims[2];
        struct fault fault = FAULT_INIT;
        struct case_result r;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        claims[0] = make_claim(&keep, "offset:rtl", true, POKE MIDDLE MAIN START);
        claims[1] = make_claim(&keep, "dump", true, rows[i].dump);
        const struct compare_input in = {.crash = &crash, .claims = claims, .claim_count = 2};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        REQUIRE(r.finding_count > 0);
        CHECK_STR(cause_name(r.findings[0].cause), rows[i].cause);
        CHECK_STR(r.findings[0].evidence, rows[i].evidence);
        arena_free(&keep);
    }
}
