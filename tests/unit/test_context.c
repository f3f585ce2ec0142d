/* Where CONTEXT records hold the registers: offsetof() of mingw-w64's headers, and for Breakpad's
 * own form of arm64 that of Breakpad's. */
#include <string.h>

#include "base/array.h"
#include "format/context/registers.h"
#include "test.h"

enum { NONE = 0, RECORD_MAX = 1232 };

/* Each 4 bytes of the record hold their own offset. */
static void fill(uint8_t *raw)
{
    for (uint32_t at = 0; at < RECORD_MAX; at += 4)
        for (uint32_t i = 0; i < 4; i++)
            raw[at + i] = (uint8_t)(at >> 8 * i);
}

static uint64_t value_at(enum cpu cpu, uint32_t offset)
{
    return cpu_pointer_bytes(cpu) == 4 ? offset : (uint64_t)(offset + 4) << 32 | offset;
}

static const struct record {
    const char *name;
    enum cpu cpu;
    uint32_t bytes; /* of the whole record */
    uint32_t least; /* of one without vector registers */
    uint32_t flags, context_flags, pc, sp, sp_number, pointer_bytes;
    uint32_t vector, vectors; /* the first one, and how many; NONE: not read */
    uint32_t count;
    const char *first, *last;
    uint32_t r[REG_COUNT]; /* [i] NONE: i times the size of a register after the one before */
} records[] = {
    {"x86",
     CPU_X86,
     716,
     0xc8,
     0xc0,
     0,
     0xb8,
     0xc4,
     4,
     4,
     NONE,
     0,
     8,
     "eax",
     "edi",
     {0xb0, 0xac, 0xa8, 0xa4, NONE, 0xb4, 0xa0, 0x9c}},
    {"x64",
     CPU_X64,
     1232,
     0x100,
     0x44,
     0x30,
     0xf8,
     0x98,
     4,
     8,
     0x1a0,
     16,
     16,
     "rax",
     "r15",
     {0x78}},
    {"arm64", CPU_ARM64, 912, 0x110, 4, 0, 0x108, 0x100, 99, 8, 0x110, 32, 31, "x0", "lr", {8}},
    {"arm64 of Breakpad's older form",
     CPU_ARM64,
     796,
     796,
     0x110,
     0,
     0x108,
     0x100,
     99,
     8,
     0x11c,
     32,
     31,
     "x0",
     "lr",
     {8}},
};

TEST(registers_are_where_the_system_puts_them)
{
    static uint8_t raw[RECORD_MAX];
    fill(raw);
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        const struct record *c = &records[i];
        struct registers regs;
        struct fault fault = FAULT_INIT;
        test_row(c->name);
        REQUIRE(registers_read(bytes_over(raw, c->bytes, &fault), c->cpu, &regs) == ERR_NONE);
        CHECK_HEX(regs.flags, c->flags);
        CHECK_HEX(regs.context_flags, c->context_flags);
        CHECK_HEX(regs.pc, value_at(c->cpu, c->pc));
        CHECK_HEX(regs.sp, value_at(c->cpu, c->sp));
        uint32_t at = c->r[0];
        for (uint32_t k = 0; k < c->count; k++, at += c->pointer_bytes) {
            at = c->r[k] != NONE ? c->r[k] : at;
            if (k != c->sp_number)
                CHECK_HEX(regs.r[k], value_at(c->cpu, at));
        }
        CHECK_HEX(regs.r[c->count == REG_COUNT ? 0 : c->count],
                  c->count == REG_COUNT ? regs.r[0] : 0);
        for (uint32_t k = 0; k < REG_VECTOR_COUNT; k++)
            for (uint32_t half = 0; half < 2; half++)
                CHECK_HEX(regs.vector[k][half],
                          k < c->vectors ? value_at(CPU_X64, c->vector + 16 * k + 8 * half) : 0);
    }
}

TEST(records_without_vector_registers_are_read)
{
    static uint8_t raw[RECORD_MAX];
    fill(raw);
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        const struct record *c = &records[i];
        const uint32_t all = c->vectors == 0 ? c->bytes : c->vector + 16 * c->vectors;
        test_row(c->name);
        for (uint32_t bytes = 0; bytes <= c->bytes && c->least != c->bytes; bytes += 4) {
            struct registers regs;
            struct fault fault = FAULT_INIT;
            if (bytes == 796)
                continue; /* the older form */
            CHECK_EQ(registers_read(bytes_over(raw, bytes, &fault), c->cpu, &regs),
                     bytes < c->least ? ERR_TRUNCATED : ERR_NONE);
            if (bytes >= c->least && c->vectors != 0)
                CHECK_EQ(regs.vector[c->vectors - 1][1] != 0, bytes >= all);
        }
    }
}

TEST(registers_have_names_and_a_size)
{
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        const struct record *c = &records[i];
        test_row(c->name);
        CHECK_EQ(cpu_pointer_bytes(c->cpu), c->pointer_bytes);
        CHECK_EQ(register_count(c->cpu), c->count);
        CHECK_STR(register_name(c->cpu, 0), c->first);
        CHECK_STR(register_name(c->cpu, c->count - 1), c->last);
        CHECK(register_name(c->cpu, c->count) == NULL);
        for (uint32_t k = 0; k < REG_COUNT; k++)
            CHECK_EQ(register_is_sp(c->cpu, k), k == c->sp_number);
    }
}
