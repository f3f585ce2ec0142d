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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "stream/queued_report.h"
#include "stream/totals_days.h"
#include "stream/totals_file.h"

void totals_close(struct totals *totals)
{
    if (totals == NULL)
        return;
    database_close(&totals->database);
    totals_sums_free(&totals->sums);
    free(totals);
}

static enum status read_day(struct totals *t, struct fault *fault)
{
    size_t bytes = 0;
    struct query q = database_query(&t->database, TOTALS_READ_DAY, NULL, fault);
    if (query_row(&q)) {
        const char *day = query_see_blob(&q, &bytes);
        (void)snprintf(t->day, sizeof t->day, "%.*s", (int)bytes, day);
    }
    return query_end(&q);
}

static enum status prepare(struct totals *t, bool writing, struct fault *fault)
{
    struct database *d = &t->database;
    const bool is_ours = d->application_id == totals_kind.application_id;
    if (d->tables > 0 && (!is_ours || d->version < 1 || d->version > TOTALS_VERSION))
        return fault_set_lasting(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "totals",
                                 is_ours ? "of another version of twinstack"
                                         : "a database of something else");
    if (d->tables == 0 && !writing)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "totals");
    t->has_shadow = writing || d->version >= TOTALS_WITH_SHADOW;
    if (writing && database_start_writing(d, fault) == ERR_NONE &&
        database_upgrade(d, fault) == ERR_NONE)
        (void)read_day(t, fault);
    return fault->code;
}

enum status totals_open(const char *file, bool writing, struct totals **out, struct fault *fault)
{
    struct totals *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t == NULL)
        return fault_no_memory(fault, "totals");
    totals_sums_init(&t->sums);
    if (!writing && !path_is_file(file))
        (void)fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "totals");
    else if (database_open(&t->database, &totals_kind, file, writing, fault) == ERR_NONE)
        (void)prepare(t, writing, fault);
    fault_set_path(fault, file);
    if (fault->code != ERR_NONE)
        totals_close(t);
    else
        *out = t;
    return fault->code;
}

static enum status write_sum(struct totals *t, const struct totals_sum *sum, struct fault *fault)
{
    struct query q = database_query(&t->database, TOTALS_ADD_SIGNATURE, NULL, fault);
    query_text(&q, sum->text);
    query_text(&q, sum->first_seen);
    query_text(&q, sum->example);
    query_text(&q, sum->last_seen);
    const uint64_t id = query_row(&q) ? query_get(&q) : 0;
    if (query_run(&q) != ERR_NONE)
        return fault->code;
    q = database_query(&t->database, TOTALS_ADD_TALLY, NULL, fault);
    query_int(&q, id);
    query_text(&q, sum->hour);
    query_text(&q, sum->version);
    query_int(&q, sum->count);
    query_int(&q, sum->error);
    return query_run(&q);
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
    return database_begin(&totals->database, fault);
}

enum status totals_end(struct totals *totals, struct fault *fault)
{
    if (fault->code == ERR_NONE)
        (void)write_sums(totals, fault);
    return database_end(&totals->database, fault->code, fault);
}

/* Each sum and the rows that it replaces, in the transaction of the ids. */
static enum status fold_hours(struct totals *t, uint64_t now_s, struct fault *fault)
{
    static const enum totals_statement order[] = {TOTALS_FOLD_TALLY, TOTALS_DROP_TALLY,
                                                  TOTALS_FOLD_TOTAL, TOTALS_DROP_TOTAL};
    char by_hour[TEXT_DATE_BYTES], by_day[TEXT_DATE_BYTES];
    totals_days_ago(now_s, TOTALS_DAYS_BY_HOUR, by_hour);
    totals_days_ago(now_s, TOTALS_DAYS_BY_DAY, by_day);
    by_day[7] = '\0'; /* whole months */
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        struct query q = database_query(&t->database, order[i], NULL, fault);
        query_text(&q, by_hour);
        query_text(&q, by_day);
        (void)query_run(&q);
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
    struct query q = database_query(&t->database, TOTALS_FORGET_REPORTS, NULL, fault);
    query_int(&q, TOTALS_DAYS_KEPT);
    (void)query_run(&q);
    q = database_query(&t->database, TOTALS_FORGET_SLICES, NULL, fault);
    return query_run(&q) == ERR_NONE ? fold_hours(t, day_s, fault) : fault->code;
}

enum status totals_remember(struct totals *totals, const char *id, const char *hour, bool *is_new,
                            struct fault *fault)
{
    *is_new = false;
    if (totals_set_day(totals, hour, fault) != ERR_NONE)
        return fault->code;
    struct query q = database_query(&totals->database, TOTALS_ADD_REPORT, NULL, fault);
    query_text(&q, id);
    query_text(&q, totals->day);
    if (query_run(&q) == ERR_NONE)
        *is_new = database_changed(&totals->database) > 0;
    return fault->code;
}

bool totals_has(struct totals *totals, const char *id, struct fault *fault)
{
    struct query q = database_query(&totals->database, TOTALS_HAS_REPORT, NULL, fault);
    query_text(&q, id);
    const bool has = query_row(&q);
    (void)query_end(&q);
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
        return totals_has(t, split, fault);
    if (totals_has(t, group, fault) || fault->code != ERR_NONE)
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
    struct query q = database_query(&totals->database, TOTALS_ADD_TOTAL, NULL, fault);
    query_text(&q, text_or_empty(partial->hour));
    query_text(&q, text_or_empty(partial->version));
    query_int(&q, partial->stacks);
    query_int(&q, partial->bad);
    query_int(&q, report_count_of(partial->of));
    if (query_run(&q) == ERR_NONE && totals_sums_add(&totals->sums, partial, fault) == ERR_NONE &&
        totals->sums.keep.used_bytes > TOTALS_SUMS_BYTES)
        (void)write_sums(totals, fault);
    return fault->code;
}
