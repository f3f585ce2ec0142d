/* Where in a dump's stack memory the return addresses of an offset stack are. */
#include <stdio.h>

#include "engine/return_slots.h"
#include "minidump_maker.h"
#include "test.h"

enum { THREAD = 7, WORDS = 8 };
#define STACK_VA ((uint64_t)0x10000)

/* One thread with these words from STACK_VA on; its stack pointer is at the third. */
static void write_dump(const char *path, uint64_t stack_va, const uint64_t words[WORDS])
{
    static struct maker m;
    maker_start(&m);
    maker_system_info(&m, 9);
    const uint32_t context = maker_context(&m, 0x1000, stack_va + 2 * sizeof words[0]);
    const uint32_t stack = m.at;
    maker_put_all(&m, sizeof words[0], words, WORDS);
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    MAKER_PUT(&m, 4, 1, THREAD, 0, 0, 0);
    MAKER_PUT(&m, 8, 0, stack_va);
    MAKER_PUT(&m, 4, WORDS * sizeof words[0], stack, MAKER_CONTEXT_BYTES, context);
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MEMORY_LIST);
    MAKER_PUT(&m, 4, 1);
    MAKER_PUT(&m, 8, stack_va);
    MAKER_PUT(&m, 4, WORDS * sizeof words[0], stack);
    maker_stream_end(&m);
    maker_finish(&m);
    test_write(path, m.data, m.at);
}

static struct stack stack_of(struct frame frames[4], const uint64_t pcs[4])
{
    struct stack stack = {.thread_id = THREAD, .frames = frames};
    for (; stack.frame_count < 4 && pcs[stack.frame_count] != 0; stack.frame_count++)
        frames[stack.frame_count] =
            (struct frame){.index = stack.frame_count,
                           .kind = stack.frame_count == 0 ? PC_INTERRUPTED : PC_RETURN,
                           .pc_va = pcs[stack.frame_count]};
    return stack;
}

/* Adds to STACK what a dump with these words from STACK_VA on, whose own walk is DUMP, says. */
static void add_slots(uint64_t stack_va, const uint64_t words[WORDS], const uint64_t dump[4],
                      struct stack *stack, struct arena *keep)
{
    struct frame frames[4];
    const struct stack beside = stack_of(frames, dump);
    struct dump_session *session;
    struct fault fault = FAULT_INIT;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/slots.dmp", test_scratch());
    write_dump(path, stack_va, words);
    arena_init(keep, 0);
    REQUIRE(dump_open(path, NULL, keep, &session, &fault) == ERR_NONE);
    REQUIRE(return_slots_add(session, &beside, keep, stack, &fault) == ERR_NONE);
    dump_close(session);
}

TEST(a_slot_is_noted_where_walks_part_and_one_word_has_the_address)
{
    static const struct {
        const char *name;
        uint64_t words[WORDS], offset[4], dump[4];
        uint32_t callee;  /* of the one slot that is noted */
        uint64_t slot_va; /* 0: none is */
    } rows[] = {
        {"the walks part after the second frame",
         {0, 0, 0x2000, 0, 0x3000, 0, 0x4000, 0},
         {0x1000, 0x2000, 0x3000},
         {0x1000, 0x2000, 0x4000},
         1,
         STACK_VA + 32},
        {"the dump's walk goes over a frame",
         {0, 0, 0x2000, 0, 0x3000, 0, 0x4000, 0},
         {0x1000, 0x2000, 0x4000},
         {0x1000, 0x2000, 0x3000, 0x4000},
         1,
         STACK_VA + 48},
        {"they agree", {0, 0, 0x2000}, {0x1000, 0x2000}, {0x1000, 0x2000}, 0, 0},
        {"two words have it", {0, 0, 0x3000, 0x3000}, {0x1000, 0x3000}, {0x1000, 0x2000}, 0, 0},
        {"a recursion that one word cannot serve",
         {0, 0, 0x3000},
         {0x1000, 0x3000, 0x3000},
         {0x1000, 0x2000},
         0,
         0},
        {"no word has it", {0, 0, 0x2000}, {0x1000, 0x3000}, {0x1000, 0x2000}, 0, 0},
        {"of two words, one is below the stack pointer",
         {0, 0x3000, 0, 0, 0, 0, 0, 0x3000},
         {0x1000, 0x3000},
         {0x1000, 0x2000},
         0,
         STACK_VA + 56},
        {"a sample of another moment", {0, 0, 0x3000}, {0x1100, 0x3000}, {0x1000, 0x2000}, 0, 0},
        {"the offset walk has no frame", {0, 0, 0x3000}, {0}, {0x1000, 0x2000}, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct frame frames[4];
        struct stack stack = stack_of(frames, rows[i].offset);
        struct arena keep;
        test_row(rows[i].name);
        add_slots(STACK_VA, rows[i].words, rows[i].dump, &stack, &keep);
        CHECK_EQ(stack.evidence_count, rows[i].slot_va != 0);
        if (stack.evidence_count == 1 && rows[i].slot_va != 0) {
            CHECK_EQ(stack.evidence[0].index, rows[i].callee);
            CHECK_HEX(stack.evidence[0].return_slot_va, rows[i].slot_va);
            CHECK_HEX(stack.evidence[0].sp_va, 0);
        }
        arena_free(&keep);
    }
}

/* Of these, the walks part after the second frame, and one word has the address of the third. */
static const uint64_t parting_words[WORDS] = {0, 0, 0x2000, 0, 0x3000, 0, 0x4000, 0};
static const uint64_t parting_offset[4] = {0x1000, 0x2000, 0x3000};
static const uint64_t parting_dump[4] = {0x1000, 0x2000, 0x4000};

/* The step after the last word would be the first address again. */
TEST(a_stack_may_be_at_the_end_of_all_addresses)
{
    const uint64_t stack_va = UINT64_MAX - sizeof parting_words + 1 - 8;
    struct frame frames[4];
    struct stack stack = stack_of(frames, parting_offset);
    struct arena keep;
    add_slots(stack_va, parting_words, parting_dump, &stack, &keep);
    REQUIRE(stack.evidence_count == 1);
    CHECK_HEX(stack.evidence[0].return_slot_va, stack_va + 32);
    arena_free(&keep);
}

TEST(evidence_that_a_stack_has_stays)
{
    static struct frame_evidence before[] = {{.index = 0, .sp_va = STACK_VA}};
    struct frame frames[4];
    struct stack stack = stack_of(frames, parting_offset);
    struct arena keep;
    stack.evidence = before;
    stack.evidence_count = 1;
    add_slots(STACK_VA, parting_words, parting_dump, &stack, &keep);
    REQUIRE(stack.evidence_count == 2);
    CHECK_HEX(stack.evidence[0].sp_va, STACK_VA);
    CHECK_EQ(stack.evidence[1].index, 1);
    CHECK_HEX(stack.evidence[1].return_slot_va, STACK_VA + 32);
    arena_free(&keep);
}
