/* dashboard/pages: a run is summed up once for all answers of one version. */
#include <stdio.h>
#include <string.h>

#include "http/response_cache.h"
#include "pages/asked.h"
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
