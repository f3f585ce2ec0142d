/* See totals_statement.h. */
#include "stream/totals_statement.h"

sqlite3_stmt *statement_once(struct totals *t, const char *text, struct fault *fault)
{
    sqlite3_stmt *statement = NULL;
    if (fault->code == ERR_NONE &&
        sqlite3_prepare_v2(t->db, text, -1, &statement, NULL) != SQLITE_OK)
        (void)totals_failed(t, fault);
    return statement;
}

void statement_bind(sqlite3_stmt *statement, int at, const char *text)
{
    if (text != NULL)
        (void)sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

void statement_bind_number(sqlite3_stmt *statement, int at, uint64_t value)
{
    (void)sqlite3_bind_int64(statement, at, (sqlite3_int64)value);
}

bool statement_next(struct totals *t, sqlite3_stmt *statement, struct fault *fault)
{
    const bool goes = statement != NULL && fault->code == ERR_NONE;
    const int code = goes ? sqlite3_step(statement) : SQLITE_DONE;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        (void)totals_failed(t, fault);
    (void)sqlite3_reset(statement);
    return false;
}

enum status statement_run(struct totals *t, sqlite3_stmt *statement, struct fault *fault)
{
    (void)statement_next(t, statement, fault);
    (void)sqlite3_reset(statement);
    return fault->code;
}

const char *statement_text(sqlite3_stmt *statement, int column, struct arena *keep)
{
    return arena_string(keep, (const char *)sqlite3_column_text(statement, column));
}

uint64_t statement_number(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}
