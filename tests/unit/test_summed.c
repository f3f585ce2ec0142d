/* dashboard/pages: a run is summed up once for all answers of one version. */
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "http/response_cache.h"
#include "pages/asked.h"
#include "pages/stores.h"
#include "pages/summed.h"
#include "store/store.h"
#include "test.h"

struct world {
    struct arena keep;
    struct store *store;
    struct cache *cache;
    struct summed_runs *runs;
    struct fault fault;
    uint64_t ids[2];
};

static void set_up(struct world *w)
{
    static const struct fault none = FAULT_INIT;
    memset(w, 0, sizeof *w);
    w->fault = none;
    arena_init(&w->keep, 0);
    REQUIRE(store_open(":memory:", STORE_WRITE, &w->store, &w->fault) == ERR_NONE);
    for (size_t i = 0; i < COUNT_OF(w->ids); i++) {
        struct run_info run = {.label = "run", .started_ns = i + 1};
        struct run_case c = {.scenario = "null_write", .variant = "ob2", .kind = CASE_KIND_CRASH};
        REQUIRE(store_begin_run(w->store, &run, &w->keep, &w->fault) == ERR_NONE &&
                store_put_case(w->store, run.id, &c, &w->fault) == ERR_NONE &&
                store_finish_run(w->store, run.id, RUN_COMPLETE, i + 2, &w->fault) == ERR_NONE);
        w->ids[i] = run.id;
    }
    w->cache = cache_new();
    w->runs = summed_runs_new(w->cache);
    REQUIRE(w->cache != NULL && w->runs != NULL);
}

struct asking {
    struct store_pool *pool;
    struct store *got;
    struct mutex *lock;
    bool has;
};

static void take_one(void *context)
{
    struct asking *a = context;
    struct fault fault = FAULT_INIT;
    struct store *got = NULL;
    (void)store_pool_take(a->pool, &got, &fault);
    mutex_lock(a->lock);
    a->got = got;
    a->has = true;
    mutex_unlock(a->lock);
}

static bool has_one(struct asking *a)
{
    mutex_lock(a->lock);
    const bool has = a->has;
    mutex_unlock(a->lock);
    return has;
}

/* stores.h: STORES_MAX handles at most, each lent to one; the next one waits for one of them. */
TEST(handles_are_lent_to_one_at_a_time)
{
    char path[512];
    struct fault fault = FAULT_INIT;
    struct store *made = NULL, *lent[STORES_MAX];
    struct asking a = {.lock = mutex_new()};
    (void)snprintf(path, sizeof path, "%s/pool.db", test_scratch());
    REQUIRE(store_open(path, STORE_WRITE, &made, &fault) == ERR_NONE);
    store_close(made);
    a.pool = store_pool_new(path, false);
    REQUIRE(a.pool != NULL && a.lock != NULL);
    for (int turn = 0; turn < 2; turn++) { /* the second time they are open */
        for (int i = 0; i < STORES_MAX; i++) {
            REQUIRE(store_pool_take(a.pool, &lent[i], &fault) == ERR_NONE);
            for (int k = 0; k < i; k++)
                CHECK(lent[k] != lent[i]);
        }
        a.has = false;
        struct thread *asker = thread_start(take_one, &a);
        REQUIRE(asker != NULL);
        thread_sleep_ms(30);
        CHECK(!has_one(&a));
        store_pool_give(a.pool, lent[3]);
        thread_join(asker);
        CHECK(a.has && a.got == lent[3]);
        for (int i = 0; i < STORES_MAX; i++)
            store_pool_give(a.pool, lent[i]);
    }
    store_pool_free(a.pool);
    a.pool = store_pool_new("no/such.db", false);
    REQUIRE(a.pool != NULL);
    for (int i = 0; i < 2 * STORES_MAX; i++) { /* what was not lent is not counted */
        CHECK_EQ(store_pool_take(a.pool, &lent[0], &fault), ERR_ABSENT);
        CHECK(lent[0] == NULL);
        fault_clear(&fault);
    }
    store_pool_free(a.pool);
    mutex_free(a.lock);
}

static void tear_down(struct world *w)
{
    summed_runs_free(w->runs);
    cache_free(w->cache);
    store_close(w->store);
    arena_free(&w->keep);
}

/* The cases of run RUN as a view gets them. */
static const struct triage_item *items_of(struct world *w, struct summed_loan *loan, int run)
{
    const struct view_input in = {.store = w->store, .loan = loan, .keep = &w->keep};
    struct run_figures figures;
    const struct triage *triage = NULL;
    const char *word = run == 0 ? "1" : "2";
    REQUIRE(view_get_triage(&in, word, &triage, &w->fault) == ERR_NONE);
    REQUIRE(view_read_figures(&in, w->ids[run], &figures, &w->fault) == ERR_NONE);
    CHECK_EQ(triage->run.id, w->ids[run]);
    CHECK(triage->figures.store == w->store && figures.store == w->store);
    return triage->items;
}

TEST(answers_of_one_run_and_version_share_its_sums)
{
    static const struct {
        const char *name;
        int first, second; /* the runs that two requests ask about */
        uint64_t version;  /* of the second; the first has 1 */
        bool shared;
    } rows[] = {
        {"the same", 0, 0, 1, true},
        {"another version", 0, 0, 2, false},
        {"another run", 0, 1, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w;
        set_up(&w);
        struct summed_loan first = {.runs = w.runs, .version = 1};
        struct summed_loan second = {.runs = w.runs, .version = rows[i].version};
        test_row(rows[i].name);
        const struct triage_item *items = items_of(&w, &first, rows[i].first);
        CHECK((items_of(&w, &second, rows[i].second) == items) == rows[i].shared);
        summed_give_back(&first);
        summed_give_back(&second);
        tear_down(&w);
    }
}

/* What a request holds stays, whatever others ask about, and its second run is its own. */
TEST(a_loan_outlives_the_runs_that_are_kept)
{
    struct world w;
    set_up(&w);
    struct summed_loan loan = {.runs = w.runs, .version = 1};
    const struct triage_item *items = items_of(&w, &loan, 0);
    for (uint64_t version = 2; version < 6; version++) {
        struct summed_loan other = {.runs = w.runs, .version = version};
        (void)items_of(&w, &other, 1);
        summed_give_back(&other);
    }
    CHECK_STR(items[0].scenario, "null_write");
    CHECK(items_of(&w, &loan, 0) == items && items_of(&w, &loan, 1) != items);
    summed_give_back(&loan);
    tear_down(&w);
}
