/* See totals.h.
 *
 * A queue delivers at least once: when the reducer dies after its commit but before it acknowledges
 * a message, the message comes again. So the id of a result and its sums are one transaction, and a
 * result whose id is there already is left out. Three messages, one of them delivered twice:
 *
 *   of  hour           version  stacks bad  signatures             table report   total and tally
 *   a-1 2026-11-22T08  1.0      5      1    poke | main 5          a-1            + 1 report, 5, 1
 *   a-2 2026-11-22T09  1.1      3      0    poke | main 2, leaf 1  a-1, a-2       + 1 report, 3, 0
 *   a-1 2026-11-22T08  1.0      5      1    poke | main 5          is there       nothing changes
 *
 *   totals   2 reports, 8 stacks, 1 of them bad; poke | main 7, leaf 1
 *
 * If it dies before the commit, neither ids nor sums are there, and all messages come again: the
 * totals are the same. The counts of a signature are added up in memory (totals_sums.h) and
 * written before the commit, since most results have the same few signatures.
 *
 * A group of reports has an id that states their number, and adds so many to `reports`. */
#include "stream/totals.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "model/result.h"
#include "model/stored.h"
#include "stream/report.h"
#include "stream/totals_statement.h"

enum {
    TOTALS_VERSION = 4,
    TOTALS_OLDEST = 1,
    TOTALS_WITH_SHADOW = 2,
    TOTALS_WITH_ORDER = 3,
    APPLICATION_ID = 0x74777374
};

