/* The reader of Breakpad symbol files, and addresses spread over it. */
#include "format/breakpad/breakpad.h"
#include "fuzz.h"

enum { PROBES = 64, PROBE_STEP = 0x131 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct breakpad file;
    struct breakpad_frame frames[BREAKPAD_FRAMES_MAX];

    if (breakpad_read(data, size, &file, &fault) == ERR_NONE)
        for (uint32_t i = 0; i < PROBES; i++) {
            struct breakpad_rules rules;
            struct breakpad_win win;
            (void)breakpad_lookup(&file, 0x1000 + i * PROBE_STEP, frames);
            (void)breakpad_cfi_at(&file, 0x1000 + i * PROBE_STEP, &rules);
            (void)breakpad_win_at(&file, 0x1000 + i * PROBE_STEP, &win);
        }
    breakpad_close(&file);
    return 0;
}
