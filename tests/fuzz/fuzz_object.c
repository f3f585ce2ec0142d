/* The readers of ELF, Mach-O, archives and PE with DWARF, and the DWARF in them. */
#include "fuzz.h"
#include "use_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    use_object(data, bytes);
    return 0;
}
