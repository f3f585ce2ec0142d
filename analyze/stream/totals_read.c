/* What is read from the totals: the ranking of problems, and one problem. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/result.h"
#include "stream/totals_statement.h"

enum read {
    READ_ALL,
    READ_HOURS,
    READ_ALL_VERSIONS,
    READ_NEW,
    READ_TOP,
    READ_RANK,
    READ_VERSIONS,
    READ_BY_VERSION,
    READ_TREND,
    READ_AGREEMENT, /* the last: not in a file of version 1 */
    READS
};

#define SUBJECTS "'" ENGINE_NAME_DUMP "', '" ENGINE_NAME_OFFSET "'"

/* Version ?4 came in this hour; NULL: it has no reports. */
#define CAME "(SELECT min(hour) FROM total WHERE version = ?4 AND hour <> '')"
#define OLDER                                                                                      \
    "(SELECT version FROM total WHERE version <> '' AND hour <> '' GROUP BY version"               \
    " HAVING min(hour) < " CAME " OR min(hour) = " CAME " AND version < ?4)"
/* Signature s is new: since day ?3 and version ?4, if these are given. */
#define IS_NEW                                                                                     \
    "((?3 IS NOT NULL OR ?4 IS NOT NULL) AND (?3 IS NULL OR s.first_seen >= ?3)"                   \
    " AND (?4 IS NULL OR " CAME " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM tally o"               \
    " WHERE o.signature = s.id AND (o.version IN " OLDER " OR o.version = '' AND o.hour < " CAME   \
    "))))"

/* ?1: the version or NULL; ?2: at most so many rows. */
static const char *const texts[READS] = {
    [READ_ALL] = "SELECT coalesce(sum(stacks), 0), coalesce(sum(bad), 0),"
                 " coalesce(sum(reports), 0), min(hour), max(hour),"
                 " CASE WHEN ?1 IS NULL THEN (SELECT count(*) FROM signature) ELSE"
                 " (SELECT count(DISTINCT signature) FROM tally WHERE version = ?1) END"
                 " FROM total WHERE ?1 IS NULL OR version = ?1",
    [READ_HOURS] = "SELECT hour, sum(stacks) FROM total WHERE ?1 IS NULL OR version = ?1"
                   " GROUP BY hour ORDER BY hour DESC LIMIT ?2",
    [READ_ALL_VERSIONS] = "SELECT version, sum(reports), sum(stacks), min(hour), max(hour)"
                          " FROM total WHERE version <> '' GROUP BY version"
                          " ORDER BY min(hour) DESC, version DESC LIMIT ?2",
    [READ_NEW] = "SELECT count(*) FROM signature s WHERE " IS_NEW " AND (?1 IS NULL OR EXISTS"
                 " (SELECT 1 FROM tally t WHERE t.signature = s.id AND t.version = ?1))",
    [READ_TOP] = "SELECT s.id, s.text, s.first_seen, s.last_seen, s.example, sum(t.count) n,"
                 " sum(t.error), " IS_NEW " is_new"
                 " FROM tally t JOIN signature s ON s.id = t.signature"
                 " WHERE (?1 IS NULL OR t.version = ?1) AND (?6 IS NULL OR s.id IN"
                 " (SELECT id FROM signature WHERE problem_key(text) = ?6))"
                 " GROUP BY s.id HAVING is_new OR NOT ?7 ORDER BY n DESC, s.text"
                 " LIMIT ?2 OFFSET ?5",
    [READ_RANK] = "SELECT count(*) + 1 FROM (SELECT sum(t.count) n, s.text text FROM tally t"
                  " JOIN signature s ON s.id = t.signature WHERE ?1 IS NULL OR t.version = ?1"
                  " GROUP BY s.id) WHERE n > ?2 OR n = ?2 AND text < ?3",
    [READ_VERSIONS] = "SELECT group_concat(version, ', ') FROM (SELECT DISTINCT version FROM tally"
                      " WHERE signature = ?3 AND version <> '' ORDER BY version)",
    [READ_BY_VERSION] = "SELECT version, 0, sum(count), min(hour), max(hour) FROM tally"
                        " WHERE signature = ?3 GROUP BY version"
                        " ORDER BY min(hour) DESC, version DESC LIMIT ?2",
    [READ_TREND] = "SELECT hour, sum(count) FROM tally WHERE signature = ?3"
                   " AND (?1 IS NULL OR version = ?1) GROUP BY hour ORDER BY hour DESC LIMIT ?2",
    [READ_AGREEMENT] = "SELECT count(*), sum(e.result = 0) FROM shadow s JOIN shadow_engine e"
                       " ON e.id = s.id WHERE s.signature = ?3 AND e.engine IN (" SUBJECTS ")"
                       " AND e.against IN (" SUBJECTS ")"
                       " AND (?1 IS NULL OR s.version = ?1)",
};

