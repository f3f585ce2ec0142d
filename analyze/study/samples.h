/* The times and sizes of every case of a run, for medians. A few thousand cases stay in memory; of
 * larger runs the numbers go to a temporary file, column by column, so that memory does not grow
 * with the run. Without a temporary file they all stay in memory. */
#ifndef STUDY_SAMPLES_H
#define STUDY_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "model/run.h"

/* What one case adds. 0: not measured, or it does not count. */
struct figure_sample {
    struct case_timing timing;
    struct way_cost ways[WAY_COUNT];
};

/* A number of a sample, by its place in the struct. */
#define SAMPLE_TIMING(NAME) ((int)offsetof(struct figure_sample, timing.NAME))

enum { SAMPLE_CHUNK = 4096 };

struct sample_set {
    struct figure_sample *rows; /* those that are in memory, the last ones */
    uint32_t row_count, row_room;
    uint32_t count; /* of all */
    FILE *spill;    /* whole chunks; NULL: none */
    bool no_spill;  /* a temporary file cannot be made */
};

void sample_set_init(struct sample_set *set);
void sample_set_free(struct sample_set *set);

/* Fails: ERR_MEMORY; ERR_IO the temporary file, for instance a full disk. */
enum status sample_set_add(struct sample_set *set, const struct figure_sample *sample,
                           struct fault *fault);

/* The number at OFFSET of every sample, in order; OUT has room for all.  Fails: ERR_IO. */
enum status sample_set_column(struct sample_set *set, int offset, uint64_t *out,
                              struct fault *fault);

/* One number of sample AT.  Fails: ERR_IO. */
enum status sample_set_number(struct sample_set *set, uint32_t at, int offset, uint64_t *out,
                              struct fault *fault);

#endif
