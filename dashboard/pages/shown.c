/* See shown.h. */
#include "pages/shown.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "pages/figures.h"
#include "pages/table.h"
#include "study/triage.h"

/* What the pages of the newest run ask for, as they spell it; known mismatches are in a file beside
 * the database, and the list of runs has those in progress. */
static const char run_place[] = "{run}";
static const char *const asked_views[] = {
    "/api/v1/overview",
    "/api/v1/runs/{run}",
    "/api/v1/runs/latest",
    "/api/v1/runs/{run}/grid",
    "/api/v1/runs/{run}/queue?limit=50",
    "/api/v1/runs/latest/queue?limit=50",
    "/api/v1/timing?limit=125",
    "/api/v1/timing",
    "/api/v1/trend?metric=exact&limit=100",
    "/api/v1/hooks?limit=50",
    "/api/v1/signatures",
    "/api/v1/symbols",
};
enum { TEXTS_MAX = COUNT_OF(asked_views) + FIGURES_COUNT };

struct writer {
    struct store *store;
    struct arena keep;
    struct triage triage;
    struct shown_text texts[TEXTS_MAX];
    uint32_t count;
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

/* Everything is read of one state of the database, and so is the number of its changes. */
static void make_texts(struct writer *w, uint64_t *change)
{
    struct fault fault = FAULT_INIT;
    store_begin_reading(w->store);
    *change = store_wants_shown(w->store, shown_program);
    if (*change != 0 && triage_make(w->store, "latest", &w->keep, &w->triage, &fault) == ERR_NONE) {
        const char *run = arena_printf(&w->keep, "%" PRIu64, w->triage.run.id);
        for (size_t i = 0; i < COUNT_OF(asked_views) && run != NULL; i++)
            add_view(w, asked_views[i], run);
        for (size_t i = 0; i < FIGURES_COUNT; i++)
            add_figures(w, &figures_answers[i]);
    }
    store_end_reading(w->store);
}

void shown_write(struct store *store)
{
    struct writer w = {.store = store};
    struct fault ignored = FAULT_INIT;
    uint64_t change = 0;
    if (store == NULL)
        return;
    arena_init(&w.keep, 0);
    make_texts(&w, &change);
    if (w.count > 0)
        (void)store_put_shown(store, shown_program, change, w.texts, w.count, &ignored);
    arena_free(&w.keep);
}

char *shown_read(struct store *store, const char *address, struct arena *keep, size_t *bytes)
{
    return store_read_shown(store, shown_program, address, keep, bytes);
}
