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

const struct run_case *case_window_get(struct case_window *w, uint32_t at, struct fault *fault)
{
    const struct run_figures *f = w->figures;
    if (f->store == NULL)
        return &f->cases[at];
    arena_reset(&w->scratch);
    return store_read_parts(f->store, w->ids[at], w->parts, &w->scratch, &w->c, fault) == ERR_NONE
               ? &w->c
               : NULL;
}
