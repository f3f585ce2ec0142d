/* x64 unwinding: every code, every place in a function, with hand-made functions. */
#include <string.h>

#include "test.h"
#include "unwind/x64_info.h"
#include "unwind_world.h"

enum { BEGIN = 0x1100, END = 0x1200, SP = 64 };

/* What a step must give. The caller's pc is the mark of stack word SLOT, and its stack pointer
 * points to the word after it. Register REG (-1: none) has the mark of word REG_SLOT. */
struct row {
    const char *name;
    uint8_t xdata[24];
    uint8_t code[12]; /* at the pc */
    uint32_t into;    /* bytes into the function */
    uint32_t slot;
    int reg;
    uint32_t reg_slot;
    enum unwind_where where;
};

static const struct row rows[] = {
    {"small allocation, body",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0x90},
     0x20,
     SP + 5,
     -1,
     0,
     WHERE_BODY},
    {"small allocation, not yet made",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0x48},
     0,
     SP,
     -1,
     0,
     WHERE_PROLOGUE},
    {"large allocation, scaled",
     {HEAD(1, 0, 7, 2, 0, 0), 7, OP(1, 0), 0x20, 0},
     {0x90},
     0x20,
     SP + 32,
     -1,
     0,
     WHERE_BODY},
    {"large allocation, whole",
     {HEAD(1, 0, 7, 3, 0, 0), 7, OP(1, 1), 0x00, 0x10, 0, 0},
     {0x90},
     0x20,
     SP + 512,
     -1,
     0,
     WHERE_BODY},
    {"pushes restore in turn",
     {HEAD(1, 0, 6, 3, 0, 0), 6, OP(2, 3), 2, OP(0, 7), 1, OP(0, 3)},
     {0x90},
     0x20,
     SP + 6,
     3,
     SP + 5,
     WHERE_BODY},
    {"between two pushes",
     {HEAD(1, 0, 6, 3, 0, 0), 6, OP(2, 3), 2, OP(0, 7), 1, OP(0, 3)},
     {0x57},
     1,
     SP + 1,
     3,
     SP,
     WHERE_PROLOGUE},
    {"register saved by move",
     {HEAD(1, 0, 9, 3, 0, 0), 9, OP(4, 6), 6, 0, 4, OP(2, 4)},
     {0x90},
     0x20,
     SP + 5,
     6,
     SP + 6,
     WHERE_BODY},
    {"register saved far",
     {HEAD(1, 0, 9, 4, 0, 0), 9, OP(5, 6), 0x80, 0, 0, 0, 4, OP(2, 4)},
     {0x90},
     0x20,
     SP + 5,
     6,
     SP + 16,
     WHERE_BODY},
    {"epilogue: add rsp",
     {HEAD(1, 0, 6, 3, 0, 0), 6, OP(2, 3), 2, OP(0, 7), 1, OP(0, 3)},
     {0x48, 0x83, 0xc4, 0x20, 0x5f, 0x5b, 0xc3},
     0x80,
     SP + 6,
     3,
     SP + 5,
     WHERE_EPILOGUE},
    {"epilogue: at the first pop",
     {HEAD(1, 0, 6, 3, 0, 0), 6, OP(2, 3), 2, OP(0, 7), 1, OP(0, 3)},
     {0x5f, 0x5b, 0xc3},
     0x84,
     SP + 2,
     7,
     SP,
     WHERE_EPILOGUE},
    {"epilogue: at ret",
     {HEAD(1, 0, 6, 3, 0, 0), 6, OP(2, 3), 2, OP(0, 7), 1, OP(0, 3)},
     {0xc3},
     0x86,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"epilogue: ret n",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xc2, 0x10, 0x00},
     0x86,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"epilogue: rep ret",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xf3, 0xc3},
     0x86,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"epilogue: pop r15",
     {HEAD(1, 0, 2, 1, 0, 0), 2, OP(0, 15)},
     {0x41, 0x5f, 0xc3},
     0x80,
     SP + 1,
     15,
     SP,
     WHERE_EPILOGUE},
    {"epilogue: long add",
     {HEAD(1, 0, 7, 2, 0, 0), 7, OP(1, 0), 0x20, 0},
     {0x48, 0x81, 0xc4, 0x00, 0x01, 0x00, 0x00, 0xc3},
     0x80,
     SP + 32,
     -1,
     0,
     WHERE_EPILOGUE},
    {"epilogue: add of a negative number",
     {HEAD(1, 0, 7, 2, 0, 0), 7, OP(1, 0), 0x20, 0},
     {0x48, 0x83, 0xc4, 0x80, 0xc3}, /* add rsp, -128; ret */
     0x80,
     SP - 16,
     -1,
     0,
     WHERE_EPILOGUE},
    {"tail call: jump out",
     {HEAD(1, 0, 1, 1, 0, 0), 1, OP(0, 3)},
     {0x5b, 0xe9, 0x00, 0x04, 0x00, 0x00},
     0x80,
     SP + 1,
     3,
     SP,
     WHERE_EPILOGUE},
    {"tail call: at the jump itself",
     {HEAD(1, 0, 1, 1, 0, 0), 1, OP(0, 3)},
     {0xe9, 0x00, 0x04, 0x00, 0x00},
     0x80,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"tail call: short jump out",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xeb, 0x7f},
     0xf0,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"tail call: to its own first byte",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xe9, 0x7b, 0xff, 0xff, 0xff},
     0x80,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"tail call: through memory",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xff, 0x25, 0, 0, 0, 0},
     0x80,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"tail call: rex jump by register",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0x48, 0xff, 0xe0},
     0x80,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"no epilogue: plain jump by register",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xff, 0xe0},
     0x80,
     SP + 5,
     -1,
     0,
     WHERE_BODY},
    {"no epilogue: lea rsp from a place relative to rip",
     {HEAD(1, 0, 4, 2, 5, 0), 4, OP(2, 3), 1, OP(0, 5)},
     {0x48, 0x8d, 0x25, 0xc3, 0, 0, 0, 0xc3},
     0x80,
     SP + 5,
     5,
     SP + 4,
     WHERE_BODY},
    {"no epilogue: jump inside",
     {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
     {0xe9, 0x10, 0x00, 0x00, 0x00},
     0x80,
     SP + 5,
     -1,
     0,
     WHERE_BODY},
    {"no epilogue: pop without ret",
     {HEAD(1, 0, 1, 1, 0, 0), 1, OP(0, 3)},
     {0x5b, 0x90},
     0x80,
     SP + 1,
     3,
     SP,
     WHERE_BODY},
    {"version 2: body",
     {HEAD(2, 0, 2, 4, 0, 0), 3, OP(6, 1), 0, OP(6, 0), 2, OP(0, 6), 1, OP(0, 7)},
     {0x90},
     0x40,
     SP + 2,
     7,
     SP + 1,
     WHERE_BODY},
    {"version 2: listed epilogue, first pop",
     {HEAD(2, 0, 2, 4, 0, 0), 3, OP(6, 1), 0, OP(6, 0), 2, OP(0, 6), 1, OP(0, 7)},
     {0},
     0xfd,
     SP + 2,
     6,
     SP,
     WHERE_EPILOGUE},
    {"version 2: listed epilogue, second pop",
     {HEAD(2, 0, 2, 4, 0, 0), 3, OP(6, 1), 0, OP(6, 0), 2, OP(0, 6), 1, OP(0, 7)},
     {0},
     0xfe,
     SP + 1,
     7,
     SP,
     WHERE_EPILOGUE},
    {"version 2: listed epilogue, ret",
     {HEAD(2, 0, 2, 4, 0, 0), 3, OP(6, 1), 0, OP(6, 0), 2, OP(0, 6), 1, OP(0, 7)},
     {0},
     0xff,
     SP,
     -1,
     0,
     WHERE_EPILOGUE},
    {"version 2: listed epilogue in the middle",
     {HEAD(2, 0, 2, 4, 0, 0), 3, OP(6, 0), 0x80, OP(6, 0), 2, OP(0, 6), 1, OP(0, 7)},
     {0},
     0x81,
     SP + 1,
     7,
     SP,
     WHERE_EPILOGUE},
};

