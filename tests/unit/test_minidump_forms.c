/* What depends on the processor of a dump: the size of a pointer, the kind and the registers of a
 * CONTEXT. Numbers and layouts: winnt.h, Breakpad's minidump_format.h and minidump_cpu_*.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/minidump/core.h"
#include "test.h"

TEST(the_size_of_a_pointer_follows_the_processor)
{
    static const struct {
        const char *name;
        uint16_t architecture;
        uint32_t bytes;
    } rows[] = {
        {"x86", 0, 4},           {"MIPS", 1, 4},           {"PowerPC", 3, 4},
        {"ARM", 5, 4},           {"IA64", 6, 8},           {"AMD64", 9, 8},
        {"x86 on AMD64", 10, 4}, {"ARM64", 12, 8},         {"SPARC", 0x8001, 4},
        {"PPC64", 0x8002, 8},    {"old ARM64", 0x8003, 8}, {"MIPS64", 0x8004, 8},
        {"RISCV", 0x8005, 4},    {"RISCV64", 0x8006, 8},
    };
    static const struct {
        enum cpu cpu;
        uint32_t bytes;
    } contexts[] = {{CPU_X86, 4}, {CPU_ARM, 4}, {CPU_X64, 8}, {CPU_ARM64, 8}};
    static const uint8_t data[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    static const uint64_t numbers[] = {
        [1] = 0x11, [2] = 0x2211, [4] = 0x44332211, [8] = 0x8877665544332211};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct minidump dump = {
            .system = {.present = true, .architecture = rows[i].architecture}};
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        CHECK_EQ(minidump_pointer_bytes(&dump), rows[i].bytes);
        for (uint32_t size = 0; size <= 8; size = size == 0 ? 1 : 2 * size) {
            struct bytes r = bytes_over(data, sizeof data, &fault);
            const uint32_t want = size != 0 ? size : rows[i].bytes;
            CHECK_HEX(minidump_number(&dump, &r, size), numbers[want]);
            CHECK_EQ(r.left, sizeof data - want);
        }
    }
    for (size_t i = 0; i < COUNT_OF(contexts); i++) { /* no stream says what system it was */
        const struct minidump dump = {.dump_cpu = contexts[i].cpu};
        test_row(cpu_name(contexts[i].cpu));
        CHECK_EQ(minidump_pointer_bytes(&dump), contexts[i].bytes);
    }
}

/* CONTEXT_i386 is 0x10000, CONTEXT_AMD64 0x100000, CONTEXT_ARM 0x200000, CONTEXT_ARM64 0x400000;
 * Breakpad's ARM has 0x40000000. Lower bits say which registers there are. */
TEST(a_context_is_of_the_processor_that_its_flags_name)
{
    enum { ROOM = 1300 };
    static const struct {
        const char *name;
        enum cpu cpu;
        uint32_t at, flags, bytes;
    } rows[] = {
        {"x86", CPU_X86, 0, 0x1007f, 716},
        {"x86, no groups", CPU_X86, 0, 0x10000, 716},
        {"x86, flags of the system", CPU_X86, 0, 0x5801003f, 716},
        {"x64", CPU_X64, 0x30, 0x10005f, 1232},
        {"x64, flags of the system", CPU_X64, 0x30, 0xd810000b, 1232},
        {"arm64", CPU_ARM64, 0, 0x40001f, 912},
        {"arm", CPU_ARM, 0, 0x20000f, 416},
        {"arm, of Breakpad", CPU_ARM, 0, 0x40000006, 368},
        {"of no processor", CPU_UNKNOWN, 0, 0x80001, 1299},
        {"of two", CPU_UNKNOWN, 0, 0x30001, 1299},
        {"no flags", CPU_UNKNOWN, 0, 0, 1299},
        {"x64's at another place", CPU_UNKNOWN, 0x34, 0x10005f, 1299},
        {"arm's of Breakpad, with another bit", CPU_UNKNOWN, 0, 0x40800006, 1299},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t data[ROOM] = {0};
        const struct minidump dump = {.data = data, .data_bytes = ROOM};
        struct minidump_place place = {1, rows[i].bytes};
        test_row(rows[i].name);
        for (uint32_t k = 0; k < 4; k++)
            data[1 + rows[i].at + k] = (uint8_t)(rows[i].flags >> (8 * k));
        CHECK_EQ(minidump_context_cpu(&dump, place), rows[i].cpu);
        place.bytes--;
        CHECK_EQ(minidump_context_cpu(&dump, place), CPU_UNKNOWN);
    }
}

