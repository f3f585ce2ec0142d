/* Any bytes as a message of a queue: it is refused, or it can be read and written again. */
#include "base/arena.h"
#include "fuzz.h"
#include "stream/queued_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct report report;
    struct arena keep;
    size_t bytes = 0;

    arena_init(&keep, (size_t)1 << 26);
    if (report_read((const char *)data, size, &keep, &report, &fault) == ERR_NONE)
        (void)report_write(&report, &keep, &bytes);
    arena_free(&keep);
    return 0;
}
