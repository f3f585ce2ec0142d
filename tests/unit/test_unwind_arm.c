/* The unwinder of 32-bit arm on made-up frames, and the CONTEXT records of arm. */
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "format/breakpad/breakpad.h"
#include "test.h"
#include "unwind/arm.h"
#include "unwind_world.h"

enum { SP = 0x40, BASE = 0x400000, PC = 0x1300, BACK = 0x1500 };
enum { THUMB = 0x20, NO_CALL = 0, BL = 1, BL_THUMB, BLX_THUMB, BLX_SHORT, BLX, BLX_ARM, MOV_LR };

/* Code that ends at a return address. */
static const struct {
    uint32_t before, last;
} calls[] = {
    [NO_CALL] = {0, 0},
    [BL] = {0, 0xeb000010},        /* bl          */
    [BL_THUMB] = {0, 0xf800f000},  /* bl, Thumb   */
    [BLX_THUMB] = {0, 0xe800f000}, /* blx, Thumb  */
    [BLX_SHORT] = {0, 0x47980000}, /* blx r3, Thumb */
    [BLX] = {0, 0xfa000010},
    [BLX_ARM] = {0, 0xe12fff33},         /* blx r3      */
    [MOV_LR] = {0xe1a0e00f, 0xe12fff13}, /* mov lr, pc; bx r3 */
};

static void put_word(struct world *w, uint32_t rva, uint32_t value)
{
    world_put(w, rva, &value, sizeof value);
}

/* Words of the stack are 4 bytes here; word NUMBER counts from the stack pointer. */
static void put_stack(struct world *w, uint32_t number, uint32_t value)
{
    memcpy((uint8_t *)w->stack + 8 * SP + 4 * (size_t)number, &value, sizeof value);
}

static struct unwind_walker start(struct world *w, enum pc_kind kind, struct unwind_frame *frame)
{
    world_init(w, PE_MACHINE_ARM);
    w->module.base_va = BASE; /* must fit in 32 bits */
    struct unwind_walker walker = world_walker(w, CPU_ARM, PC, SP, kind, frame);
    walker.regs.r[REG_ARM_LR] = 0x41414140;
    for (uint32_t i = 0; i < 64; i++)
        put_stack(w, i, 0x11 * i);
    return walker;
}

