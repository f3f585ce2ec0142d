/* The reader of ELF headers. */
#include "format/elf/elf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct elf_header header;
    (void)elf_read_header(bytes_over(data, size, &fault), &header);
    return 0;
}
