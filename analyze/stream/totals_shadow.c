/* The results of shadow comparisons in the totals: one row per report, one per engine of it. The
 * newest ones are kept one by one, so medians are exact for them. */
#include <string.h>

#include "base/text.h"
#include "stream/totals_statement.h"

#define CHOSEN                                                                                     \
    " FROM shadow s JOIN shadow_engine e ON e.id = s.id"                                           \
    " WHERE (?1 IS NULL OR s.version = ?1) AND (?2 IS NULL OR s.hour >= ?2)"                       \
    " AND (?5 IS NULL OR s.signature = ?5)"

static const char add_report[] =
    "INSERT OR IGNORE INTO shadow (id, hour, version, verdict, signature, added)"
    " SELECT ?1, ?2, ?3, ?4, ?5, coalesce(max(added), 0) + 1 FROM shadow";
static const char delete_engines[] =
    "DELETE FROM shadow_engine WHERE id IN"
    " (SELECT id FROM shadow WHERE added <= (SELECT max(added) FROM shadow) - ?1)";
static const char delete_reports[] =
    "DELETE FROM shadow WHERE added <= (SELECT max(added) FROM shadow) - ?1";
static const char add_engine[] =
    "INSERT OR IGNORE INTO shadow_engine VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
static const char read_verdicts[] =
    "SELECT verdict, count(*) n FROM shadow WHERE (?1 IS NULL OR version = ?1)"
    " AND (?2 IS NULL OR hour >= ?2) AND (?5 IS NULL OR signature = ?5) GROUP BY verdict ORDER BY "
    "n DESC, verdict";
static const char read_engines[] =
    "SELECT e.engine, min(e.against), sum(e.result = 0 AND e.against IS NOT NULL),"
    " sum(e.result = 1), sum(e.result = 2)" CHOSEN " GROUP BY e.engine ORDER BY e.engine";
static const char read_median[] =
    "SELECT e.ns" CHOSEN " AND e.engine = ?3 AND e.ns > 0 ORDER BY e.ns LIMIT 1 OFFSET"
    " (SELECT max(count(*) - 1, 0) / 2" CHOSEN " AND e.engine = ?3 AND e.ns > 0)";
static const char read_hours[] =
    "SELECT hour, n, agreed FROM (SELECT s.hour hour, count(*) n, sum(e.result = 0) agreed" CHOSEN
    " AND e.engine = ?3 AND (e.against IS NOT NULL OR e.result > 0)"
    " GROUP BY s.hour ORDER BY s.hour DESC LIMIT ?4) ORDER BY hour";
static const char read_causes[] =
    "SELECT e.engine, e.result, e.cause, e.module, count(*) n, min(s.hour), max(s.hour),"
    " max(s.hour || ' ' || s.id)" CHOSEN
    " AND e.result > 0 GROUP BY e.engine, e.result, e.cause, e.module"
    " ORDER BY n DESC, e.engine, e.cause, e.module LIMIT ?3";

static void delete_old(struct totals *t, const char *text, struct fault *fault)
{
    sqlite3_stmt *statement = statement_once(t, text, fault);
    (void)sqlite3_bind_int(statement, 1, TOTALS_SHADOW_KEPT);
    (void)statement_next(t, statement, fault);
    (void)sqlite3_finalize(statement);
}

/* *IS_NEW is false if the report has a result, be it deleted. */
static enum status add_head(struct totals *t, const struct shadow *shadow, bool *is_new,
                            struct fault *fault)
{
    struct arena keep;
    arena_init(&keep, 0);
    const char *id = arena_printf(&keep, TOTALS_SHADOW_ID "%s", shadow->id);
    *is_new = false;
    if (id == NULL)
        (void)fault_no_memory(fault, "totals");
    else
        (void)totals_remember(t, id, shadow->hour, is_new, fault);
    arena_free(&keep);
    if (fault->code != ERR_NONE || !*is_new)
        return fault->code;
    sqlite3_stmt *statement = statement_once(t, add_report, fault);
    statement_bind(statement, 1, shadow->id);
    statement_bind(statement, 2, shadow->hour);
    statement_bind(statement, 3, text_or_empty(shadow->version));
    statement_bind(statement, 4, shadow->verdict);
    statement_bind(statement, 5, shadow->signature);
    (void)statement_next(t, statement, fault);
    *is_new = fault->code == ERR_NONE && sqlite3_changes(t->db) > 0;
    (void)sqlite3_finalize(statement);
    delete_old(t, delete_engines, fault);
    delete_old(t, delete_reports, fault);
    return fault->code;
}

