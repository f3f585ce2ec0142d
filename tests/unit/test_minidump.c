/* The minidump reader on dumps of real writers, and on what hostile ones could write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/minidump.h"
#include "test.h"

struct opened {
    struct arena arena;
    struct minidump dump;
    uint8_t *data;
    size_t bytes;
};

static void open_fixture(const char *name, struct opened *out)
{
    struct fault fault = FAULT_INIT;
    arena_init(&out->arena, 0);
    out->data = test_read(test_fixture(name), &out->bytes);
    CHECK_EQ(minidump_read(out->data, out->bytes, &out->arena, &out->dump, &fault), ERR_NONE);
}

static const struct {
    const char *name;
    enum cpu cpu;
    uint32_t threads, modules, thread_id, code;
    uint64_t address_va;
    uint32_t info_count;
    uint64_t info[2];
    const char *reason;
    uint64_t crash_va;
    uint32_t os_build;
} dumps[] = {
    {"g01-crash-x86/windows.dmp",
     CPU_X86,
     4,
     17,
     1636,
     0xc0000005,
     0x2a2a3d,
     2,
     {1, 0x45},
     "EXCEPTION_ACCESS_VIOLATION_WRITE",
     0x45,
     14393},
    {"g05-minidump2-x86/minidump2.dmp",
     CPU_X86,
     2,
     13,
     3060,
     0xc0000005,
     0x40429e,
     2,
     {1, 0x45},
     "EXCEPTION_ACCESS_VIOLATION_WRITE",
     0x45,
     2600},
    {"g05-minidump2-x86/minidump_32bit_crash_addr.dmp",
     CPU_X86,
     2,
     13,
     3060,
     0xc0000005,
     0x40429e,
     2,
     {1, 0xffffffff00000045},
     "EXCEPTION_ACCESS_VIOLATION_WRITE",
     0x45,
     2600},
    {"g13-sigsegv-x64/sigsegv.dmp",
     CPU_X64,
     1,
     4,
     10860,
     0xc0000005,
     0x7ff7a13110d9,
     2,
     {1, 0},
     "EXCEPTION_ACCESS_VIOLATION_WRITE",
     0,
     16299},
    {"g15-dumps/sentry-native-minidump.dmp",
     CPU_X64,
     5,
     34,
     12996,
     0xc0000005,
     0x7ffe2c7f0476,
     2,
     {1, 0x20},
     "EXCEPTION_ACCESS_VIOLATION_WRITE",
     0x20,
     22621},
    {"g15-dumps/UE4Minidump.dmp",
     CPU_X64,
     59,
     128,
     8148,
     1,
     0x7ffb27e2a388,
     0,
     {0, 0x1000},
     "0x00000001",
     0x7ffb27e2a388,
     17134},
    {"g15-dumps/tiny-exe-with-cet-xsave-x86.dmp",
     CPU_X86,
     3,
     19,
     0,
     0,
     0,
     0,
     {0, 0},
     "no exception",
     0,
     22631},
    {"g15-dumps/tiny-exe-fastfail.dmp",
     CPU_X64,
     4,
     21,
     24440,
     0xc0000409,
     0x7ff75355af42,
     1,
     {7, 0},
     "FAST_FAIL_FATAL_APP_EXIT",
     0x7ff75355af42,
     19042},
    {"g15-dumps/stack_exhaustion.dmp",
     CPU_X86,
     2,
     26,
     5744,
     0xc00000fd,
     0xdea637,
     2,
     {0, 0x102000},
     "EXCEPTION_STACK_OVERFLOW",
     0xdea637,
     7600},
    {"g15-dumps/null_write_av.dmp",
     CPU_X86,
     2,
     26,
     5408,
     0xc0000005,
     0x103a6cd,
     2,
     {1, 0},
     "EXCEPTION_ACCESS_VIOLATION_WRITE",
     0,
     7600},
    {"g15-dumps/exec_av_on_stack.dmp",
     CPU_X86,
     2,
     26,
     6920,
     0xc0000005,
     0x3df944,
     2,
     {8, 0x3df944},
     "EXCEPTION_ACCESS_VIOLATION_EXEC",
     0x3df944,
     7600},
    {"g15-dumps/ascii_read_av.dmp",
     CPU_X86,
     2,
     26,
     4204,
     0xc0000005,
     0xd6a6cd,
     2,
     {0, 0x41414141},
     "EXCEPTION_ACCESS_VIOLATION_READ",
     0x41414141,
     7600},
    {"g15-dumps/thread_name_list.dmp",
     CPU_X86,
     6,
     17,
     10976,
     0xc0000005,
     0x4015fd,
     2,
     {0, 0xf1004},
     "EXCEPTION_ACCESS_VIOLATION_READ",
     0xf1004,
     17763},
    {"g15-dumps/notepad-larger-32bit.dmp",
     CPU_X86,
     1,
     22,
     4604,
     0x80000003,
     0x77b012fb,
     1,
     {0, 0},
     "EXCEPTION_BREAKPOINT",
     0x77b012fb,
     7601},
    {/* WoW64: the dump says x64, the process is x86 */
     "g15-dumps/notepad-small-64bit.dmp",
     CPU_X86,
     1,
     5,
     10444,
     0x80000003,
     0x77928700,
     1,
     {0, 0},
     "EXCEPTION_BREAKPOINT",
     0x77928700,
     7601},
};

