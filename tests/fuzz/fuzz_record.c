/* The record reader, as a file and as a dump's user stream. */
#include <stdlib.h>

#include "format/record/record.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT, stream_fault = FAULT_INIT;
    struct arena keep;
    struct record record;
    struct json j;

    arena_init(&keep, (size_t)64 << 20);
    (void)record_read(bytes_over(data, size, &fault), &keep, &record);
    json_to_text(&j, false);
    record_write_json(&j, &record);
    free(json_take(&j, NULL));
    (void)record_read_stream(bytes_over(data, size, &stream_fault), &keep, &record);
    arena_free(&keep);
    return 0;
}
