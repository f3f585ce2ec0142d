/* The JSON of a dump, whole: every member has a value of its own, so that none can be left out,
 * changed for another, or written in another form. */
#include <stdlib.h>
#include <string.h>

#include "format/minidump/minidump.h"
#include "test.h"

static char *json_of(const struct minidump *dump)
{
    struct json j;
    json_to_text(&j, false);
    minidump_write_json(&j, dump);
    return json_take(&j, NULL);
}

/* Says where two long texts part. */
static void check_whole(const char *got, const char *want)
{
    size_t same = 0;
    REQUIRE(got != NULL);
    while (got[same] != '\0' && got[same] == want[same])
        same++;
    CHECK_STR(got + same, want + same);
}

static struct minidump_thread threads[] = {
    {.id = 31,
     .suspend_count = 32,
     .priority_class = 33,
     .priority = 34,
     .teb_va = 0x35,
     .stack_start_va = 0x36,
     .stack = {0x37, 38},
     .context = {0x39, 4},
     .backing_store = {0x3b, 60},
     .name = "first",
     .role = THREAD_ROLE_SUSPECT,
     .has_info = true,
     .dump_flags = 0x3d,
     .dump_error = 0x3e,
     .exit_status = 0x3f,
     .create_time = 40,
     .exit_time = 41,
     .kernel_time = 42,
     .user_time = 43,
     .start_va = 0x44,
     .affinity = 0x45},
    {.id = 46},
};
#define THREADS                                                                                    \
    "\"threads\":[{\"id\":31,\"name\":\"first\",\"role\":\"suspect\",\"suspend_count\":32,"        \
    "\"priority_class\":33,\"priority\":34,\"teb\":\"0x35\",\"stack_start\":\"0x36\","             \
    "\"stack\":{\"offset\":\"0x37\",\"bytes\":38},\"context\":{\"offset\":\"0x39\",\"bytes\":4},"  \
    "\"backing_store\":{\"offset\":\"0x3b\",\"bytes\":60},\"registers\":null,\"info\":{"           \
    "\"dump_flags\":\"0x3d\",\"dump_error\":\"0x3e\",\"exit_status\":\"0x3f\","                    \
    "\"create_time\":40,\"exit_time\":41,\"kernel_time\":42,\"user_time\":43,"                     \
    "\"start\":\"0x44\",\"affinity\":\"0x45\"}},"                                                  \
    "{\"id\":46,\"name\":null,\"role\":null,\"suspend_count\":0,\"priority_class\":0,"             \
    "\"priority\":0,\"teb\":\"0x0\",\"stack_start\":\"0x0\",\"stack\":null,\"context\":null,"      \
    "\"backing_store\":null,\"registers\":null,\"info\":null}],"

static const struct minidump_text notes[] = {{"key", "value", 2}, {"other", "text", 1}};
static struct minidump_module modules[] = {
    {.module = {.index = 50,
                .name = "app.exe",
                .path = "C:\\app.exe",
                .code_id = "CODE",
                .debug_id = "DEBUG",
                .pdb_name = "app.pdb",
                .base_va = 0x51000,
                .image_bytes = 0x5200},
     .timestamp = 0x53,
     .checksum = 0x54,
     .file_version = 0x0001000200030004,
     .product_version = 0x0005000600070008,
     .file_flags = 0x55,
     .file_os = 0x56,
     .file_type = 0x57,
     .codeview = "RSDS",
     .build_id = "b1d",
     .codeview_place = {0x58, 59},
     .misc_place = {0x5a, 61},
     .annotations = notes,
     .annotation_count = 2},
};
static struct minidump_unloaded unloaded[] = {
    {.module = {.index = 62,
                .name = "old.dll",
                .path = "old.dll",
                .base_va = 0x63000,
                .image_bytes = 0x6400},
     .timestamp = 0x65,
     .checksum = 0x66},
};
#define MODULES                                                                                    \
    "\"modules\":[{\"index\":50,\"name\":\"app.exe\",\"path\":\"C:\\\\app.exe\","                  \
    "\"base\":\"0x51000\",\"size\":\"0x5200\",\"code_id\":\"CODE\",\"debug_id\":\"DEBUG\","        \
    "\"pdb\":\"app.pdb\",\"codeview\":\"RSDS\",\"build_id\":\"b1d\","                              \
    "\"codeview_record\":{\"offset\":\"0x58\",\"bytes\":59},"                                      \
    "\"misc_record\":{\"offset\":\"0x5a\",\"bytes\":61},\"timestamp\":\"0x53\","                   \
    "\"checksum\":\"0x54\",\"file_version\":\"1.2.3.4\",\"product_version\":\"5.6.7.8\","          \
    "\"file_flags\":\"0x55\",\"file_os\":\"0x56\",\"file_type\":\"0x57\",\"annotations\":["        \
    "{\"key\":\"key\",\"type\":2,\"value\":\"value\"},"                                            \
    "{\"key\":\"other\",\"type\":1,\"value\":\"text\"}]}],"                                        \
    "\"unloaded_modules\":[{\"index\":62,\"name\":\"old.dll\",\"path\":\"old.dll\","               \
    "\"base\":\"0x63000\",\"size\":\"0x6400\",\"code_id\":null,\"debug_id\":null,\"pdb\":null,"    \
    "\"timestamp\":\"0x65\",\"checksum\":\"0x66\"}],\"unloaded_modules_listed\":67,"