TEST(real_dumps_are_read_whole)
{
    for (size_t i = 0; i < COUNT_OF(dumps); i++) {
        struct opened o;
        test_row(dumps[i].name);
        open_fixture(dumps[i].name, &o);
        CHECK(!o.dump.partial);
        CHECK_EQ(o.dump.cpu, dumps[i].cpu);
        CHECK_EQ(o.dump.thread_count, dumps[i].threads);
        CHECK_EQ(o.dump.module_count, dumps[i].modules);
        CHECK_EQ(o.dump.exception.present, dumps[i].code != 0);
        CHECK_EQ(o.dump.exception.thread_id, dumps[i].thread_id);
        CHECK_HEX(o.dump.exception.code, dumps[i].code);
        CHECK_HEX(o.dump.exception.address_va, dumps[i].address_va);
        CHECK_EQ(o.dump.exception.info_count, dumps[i].info_count);
        CHECK_HEX(o.dump.exception.info[0], dumps[i].info[0]);
        CHECK_HEX(o.dump.exception.info[1], dumps[i].info[1]);
        CHECK_STR(minidump_reason(&o.dump, &o.arena), dumps[i].reason);
        CHECK_HEX(minidump_crash_va(&o.dump), dumps[i].crash_va);
        CHECK_EQ(o.dump.system.build, dumps[i].os_build);
        arena_free(&o.arena);
    }
}

TEST(registers_of_every_thread_point_into_modules_and_stacks)
{
    for (size_t i = 0; i < COUNT_OF(dumps); i++) {
        struct opened o;
        test_row(dumps[i].name);
        open_fixture(dumps[i].name, &o);
        for (uint32_t t = 0; t < o.dump.thread_count && o.dump.cpu == o.dump.dump_cpu; t++) {
            struct registers regs;
            struct fault fault = FAULT_INIT;
            uint64_t bytes;
            bool wow64;
            const struct minidump_thread *thread = &o.dump.threads[t];
            CHECK_EQ(minidump_thread_registers(&o.dump, thread, &regs, &wow64, &fault), ERR_NONE);
            CHECK(minidump_memory_at(&o.dump, regs.sp, &bytes) != NULL);
            CHECK(regs.sp >= thread->stack_start_va &&
                  regs.sp < thread->stack_start_va + thread->stack.bytes);
        }
        arena_free(&o.arena);
    }
}

TEST(modules_have_the_identities_that_breakpad_printed)
{
    static const struct {
        const char *name, *debug_id, *pdb, *code_id;
    } rows[] = {
        {"test_app.exe", "5A9832E5287241C1838ED98914E9B7FF1", "test_app.pdb", "45D35F6C2d000"},
        {"dbghelp.dll", "39559573E21B46F28E286923BE9E6A761", "dbghelp.pdb", "4110969Aa1000"},
        {"ntdll.dll", "36515FB5D04345E491F672FA2E2878C02", "ntdll.pdb", "411096B4b0000"},
    };
    struct opened o;
    open_fixture("g05-minidump2-x86/minidump2.dmp", &o);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool found = false;
        test_row(rows[i].name);
        for (uint32_t k = 0; k < o.dump.module_count; k++) {
            const struct minidump_module *m = &o.dump.modules[k];
            if (strcmp(m->module.name, rows[i].name) != 0)
                continue;
            found = true;
            CHECK_STR(m->module.debug_id, rows[i].debug_id);
            CHECK_STR(m->module.pdb_name, rows[i].pdb);
            CHECK_STR(m->module.code_id, rows[i].code_id);
            CHECK_STR(m->codeview, "RSDS");
        }
        CHECK(found);
    }
    CHECK_HEX(o.dump.modules[1].file_version, 0x0005000100000000 | 2600u << 16 | 2180);
    arena_free(&o.arena);
}

