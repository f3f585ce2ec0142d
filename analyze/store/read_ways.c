/* Reads what each way costs in a case: see model/way.h. */
#include <string.h>

#include "store/statements.h"

static void read_parts(struct query *q, struct way_parts *out)
{
    out->whole_ns = query_get(q);
    out->open_ns = query_get(q);
    out->unwind_ns = query_get(q);
    out->load_ns = query_get(q);
    out->resolve_ns = query_get(q);
    out->own_ns = query_get(q);
    out->even_ns = query_get(q);
    out->odd_ns = query_get(q);
}

/* *ways is made for the first row. Unknown ways are left out. */
static void read_way(struct query *q, struct arena *keep, struct way_cost **ways)
{
    const enum case_way way = case_way_parse(query_get_text(q));
    struct way_cost cost;
    cost.frames = query_get(q);
    cost.same = query_get(q);
    read_parts(q, &cost.cold);
    read_parts(q, &cost.warm);
    cost.first.whole_ns = query_get(q);
    cost.first.even_ns = query_get(q);
    cost.first.odd_ns = query_get(q);
    if (*ways == NULL && (*ways = ARENA_ARRAY(keep, WAY_COUNT, struct way_cost)) != NULL)
        memset(*ways, 0, WAY_COUNT * sizeof **ways);
    if (*ways == NULL)
        (void)fault_no_memory(q->fault, "costs of a case");
    else if (way < WAY_COUNT)
        (*ways)[way] = cost;
}

void store_read_ways(const struct case_set *set)
{
    uint32_t at = 0;
    struct query q = store_begin_set(set, SQL_READ_WAYS);
    while (query_row(&q)) {
        struct run_case *c = store_case_of(set, query_get(&q), &at);
        if (c != NULL)
            read_way(&q, set->keep, &c->ways);
    }
    (void)query_end(&q);
}