static struct minidump_memory ranges[] = {{0x7000, {0x71, 72}}, {0x8000, {0x73, 74}}};
static struct minidump_region regions[] = {{.base_va = 0x75,
                                            .allocation_base_va = 0x76,
                                            .bytes = 0x77,
                                            .allocation_protection = 0x78,
                                            .state = 0x79,
                                            .protection = 0x7a,
                                            .type = 0x7b}};
static struct minidump_handle handles[] = {{.handle = 0x80,
                                            .type = "Event",
                                            .name = "\\a",
                                            .attributes = 0x81,
                                            .access = 0x82,
                                            .handle_count = 83,
                                            .pointer_count = 84},
                                           {.handle = 0x85}};
static struct minidump_function_table tables[] = {
    {.start_va = 0x86, .end_va = 0x87, .base_va = 0x88, .entry_count = 89, .entry_bytes = 90}};
static struct minidump_token tokens[] = {{91, 0x92, 93}};
#define MEMORY                                                                                     \
    "\"memory\":{\"listed\":70,\"ranges\":[{\"start\":\"0x7000\",\"bytes\":72,"                    \
    "\"offset\":\"0x71\"},{\"start\":\"0x8000\",\"bytes\":74,\"offset\":\"0x73\"}],"               \
    "\"bytes\":146},\"memory_regions\":[{\"base\":\"0x75\",\"allocation_base\":\"0x76\","          \
    "\"allocation_protection\":\"0x78\",\"bytes\":\"0x77\",\"state\":\"0x79\","                    \
    "\"protection\":\"0x7a\",\"type\":\"0x7b\"}],"                                                 \
    "\"handles\":[{\"handle\":\"0x80\",\"type\":\"Event\",\"name\":\"\\\\a\","                     \
    "\"attributes\":\"0x81\",\"access\":\"0x82\",\"handle_count\":83,\"pointer_count\":84},"       \
    "{\"handle\":\"0x85\",\"type\":null,\"name\":null,\"attributes\":\"0x0\","                     \
    "\"access\":\"0x0\",\"handle_count\":0,\"pointer_count\":0}],"                                 \
    "\"function_tables\":[{\"start\":\"0x86\",\"end\":\"0x87\",\"base\":\"0x88\","                 \
    "\"entries\":89}],\"tokens\":[{\"id\":91,\"handle\":\"0x92\",\"bytes\":93}],"

static const struct minidump_value values[] = {
    {NULL, VALUE_OBJECT, 0, NULL},
    {"page_bytes", VALUE_UINT, 4096, NULL},
    {"commit_limit_pages", VALUE_UINT, 11, NULL},
    {"available_pages", VALUE_HEX, 12, NULL}, /* of another form: no number of that name */
    {NULL, VALUE_END, 0, NULL},
};
static struct minidump_stream streams[] = {
    {.type = STREAM_PROCESS_VM_COUNTERS,
     .place = {0x13, 14},
     .fault = {.code = ERR_TRUNCATED, .what = "counters", .offset = 0x15}},
    {.type = STREAM_SYSTEM_MEMORY_INFO,
     .place = {0x16, 17},
     .json_member = "system_memory",
     .values = values,
     .value_count = 5},
};
#define ZEROES "0000000000000000000000000000"
#define STREAMS                                                                                    \
    "\"streams\":[{\"type\":\"0x16\",\"name\":\"ProcessVmCounters\",\"offset\":\"0x13\","          \
    "\"bytes\":14,\"fault\":{\"code\":\"truncated\",\"what\":\"counters\","                        \
    "\"offset\":\"0x15\"},\"reported_in\":null,\"content\":{\"text\":null,\"text_bytes\":0,"       \
    "\"hex\":\"" ZEROES "\",\"bytes_shown\":14}},"                                                 \
    "{\"type\":\"0x15\",\"name\":\"SystemMemoryInfo\",\"offset\":\"0x16\",\"bytes\":17,"           \
    "\"fault\":null,\"reported_in\":\"system_memory\",\"content\":{\"page_bytes\":4096,"           \
    "\"commit_limit_pages\":11,\"available_pages\":\"0xc\"}}],"

