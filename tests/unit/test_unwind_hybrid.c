/* Images with code of ARM64EC and x64: which code is where, and a walk through both.
 *
 * The image is laid out as in winnt.h: IMAGE_LOAD_CONFIG_DIRECTORY64 with CHPEMetadataPointer
 * at 0xc8, IMAGE_ARM64EC_METADATA with CodeMap at 4 and ExtraRFETable at 0x40, and
 * IMAGE_CHPE_RANGE_ENTRY with the type in the two lowest bits. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "unwind/hybrid.h"
#include "unwind_world.h"

enum {
    CONFIG_AT = 0x3800,
    METADATA_AT = 0x3a00,
    MAP_AT = 0x3b00,
    ROWS_AT = 0x3c00,
    EC_CODE = 0x1100,  /* ARM64EC */
    X64_CODE = 0x1400, /* x64 */
    OTHER_CODE = 0x1600,
    EC_BYTES = 0x100,
    SP = 64,
};

/* A packed word for a function of 0x100 bytes: stp fp,lr,[sp,#-32]!; mov fp,sp. */
#define CHAINED (1u | 0x40u << 2 | 3u << 21 | 2u << 23)

static void put(struct world *w, uint32_t rva, uint64_t value, size_t size)
{
    uint8_t raw[8];
    for (size_t i = 0; i < size; i++)
        raw[i] = (uint8_t)(value >> (8 * i));
    world_put(w, rva, raw, size);
}

/* An image of MACHINE with one function of each processor. The pointer to the metadata is relative
 * to POINTER_BASE. */
static struct world *hybrid_world(uint16_t machine, uint64_t pointer_base)
{
    static const uint8_t xdata[] = {HEAD(1, 0, 4, 1, 0, 0), 4, OP(2, 3)}; /* sub rsp, 32 */
    struct world *w = malloc(sizeof *w);
    if (w == NULL)
        return NULL;
    world_init(w, machine);
    put(w, 0x98 + 24, 0x180000000, 8); /* the preferred base */
    put(w, 0x98 + 112 + 10 * 8, CONFIG_AT, 4);
    put(w, CONFIG_AT, 0x140, 4);
    put(w, CONFIG_AT + 0xc8, pointer_base + METADATA_AT, 8);
    put(w, METADATA_AT, 1, 4);
    put(w, METADATA_AT + 4, MAP_AT, 4);
    put(w, METADATA_AT + 8, 2, 4);
    put(w, METADATA_AT + 0x40, ROWS_AT, 4);
    put(w, MAP_AT, EC_CODE | 1, 4);
    put(w, MAP_AT + 4, EC_BYTES, 4);
    put(w, MAP_AT + 8, X64_CODE | 2, 4);
    put(w, MAP_AT + 12, 0x100, 4);
    const uint32_t unwind = world_xdata(w, xdata, sizeof xdata);
    if (machine == PE_MACHINE_X64) {
        world_function(w, X64_CODE, X64_CODE + 0x100, unwind);
        put(w, ROWS_AT, EC_CODE, 4);
        put(w, ROWS_AT + 4, CHAINED, 4);
        put(w, METADATA_AT + 0x44, 8, 4);
    } else {
        world_function_arm64(w, EC_CODE, CHAINED);
        put(w, ROWS_AT, X64_CODE, 4);
        put(w, ROWS_AT + 4, X64_CODE + 0x100, 4);
        put(w, ROWS_AT + 8, unwind, 4);
        put(w, METADATA_AT + 0x44, 12, 4);
    }
    return w;
}

static const struct {
    const char *name;
    uint16_t machine;
    uint64_t pointer_base;
} images[] = {
    {"ARM64EC, in memory", PE_MACHINE_X64, WORLD_BASE_VA},
    {"ARM64EC, of the file", PE_MACHINE_X64, 0x180000000},
    {"ARM64X, of the file", PE_MACHINE_ARM64, 0x180000000},
};

