/* Whole walks over x64 stacks: what ends them, what they cross, what they keep. */

#include "test.h"
#include "unwind_world.h"

enum { BEGIN = 0x1100, END = 0x1200, SP = 64 };

/* Puts a call in front of RVA, so that it can be returned to. */
static uint64_t call_site(struct world *w, uint32_t rva)
{
    static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
    world_put(w, rva - 5, call, sizeof(call));
    return WORLD_BASE_VA + rva;
}

static void walk_from(struct world *w, uint64_t pc, struct unwind_stack *out)
{
    struct fault fault = FAULT_INIT;
    struct registers regs = {.cpu = CPU_X64, .pc = pc, .sp = WORLD_STACK_VA + 8 * SP};
    CHECK_EQ(unwind_walk(&w->process, &regs, PC_INTERRUPTED, &w->arena, out, &fault), ERR_NONE);
}

TEST(leaves_and_jumps_into_nowhere_pop_one_return_address)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static const struct {
        const char *name;
        uint64_t pc;
    } starts[] = {{"leaf without unwind data", WORLD_BASE_VA + 0x1300},
                  {"call of null", 0},
                  {"jump into freed code", 0x7ff812340000}};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct unwind_stack stack;
        test_row(starts[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
        w.stack[SP] = call_site(&w, BEGIN + 0x50);
        w.stack[SP + 6] = 0;
        walk_from(&w, starts[i].pc, &stack);
        CHECK_EQ(stack.frame_count, 2);
        CHECK_HEX(stack.frames[0].pc_va, starts[i].pc);
        CHECK_EQ(stack.frames[0].kind, PC_INTERRUPTED);
        CHECK_HEX(stack.frames[1].pc_va, WORLD_BASE_VA + BEGIN + 0x50);
        CHECK_EQ(stack.frames[1].kind, PC_RETURN);
        CHECK_STR(found_by_name(stack.frames[1].found_by), "leaf");
        CHECK_STR(stack.stop, "end of stack");
        world_free(&w);
    }
}

TEST(a_scan_is_the_last_resort_and_says_so)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static struct world w;
    struct unwind_stack stack;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    w.stack[SP] = 0x41414141;                 /* a smashed return address  */
    w.stack[SP + 3] = WORLD_BASE_VA + 0x1400; /* code, but behind no call  */
    w.stack[SP + 5] = call_site(&w, BEGIN + 0x50);
    w.stack[SP + 11] = 0;
    walk_from(&w, WORLD_BASE_VA + 0x1300, &stack);
    CHECK_EQ(stack.frame_count, 2);
    CHECK_STR(found_by_name(stack.frames[1].found_by), "scan");
    world_free(&w);
}

TEST(a_deep_stack_keeps_head_and_tail)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 1, 1, 0, 0), 1, OP(0, 3)};
    static struct world w;
    struct unwind_stack stack;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    uint64_t site = call_site(&w, BEGIN + 0x50), frames = 0;
    for (uint32_t i = SP; i + 1 < WORLD_STACK_WORDS && frames < 900; i += 1, frames++)
        w.stack[i] = site; /* every word is a return address: pop takes one, ret one */
    uint32_t last = SP + 899;
    w.stack[last] = 0;
    walk_from(&w, site, &stack);
    CHECK_EQ(stack.left_out, 0);
    CHECK_EQ(stack.frame_count, 450);
    CHECK_STR(stack.stop, "end of stack");
    world_free(&w);
    world_init(&w, PE_MACHINE_X64);
    static const uint8_t none[] = {HEAD(1, 0, 0, 0, 0, 0), 0, 0};
    world_function(&w, BEGIN, END, world_xdata(&w, none, sizeof(none)));
    site = call_site(&w, BEGIN + 0x50);
    for (uint32_t i = SP; i < SP + 1500; i++)
        w.stack[i] = site;
    w.stack[SP + 1500] = 0;
    walk_from(&w, site, &stack);
    CHECK_EQ(stack.frame_count, 1024);
    CHECK_EQ(stack.left_out, 1501 - 1024);
    CHECK_HEX(stack.frames[767].sp_va, WORLD_STACK_VA + 8 * (SP + 767));
    CHECK_HEX(stack.frames[768].sp_va, WORLD_STACK_VA + 8 * (SP + 1501 - 256));
    CHECK_HEX(stack.frames[1023].sp_va, WORLD_STACK_VA + 8 * (SP + 1500));
    world_free(&w);
}

/* Behind a leaf whose return address was overwritten stands a sound-looking one: it is not
 * taken, since nobody can know that it belongs to the caller. */
TEST(an_overwritten_return_address_ends_the_walk)
{
    static struct world w;
    struct unwind_frame leaf, lost;
    world_init(&w, PE_MACHINE_X64);
    const uint8_t call[5] = {0xe8, 0, 0, 0, 0};
    world_put(&w, WORLD_TEXT_RVA + 0x200, call, sizeof(call));
    w.stack[SP] = 0x4141414141414141;
    w.stack[SP + 1] = w.stack[SP + 2] = WORLD_BASE_VA + WORLD_TEXT_RVA + 0x205;
    struct unwind_walker walker =
        world_walker(&w, CPU_X64, WORLD_TEXT_RVA + 0x100, SP, PC_INTERRUPTED, &leaf);
    CHECK(unwind_step_x64(&walker) == NULL);
    CHECK_HEX(walker.regs.pc, 0x4141414141414141);
    CHECK_EQ(walker.caller_found, FOUND_LEAF);
    lost = (struct unwind_frame){.pc_va = walker.regs.pc, .kind = PC_RETURN};
    walker.frame = &lost;
    CHECK_STR(unwind_step_x64(&walker), "return address overwritten: no code can lie there");
    world_free(&w);
}

TEST(machine_frames_that_lead_in_a_circle_end)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 0, 1, 0, 0), 0, OP(10, 0)};
    static struct world w;
    struct unwind_stack stack;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    for (uint32_t i = 0; i < 2; i++) { /* two frames, each the other's caller */
        w.stack[SP + 8 * i] = WORLD_BASE_VA + BEGIN + 0x50 + i;
        w.stack[SP + 8 * i + 3] = WORLD_STACK_VA + 8 * (SP + 8 * (1 - i));
    }
    walk_from(&w, WORLD_BASE_VA + BEGIN + 0x40, &stack);
    CHECK_STR(stack.stop, "exceptions nest without end");
    CHECK(stack.frame_count < 100);
    world_free(&w);
}
