/* The results of shadow comparisons in the totals: one row per report, one per engine of it. The
 * newest ones are kept one by one, so medians are exact for them. */
#include <string.h>

#include "base/text.h"
#include "stream/totals_days.h"
#include "stream/totals_file.h"

static void delete_old(struct totals *t, enum totals_statement which, struct fault *fault)
{
    struct query q = database_query(&t->database, which, NULL, fault);
    query_int(&q, TOTALS_SHADOW_KEPT);
    (void)query_run(&q);
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
    struct query q = database_query(&t->database, TOTALS_ADD_SHADOW, NULL, fault);
    query_text(&q, shadow->id);
    query_text(&q, shadow->hour);
    query_text(&q, text_or_empty(shadow->version));
    query_text(&q, shadow->verdict);
    query_text(&q, shadow->signature);
    *is_new = query_run(&q) == ERR_NONE && database_changed(&t->database) > 0;
    delete_old(t, TOTALS_DELETE_ENGINES, fault);
    delete_old(t, TOTALS_DELETE_SHADOWS, fault);
    return fault->code;
}

enum status totals_add_shadow(struct totals *totals, const struct shadow *shadow, bool *is_new,
                              struct fault *fault)
{
    if (add_head(totals, shadow, is_new, fault) != ERR_NONE || !*is_new)
        return fault->code;
    for (uint32_t i = 0; i < shadow->count; i++) {
        const struct shadow_engine *e = &shadow->engines[i];
        struct query q = database_query(&totals->database, TOTALS_ADD_ENGINE, NULL, fault);
        query_text(&q, shadow->id);
        query_text(&q, e->engine);
        query_text(&q, e->against);
        query_int(&q, e->result);
        query_text(&q, e->cause);
        query_text(&q, e->module);
        query_int(&q, e->ns);
        (void)query_run(&q);
    }
    return fault->code;
}

/* ---- reading -------------------------------------------------------------------------- */

struct reading {
    struct totals *totals;
    const struct totals_shadow_query *query;
    struct arena *keep;
    struct fault *fault;
};

static struct query chosen(struct reading *r, enum totals_statement which)
{
    struct query q = database_query(&r->totals->database, which, r->keep, r->fault);
    query_text(&q, r->query->version);
    query_text(&q, r->query->since);
    query_text(&q, r->query->signature);
    return q;
}

static void read_engine(struct reading *r, struct shadow_total *total)
{
    struct query q = chosen(r, TOTALS_READ_MEDIAN);
    query_text(&q, total->engine);
    if (query_row(&q))
        total->median_ns = query_get(&q);
    (void)query_end(&q);
    struct shadow_hour *hours = ARENA_ARRAY(r->keep, TOTALS_HOURS, struct shadow_hour);
    if (hours == NULL) {
        (void)fault_no_memory(r->fault, "totals");
        return;
    }
    q = chosen(r, TOTALS_READ_ENGINE_HOURS);
    query_text(&q, total->engine);
    query_int(&q, TOTALS_HOURS);
    while (total->hour_count < TOTALS_HOURS && query_row(&q)) {
        struct shadow_hour *hour = &hours[total->hour_count++];
        hour->hour = query_get_text(&q);
        hour->judged = query_get(&q);
        hour->agreed = query_get(&q);
    }
    (void)query_end(&q);
    total->hours = hours;
}

static void read_cause_rows(struct reading *r, struct shadow_list *out)
{
    struct query q = chosen(r, TOTALS_READ_CAUSES);
    query_int(&q, SHADOW_CAUSES_MAX);
    while (out->cause_count < SHADOW_CAUSES_MAX && query_row(&q)) {
        struct shadow_cause *c = &out->causes[out->cause_count++];
        c->engine = query_get_text(&q);
        c->result = query_get(&q) == SHADOW_FAILED ? SHADOW_FAILED : SHADOW_DIFFERS;
        c->cause = query_get_text(&q);
        c->module = query_get_text(&q);
        c->count = query_get(&q);
        c->first_hour = query_get_text(&q);
        c->last_hour = query_get_text(&q);
        const char *newest = query_get_text(&q);
        const char *space = newest != NULL ? strchr(newest, ' ') : NULL;
        c->report = space != NULL ? space + 1 : NULL;
    }
    (void)query_end(&q);
}

static void read_verdict_rows(struct reading *r, struct shadow_list *out)
{
    struct query q = chosen(r, TOTALS_READ_VERDICTS);
    while (query_row(&q)) {
        const char *verdict = query_get_text(&q);
        const uint64_t count = query_get(&q);
        out->reports += count;
        if (out->verdict_count < SHADOW_VERDICTS_MAX)
            out->verdicts[out->verdict_count++] = (struct shadow_verdict){verdict, count};
    }
    (void)query_end(&q);
}

enum status totals_read_shadow(struct totals *totals, const struct totals_shadow_query *query,
                               struct arena *keep, struct shadow_list *out, struct fault *fault)
{
    struct reading r = {totals, query, keep, fault};
    memset(out, 0, sizeof *out);
    if (!totals->has_shadow)
        return ERR_NONE;
    database_begin_reading(&totals->database);
    read_verdict_rows(&r, out);
    struct query q = chosen(&r, TOTALS_READ_ENGINES);
    while (out->engine_count < SHADOW_ENGINES_MAX && query_row(&q)) {
        struct shadow_total *total = &out->engines[out->engine_count++];
        total->engine = query_get_text(&q);
        total->against = query_get_text(&q);
        total->same = query_get(&q);
        total->differs = query_get(&q);
        total->failed = query_get(&q);
    }
    (void)query_end(&q);
    for (uint32_t i = 0; i < out->engine_count; i++)
        read_engine(&r, &out->engines[i]);
    read_cause_rows(&r, out);
    database_end_reading(&totals->database);
    return fault->code;
}