TEST(a_caller_is_found_by_link_chain_or_scan)
{
    const uint32_t sp = (uint32_t)WORLD_STACK_VA + 8 * SP;
    static const struct {
        const char *name;
        int call;
        enum pc_kind kind;
        bool is_thumb, links; /* LINKS: lr is the return address */
        uint32_t fp_register; /* 0: none */
        uint32_t fp_word;     /* where it points */
        uint32_t next, back; /* words that hold the caller's frame pointer and the return address */
        const char *found_by; /* NULL: none */
        uint32_t sp_word;     /* of the caller */
    } rows[] = {
        {"leaf in ARM code", BL, PC_INTERRUPTED, false, true, 0, 0, 0, 0, "leaf", 0},
        {"leaf in Thumb code", BL_THUMB, PC_INTERRUPTED, true, true, 0, 0, 0, 0, "leaf", 0},
        {"lr is no return address", NO_CALL, PC_INTERRUPTED, false, true, 0, 0, 0, 0, NULL, 0},
        {"lr of a caller is old", BL, PC_RETURN, false, true, 0, 0, 0, 0, NULL, 0},
        {"ARM chain", BL, PC_RETURN, false, false, 11, 4, 4, 5, "frame_pointer", 6},
        {"ARM chain of GCC", BL, PC_RETURN, false, false, 11, 5, 4, 5, "frame_pointer", 6},
        {"Thumb chain", BL_THUMB, PC_RETURN, true, false, 7, 4, 4, 5, "frame_pointer", 6},
        {"r7 of ARM code, iOS", BLX_ARM, PC_RETURN, false, false, 7, 4, 4, 5, "frame_pointer", 6},
        {"r11 of Thumb code", BLX, PC_RETURN, true, false, 11, 4, 4, 5, "frame_pointer", 6},
        {"lr saved in the frame, not a leaf", BL, PC_INTERRUPTED, false, true, 11, 4, 4, 5,
         "frame_pointer", 6},
        {"mov lr, pc", MOV_LR, PC_RETURN, false, false, 11, 4, 4, 5, "frame_pointer", 6},
        {"short blx", BLX_SHORT, PC_RETURN, true, false, 7, 4, 4, 5, "frame_pointer", 6},
        {"long blx", BLX_THUMB, PC_RETURN, true, false, 7, 4, 4, 5, "frame_pointer", 6},
        {"no chain, a scan", BL, PC_RETURN, false, false, 0, 0, 0, 9, "scan", 10},
        {"a chain that points down, a scan", BL, PC_RETURN, false, false, 11, 8, 0, 9, "scan", 10},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = start(&w, rows[i].kind, &frame);
        const uint32_t back = BASE + BACK, raw = back + rows[i].is_thumb;
        put_word(&w, BACK - 8, calls[rows[i].call].before);
        put_word(&w, BACK - 4, calls[rows[i].call].last);
        walker.regs.flags = rows[i].is_thumb ? THUMB : 0;
        if (rows[i].links)
            walker.regs.r[REG_ARM_LR] = raw;
        if (rows[i].fp_register != 0)
            walker.regs.r[rows[i].fp_register] = sp + 4 * rows[i].fp_word;
        if (rows[i].next != 0)
            put_stack(&w, rows[i].next, sp + 4 * 20);
        if (rows[i].back != 0)
            put_stack(&w, rows[i].back, raw);
        const enum stop_reason stop = unwind_step_arm(&walker);
        CHECK_EQ(stop == STOP_NONE, rows[i].found_by != NULL);
        if (stop == STOP_NONE) {
            CHECK_STR(found_by_name(walker.caller_found), rows[i].found_by);
            CHECK_HEX(walker.regs.pc, back);
            CHECK_HEX(walker.regs.sp, sp + 4 * rows[i].sp_word);
            if (rows[i].next != 0)
                CHECK_HEX(walker.regs.r[rows[i].fp_register], sp + 4 * 20);
        }
        world_free(&w);
    }
}

static const struct breakpad *the_file(void *self, const struct module *module)
{
    static struct breakpad file;
    static const char text[] =
        "MODULE Linux arm 000102030405060708090A0B0C0D0E0F0 a\n"
        "FUNC 1300 100 0 inner\n"
        "FUNC 1480 100 0 outer\n"
        "STACK CFI INIT 1300 80 .cfa: sp .ra: lr\n"
        "STACK CFI INIT 1480 100 .cfa: r7 8 + .ra: .cfa 4 - ^ r7: .cfa 8 - ^\n";
    struct fault fault = FAULT_INIT;
    (void)self;
    if (module == NULL) { /* at the end of the test */
        breakpad_close(&file);
        memset(&file, 0, sizeof file);
        return NULL;
    }
    if (file.os == NULL)
        CHECK_EQ(breakpad_read(text, sizeof text - 1, &file, &fault), ERR_NONE);
    return &file;
}

TEST(rules_of_a_symbol_file_go_first)
{
    static const struct {
        const char *name;
        uint32_t pc, lr, frames;
        const char *found_by; /* of the second frame */
    } rows[] = {
        {"a leaf by its rules", PC + 8, BACK + 1, 3, "cfi"},
        {"no rules, lr is of another function", PC + 0x90, BACK + 1, 3, "leaf"},
        {"no rules, lr is of an own call", PC + 0x90, PC + 0x21, 2, "frame_pointer"},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        struct unwind_stack stack;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        struct registers regs = start(&w, PC_INTERRUPTED, &frame).regs;
        w.process.breakpad = the_file;
        put_word(&w, BACK - 4, calls[BL_THUMB].last);
        put_word(&w, PC + 0x20 - 4, calls[BL_THUMB].last);
        regs.flags = THUMB;
        regs.pc = BASE + rows[i].pc;
        regs.r[REG_ARM_LR] = BASE + rows[i].lr;
        regs.r[REG_ARM_FP_THUMB] = regs.sp + 8;
        put_stack(&w, 2, (uint32_t)regs.sp + 16);
        put_stack(&w, 3, BASE + (rows[i].frames == 2 ? BACK : BACK + 0x10) + 1);
        put_word(&w, BACK + 0x10 - 4, calls[BL_THUMB].last);
        put_stack(&w, 4, 0);
        put_stack(&w, 5, 0);
        CHECK_EQ(unwind_walk(&w.process, &regs, PC_INTERRUPTED, &w.arena, &stack, &fault),
                 ERR_NONE);
        CHECK_EQ(stack.frame_count, rows[i].frames);
        CHECK_STR(found_by_name(stack.frames[1].found_by), rows[i].found_by);
        CHECK_HEX(stack.frames[1].pc_va, BASE + BACK);
        CHECK_EQ(stack.stop, STOP_END);
        world_free(&w);
    }
    (void)the_file(NULL, NULL);
}

