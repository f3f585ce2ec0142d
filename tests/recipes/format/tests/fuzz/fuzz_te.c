/* The reader of TE headers. */
#include "format/te/te.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct te_header header;
    (void)te_read_header(bytes_over(data, size, &fault), &header);
    return 0;
}