/* A WoW64 thread in 32-bit code, whose CONTEXT is x64's: only the lower halves of the first eight
 * registers are its. The CONTEXT has 0x1122334455667780 + n in register n, and the pc. */
TEST(registers_of_32_bit_code_are_narrow)
{
    enum { CS = 0x38, RAX = 0x78, RIP = 0xf8, BYTES = 1232 };
    static const struct {
        const char *name;
        enum cpu cpu; /* of the process */
        uint8_t cs;
        bool wow64;
    } rows[] = {
        {"32-bit code of an x86 process", CPU_X86, 0x23, true},
        {"64-bit code of one, without memory", CPU_X86, 0x33, false},
        {"an x64 process", CPU_X64, 0x23, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t data[BYTES] = {0};
        const struct minidump dump = {
            .data = data, .data_bytes = BYTES, .cpu = rows[i].cpu, .dump_cpu = CPU_X64};
        const struct minidump_thread thread = {.context = {0, BYTES}};
        struct fault fault = FAULT_INIT;
        struct registers regs;
        bool wow64 = false;
        test_row(rows[i].name);
        data[0x32] = 0x10; /* CONTEXT_AMD64 */
        data[CS] = rows[i].cs;
        for (uint32_t n = 0; n <= 16; n++)
            for (uint32_t k = 0; k < 8; k++)
                data[(n < 16 ? RAX + 8 * n : RIP) + k] =
                    (uint8_t)((UINT64_C(0x1122334455667780) + n) >> (8 * k));
        REQUIRE(minidump_thread_registers(&dump, &thread, &regs, &wow64, &fault) == ERR_NONE);
        CHECK_EQ(wow64, rows[i].wow64);
        CHECK_EQ(regs.cpu, rows[i].wow64 ? CPU_X86 : CPU_X64);
        for (uint32_t n = 0; n < REG_COUNT; n++) {
            const uint64_t whole = n < 16 ? UINT64_C(0x1122334455667780) + n : 0;
            CHECK_HEX(regs.r[n], rows[i].wow64 ? n < 8 ? (uint32_t)whole : 0 : whole);
        }
        CHECK_HEX(regs.pc, rows[i].wow64 ? 0x55667790 : 0x1122334455667790);
        CHECK_HEX(regs.sp, rows[i].wow64 ? 0x55667784 : 0x1122334455667784);
    }
}

/* CONTEXT_EX after an x64 CONTEXT: its third pair says where the XSAVE area is from the header on,
 * which is 512 bytes after the area's start; CET_U is there at the offset that the dump states. */
TEST(the_shadow_stack_pointer_is_in_the_xsave_area)
{
    enum { BYTES = 1232, EX = BYTES, AREA = 64, CET = 512 + 64 + 16, ALL = BYTES + AREA + 200 };
    static const struct {
        const char *name;
        uint32_t flags, cet, length;
        uint64_t want;
    } rows[] = {
        {"there", 0x10005f, CET, 96, 0x7fff12345678},
        {"cut by a byte", 0x10005f, CET, 95, 0},
        {"no extended state", 0x10001f, CET, 96, 0},
        {"no CET", 0x10005f, 0, 96, 0},
        {"in the part before the header", 0x10005f, 511, 96, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint8_t *data = calloc(1, ALL);
        const struct minidump dump = {.data = data,
                                      .data_bytes = ALL,
                                      .cpu = CPU_X64,
                                      .dump_cpu = CPU_X64,
                                      .misc = {.xstate_cet_offset = rows[i].cet}};
        const struct minidump_thread thread = {.context = {0, ALL}};
        struct fault fault = FAULT_INIT;
        struct registers regs;
        bool wow64 = true;
        REQUIRE(data != NULL);
        test_row(rows[i].name);
        for (uint32_t k = 0; k < 4; k++) {
            data[0x30 + k] = (uint8_t)(rows[i].flags >> (8 * k));
            data[EX + 16 + k] = (uint8_t)(AREA >> (8 * k));
            data[EX + 20 + k] = (uint8_t)(rows[i].length >> (8 * k));
        }
        for (uint32_t k = 0; k < 8; k++)
            data[BYTES + AREA + CET - 512 + 8 + k] = (uint8_t)(UINT64_C(0x7fff12345678) >> (8 * k));
        REQUIRE(minidump_thread_registers(&dump, &thread, &regs, &wow64, &fault) == ERR_NONE);
        CHECK(!wow64);
        CHECK_HEX(regs.shadow_sp, rows[i].want);
        free(data);
    }
}