enum status totals_add_shadow(struct totals *totals, const struct shadow *shadow, bool *is_new,
                              struct fault *fault)
{
    if (add_head(totals, shadow, is_new, fault) != ERR_NONE || !*is_new)
        return fault->code;
    sqlite3_stmt *statement = statement_once(totals, add_engine, fault);
    for (uint32_t i = 0; statement != NULL && i < shadow->count; i++) {
        const struct shadow_engine *e = &shadow->engines[i];
        (void)sqlite3_reset(statement);
        (void)sqlite3_clear_bindings(statement);
        statement_bind(statement, 1, shadow->id);
        statement_bind(statement, 2, e->engine);
        statement_bind(statement, 3, e->against);
        (void)sqlite3_bind_int(statement, 4, (int)e->result);
        statement_bind(statement, 5, e->cause);
        statement_bind(statement, 6, e->module);
        (void)sqlite3_bind_int64(statement, 7, (sqlite3_int64)e->ns);
        (void)statement_next(totals, statement, fault);
    }
    (void)sqlite3_finalize(statement);
    return fault->code;
}

/* ---- reading -------------------------------------------------------------------------- */

struct reading {
    struct totals *totals;
    const struct totals_shadow_query *query;
    struct arena *keep;
    struct fault *fault;
};

static sqlite3_stmt *chosen(struct reading *r, const char *text)
{
    sqlite3_stmt *statement = statement_once(r->totals, text, r->fault);
    statement_bind(statement, 1, r->query->version);
    statement_bind(statement, 2, r->query->since);
    statement_bind(statement, 5, r->query->signature);
    return statement;
}

static void read_engine(struct reading *r, struct shadow_total *total)
{
    sqlite3_stmt *statement = chosen(r, read_median);
    statement_bind(statement, 3, total->engine);
    if (statement_next(r->totals, statement, r->fault))
        total->median_ns = statement_number(statement, 0);
    (void)sqlite3_finalize(statement);
    struct shadow_hour *hours = ARENA_ARRAY(r->keep, TOTALS_HOURS, struct shadow_hour);
    if (hours == NULL) {
        (void)fault_no_memory(r->fault, "totals");
        return;
    }
    statement = chosen(r, read_hours);
    statement_bind(statement, 3, total->engine);
    (void)sqlite3_bind_int(statement, 4, TOTALS_HOURS);
    while (total->hour_count < TOTALS_HOURS && statement_next(r->totals, statement, r->fault))
        hours[total->hour_count++] =
            (struct shadow_hour){statement_text(statement, 0, r->keep),
                                 statement_number(statement, 1), statement_number(statement, 2)};
    (void)sqlite3_finalize(statement);
    total->hours = hours;
}

static void read_cause_rows(struct reading *r, struct shadow_list *out)
{
    sqlite3_stmt *statement = chosen(r, read_causes);
    (void)sqlite3_bind_int(statement, 3, SHADOW_CAUSES_MAX);
    while (out->cause_count < SHADOW_CAUSES_MAX && statement_next(r->totals, statement, r->fault)) {
        struct shadow_cause *c = &out->causes[out->cause_count++];
        const char *newest = statement_text(statement, 7, r->keep);
        const char *space = newest != NULL ? strchr(newest, ' ') : NULL;
        c->engine = statement_text(statement, 0, r->keep);
        c->result =
            statement_number(statement, 1) == SHADOW_FAILED ? SHADOW_FAILED : SHADOW_DIFFERS;
        c->cause = statement_text(statement, 2, r->keep);
        c->module = statement_text(statement, 3, r->keep);
        c->count = statement_number(statement, 4);
        c->first_hour = statement_text(statement, 5, r->keep);
        c->last_hour = statement_text(statement, 6, r->keep);
        c->report = space != NULL ? space + 1 : NULL;
    }
    (void)sqlite3_finalize(statement);
}

enum status totals_read_shadow(struct totals *totals, const struct totals_shadow_query *query,
                               struct arena *keep, struct shadow_list *out, struct fault *fault)
{
    struct reading r = {totals, query, keep, fault};
    memset(out, 0, sizeof *out);
    if (!totals->has_shadow)
        return ERR_NONE;
    if (sqlite3_exec(totals->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return totals_failed(totals, fault);
    sqlite3_stmt *statement = chosen(&r, read_verdicts);
    while (statement_next(totals, statement, fault)) {
        out->reports += statement_number(statement, 1);
        if (out->verdict_count < SHADOW_VERDICTS_MAX)
            out->verdicts[out->verdict_count++] = (struct shadow_verdict){
                statement_text(statement, 0, keep), statement_number(statement, 1)};
    }
    (void)sqlite3_finalize(statement);
    statement = chosen(&r, read_engines);
    while (out->engine_count < SHADOW_ENGINES_MAX && statement_next(totals, statement, fault)) {
        struct shadow_total *total = &out->engines[out->engine_count++];
        total->engine = statement_text(statement, 0, keep);
        total->against = statement_text(statement, 1, keep);
        total->same = statement_number(statement, 2);
        total->differs = statement_number(statement, 3);
        total->failed = statement_number(statement, 4);
    }
    (void)sqlite3_finalize(statement);
    for (uint32_t i = 0; i < out->engine_count; i++)
        read_engine(&r, &out->engines[i]);
    read_cause_rows(&r, out);
    (void)sqlite3_exec(totals->db, "COMMIT", NULL, NULL, NULL);
    return fault->code;
}
