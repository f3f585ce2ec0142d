/* Stacks as another program claims them: those of other tools, and those of a record. */
#include <string.h>

#include "format/record/record.h"
#include "stacks/claims.h"
#include "test.h"

/* Every tool states in its own way which thread crashed. */
TEST(claims_begin_with_the_crashed_thread)
{
    static const struct {
        const char *name, *text;
        uint32_t threads[2];
        const char *function;
        enum frame_note note;
    } claims[] = {
        {"minidump_stackwalk -m",
         "OS|Windows "
         "NT|6.1\nCrash|EXCEPTION|0x45|1\nModule|a|1|a.pdb|3249D99D0C4049318610F4E4FB0B69361|"
         "0x4|0x9|1\n\n0|0|a||||0x10\n1|0|a|f|a.c|3|0x1\n",
         {0, 0},
         "f",
         NOTE_BREAKPAD_NO_ADDRESS},
        {"rust-minidump",
         "{\"crash_info\":{\"crashing_thread\":1},\"threads\":[{\"thread_id\":7,\"frames\":[]},"
         "{\"thread_id\":8,\"frames\":[{\"module\":\"a\",\"function\":\"f\"}]}]}",
         {8, 7},
         "f",
         NOTE_NONE},
        {"ours: in the order of the document",
         "{\"threads\":[{\"id\":7,\"frames\":[{\"index\":0,\"module\":\"a\",\"function\":\"g\"}]},"
         "{\"id\":8,\"crashed\":true,\"frames\":[]}]}",
         {7, 8},
         "g",
         NOTE_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(claims); i++) {
        struct fault fault = FAULT_INIT;
        struct stack *stacks;
        struct arena keep;
        uint32_t count;
        test_row(claims[i].name);
        arena_init(&keep, 0);
        REQUIRE(stack_claims_read(claims[i].text, strlen(claims[i].text), &keep, &stacks, &count,
                                  &fault) == ERR_NONE);
        REQUIRE(count == 2 && stacks[0].frame_count == 1);
        for (size_t k = 0; k < 2; k++)
            CHECK_EQ(stacks[k].thread_id, claims[i].threads[k]);
        CHECK_EQ(stacks[0].role == THREAD_ROLE_SUSPECT, i < 2);
        CHECK_STR(stacks[0].frames[0].function, claims[i].function);
        CHECK_STR(stacks[0].frames[0].module_name, "a");
        CHECK(stacks[0].frames[0].module == NULL);
        CHECK_EQ(stacks[0].frames[0].note, claims[i].note);
        CHECK_EQ(stacks[0].frames[0].symbols, SYMBOLS_PDB);
        arena_free(&keep);
    }
}

TEST(the_model_of_a_recorded_stack)
{
    static const struct {
        const char *name;
        uint32_t machine, walker, state, flags, thread_id, thread_count;
        const char *reason;
        enum thread_role role;
        enum stack_state stack_state;
        enum stop_reason stop;
    } stacks[] = {
        {"flagged suspect", 0x8664, RECORD_WALKER_RTL, RECORD_STATE_OK, RECORD_THREAD_SUSPECT, 8, 1,
         NULL, THREAD_ROLE_SUSPECT, STACK_OK, STOP_RETURN_ZERO},
        {"no list of threads, suspect by header", 0x8664, RECORD_WALKER_RTL, RECORD_STATE_OK, 0, 7,
         0, NULL, THREAD_ROLE_SUSPECT, STACK_OK, STOP_RETURN_ZERO},
        {"no list of threads, another", 0x8664, RECORD_WALKER_RTL, RECORD_STATE_OK, 0, 8, 0, NULL,
         THREAD_ROLE_NONE, STACK_OK, STOP_RETURN_ZERO},
        {"x86 has no tables", 0x14c, RECORD_WALKER_RTL, RECORD_STATE_NOT_APPLICABLE, 0, 8, 1, "why",
         THREAD_ROLE_OTHER, STACK_NOT_APPLICABLE, STOP_NO_TABLES},
        {"another walker cannot", 0x14c, RECORD_WALKER_BACKTRACE, RECORD_STATE_NOT_APPLICABLE, 0, 8,
         1, "why", THREAD_ROLE_OTHER, STACK_NOT_APPLICABLE, STOP_OTHER},
        {"blocked", 0x8664, RECORD_WALKER_DBGHELP, RECORD_STATE_BLOCKED, RECORD_THREAD_CAPTURE, 8,
         1, "why", THREAD_ROLE_CAPTURE, STACK_BLOCKED, STOP_OTHER},
    };
    for (size_t i = 0; i < COUNT_OF(stacks); i++) {
        struct record_thread thread = {.id = 8, .flags = stacks[i].flags};
        const struct record record = {.machine = stacks[i].machine,
                                      .suspect_id = 7,
                                      .threads = &thread,
                                      .thread_count = stacks[i].thread_count};
        const struct record_stack from = {.walker = stacks[i].walker,
                                          .state = stacks[i].state,
                                          .stop = RECORD_STOP_RETURN_ZERO,
                                          .thread_id = stacks[i].thread_id,
                                          .reason = stacks[i].reason};
        struct stack stack;
        test_row(stacks[i].name);
        record_stack_describe(&record, &from, &stack);
        CHECK_EQ(stack.role, stacks[i].role);
        CHECK_EQ(stack.state, stacks[i].stack_state);
        CHECK_EQ(stack.stop, stacks[i].stop);
        CHECK_STR(stack_stop_text(&stack),
                  stacks[i].reason != NULL ? stacks[i].reason : "return address 0");
    }
}
