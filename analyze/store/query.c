/* Prepared statements and transactions: see query.h. */
#include "store/query.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Some of SQLite's writes report a full disk as an error like any other. */
static bool disk_is_full(int code, const struct store *store)
{
    const int number = store->db != NULL ? sqlite3_system_errno(store->db) : 0;
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR && (number == ENOSPC || number == EFBIG));
}

enum status store_fault(const struct store *store, int code, const char *what, struct fault *fault)
{
    enum status status = ERR_IO;
    const char *hint = NULL;
    const bool full = disk_is_full(code, store);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        status = ERR_MEMORY;
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        status = ERR_MALFORMED;
        hint = "this is not a database of twinstack, or it is damaged";
        break;
    case SQLITE_READONLY:
        hint = "the file or its folder may not be written";
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        hint = "another program writes to it; try again";
        break;
    case SQLITE_CANTOPEN:
        hint = "the folder is not there, or may not be written";
        break;
    default:
        hint = sqlite3_errstr(code);
        break;
    }
    if (full)
        hint = "the disk is full";
    (void)fault_set_reason(fault, status, what, full ? FAULT_FULL : FAULT_NO_REASON, hint);
    fault_set_path(fault, store->path);
    return fault->code;
}

struct query query_begin(struct store *store, enum sql sql, struct arena *keep, struct fault *fault)
{
    struct query q = {.store = store, .keep = keep, .fault = fault};
    if (fault->code != ERR_NONE)
        return q;
    if (store->statements[sql] == NULL) {
        const int code =
            sqlite3_prepare_v3(store->db, store_sql[sql], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[sql], NULL);
        if (code != SQLITE_OK) {
            (void)store_fault(store, code, "database schema", fault);
            return q;
        }
    }
    q.statement = store->statements[sql];
    (void)sqlite3_reset(q.statement);
    (void)sqlite3_clear_bindings(q.statement);
    return q;
}

static void check(struct query *q, int code)
{
    if (code == SQLITE_OK)
        return;
    (void)store_fault(q->store, code, "database value", q->fault);
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
        (void)store_fault(q->store, code, "database", q->fault);
    return false;
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

const char *query_get_text(struct query *q)
{
    const int column = q->column++;
    const unsigned char *text = sqlite3_column_text(q->statement, column);
    if (text == NULL)
        return NULL;
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

const void *query_get_blob(struct query *q, size_t *bytes)
{
    const int column = q->column++;
    const void *data = sqlite3_column_blob(q->statement, column);
    *bytes = (size_t)sqlite3_column_bytes(q->statement, column);
    const void *copy = arena_text(q->keep, data != NULL ? data : "", *bytes);
    if (copy == NULL)
        (void)fault_no_memory(q->fault, "file from the database");
    return copy;
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

uint64_t store_text_id(struct store *store, const char *text, struct fault *fault)
{
    uint64_t id = 0;
    for (int round = 0; text != NULL && round < 2 && id == 0 && fault->code == ERR_NONE; round++) {
        struct query find = query_begin(store, SQL_FIND_TEXT, NULL, fault);
        query_text(&find, text);
        id = query_row(&find) ? query_get(&find) : 0;
        (void)query_end(&find);
        if (id == 0) {
            struct query add = query_begin(store, SQL_ADD_TEXT, NULL, fault);
            query_text(&add, text);
            (void)query_run(&add);
        }
    }
    return id;
}

bool store_grow(void *array_pointer, uint32_t count, uint32_t *room, size_t size,
                struct arena *keep, struct fault *fault)
{
    void **array = array_pointer;
    void *grown = arena_reserve(keep, *array, room, (uint64_t)count + 1, size);
    if (grown == NULL) {
        (void)fault_no_memory(fault, "rows from the database");
        return false;
    }
    *array = grown;
    return true;
}

uint64_t query_added(const struct store *store)
{
    return (uint64_t)sqlite3_last_insert_rowid(store->db);
}

enum status store_begin(struct store *store, struct fault *fault)
{
    if (store->nested++ > 0)
        return fault->code;
    struct query q = query_begin(store, SQL_BEGIN, NULL, fault);
    if (query_run(&q) != ERR_NONE)
        store->nested--;
    return fault->code;
}

enum status store_end(struct store *store, enum status status, struct fault *fault)
{
    if (--store->nested > 0)
        return status;
    if (status == ERR_NONE) {
        struct query q = query_begin(store, SQL_COMMIT, NULL, fault);
        status = query_run(&q);
    }
    if (status != ERR_NONE && sqlite3_get_autocommit(store->db) == 0)
        (void)sqlite3_exec(store->db, store_sql[SQL_ROLLBACK], NULL, NULL, NULL);
    return status;
}
