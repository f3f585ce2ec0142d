/* See judge_asked.h. */
#include "judge_asked.h"

#include <stdio.h>

#include "test.h"

void make_case(const char *dump, struct crash_case *out, struct case_file *file)
{
    char to[512];
    size_t bytes;
    uint8_t *data = test_read(test_fixture(dump), &bytes);
    (void)snprintf(to, sizeof(to), "%s/dump.dmp", test_scratch());
    test_write(to, data, bytes);
    *file = (struct case_file){.role = ROLE_DUMP, .path = "dump.dmp"};
    *out = (struct crash_case){.folder = test_scratch(),
                               .scenario = "s",
                               .variant = "v",
                               .arch = CPU_X86,
                               .kind = CASE_KIND_CRASH,
                               .files = file,
                               .file_count = 1};
}

enum status ask_adapter(const char *text, size_t bytes, struct arena *keep,
                        struct engine_result *out)
{
    char path[512], spec[4096];
    struct crash_case crash;
    struct case_file file;
    struct fault fault = FAULT_INIT;
    const char *why = NULL;
    (void)snprintf(path, sizeof(path), "%s/answer", test_scratch());
    test_write(path, text, bytes);
    (void)snprintf(spec, sizeof(spec), "tool=%s do show %s", test_actor(), path);
    test_environment("TWINSTACK_ADAPTER", spec);
    judge_adapter_configure();
    make_case("g05-minidump2-x86/minidump2.dmp", &crash, &file);
    struct opened_case opened;
    REQUIRE(opened_case_open(&crash, NULL, keep, &opened, &fault) == ERR_NONE);
    const struct engine_input in = {.opened = &opened};
    process_catch_interrupts(); /* as in main(): a tool may ignore its input */
    REQUIRE(judge_adapter.engine.available(&judge_adapter.engine, &in, &why));
    CHECK_STR(judge_adapter.engine.name, "judge:tool");
    (void)judge_adapter.engine.run(&judge_adapter.engine, &in, keep, out, &fault);
    opened_case_close(&opened);
    return fault.code;
}