static struct minidump_text files[] = {{.key = "LinuxMaps", .value = "00-01 r"}};

/* Counters of memory that no stream states are null. */
TEST(the_json_of_a_dump_is_written_whole)
{
    static const uint8_t data[256];
    const struct minidump dump = {
        .data = data,
        .data_bytes = 256,
        .version = 0xa793,
        .timestamp = 2,
        .checksum = 3,
        .flags = 0x104,
        .partial = true,
        .cpu = CPU_X86,
        .dump_cpu = CPU_X64,
        .streams = streams,
        .system = {.present = true,
                   .architecture = 21,
                   .level = 22,
                   .revision = 23,
                   .processors = 24,
                   .product_type = 25,
                   .major = 10,
                   .minor = 1,
                   .build = 26,
                   .platform = 2 /* VER_PLATFORM_WIN32_NT */,
                   .suite = 28,
                   .service_pack = "SP 1",
                   .processor_features = {0x29, 0x30}},
        .exception = {.present = true,
                      .thread_id = 31,
                      .code = 0xc0000005,
                      .flags = 1,
                      .info_count = 2,
                      .record_va = 0x2a,
                      .address_va = 0x2b,
                      .info = {1, 0x2c, 0x2d},
                      .context = {0x2e, 47}},
        .breakpad = {.present = true,
                     .validity = 94,
                     .dump_thread_id = 95,
                     .requesting_thread_id = 96,
                     .assert_expression = "x > 0",
                     .assert_function = "check",
                     .assert_file = "a.c",
                     .assert_line = 97,
                     .assert_type = 98},
        .crashpad = {.present = true,
                     .version = 99,
                     .report_id = "report",
                     .client_id = "client",
                     .annotations = notes,
                     .annotation_count = 1,
                     .address_mask = 0x100},
        .modules = modules,
        .unloaded = unloaded,
        .threads = threads,
        .memory = ranges,
        .regions = regions,
        .handles = handles,
        .tables = tables,
        .tokens = tokens,
        .texts = files,
        .comment = "a note",
        .stream_count = 2,
        .module_count = 1,
        .unloaded_count = 1,
        .thread_count = 2,
        .memory_count = 2,
        .region_count = 1,
        .handle_count = 2,
        .table_count = 1,
        .token_count = 1,
        .text_count = 1,
        .memory_listed = 70,
        .unloaded_listed = 67,
    };
    char *got = json_of(&dump);
    check_whole(
        got, "{\"schema_version\":1,\"bytes\":256,\"version\":\"0xa793\",\"timestamp\":2,"
             "\"checksum\":\"0x3\",\"flags\":\"0x104\",\"partial\":true,\"suspect\":31,"
             "\"suspect_from\":\"exception stream\"," STREAMS
             "\"system\":{\"cpu\":\"x86\",\"context_cpu\":\"x64\",\"architecture\":21,\"level\":22,"
             "\"revision\":23,\"processors\":24,\"product_type\":25,\"platform\":2,"
             "\"version\":\"10.1.26\",\"service_pack\":\"SP 1\",\"suite\":28,\"vendor\":null,"
             "\"cpu_features\":[\"0x29\",\"0x30\"]},\"process\":null,"
             "\"exception\":{\"thread_id\":31,\"code\":\"0xc0000005\","
             "\"name\":\"EXCEPTION_ACCESS_VIOLATION\",\"flags\":\"0x1\",\"record\":\"0x2a\","
             "\"address\":\"0x2b\",\"information\":[\"0x1\",\"0x2c\"],"
             "\"context\":{\"offset\":\"0x2e\",\"bytes\":47}}," THREADS MODULES MEMORY
             "\"system_memory\":{\"page_bytes\":4096,\"physical_pages\":null,"
             "\"available_pages\":null,\"committed_pages\":null,\"commit_limit_pages\":11},"
             "\"vm_counters\":null,\"breakpad\":{\"validity\":94,\"dump_thread_id\":95,"
             "\"requesting_thread_id\":96,\"assertion\":\"x > 0\",\"assertion_function\":\"check\","
             "\"assertion_file\":\"a.c\",\"assertion_line\":97,\"assertion_type\":98},"
             "\"crashpad\":{\"version\":99,\"report_id\":\"report\",\"client_id\":\"client\","
             "\"address_mask\":\"0x100\",\"annotations\":[{\"key\":\"key\",\"type\":2,"
             "\"value\":\"value\"}]},\"texts\":[{\"stream\":\"LinuxMaps\",\"text\":\"00-01 r\"}],"
             "\"capture\":null,\"comment\":\"a note\"}");
    free(got);
}

