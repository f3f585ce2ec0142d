/* See minidump_rows.h. The layouts are those of format/minidump/other_systems and of Microsoft's
 * minidumpapiset.h and avrfsdk.h. */
#include "minidump_rows.h"

#include <string.h>

#include "format/minidump/minidump.h"
#include "test.h"

enum { X86 = 0, ARM = 5, X64 = 9, CE_SYSTEM = 0xffff };

static void put_ascii(struct maker *m, const char *text, size_t bytes)
{
    memcpy(m->data + m->at, text, bytes);
    m->at += (uint32_t)bytes;
}

static void auxv_64(struct maker *m)
{
    maker_stream_begin(m, STREAM_LINUX_AUXV);
    MAKER_PUT(m, 8, 33, 0x7fff5aef1000, 99, 5, 0, 0);
}

static void auxv_32(struct maker *m)
{
    maker_stream_begin(m, STREAM_LINUX_AUXV);
    MAKER_PUT(m, 4, 6, 0x1000, 0, 0);
}

/* POINTER: bytes of a pointer. GAP: bytes of padding before an aligned pointer. */
static void dso(struct maker *m, uint32_t pointer, uint32_t gap)
{
    uint32_t name = maker_text(m, "/lib/a.so"), map = m->at;
    for (uint64_t i = 0; i < 2; i++) {
        maker_put(m, 0x1000 * i, pointer);
        maker_put(m, i == 0 ? 0 : name, 4);
        m->at += gap;
        maker_put(m, 0x2000 + i, pointer);
    }
    maker_stream_begin(m, STREAM_LINUX_DSO_DEBUG);
    MAKER_PUT(m, 4, 1, map, 2);
    m->at += gap;
    MAKER_PUT(m, pointer, 0x10, 0x20, 0x30, 5, 0x40, 0, 0);
}

static void dso_aligned(struct maker *m)
{
    dso(m, 8, 4);
}

static void dso_packed(struct maker *m)
{
    dso(m, 8, 0);
}

static void dso_32(struct maker *m)
{
    dso(m, 4, 0);
}

static void dso_empty(struct maker *m)
{
    maker_stream_begin(m, STREAM_LINUX_DSO_DEBUG);
    MAKER_PUT(m, 4, 1, 0xffffffff, 0, 0);
    MAKER_PUT(m, 8, 0x10, 0x20, 0x30);
}

#define DSO_JSON                                                                                   \
    "{\"version\":1,\"brk\":\"0x10\",\"loader_base\":\"0x20\",\"dynamic\":\"0x30\",\"link_map\":"  \
    "[{\"address\":\"0x0\",\"name\":null,\"dynamic\":\"0x2000\"},{\"address\":\"0x1000\","         \
    "\"name\":\"/lib/a.so\",\"dynamic\":\"0x2001\"}],\"dynamic_section\":[{\"tag\":\"0x5\","       \
    "\"value\":\"0x40\"},{\"tag\":\"0x0\",\"value\":\"0x0\"}]}"

/* One record of each version. All have their texts at the offset of the newest version. */
static void mac_crash(struct maker *m)
{
    static const char texts[] = "/bin/a\0abort() called\0\0#0 x\0two";
    uint32_t at[3], bytes[3];
    const uint64_t versions[3] = {5, 4, 1};
    for (int i = 0; i < 3; i++) {
        at[i] = m->at;
        MAKER_PUT(m, 8, STREAM_MAC_CRASH_INFO, versions[i], 7, 8, versions[i] == 5 ? 9 : 0);
        put_ascii(m, texts, sizeof(texts));
        bytes[i] = m->at - at[i];
    }
    maker_stream_begin(m, STREAM_MAC_CRASH_INFO);
    MAKER_PUT(m, 4, STREAM_MAC_CRASH_INFO, 3, 40, bytes[0], at[0], bytes[1], at[1], bytes[2],
              at[2]);
    m->at += 17 * 8;
}

#define MAC_TEXTS                                                                                  \
    "\"module_path\":\"/bin/a\",\"message\":\"abort() called\",\"signature\":\"\","                \
    "\"backtrace\":\"#0 x\",\"message2\":\"two\"}"

static void mac_boot(struct maker *m)
{
    uint32_t text = maker_text(m, "-v debug=0x8");
    maker_stream_begin(m, STREAM_MAC_BOOT_ARGS);
    maker_put(m, STREAM_MAC_BOOT_ARGS, 4);
    maker_put(m, text, 8);
}

