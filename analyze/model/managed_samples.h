/* How many stacks of managed code each way to walk got right, by what the stopped thread was doing.
 * managed-stops (victims/managed/managed_stops.c) measures it, tests/bench/bench_managed.py keeps
 * what it measured, and a run that finds this notes one row of its environment per phase:
 *
 *     managed stacks: throws   plain 934/1000 (66r), seeded 979/1000 (21r), copy 1000/1000
 */
#ifndef MODEL_MANAGED_SAMPLES_H
#define MODEL_MANAGED_SAMPLES_H

#include "model/run.h"

enum managed_mode {
    MANAGED_PLAIN,    /* the runtime's snapshot of the running thread                */
    MANAGED_SEEDED,   /* the same, from the first managed frame of a suspended thread */
    MANAGED_COPY,     /* our walk of a copy of the stack, after the thread was resumed */
    MANAGED_IN_PLACE, /* our walk while the thread is suspended                        */
    MANAGED_MODES
};

/* How a stack ended that is not right; each has a letter. All but `wrong` carry a mark. */
enum managed_end {
    MANAGED_REFUSED,  /* r: the snapshot was refused with an HRESULT         */
    MANAGED_HIJACKED, /* h: a collection redirected the return address       */
    MANAGED_ENDED,    /* e: ended early for another stated reason            */
    MANAGED_WRONG,    /* w: frames that are not there, or some that are lacking */
    MANAGED_BLOCKED,  /* b: the walk did not come back in time               */
    MANAGED_ENDS
};

struct managed_count {
    uint32_t samples; /* 0: not measured */
    uint32_t right;
    uint32_t ends[MANAGED_ENDS];
};

struct managed_phase {
    const char *name;     /* "throws", "collects", ...: what the thread does */
    const char *measured; /* the day, 2026-11-22; NULL: not known */
    struct managed_count modes[MANAGED_MODES];
};

enum { MANAGED_PHASES_MAX = 16, MANAGED_CELL_BYTES = 80 };

/* "plain", "seeded", "copy", "in-place"; the reverse gives MANAGED_MODES for any other text. */
const char *managed_mode_name(enum managed_mode mode);
enum managed_mode managed_mode_parse(const char *text, size_t bytes);

/* "refused", "hijacked", "ended", "wrong", "blocked": also the members of managed-stops' output. */
const char *managed_end_name(enum managed_end end);

/* The words for a phase of managed-stops: "PhaseThrow" is "throws". An unknown one stays as it is.
 */
const char *managed_phase_words(const char *phase);

/* "934 (66r)", or "-" when nothing was measured. */
const char *managed_cell_text(const struct managed_count *count, char out[MANAGED_CELL_BYTES]);

/* The row of a run's environment; false: out of memory. */
bool managed_phase_note(const struct managed_phase *phase, struct arena *keep,
                        struct named_version *out);

/* The row of a run that could have had such rows: nothing was measured before it. The reverse: what
 * the row says; NULL: RUN has no such row. */
void managed_missing_note(struct named_version *out);
const char *managed_missing(const struct run_info *run);

/* The phases that RUN notes, at most MANAGED_PHASES_MAX. A row that is not understood is left out.
 * Returns how many; texts are borrowed from RUN. */
uint32_t managed_phases_read(const struct run_info *run,
                             struct managed_phase out[MANAGED_PHASES_MAX]);

/* An array: one object per phase, with one member per mode that was measured. */
void managed_phases_write_json(struct json *j, const struct run_info *run);

#endif
