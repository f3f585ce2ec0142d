/* The minidump reader on hand-made dumps: content that no available dump has, and damage. */
#include <string.h>

#include "base/limits.h"
#include "format/minidump/minidump.h"
#include "minidump_maker.h"
#include "test.h"

TEST(memory64_ranges_follow_each_other)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    uint8_t two[2];
    arena_init(&arena, 0);
    maker_start(&m);
    uint32_t base = m.at;
    maker_put(&m, 0x44332211, 4);
    maker_put(&m, 0x88776655, 4);
    maker_stream_begin(&m, STREAM_MEMORY64_LIST);
    maker_put(&m, 2, 8);
    maker_put(&m, base, 8);
    maker_put(&m, 0x7ff000000000, 8);
    maker_put(&m, 4, 8);
    maker_put(&m, 0x7ff000000004, 8);
    maker_put(&m, 4, 8);
    maker_stream_end(&m);
    maker_finish(&m);
    REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
    CHECK_EQ(dump.memory_count, 2);
    CHECK(minidump_memory_read(&dump, 0x7ff000000003, two, 2)); /* across both ranges */
    CHECK_HEX(load_u16(two), 0x5544);
    CHECK(!minidump_memory_read(&dump, 0x7ff000000007, two, 2));
    arena_free(&arena);
}

/* Four bytes, none, and eight, at the end of a file that has HAVE of them. */
TEST(memory64_ends_with_the_file)
{
    static const struct {
        uint32_t have, count, last;
        enum status status;
    } rows[] = {{12, 2, 8, ERR_NONE},
                {11, 2, 7, ERR_TRUNCATED},
                {4, 1, 4, ERR_TRUNCATED},
                {3, 1, 3, ERR_TRUNCATED},
                {0, 0, 0, ERR_TRUNCATED}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        arena_init(&arena, 0);
        maker_start(&m);
        maker_stream_begin(&m, STREAM_MEMORY64_LIST);
        MAKER_PUT(&m, 8, 3, m.at + 64, 0x1000, 4, 0x2000, 0, 0x3000, 8);
        maker_stream_end(&m);
        maker_finish(&m);
        const uint32_t end = m.at;
        MAKER_PUT(&m, 4, 1, 2, 3);
        REQUIRE(minidump_read(m.data, end + rows[i].have, &arena, &dump, &fault) == ERR_NONE);
        CHECK_EQ(dump.streams[0].fault.code, rows[i].status);
        CHECK_EQ(dump.memory_listed, 3);
        if (CHECK_EQ(dump.memory_count, rows[i].count) && rows[i].count > 0) {
            CHECK_EQ(dump.memory[rows[i].count - 1].place.bytes, rows[i].last);
            CHECK_EQ(dump.memory[rows[i].count - 1].place.foff, end + (rows[i].count - 1) * 4);
        }
        arena_free(&arena);
    }
}

/* minidumpapiset.h: the low word of the version is 0xa793; what the high one is, each writer knows.
 */
TEST(a_dump_has_a_version)
{
    static const struct {
        uint32_t version;
        enum status status;
    } rows[] = {{0xa793, ERR_NONE},
                {0x1234a793, ERR_NONE},
                {0xa794, ERR_MALFORMED},
                {0x93a7, ERR_MALFORMED},
                {0, ERR_MALFORMED}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        arena_init(&arena, 0);
        maker_start(&m);
        maker_system_info(&m, 9);
        maker_finish(&m);
        const uint32_t end = m.at;
        m.at = 4;
        maker_put(&m, rows[i].version, 4);
        CHECK_EQ(minidump_read(m.data, end, &arena, &dump, &fault), rows[i].status);
        arena_free(&arena);
    }
}

/* Breakpad: a list whose rows have 64-bit numbers may begin on a multiple of eight bytes. What is
 * said of a thread that is not listed is passed. */
