/* The adapter as a contestant of the reference suite. */
#include <string.h>

#include "judge_asked.h"
#include "test.h"

/* A contestant of the reference suite is a judge as it is: the thread under suspicion is a question
 * about a dump, and inlined frames come before the one that holds them. */
TEST(the_adapter_speaks_the_protocol_of_the_suite)
{
#define WELCOME "{\"name\":\"tool\",\"version\":\"2.0\",\"can\":[\"dumps.x86\"]}\n"
#define ABOUT(REST) "{\"id\":\"threads/3060\"," REST "}\n"
    static const struct {
        const char *name, *answer;
        enum status want;
        uint32_t frames;
        const char *why; /* NULL: none */
    } rows[] = {
        {"frames",
         WELCOME ABOUT("\"frames\":[{\"ip\":\"0x40429e\",\"sp\":\"0x10\",\"function\":\"inner\","
                       "\"file\":\"a.c\",\"line\":58,\"inlined\":true},{\"ip\":\"0x40429e\","
                       "\"function\":\"outer\",\"file\":\"a.c\",\"line\":60,\"inlined\":false},"
                       "{\"ip\":\"0x4042a0\"},{\"ip\":\"0x0\"}]"),
         ERR_NONE, 3, NULL},
        {"a second thread",
         WELCOME ABOUT("\"frames\":[{\"ip\":1}]") "{\"id\":\"threads/4544\",\"frames\":[]}\n",
         ERR_NONE, 1, NULL},
        {"no frame", WELCOME ABOUT("\"frames\":[]"), ERR_NONE, 0, NULL},
        {"unsupported", WELCOME ABOUT("\"unsupported\":true,\"reason\":\"only x64\""), ERR_IO, 0,
         "only x64"},
        {"unsupported, without a reason", WELCOME ABOUT("\"unsupported\":true,\"issue\":null"),
         ERR_IO, 0, "it does not take part in dumps of this processor"},
        {"its tool failed", WELCOME ABOUT("\"error\":\"broken\""), ERR_IO, 0, "broken"},
        {"no answer", WELCOME, ERR_IO, 0, "it answered its first line and no question"},
        {"another question's", WELCOME "{\"id\":\"moments/x\",\"frames\":[]}\n", ERR_MALFORMED, 0,
         NULL},
        {"frames without addresses", WELCOME ABOUT("\"frames\":[{\"function\":\"f\"}]"),
         ERR_MALFORMED, 0, NULL},
        {"frames that are no list", WELCOME ABOUT("\"frames\":7"), ERR_MALFORMED, 0, NULL},
        {"a damaged answer", WELCOME "{\"id\":", ERR_MALFORMED, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct engine_result result = {0};
        test_row(rows[i].name);
        arena_init(&arena, 0);
        CHECK_EQ(ask_adapter(rows[i].answer, strlen(rows[i].answer), &arena, &result),
                 rows[i].want);
        CHECK_STR(result.version, "tool 2.0");
        if (rows[i].why != NULL)
            CHECK_STR(result.why, rows[i].why);
        if (rows[i].want == ERR_NONE) {
            REQUIRE(result.stack_count > 0);
            CHECK_EQ(result.stacks[0].frame_count, rows[i].frames);
            CHECK_EQ(result.stacks[0].thread_id, 3060);
            CHECK_EQ(result.stacks[0].role, THREAD_ROLE_SUSPECT);
        }
        if (i == 0 && result.stack_count == 1 && result.stacks[0].frame_count == 3) {
            const struct frame *frames = result.stacks[0].frames;
            CHECK_STR(frames[0].function, "inner");
            CHECK_EQ(frames[0].inline_depth, 1);
            CHECK_EQ(frames[1].index, 0);
            CHECK_EQ(frames[1].offset, 0x429e);
            REQUIRE(frames[1].module != NULL);
            CHECK_STR(frames[1].module->debug_id, "5A9832E5287241C1838ED98914E9B7FF1");
            CHECK_EQ(frames[2].index, 1);
            CHECK_EQ(frames[2].kind, PC_RETURN);
        }
        arena_free(&arena);
    }
}
