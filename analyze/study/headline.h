/* The headline: what a crash costs as a dump and as offsets, in one table. Computed here, once;
 * terminal, Markdown and pages only show it. */
#ifndef STUDY_HEADLINE_H
#define STUDY_HEADLINE_H

#include "base/json.h"
#include "study/figures.h"

enum headline_group { HEADLINE_DYING, HEADLINE_COLD, HEADLINE_WARM, HEADLINE_GROUPS };

enum headline_state {
    HEADLINE_NOT_MEASURED,
    HEADLINE_NOT_DONE, /* this way has no such step */
    HEADLINE_MEASURED,
    HEADLINE_STATES
};

struct headline_cell {
    enum headline_state state;
    struct measurement measured; /* nanoseconds or bytes; a part has only count and median */
};

struct headline_row {
    const char *key, *name; /* in JSON, and for people */
    enum headline_group group;
    bool bytes;
    bool own;  /* without system modules */
    bool part; /* a part of the whole time of the median case, so that the parts add up to it */
    struct headline_cell cells[WAY_COUNT];
};

enum { HEADLINE_ROWS = 18 };

struct headline {
    uint64_t cases; /* not crowded, with a timed stack of both engines under test */
    const char *columns[WAY_COUNT];
    const char *foreign; /* the foreign library with its version; NULL: none gave a stack */
    struct headline_row rows[HEADLINE_ROWS];
    const char *dominates; /* one sentence; NULL: not enough was measured */
    const char *scope;     /* which stacks and modules the times include */
    const char *counts;    /* in how many cases each way was measured */
};

/* From the samples of all cases: what figures have. Strings live in KEEP. Without memory, or when a
 * temporary file cannot be read, all cells are "not measured". */
void headline_of_samples(const struct run_figures *figures, struct sample_set *samples,
                         struct arena *keep, struct headline *out);

/* False: no way has a number in this row, so that faces may leave it out. */
bool headline_row_is_known(const struct headline_row *row);

/* The most cases that any way has in this row. */
size_t headline_row_cases(const struct headline_row *row);

/* "in the dying process", ... */
const char *headline_group_name(enum headline_group group);

/* "not measured", "not done", "measured". */
const char *headline_state_name(enum headline_state state);

/* The members "headline", "speed" and "speed_ratio" of an object: see report/README.md. */
void headline_write_members(struct json *j, const struct run_figures *figures);

#endif
