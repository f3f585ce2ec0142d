/* Names of numbers: a table with a hole, and one more text after its end. */
#include "model/names.h"
#include "test.h"

TEST(a_name_is_found_in_its_table_alone)
{
    static const char *const names[] = {"first", NULL, "last", "after"};
    static const struct {
        const char *text;
        int count, want;
    } rows[] = {
        {"first", 3, 0}, {"last", 3, 2},   {"after", 3, -1}, {"last", 2, -1},
        {"fir", 3, -1},  {"First", 3, -1}, {"", 3, -1},      {"first", 0, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].text);
        CHECK_EQ(name_index(names, rows[i].count, rows[i].text), rows[i].want);
    }
    CHECK_EQ(name_index(names, 3, NULL), -1);
}