TEST(a_list_may_begin_four_bytes_later)
{
    for (uint32_t padding = 0; padding <= 8; padding += 4) {
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        arena_init(&arena, 0);
        maker_start(&m);
        maker_system_info(&m, 9);
        maker_stream_begin(&m, STREAM_THREAD_LIST);
        maker_put(&m, 1, 4);
        maker_put(&m, 0xdddddddddddddddd, padding);
        MAKER_PUT(&m, 4, 42, 0, 0, 0, 0, 0, 0x8000, 0, 0, 0, 0, 0);
        maker_stream_end(&m);
        maker_stream_begin(&m, STREAM_THREAD_INFO_LIST);
        MAKER_PUT(&m, 4, 12, 64, 2, 43, 1, 2, 3);
        m.at += 48;
        MAKER_PUT(&m, 4, 42, 4, 5, 6);
        m.at += 48;
        maker_stream_end(&m);
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        REQUIRE(dump.thread_count == 1);
        CHECK_EQ(dump.threads[0].id, padding <= 4 ? 42 : 0xdddddddd);
        CHECK_EQ(dump.threads[0].has_info, padding <= 4);
        CHECK_EQ(dump.threads[0].exit_status, padding <= 4 ? 6 : 0);
        arena_free(&arena);
    }
}

TEST(overlapping_ranges_are_cut_not_doubled)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    uint8_t byte;
    arena_init(&arena, 0);
    maker_start(&m);
    uint32_t a = m.at;
    maker_put(&m, 0x0101010101010101, 8);
    maker_put(&m, 0x0202020202020202, 8);
    maker_stream_begin(&m, STREAM_MEMORY_LIST);
    maker_put(&m, 3, 4);
    const uint64_t rows[3][3] = {{0x1004, 8, a + 8}, {0x1000, 8, a}, {0x1002, 2, a + 8}};
    for (int i = 0; i < 3; i++) {
        maker_put(&m, rows[i][0], 8);
        maker_put(&m, rows[i][1], 4);
        maker_put(&m, rows[i][2], 4);
    }
    maker_stream_end(&m);
    maker_finish(&m);
    REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
    CHECK_EQ(dump.memory_listed, 3);
    CHECK_EQ(dump.memory_count, 2);
    static const uint8_t want[12] = {1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2};
    for (uint64_t i = 0; i < 12; i++) {
        CHECK(minidump_memory_read(&dump, 0x1000 + i, &byte, 1));
        CHECK_EQ(byte, want[i]);
    }
    arena_free(&arena);
}

/* Each range is the address in its own row of the list. Run after run has every so many of them. */
TEST(runs_of_ranges_are_merged)
{
    static const struct {
        const char *name;
        uint32_t runs, each;
    } rows[] = {
        {"in order", 1, 40}, {"two runs", 2, 20},       {"as many as are merged at once", 16, 3},
        {"one more", 17, 3}, {"a third round", 257, 1}, {"unequal runs", 40, 0}};
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        const uint32_t runs = rows[row].runs;
        uint32_t count = 0;
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        test_row(rows[row].name);
        arena_init(&arena, 0);
        maker_start(&m);
        maker_stream_begin(&m, STREAM_MEMORY_LIST);
        const uint32_t head = m.at;
        maker_put(&m, 0, 4);
        for (uint32_t run = runs; run-- > 0;)
            for (uint32_t i = 0; i < (rows[row].each > 0 ? rows[row].each : run % 3 + 1); i++) {
                maker_put(&m, 0x10000 + ((uint64_t)i * runs + run) * 8, 8);
                maker_put(&m, 8, 4);
                maker_put(&m, m.at - 12, 4);
                count++;
            }
        memcpy(m.data + head, &count, sizeof count);
        maker_stream_end(&m);
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        CHECK_EQ(dump.memory_count, count);
        for (uint32_t i = 0; i < dump.memory_count; i++) {
            const struct minidump_memory *range = &dump.memory[i];
            CHECK(i == 0 || range->start_va > range[-1].start_va);
            CHECK_HEX(load_u64(m.data + range->place.foff), range->start_va);
        }
        arena_free(&arena);
    }
}

