/* See terminal.h. */
#include "verbs/terminal.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"

enum { COLUMNS_ELSEWHERE = 100, COLUMNS_LEAST = 60, COLUMNS_MOST = 200 };

static bool has_colors(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return file_is_terminal(stdout) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

struct page terminal_page(void)
{
    uint32_t columns = file_terminal_columns(stdout);
    if (columns == 0)
        columns = COLUMNS_ELSEWHERE;
    else if (columns < COLUMNS_LEAST)
        columns = COLUMNS_LEAST;
    else if (columns > COLUMNS_MOST)
        columns = COLUMNS_MOST;
    return (struct page){stdout, has_colors(), columns, NULL};
}

struct report_style terminal_style(void)
{
    const struct page page = terminal_page();
    return (struct report_style){.columns = page.columns, .color = page.color};
}
