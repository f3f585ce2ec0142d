/* One prepared statement at work.  Values are bound in the order of the statement's parameters and
 * columns read in its order, so a call reads like the SQL:
 *
 *     struct query q = database_query(&store->database, SQL_READ_RUN, keep, fault);
 *     query_int(&q, run_id);
 *     while (query_row(&q))
 *         info->label = query_get_text(&q);
 *     return query_end(&q);
 *
 * After a fault every call does nothing and query_row() is false. */
#ifndef DATABASE_QUERY_H
#define DATABASE_QUERY_H

#include "base/arena.h"
#include "base/text_pool.h"
#include "database/database.h"

struct query {
    struct database *database;
    sqlite3_stmt *statement; /* NULL after a fault */
    struct arena *keep;      /* for texts; NULL: none are read */
    struct text_pool *texts; /* where equal texts are one; NULL: each gets its own copy in KEEP */
    struct fault *fault;
    int bound, column;
    uint32_t room; /* see query_row_of() */
};

/* TEXT: the number of a statement among the kind's texts. */
struct query database_query(struct database *d, uint32_t text, struct arena *keep,
                            struct fault *fault);
void query_int(struct query *q, uint64_t value);
void query_signed(struct query *q, int64_t value);
void query_id(struct query *q, uint64_t id); /* 0: NULL */
void query_text(struct query *q, const char *text);
void query_blob(struct query *q, const void *data, size_t bytes);
bool query_row(struct query *q);

/* The next row, as a new zeroed element of SIZE bytes of the array in KEEP that ARRAY points to;
 * *COUNT grows by 1. NULL: there is no other row. The array begins empty, whatever it was:
 *
 *     struct hook_outcome *hook;
 *     while ((hook = query_row_of(&q, &hooks, &count, sizeof *hook)) != NULL)
 *         hook->scenario = query_get_text(&q);
 */
void *query_row_of(struct query *q, void *array, uint32_t *count, size_t size);

uint64_t query_get(struct query *q);
int64_t query_get_signed(struct query *q);
double query_get_number(struct query *q);                   /* NULL: NaN */
const char *query_get_text(struct query *q);                /* NULL: NULL */
const char *query_see_text(struct query *q);                /* the same, valid until the next row */
void query_skip(struct query *q);                           /* a column that is not needed */
const void *query_see_blob(struct query *q, size_t *bytes); /* valid until the next row */

/* As query_get_text(); an equal text gives BEFORE itself, which may be NULL. */
const char *query_get_text_like(struct query *q, const char *before);

/* Ends the query; returns the code of the fault, if there is one. */
enum status query_end(struct query *q);

/* Runs to the end a statement whose values are bound. */
enum status query_run(struct query *q);

#endif
