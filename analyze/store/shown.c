/* What pages show of the newest run, as finished texts.
 *
 * A text counts while the number of changes (triggers of the schema) is the one that it was made
 * at, and for the program that made it: any other makes it anew. Nothing has to be deleted when a
 * baseline moves or a run goes away, and a text that is written too late never counts. */
#include <zlib.h>

#include "store/statements.h"

static uint64_t count_changes(struct store *store, struct fault *fault)
{
    struct query q = query_begin(store, SQL_COUNT_CHANGES, NULL, fault);
    const uint64_t number = query_row(&q) ? query_get(&q) : 0;
    (void)query_end(&q);
    return number;
}

uint64_t store_wants_shown(struct store *store, const char *program)
{
    struct fault fault = FAULT_INIT;
    if (store->mode != STORE_WRITE)
        return 0;
    struct query q = query_begin(store, SQL_HAS_SHOWN, NULL, &fault);
    query_text(&q, program);
    const bool has = query_row(&q);
    return query_end(&q) == ERR_NONE && !has ? count_changes(store, &fault) : 0;
}

enum status store_put_shown(struct store *store, const char *program, uint64_t change,
                            const struct shown_text *texts, uint32_t count, struct fault *fault)
{
    if (database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    struct query clear = query_begin(store, SQL_CLEAR_SHOWN, NULL, fault);
    (void)query_run(&clear);
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        if (texts[i].bytes > SHOWN_MAX_BYTES)
            continue;
        struct query q = query_begin(store, SQL_ADD_SHOWN, NULL, fault);
        query_text(&q, texts[i].address);
        query_text(&q, program);
        query_int(&q, change);
        store_bind_packed(&q, texts[i].text, texts[i].bytes, Z_BEST_SPEED);
        (void)query_run(&q);
    }
    return database_end(&store->database, fault->code, fault);
}

char *store_read_shown(struct store *store, const char *program, const char *address,
                       struct arena *keep, size_t *bytes)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    struct query q = query_begin(store, SQL_READ_SHOWN, keep, &fault);
    query_text(&q, address);
    query_text(&q, program);
    query_int(&q, SHOWN_MAX_BYTES);
    if (query_row(&q))
        text = store_get_packed(&q, bytes);
    (void)query_end(&q);
    return text != NULL && store_killed_runs(store) == 0 ? text : NULL;
}