/* Breakpad's and rust's readers take the stack of a thread from its own place in the file, too. */
TEST(a_stack_may_be_in_the_list_of_threads_alone)
{
    static const struct {
        const char *name;
        uint32_t bytes[2];                 /* of the ranges in the list of memory: 0: none */
        uint32_t stack_bytes, count, both; /* COUNT ranges; BOTH bytes can be read */
        uint64_t start_va[2];
    } rows[] = {
        {"no list of memory", {0, 0}, 16, 1, 16, {0, 0}},
        {"in both", {16, 0}, 16, 1, 16, {0x1000, 0}},
        {"in both, in two parts", {8, 8}, 16, 2, 16, {0x1000, 0x1008}},
        {"its end", {8, 0}, 16, 1, 16, {0x1008, 0}},
        {"its start", {8, 0}, 16, 1, 16, {0x1000, 0}},
        {"elsewhere", {8, 0}, 16, 2, 16, {0x5000, 0}},
        {"no stack", {8, 0}, 0, 1, 0, {0x5000, 0}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        maker_start(&m);
        const uint32_t stack = m.at;
        MAKER_PUT(&m, 8, 0x0706050403020100, 0x0f0e0d0c0b0a0908);
        maker_stream_begin(&m, STREAM_THREAD_LIST);
        MAKER_PUT(&m, 4, 1, 42, 0, 0, 0, 0, 0, 0x1000, 0, rows[i].stack_bytes, stack, 0, 0);
        maker_stream_end(&m);
        if (rows[i].bytes[0] > 0) {
            const uint32_t ranges = rows[i].bytes[1] > 0 ? 2 : 1;
            maker_stream_begin(&m, STREAM_MEMORY_LIST);
            maker_put(&m, ranges, 4);
            for (uint32_t k = 0; k < ranges; k++) {
                maker_put(&m, rows[i].start_va[k], 8);
                MAKER_PUT(&m, 4, rows[i].bytes[k], stack + (uint32_t)(rows[i].start_va[k] & 0xfff));
            }
            maker_stream_end(&m);
        }
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        CHECK_EQ(dump.memory_count, rows[i].count);
        for (uint32_t k = 0; k < 16; k++) {
            uint8_t byte = 0xee;
            CHECK_EQ(minidump_memory_read(&dump, 0x1000 + k, &byte, 1), k < rows[i].both);
            CHECK_EQ(byte, k < rows[i].both ? k : 0xee);
        }
        arena_free(&arena);
    }
}

TEST(a_wow64_thread_is_seen_through_its_teb)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct registers regs;
    struct fault fault = FAULT_INIT;
    bool wow64;
    for (int in_32_bit_code = 0; in_32_bit_code < 2; in_32_bit_code++) {
        test_row(in_32_bit_code ? "stopped in 32-bit code" : "stopped in wow64cpu");
        arena_init(&arena, 0);
        maker_start(&m);
        uint32_t name = maker_text(&m, "C:\\Windows\\System32\\wow64cpu.dll");
        uint32_t context = m.at; /* x64: cs, rsp, rip */
        m.at += 1232;
        m.data[context + 0x38] = in_32_bit_code ? 0x23 : 0x33;
        memcpy(m.data + context + 0x98, "\x00\x10\x20\x00", 4);
        memcpy(m.data + context + 0xf8, "\x44\x33\x22\x11", 4);
        uint32_t slot = m.at; /* TEB64 + 0x1488 */
        maker_put(&m, 0x9000, 8);
        uint32_t inner = m.at; /* WOW64_CPURESERVED and the x86 context */
        m.at += 4 + 716;
        memcpy(m.data + inner + 4 + 0xb8, "\x78\x56\x34\x12", 4);
        memcpy(m.data + inner + 4 + 0xc4, "\xf0\xff\x12\x00", 4);
        maker_system_info(&m, 9);
        maker_stream_begin(&m, STREAM_MODULE_LIST);
        maker_put(&m, 1, 4);
        maker_module_row(&m, 0x77000000, name);
        maker_stream_end(&m);
        maker_stream_begin(&m, STREAM_THREAD_LIST);
        maker_put(&m, 1, 4);
        maker_put(&m, 42, 4);
        m.at += 12;
        maker_put(&m, 0x7000, 8);
        m.at += 16;
        maker_put(&m, 1232, 4);
        maker_put(&m, context, 4);
        maker_stream_end(&m);
        maker_stream_begin(&m, STREAM_MEMORY_LIST);
        maker_put(&m, 2, 4);
        maker_put(&m, 0x7000 + 0x1488, 8);
        maker_put(&m, 8, 4);
        maker_put(&m, slot, 4);
        maker_put(&m, 0x9000, 8);
        maker_put(&m, 720, 4);
        maker_put(&m, inner, 4);
        maker_stream_end(&m);
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        CHECK_EQ(dump.cpu, CPU_X86);
        CHECK_EQ(dump.dump_cpu, CPU_X64);
        REQUIRE(dump.thread_count == 1);
        CHECK_EQ(minidump_thread_registers(&dump, &dump.threads[0], &regs, &wow64, &fault),
                 ERR_NONE);
        CHECK(wow64);
        CHECK_EQ(regs.cpu, CPU_X86);
        CHECK_HEX(regs.pc, in_32_bit_code ? 0x11223344 : 0x12345678);
        CHECK_HEX(regs.sp, in_32_bit_code ? 0x201000 : 0x12fff0);
        arena_free(&arena);
    }
}