TEST(the_map_says_whose_code_an_address_is)
{
    for (size_t i = 0; i < COUNT_OF(images); i++) {
        const bool x64 = images[i].machine == PE_MACHINE_X64;
        const struct {
            uint32_t rva;
            enum cpu cpu;
        } rows[] = {
            {EC_CODE - 1, x64 ? CPU_X64 : CPU_ARM64}, /* in no range: as the header says */
            {EC_CODE, CPU_ARM64},
            {EC_CODE + EC_BYTES - 1, CPU_ARM64},
            {EC_CODE + EC_BYTES, x64 ? CPU_X64 : CPU_ARM64},
            {X64_CODE, CPU_X64},
            {X64_CODE + 0xff, CPU_X64},
        };
        struct world *w = hybrid_world(images[i].machine, images[i].pointer_base);
        test_row(images[i].name);
        REQUIRE(w != NULL);
        for (size_t k = 0; k < COUNT_OF(rows); k++)
            CHECK_EQ(unwind_code_cpu(&w->process, &w->module, WORLD_BASE_VA + rows[k].rva),
                     rows[k].cpu);
        CHECK_EQ(unwind_code_cpu(&w->process, NULL, WORLD_BASE_VA), CPU_UNKNOWN);
        world_free(w);
        free(w);
    }
}

TEST(an_image_without_a_map_is_of_its_header)
{
    static const struct {
        const char *name;
        uint32_t rva;
        uint64_t value;
        size_t size;
    } rows[] = {
        {"no load configuration", 0x98 + 112 + 10 * 8, 0, 4},
        {"one of older Windows, which is shorter", CONFIG_AT, 0xc8, 4},
        {"no metadata", CONFIG_AT + 0xc8, 0, 8},
        {"metadata elsewhere", CONFIG_AT + 0xc8, 0x1000, 8},
        {"an empty map", METADATA_AT + 8, 0, 4},
        {"a map of too many ranges", METADATA_AT + 8, UINT32_MAX, 4},
        {"a map that cannot be read", METADATA_AT + 4, 0x3ffc, 4},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world *w = hybrid_world(PE_MACHINE_X64, WORLD_BASE_VA);
        test_row(rows[i].name);
        REQUIRE(w != NULL);
        put(w, rows[i].rva, rows[i].value, rows[i].size);
        CHECK_EQ(unwind_code_cpu(&w->process, &w->module, WORLD_BASE_VA + EC_CODE), CPU_X64);
        world_free(w);
        free(w);
    }
}

/* Each register of ARM64EC_NT_CONTEXT is in the place that winnt.h states, and comes back. */
TEST(registers_of_arm64ec_have_their_places)
{
    static const struct {
        uint32_t arm64, x64;
    } rows[] = {
        {0, 1},   {1, 2},  {2, 8},   {3, 9},   {4, 10},
        {5, 11},  {8, 0},  {19, 12}, {20, 13}, {21, 14},
        {22, 15}, {25, 6}, {26, 7},  {27, 3},  {REG_ARM64_FP, REG_X64_RBP},
    };
    struct registers regs = {.cpu = CPU_X64, .pc = 1, .sp = 2, .ec_lr = 3};
    for (uint64_t i = 0; i < REG_COUNT; i++)
        regs.r[i] = 0x1000 + i;
    const struct registers before = regs;
    hybrid_registers_as(&regs, CPU_ARM64);
    CHECK_EQ(regs.cpu, CPU_ARM64);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_HEX(regs.r[rows[i].arm64], 0x1000 + (uint64_t)rows[i].x64);
    CHECK_EQ(regs.r[REG_ARM64_LR], 3);
    hybrid_registers_as(&regs, CPU_X64);
    CHECK_EQ(regs.cpu, CPU_X64);
    CHECK_EQ(regs.pc, 1);
    CHECK_EQ(regs.sp, 2);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_HEX(regs.r[rows[i].x64], before.r[rows[i].x64]);
    regs.cpu = CPU_X86;
    hybrid_registers_as(&regs, CPU_ARM64);
    CHECK_EQ(regs.cpu, CPU_X86);
}