TEST(both_context_records_are_read)
{
    static const struct {
        const char *name;
        uint32_t flags, bytes;
    } rows[] = {{"Breakpad's", 0x40000006, 368}, {"that of Windows", 0x0020000f, 416}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t raw[416] = {0};
        struct registers regs;
        test_row(rows[i].name);
        memcpy(raw, &rows[i].flags, 4);
        for (uint32_t k = 0; k < 16; k++)
            memcpy(raw + 4 + 4 * (size_t)k, &(uint32_t){0x1001 + k * 0x10}, 4);
        raw[0x44] = 0x30;
        raw[0x50 + 8 * 31] = 0x77;
        for (uint32_t bytes = 0; bytes <= rows[i].bytes; bytes++) {
            struct fault fault = FAULT_INIT;
            const enum status status =
                registers_read(bytes_over(raw, bytes, &fault), CPU_ARM, &regs);
            CHECK_EQ(status, bytes < 72 ? ERR_TRUNCATED : ERR_NONE);
        }
        CHECK_HEX(regs.r[12], 0x10c1);
        CHECK_HEX(regs.sp, 0x10d1);
        CHECK_HEX(regs.r[REG_ARM_LR], 0x10e1);
        CHECK_HEX(regs.pc, 0x10f0); /* without the bit of Thumb mode */
        CHECK_HEX(regs.flags, 0x30);
        CHECK_HEX(regs.vector[31][0], 0x77);
        CHECK_STR(register_name(CPU_ARM, 14), "lr");
        CHECK(register_is_sp(CPU_ARM, 13));
        CHECK(register_name(CPU_ARM, 15) == NULL);
    }
}

/* The link register of the first function of a thread is 0. */
TEST(a_walk_ends_where_the_link_register_is_0)
{
    static const struct {
        const char *name;
        enum pc_kind kind;
        uint32_t link;
        bool ends;
    } rows[] = {{"interrupted", PC_INTERRUPTED, 0, true},
                {"interrupted, with another link", PC_INTERRUPTED, 0x41414140, false},
                {"a return address", PC_RETURN, 0, false}};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct unwind_frame frame;
        test_row(rows[i].name);
        struct unwind_walker walker = start(&w, rows[i].kind, &frame);
        walker.regs.r[REG_ARM_LR] = rows[i].link;
        CHECK_EQ(unwind_step_arm(&walker) == STOP_END, rows[i].ends);
        world_free(&w);
    }
}

TEST(an_unknown_processor_is_not_walked)
{
    static struct world w;
    struct fault fault = FAULT_INIT;
    struct unwind_frame frame;
    struct unwind_stack stack;
    struct arena keep;
    struct unwind_walker walker = start(&w, PC_INTERRUPTED, &frame);
    arena_init(&keep, 0);
    walker.regs.cpu = CPU_UNKNOWN;
    CHECK_EQ(unwind_walk(&w.process, &walker.regs, PC_INTERRUPTED, &keep, &stack, &fault),
             ERR_UNSUPPORTED);
    CHECK_EQ(stack.frame_count, 0);
    CHECK_STR(stop_reason_name(stack.stop), stop_reason_name(STOP_NO_REGISTERS));
    arena_free(&keep);
    world_free(&w);
}
