/* How far a run is: see store.h. */
#include "store/statements.h"

enum status store_put_pace(struct store *store, uint64_t run_id, const struct run_pace *pace,
                           struct fault *fault)
{
    struct query q = query_with(store, SQL_PUT_PACE, run_id, NULL, fault);
    query_int(&q, pace->total);
    query_int(&q, pace->captured);
    query_int(&q, pace->had);
    query_int(&q, pace->since_ns);
    query_int(&q, pace->at_ns);
    return query_run(&q);
}

void store_read_pace(struct store *store, uint64_t run_id, struct run_pace *out,
                     struct fault *fault)
{
    struct query q = query_with(store, SQL_READ_PACE, run_id, NULL, fault);
    if (query_row(&q)) {
        out->total = (uint32_t)query_get(&q);
        out->captured = (uint32_t)query_get(&q);
        out->had = (uint32_t)query_get(&q);
        out->since_ns = query_get(&q);
        out->at_ns = query_get(&q);
    }
    (void)query_end(&q);
}
