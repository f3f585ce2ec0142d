/* Results that came in slices, until they are whole: see slice.h. */
#include <string.h>

#include "base/text.h"
#include "stream/totals_statement.h"

static const char find_report[] = "SELECT 1 FROM report WHERE id = ?1";
static const char add_slice[] = "INSERT OR IGNORE INTO slice VALUES (?1, ?2, ?3, ?4, ?5)";
static const char read_slices[] = "SELECT data FROM slice WHERE of = ?1 AND digest = ?2"
                                  " ORDER BY number";
static const char count_slices[] = "SELECT count(*), sum(length(data)) FROM slice"
                                   " WHERE of = ?1 AND digest = ?2";
static const char delete_slices[] = "DELETE FROM slice WHERE of = ?1";

/* The statement for SLICE; NULL: see FAULT. The texts outlive it. */
static sqlite3_stmt *prepared(struct totals *t, const char *text, const struct slice *slice,
                              struct fault *fault)
{
    sqlite3_stmt *statement = statement_once(t, text, fault);
    statement_bind(statement, 1, slice->of);
    if (sqlite3_bind_parameter_count(statement) > 1)
        statement_bind(statement, 2, slice->digest);
    return statement;
}

static bool is_counted(struct totals *t, const struct slice *slice, struct fault *fault)
{
    sqlite3_stmt *statement = prepared(t, find_report, slice, fault);
    const bool is = statement_next(t, statement, fault);
    (void)sqlite3_finalize(statement);
    return is;
}

static void store(struct totals *t, const struct slice *slice, struct fault *fault)
{
    sqlite3_stmt *statement = prepared(t, add_slice, slice, fault);
    if (statement != NULL) {
        statement_bind_number(statement, 3, slice->number);
        statement_bind(statement, 4, t->day);
        (void)sqlite3_bind_blob(statement, 5, slice->data, (int)slice->bytes, SQLITE_STATIC);
    }
    (void)statement_next(t, statement, fault);
    (void)sqlite3_finalize(statement);
}

/* The bytes of all slices; 0: some are missing. */
static size_t whole_bytes(struct totals *t, const struct slice *slice, struct fault *fault)
{
    sqlite3_stmt *statement = prepared(t, count_slices, slice, fault);
    const bool has_all = statement_next(t, statement, fault) &&
                         sqlite3_column_int64(statement, 0) == (sqlite3_int64)slice->count;
    const size_t bytes = has_all ? (size_t)sqlite3_column_int64(statement, 1) : 0;
    (void)sqlite3_finalize(statement);
    return bytes;
}

static void read_whole(struct totals *t, const struct slice *slice, char *out, size_t bytes,
                       struct fault *fault)
{
    char digest[65];
    size_t at = 0;
    sqlite3_stmt *statement = prepared(t, read_slices, slice, fault);
    while (statement_next(t, statement, fault)) {
        const size_t more = (size_t)sqlite3_column_bytes(statement, 0);
        if (more > bytes - at)
            break;
        memcpy(out + at, sqlite3_column_blob(statement, 0), more);
        at += more;
    }
    (void)sqlite3_finalize(statement);
    text_sha256(out, at, digest);
    if (fault->code == ERR_NONE && strcmp(digest, slice->digest) != 0)
        (void)fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "slices of a partial result");
}

enum status totals_add_slice(struct totals *totals, const struct slice *slice, struct arena *keep,
                             const char **whole, size_t *bytes, struct fault *fault)
{
    *whole = NULL;
    /* A slice has no time of its own, and the clock here is no reason to go on by days: it has the
     * day of the newest id. */
    if ((totals->day[0] == '\0' && totals_set_day(totals, NULL, fault) != ERR_NONE) ||
        is_counted(totals, slice, fault))
        return fault->code;
    store(totals, slice, fault);
    *bytes = whole_bytes(totals, slice, fault);
    if (*bytes == 0 || fault->code != ERR_NONE)
        return fault->code;
    char *text = arena_alloc(keep, *bytes + 1);
    if (text == NULL)
        return fault_no_memory(fault, "slices of a partial result");
    read_whole(totals, slice, text, *bytes, fault);
    sqlite3_stmt *statement = prepared(totals, delete_slices, slice, fault);
    (void)statement_next(totals, statement, fault);
    (void)sqlite3_finalize(statement);
    *whole = text;
    return fault->code;
}
