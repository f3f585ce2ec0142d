/* A document for people: headings, sentences, lists and tables. The caller says what it
 * has; the terminal and Markdown print the same one. Widths, wrapping, cuts, columns and rows that
 * find no room ("and 7 more cases"), and what would be markup in a text from a dump are decided
 * here. */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include "base/arena.h"
#include "base/fault.h"
#include "report/page.h"

enum sheet_block { SHEET_NOTHING, SHEET_HEADING, SHEET_TEXT, SHEET_ITEM, SHEET_TABLE };

struct sheet {
    struct page page; /* of Markdown only its stream */
    bool markdown;
    uint32_t lines; /* of the terminal, and bytes of Markdown, so far */
    size_t bytes;
    /* Rows and entries that would exceed these are left out and counted; 0: no limit. Headings and
     * sentences are always written. */
    uint32_t most_lines;
    size_t most_bytes;
    enum sheet_block last;
    struct arena *keep; /* for the texts of a document */
};

void sheet_on_page(struct sheet *s, const struct page *page, struct arena *keep);
void sheet_as_markdown(struct sheet *s, FILE *out, size_t most_bytes, struct arena *keep);

/* Writes nothing, and counts what S would write. */
void sheet_count(struct sheet *dry, const struct sheet *s);

/* "SPEED: medians" or "### Speed: medians": NAME is in capitals on a terminal. */
void sheet_heading(struct sheet *s, const char *name, const char *rest);

#if defined(__GNUC__)
#define SHEET_FORMAT(at) __attribute__((format(printf, at, (at) + 1)))
#else
#define SHEET_FORMAT(at)
#endif
void sheet_textf(struct sheet *s, enum ink ink, const char *format, ...) SHEET_FORMAT(3);

/* Markdown as it is; nothing on a terminal. */
void sheet_raw(struct sheet *s, const char *text);

/* A paragraph. MOST: lines on a terminal, 0: any number; the others begin after INDENT columns. */
void sheet_text(struct sheet *s, enum ink ink, uint32_t indent, uint32_t most, const char *text);

/* A paragraph of texts and, at odd places, what can be typed: "more: ", "twinstack report". */
void sheet_commands(struct sheet *s, const char *const *parts, size_t count);

/* Folds away what follows in Markdown; a heading on a terminal. */
void sheet_fold(struct sheet *s, const char *title);
void sheet_unfold(struct sheet *s);

/* ---- lists ---------------------------------------------------------------------------- */

/* NULL: there is none. */
struct sheet_entry {
    enum ink ink;                /* of HEAD */
    const char *head;            /* "✗ FAIL  " */
    const char *text;            /* after it */
    const char *why;             /* on lines of its own */
    const char *note;            /* likewise, dim */
    const char *command;         /* after NOTE: what can be typed */
    uint32_t most;               /* lines of TEXT and of WHY; 0: any number */
    uint32_t why_most;           /* of WHY, where it has others; 0: MOST */
    uint32_t indent, stands_for; /* of TEXT's other lines; 0: the width of HEAD; 0: one thing */
    uint32_t why_indent;         /* 0: 2 */
};

/* Entry AT of ROWS; its texts live until the next one is asked for, in KEEP or elsewhere. */
typedef void sheet_entry_fn(const void *rows, size_t at, struct arena *keep,
                            struct sheet_entry *out);

/* "and 7 more cases, listed below": THING is "case", ELSEWHERE ", listed below" or NULL. Returns
 * how many things found no room. */
size_t sheet_list(struct sheet *s, sheet_entry_fn *entry, const void *rows, size_t count,
                  const char *thing, const char *elsewhere);

/* ---- tables --------------------------------------------------------------------------- */

enum sheet_align { SHEET_LEFT, SHEET_RIGHT, SHEET_WRAP /* long cells continue on the next line */ };
enum { SHEET_ALWAYS = 1000, SHEET_COLUMNS_MAX = 72 };

struct sheet_column {
    const char *head; /* '\n' breaks it on a terminal; nothing else does */
    int least, most;  /* width; 0: as wide as its cells */
    int keeps;        /* on a narrow page the smallest are left out first, and named below */
    enum sheet_align align;
};

struct sheet_cell {
    enum ink ink;
    const char *text; /* NULL: empty */
    bool spans;       /* over the cells after it, which are empty */
};

struct sheet_cell cell_text(enum ink ink, const char *text);
struct sheet_cell cell_format(struct arena *keep, enum ink ink, const char *format, ...)
    SHEET_FORMAT(3);

typedef struct sheet_cell sheet_cell_fn(const void *rows, size_t row, size_t column,
                                        struct arena *keep);

struct sheet_table {
    const struct sheet_column *columns;
    size_t count;
    sheet_cell_fn *cell;
    const char *thing; /* what a row is: "case"; NULL: "row" */
    const char *elsewhere;
    uint32_t (*stands_for)(const void *rows, size_t row); /* how many things; NULL: one */
    int widths[SHEET_COLUMNS_MAX];                        /* from here on its own; 0: left out */
    size_t shown, left;                                   /* things */
    bool full;
};

void sheet_table(struct sheet *s, struct sheet_table *table, const void *rows, size_t count);

/* A table that needs nothing else. */
void sheet_show(struct sheet *s, const struct sheet_column *columns, size_t column_count,
                sheet_cell_fn *cell, const void *rows, size_t count);

/* The same for rows that come some at a time, twice: all are measured, then written. */
void sheet_table_measure(struct sheet *s, struct sheet_table *table, const void *rows,
                         size_t count);
void sheet_table_begin(struct sheet *s, struct sheet_table *table);
void sheet_table_rows(struct sheet *s, struct sheet_table *table, const void *rows, size_t count);
void sheet_table_end(struct sheet *s, struct sheet_table *table);

/* ---- what blocks are made of ---- */

/* Markdown as it is; and a text of which nothing may be markup. */
void sheet_put(struct sheet *s, const char *text);
void sheet_put_text(struct sheet *s, const char *text);

/* To be called before each block: in Markdown, a blank line is between most of them. */
void sheet_block(struct sheet *s, enum sheet_block block);

/* True when S may become DRY, and the line about what is left out still fits; LAST: nothing will
 * be. */
bool sheet_fits(const struct sheet *s, const struct sheet *dry, bool last);

/* "and 7 more cases"; ANY: of which some are shown. */
void sheet_more(struct sheet *s, size_t left, bool any, const char *thing, const char *elsewhere);

#endif