static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE report (id TEXT PRIMARY KEY, day TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE signature (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE,"
    " first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, example TEXT);"
    "CREATE TABLE tally (signature INTEGER NOT NULL REFERENCES signature (id), hour TEXT NOT NULL,"
    " version TEXT NOT NULL, count INTEGER NOT NULL, error INTEGER NOT NULL,"
    " PRIMARY KEY (signature, hour, version)) WITHOUT ROWID;"
    "CREATE TABLE total (hour TEXT NOT NULL, version TEXT NOT NULL, reports INTEGER NOT NULL,"
    " stacks INTEGER NOT NULL, bad INTEGER NOT NULL, PRIMARY KEY (hour, version)) WITHOUT ROWID;"
    "PRAGMA application_id = 1953985396;"
    "PRAGMA user_version = 1;"
    "COMMIT;";

/* Makes a database of version 1 one of version 2. */
static const char shadow_schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE shadow (id TEXT PRIMARY KEY, hour TEXT NOT NULL, version TEXT NOT NULL,"
    " verdict TEXT NOT NULL, signature TEXT) WITHOUT ROWID;"
    "CREATE INDEX shadow_of_signature ON shadow (signature);"
    "CREATE TABLE shadow_engine (id TEXT NOT NULL REFERENCES shadow (id), engine TEXT NOT NULL,"
    " against TEXT, result INTEGER NOT NULL, cause TEXT, module TEXT, ns INTEGER NOT NULL,"
    " PRIMARY KEY (id, engine)) WITHOUT ROWID;"
    "PRAGMA user_version = 2;"
    "COMMIT;";

/* Makes a database of version 2 one of version 3: the order in which results were added decides
 * which of them are deleted, and their ids are remembered like those of partial results. */
static const char shadow_order[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE shadow ADD COLUMN added INTEGER NOT NULL DEFAULT 0;"
    "UPDATE shadow SET added = o.n FROM (SELECT id, row_number() OVER (ORDER BY hour, id) n"
    " FROM shadow) o WHERE shadow.id = o.id;"
    "CREATE UNIQUE INDEX shadow_in_order ON shadow (added);"
    "INSERT OR IGNORE INTO report SELECT '" TOTALS_SHADOW_ID "' || id,"
    " (SELECT coalesce(max(day), '') FROM report) FROM shadow;"
    "PRAGMA user_version = 3;"
    "COMMIT;";

/* Makes a database of version 3 one of version 4: results in slices, until they are whole. */
static const char slice_schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE slice (of TEXT NOT NULL, digest TEXT NOT NULL, number INTEGER NOT NULL,"
    " day TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (of, digest, number)) WITHOUT ROWID;"
    "PRAGMA user_version = 4;"
    "COMMIT;";

/* One transaction touches most pages of a small database. Where the cache does not hold them, each
 * is read and written many times. */
static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                               "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192";

enum statement {
    FORGET_REPORTS,
    FORGET_SLICES,
    FOLD_TALLY,
    DROP_TALLY,
    FOLD_TOTAL,
    DROP_TOTAL,
    HAS_REPORT,
    ADD_REPORT,
    ADD_TOTAL,
    ADD_SIGNATURE,
    ADD_TALLY,
    STATEMENTS
};

/* Rows of an hour (13 characters) before day ?1 belong to their day (10), and rows of a day before
 * day ?2 to their month (7). */
#define FOLDED "(length(hour) > 10 AND hour < ?1 OR length(hour) > 7 AND hour < ?2)"
#define FOLDED_HOUR "substr(hour, 1, CASE WHEN hour < ?2 THEN 7 ELSE 10 END)"

static const char *const texts[STATEMENTS] = {
    [FOLD_TALLY] = "INSERT INTO tally SELECT signature, " FOLDED_HOUR ", version, sum(count),"
                   " sum(error) FROM tally WHERE " FOLDED " GROUP BY 1, 2, 3"
                   " ON CONFLICT DO UPDATE SET count = count + excluded.count,"
                   " error = error + excluded.error",
    [DROP_TALLY] = "DELETE FROM tally WHERE " FOLDED,
    [FOLD_TOTAL] = "INSERT INTO total SELECT " FOLDED_HOUR ", version, sum(reports), sum(stacks),"
                   " sum(bad) FROM total WHERE " FOLDED " GROUP BY 1, 2"
                   " ON CONFLICT DO UPDATE SET reports = reports + excluded.reports,"
                   " stacks = stacks + excluded.stacks, bad = bad + excluded.bad",
    [DROP_TOTAL] = "DELETE FROM total WHERE " FOLDED,
    /* Days on which nothing was added do not count: a queue that was stopped for a month delivers
     * again what it delivered last. */
    [FORGET_REPORTS] = "DELETE FROM report WHERE day < (SELECT min(day) FROM"
                       " (SELECT DISTINCT day FROM report ORDER BY day DESC LIMIT ?1))",
    [FORGET_SLICES] = "DELETE FROM slice WHERE day < (SELECT min(day) FROM report)",
    [HAS_REPORT] = "SELECT 1 FROM report WHERE id = ?1",
    [ADD_REPORT] = "INSERT OR IGNORE INTO report VALUES (?1, ?2)",
    [ADD_TOTAL] = "INSERT INTO total VALUES (?1, ?2, ?5, ?3, ?4) ON CONFLICT DO UPDATE SET"
                  " reports = reports + ?5, stacks = stacks + ?3, bad = bad + ?4",
    [ADD_SIGNATURE] =
        "INSERT INTO signature (text, first_seen, last_seen, example) VALUES (?1, ?2, ?4, ?3)"
        " ON CONFLICT DO UPDATE SET last_seen = max(last_seen, ?4),"
        " example = CASE WHEN ?2 < first_seen THEN ?3 ELSE example END,"
        " first_seen = min(first_seen, ?2) RETURNING id",
    [ADD_TALLY] = "INSERT INTO tally VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
                  " count = count + ?4, error = error + ?5",
};

static_assert((int)STATEMENTS <= (int)TOTALS_STATEMENTS, "room for all statements");

static void end_statements(struct totals *t)
{
    for (int i = 0; i < STATEMENTS; i++) {
        (void)sqlite3_finalize(t->statements[i]);
        t->statements[i] = NULL;
    }
}

bool totals_end_log(struct totals *t)
{
    end_statements(t);
    return sqlite3_exec(t->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK;
}

void totals_close(struct totals *totals)
{
    if (totals == NULL)
        return;
    end_statements(totals);
    (void)sqlite3_close(totals->db);
    totals_sums_free(&totals->sums);
    free(totals->file);
    free(totals);
}

static int pragma_value(struct totals *t, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int value = -1;
    if (sqlite3_prepare_v2(t->db, text, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return value;
}

static enum status read_day(struct totals *t, struct fault *fault)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(t->db, "SELECT coalesce(max(day), '') FROM report", -1, &statement,
                           NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        (void)snprintf(t->day, sizeof t->day, "%s",
                       (const char *)sqlite3_column_text(statement, 0));
    else
        (void)totals_failed(t, fault);
    (void)sqlite3_finalize(statement);
    return fault->code;
}

static enum status prepare(struct totals *t, bool writing, struct fault *fault)
{
    (void)sqlite3_busy_timeout(t->db, STORE_BUSY_MS);
    /* The tables first: who sees them sees the numbers, too, which are written with them. */
    const int tables = pragma_value(t, "SELECT count(*) FROM sqlite_schema");
    const int version = pragma_value(t, "PRAGMA user_version");
    const int application = pragma_value(t, "PRAGMA application_id");
    if (version < 0 || tables < 0)
        return totals_failed(t, fault);
    if (tables > 0 &&
        (application != APPLICATION_ID || version < TOTALS_OLDEST || version > TOTALS_VERSION))
        return fault_set_lasting(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "totals",
                                 application != APPLICATION_ID ? "a database of something else"
                                                               : "of another version of twinstack");
    if (writing && (sqlite3_exec(t->db, settings, NULL, NULL, NULL) != SQLITE_OK ||
                    (tables == 0 && sqlite3_exec(t->db, schema, NULL, NULL, NULL) != SQLITE_OK) ||
                    (version < TOTALS_WITH_SHADOW &&
                     sqlite3_exec(t->db, shadow_schema, NULL, NULL, NULL) != SQLITE_OK) ||
                    (version < TOTALS_WITH_ORDER &&
                     sqlite3_exec(t->db, shadow_order, NULL, NULL, NULL) != SQLITE_OK) ||
                    (version < TOTALS_VERSION &&
                     sqlite3_exec(t->db, slice_schema, NULL, NULL, NULL) != SQLITE_OK)))
        return totals_failed(t, fault);
    t->has_shadow = writing || version >= TOTALS_WITH_SHADOW;
    if (!writing && tables == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "totals");
    for (int i = 0; writing && i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(t->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &t->statements[i],
                               NULL) != SQLITE_OK)
            return totals_failed(t, fault);
    return writing ? read_day(t, fault) : ERR_NONE;
}

enum status totals_open(const char *file, bool writing, struct totals **out, struct fault *fault)
{
    const int flags = writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    struct totals *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t != NULL)
        t->file = malloc(strlen(file) + 1);
    if (t == NULL || t->file == NULL) {
        free(t);
        return fault_no_memory(fault, "totals");
    }
    memcpy(t->file, file, strlen(file) + 1);
    totals_sums_init(&t->sums);
    if (!writing && !path_is_file(file))
        (void)fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "totals");
    else if (sqlite3_open_v2(file, &t->db, flags, NULL) != SQLITE_OK)
        (void)totals_failed(t, fault);
    else
        (void)prepare(t, writing, fault);
    fault_set_path(fault, file);
    if (fault->code != ERR_NONE)
        totals_close(t);
    else
        *out = t;
    return fault->code;
}

static enum status exec(struct totals *t, const char *text, struct fault *fault)
{
    return sqlite3_exec(t->db, text, NULL, NULL, NULL) == SQLITE_OK ? ERR_NONE
                                                                    : totals_failed(t, fault);
}

static sqlite3_stmt *start(struct totals *t, enum statement which)
{
    (void)sqlite3_reset(t->statements[which]);
    (void)sqlite3_clear_bindings(t->statements[which]);
    return t->statements[which];
}

static enum status write_sum(struct totals *t, const struct totals_sum *sum, struct fault *fault)
{
    sqlite3_stmt *statement = start(t, ADD_SIGNATURE);
    statement_bind(statement, 1, sum->text);
    statement_bind(statement, 2, sum->first_seen);
    statement_bind(statement, 3, sum->example);
    statement_bind(statement, 4, sum->last_seen);
    if (!statement_next(t, statement, fault))
        return fault->code;
    const uint64_t id = statement_number(statement, 0);
    if (statement_run(t, statement, fault) != ERR_NONE)
        return fault->code;
    statement = start(t, ADD_TALLY);
    statement_bind_number(statement, 1, id);
    statement_bind(statement, 2, sum->hour);
    statement_bind(statement, 3, sum->version);
    statement_bind_number(statement, 4, sum->count);
    statement_bind_number(statement, 5, sum->error);
    return statement_run(t, statement, fault);
}

static enum status write_sums(struct totals *t, struct fault *fault)
{
    for (uint32_t i = 0; fault->code == ERR_NONE && i < t->sums.count; i++)
        (void)write_sum(t, &t->sums.rows[i], fault);
    totals_sums_clear(&t->sums);
    return fault->code;
}

enum status totals_begin(struct totals *totals, struct fault *fault)
{
    totals_sums_clear(&totals->sums);
    return exec(totals, "BEGIN IMMEDIATE", fault);
}

enum status totals_end(struct totals *totals, struct fault *fault)
{
    if (fault->code == ERR_NONE && write_sums(totals, fault) == ERR_NONE &&
        exec(totals, "COMMIT", fault) == ERR_NONE)
        return ERR_NONE;
    if (!sqlite3_get_autocommit(totals->db))
        (void)sqlite3_exec(totals->db, "ROLLBACK", NULL, NULL, NULL);
    return fault->code;
}

/* Each sum and the rows that it replaces, in the transaction of the ids. */
static enum status fold_hours(struct totals *t, uint64_t now_s, struct fault *fault)
{
    static const enum statement steps[] = {FOLD_TALLY, DROP_TALLY, FOLD_TOTAL, DROP_TOTAL};
    char by_hour[TEXT_DATE_BYTES], by_day[TEXT_DATE_BYTES];
    totals_days_ago(now_s, TOTALS_DAYS_BY_HOUR, by_hour);
    totals_days_ago(now_s, TOTALS_DAYS_BY_DAY, by_day);
    by_day[7] = '\0'; /* whole months */
    for (size_t i = 0; i < COUNT_OF(steps) && fault->code == ERR_NONE; i++) {
        sqlite3_stmt *statement = start(t, steps[i]);
        statement_bind(statement, 1, by_hour);
        statement_bind(statement, 2, by_day);
        (void)statement_run(t, statement, fault);
    }
    return fault->code;
}

/* True when the day may become DAY_S0. The next day always may; a later one when many results in a
 * row are of it or of later ones, since one may come from a clock that was wrong for a moment.
 * Until then, ids are kept and hours stay as they are for longer. */
static bool may_become(struct totals *t, uint64_t day_s)
{
    const uint64_t last_s = totals_midnight_s(t->day);
    if (last_s == 0 || day_s <= last_s + TOTALS_DAY_S) {
        t->leaps = 0;
        return last_s == 0 || day_s > last_s;
    }
    t->leaps++;
    if (t->leaps == 1 || day_s < t->leap_s)
        t->leap_s = day_s;
    return t->leaps >= TOTALS_LEAP_RESULTS;
}

/* Sets the day of the ids that follow. On the first id of a new day, the ids of old days are
 * forgotten, and old hours are added up. The day never goes back: a clock that does must not make
 * new ids look old. */
enum status totals_set_day(struct totals *t, const char *hour, struct fault *fault)
{
    uint64_t day_s = totals_day_of(hour);
    if (!may_become(t, day_s))
        return ERR_NONE;
    if (t->leaps > 0)
        day_s = t->leap_s;
    t->leaps = 0;
    text_utc_date(day_s, t->day);
    sqlite3_stmt *statement = start(t, FORGET_REPORTS);
    statement_bind_number(statement, 1, TOTALS_DAYS_KEPT);
    if (statement_run(t, statement, fault) != ERR_NONE ||
        statement_run(t, start(t, FORGET_SLICES), fault) != ERR_NONE)
        return fault->code;
    return fold_hours(t, day_s, fault);
}

enum status totals_remember(struct totals *totals, const char *id, const char *hour, bool *is_new,
                            struct fault *fault)
{
    *is_new = false;
    if (totals_set_day(totals, hour, fault) != ERR_NONE)
        return fault->code;
    sqlite3_stmt *statement = start(totals, ADD_REPORT);
    statement_bind(statement, 1, id);
    statement_bind(statement, 2, totals->day);
    if (statement_run(totals, statement, fault) == ERR_NONE)
        *is_new = sqlite3_changes(totals->db) > 0;
    return fault->code;
}

static bool has_report(struct totals *t, const char *id, struct fault *fault)
{
    sqlite3_stmt *statement = start(t, HAS_REPORT);
    statement_bind(statement, 1, id);
    const bool has = statement_next(t, statement, fault);
    (void)sqlite3_reset(statement);
    return has;
}

/* A group of reports counts whole, or each of its reports by itself (work_split.c): true when the
 * other of the two has begun to count. */
static bool is_counted_otherwise(struct totals *t, const struct partial *partial,
                                 struct fault *fault)
{
    char split[sizeof TOTALS_SPLIT_ID + QUEUE_ID_BYTES];
    bool is_new = false;
    const char *group = report_group_of(partial->of);
    if (group == NULL && report_count_of(partial->of) < 2)
        return false;
    (void)snprintf(split, sizeof split, TOTALS_SPLIT_ID "%.*s", QUEUE_ID_BYTES - 1,
                   group != NULL ? group : partial->of);
    if (group == NULL)
        return has_report(t, split, fault);
    if (has_report(t, group, fault) || fault->code != ERR_NONE)
        return true;
    (void)totals_remember(t, split, partial->hour, &is_new, fault);
    return false;
}

enum status totals_add(struct totals *totals, const struct partial *partial, bool *is_new,
                       struct fault *fault)
{
    *is_new = false;
    if (partial->of == NULL)
        return fault_set(fault, ERR_MALFORMED, FAULT_NO_OFFSET, "partial result without an id");
    if (is_counted_otherwise(totals, partial, fault) || fault->code != ERR_NONE ||
        totals_remember(totals, partial->of, partial->hour, is_new, fault) != ERR_NONE || !*is_new)
        return fault->code;
    sqlite3_stmt *statement = start(totals, ADD_TOTAL);
    statement_bind(statement, 1, text_or_empty(partial->hour));
    statement_bind(statement, 2, text_or_empty(partial->version));
    statement_bind_number(statement, 3, partial->stacks);
    statement_bind_number(statement, 4, partial->bad);
    statement_bind_number(statement, 5, report_count_of(partial->of));
    if (statement_run(totals, statement, fault) == ERR_NONE &&
        totals_sums_add(&totals->sums, partial, fault) == ERR_NONE &&
        totals->sums.keep.used_bytes > TOTALS_SUMS_BYTES)
        (void)write_sums(totals, fault);
    return fault->code;
}
