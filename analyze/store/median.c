/* SQL's median(x): of the numbers of a group, by base/quantile.h, so that a figure is the same
 * number whether the database makes it or a report. NULL for a group without numbers. */
#include <stdlib.h>

#include "base/array.h"
#include "base/quantile.h"
#include "store/statements.h"

struct group {
    double *values;
    uint32_t count, room;
};

static void add(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct group *g = sqlite3_aggregate_context(context, (int)sizeof *g);
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    double *room =
        g == NULL ? NULL
                  : array_reserve(g->values, &g->room, (uint64_t)g->count + 1, sizeof *g->values);
    if (room == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    g->values = room;
    g->values[g->count++] = sqlite3_value_double(values[0]);
}

/* Called for each group, also where the statement fails. */
static void end(sqlite3_context *context)
{
    struct group *g = sqlite3_aggregate_context(context, 0);
    if (g != NULL && g->count > 0)
        sqlite3_result_double(context, quantile_median(g->values, g->count));
    if (g != NULL)
        free(g->values);
}

int store_add_median(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "median", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                      NULL, add, end, NULL);
}