static void wine_modules(struct maker *m)
{
    uint32_t name = maker_text(m, "/lib/libc.so.6");
    maker_stream_begin(m, STREAM_WINE_ELF_MODULES);
    maker_put(m, 1, 4);
    maker_module_row(m, 0x7f0000000000, name);
}

static void sentry_stacks(struct maker *m)
{
    maker_stream_begin(m, STREAM_SENTRY_STACKS);
    MAKER_PUT(m, 4, 1, 3, 2, 10, 123, 0, 2, 321, 2, 0, 17, 1, 1, 0);
    maker_put(m, 0x1337, 8);
    MAKER_PUT(m, 4, 0, 6);
    maker_put(m, 0xdeadbeef, 8);
    MAKER_PUT(m, 4, 6, 4);
    put_ascii(m, "_startmain", 10);
}

static void handle_operations(struct maker *m)
{
    maker_stream_begin(m, STREAM_HANDLE_OPERATION_LIST);
    MAKER_PUT(m, 4, 16, 48, 2, 0);
    for (uint64_t i = 1; i <= 2; i++) {
        maker_put(m, 0x40 + i, 8);
        MAKER_PUT(m, 4, 11, 12, i, 0, i, 20 + i);
        MAKER_PUT(m, 8, 0x1400 + i, 0x1500);
    }
}

static void handle_objects(struct maker *m)
{
    uint32_t last = m->at;
    MAKER_PUT(m, 4, 0, 77, 2);
    maker_put(m, 0xbeef, 2);
    uint32_t first = m->at;
    MAKER_PUT(m, 4, last, 6, 0);
    maker_stream_begin(m, STREAM_HANDLE_DATA);
    MAKER_PUT(m, 4, 16, 40, 2, 0);
    maker_put(m, 0x44, 8);
    MAKER_PUT(m, 4, 0, 0, 0, 0, 0, 0, 0, 0);
    maker_put(m, 0x48, 8);
    MAKER_PUT(m, 4, 0, 0, 0, 0, 0, 0, first, 0);
}

static void handles_of_old(struct maker *m)
{
    maker_stream_begin(m, STREAM_HANDLE_DATA);
    MAKER_PUT(m, 4, 16, 32, 1, 0);
    maker_put(m, 0x44, 8);
    MAKER_PUT(m, 4, 0, 0, 0, 0, 0, 0);
}

static void function_table(struct maker *m)
{
    maker_stream_begin(m, STREAM_FUNCTION_TABLE);
    MAKER_PUT(m, 4, 24, 32, 0, 12, 1, 0);
    MAKER_PUT(m, 8, 0x1000, 0x2000, 0x1000);
    MAKER_PUT(m, 4, 1, 0, 0x10, 0x20, 0x300);
}

static void tokens(struct maker *m)
{
    maker_stream_begin(m, STREAM_TOKEN);
    MAKER_PUT(m, 4, 36, 1, 16, 16, 20, 4711);
    MAKER_PUT(m, 8, 0x1c);
    maker_put(m, 0x01020304, 4);
}

static void vm_counters(struct maker *m)
{
    maker_stream_begin(m, STREAM_PROCESS_VM_COUNTERS);
    MAKER_PUT(m, 2, 1, 0);
    maker_put(m, 5, 4);
    MAKER_PUT(m, 8, 11, 12, 13, 14, 15, 16, 17, 18, 19);
}

static void system_memory(struct maker *m)
{
    maker_stream_begin(m, STREAM_SYSTEM_MEMORY_INFO);
    MAKER_PUT(m, 2, 1, 0xf);
    m->at += 52 + 60;
    MAKER_PUT(m, 8, 500, 600, 700, 800);
    m->at += 312 + 16;
    MAKER_PUT(m, 8, 900, 1000);
}

static void misc_info(struct maker *m)
{
    maker_stream_begin(m, STREAM_MISC_INFO);
    uint32_t at = m->at;
    MAKER_PUT(m, 4, 232, 0x44, 0, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, 2);
    m->at = at + 128 + 2; /* standard time starts on the last Sunday in October at 3:00 */
    MAKER_PUT(m, 2, 10, 0, 5, 3);
    m->at = at + 228;
    maker_put(m, 0xffffffc4, 4); /* -60 */
}

