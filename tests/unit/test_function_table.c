/* The capture's own lookup in the function table of an image. */
#include "capture/function_table.h"

#include <string.h>

#include "base/array.h"
#include "test.h"

enum { SHARED = 4, ROW_BYTES = 12 };

static const struct cap_function_row image[] = {
    {0x1000, 0x1010, 0x5000},
    {0x1010, 0x1018, SHARED *ROW_BYTES + 1}, /* shares the unwind data of row 4 */
    {0x1020, 0x1040, 0x5010},
    {0x1040, 0x1041, 0x5020},
    {0x2000, 0x2100, 0x5030},
};

TEST(a_row_is_found_by_its_range)
{
    static const struct {
        const char *name;
        uint32_t rva, count;
        int want; /* row; -1: none */
    } rows[] = {
        {"first byte of the first", 0x1000, 5, 0},
        {"last byte", 0x100f, 5, 0},
        {"before the first", 0xfff, 5, -1},
        {"between two functions", 0x1018, 5, -1},
        {"first byte after a gap", 0x1020, 5, 2},
        {"function of one byte", 0x1040, 5, 3},
        {"just after it", 0x1041, 5, -1},
        {"first byte of the last", 0x2000, 5, 4},
        {"last byte of the last", 0x20ff, 5, 4},
        {"after the last", 0x2100, 5, -1},
        {"shared unwind data", 0x1010, 5, SHARED},
        {"shared unwind data, last byte", 0x1017, 5, SHARED},
        {"of an even number of rows", 0x1020, 4, 2},
        {"of an empty table", 0x1000, 0, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct cap_function_row *found = cap_crash_function_row(
            (const uint8_t *)(const void *)image, image, rows[i].count, rows[i].rva);
        CHECK_EQ(found == NULL ? -1 : (int)(found - image), rows[i].want);
    }
}

TEST(a_row_is_laid_out_as_in_an_image)
{
    static const uint8_t bytes[ROW_BYTES] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
    struct cap_function_row row;
    CHECK_EQ(sizeof row, ROW_BYTES);
    memcpy(&row, bytes, sizeof row);
    CHECK(row.start_rva == 1 && row.end_rva == 2 && row.unwind_rva == 3);
}
