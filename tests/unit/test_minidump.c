/* The minidump reader on dumps of real writers, and on bytes that a hostile writer could
 * produce. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/minidump/minidump.h"
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
    struct fault fault = FAULT_INIT;
    struct json j;
    REQUIRE(minidump_read_details(&o.dump, &o.arena, &fault) == ERR_NONE);
    json_to_text(&j, false);
    minidump_write_json(&j, &o.dump);
    char *text = json_take(&j, NULL);
    CHECK_HAS(text, "\"system_memory\":{\"page_bytes\":4096,\"physical_pages\":");
    CHECK_HAS(text, "\"vm_counters\":{\"revision\":");
    free(text);
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