/* An ARM64EC function that has just called another, called by x64 code, called by ARM64EC code. */
TEST(a_walk_goes_through_both)
{
    for (size_t i = 0; i < COUNT_OF(images); i++) {
        struct world *w = hybrid_world(images[i].machine, images[i].pointer_base);
        struct unwind_stack stack;
        struct fault fault = FAULT_INIT;
        test_row(images[i].name);
        REQUIRE(w != NULL);
        /* the frame of the first: fp, lr; then of x64: 32 bytes and the return address */
        w->stack[SP] = WORLD_STACK_VA + (SP + 9) * 8;
        w->stack[SP + 1] = WORLD_BASE_VA + X64_CODE + 0x40;
        w->stack[SP + 8] = WORLD_BASE_VA + EC_CODE + 0x80;
        w->stack[SP + 9] = 0;
        w->stack[SP + 10] = 0;
        struct registers regs = {
            .cpu = CPU_X64, .pc = WORLD_BASE_VA + EC_CODE + 0x40, .sp = WORLD_STACK_VA + SP * 8};
        regs.r[REG_X64_RBP] = regs.sp;
        regs.ec_lr = WORLD_BASE_VA + OTHER_CODE;
        REQUIRE(unwind_walk(&w->process, &regs, PC_INTERRUPTED, &w->arena, &stack, &fault) ==
                ERR_NONE);
        REQUIRE(stack.frame_count == 3);
        CHECK_HEX(stack.frames[1].pc_va, WORLD_BASE_VA + X64_CODE + 0x40);
        CHECK_HEX(stack.frames[1].sp_va, WORLD_STACK_VA + (SP + 4) * 8);
        CHECK_HEX(stack.frames[2].pc_va, WORLD_BASE_VA + EC_CODE + 0x80);
        CHECK_HEX(stack.frames[2].sp_va, WORLD_STACK_VA + (SP + 9) * 8);
        for (uint32_t k = 0; k < 3; k++) {
            CHECK_EQ(stack.frames[k].cpu, k == 1 ? CPU_X64 : CPU_ARM64);
            CHECK_EQ(stack.frames[k].found_by, k == 0 ? FOUND_CONTEXT : FOUND_UNWIND);
        }
        CHECK_EQ(stack.stop, STOP_END);
        world_free(w);
        free(w);
    }
}

/* At its first instruction a function of ARM64EC has its return address in lr alone, which the
 * CONTEXT of x64 has among the registers of the x87. */
TEST(the_return_address_of_a_context_is_lr)
{
    struct world *w = hybrid_world(PE_MACHINE_X64, WORLD_BASE_VA);
    struct fault fault = FAULT_INIT;
    uint8_t context[1232] = {0};
    struct registers regs;
    struct unwind_stack stack;
    const uint64_t lr = WORLD_BASE_VA + X64_CODE + 0x40, pc = WORLD_BASE_VA + EC_CODE;
    const uint64_t sp = WORLD_STACK_VA + SP * 8;

    REQUIRE(w != NULL);
    for (size_t i = 0; i < 8; i++) {
        context[0x98 + i] = (uint8_t)(sp >> (8 * i));
        context[0xf8 + i] = (uint8_t)(pc >> (8 * i));
        context[0x120 + i] = (uint8_t)(lr >> (8 * i));
    }
    w->stack[SP + 4] = 0;
    REQUIRE(registers_read(bytes_over(context, sizeof context, &fault), CPU_X64, &regs) ==
            ERR_NONE);
    REQUIRE(unwind_walk(&w->process, &regs, PC_INTERRUPTED, &w->arena, &stack, &fault) == ERR_NONE);
    REQUIRE(stack.frame_count == 2);
    CHECK_HEX(stack.frames[1].pc_va, lr);
    CHECK_HEX(stack.frames[1].sp_va, sp);
    CHECK_EQ(stack.stop, STOP_END);
    world_free(w);
    free(w);
}