static void misc_info_5(struct maker *m)
{
    maker_stream_begin(m, STREAM_MISC_INFO);
    uint32_t at = m->at;
    MAKER_PUT(m, 4, 1364, 0);
    m->at = at + 832;
    MAKER_PUT(m, 4, 528, 1500, 3, 0, 0, 160, 160, 256);
    m->at = at + 1364;
}

static void nothing_known(struct maker *m)
{
    maker_stream_begin(m, 0x10007);
    MAKER_PUT(m, 1, 0xde, 0xad, 0, 0xff);
}

static void script(struct maker *m)
{
    maker_stream_begin(m, STREAM_JAVASCRIPT_DATA);
    put_ascii(m, "f\xc3\xbc\n\0", 5);
}

static void wide_text(struct maker *m)
{
    maker_stream_begin(m, 0x10008);
    MAKER_PUT(m, 2, 'a', 0xfc, '\n');
}

static void text_in_a_buffer(struct maker *m)
{
    maker_stream_begin(m, 0x10009);
    put_ascii(m, "sixteen letters!", 17);
    MAKER_PUT(m, 1, 0x80, 1);
}

static void short_text_and_rest(struct maker *m)
{
    maker_stream_begin(m, 0x1000a);
    put_ascii(m, "ab\0c", 4);
}

/* Its dumps have the same header, with another signature and version. */
static void ce_system(struct maker *m)
{
    maker_stream_begin(m, 0x8001);
    MAKER_PUT(m, 2, 72, 5);
    MAKER_PUT(m, 4, 1, 2577);
}

