/* Prepared statements: see query.h. */
#include "database/query.h"

#include <math.h>
#include <string.h>

struct query database_query(struct database *d, uint32_t text, struct arena *keep,
                            struct fault *fault)
{
    struct query q = {.database = d, .keep = keep, .fault = fault};
    if (fault->code != ERR_NONE)
        return q;
    if (d->statements[text] == NULL) {
        const int code = sqlite3_prepare_v3(d->db, d->kind->texts[text], -1,
                                            SQLITE_PREPARE_PERSISTENT, &d->statements[text], NULL);
        if (code != SQLITE_OK) {
            (void)database_fault(d, code, "database schema", fault);
            return q;
        }
    }
    q.statement = d->statements[text];
    (void)sqlite3_reset(q.statement);
    (void)sqlite3_clear_bindings(q.statement);
    return q;
}

static void check(struct query *q, int code)
{
    if (code == SQLITE_OK)
        return;
    (void)database_fault(q->database, code, "database value", q->fault);
    q->statement = NULL;
}

void query_signed(struct query *q, int64_t value)
{
    if (q->statement != NULL)
        check(q, sqlite3_bind_int64(q->statement, ++q->bound, value));
}

void query_int(struct query *q, uint64_t value)
{
    query_signed(q, (int64_t)value);
}

void query_id(struct query *q, uint64_t id)
{
    if (id != 0)
        query_int(q, id);
    else
        q->bound++; /* cleared bindings are NULL */
}

void query_text(struct query *q, const char *text)
{
    if (text == NULL)
        q->bound++;
    else if (q->statement != NULL)
        check(q, sqlite3_bind_text(q->statement, ++q->bound, text, -1, SQLITE_TRANSIENT));
}

void query_blob(struct query *q, const void *data, size_t bytes)
{
    if (q->statement != NULL)
        check(q, sqlite3_bind_blob64(q->statement, ++q->bound, bytes > 0 ? data : "", bytes,
                                     SQLITE_TRANSIENT));
}

bool query_row(struct query *q)
{
    if (q->statement == NULL || q->fault->code != ERR_NONE)
        return false;
    const int code = sqlite3_step(q->statement);
    q->column = 0;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        (void)database_fault(q->database, code, NULL, q->fault);
    return false;
}

void *query_row_of(struct query *q, void *array, uint32_t *count, size_t size)
{
    void **items = array;
    if (q->room == 0) {
        *items = NULL;
        *count = 0;
    }
    if (!query_row(q))
        return NULL;
    void *grown = arena_reserve(q->keep, *items, &q->room, (uint64_t)*count + 1, size);
    if (grown == NULL) {
        (void)fault_no_memory(q->fault, "rows from the database");
        return NULL;
    }
    *items = grown;
    return (char *)grown + size * (*count)++;
}

int64_t query_get_signed(struct query *q)
{
    return sqlite3_column_int64(q->statement, q->column++);
}

uint64_t query_get(struct query *q)
{
    return (uint64_t)query_get_signed(q);
}

double query_get_number(struct query *q)
{
    const int column = q->column++;
    if (sqlite3_column_type(q->statement, column) == SQLITE_NULL)
        return (double)NAN;
    return sqlite3_column_double(q->statement, column);
}

const char *query_see_text(struct query *q)
{
    return (const char *)sqlite3_column_text(q->statement, q->column++);
}

const char *query_get_text(struct query *q)
{
    return query_get_text_like(q, NULL);
}

const char *query_get_text_like(struct query *q, const char *before)
{
    const int column = q->column++;
    const unsigned char *text = sqlite3_column_text(q->statement, column);
    if (text == NULL)
        return NULL;
    if (before != NULL && strcmp(before, (const char *)text) == 0)
        return before;
    const size_t bytes = (size_t)sqlite3_column_bytes(q->statement, column);
    const char *copy = q->texts != NULL ? text_pool_add(q->texts, (const char *)text, bytes)
                                        : arena_text(q->keep, (const char *)text, bytes);
    if (copy == NULL)
        (void)fault_no_memory(q->fault, "text from the database");
    return copy;
}

void query_skip(struct query *q)
{
    q->column++;
}

const void *query_see_blob(struct query *q, size_t *bytes)
{
    const int column = q->column++;
    const void *data = sqlite3_column_blob(q->statement, column);
    *bytes = (size_t)sqlite3_column_bytes(q->statement, column);
    return data != NULL ? data : "";
}

enum status query_end(struct query *q)
{
    if (q->statement != NULL)
        (void)sqlite3_reset(q->statement);
    q->statement = NULL;
    return q->fault->code;
}

enum status query_run(struct query *q)
{
    while (query_row(q)) {
    }
    return query_end(q);
}
