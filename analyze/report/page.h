/* A page of text: columns that line up whatever characters they contain, and colours where the
 * terminal shows them. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum ink { INK_PLAIN, INK_GOOD, INK_BAD, INK_WARN, INK_DIM, INK_TITLE };

struct page {
    FILE *out; /* NULL: nothing is written, lines are only counted */
    bool color;
    uint32_t columns;
    uint32_t *lines; /* counts the lines that were ended; may be NULL */
};

/* The number of characters of a UTF-8 text; each takes one column on a terminal. */
uint32_t text_width(const char *text);

/* Writes TEXT in exactly WIDTH columns, cut with an ellipsis or padded; a negative width aligns
 * right, 0 takes what the text needs.  Control characters, which may come from dumps, are written
 * as '?'. */
void page_cell(const struct page *page, enum ink ink, int width, const char *text);
void page_cellf(const struct page *page, enum ink ink, int width, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Writes TEXT wrapped at the page's width, each line after INDENT columns; the caller has written
 * the first line up to there. Ends the line. */
void page_wrap(const struct page *page, enum ink ink, uint32_t indent, const char *text);

/* The same on at most MOST lines (0: any number); a longer text ends in " ...". */
void page_wrap_most(const struct page *page, enum ink ink, uint32_t indent, uint32_t most,
                    const char *text);

/* The end of the line that begins at TEXT and has ROOM characters: after a word where it can be. */
const char *page_line_end(const char *text, uint32_t room);

void page_title(const struct page *page, const char *title);
void page_line(const struct page *page);

#endif