struct reading {
    struct totals *totals;
    const struct totals_query *query;
    struct arena *keep;
    struct fault *fault;
    sqlite3_stmt *statements[READS];
};

void totals_key(const char *signature, char out[TOTALS_KEY_BYTES])
{
    (void)snprintf(out, TOTALS_KEY_BYTES, "%016" PRIx64, hash_text(HASH_START, signature));
}

static void problem_key(sqlite3_context *context, int count, sqlite3_value **values)
{
    char key[TOTALS_KEY_BYTES];
    (void)count;
    totals_key(text_or_empty((const char *)sqlite3_value_text(values[0])), key);
    sqlite3_result_text(context, key, -1, SQLITE_TRANSIENT);
}

static enum status begin(struct reading *r)
{
    sqlite3 *db = r->totals->db;
    const int reads = r->totals->has_shadow ? READS : READ_AGREEMENT;
    if (sqlite3_create_function(db, "problem_key", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                problem_key, NULL, NULL) != SQLITE_OK)
        return totals_failed(r->totals, r->fault);
    for (int i = 0; i < reads; i++)
        if (sqlite3_prepare_v2(db, texts[i], -1, &r->statements[i], NULL) != SQLITE_OK)
            return totals_failed(r->totals, r->fault);
    return sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK
               ? ERR_NONE
               : totals_failed(r->totals, r->fault);
}

static enum status end(struct reading *r)
{
    for (int i = 0; i < READS; i++)
        (void)sqlite3_finalize(r->statements[i]);
    if (!sqlite3_get_autocommit(r->totals->db))
        (void)sqlite3_exec(r->totals->db, "COMMIT", NULL, NULL, NULL);
    return r->fault->code;
}

/* Of the query's version, at most MOST rows. */
static sqlite3_stmt *start(struct reading *r, enum read which, uint64_t most)
{
    sqlite3_stmt *statement = r->statements[which];
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    statement_bind(statement, 1, r->query->version);
    statement_bind_number(statement, 2, most);
    return statement;
}

/* Rows of (hour, count), newest first, turned round. */
static const struct totals_hour *read_hours(struct reading *r, sqlite3_stmt *statement,
                                            uint32_t *count)
{
    struct totals_hour *hours = ARENA_ARRAY(r->keep, TOTALS_HOURS, struct totals_hour);
    *count = 0;
    if (hours == NULL)
        (void)fault_no_memory(r->fault, "totals");
    while (*count < TOTALS_HOURS && statement_next(r->totals, statement, r->fault))
        hours[(*count)++] = (struct totals_hour){statement_text(statement, 0, r->keep),
                                                 statement_number(statement, 1)};
    for (uint32_t i = 0; i < *count / 2; i++) {
        const struct totals_hour other = hours[i];
        hours[i] = hours[*count - 1 - i];
        hours[*count - 1 - i] = other;
    }
    (void)sqlite3_reset(statement);
    return hours;
}

/* Rows of (version, reports, stacks, first and last hour). */
static const struct totals_version *read_versions(struct reading *r, sqlite3_stmt *statement,
                                                  uint32_t *count)
{
    struct totals_version *versions = ARENA_ARRAY(r->keep, TOTALS_VERSIONS, struct totals_version);
    *count = 0;
    if (versions == NULL)
        (void)fault_no_memory(r->fault, "totals");
    while (*count < TOTALS_VERSIONS && statement_next(r->totals, statement, r->fault))
        versions[(*count)++] = (struct totals_version){
            statement_text(statement, 0, r->keep), statement_number(statement, 1),
            statement_number(statement, 2), statement_text(statement, 3, r->keep),
            statement_text(statement, 4, r->keep)};
    (void)sqlite3_reset(statement);
    return versions;
}

static sqlite3_stmt *start_of(struct reading *r, enum read which, sqlite3_int64 id, uint64_t most)
{
    sqlite3_stmt *statement = start(r, which, most);
    (void)sqlite3_bind_int64(statement, 3, id);
    return statement;
}

