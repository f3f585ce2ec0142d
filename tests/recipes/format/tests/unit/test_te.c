/* The header of TE files. */
#include "format/te/te.h"
#include "base/bytes.h"
#include "test.h"

static const uint8_t small[] = {'V', 'Z', 0x64, 0x86, 3, 0, 0, 0, 0, 0,    0, 0,
                                0,   0,   0,    0,    0, 0, 0, 0, 0, 0x40, 0, 0};

TEST(a_header_names_its_machine)
{
    struct fault fault = FAULT_INIT;
    struct te_header header;
    CHECK_EQ(te_read_header(bytes_over(small, sizeof small, &fault), &header), ERR_NONE);
    CHECK_EQ(header.machine, 0x8664);
    CHECK_EQ(header.section_count, 3);
    CHECK_EQ(header.base_va, UINT64_C(0x400000000000));
}

TEST(every_truncation_is_refused)
{
    for (size_t bytes = 0; bytes < sizeof small; bytes++) {
        struct fault fault = FAULT_INIT;
        struct te_header header;
        CHECK_EQ(te_read_header(bytes_over(small, bytes, &fault), &header), ERR_TRUNCATED);
    }
}
