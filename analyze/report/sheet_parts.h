/* What sheet.c and sheet_table.c share. */
#ifndef REPORT_SHEET_PARTS_H
#define REPORT_SHEET_PARTS_H

#include "report/sheet.h"

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
