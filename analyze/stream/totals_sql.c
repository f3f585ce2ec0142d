/* The schema of the totals, one step per version, and every statement on them: a released step is
 * never changed, only followed by another. */
#include "model/result.h"
#include "stream/totals_file.h"

static const char *const version_1[] = {
    "CREATE TABLE report (id TEXT PRIMARY KEY, day TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE signature (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE,"
    " first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, example TEXT)",
    "CREATE TABLE tally (signature INTEGER NOT NULL REFERENCES signature (id), hour TEXT NOT NULL,"
    " version TEXT NOT NULL, count INTEGER NOT NULL, error INTEGER NOT NULL,"
    " PRIMARY KEY (signature, hour, version)) WITHOUT ROWID",
    "CREATE TABLE total (hour TEXT NOT NULL, version TEXT NOT NULL, reports INTEGER NOT NULL,"
    " stacks INTEGER NOT NULL, bad INTEGER NOT NULL, PRIMARY KEY (hour, version)) WITHOUT ROWID",
    NULL,
};

/* Results of shadow comparisons. */
static const char *const version_2[] = {
    "CREATE TABLE shadow (id TEXT PRIMARY KEY, hour TEXT NOT NULL, version TEXT NOT NULL,"
    " verdict TEXT NOT NULL, signature TEXT) WITHOUT ROWID",
    "CREATE INDEX shadow_of_signature ON shadow (signature)",
    "CREATE TABLE shadow_engine (id TEXT NOT NULL REFERENCES shadow (id), engine TEXT NOT NULL,"
    " against TEXT, result INTEGER NOT NULL, cause TEXT, module TEXT, ns INTEGER NOT NULL,"
    " PRIMARY KEY (id, engine)) WITHOUT ROWID",
    NULL,
};

/* The order in which results were added decides which of them are deleted, and their ids are
 * remembered like those of partial results. */
static const char *const version_3[] = {
    "ALTER TABLE shadow ADD COLUMN added INTEGER NOT NULL DEFAULT 0",
    "UPDATE shadow SET added = o.n FROM (SELECT id, row_number() OVER (ORDER BY hour, id) n"
    " FROM shadow) o WHERE shadow.id = o.id",
    "CREATE UNIQUE INDEX shadow_in_order ON shadow (added)",
    "INSERT OR IGNORE INTO report SELECT '" TOTALS_SHADOW_ID "' || id,"
    " (SELECT coalesce(max(day), '') FROM report) FROM shadow",
    NULL,
};

/* Results in slices, until they are whole. */
static const char *const version_4[] = {
    "CREATE TABLE slice (of TEXT NOT NULL, digest TEXT NOT NULL, number INTEGER NOT NULL,"
    " day TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (of, digest, number)) WITHOUT ROWID",
    NULL,
};

static const char *const *const steps[TOTALS_VERSION] = {version_1, version_2, version_3,
                                                         version_4};

/* Rows of an hour (13 characters) before day ?1 belong to their day (10), and rows of a day before
 * day ?2 to their month (7). */
#define FOLDED "(length(hour) > 10 AND hour < ?1 OR length(hour) > 7 AND hour < ?2)"
#define FOLDED_HOUR "substr(hour, 1, CASE WHEN hour < ?2 THEN 7 ELSE 10 END)"

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

/* Of shadow comparisons: of version ?1, since ?2, of signature ?3, where these are given. */
#define CHOSEN                                                                                     \
    " FROM shadow s JOIN shadow_engine e ON e.id = s.id"                                           \
    " WHERE (?1 IS NULL OR s.version = ?1) AND (?2 IS NULL OR s.hour >= ?2)"                       \
    " AND (?3 IS NULL OR s.signature = ?3)"

