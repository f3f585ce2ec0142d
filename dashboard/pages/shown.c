/* See shown.h. */
#include "pages/shown.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "pages/badges.h"
#include "pages/table.h"
#include "study/ratio.h"
#include "study/triage.h"

/* What the pages of the newest run ask for, as they spell it; known mismatches are in a file beside
 * the database, and the list of runs has those in progress. */
static const char *const asked_views[] = {
    "/api/v1/overview",         "/api/v1/runs/latest", "/api/v1/runs/latest/queue?limit=50",
    "/api/v1/timing?limit=125", "/api/v1/timing",      "/api/v1/trend?metric=exact&limit=100",
    "/api/v1/hooks?limit=50",   "/api/v1/signatures",  "/api/v1/symbols",
};

/* What the pages of any run ask for, with its number: first what says which cases are new since the
 * baseline. */
static const char run_place[] = "{run}";
static const char *const run_views[] = {
    "/api/v1/runs/{run}/queue?limit=50",
    "/api/v1/runs/{run}/grid",
    "/api/v1/runs/{run}",
    "/api/v1/timing?limit=125&run={run}",
    "/api/v1/timing?run={run}",
    "/api/v1/hooks?limit=50&run={run}",
    "/api/v1/signatures?run={run}",
    "/api/v1/symbols?run={run}",
};
enum { OF_BASELINE = 2 };
enum { TEXTS_MAX = COUNT_OF(asked_views) + COUNT_OF(run_views) + FIGURES_COUNT + 1 };

struct writer {
    struct store *store;
    struct arena keep;
    struct triage triage;
    struct shown_text texts[TEXTS_MAX];
    uint32_t count;
    uint32_t of_run; /* where the texts about the run begin, which say what is new in it */
    uint32_t alone;  /* where those begin that say nothing of a baseline */
    uint64_t basis, basis_alone; /* what they count for */
};

static void add(struct writer *w, const char *address, const char *text, size_t bytes)
{
    w->texts[w->count++] = (struct shown_text){address, text, bytes};
}

static void add_view(struct writer *w, const char *asked, const char *run)
{
    struct http_query query;
    struct fault fault = FAULT_INIT;
    const struct view *view = NULL;
    const struct view_input in = {
        .store = w->store, .query = &query, .triage = &w->triage, .keep = &w->keep};
    const char *at = strstr(asked, run_place);
    const char *address = at == NULL ? asked
                                     : arena_printf(&w->keep, "%.*s%s%s", (int)(at - asked), asked,
                                                    run, at + sizeof run_place - 1);
    char *text = NULL;
    size_t bytes = 0;
    if (address != NULL && view_find(address, &w->keep, &query, &view, &fault) == ERR_NONE &&
        view_make(view, &in, &text, &bytes, &fault) == ERR_NONE)
        add(w, address, text, bytes);
}

static void add_figures(struct writer *w, const struct figures_answer *answer)
{
    struct fault fault = FAULT_INIT;
    char *text = NULL;
    size_t bytes = 0;
    if (figures_text(answer->write, &w->triage.figures, answer->address, &w->keep, &text, &bytes,
                     &fault) == ERR_NONE)
        add(w, answer->address, text, bytes);
}

/* What comparisons and gates ask for. */
static void add_ratio(struct writer *w)
{
    size_t bytes = 0;
    const char *address = ratio_address(w->triage.run.id, &w->keep);
    const char *text = ratio_stored_text(w->triage.figures.ratio, &w->keep, &bytes);
    if (address != NULL && text != NULL)
        add(w, address, text, bytes);
}

/* The texts about the run of the triage. */
static void add_run(struct writer *w)
{
    const char *run = arena_printf(&w->keep, "%" PRIu64, w->triage.run.id);
    w->of_run = w->count;
    w->alone = w->count;
    w->basis = store_shown_basis(w->store, w->triage.run.id, true);
    w->basis_alone = store_shown_basis(w->store, w->triage.run.id, false);
    for (size_t i = 0; i < COUNT_OF(run_views) && run != NULL && w->basis != 0; i++) {
        add_view(w, run_views[i], run);
        if (i < OF_BASELINE)
            w->alone = w->count;
    }
    if (w->basis_alone != 0)
        add_ratio(w);
}

