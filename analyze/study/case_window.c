/* One case after the other, from memory or from the database: see figures.h. */
#include "store/store.h"
#include "study/figures.h"

void case_window_open(struct case_window *w, const struct run_figures *figures, unsigned parts,
                      struct fault *fault)
{
    *w = (struct case_window){.figures = figures, .parts = parts, .count = figures->case_count};
    arena_init(&w->keep, 0);
    arena_init(&w->scratch, 0);
    if (figures->store != NULL && store_list_case_ids(figures->store, figures->run->id, &w->keep,
                                                      &w->ids, &w->count, fault) != ERR_NONE)
        w->count = 0;
}

void case_window_close(struct case_window *w)
{
    arena_free(&w->keep);
    arena_free(&w->scratch);
}

/* Cases that are asked for one after the other are read in batches, which grow: one that is skipped
 * is mostly not read. */
static uint32_t batch_at(const struct case_window *w, uint32_t at)
{
    uint32_t count = 1;
    if (at == w->first + w->ready_count && (w->parts & CASE_STACKS) == 0)
        count = w->ready_count < CASE_BATCH / 2 ? 2 * w->ready_count : CASE_BATCH;
    count = count > 0 ? count : 1;
    return count < w->count - at ? count : w->count - at;
}

static bool read_batch(struct case_window *w, uint32_t at, struct fault *fault)
{
    struct store *store = w->figures->store;
    const uint32_t count = batch_at(w, at);
    arena_reset(&w->scratch);
    w->ready_count = 0;
    w->ready = ARENA_ARRAY(&w->scratch, count, struct run_case);
    if (w->ready == NULL)
        (void)fault_no_memory(fault, "cases of a run");
    else if (count == 1)
        (void)store_read_parts(store, w->ids[at], w->parts, &w->scratch, w->ready, fault);
    else
        (void)store_read_batch(store, &w->ids[at], count, w->parts, &w->scratch, w->ready, fault);
    if (fault->code != ERR_NONE)
        return false;
    w->first = at;
    w->ready_count = count;
    return true;
}

const struct run_case *case_window_get(struct case_window *w, uint32_t at, struct fault *fault)
{
    if (w->figures->store == NULL)
        return &w->figures->cases[at];
    const bool is_ready = at >= w->first && at - w->first < w->ready_count;
    return is_ready || read_batch(w, at, fault) ? &w->ready[at - w->first] : NULL;
}