static enum stop_reason step_row(struct world *w, const struct row *row, enum pc_kind kind,
                                 struct unwind_frame *frame, struct registers *out)
{
    uint32_t xdata = world_xdata(w, row->xdata, sizeof(row->xdata));
    world_function(w, BEGIN, END, xdata);
    world_put(w, BEGIN + row->into, row->code, sizeof(row->code));
    struct unwind_walker walker = world_walker(w, CPU_X64, BEGIN + row->into, SP, kind, frame);
    const enum stop_reason stop = unwind_step_x64(&walker);
    *out = walker.regs;
    return stop;
}

TEST(each_code_and_place_is_undone)
{
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct unwind_frame frame;
        struct registers regs;
        test_row(row->name);
        world_init(&w, PE_MACHINE_X64);
        const enum stop_reason stop = step_row(&w, row, PC_INTERRUPTED, &frame, &regs);
        CHECK(stop == STOP_NONE);
        CHECK_HEX(regs.pc, WORLD_MARK + row->slot);
        CHECK_HEX(regs.sp, WORLD_STACK_VA + 8 * (row->slot + 1));
        CHECK_HEX(frame.return_slot_va, WORLD_STACK_VA + 8 * row->slot);
        CHECK_STR(unwind_where_name(frame.where), unwind_where_name(row->where));
        if (row->reg >= 0)
            CHECK_HEX(regs.r[row->reg], WORLD_MARK + row->reg_slot);
        world_free(&w);
    }
}

