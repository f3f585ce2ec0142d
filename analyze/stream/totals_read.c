/* What is read from the totals: the ranking of problems, and one problem. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "stream/totals_file.h"

struct reading {
    struct totals *totals;
    const struct totals_query *query;
    struct arena *keep;
    struct fault *fault;
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

/* Of the query's version, at most MOST rows. */
static struct query start(struct reading *r, enum totals_statement which, uint64_t most)
{
    struct query q = database_query(&r->totals->database, which, r->keep, r->fault);
    query_text(&q, r->query->version);
    query_int(&q, most);
    return q;
}

/* Rows of (hour, count), newest first, turned round. */
static const struct totals_hour *read_hours(struct reading *r, struct query *q, uint32_t *count)
{
    struct totals_hour *hours = ARENA_ARRAY(r->keep, TOTALS_HOURS, struct totals_hour);
    *count = 0;
    if (hours == NULL)
        (void)fault_no_memory(r->fault, "totals");
    while (*count < TOTALS_HOURS && query_row(q)) {
        struct totals_hour *hour = &hours[(*count)++];
        hour->hour = query_get_text(q);
        hour->count = query_get(q);
    }
    for (uint32_t i = 0; i < *count / 2; i++) {
        const struct totals_hour other = hours[i];
        hours[i] = hours[*count - 1 - i];
        hours[*count - 1 - i] = other;
    }
    (void)query_end(q);
    return hours;
}

/* Rows of (version, reports, stacks, first and last hour). */
static const struct totals_version *read_versions(struct reading *r, struct query *q,
                                                  uint32_t *count)
{
    struct totals_version *versions = ARENA_ARRAY(r->keep, TOTALS_VERSIONS, struct totals_version);
    *count = 0;
    if (versions == NULL)
        (void)fault_no_memory(r->fault, "totals");
    while (*count < TOTALS_VERSIONS && query_row(q)) {
        struct totals_version *version = &versions[(*count)++];
        version->version = query_get_text(q);
        version->reports = query_get(q);
        version->stacks = query_get(q);
        version->first_hour = query_get_text(q);
        version->last_hour = query_get_text(q);
    }
    (void)query_end(q);
    return versions;
}

/* A statement of one signature. */
static struct query start_of(struct reading *r, enum totals_statement which, uint64_t id,
                             uint64_t most)
{
    struct query q = start(r, which, most);
    query_int(&q, id);
    return q;
}

static void read_details(struct reading *r, uint64_t id, struct totals_row *row)
{
    struct query q = start_of(r, TOTALS_READ_VERSIONS, id, 0);
    if (query_row(&q))
        row->versions = query_get_text(&q);
    (void)query_end(&q);
    q = start_of(r, TOTALS_READ_BY_VERSION, id, TOTALS_VERSIONS);
    row->by_version = read_versions(r, &q, &row->version_count);
    q = start_of(r, TOTALS_READ_TREND, id, TOTALS_HOURS);
    row->hours = read_hours(r, &q, &row->hour_count);
    if (r->query->key != NULL) {
        q = start(r, TOTALS_READ_RANK, row->count);
        query_text(&q, row->signature);
        if (query_row(&q))
            row->rank = query_get(&q);
        (void)query_end(&q);
    }
    if (!r->totals->has_shadow)
        return;
    q = start(r, TOTALS_READ_AGREEMENT, 0);
    query_text(&q, row->signature);
    if (query_row(&q)) {
        row->judged = query_get(&q);
        row->agreed = query_get(&q);
    }
    (void)query_end(&q);
}

static void read_rows(struct reading *r, struct totals_list *out)
{
    const struct totals_query *query = r->query;
    struct totals_row *rows = ARENA_ARRAY(r->keep, (size_t)query->top + 1, struct totals_row);
    if (rows == NULL) {
        (void)fault_no_memory(r->fault, "totals");
        return;
    }
    struct query q = start(r, TOTALS_READ_TOP, query->top);
    query_text(&q, query->baseline);
    query_text(&q, query->since);
    query_int(&q, query->after);
    query_text(&q, query->key);
    query_int(&q, query->only_new);
    while (out->count < query->top && query_row(&q)) {
        struct totals_row *row = &rows[out->count++];
        const uint64_t id = query_get(&q);
        row->rank = (uint64_t)query->after + out->count;
        row->signature = query_get_text(&q);
        row->first_seen = query_get_text(&q);
        row->last_seen = query_get_text(&q);
        row->example = query_get_text(&q);
        row->count = query_get(&q);
        row->error = query_get(&q);
        row->is_new = query_get(&q) != 0;
        read_details(r, id, row);
    }
    (void)query_end(&q);
    out->rows = rows;
}

static void read_sums(struct reading *r, struct totals_list *out)
{
    struct query q = database_query(&r->totals->database, TOTALS_READ_ALL, r->keep, r->fault);
    query_text(&q, r->query->version);
    if (query_row(&q)) {
        out->stacks = query_get(&q);
        out->bad = query_get(&q);
        out->reports = query_get(&q);
        out->first_hour = query_get_text(&q);
        out->last_hour = query_get_text(&q);
        out->signatures = query_get(&q);
    }
    (void)query_end(&q);
    q = start(r, TOTALS_READ_HOURS, TOTALS_HOURS);
    out->hours = read_hours(r, &q, &out->hour_count);
    q = start(r, TOTALS_READ_ALL_VERSIONS, TOTALS_VERSIONS);
    out->versions = read_versions(r, &q, &out->version_count);
    if (r->query->baseline == NULL && r->query->since == NULL)
        return;
    q = start(r, TOTALS_READ_NEW, 0);
    query_text(&q, r->query->baseline);
    query_text(&q, r->query->since);
    if (query_row(&q))
        out->new_signatures = query_get(&q);
    (void)query_end(&q);
}

enum status totals_read(struct totals *totals, const struct totals_query *query, struct arena *keep,
                        struct totals_list *out, struct fault *fault)
{
    struct reading r = {totals, query, keep, fault};
    struct database *d = &totals->database;
    memset(out, 0, sizeof *out);
    const int code = sqlite3_create_function(
        d->db, "problem_key", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, problem_key, NULL, NULL);
    if (code != SQLITE_OK)
        return database_fault(d, code, NULL, fault);
    database_begin_reading(d);
    read_sums(&r, out);
    read_rows(&r, out);
    database_end_reading(d);
    return fault->code;
}