/* Everything is read of one state of the database, and so is the number of its changes. */
static void make_texts(struct writer *w, uint64_t *change)
{
    struct fault fault = FAULT_INIT;
    store_begin_reading(w->store);
    *change = store_wants_shown(w->store);
    if (*change != 0 && triage_make(w->store, "latest", &w->keep, &w->triage, &fault) == ERR_NONE) {
        for (size_t i = 0; i < COUNT_OF(asked_views); i++)
            add_view(w, asked_views[i], "");
        for (size_t i = 0; i < FIGURES_COUNT; i++)
            add_figures(w, &figures_answers[i]);
        add_run(w);
    }
    store_end_reading(w->store);
}

static void put_run(struct writer *w)
{
    struct fault ignored = FAULT_INIT;
    if (w->alone > w->of_run)
        (void)store_put_shown(w->store, w->basis, w->texts + w->of_run, w->alone - w->of_run,
                              &ignored);
    if (w->count > w->alone)
        (void)store_put_shown(w->store, w->basis_alone, w->texts + w->alone, w->count - w->alone,
                              &ignored);
}

/* Makes the texts about an older run unless they count. Returns whether it did. */
static bool write_run(struct store *store, uint64_t run_id)
{
    struct writer w = {.store = store};
    struct fault fault = FAULT_INIT;
    size_t bytes = 0;
    arena_init(&w.keep, 0);
    const char *word = arena_printf(&w.keep, "%" PRIu64, run_id);
    const char *address = arena_printf(&w.keep, "/api/v1/runs/%" PRIu64 "/queue?limit=50", run_id);
    store_begin_reading(store);
    if (word != NULL && address != NULL && shown_read(store, address, &w.keep, &bytes) == NULL &&
        triage_make(store, word, &w.keep, &w.triage, &fault) == ERR_NONE)
        add_run(&w);
    store_end_reading(store);
    put_run(&w);
    arena_free(&w.keep);
    return w.count > 0;
}

static void write_older(struct store *store, uint32_t most_runs, uint64_t most_cases)
{
    struct run_query query = {.limit = STORE_PAGE_MAX};
    uint64_t cases = 0;
    uint32_t runs = 0;
    do {
        struct run_page page;
        struct arena keep;
        struct fault fault = FAULT_INIT;
        arena_init(&keep, 0);
        (void)store_list_runs(store, &query, &keep, &page, &fault);
        query.after = fault.code == ERR_NONE ? page.next : 0;
        for (uint32_t i = 0; i < page.count && fault.code == ERR_NONE && runs < most_runs; i++) {
            const uint64_t all = cases + page.runs[i].case_count;
            runs++;
            if (page.runs[i].case_count > 0 && all <= most_cases &&
                write_run(store, page.runs[i].id))
                cases = all;
        }
        arena_free(&keep);
    } while (query.after != 0 && runs < most_runs);
}

static bool write_newest(struct store *store)
{
    struct writer w = {.store = store};
    struct fault ignored = FAULT_INIT;
    uint64_t change = 0;
    store_set_program(store, shown_program);
    arena_init(&w.keep, 0);
    make_texts(&w, &change);
    if (w.of_run > 0)
        (void)store_put_shown(store, change, w.texts, w.of_run, &ignored);
    put_run(&w);
    arena_free(&w.keep);
    return change != 0;
}

void shown_write(struct store *store)
{
    if (store != NULL && write_newest(store))
        write_older(store, SHOWN_RUNS, SHOWN_CASES);
}

void shown_write_all(struct store *store)
{
    (void)write_newest(store);
    write_older(store, UINT32_MAX, UINT64_MAX);
}

/* The run that ADDRESS is about, as run_views spell it; 0: not about one alone. */
static uint64_t run_of(const char *address)
{
    static const char runs[] = "/api/v1/runs/";
    const char *query = strchr(address, '?');
    const char *named = query != NULL ? strstr(query, "run=") : NULL;
    uint64_t id = 0;
    if (strncmp(address, runs, sizeof runs - 1) == 0)
        named = address + sizeof runs - 1;
    else if (named != NULL && (named[-1] == '?' || named[-1] == '&'))
        named += 4;
    else
        return 0;
    return text_parse_uint(named, strspn(named, "0123456789"), &id) ? id : 0;
}

char *shown_read(struct store *store, const char *address, struct arena *keep, size_t *bytes)
{
    return store_read_shown(store, address, run_of(address), keep, bytes);
}