/* What a dump does not state is null, and a list of nothing is empty. */
TEST(the_json_of_a_dump_without_a_stream_has_every_member)
{
    const struct minidump dump = {0};
    char *got = json_of(&dump);
    check_whole(got,
                "{\"schema_version\":1,\"bytes\":0,\"version\":\"0x0\",\"timestamp\":0,"
                "\"checksum\":\"0x0\",\"flags\":\"0x0\",\"partial\":false,\"suspect\":0,"
                "\"suspect_from\":\"first thread\",\"streams\":[],\"system\":null,\"process\":null,"
                "\"exception\":null,\"threads\":[],\"modules\":[],\"unloaded_modules\":[],"
                "\"unloaded_modules_listed\":0,\"memory\":{\"listed\":0,\"ranges\":[],"
                "\"bytes\":0},\"memory_regions\":[],\"handles\":[],\"function_tables\":[],"
                "\"tokens\":[],\"system_memory\":null,\"vm_counters\":null,\"breakpad\":null,"
                "\"crashpad\":null,\"texts\":[],\"capture\":null,\"comment\":null}");
    free(got);
}

/* Flags1 of MINIDUMP_MISC_INFO_5 (minidumpapiset.h): a member whose flag is not set was not filled.
 */
TEST(what_a_process_states_of_itself_is_what_its_flags_say)
{
    static const struct {
        const char *name, *key;
        uint32_t flags;
        const char *value; /* NULL: the one of no member */
    } rows[] = {
        {"none", "id", 0, NULL},
        {"MINIDUMP_MISC1_PROCESS_ID", "id", 1, "1"},
        {"a bit that none of them has", "id", 0x100, NULL},
        {"MINIDUMP_MISC3_PROCESS_INTEGRITY", "integrity_level", 0x10, "\"0x8\""},
        {"MINIDUMP_MISC3_PROCESS_EXECUTE_FLAGS", "execute_flags", 0x20, "\"0x9\""},
        {"MINIDUMP_MISC3_TIMEZONE", "bias_minutes", 0x40, "-60"},
        {"MINIDUMP_MISC3_PROTECTED_PROCESS", "protected_process", 0x80, "\"0xa\""},
        {"MINIDUMP_MISC5_PROCESS_COOKIE", "cookie", 0x200, "\"0xb\""},
        {"MINIDUMP_MISC1_PROCESS_TIMES", "create_time", 2, "2"},
        {"their second", "user_s", 2, "3"},
        {"their third", "kernel_s", 2, "4"},
        {"MINIDUMP_MISC1_PROCESSOR_POWER_INFO", "max_mhz", 4, "5"},
        {"its second", "current_mhz", 4, "6"},
        {"its third", "limit_mhz", 4, "7"},
    };
    static const char *const keys[] = {
        "id",          "create_time", "user_s",          "kernel_s",      "max_mhz",
        "current_mhz", "limit_mhz",   "integrity_level", "execute_flags", "protected_process",
        "cookie",      "bias_minutes"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct minidump dump = {.misc = {.present = true,
                                               .flags = rows[i].flags,
                                               .process_id = 1,
                                               .create_time = 2,
                                               .user_s = 3,
                                               .kernel_s = 4,
                                               .max_mhz = 5,
                                               .current_mhz = 6,
                                               .limit_mhz = 7,
                                               .integrity_level = 8,
                                               .execute_flags = 9,
                                               .protected_process = 10,
                                               .process_cookie = 11,
                                               .bias_minutes = -60}};
        struct arena keep;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        char *got = json_of(&dump);
        const char *process = strstr(got, "\"process\":{\"flags\":");
        REQUIRE(process != NULL);
        for (size_t k = 0; k < COUNT_OF(keys); k++) {
            const char *want = "null";
            for (size_t r = 0; r < COUNT_OF(rows); r++)
                if (strcmp(rows[r].key, keys[k]) == 0 && rows[r].flags == rows[i].flags &&
                    rows[r].value != NULL)
                    want = rows[r].value;
            CHECK_HAS(process, arena_printf(&keep, "\"%s\":%s,", keys[k], want));
        }
        free(got);
        arena_free(&keep);
    }
}