static const char *const texts[TOTALS_STATEMENTS] = {
    /* ---- adding ---- */
    [TOTALS_READ_DAY] = "SELECT coalesce(max(day), '') FROM report",
    [TOTALS_FOLD_TALLY] =
        "INSERT INTO tally SELECT signature, " FOLDED_HOUR ", version, sum(count),"
        " sum(error) FROM tally WHERE " FOLDED " GROUP BY 1, 2, 3"
        " ON CONFLICT DO UPDATE SET count = count + excluded.count,"
        " error = error + excluded.error",
    [TOTALS_DROP_TALLY] = "DELETE FROM tally WHERE " FOLDED,
    [TOTALS_FOLD_TOTAL] =
        "INSERT INTO total SELECT " FOLDED_HOUR ", version, sum(reports), sum(stacks),"
        " sum(bad) FROM total WHERE " FOLDED " GROUP BY 1, 2"
        " ON CONFLICT DO UPDATE SET reports = reports + excluded.reports,"
        " stacks = stacks + excluded.stacks, bad = bad + excluded.bad",
    [TOTALS_DROP_TOTAL] = "DELETE FROM total WHERE " FOLDED,
    /* Days on which nothing was added do not count: a queue that was stopped for a month delivers
     * again what it delivered last. */
    [TOTALS_FORGET_REPORTS] = "DELETE FROM report WHERE day < (SELECT min(day) FROM"
                              " (SELECT DISTINCT day FROM report ORDER BY day DESC LIMIT ?1))",
    [TOTALS_FORGET_SLICES] = "DELETE FROM slice WHERE day < (SELECT min(day) FROM report)",
    [TOTALS_HAS_REPORT] = "SELECT 1 FROM report WHERE id = ?1",
    [TOTALS_ADD_REPORT] = "INSERT OR IGNORE INTO report VALUES (?1, ?2)",
    [TOTALS_ADD_TOTAL] = "INSERT INTO total VALUES (?1, ?2, ?5, ?3, ?4) ON CONFLICT DO UPDATE SET"
                         " reports = reports + ?5, stacks = stacks + ?3, bad = bad + ?4",
    [TOTALS_ADD_SIGNATURE] =
        "INSERT INTO signature (text, first_seen, last_seen, example) VALUES (?1, ?2, ?4, ?3)"
        " ON CONFLICT DO UPDATE SET last_seen = max(last_seen, ?4),"
        " example = CASE WHEN ?2 < first_seen THEN ?3 ELSE example END,"
        " first_seen = min(first_seen, ?2) RETURNING id",
    [TOTALS_ADD_TALLY] = "INSERT INTO tally VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
                         " count = count + ?4, error = error + ?5",
    [TOTALS_ADD_SLICE] = "INSERT OR IGNORE INTO slice VALUES (?1, ?2, ?3, ?4, ?5)",
    [TOTALS_COUNT_SLICES] = "SELECT count(*), sum(length(data)) FROM slice"
                            " WHERE of = ?1 AND digest = ?2",
    [TOTALS_READ_SLICES] = "SELECT data FROM slice WHERE of = ?1 AND digest = ?2"
                           " ORDER BY number",
    [TOTALS_DELETE_SLICES] = "DELETE FROM slice WHERE of = ?1",

    /* ---- reading: ?1 is the version or NULL, ?2 the most rows ---- */
    [TOTALS_READ_ALL] = "SELECT coalesce(sum(stacks), 0), coalesce(sum(bad), 0),"
                        " coalesce(sum(reports), 0), min(hour), max(hour),"
                        " CASE WHEN ?1 IS NULL THEN (SELECT count(*) FROM signature) ELSE"
                        " (SELECT count(DISTINCT signature) FROM tally WHERE version = ?1) END"
                        " FROM total WHERE ?1 IS NULL OR version = ?1",
    [TOTALS_READ_HOURS] = "SELECT hour, sum(stacks) FROM total WHERE ?1 IS NULL OR version = ?1"
                          " GROUP BY hour ORDER BY hour DESC LIMIT ?2",
    [TOTALS_READ_ALL_VERSIONS] = "SELECT version, sum(reports), sum(stacks), min(hour), max(hour)"
                                 " FROM total WHERE version <> '' GROUP BY version"
                                 " ORDER BY min(hour) DESC, version DESC LIMIT ?2",
    [TOTALS_READ_NEW] =
        "SELECT count(*) FROM signature s WHERE " IS_NEW " AND (?1 IS NULL OR EXISTS"
        " (SELECT 1 FROM tally t WHERE t.signature = s.id AND t.version = ?1))",
    [TOTALS_READ_TOP] = "SELECT s.id, s.text, s.first_seen, s.last_seen, s.example, sum(t.count) n,"
                        " sum(t.error), " IS_NEW " is_new"
                        " FROM tally t JOIN signature s ON s.id = t.signature"
                        " WHERE (?1 IS NULL OR t.version = ?1) AND (?6 IS NULL OR s.id IN"
                        " (SELECT id FROM signature WHERE problem_key(text) = ?6))"
                        " GROUP BY s.id HAVING is_new OR NOT ?7 ORDER BY n DESC, s.text"
                        " LIMIT ?2 OFFSET ?5",
    [TOTALS_READ_RANK] =
        "SELECT count(*) + 1 FROM (SELECT sum(t.count) n, s.text text FROM tally t"
        " JOIN signature s ON s.id = t.signature WHERE ?1 IS NULL OR t.version = ?1"
        " GROUP BY s.id) WHERE n > ?2 OR n = ?2 AND text < ?3",
    [TOTALS_READ_VERSIONS] =
        "SELECT group_concat(version, ', ') FROM (SELECT DISTINCT version FROM tally"
        " WHERE signature = ?3 AND version <> '' ORDER BY version)",
    [TOTALS_READ_BY_VERSION] = "SELECT version, 0, sum(count), min(hour), max(hour) FROM tally"
                               " WHERE signature = ?3 GROUP BY version"
                               " ORDER BY min(hour) DESC, version DESC LIMIT ?2",
    [TOTALS_READ_TREND] =
        "SELECT hour, sum(count) FROM tally WHERE signature = ?3"
        " AND (?1 IS NULL OR version = ?1) GROUP BY hour ORDER BY hour DESC LIMIT ?2",
    [TOTALS_READ_AGREEMENT] =
        "SELECT count(*), sum(e.result = 0) FROM shadow s JOIN shadow_engine e"
        " ON e.id = s.id WHERE s.signature = ?3 AND e.engine IN (" SUBJECTS ")"
        " AND e.against IN (" SUBJECTS ")"
        " AND (?1 IS NULL OR s.version = ?1)",

    /* ---- shadow comparisons ---- */
    [TOTALS_ADD_SHADOW] =
        "INSERT OR IGNORE INTO shadow (id, hour, version, verdict, signature, added)"
        " SELECT ?1, ?2, ?3, ?4, ?5, coalesce(max(added), 0) + 1 FROM shadow",
    [TOTALS_DELETE_ENGINES] =
        "DELETE FROM shadow_engine WHERE id IN"
        " (SELECT id FROM shadow WHERE added <= (SELECT max(added) FROM shadow) - ?1)",
    [TOTALS_DELETE_SHADOWS] =
        "DELETE FROM shadow WHERE added <= (SELECT max(added) FROM shadow) - ?1",
    [TOTALS_ADD_ENGINE] = "INSERT OR IGNORE INTO shadow_engine VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [TOTALS_READ_VERDICTS] =
        "SELECT verdict, count(*) n FROM shadow WHERE (?1 IS NULL OR version = ?1)"
        " AND (?2 IS NULL OR hour >= ?2) AND (?3 IS NULL OR signature = ?3) GROUP BY verdict ORDER "
        "BY "
        "n DESC, verdict",
    [TOTALS_READ_ENGINES] =
        "SELECT e.engine, min(e.against), sum(e.result = 0 AND e.against IS NOT NULL),"
        " sum(e.result = 1), sum(e.result = 2)" CHOSEN " GROUP BY e.engine ORDER BY e.engine",
    [TOTALS_READ_MEDIAN] =
        "SELECT e.ns" CHOSEN " AND e.engine = ?4 AND e.ns > 0 ORDER BY e.ns LIMIT 1 OFFSET"
        " (SELECT max(count(*) - 1, 0) / 2" CHOSEN " AND e.engine = ?4 AND e.ns > 0)",
    [TOTALS_READ_ENGINE_HOURS] =
        "SELECT hour, n, agreed FROM (SELECT s.hour hour, count(*) n, sum(e.result = 0) "
        "agreed" CHOSEN " AND e.engine = ?4 AND (e.against IS NOT NULL OR e.result > 0)"
        " GROUP BY s.hour ORDER BY s.hour DESC LIMIT ?5) ORDER BY hour",
    [TOTALS_READ_CAUSES] =
        "SELECT e.engine, e.result, e.cause, e.module, count(*) n, min(s.hour), max(s.hour),"
        " max(s.hour || ' ' || s.id)" CHOSEN
        " AND e.result > 0 GROUP BY e.engine, e.result, e.cause, e.module"
        " ORDER BY n DESC, e.engine, e.cause, e.module LIMIT ?4",

    /* ---- merging ---- */
    [TOTALS_ATTACH] = "ATTACH ?1 AS part",
    [TOTALS_COUNT_SAME] = "SELECT count(*) FROM main.report JOIN part.report USING (id)"
                          " WHERE id NOT LIKE '" TOTALS_SHADOW_ID "%'",
};

/* One transaction touches most pages of a small database. Where the cache does not hold them, each
 * is read and written many times. Damage is no reason to give up the messages that wait. */
const struct database_kind totals_kind = {
    .what = "totals",
    .application_id = 0x74777374,
    .version = TOTALS_VERSION,
    .steps = steps,
    .texts = texts,
    .text_count = TOTALS_STATEMENTS,
    .settings = "PRAGMA synchronous=FULL; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=8192",
    .damaged = ERR_IO,
    .foreign = ERR_UNSUPPORTED,
    .busy = ERR_TIMEOUT,
};