TEST(a_return_address_never_stands_in_an_epilogue)
{
    static struct world w;
    static const struct row row = {"call, then a jump out of a split function",
                                   {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)},
                                   {0xe9, 0x00, 0x04, 0x00, 0x00},
                                   0x80,
                                   SP + 5,
                                   -1,
                                   0,
                                   WHERE_BODY};
    struct unwind_frame frame;
    struct registers regs;
    world_init(&w, PE_MACHINE_X64);
    CHECK(step_row(&w, &row, PC_RETURN, &frame, &regs) == STOP_NONE);
    CHECK_HEX(regs.pc, WORLD_MARK + SP + 5);
    world_free(&w);
}

TEST(vector_registers_come_back)
{
    static struct world w;
    static const uint8_t xdata[] = {
        HEAD(1, 0, 9, 6, 0, 0), 9, OP(8, 6), 1, 0, 9, OP(9, 7), 0x20, 0, 0, 0, 4, OP(2, 5)};
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
    struct unwind_walker walker = world_walker(&w, CPU_X64, BEGIN + 0x20, SP, PC_RETURN, &frame);
    CHECK(unwind_step_x64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.vector[6][0], WORLD_MARK + SP + 2);
    CHECK_HEX(walker.regs.vector[6][1], WORLD_MARK + SP + 3);
    CHECK_HEX(walker.regs.vector[7][0], WORLD_MARK + SP + 4);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 6);
    world_free(&w);
}

TEST(a_frame_register_outlives_dynamic_allocation)
{
    /* push rbp; sub rsp,30h; lea rbp,[rsp+20h]; then alloca moved rsp away */
    static const uint8_t xdata[] = {
        HEAD(1, 0, 10, 3, 5, 2), 10, OP(3, 0), 5, OP(2, 5), 1, OP(0, 5)};
    static const uint8_t lea[] = {0x48, 0x8d, 0x65, 0x10, 0x5d, 0xc3}; /* lea rsp,[rbp+10h] */
    static struct world w;
    struct unwind_frame frame;
    for (int epilogue = 0; epilogue < 2; epilogue++) {
        test_row(epilogue ? "epilogue by lea" : "body");
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
        world_put(&w, BEGIN + 0x80, lea, sizeof(lea));
        struct unwind_walker walker = world_walker(&w, CPU_X64, BEGIN + (epilogue ? 0x80 : 0x40),
                                                   SP - 20, PC_INTERRUPTED, &frame);
        walker.regs.r[5] = WORLD_STACK_VA + 8 * (SP + 4);
        CHECK(unwind_step_x64(&walker) == STOP_NONE);
        CHECK_HEX(walker.regs.r[5], WORLD_MARK + SP + 6);
        CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 7);
        CHECK_STR(unwind_where_name(frame.where), epilogue ? "epilogue" : "body");
        world_free(&w);
    }
}

TEST(a_machine_frame_makes_the_caller_interrupted)
{
    static struct world w;
    for (uint8_t code = 0; code < 2; code++) {
        const uint8_t xdata[] = {HEAD(1, 0, 4, 2, 0, 0), 4, OP(2, 1), 0, OP(10, code)};
        struct unwind_frame frame;
        test_row(code ? "with an error code" : "without");
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, xdata, sizeof(xdata)));
        struct unwind_walker walker =
            world_walker(&w, CPU_X64, BEGIN + 0x20, SP, PC_INTERRUPTED, &frame);
        CHECK(unwind_step_x64(&walker) == STOP_NONE);
        CHECK_EQ(walker.caller_kind, PC_INTERRUPTED);
        CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 2 + code);
        CHECK_HEX(walker.regs.sp, WORLD_MARK + SP + 5 + code);
        world_free(&w);
    }
}

