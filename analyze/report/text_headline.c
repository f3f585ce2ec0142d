/* The headline in the terminal: see text.h. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "report/text.h"
#include "report/words.h"
#include "study/headline.h"

enum { NAME_COLUMNS = 22, WAY_COLUMNS = 14 };

static const char *ratio_text(double value, double unit, char out[24])
{
    if (isnan(value))
        (void)snprintf(out, 24, "-");
    else
        (void)snprintf(out, 24, value / unit >= 9.95 ? "%.0f" : "%.1f", value / unit);
    return out;
}

/* Writes TEXT after what is already on the line, or on the next line where it does not fit. */
static void put_or_break(const struct page *page, uint32_t *at, const char *text)
{
    const bool fits = *at + text_width(text) <= page->columns;
    if (!fits)
        page_line(page);
    page_cell(page, INK_PLAIN, 0, text);
    *at = (fits ? *at : 0) + text_width(text);
}

/* "= 1.2 ms : 34 µs = 35 : 1", the medians of one stack after a cold start. */
static void print_ratio(const struct page *page, const struct run_figures *report,
                        struct arena *scratch)
{
    const struct way_times r = figures_way_times(report, scratch);
    const char *foreign = figures_foreign_engine(report);
    char a[24], b[24], c[24], text[160];
    uint32_t at = 0;
    if (foreign != NULL) {
        (void)snprintf(text, sizeof text, "dump way (%.40s) : ", strchr(foreign, ':') + 1);
        put_or_break(page, &at, text);
    }
    put_or_break(page, &at, "dump way (ours) : offset way");
    (void)snprintf(text, sizeof text, "  =  %s%s%s : %s",
                   foreign != NULL ? duration_text(r.foreign_ms * 1e6, a) : "",
                   foreign != NULL ? " : " : "", duration_text(r.dump_ms * 1e6, b),
                   duration_text(r.offset_ms * 1e6, c));
    put_or_break(page, &at, text);
    (void)snprintf(text, sizeof text, "  =  %s%s%s : 1",
                   foreign != NULL ? ratio_text(r.foreign_ms, r.offset_ms, a) : "",
                   foreign != NULL ? " : " : "", ratio_text(r.dump_ms, r.offset_ms, b));
    put_or_break(page, &at, text);
    page_line(page);
}

static void print_heads(const struct page *page, const struct headline *h)
{
    page_cell(page, INK_DIM, NAME_COLUMNS, "");
    for (int way = 0; way < WAY_COUNT; way++)
        page_cell(page, INK_DIM, -WAY_COLUMNS, h->columns[way]);
    page_line(page);
}

/* "dying: write (13)": with the most cases that any column has. */
static void print_row(const struct page *page, const struct headline_row *row)
{
    char text[48];
    size_t count = 0;
    for (int way = 0; way < WAY_COUNT; way++)
        if (row->cells[way].spread.count > count)
            count = row->cells[way].spread.count;
    if (row->part)
        (void)snprintf(text, sizeof text, "  %.20s", row->name);
    else if (row->group == HEADLINE_DYING)
        (void)snprintf(text, sizeof text, "dying: %.10s (%zu)", row->name, count);
    else if (row->own)
        (void)snprintf(text, sizeof text, "  no system (%zu)", count);
    else
        (void)snprintf(text, sizeof text, "%s (%zu)", headline_group_name(row->group), count);
    page_cell(page, row->part ? INK_DIM : INK_PLAIN, NAME_COLUMNS, text);
    for (int way = 0; way < WAY_COUNT; way++) {
        const struct headline_cell *cell = &row->cells[way];
        const bool known = cell->state == HEADLINE_MEASURED;
        char value[HEADLINE_TEXT];
        page_cell(page, known && !row->part ? INK_TITLE : INK_DIM, -WAY_COLUMNS,
                  headline_median_text(row, cell, value));
    }
    page_line(page);
}

/* OFFSET: of the number in struct spread. */
static void print_bound(const struct page *page, const struct headline_row *row, const char *name,
                        size_t offset)
{
    page_cell(page, INK_DIM, NAME_COLUMNS, name);
    for (int way = 0; way < WAY_COUNT; way++) {
        const struct headline_cell *cell = &row->cells[way];
        char text[24];
        double value = 0;
        memcpy(&value, (const char *)&cell->spread + offset, sizeof value);
        page_cell(page, INK_DIM, -WAY_COLUMNS,
                  cell->state == HEADLINE_MEASURED ? headline_amount_text(row, value, text) : "");
    }
    page_line(page);
}

/* Runs of older versions have no numbers in some rows. */
static bool is_shown(const struct headline_row *row)
{
    return headline_row_is_known(row) || (!row->own && !row->part);
}

void text_print_headline(const struct page *page, const struct run_figures *report,
                         struct arena *scratch)
{
    struct headline h;
    headline_make(report, scratch, &h);
    if (h.cases == 0)
        return;
    page_title(page, "SPEED");
    print_heads(page, &h);
    for (int r = 0; r < HEADLINE_ROWS; r++)
        if (!h.rows[r].part && is_shown(&h.rows[r]))
            print_row(page, &h.rows[r]);
    if (h.dominates != NULL)
        page_wrap(page, INK_PLAIN, 0, h.dominates);
    const char *notes = arena_printf(scratch, "medians (cases); foreign: %s%s %s",
                                     h.foreign != NULL ? h.foreign : "not measured",
                                     h.foreign != NULL ? "," : ";", h.counts);
    page_wrap_most(page, INK_DIM, 0, 2, notes != NULL ? notes : "");
    print_ratio(page, report, scratch);
}

void text_print_headline_spread(const struct page *page, const struct run_figures *report,
                                struct arena *scratch)
{
    struct headline h;
    headline_make(report, scratch, &h);
    if (h.cases == 0)
        return;
    page_title(page, "SPEED: medians with their spread; parts of the case in the middle");
    print_heads(page, &h);
    for (int r = 0; r < HEADLINE_ROWS; r++) {
        if (is_shown(&h.rows[r]))
            print_row(page, &h.rows[r]);
        if (h.rows[r].part || !headline_row_is_known(&h.rows[r]))
            continue;
        print_bound(page, &h.rows[r], "  least", offsetof(struct spread, least));
        print_bound(page, &h.rows[r], "  most", offsetof(struct spread, most));
    }
    page_wrap(page, INK_DIM, 0, h.counts);
    page_wrap(page, INK_DIM, 0, h.scope);
}
