/* Tables of a document for people, on pages of several widths and in Markdown. What is expected
 * follows from the rules in sheet.h and sheet_table.c, and from GitHub's tables. */
#include <stdio.h>
#include <string.h>

#include "report/sheet.h"
#include "test.h"

enum { COLUMNS = 3, ROWS = 2 };

static const struct row {
    const char *name;
    uint32_t wide; /* 0: Markdown */
    struct sheet_column columns[COLUMNS];
    const char *cells[ROWS][COLUMNS];
    const char *want;
} rows[] = {
    {"as wide as heads and cells, without blanks at the end",
     80,
     {{.head = "n", .align = SHEET_RIGHT}, {.head = "name"}, {.head = "x"}},
     {{"1", "a", "b"}, {"22", "cc", NULL}},
     " n name x\n 1 a    b\n22 cc\n"},
    {"all heads are one letter",
     80,
     {{.head = "n"}, {.head = "m"}, {.head = NULL}},
     {{"1", "a", "b"}, {"2", "c", "d"}},
     "n m\n1 a b\n2 c d\n"},
    {"no heads",
     80,
     {{.head = ""}, {0}, {0}},
     {{"1", "a", "b"}, {"2", "c", "d"}},
     "1 a b\n2 c d\n"},
    {"the lines of a head end at its cells; a colon joins, a hyphen is shown",
     80,
     {{.head = "vec-\ntored"}, {.head = "offset:\nrtl"}, {.head = "x"}},
     {{"1", "a", "b"}, {"2", "c", "d"}},
     "vec-  offset\ntored rtl    x\n1     a      b\n2     c      d\n"},
    {"a least and a most width; what is longer is cut",
     80,
     {{.head = "n", .least = 4}, {.head = "m", .most = 3}, {.head = "x"}},
     {{"1", "abcdef", "b"}, {"2", "c", "d"}},
     "n    m   x\n1    ab… b\n2    c   d\n"},
    {"too narrow: what is kept least is left out and named",
     50,
     {{.head = "n", .keeps = SHEET_ALWAYS},
      {.head = "long\nname", .keeps = 1},
      {.head = "x", .keeps = 2}},
     {{"1", "0123456789012345678901234567890123456789012345678", "b"}, {"2", "c", "d"}},
     "n x\n1 b\n2 d\nnot shown, since the page is too narrow: long name\n"},
    {"too narrow, and the first column is kept least",
     50,
     {{.head = "long\nname", .keeps = 1},
      {.head = "n", .keeps = SHEET_ALWAYS},
      {.head = "x", .keeps = 2}},
     {{"0123456789012345678901234567890123456789012345678", "1", "b"}, {"c", "2", "d"}},
     "n x\n1 b\n2 d\nnot shown, since the page is too narrow: long name\n"},
    {"a wide page has room for exactly this",
     53,
     {{.head = "n", .keeps = SHEET_ALWAYS}, {.head = "m", .keeps = 1}, {.head = "x", .keeps = 2}},
     {{"1", "0123456789012345678901234567890123456789012345678", "b"}, {"2", "c", "d"}},
     "n m                                                 x\n"
     "1 0123456789012345678901234567890123456789012345678 b\n"
     "2 c                                                 d\n"},
    {"long cells go on below",
     28,
     {{.head = "n"}, {.head = "words", .align = SHEET_WRAP}, {.head = "x"}},
     {{"1", "alpha beta gamma delta epsilon", "b"}, {"2", "c", "d"}},
     "n words                    x\n1 alpha beta gamma delta   b\n  epsilon\n"
     "2 c                        d\n"},
    {"the wider of two becomes narrower, 30 to 25",
     52,
     {{.head = "n", .align = SHEET_WRAP}, {.head = "words", .align = SHEET_WRAP}, {.head = "x"}},
     {{"alpha beta gamma delta epsilon", "one two three four fives", "b"}, {"c", "d", "e"}},
     "n                         words                    x\n"
     "alpha beta gamma delta    one two three four fives b\n"
     "epsilon\n"
     "c                         d                        e\n"},
    {"Markdown: a joined head, and nothing is markup",
     0,
     {{.head = "n", .align = SHEET_RIGHT}, {.head = "vec-\ntored"}, {.head = "offset:\nrtl"}},
     {{"1", "a|b", "<b>"}, {"2", "*c*", NULL}},
     "| n | vectored | offset:rtl |\n|--:|---|---|\n| 1 | a\\|b | &lt;b\\> |\n| 2 | \\*c\\* |  "
     "|\n"},
};

static struct sheet_cell cell_of(const void *of, size_t row, size_t column, struct arena *keep)
{
    const struct row *r = of;
    (void)keep;
    return cell_text(INK_PLAIN, r->cells[row][column]);
}

TEST(columns_are_as_wide_as_they_need_and_as_the_page_allows)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena keep;
        struct sheet sheet;
        char name[600];
        size_t bytes;
        test_row(rows[i].name);
        arena_init(&keep, 0);
        (void)snprintf(name, sizeof name, "%s/sheet.txt", test_scratch());
        FILE *out = fopen(name, "wb");
        REQUIRE(out != NULL);
        const struct page page = {.out = out, .columns = rows[i].wide};
        if (rows[i].wide > 0)
            sheet_on_page(&sheet, &page, &keep);
        else
            sheet_as_markdown(&sheet, out, 0, &keep);
        sheet_show(&sheet, rows[i].columns, COLUMNS, cell_of, &rows[i], ROWS);
        REQUIRE(fclose(out) == 0);
        const char *got = (const char *)test_read(name, &bytes);
        CHECK_STR(arena_text(&keep, got, bytes), rows[i].want);
        arena_free(&keep);
    }
}
