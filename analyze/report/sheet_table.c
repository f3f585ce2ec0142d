/* Tables: see sheet.h. Every column is as wide as its cells and heads, with a blank between; what
 * does not fit is wrapped, left out or cut, in this order. */
#include <stdarg.h>
#include <string.h>

#include "report/sheet.h"

enum { HEAD_BYTES = 96, WRAP_LEAST = 20, FIRST_LEAST = 14 };

/* ---- heads ---------------------------------------------------------------------------- */

static int head_lines(const char *head)
{
    int lines = 1;
    for (; *head != 0; head++)
        lines += *head == '\n';
    return lines;
}

/* Line AT; without the colon or hyphen that joins it to the next one in Markdown. */
static const char *head_line(const char *head, int at, char out[HEAD_BYTES])
{
    for (; at > 0; at--)
        head = strchr(head, '\n') + 1;
    size_t size = strcspn(head, "\n");
    if (size > 0 && head[size] == '\n' && head[size - 1] == ':')
        size--;
    (void)snprintf(out, HEAD_BYTES, "%.*s", (int)size, head);
    return out;
}

static int head_width(const char *head)
{
    char line[HEAD_BYTES];
    int width = 0;
    for (int i = 0; i < head_lines(head); i++) {
        const int own = (int)text_width(head_line(head, i, line));
        width = own > width ? own : width;
    }
    return width;
}

/* "vec-\ntored" is "vectored", "offset:\nrtl" "offset:rtl", "invalid\nparam." two words. */
static const char *joined_head(const char *head, char out[HEAD_BYTES])
{
    size_t size = 0;
    for (; *head != 0 && size + 2 < HEAD_BYTES; head++) {
        if (*head == '-' && head[1] == '\n')
            head++;
        else if (*head != '\n')
            out[size++] = *head;
        else if (head[1] != '-' && size > 0 && out[size - 1] != ':')
            out[size++] = ' ';
    }
    out[size] = 0;
    return out;
}

static bool has_heads(const struct sheet_table *t)
{
    for (size_t c = 0; c < t->count; c++)
        if (t->columns[c].head != NULL && t->columns[c].head[0] != 0)
            return true;
    return false;
}

static const char *head_of(const struct sheet_table *t, size_t column)
{
    return t->columns[column].head != NULL ? t->columns[column].head : "";
}

/* ---- widths --------------------------------------------------------------------------- */

void sheet_table_measure(struct sheet *s, struct sheet_table *t, const void *rows, size_t count)
{
    struct arena own;
    arena_init(&own, 0);
    for (size_t r = 0; r < count && !s->markdown; r++) {
        arena_reset(&own);
        for (size_t c = 0; c < t->count; c++) {
            const struct sheet_cell cell = t->cell(rows, r, c, &own);
            const int width = cell.text != NULL && !cell.spans ? (int)text_width(cell.text) : 0;
            t->widths[c] = width > t->widths[c] ? width : t->widths[c];
        }
    }
    arena_free(&own);
}

/* Of all columns that are shown, with the blanks between them. */
static int whole_width(const struct sheet_table *t)
{
    int width = -1;
    for (size_t c = 0; c < t->count; c++)
        width += t->widths[c] > 0 ? t->widths[c] + 1 : 0;
    return width;
}

/* The column that is left out first; COUNT: all must stay. */
static size_t least_kept(const struct sheet_table *t)
{
    size_t out = t->count;
    int keeps = SHEET_ALWAYS;
    for (size_t c = 0; c < t->count; c++)
        if (t->widths[c] > 0 && t->columns[c].keeps < keeps) {
            keeps = t->columns[c].keeps;
            out = c;
        }
    return out;
}

/* Of those that may still become narrower; COUNT: none. */
static size_t widest_wrap(const struct sheet_table *t)
{
    size_t out = t->count;
    int most = WRAP_LEAST;
    for (size_t c = 0; c < t->count; c++)
        if (t->columns[c].align == SHEET_WRAP && t->widths[c] > most) {
            most = t->widths[c];
            out = c;
        }
    return out;
}

