/* One statement of the totals at work. What is bound outlives the statement's run; a NULL is not
 * bound. After a fault no statement gives a row. */
#ifndef STREAM_TOTALS_STATEMENT_H
#define STREAM_TOTALS_STATEMENT_H

#include "stream/totals_days.h"
#include "stream/totals_file.h"

/* For one use: the caller finalizes it. NULL: see FAULT. */
sqlite3_stmt *statement_once(struct totals *t, const char *text, struct fault *fault);

void statement_bind(sqlite3_stmt *statement, int at, const char *text);
void statement_bind_number(sqlite3_stmt *statement, int at, uint64_t value);

/* True for a row; otherwise the statement is at its start again, and a failure is in FAULT. */
bool statement_next(struct totals *t, sqlite3_stmt *statement, struct fault *fault);

/* To its end, of which no row is looked at. */
enum status statement_run(struct totals *t, sqlite3_stmt *statement, struct fault *fault);

const char *statement_text(sqlite3_stmt *statement, int column, struct arena *keep);
uint64_t statement_number(sqlite3_stmt *statement, int column);

#endif