static void read_details(struct reading *r, sqlite3_int64 id, struct totals_row *row)
{
    sqlite3_stmt *statement = start_of(r, READ_VERSIONS, id, 0);
    if (statement_next(r->totals, statement, r->fault))
        row->versions = statement_text(statement, 0, r->keep);
    (void)sqlite3_reset(statement);
    statement = start_of(r, READ_BY_VERSION, id, TOTALS_VERSIONS);
    row->by_version = read_versions(r, statement, &row->version_count);
    statement = start_of(r, READ_TREND, id, TOTALS_HOURS);
    row->hours = read_hours(r, statement, &row->hour_count);
    if (r->query->key != NULL) {
        statement = start(r, READ_RANK, row->count);
        statement_bind(statement, 3, row->signature);
        if (statement_next(r->totals, statement, r->fault))
            row->rank = statement_number(statement, 0);
        (void)sqlite3_reset(statement);
    }
    if (!r->totals->has_shadow)
        return;
    statement = start(r, READ_AGREEMENT, 0);
    statement_bind(statement, 3, row->signature);
    if (statement_next(r->totals, statement, r->fault)) {
        row->judged = statement_number(statement, 0);
        row->agreed = statement_number(statement, 1);
    }
    (void)sqlite3_reset(statement);
}

static void read_rows(struct reading *r, struct totals_list *out)
{
    const struct totals_query *query = r->query;
    struct totals_row *rows = ARENA_ARRAY(r->keep, (size_t)query->top + 1, struct totals_row);
    if (rows == NULL) {
        (void)fault_no_memory(r->fault, "totals");
        return;
    }
    sqlite3_stmt *statement = start(r, READ_TOP, query->top);
    statement_bind(statement, 3, query->baseline);
    statement_bind(statement, 4, query->since);
    statement_bind_number(statement, 5, query->after);
    statement_bind(statement, 6, query->key);
    statement_bind_number(statement, 7, query->only_new);
    while (out->count < query->top && statement_next(r->totals, statement, r->fault)) {
        struct totals_row *row = &rows[out->count++];
        row->rank = (uint64_t)query->after + out->count;
        row->signature = statement_text(statement, 1, r->keep);
        row->first_seen = statement_text(statement, 2, r->keep);
        row->last_seen = statement_text(statement, 3, r->keep);
        row->example = statement_text(statement, 4, r->keep);
        row->count = statement_number(statement, 5);
        row->error = statement_number(statement, 6);
        row->is_new = statement_number(statement, 7) != 0;
        read_details(r, sqlite3_column_int64(statement, 0), row);
    }
    (void)sqlite3_reset(statement);
    out->rows = rows;
}

static void read_sums(struct reading *r, struct totals_list *out)
{
    sqlite3_stmt *statement = start(r, READ_ALL, 0);
    if (statement_next(r->totals, statement, r->fault)) {
        out->stacks = statement_number(statement, 0);
        out->bad = statement_number(statement, 1);
        out->reports = statement_number(statement, 2);
        out->first_hour = statement_text(statement, 3, r->keep);
        out->last_hour = statement_text(statement, 4, r->keep);
        out->signatures = statement_number(statement, 5);
    }
    (void)sqlite3_reset(statement);
    statement = start(r, READ_HOURS, TOTALS_HOURS);
    out->hours = read_hours(r, statement, &out->hour_count);
    statement = start(r, READ_ALL_VERSIONS, TOTALS_VERSIONS);
    out->versions = read_versions(r, statement, &out->version_count);
    if (r->query->baseline == NULL && r->query->since == NULL)
        return;
    statement = start(r, READ_NEW, 0);
    statement_bind(statement, 3, r->query->baseline);
    statement_bind(statement, 4, r->query->since);
    if (statement_next(r->totals, statement, r->fault))
        out->new_signatures = statement_number(statement, 0);
    (void)sqlite3_reset(statement);
}

enum status totals_read(struct totals *totals, const struct totals_query *query, struct arena *keep,
                        struct totals_list *out, struct fault *fault)
{
    struct reading r = {.totals = totals, .query = query, .keep = keep, .fault = fault};
    memset(out, 0, sizeof *out);
    if (begin(&r) == ERR_NONE) {
        read_sums(&r, out);
        read_rows(&r, out);
    }
    return end(&r);
}