static void fit(struct sheet_table *t, int columns)
{
    for (size_t c = 0; c < t->count; c++) {
        const struct sheet_column *column = &t->columns[c];
        const int head = head_width(head_of(t, c));
        const int least = column->least > head ? column->least : head;
        if (column->most > 0 && t->widths[c] > column->most)
            t->widths[c] = column->most;
        t->widths[c] = t->widths[c] < least ? least : t->widths[c];
    }
    for (size_t widest = widest_wrap(t); whole_width(t) > columns && widest < t->count;
         widest = widest_wrap(t))
        t->widths[widest]--;
    while (whole_width(t) > columns) {
        const size_t out = least_kept(t);
        if (out == t->count)
            break;
        t->widths[out] = 0;
    }
    const int more = whole_width(t) - columns;
    if (more > 0)
        t->widths[0] = t->widths[0] - more > FIRST_LEAST ? t->widths[0] - more : FIRST_LEAST;
}

/* ---- rows ----------------------------------------------------------------------------- */

/* A line of cells; blanks at its end are never written. */
struct row_line {
    const struct page *page;
    int blanks;
};

static void put_cell(struct row_line *line, enum ink ink, int width, bool right, const char *text)
{
    const int have = (int)text_width(text), pad = width > have ? width - have : 0;
    if (have > 0) {
        line->blanks += right ? pad : 0;
        if (line->blanks > 0)
            page_cell(line->page, INK_PLAIN, line->blanks, "");
        page_cell(line->page, ink, have > width ? width : 0, text);
        line->blanks = right ? 0 : pad;
    } else {
        line->blanks += width;
    }
    line->blanks++;
}

static void print_heads(struct sheet *s, const struct sheet_table *t)
{
    int most = 0;
    for (size_t c = 0; c < t->count; c++)
        if (t->widths[c] > 0 && head_lines(head_of(t, c)) > most)
            most = head_lines(head_of(t, c));
    for (int i = 0; i < most; i++) {
        struct row_line line = {&s->page, 0};
        for (size_t c = 0; c < t->count; c++) {
            char text[HEAD_BYTES] = "";
            const int at = i - (most - head_lines(head_of(t, c)));
            if (t->widths[c] > 0)
                put_cell(&line, INK_DIM, t->widths[c], t->columns[c].align == SHEET_RIGHT,
                         at >= 0 ? head_line(head_of(t, c), at, text) : "");
        }
        page_line(&s->page);
    }
}

/* What of TEXT is on its next line of WIDTH columns; moves *TEXT past it. */
static const char *take_line(const char **text, int width, struct arena *keep)
{
    const char *end = page_line_end(*text, (uint32_t)width);
    const char *line = arena_text(keep, *text, (size_t)(end - *text));
    *text = end + strspn(end, " ");
    return line != NULL ? line : "";
}

static void print_row(struct sheet *s, const struct sheet_table *t, const struct sheet_cell *cells)
{
    const char *rest[SHEET_COLUMNS_MAX];
    bool more = true;
    struct arena own;
    arena_init(&own, 0);
    for (size_t c = 0; c < t->count; c++)
        rest[c] = cells[c].text != NULL ? cells[c].text : "";
    for (int i = 0; more; i++) {
        struct row_line line = {&s->page, 0};
        more = false;
        for (size_t c = 0; c < t->count; c++) {
            const bool wraps = t->columns[c].align == SHEET_WRAP;
            if (t->widths[c] == 0)
                continue;
            const int width = cells[c].spans ? (int)text_width(rest[c]) : t->widths[c];
            const char *text = i == 0 ? rest[c] : "";
            if (wraps)
                text = take_line(&rest[c], width, &own);
            put_cell(&line, cells[c].ink, width, t->columns[c].align == SHEET_RIGHT, text);
            more = more || (wraps && rest[c][0] != 0);
            if (cells[c].spans)
                break;
        }
        page_line(&s->page);
    }
    arena_free(&own);
}