TEST(nb10_and_surrogates)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    arena_init(&arena, 0);
    maker_start(&m);
    uint32_t name = m.at; /* "a", U+1F600, half a pair, "b" */
    maker_put(&m, 10, 4);
    maker_put(&m, 'a', 2);
    maker_put(&m, 0xd83d, 2);
    maker_put(&m, 0xde00, 2);
    maker_put(&m, 0xd83d, 2);
    maker_put(&m, 'b', 2);
    uint32_t codeview = m.at;
    maker_put(&m, 0x3031424e, 4);
    maker_put(&m, 0, 4);
    maker_put(&m, 0x3a5c0ffe, 4);
    maker_put(&m, 0x2b, 4);
    memcpy(m.data + m.at, "C:\\x\\old.pdb", 13);
    m.at += 13;
    maker_stream_begin(&m, STREAM_MODULE_LIST);
    maker_put(&m, 1, 4);
    maker_module_row(&m, 0x400000, name);
    memcpy(m.data + m.at - 32, &(uint32_t){29}, 4);
    memcpy(m.data + m.at - 28, &codeview, 4);
    maker_stream_end(&m);
    maker_finish(&m);
    REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
    REQUIRE(dump.module_count == 1);
    CHECK_STR(dump.modules[0].module.name, "a\xf0\x9f\x98\x80\xef\xbf\xbd"
                                           "b");
    CHECK_STR(dump.modules[0].codeview, "NB10");
    CHECK_STR(dump.modules[0].module.debug_id, "3A5C0FFE2b");
    CHECK_STR(dump.modules[0].module.pdb_name, "old.pdb");
    arena_free(&arena);
}

TEST(a_cut_identity_of_a_module_is_damage)
{
    static const struct {
        const char *name, *record;
        uint32_t bytes;
        bool damaged, known;
    } rows[] = {
        {"RSDS", "RSDS0123456789abcdef\1\0\0\0a.pdb", 30, false, true},
        {"a GUID of zeros, by Crashpad", "RSDS\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a.dll", 30,
         false, false},
        {"zeros up to the last byte", "RSDS\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0a.dll", 30,
         false, true},
        {"cut in the name", "RSDS0123456789abcdef\1\0\0\0a.p", 27, false, true},
        {"cut in the age", "RSDS0123456789abcdef\1\0", 22, true, false},
        {"cut in the GUID", "RSDS01234567", 12, true, false},
        {"cut in the magic", "RS", 2, true, false},
        {"another kind", "ABCD", 4, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        static struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        arena_init(&arena, 0);
        test_row(rows[i].name);
        maker_start(&m);
        const uint32_t name = maker_text(&m, "a.dll"), codeview = m.at;
        memcpy(m.data + m.at, rows[i].record, rows[i].bytes);
        m.at += rows[i].bytes;
        maker_stream_begin(&m, STREAM_MODULE_LIST);
        maker_put(&m, 1, 4);
        maker_module_row(&m, 0x400000, name);
        memcpy(m.data + m.at - 32, &rows[i].bytes, 4);
        memcpy(m.data + m.at - 28, &codeview, 4);
        maker_stream_end(&m);
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        REQUIRE(dump.module_count == 1);
        CHECK_EQ(dump.partial, rows[i].damaged);
        CHECK_EQ(dump.modules[0].module.debug_id[0] != '\0', rows[i].known);
        arena_free(&arena);
    }
}

TEST(a_damaged_stream_costs_that_stream_alone)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    arena_init(&arena, 0);
    maker_start(&m);
    maker_system_info(&m, 9);
    maker_stream_begin(&m, STREAM_THREAD_LIST);
    maker_put(&m, 1000, 4); /* the number of threads; none follows */
    maker_stream_end(&m);
    maker_stream_begin(&m, STREAM_MISC_INFO);
    maker_put(&m, 24, 4);
    maker_put(&m, 1, 4);
    maker_put(&m, 4711, 4);
    m.at += 12;
    maker_stream_end(&m);
    m.rows[m.streams][0] = STREAM_EXCEPTION; /* past the end of the file */
    m.rows[m.streams][1] = 168;
    m.rows[m.streams][2] = 0x7fffffff;
    m.streams++;
    maker_finish(&m);
    CHECK_EQ(minidump_read(m.data, m.at, &arena, &dump, &fault), ERR_NONE);
    CHECK(dump.partial);
    CHECK_EQ(dump.thread_count, 0);
    CHECK_EQ(dump.streams[1].fault.code, ERR_TRUNCATED);
    CHECK_EQ(dump.streams[3].fault.code, ERR_TRUNCATED);
    CHECK_EQ(dump.misc.process_id, 4711);
    CHECK(!dump.exception.present);
    arena_free(&arena);
}

