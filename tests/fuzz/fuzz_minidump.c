/* The minidump reader: all streams, every thread's registers, memory, the JSON of it all, and what
 * is wrong by the format. */
#include <stdlib.h>

#include "format/minidump/lint.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct minidump dump;
    struct minidump_complaints complaints;
    struct registers registers;
    struct json j;
    const char *why;
    uint64_t bytes;
    bool wow64;

    arena_init(&keep, (size_t)64 << 20);
    if (minidump_read(data, size, &keep, &dump, &fault) == ERR_NONE) {
        for (uint32_t i = 0; i < dump.thread_count && i < 64; i++) {
            fault_clear(&fault);
            (void)minidump_thread_registers(&dump, &dump.threads[i], &registers, &wow64, &fault);
            (void)minidump_memory_at(&dump, registers.sp, &bytes);
        }
        fault_clear(&fault);
        (void)minidump_exception_registers(&dump, &registers, &wow64, &fault);
        (void)minidump_suspect(&dump, &why);
        (void)minidump_reason(&dump, &keep);
        (void)minidump_os_name(&dump, &keep);
        (void)minidump_crash_va(&dump);
        fault_clear(&fault);
        (void)minidump_read_details(&dump, &keep, &fault);
        json_to_text(&j, false);
        minidump_write_json(&j, &dump);
        free(json_take(&j, NULL));
        fault_clear(&fault);
        if (minidump_lint(&dump, &keep, &complaints, &fault) == ERR_NONE) {
            json_to_text(&j, false);
            minidump_lint_write_json(&j, &complaints);
            free(json_take(&j, NULL));
        }
    }
    arena_free(&keep);
    return 0;
}
