/* The times and sizes of every case of a run, for medians: rows of numbers, all of one length. A
 * few thousand rows stay in memory; of larger runs the numbers go to a temporary file, column by
 * column, so that memory does not grow with the run. Without a temporary file they all stay in
 * memory. */
#ifndef STUDY_SAMPLES_H
#define STUDY_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/fault.h"
#include "model/cpu.h"
#include "model/run.h"

/* What one case adds. 0: not measured, or it does not count. */
struct figure_sample {
    uint64_t unit;     /* one number per scenario and build, whatever its repeat */
    uint64_t scenario; /* one number per scenario */
    uint64_t stratum;  /* processor, kind of module, crash or hang */
    struct case_timing timing;
    struct way_cost ways[WAY_COUNT];
};

static inline uint64_t sample_stratum(enum cpu arch, enum case_kind kind, uint32_t module)
{
    return (uint64_t)module << 32 | (uint64_t)kind << 8 | (uint64_t)arch;
}
static inline enum cpu sample_arch(uint64_t stratum)
{
    return (enum cpu)(stratum & 0xff);
}

/* A number of a sample, by its place in the struct. */
#define SAMPLE_UNIT ((int)offsetof(struct figure_sample, unit))
#define SAMPLE_SCENARIO ((int)offsetof(struct figure_sample, scenario))
#define SAMPLE_STRATUM ((int)offsetof(struct figure_sample, stratum))
#define SAMPLE_TIMING(NAME) ((int)offsetof(struct figure_sample, timing.NAME))

enum { SAMPLE_CHUNK = 4096 };

struct sample_set {
    uint64_t *numbers; /* the rows that are in memory, the last ones: column after column */
    bool *used;        /* the columns of these that are not all 0 */
    size_t words;      /* numbers in a row */
    uint32_t row_count, room;
    uint32_t count;   /* of all */
    FILE *spill;      /* of whole chunks, the columns that are not all 0; NULL: none */
    uint32_t *places; /* of each column of each chunk: the how-manieth there; 0: all are 0 */
    uint32_t place_room, written;
    bool no_spill; /* a temporary file cannot be made */
};

/* The numbers of a row: of the headline, as many as a figure_sample has. */
#define SAMPLE_WORDS (sizeof(struct figure_sample) / sizeof(uint64_t))

void sample_set_init(struct sample_set *set, size_t words);
void sample_set_free(struct sample_set *set);

/* ROW has the words that the set was made for. Fails: ERR_MEMORY; ERR_IO the temporary file, for
 * instance a full disk. */
enum status sample_set_add(struct sample_set *set, const void *row, struct fault *fault);

/* The number at OFFSET (bytes from the start of a row) of every row, in order; OUT has room for
 * all.  Fails: ERR_IO. */
enum status sample_set_column(struct sample_set *set, int offset, uint64_t *out,
                              struct fault *fault);

/* What figures over the cases of a run need: whose case each sample is, and room for as many
 * numbers of each kind. */
struct sample_columns {
    struct sample_set *set;
    uint64_t *units, *scenarios, *strata;
    uint64_t *raw, *other; /* for sample_set_column() */
    uint64_t *distinct;    /* for sample_distinct() */
    double *numbers;
    struct fault fault;
};

/* Reads units, scenarios and strata of SET; all lives in KEEP. False: there is no memory, or they
 * could not be read, which is in the fault. */
bool sample_columns_open(struct sample_set *set, struct arena *keep, struct sample_columns *out);

/* One number of row AT.  Fails: ERR_IO. */
enum status sample_set_number(struct sample_set *set, uint32_t at, int offset, uint64_t *out,
                              struct fault *fault);

/* Fills unit, scenario and stratum. */
void sample_name(const char *scenario, const char *variant, enum cpu arch, enum case_kind kind,
                 struct figure_sample *out);

/* Whether a figure over CASES (units) of SCENARIOS is one that other scenarios would give: builds
 * of a few say too little about others. */
enum sample_state { SAMPLE_NONE, SAMPLE_FEW_CASES, SAMPLE_FEW_SCENARIOS, SAMPLE_ENOUGH };
enum sample_state sample_state(size_t cases, size_t scenarios);

/* "not measured", "too few", "few scenarios", "measured". */
const char *sample_state_name(enum sample_state state);

/* Why there is no figure, for people: "not measured", "too few (3)", "few scenarios (11)". In KEEP.
 */
const char *sample_few_text(size_t cases, size_t scenarios, struct arena *keep);

void sample_sort(uint64_t *numbers, size_t count);

/* How many of NUMBERS are different: of units or scenarios. May change their order. */
size_t sample_distinct(uint64_t *numbers, size_t count);

#endif