TEST(thread_names_and_extra_streams_are_read)
{
    struct opened o;
    bool named = false;
    open_fixture("g15-dumps/thread_name_list.dmp", &o);
    for (uint32_t i = 0; i < o.dump.thread_count; i++)
        named |= o.dump.threads[i].name != NULL;
    CHECK(named);
    CHECK(o.dump.system_memory.present);
    CHECK_EQ(o.dump.system_memory.page_bytes, 4096);
    CHECK(o.dump.system_memory.available_pages < o.dump.system_memory.physical_pages);
    CHECK(o.dump.vm_counters.present);
    CHECK(o.dump.vm_counters.working_set_bytes <= o.dump.vm_counters.peak_working_set_bytes);
    arena_free(&o.arena);
    open_fixture("g15-dumps/notepad-larger-32bit.dmp", &o);
    CHECK(o.dump.token_count > 0);
    arena_free(&o.arena);
    open_fixture("g15-dumps/UE4Minidump.dmp", &o);
    CHECK(o.dump.table_count > 0);
    arena_free(&o.arena);
    open_fixture("g15-dumps/stack_exhaustion.dmp", &o);
    uint64_t total = 0;
    for (uint32_t i = 0; i < o.dump.memory_count; i++)
        total += o.dump.memory[i].place.bytes;
    CHECK_EQ(total, 1041172);
    CHECK(o.dump.breakpad.present);
    arena_free(&o.arena);
}

TEST(json_of_real_dumps_parses_and_is_the_same_twice)
{
    for (size_t i = 0; i < COUNT_OF(dumps); i++) {
        struct opened o;
        char *texts[2];
        size_t bytes[2];
        test_row(dumps[i].name);
        open_fixture(dumps[i].name, &o);
        for (int k = 0; k < 2; k++) {
            struct json j;
            json_to_text(&j, true);
            minidump_write_json(&j, &o.dump);
            texts[k] = json_take(&j, &bytes[k]);
            REQUIRE(texts[k] != NULL);
        }
        CHECK_EQ(bytes[0], bytes[1]);
        CHECK_MEM(texts[0], texts[1], bytes[0]);
        cJSON *tree = NULL;
        struct fault fault = FAULT_INIT;
        CHECK_EQ(json_parse(texts[0], bytes[0], &tree, &fault), ERR_NONE);
        cJSON_Delete(tree);
        free(texts[0]);
        free(texts[1]);
        arena_free(&o.arena);
    }
}

/* A dump made by hand: streams are added, then it is closed with its directory. */
struct maker {
    uint8_t data[16384];
    uint32_t at, streams;
    uint32_t rows[16][3];
};

static void put(struct maker *m, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        m->data[m->at++] = (uint8_t)(value >> (8 * i));
}

static void start(struct maker *m)
{
    memset(m, 0, sizeof(*m));
    m->at = 32 + 16 * 12;
}

static void stream_begin(struct maker *m, uint32_t type)
{
    m->rows[m->streams][0] = type;
    m->rows[m->streams][2] = m->at;
}

static void stream_end(struct maker *m)
{
    m->rows[m->streams][1] = m->at - m->rows[m->streams][2];
    m->streams++;
}

static void finish(struct maker *m)
{
    uint32_t end = m->at;
    m->at = 0;
    put(m, 0x504d444d, 4);
    put(m, 0xa793, 4);
    put(m, m->streams, 4);
    put(m, 32, 4);
    m->at = 32;
    for (uint32_t i = 0; i < m->streams; i++)
        for (int k = 0; k < 3; k++)
            put(m, m->rows[i][k], 4);
    m->at = end;
}

