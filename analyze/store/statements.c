/* See statements.h. */
#include "store/statements.h"

struct query query_begin(struct store *store, enum sql sql, struct arena *keep, struct fault *fault)
{
    return database_query(&store->database, sql, keep, fault);
}

struct query query_with(struct store *store, enum sql sql, uint64_t id, struct arena *keep,
                        struct fault *fault)
{
    struct query q = query_begin(store, sql, keep, fault);
    query_int(&q, id);
    return q;
}

struct query store_begin_range(struct store *store, enum sql sql, uint64_t first, uint64_t last,
                               struct arena *keep, struct fault *fault)
{
    struct query q = query_with(store, sql, first, keep, fault);
    query_int(&q, last);
    return q;
}

struct run_case *store_case_of(const struct case_set *set, uint64_t id, uint32_t *at)
{
    while (*at < set->count && set->cases[*at]->id < id)
        (*at)++;
    return *at < set->count && set->cases[*at]->id == id ? set->cases[*at] : NULL;
}

struct query store_begin_set(const struct case_set *set, enum sql sql)
{
    struct query q = store_begin_range(set->store, sql, set->cases[0]->id,
                                       set->cases[set->count - 1]->id, set->keep, set->fault);
    q.texts = set->texts;
    return q;
}

uint64_t store_text_id(struct store *store, const char *text, struct fault *fault)
{
    uint64_t id = 0;
    for (int round = 0; text != NULL && round < 2 && id == 0 && fault->code == ERR_NONE; round++) {
        struct query find = query_begin(store, SQL_FIND_TEXT, NULL, fault);
        query_text(&find, text);
        id = query_row(&find) ? query_get(&find) : 0;
        (void)query_end(&find);
        if (id == 0) {
            struct query add = query_begin(store, SQL_ADD_TEXT, NULL, fault);
            query_text(&add, text);
            (void)query_run(&add);
        }
    }
    return id;
}

bool store_grow(void *array_pointer, uint32_t count, uint32_t *room, size_t size,
                struct arena *keep, struct fault *fault)
{
    void **array = array_pointer;
    void *grown = arena_reserve(keep, *array, room, (uint64_t)count + 1, size);
    if (grown == NULL) {
        (void)fault_no_memory(fault, "rows from the database");
        return false;
    }
    *array = grown;
    return true;
}
