/* Any bytes as the result of a shadow comparison: it is refused, or it can be written again. */
#include "fuzz.h"
#include "stream/shadow_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct shadow shadow;
    struct arena keep;
    size_t bytes = 0;

    arena_init(&keep, (size_t)1 << 26);
    if (shadow_read((const char *)data, size, &keep, &shadow, &fault) == ERR_NONE)
        (void)shadow_write(&shadow, &keep, &bytes);
    arena_free(&keep);
    return 0;
}