static void write_row(struct sheet *s, const struct sheet_table *t, const struct sheet_cell *cells)
{
    if (!s->markdown) {
        print_row(s, t, cells);
        return;
    }
    sheet_put(s, "|");
    for (size_t c = 0; c < t->count; c++) {
        sheet_put(s, " ");
        sheet_put_text(s, cells[c].text);
        sheet_put(s, " |");
    }
    sheet_put(s, "\n");
}

void sheet_table_begin(struct sheet *s, struct sheet_table *t)
{
    char text[HEAD_BYTES];
    sheet_block(s, SHEET_TABLE);
    if (!s->markdown) {
        fit(t, (int)s->page.columns);
        if (has_heads(t))
            print_heads(s, t);
        return;
    }
    sheet_put(s, "|");
    for (size_t c = 0; c < t->count; c++) {
        sheet_put(s, " ");
        sheet_put_text(s, joined_head(head_of(t, c), text));
        sheet_put(s, " |");
    }
    sheet_put(s, "\n|");
    for (size_t c = 0; c < t->count; c++)
        sheet_put(s, t->columns[c].align == SHEET_RIGHT ? "--:|" : "---|");
    sheet_put(s, "\n");
}

void sheet_table_rows(struct sheet *s, struct sheet_table *t, const void *rows, size_t count)
{
    struct sheet_cell cells[SHEET_COLUMNS_MAX];
    struct arena own;
    arena_init(&own, 0);
    for (size_t r = 0; r < count; r++) {
        struct sheet dry;
        arena_reset(&own);
        for (size_t c = 0; c < t->count && !t->full; c++)
            cells[c] = t->cell(rows, r, c, &own);
        sheet_count(&dry, s);
        if (!t->full && (s->most_lines > 0 || s->most_bytes > 0)) {
            write_row(&dry, t, cells);
            t->full = !sheet_fits(s, &dry, r + 1 == count);
        }
        const size_t things = t->stands_for != NULL ? t->stands_for(rows, r) : 1;
        t->left += t->full ? things : 0;
        t->shown += t->full ? 0 : things;
        if (!t->full)
            write_row(s, t, cells);
    }
    arena_free(&own);
}

void sheet_table_end(struct sheet *s, struct sheet_table *t)
{
    const char *names = NULL;
    char head[HEAD_BYTES];
    sheet_more(s, t->left, true, t->thing != NULL ? t->thing : "row", t->elsewhere);
    for (size_t c = 0; c < t->count && !s->markdown; c++)
        if (t->widths[c] == 0 && head_of(t, c)[0] != 0)
            names = arena_printf(s->keep, "%s%s%s", names != NULL ? names : "",
                                 names != NULL ? ", " : "", joined_head(head_of(t, c), head));
    if (names != NULL)
        sheet_text(s, INK_DIM, 0, 0,
                   arena_printf(s->keep, "not shown, since the page is too narrow: %s", names));
}

void sheet_table(struct sheet *s, struct sheet_table *t, const void *rows, size_t count)
{
    sheet_table_measure(s, t, rows, count);
    sheet_table_begin(s, t);
    sheet_table_rows(s, t, rows, count);
    sheet_table_end(s, t);
}

void sheet_show(struct sheet *s, const struct sheet_column *columns, size_t column_count,
                sheet_cell_fn *cell, const void *rows, size_t count)
{
    struct sheet_table table = {.columns = columns, .count = column_count, .cell = cell};
    sheet_table(s, &table, rows, count);
}

struct sheet_cell cell_text(enum ink ink, const char *text)
{
    return (struct sheet_cell){ink, text, false};
}

struct sheet_cell cell_format(struct arena *keep, enum ink ink, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const char *text = arena_vprintf(keep, format, list);
    va_end(list);
    return cell_text(ink, text);
}
