/* The totals of all reports, in a SQLite database of their own.
 *
 * Each partial result counts once: its id is stored in the same transaction as its sums. An id is
 * forgotten when ids were added on TOTALS_DAYS_KEPT later days. A message is delivered again soon
 * after the reducer starts, and a queue refuses a repeated id for QUEUE_REMEMBER_S, so it is not
 * needed by then. */
#ifndef STREAM_TOTALS_H
#define STREAM_TOTALS_H

#include <stdbool.h>

#include "stream/partial.h"
#include "stream/shadow_result.h"
#include "stream/slice.h"

enum { TOTALS_DAYS_KEPT = 8, TOTALS_SHADOW_KEPT = 100000 };

/* Counts by hour are kept for so many days, then by day; by day for so many, then by month. So the
 * number of rows does not grow with hours. */
enum { TOTALS_DAYS_BY_HOUR = 31, TOTALS_DAYS_BY_DAY = 400 };

struct totals;

/* Opens FILE, which is made when WRITING. Fails: ERR_ABSENT; ERR_IO; ERR_UNSUPPORTED another
 * program's file, or of a newer version; ERR_MEMORY. */
enum status totals_open(const char *file, bool writing, struct totals **out, struct fault *fault);
void totals_close(struct totals *totals);

/* A transaction; totals_end() commits it, or rolls it back if FAULT stands. Fails: ERR_IO (a full
 * disk), ERR_TIMEOUT another process writes. */
enum status totals_begin(struct totals *totals, struct fault *fault);
enum status totals_end(struct totals *totals, struct fault *fault);

/* Adds a partial result, unless its id (`of`) is there: then *IS_NEW is false and nothing changes.
 * Fails: ERR_MALFORMED it has no id; and as above. */
enum status totals_add(struct totals *totals, const struct partial *partial, bool *is_new,
                       struct fault *fault);

/* Stores a slice of a partial result. When all slices of its digest are there, *WHOLE is the text,
 * in KEEP, and all slices of this report are gone; add it in the same transaction. Otherwise, and
 * if the report is counted, *WHOLE is NULL. Fails: ERR_MALFORMED; and as above. */
enum status totals_add_slice(struct totals *totals, const struct slice *slice, struct arena *keep,
                             const char **whole, size_t *bytes, struct fault *fault);

/* Makes FILE the sum of the totals of several queues, whole or not at all. *SAME: how many reports
 * two of them have: a sender sent these to two queues, and they count twice. Fails: as
 * totals_open() of any of them, or of FILE, which is none. */
enum status totals_merge(const char *file, const char *const *parts, uint32_t count, uint64_t *same,
                         struct fault *fault);

enum { TOTALS_KEY_BYTES = 17 };

/* The address of a problem: 16 hexadecimal digits, the same in all totals, forever. A sender
 * can construct two signatures with one key; both are found then. */
void totals_key(const char *signature, char out[TOTALS_KEY_BYTES]);

struct totals_query {
    const char *version;  /* NULL: all */
    const char *baseline; /* a day: "new" is what was first seen on it or later; NULL: none */
    /* A version: "new" is what no older one has. Older are those whose first report came in an
     * earlier hour; of one hour, those whose name is less. Reports without a version count until
     * this hour. NULL: none. A version without reports brought nothing. */
    const char *since;
    const char *key;     /* of one problem; NULL: all */
    bool only_new;       /* leaves out what is not new */
    uint32_t top, after; /* so many rows after this rank */
};

struct totals_hour {
    const char *hour; /* 2026-11-22T08; of older ones the day, or the month: 2026-11 */
    uint64_t count;
};

struct totals_version {
    const char *version;                /* "": not stated */
    uint64_t reports, stacks;           /* reports: 0 in a row, which does not have them */
    const char *first_hour, *last_hour; /* "": not stated */
};

enum { TOTALS_VERSIONS = 100 }; /* the newest ones are listed */

struct totals_row {
    uint64_t rank; /* in the list; of a row that was asked for by its key, among all of the version
                    */
    const char *signature, *first_seen, *last_seen, *example;
    const char *versions; /* separated by ", " */
    uint64_t count, error;
    bool is_new;
    uint64_t judged, agreed;         /* sampled reports: dump and offsets judged; both agree */
    const struct totals_hour *hours; /* the newest TOTALS_HOURS, oldest first; without empty ones */
    uint32_t hour_count;
    const struct totals_version *by_version; /* the newest first; of all versions */
    uint32_t version_count;
};

enum { TOTALS_HOURS = 48 };

struct totals_list {
    uint64_t stacks, bad, reports, signatures; /* signatures: listed or not */
    uint64_t new_signatures;                   /* those that are new */
    const char *first_hour, *last_hour;        /* NULL: there are no stacks */
    const struct totals_hour *hours;           /* of all stacks */
    uint32_t hour_count;
    const struct totals_version *versions; /* the newest first, without reports that state none */
    uint32_t version_count;
    const struct totals_row *rows;
    uint32_t count;
};

/* Everything lives in KEEP. */
enum status totals_read(struct totals *totals, const struct totals_query *query, struct arena *keep,
                        struct totals_list *out, struct fault *fault);

/* Adds the result of a shadow comparison, unless its report has one: then *IS_NEW is false. The
 * newest TOTALS_SHADOW_KEPT results are kept, in the order in which they were added; older ones are
 * deleted, and what is read is exact for those kept. An id is remembered as long as that of a
 * partial result, also when its result is deleted. Fails: as totals_add(). */
enum status totals_add_shadow(struct totals *totals, const struct shadow *shadow, bool *is_new,
                              struct fault *fault);

struct shadow_hour {
    const char *hour;
    uint64_t judged, agreed;
};

struct shadow_total {
    const char *engine, *against;    /* against NULL: the others are compared with it, always */
    uint64_t same, differs, failed;  /* of the reports in which it is not the reference */
    uint64_t median_ns;              /* of its times; 0: none was measured */
    const struct shadow_hour *hours; /* the newest TOTALS_HOURS, oldest first */
    uint32_t hour_count;
};

struct shadow_cause {
    const char *engine, *cause, *module; /* NULL: not known */
    enum shadow_result result;
    uint64_t count;
    const char *first_hour, *last_hour, *report; /* report: the id of the newest one */
};

struct shadow_verdict {
    const char *verdict;
    uint64_t count;
};

enum { SHADOW_CAUSES_MAX = 100, SHADOW_VERDICTS_MAX = 16 };

struct shadow_list {
    uint64_t reports;
    struct shadow_total engines[SHADOW_ENGINES_MAX];
    uint32_t engine_count;
    struct shadow_cause causes[SHADOW_CAUSES_MAX]; /* most frequent first */
    uint32_t cause_count;
    struct shadow_verdict verdicts[SHADOW_VERDICTS_MAX];
    uint32_t verdict_count;
};

struct totals_shadow_query {
    const char *version, *since, *signature; /* since: an hour or a day; NULL: all */
};

/* Agreement by engine, cause and module. Everything lives in KEEP. Fails: ERR_IO, ERR_TIMEOUT,
 * ERR_MEMORY. */
enum status totals_read_shadow(struct totals *totals, const struct totals_shadow_query *query,
                               struct arena *keep, struct shadow_list *out, struct fault *fault);

#endif