static uint32_t chained(struct world *w, uint32_t parent_xdata)
{
    uint8_t xdata[] = {HEAD(1, 4, 5, 2, 0, 0),
                       5,
                       OP(4, 3),
                       4,
                       0, /* rbx at +20h */
                       0x00,
                       0x11,
                       0,
                       0,
                       0x80,
                       0x11,
                       0,
                       0,
                       0,
                       0,
                       0,
                       0};
    for (int i = 0; i < 4; i++)
        xdata[16 + i] = (uint8_t)(parent_xdata >> (8 * i));
    return world_xdata(w, xdata, sizeof(xdata));
}

/* Slots are stored in pairs: after an odd number of them, the chained entry is 2 bytes further. */
TEST(an_odd_number_of_slots_is_padded)
{
    static const uint8_t parent[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    uint32_t parent_rva = world_xdata(&w, parent, sizeof(parent));
    const uint8_t part[] = {HEAD(1, 4, 1, 1, 0, 0),
                            1,
                            OP(0, 3),
                            0,
                            0,
                            0x00,
                            0x11,
                            0,
                            0,
                            0x80,
                            0x11,
                            0,
                            0,
                            (uint8_t)parent_rva,
                            (uint8_t)(parent_rva >> 8),
                            0,
                            0};
    world_function(&w, BEGIN, 0x1180, parent_rva);
    world_function(&w, 0x1180, END, world_xdata(&w, part, sizeof(part)));
    struct unwind_walker walker = world_walker(&w, CPU_X64, 0x11a0, SP, PC_INTERRUPTED, &frame);
    CHECK(unwind_step_x64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.r[3], WORLD_MARK + SP);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 6);
    world_free(&w);
}

TEST(chained_data_is_undone_whole)
{
    static const uint8_t parent[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 4)};
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    uint32_t parent_rva = world_xdata(&w, parent, sizeof(parent));
    world_function(&w, BEGIN, 0x1180, parent_rva);
    world_function(&w, 0x1180, END, chained(&w, parent_rva));
    struct unwind_walker walker = world_walker(&w, CPU_X64, 0x11a0, SP, PC_INTERRUPTED, &frame);
    CHECK(unwind_step_x64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.r[3], WORLD_MARK + SP + 4);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 5);
    /* When the part starts, the parent's allocation has run, but the part's save has not. */
    walker = world_walker(&w, CPU_X64, 0x1180, SP, PC_INTERRUPTED, &frame);
    CHECK(unwind_step_x64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.r[3], 0x1003);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 5);
    world_free(&w);
}

TEST(a_part_saves_by_the_frame_register_of_its_head)
{
    /* The parent sets rbp to sp + 0x20. The part has a prologue of 8 bytes and saves rbx at frame +
     * 0x10. */
    static const uint8_t parent[] = {HEAD(1, 0, 4, 2, 5, 2), 4, OP(3, 0), 4, OP(2, 7)};
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    uint32_t parent_rva = world_xdata(&w, parent, sizeof(parent));
    const uint8_t part[] = {HEAD(1, 4, 8, 2, 5, 2),
                            5,
                            OP(4, 3),
                            2,
                            0,
                            (uint8_t)BEGIN,
                            BEGIN >> 8,
                            0,
                            0,
                            0x80,
                            0x11,
                            0,
                            0,
                            (uint8_t)parent_rva,
                            (uint8_t)(parent_rva >> 8),
                            0,
                            0};
    world_function(&w, BEGIN, 0x1180, parent_rva);
    world_function(&w, 0x1180, END, world_xdata(&w, part, sizeof(part)));
    struct unwind_walker walker = world_walker(&w, CPU_X64, 0x1186, SP, PC_INTERRUPTED, &frame);
    walker.regs.r[5] = WORLD_STACK_VA + 8 * (SP + 10) + 0x20; /* sp has moved on: alloca */
    CHECK(unwind_step_x64(&walker) == STOP_NONE);
    CHECK_HEX(walker.regs.r[3], WORLD_MARK + SP + 10 + 2);
    CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 10 + 8);
    world_free(&w);
}

