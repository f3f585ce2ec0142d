/* Two modules of one name in a case: a judge that names a frame by the symbols of the wrong one
 * (compare/cause_names.c). */
#include <string.h>

#include "compare/compare.h"
#include "make_case.h"
#include "test.h"

#define TRUTH "poke a.c:10\nmiddle a.c:20\nhelper a.c:25\nmain a.c:30\n[thread_start]"
#define POKE "app.exe+1005 own poke /src/a.c:10\n"
#define HELPER "namesake.dll+2505 own helper /src/a.c:25\n" /* which gets the name lib.dll */
#define REST                                                                                       \
    "app.exe+3005 own main /src/a.c:30\nkernel32.dll+20 sys BaseThreadInitThunk\n"                 \
    "ntdll.dll+40 sys RtlUserThreadStart"
#define GOOD POKE "lib.dll+2005 own middle /src/a.c:20\n" HELPER REST
#define TWIN(where, line) POKE where "+2005 own twin" line "\n" HELPER REST

struct world {
    struct module namesake;
    const char *function; /* that its symbols have at 0x2004, in line 5 */
};

/* The namesake's symbols have one function; those of each other module have the true one. */
static uint32_t symbols_at(void *context, const struct frame *frame, uint64_t offset,
                           struct frame *out, uint32_t max)
{
    const struct world *w = context;
    if (max == 0 || offset != 0x2004)
        return 0;
    memset(&out[0], 0, sizeof out[0]);
    out[0].function = frame->module == &w->namesake ? w->function : "middle";
    out[0].line = frame->module == &w->namesake ? 5 : 20;
    return 1;
}

static void rename_modules(struct engine_claim *claim, const struct world *w)
{
    for (uint32_t i = 0; i < claim->stacks[0].frame_count; i++) {
        struct frame *f = &claim->stacks[0].frames[i];
        if (f->module != NULL && strcmp(f->module->name, "namesake.dll") == 0) {
            f->module = &w->namesake;
            f->module_name = w->namesake.name;
        }
    }
}

TEST(a_name_of_another_module_with_this_name_is_explained)
{
    static const struct {
        const char *name, *dump, *judge; /* stacks */
        const char *file, *function;     /* of the namesake */
        bool same_build, without_symbols;
        enum cause cause; /* of the first finding of the last engine */
    } rows[] = {
        {"it has the namesake's name", GOOD, TWIN("lib.dll", " /src/t.c:5"), "lib.dll", "twin",
         false, false, CAUSE_SYMBOLS_MISMATCH},
        {"spelt in capitals", GOOD, TWIN("lib.dll", " /src/t.c:5"), "LIB.DLL", "twin", false, false,
         CAUSE_SYMBOLS_MISMATCH},
        {"without a line", GOOD, TWIN("lib.dll", ""), "lib.dll", "twin", false, false,
         CAUSE_SYMBOLS_MISMATCH},
        {"in another line", GOOD, TWIN("lib.dll", " /src/t.c:6"), "lib.dll", "twin", false, false,
         CAUSE_UNEXPLAINED},
        {"a name that neither has", GOOD, TWIN("lib.dll", " /src/t.c:5"), "lib.dll", "other", false,
         false, CAUSE_UNEXPLAINED},
        {"a module with another name has it", GOOD, TWIN("lib.dll", " /src/t.c:5"), "lib2.dll",
         "twin", false, false, CAUSE_UNEXPLAINED},
        {"both are of one build", GOOD, TWIN("lib.dll", " /src/t.c:5"), "lib.dll", "twin", true,
         false, CAUSE_UNEXPLAINED},
        {"no symbols are known", GOOD, TWIN("lib.dll", " /src/t.c:5"), "lib.dll", "twin", false,
         true, CAUSE_UNEXPLAINED},
        {"an engine under test has no such excuse", TWIN("lib.dll", " /src/t.c:5"), NULL, "lib.dll",
         "twin", false, false, CAUSE_UNEXPLAINED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w = {.function = rows[i].function};
        const struct compare_symbols symbols = {.context = &w, .at = symbols_at};
        const struct crash_case crash = make_crash(CASE_KIND_CRASH);
        struct fault fault = FAULT_INIT;
        struct case_result r;
        struct arena keep;
        arena_init(&keep, 0);
        test_row(rows[i].name);
        struct engine_claim claims[] = {make_claim(&keep, "offset:rtl", true, GOOD),
                                        make_claim(&keep, "dump", true, rows[i].dump),
                                        make_claim(&keep, "judge:other", false, rows[i].judge)};
        const uint32_t count = rows[i].judge != NULL ? 3 : 2;
        const struct frame *frames = claims[0].stacks[0].frames;
        w.namesake = *frames[2].module;
        w.namesake.name = rows[i].file;
        if (rows[i].same_build)
            memcpy(w.namesake.debug_id, frames[1].module->debug_id, sizeof w.namesake.debug_id);
        for (uint32_t k = 0; k < count; k++)
            rename_modules(&claims[k], &w);
        const struct compare_input in = {.crash = &crash,
                                         .truth = make_truth(&keep, TRUTH),
                                         .claims = claims,
                                         .claim_count = count,
                                         .symbols = rows[i].without_symbols ? NULL : &symbols};
        REQUIRE(compare_case(&in, &keep, &r, &fault) == ERR_NONE);
        REQUIRE(r.finding_count > 0);
        const struct finding *f = &r.findings[0];
        CHECK_STR(f->engine, claims[count - 1].engine);
        CHECK_STR(f->against, "truth");
        CHECK_STR(cause_name(f->cause), cause_name(rows[i].cause));
        if (rows[i].cause == CAUSE_SYMBOLS_MISMATCH) {
            CHECK_STR(f->evidence, "judge:other at lib.dll!0x2005: it has twin from another module "
                                   "with this name");
            CHECK_STR(f->wrong, "judge:other");
        }
        arena_free(&keep);
    }
}
