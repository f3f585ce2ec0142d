/* Reads what each way costs in a case: see model/way.h. */
#include <string.h>

#include "store/query.h"

static void read_parts(struct query *q, struct way_parts *out)
{
    out->whole_ns = query_get(q);
    out->open_ns = query_get(q);
    out->unwind_ns = query_get(q);
    out->load_ns = query_get(q);
    out->resolve_ns = query_get(q);
    out->own_ns = query_get(q);
}

/* The columns after the case's id; *ways is made for the first row. Unknown ways are left out. */
static void read_way(struct query *q, struct arena *keep, struct way_cost **ways)
{
    const enum case_way way = case_way_parse(query_get_text(q));
    struct way_cost cost;
    cost.frames = query_get(q);
    cost.same = query_get(q);
    read_parts(q, &cost.cold);
    read_parts(q, &cost.warm);
    if (*ways == NULL && (*ways = ARENA_ARRAY(keep, WAY_COUNT, struct way_cost)) != NULL)
        memset(*ways, 0, WAY_COUNT * sizeof **ways);
    if (*ways == NULL)
        (void)fault_set(q->fault, ERR_MEMORY, FAULT_NO_OFFSET, "costs of a case");
    else if (way < WAY_COUNT)
        (*ways)[way] = cost;
}

void store_read_ways(struct store *store, struct run_case *c, struct arena *keep,
                     struct text_pool *texts, struct fault *fault)
{
    struct query q = query_begin(store, SQL_READ_WAYS, keep, fault);
    q.texts = texts;
    query_int(&q, c->id);
    while (query_row(&q)) {
        (void)query_get(&q);
        read_way(&q, keep, &c->ways);
    }
    (void)query_end(&q);
}

enum status store_read_run_ways(struct store *store, uint64_t run_id, struct text_pool *texts,
                                struct run_case *cases, uint32_t count, struct fault *fault)
{
    uint32_t at = 0;
    struct query q = query_begin(store, SQL_READ_RUN_WAYS, texts->keep, fault);
    q.texts = texts;
    query_int(&q, run_id);
    while (query_row(&q)) {
        const uint64_t id = query_get(&q);
        while (at < count && cases[at].id < id)
            at++;
        if (at < count && cases[at].id == id)
            read_way(&q, texts->keep, &cases[at].ways);
    }
    return query_end(&q);
}