TEST(a_chain_that_loops_ends)
{
    static struct world w;
    struct unwind_frame frame;
    world_init(&w, PE_MACHINE_X64);
    uint32_t self = chained(&w, WORLD_XDATA_RVA);
    CHECK_HEX(self, WORLD_XDATA_RVA);
    world_function(&w, BEGIN, END, self);
    struct unwind_walker walker =
        world_walker(&w, CPU_X64, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
    const enum stop_reason stop = unwind_step_x64(&walker);
    REQUIRE(stop != STOP_NONE); /* a scan finds nothing either */
    CHECK_HAS(stop_reason_name(stop), "scan");
    world_free(&w);
}

/* Rows of .pdata whose unwind data is at an odd place refer to another row. */
TEST(a_row_that_refers_to_another_has_its_data)
{
    enum { ROW = WORLD_PDATA_RVA, DATA = WORLD_XDATA_RVA };
    static const struct {
        const char *name;
        uint32_t unwind[3]; /* of the rows */
        bool good;
    } cases[] = {{"no other", {DATA}, true},
                 {"the next", {(ROW + 12) | 1, DATA}, true},
                 {"one after the other", {(ROW + 12) | 1, (ROW + 24) | 1, DATA}, true},
                 {"itself", {ROW | 1}, false},
                 {"none of the image", {WORLD_IMAGE_BYTES | 1}, false}};
    static const uint8_t allocates_32[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 3)};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct unwind_frame frame;
        test_row(cases[i].name);
        world_init(&w, PE_MACHINE_X64);
        (void)world_xdata(&w, allocates_32, sizeof allocates_32);
        for (uint32_t k = 0; k < 3; k++)
            world_function(&w, BEGIN + 0x100 * k, END + 0x100 * k, cases[i].unwind[k]);
        struct unwind_walker walker =
            world_walker(&w, CPU_X64, BEGIN + 0x40, SP, PC_INTERRUPTED, &frame);
        if (CHECK_EQ(unwind_step_x64(&walker) == STOP_NONE, cases[i].good) && cases[i].good) {
            CHECK_HEX(walker.regs.pc, WORLD_MARK + SP + 4);
            CHECK_HEX(frame.unwind_data_va, WORLD_BASE_VA + WORLD_XDATA_RVA);
        }
        world_free(&w);
    }
}

/* The stack ends so many words above the stack pointer. */
TEST(codes_beyond_the_end_of_the_stack_stop)
{
    static const struct {
        const char *name;
        uint8_t xdata[12];
        uint32_t words;
    } ends[] = {{"PUSH_NONVOL", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(0, 3)}, 0},
                {"the return address after it", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(0, 3)}, 1},
                {"ALLOC_SMALL", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 0)}, 1},
                {"SAVE_NONVOL", {HEAD(1, 0, 4, 2, 0, 0), 4, OP(4, 3), 2, 0}, 2},
                {"SAVE_NONVOL_FAR", {HEAD(1, 0, 4, 3, 0, 0), 4, OP(5, 3), 16, 0, 0, 0}, 2},
                {"SAVE_XMM128", {HEAD(1, 0, 4, 2, 0, 0), 4, OP(8, 6), 1, 0}, 2},
                {"half of SAVE_XMM128", {HEAD(1, 0, 4, 2, 0, 0), 4, OP(8, 6), 1, 0}, 3},
                {"SAVE_XMM128_FAR", {HEAD(1, 0, 4, 3, 0, 0), 4, OP(9, 6), 16, 0, 0, 0}, 3},
                {"PUSH_MACHFRAME", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(10, 0)}, 0},
                {"without its stack pointer", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(10, 0)}, 3},
                {"with an error code", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(10, 1)}, 4}};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct unwind_frame frame;
        test_row(ends[i].name);
        world_init(&w, PE_MACHINE_X64);
        world_function(&w, BEGIN, END, world_xdata(&w, ends[i].xdata, sizeof ends[i].xdata));
        struct unwind_walker walker = world_walker(
            &w, CPU_X64, BEGIN + 0x40, WORLD_STACK_WORDS - ends[i].words, PC_INTERRUPTED, &frame);
        CHECK_STR(stop_reason_name(unwind_step_x64(&walker)), stop_reason_name(STOP_MEMORY));
        world_free(&w);
    }
}

TEST(malformed_data_is_never_followed)
{
    static const struct {
        const char *name;
        uint8_t xdata[8];
    } bad[] = {{"version 0", {HEAD(0, 0, 4, 1, 0, 0), 4, OP(2, 4)}},
               {"version 3, push2 of APX", {3, 6, 2, 1, 0, 0x20, 0x6b, 0}},
               {"version 7", {HEAD(7, 0, 4, 1, 0, 0), 4, OP(2, 4)}},
               {"unknown operation", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(13, 0)}},
               {"operation runs past its slots", {HEAD(1, 0, 4, 1, 0, 0), 4, OP(1, 1)}}};
    static struct world w;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct x64_info info;
        test_row(bad[i].name);
        world_init(&w, PE_MACHINE_X64);
        uint32_t rva = world_xdata(&w, bad[i].xdata, sizeof(bad[i].xdata));
        CHECK(x64_info_read(&w.process, WORLD_BASE_VA, rva, &info) != STOP_NONE);
        world_free(&w);
    }
}
