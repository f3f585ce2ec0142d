/* The totals of several queues as one file: see totals.h. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "stream/totals_file.h"

enum { STEPS_PLAIN = 4 };

/* WHERE true: without it, ON would belong to a join. */
static const char *const steps[] = {
    "INSERT INTO signature (text, first_seen, last_seen, example)"
    " SELECT text, first_seen, last_seen, example FROM part.signature WHERE true"
    " ON CONFLICT DO UPDATE SET last_seen = max(last_seen, excluded.last_seen),"
    " example = CASE WHEN excluded.first_seen < first_seen THEN excluded.example ELSE example END,"
    " first_seen = min(first_seen, excluded.first_seen)",
    "INSERT INTO tally SELECT s.id, t.hour, t.version, t.count, t.error FROM part.tally t"
    " JOIN part.signature p ON p.id = t.signature JOIN main.signature s ON s.text = p.text"
    " WHERE true ON CONFLICT DO UPDATE SET count = count + excluded.count,"
    " error = error + excluded.error",
    "INSERT INTO total SELECT * FROM part.total WHERE true"
    " ON CONFLICT DO UPDATE SET reports = reports + excluded.reports,"
    " stacks = stacks + excluded.stacks, bad = bad + excluded.bad",
    "INSERT OR IGNORE INTO report SELECT * FROM part.report",
    /* only where the file has them */
    "INSERT OR IGNORE INTO shadow (id, hour, version, verdict, signature, added)"
    " SELECT id, hour, version, verdict, signature, (SELECT coalesce(max(added), 0)"
    " FROM main.shadow) + row_number() OVER (ORDER BY hour, id) FROM part.shadow",
    "INSERT OR IGNORE INTO shadow_engine SELECT * FROM part.shadow_engine",
};

/* How many reports both have. */
static uint64_t count_same(struct totals *t, struct fault *fault)
{
    struct query q = database_query(&t->database, TOTALS_COUNT_SAME, NULL, fault);
    const uint64_t count = query_row(&q) ? query_get(&q) : 0;
    (void)query_end(&q);
    return count;
}

static enum status add_part(struct totals *t, const char *file, uint64_t *same, struct fault *fault)
{
    struct database *d = &t->database;
    struct totals *part = NULL;
    if (totals_open(file, false, &part, fault) != ERR_NONE) /* is it one that can be read? */
        return fault->code;
    const size_t count = part->has_shadow ? COUNT_OF(steps) : (size_t)STEPS_PLAIN;
    totals_close(part);
    struct query attach = database_query(d, TOTALS_ATTACH, NULL, fault);
    query_text(&attach, file);
    if (query_run(&attach) != ERR_NONE || database_begin(d, fault) != ERR_NONE)
        return fault->code;
    *same += count_same(t, fault);
    for (size_t i = 0; fault->code == ERR_NONE && i < count; i++)
        (void)database_run(d, steps[i], fault);
    return database_end(d, fault->code, fault) == ERR_NONE ? database_run(d, "DETACH part", fault)
                                                           : fault->code;
}

/* A file of totals, or nothing: no other file is replaced. */
static enum status check_target(const char *file, struct fault *fault)
{
    struct totals *totals = NULL;
    if (path_is_file(file) && totals_open(file, false, &totals, fault) == ERR_ABSENT)
        fault_clear(fault); /* an empty file */
    totals_close(totals);
    return fault->code;
}

enum status totals_merge(const char *file, const char *const *parts, uint32_t count, uint64_t *same,
                         struct fault *fault)
{
    char temporary[1024];
    struct totals *t = NULL;
    *same = 0;
    const int length = snprintf(temporary, sizeof temporary, "%s.new", file);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "path of totals");
    if (check_target(file, fault) != ERR_NONE || path_remove(temporary, fault) != ERR_NONE ||
        totals_open(temporary, true, &t, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; fault->code == ERR_NONE && i < count; i++)
        (void)add_part(t, parts[i], same, fault);
    /* one file, without a log beside it that its next reader would take for its own */
    if (fault->code == ERR_NONE)
        (void)database_end_log(&t->database, fault);
    totals_close(t);
    if (fault->code == ERR_NONE)
        return file_move(temporary, file, fault);
    struct fault ignored = FAULT_INIT;
    (void)path_remove(temporary, &ignored);
    return fault->code;
}