const struct minidump_row minidump_rows[] = {
    {"auxiliary vector, 64 bit", X64, auxv_64, "null",
     "[{\"type\":33,\"name\":\"AT_SYSINFO_EHDR\",\"value\":\"0x7fff5aef1000\"},{\"type\":99,"
     "\"name\":null,\"value\":\"0x5\"},{\"type\":0,\"name\":\"AT_NULL\",\"value\":\"0x0\"}]"},
    {"auxiliary vector, 32 bit", ARM, auxv_32, "null",
     "[{\"type\":6,\"name\":\"AT_PAGESZ\",\"value\":\"0x1000\"},{\"type\":0,"},
    {"loader, 64 bit aligned", X64, dso_aligned, "null", DSO_JSON},
    {"loader, 64 bit packed", X64, dso_packed, "null", DSO_JSON},
    {"loader, 32 bit", X86, dso_32, "null", DSO_JSON},
    {"loader without images", X64, dso_empty, "null",
     "\"dynamic\":\"0x30\",\"link_map\":[],\"dynamic_section\":[]}"},
    {"macOS crash information", X64, mac_crash, "null",
     "[{\"version\":5,\"thread\":\"0x7\",\"dialog_mode\":\"0x8\",\"abort_cause\":\"0x9\"," MAC_TEXTS
     ",{\"version\":4,\"thread\":\"0x7\",\"dialog_mode\":\"0x8\"," MAC_TEXTS ",{\"version\":1}]"},
    {"macOS boot arguments", X64, mac_boot, "null", "{\"boot_args\":\"-v debug=0x8\"}"},
    {"Wine's ELF images", X64, wine_modules, "null",
     "[{\"base\":\"0x7f0000000000\",\"size\":\"0x10000\",\"checksum\":\"0x0\",\"timestamp\":"
     "\"0x12345678\",\"path\":\"/lib/libc.so.6\"}]"},
    {"stacks by Sentry", X64, sentry_stacks, "null",
     "[{\"thread\":123,\"frames\":[{\"address\":\"0x1337\",\"name\":\"_start\"},{\"address\":"
     "\"0xdeadbeef\",\"name\":\"main\"}]},{\"thread\":321,\"frames\":[]},{\"thread\":17,"
     "\"frames\":[{\"address\":\"0xdeadbeef\",\"name\":\"main\"}]}]"},
    {"handle operations", X64, handle_operations, "null",
     "[{\"handle\":\"0x41\",\"process_id\":11,\"thread_id\":12,\"operation\":1,"
     "\"operation_name\":\"open\",\"trace\":21,\"stack\":[\"0x1401\"]},{\"handle\":\"0x42\","
     "\"process_id\":11,\"thread_id\":12,\"operation\":2,\"operation_name\":\"close\","
     "\"trace\":22,\"stack\":[\"0x1402\",\"0x1500\"]}]"},
    {"handles' objects", X64, handle_objects, "\"handles\"",
     "[{\"handle\":\"0x48\",\"object\":[{\"type\":6,\"name\":\"event\",\"information\":"
     "{\"bytes\":0,\"hex\":\"\",\"bytes_shown\":0}},{\"type\":77,\"name\":null,\"information\":"
     "{\"bytes\":2,\"hex\":\"efbe\",\"bytes_shown\":2}}]}]"},
    {"handles of the first version", X64, handles_of_old, "\"handles\"", "\"content\":null}"},
    {"function table", X64, function_table, "\"function_tables\"",
     "[{\"start\":\"0x1000\",\"entries\":[{\"begin\":\"0x10\",\"end\":\"0x20\",\"unwind\":"
     "\"0x300\"}]}]"},
    {"tokens", X64, tokens, "\"tokens\"",
     "[{\"id\":4711,\"token\":{\"bytes\":4,\"hex\":\"04030201\",\"bytes_shown\":4}}]"},
    {"counters of the process", X64, vm_counters, "\"vm_counters\"",
     "\"peak_working_set_bytes\":11,\"working_set_bytes\":12,\"peak_paged_pool_bytes\":13,"
     "\"paged_pool_bytes\":14,\"peak_nonpaged_pool_bytes\":15,\"nonpaged_pool_bytes\":16,"
     "\"pagefile_bytes\":17,\"peak_pagefile_bytes\":18,\"private_bytes\":19}"},
    {"memory of the system", X64, system_memory, "\"system_memory\"",
     "\"resident\":{\"resident_available_pages\":900,\"shared_committed_pages\":1000}}"},
    {"time zone and idle states", X64, misc_info, "\"process\"",
     "{\"max_idle_state\":4,\"current_idle_state\":5,\"time_zone\":{\"id\":2,\"standard\":"
     "{\"name\":\"\",\"from\":{\"year\":0,\"month\":10,\"day_of_week\":0,\"day\":5,\"hour\":3,"},
    {"daylight saving", X64, misc_info, "\"process\"", "\"bias_minutes\":-60}}}"},
    {"extended state", X64, misc_info_5, "\"process\"",
     "\"xstate\":{\"bytes\":528,\"context_bytes\":1500,\"enabled_features\":\"0x3\",\"features\":"
     "[{\"offset\":0,\"bytes\":160},{\"offset\":160,\"bytes\":256}]}}"},
    {"bytes", X64, nothing_known, "null",
     "{\"text\":null,\"text_bytes\":0,\"hex\":\"dead00ff\",\"bytes_shown\":4}"},
    {"text", X64, script, "null",
     "{\"text\":\"f\xc3\xbc\\n\",\"text_bytes\":4,\"hex\":\"66c3bc0a00\",\"bytes_shown\":5}"},
    {"wide text", X64, wide_text, "null", "{\"text\":\"a\xc3\xbc\\n\",\"text_bytes\":6,"},
    {"text in a buffer", X64, text_in_a_buffer, "null",
     "{\"text\":\"sixteen letters!\",\"text_bytes\":16,"},
    {"letters by chance", X64, short_text_and_rest, "null", "{\"text\":null,\"text_bytes\":0,"},
    {"Windows CE", CE_SYSTEM, ce_system, "null",
     "{\"text\":null,\"text_bytes\":0,\"hex\":\"4800050001000000110a0000\",\"bytes_shown\":12}"},
};

const size_t minidump_row_count = sizeof(minidump_rows) / sizeof(minidump_rows[0]);

const struct minidump_row *minidump_row_find(const char *name)
{
    for (size_t i = 0; i < minidump_row_count; i++)
        if (strcmp(minidump_rows[i].name, name) == 0)
            return &minidump_rows[i];
    FAIL("no row is named %s", name);
    return &minidump_rows[0];
}

void minidump_row_make(struct maker *m, const struct minidump_row *row)
{
    maker_start(m);
    if (row->architecture != CE_SYSTEM)
        maker_system_info(m, row->architecture);
    row->fill(m);
    maker_stream_end(m);
    maker_finish(m);
    if (row->architecture == CE_SYSTEM) {
        memcpy(m->data, "CEDX", 4);
        m->data[4] = 2;
        m->data[5] = 0;
    }
}
