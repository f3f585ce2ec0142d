/* The header of ELF files. */
#include "base/bytes.h"
#include "format/elf/elf.h"
#include "test.h"

static const uint8_t small[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0,  0,
                                0,    0,   0,   0,   0, 0, 2, 0, 62, 0};

TEST(a_header_names_its_machine)
{
    struct fault fault = FAULT_INIT;
    struct elf_header header;
    CHECK_EQ(elf_read_header(bytes_over(small, sizeof small, &fault), &header), ERR_NONE);
    CHECK_EQ(header.word_bytes, 8);
    CHECK_EQ(header.machine, 62);
}

TEST(every_truncation_is_refused)
{
    for (size_t bytes = 0; bytes < sizeof small; bytes++) {
        struct fault fault = FAULT_INIT;
        struct elf_header header;
        CHECK_EQ(elf_read_header(bytes_over(small, bytes, &fault), &header), ERR_TRUNCATED);
    }
}
