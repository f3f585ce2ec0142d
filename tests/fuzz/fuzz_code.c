/* Fuzzes the text of code: bytes of a dump. The first byte chooses the processor and the kind of
 * the address, the second where it is. */
#include <string.h>

#include "code/code.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct code_listing listing;
    struct arena keep;
    uint32_t start = 0;
    if (size < 2 || size > 4096)
        return 0;
    const uint32_t count = (uint32_t)size - 2;
    struct code_bytes code = {.cpu = (enum cpu)(data[0] % CPU_COUNT),
                              .at = data[1],
                              .bytes = data + 2,
                              .count = count,
                              .pc = data[1] < count ? data[1] : count,
                              .kind = (data[0] & 0x80) != 0 ? PC_RETURN : PC_INTERRUPTED};
    arena_init(&keep, 0);
    if (code_align(&code, &start) && start <= code.pc) {
        code.bytes += start;
        code.count -= start;
        code.pc -= start;
    }
    (void)code_list(&code, &keep, &listing, &fault);
    arena_free(&keep);
    return 0;
}