/* MINIDUMP_SYSTEM_INFO of minidumpapiset.h, with the processor's part of BYTES. */
static void put_system(struct maker *m, uint16_t architecture, uint32_t platform, uint32_t pack,
                       uint32_t bytes)
{
    maker_stream_begin(m, STREAM_SYSTEM_INFO);
    MAKER_PUT(m, 2, architecture, 6, 0x5504);
    MAKER_PUT(m, 1, 8, 3);
    MAKER_PUT(m, 4, 10, 1, 22631, platform, pack);
    MAKER_PUT(m, 2, 0x110, 0xeeee);
    for (uint32_t i = 0; i < bytes; i++)
        maker_put(m, (uint8_t)("GenuineIntel"[i % 12] + (i >= 12 ? 0x80 : 0)), 1);
    maker_stream_end(m);
}

/* Platforms: VER_PLATFORM_* of winnt.h, and those of Breakpad's minidump_format.h. */
TEST(a_platform_has_a_name)
{
    static const struct {
        uint32_t platform;
        bool is_windows;
        const char *name;
    } rows[] = {
        {1, true, "Windows 10.1.22631 SP"},        {2, true, "Windows NT 10.1.22631 SP"},
        {3, true, "Windows CE 10.1.22631 SP"},     {4, false, "unknown 10.1.22631 SP"},
        {0x7fff, false, "unknown 10.1.22631 SP"},  {0x8000, false, "Unix 10.1.22631 SP"},
        {0x8101, false, "Mac OS X 10.1.22631 SP"}, {0x8102, false, "iOS 10.1.22631 SP"},
        {0x8201, false, "Linux 10.1.22631 SP"},    {0x8202, false, "Solaris 10.1.22631 SP"},
        {0x8203, false, "Android 10.1.22631 SP"},  {0x8205, false, "NaCl 10.1.22631 SP"},
        {0x8206, false, "Fuchsia 10.1.22631 SP"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        maker_start(&m);
        const uint32_t pack = maker_text(&m, "SP");
        put_system(&m, 9, rows[i].platform, pack, 24);
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        CHECK_STR(minidump_os_name(&dump, &arena), rows[i].name);
        CHECK_EQ(minidump_is_windows(&dump), rows[i].is_windows);
        arena_free(&arena);
    }
}

/* Architectures: PROCESSOR_ARCHITECTURE_* of winnt.h, and Breakpad's number of ARM64. Where the
 * part of the processor is cut off, the rest of the system is known. */
TEST(a_processor_has_features_of_its_own)
{
    static const struct {
        const char *name;
        uint16_t architecture;
        uint32_t bytes;
        enum cpu cpu;
        const char *vendor;
        uint32_t x86;    /* the last of the three */
        uint64_t others; /* the second of the two */
    } rows[] = {
        {"x86", 0, 24, CPU_X86, "GenuineIntel", 0xece5f4ee, 0},
        {"x86 on x64", 10, 24, CPU_X86, "GenuineIntel", 0xece5f4ee, 0},
        {"x86, cut off", 0, 23, CPU_X86, "", 0, 0},
        {"x64", 9, 24, CPU_X64, "", 0, 0xf5eee5c76c65746e},
        {"x64, no byte more", 9, 16, CPU_X64, "", 0, 0xf5eee5c76c65746e},
        {"x64, cut off", 9, 15, CPU_X64, "", 0, 0},
        {"ARM", 5, 24, CPU_ARM, "", 0, 0xf5eee5c76c65746e},
        {"ARM64", 12, 24, CPU_ARM64, "", 0, 0xf5eee5c76c65746e},
        {"ARM64 of Breakpad", 0x8003, 24, CPU_ARM64, "", 0, 0xf5eee5c76c65746e},
        {"MIPS", 1, 24, CPU_UNKNOWN, "", 0, 0xf5eee5c76c65746e},
        {"Itanium", 6, 24, CPU_UNKNOWN, "", 0, 0xf5eee5c76c65746e},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct maker m;
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        maker_start(&m);
        put_system(&m, rows[i].architecture, 2, 0, rows[i].bytes);
        maker_finish(&m);
        REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
        const struct minidump_system *system = &dump.system;
        CHECK_EQ(dump.dump_cpu, rows[i].cpu);
        CHECK_EQ(system->level, 6);
        CHECK_HEX(system->revision, 0x5504);
        CHECK_EQ(system->processors, 8);
        CHECK_EQ(system->product_type, 3);
        CHECK_HEX(system->suite, 0x110);
        CHECK_STR(minidump_os_name(&dump, &arena), "Windows NT 10.1.22631");
        CHECK_STR(system->vendor, rows[i].vendor);
        CHECK_HEX(system->cpu_features[2], rows[i].x86);
        CHECK_HEX(system->processor_features[1], rows[i].others);
        arena_free(&arena);
    }
}

TEST(sixty_five_thousand_unloaded_modules_are_cut_to_a_limit)
{
    enum { LISTED = 65536, HEAD = 32 + 12, KEPT = 4096 };
    static uint8_t data[HEAD + 12 + LISTED * 24];
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    static struct maker m;
    memset(&m, 0, sizeof m);
    MAKER_PUT(&m, 4, 0x504d444d, 0xa793, 1, 32, 0, 0, 0, 0, STREAM_UNLOADED_MODULE_LIST,
              12 + LISTED * 24, HEAD, 12, 24, LISTED);
    memcpy(data, m.data, m.at);
    for (uint32_t i = 0; i < LISTED; i++)
        data[m.at + 24 * (size_t)i + 2] = 1; /* base 0x10000 */
    arena_init(&arena, 0);
    REQUIRE(minidump_read(data, sizeof data, &arena, &dump, &fault) == ERR_NONE);
    CHECK_EQ(dump.unloaded_listed, LISTED);
    REQUIRE(dump.unloaded_count == KEPT);
    CHECK_HEX(dump.unloaded[KEPT - 1].module.base_va, 0x10000);
    CHECK(!dump.partial);
    arena_free(&arena);
}

/* A process may crash because it has too many threads; its dump is read. */
TEST(a_list_may_be_as_long_as_the_limit)
{
    enum { HEAD = 32 + 12, MOST = LIMIT_DUMP_ROWS + 1 };
    static const struct {
        const char *name;
        uint32_t type, row_bytes, count, kept;
        enum status status;
    } rows[] = {
        {"threads", STREAM_THREAD_LIST, 48, MOST - 1, MOST - 1, ERR_NONE},
        {"a thread more", STREAM_THREAD_LIST, 48, MOST, 0, ERR_LIMIT},
        {"modules", STREAM_MODULE_LIST, 108, MOST - 1, MOST - 1, ERR_NONE},
        {"a module more", STREAM_MODULE_LIST, 108, MOST, 0, ERR_LIMIT},
    };
    static uint8_t data[HEAD + 4 + 108 * MOST];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint32_t bytes = 4 + rows[i].row_bytes * rows[i].count;
        const uint32_t head[] = {0x504d444d,   0xa793, 1,    32,           0, 0, 0, 0,
                                 rows[i].type, bytes,  HEAD, rows[i].count};
        struct arena arena;
        struct minidump dump;
        struct fault fault = FAULT_INIT;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        memset(data, 0, sizeof data);
        memcpy(data, head, sizeof head);
        REQUIRE(minidump_read(data, HEAD + bytes, &arena, &dump, &fault) == ERR_NONE);
        CHECK_EQ(dump.thread_count + dump.module_count, rows[i].kept);
        CHECK_EQ(dump.streams[0].fault.code, rows[i].status);
        arena_free(&arena);
    }
}