static void system_info(struct maker *m, uint16_t architecture)
{
    stream_begin(m, STREAM_SYSTEM_INFO);
    put(m, architecture, 2);
    m->at += 54;
    stream_end(m);
}

static uint32_t text(struct maker *m, const char *ascii)
{
    uint32_t foff = m->at;
    put(m, strlen(ascii) * 2, 4);
    for (; *ascii != '\0'; ascii++)
        put(m, (uint8_t)*ascii, 2);
    put(m, 0, 2);
    return foff;
}

static void module_row(struct maker *m, uint64_t base_va, uint32_t name_foff)
{
    put(m, base_va, 8);
    put(m, 0x10000, 4);
    put(m, 0, 4);
    put(m, 0x12345678, 4);
    put(m, name_foff, 4);
    m->at += 84;
}

TEST(memory64_ranges_follow_each_other)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    uint8_t two[2];
    arena_init(&arena, 0);
    start(&m);
    uint32_t base = m.at;
    put(&m, 0x44332211, 4);
    put(&m, 0x88776655, 4);
    stream_begin(&m, STREAM_MEMORY64_LIST);
    put(&m, 2, 8);
    put(&m, base, 8);
    put(&m, 0x7ff000000000, 8);
    put(&m, 4, 8);
    put(&m, 0x7ff000000004, 8);
    put(&m, 4, 8);
    stream_end(&m);
    finish(&m);
    REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
    CHECK_EQ(dump.memory_count, 2);
    CHECK(minidump_memory_read(&dump, 0x7ff000000003, two, 2)); /* across both */
    CHECK_HEX(load_u16(two), 0x5544);
    CHECK(!minidump_memory_read(&dump, 0x7ff000000007, two, 2));
    arena_free(&arena);
}

TEST(overlapping_ranges_are_cut_not_doubled)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    uint8_t byte;
    arena_init(&arena, 0);
    start(&m);
    uint32_t a = m.at;
    put(&m, 0x0101010101010101, 8);
    put(&m, 0x0202020202020202, 8);
    stream_begin(&m, STREAM_MEMORY_LIST);
    put(&m, 3, 4);
    const uint64_t rows[3][3] = {{0x1004, 8, a + 8}, {0x1000, 8, a}, {0x1002, 2, a + 8}};
    for (int i = 0; i < 3; i++) {
        put(&m, rows[i][0], 8);
        put(&m, rows[i][1], 4);
        put(&m, rows[i][2], 4);
    }
    stream_end(&m);
    finish(&m);
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
        start(&m);
        uint32_t name = text(&m, "C:\\Windows\\System32\\wow64cpu.dll");
        uint32_t context = m.at; /* x64: cs, rsp, rip */
        m.at += 1232;
        m.data[context + 0x38] = in_32_bit_code ? 0x23 : 0x33;
        memcpy(m.data + context + 0x98, "\x00\x10\x20\x00", 4);
        memcpy(m.data + context + 0xf8, "\x44\x33\x22\x11", 4);
        uint32_t slot = m.at; /* TEB64 + 0x1488 */
        put(&m, 0x9000, 8);
        uint32_t inner = m.at; /* WOW64_CPURESERVED and the x86 context */
        m.at += 4 + 716;
        memcpy(m.data + inner + 4 + 0xb8, "\x78\x56\x34\x12", 4);
        memcpy(m.data + inner + 4 + 0xc4, "\xf0\xff\x12\x00", 4);
        system_info(&m, 9);
        stream_begin(&m, STREAM_MODULE_LIST);
        put(&m, 1, 4);
        module_row(&m, 0x77000000, name);
        stream_end(&m);
        stream_begin(&m, STREAM_THREAD_LIST);
        put(&m, 1, 4);
        put(&m, 42, 4);
        m.at += 12;
        put(&m, 0x7000, 8);
        m.at += 16;
        put(&m, 1232, 4);
        put(&m, context, 4);
        stream_end(&m);
        stream_begin(&m, STREAM_MEMORY_LIST);
        put(&m, 2, 4);
        put(&m, 0x7000 + 0x1488, 8);
        put(&m, 8, 4);
        put(&m, slot, 4);
        put(&m, 0x9000, 8);
        put(&m, 720, 4);
        put(&m, inner, 4);
        stream_end(&m);
        finish(&m);
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
    start(&m);
    uint32_t name = m.at; /* "a", U+1F600, half a pair, "b" */
    put(&m, 10, 4);
    put(&m, 'a', 2);
    put(&m, 0xd83d, 2);
    put(&m, 0xde00, 2);
    put(&m, 0xd83d, 2);
    put(&m, 'b', 2);
    uint32_t codeview = m.at;
    put(&m, 0x3031424e, 4);
    put(&m, 0, 4);
    put(&m, 0x3a5c0ffe, 4);
    put(&m, 0x2b, 4);
    memcpy(m.data + m.at, "C:\\x\\old.pdb", 13);
    m.at += 13;
    stream_begin(&m, STREAM_MODULE_LIST);
    put(&m, 1, 4);
    module_row(&m, 0x400000, name);
    memcpy(m.data + m.at - 32, &(uint32_t){29}, 4);
    memcpy(m.data + m.at - 28, &codeview, 4);
    stream_end(&m);
    finish(&m);
    REQUIRE(minidump_read(m.data, m.at, &arena, &dump, &fault) == ERR_NONE);
    REQUIRE(dump.module_count == 1);
    CHECK_STR(dump.modules[0].module.name, "a\xf0\x9f\x98\x80\xef\xbf\xbd"
                                           "b");
    CHECK_STR(dump.modules[0].codeview, "NB10");
    CHECK_STR(dump.modules[0].module.debug_id, "3A5C0FFE2b");
    CHECK_STR(dump.modules[0].module.pdb_name, "old.pdb");
    arena_free(&arena);
}

