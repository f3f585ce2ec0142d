/* What pages show, as finished texts.
 *
 * A text of the newest run counts while the number of changes (triggers of the schema) is the one
 * that it was made at; a text about one run alone, while that run, its history, the benches of
 * its commit and, where it says what is new since a baseline, the baselines are as they were, so
 * that the next run leaves it as it is. Both count for the program that made them: any other makes
 * them anew. Nothing has to be deleted when a baseline moves, and a text that is written too late
 * never counts. */
#include <string.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/text.h"
#include "store/statements.h"

static uint64_t count_changes(struct store *store, struct fault *fault)
{
    struct query q = query_begin(store, SQL_COUNT_CHANGES, NULL, fault);
    const uint64_t number = query_row(&q) ? query_get(&q) : 0;
    (void)query_end(&q);
    return number;
}

void store_set_program(struct store *store, const char *program)
{
    store->program = program;
}

uint64_t store_wants_shown(struct store *store)
{
    struct fault fault = FAULT_INIT;
    if (store->mode != STORE_WRITE || store->program == NULL)
        return 0;
    struct query q = query_begin(store, SQL_HAS_SHOWN, NULL, &fault);
    query_text(&q, store->program);
    const bool has = query_row(&q);
    return query_end(&q) == ERR_NONE && !has ? count_changes(store, &fault) : 0;
}

/* As a signed number of SQLite, which a number of changes never reaches, it is below 0. */
#define BASIS_BIT (UINT64_C(1) << 63)

static void add_baselines(struct store *store, struct arena *texts, uint64_t *sum,
                          struct fault *fault)
{
    struct query baselines = query_begin(store, SQL_READ_BASELINES, texts, fault);
    while (query_row(&baselines)) {
        const uint64_t id = query_get(&baselines);
        *sum = hash_bytes(*sum, &id, sizeof id);
        *sum = hash_text(*sum, text_or_empty(query_get_text(&baselines)));
    }
    (void)query_end(&baselines);
}

uint64_t store_shown_basis(struct store *store, uint64_t run_id, bool with_baselines)
{
    struct fault fault = FAULT_INIT;
    struct arena texts;
    uint64_t sum = hash_bytes(HASH_START, &with_baselines, sizeof with_baselines);
    bool is_over = false;
    arena_init(&texts, 0);
    struct query runs = query_with(store, SQL_READ_BASIS, run_id, &texts, &fault);
    query_int(&runs, with_baselines);
    while (query_row(&runs)) {
        const uint64_t id = query_get(&runs);
        const char *state = text_or_empty(query_get_text(&runs));
        is_over = is_over || (id == run_id && strcmp(state, "running") != 0);
        sum = hash_bytes(sum, &id, sizeof id);
        sum = hash_text(sum, state);
        sum = hash_text(sum, text_or_empty(query_get_text(&runs)));
        arena_reset(&texts);
    }
    (void)query_end(&runs);
    if (with_baselines)
        add_baselines(store, &texts, &sum, &fault);
    arena_free(&texts);
    return is_over && fault.code == ERR_NONE ? sum | BASIS_BIT : 0;
}

static void clear(struct store *store, uint64_t change, struct fault *fault)
{
    struct query q = query_begin(store, SQL_CLEAR_SHOWN, NULL, fault);
    query_text(&q, store->program);
    (void)query_run(&q);
    if (change >= BASIS_BIT || fault->code != ERR_NONE)
        return;
    struct query now = query_begin(store, SQL_CLEAR_NOW_SHOWN, NULL, fault);
    (void)query_run(&now);
}

enum status store_put_shown(struct store *store, uint64_t change, const struct shown_text *texts,
                            uint32_t count, struct fault *fault)
{
    if (database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    clear(store, change, fault);
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        if (texts[i].bytes > SHOWN_MAX_BYTES)
            continue;
        struct query q = query_begin(store, SQL_ADD_SHOWN, NULL, fault);
        query_text(&q, texts[i].address);
        query_text(&q, store->program);
        query_int(&q, change);
        store_bind_packed(&q, texts[i].text, texts[i].bytes, Z_BEST_SPEED);
        (void)query_run(&q);
    }
    return database_end(&store->database, fault->code, fault);
}

char *store_read_shown(struct store *store, const char *address, uint64_t run_id,
                       struct arena *keep, size_t *bytes)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    const uint64_t as_of =
        run_id != 0 ? store_shown_basis(store, run_id, true) : count_changes(store, &fault);
    const uint64_t alone = run_id != 0 ? store_shown_basis(store, run_id, false) : as_of;
    struct query q = query_begin(store, SQL_READ_SHOWN, keep, &fault);
    query_text(&q, address);
    query_text(&q, store->program); /* NULL equals none */
    query_int(&q, as_of);
    query_int(&q, alone);
    query_int(&q, SHOWN_MAX_BYTES);
    if (query_row(&q))
        text = store_get_packed(&q, bytes);
    (void)query_end(&q);
    return text != NULL && (run_id != 0 || store_killed_runs(store) == 0) ? text : NULL;
}