TEST(a_damaged_stream_costs_that_stream_alone)
{
    struct maker m;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    arena_init(&arena, 0);
    start(&m);
    system_info(&m, 9);
    stream_begin(&m, STREAM_THREAD_LIST);
    put(&m, 1000, 4); /* of which none is there */
    stream_end(&m);
    stream_begin(&m, STREAM_MISC_INFO);
    put(&m, 24, 4);
    put(&m, 1, 4);
    put(&m, 4711, 4);
    m.at += 12;
    stream_end(&m);
    m.rows[m.streams][0] = STREAM_EXCEPTION; /* lies behind the end */
    m.rows[m.streams][1] = 168;
    m.rows[m.streams][2] = 0x7fffffff;
    m.streams++;
    finish(&m);
    CHECK_EQ(minidump_read(m.data, m.at, &arena, &dump, &fault), ERR_NONE);
    CHECK(dump.partial);
    CHECK_EQ(dump.thread_count, 0);
    CHECK_EQ(dump.streams[1].fault.code, ERR_TRUNCATED);
    CHECK_EQ(dump.streams[3].fault.code, ERR_TRUNCATED);
    CHECK_EQ(dump.misc.process_id, 4711);
    CHECK(!dump.exception.present);
    arena_free(&arena);
}

static void read_damaged(const uint8_t *data, size_t bytes, void *context)
{
    (void)context;
    struct arena arena;
    struct minidump dump;
    struct fault fault = FAULT_INIT;
    arena_init(&arena, (size_t)64 << 20);
    if (minidump_read(data, bytes, &arena, &dump, &fault) == ERR_NONE) {
        struct json j;
        json_to_text(&j, false);
        minidump_write_json(&j, &dump);
        json_free(&j);
    }
    arena_free(&arena);
}

TEST(every_truncation_is_survived)
{
    static const char *const names[] = {"g05-minidump2-x86/minidump2.dmp",
                                        "g15-dumps/thread_name_list.dmp",
                                        "g15-dumps/notepad-small-64bit.dmp"};
    test_limit(300);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t bytes;
        test_row(names[i]);
        uint8_t *data = test_read(test_fixture(names[i]), &bytes);
        test_truncations(data, bytes, read_damaged, NULL);
    }
}

TEST(every_flipped_byte_is_survived)
{
    size_t bytes;
    test_limit(300);
    uint8_t *data = test_read(test_fixture("g05-minidump2-x86/minidump2.dmp"), &bytes);
    test_flips(data, bytes, read_damaged, NULL);
}
