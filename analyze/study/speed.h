/* Which way is faster: lanes (from what a dump is read, and by which program) by states (what was
 * there before the crash was looked at). Each cell is the ratio dump : offset over the same cases
 * of both ways, with an interval and the number of cases. Computed here, once; faces only show it.
 */
#ifndef STUDY_SPEED_H
#define STUDY_SPEED_H

#include "base/json.h"
#include "model/lane.h"
#include "study/figures.h"

enum speed_lane { SPEED_OFFSET, SPEED_PLAIN, SPEED_TUNED, SPEED_FOREIGN, SPEED_LANES };
enum speed_state { SPEED_FIRST = WAY_FIRST, SPEED_INDEX = WAY_INDEX, SPEED_WARM = WAY_WARM };
enum { SPEED_STATES = WAY_STATES };

struct speed_cell {
    size_t cases;          /* scenarios in a build, that both ways have; 0: not measured */
    size_t pairs;          /* with their repeats */
    size_t scenarios;      /* which is what the interval is over */
    struct interval ratio; /* of the medians, dump : offset, as ratio_of_another(); of SPEED_OFFSET
                              none. NaN: not SAMPLE_ENOUGH */
    double median_ns;      /* of the lane's way, over these cases; NaN likewise */
    struct interval control; /* the lane's way against itself, in the other rounds; NaN: unknown */
    bool drifts;             /* its control, or that of the offsets, excludes 1 */
};

struct speed_row {
    enum cpu arch;
    enum speed_lane lane;
    const char *name;
    struct speed_cell cells[SPEED_STATES];
};

enum { SPEED_ROWS = CPU_COUNT * SPEED_LANES };

struct speed {
    struct speed_row rows[SPEED_ROWS]; /* by processor, offsets first; only those with a cell */
    uint32_t row_count;
    const char *where; /* system, processor, writer of the dumps: a part of each figure */
};

/* From the samples of all cases: what figures have. Strings live in KEEP; without memory, or when a
 * temporary file cannot be read, there is no row. */
void speed_of_samples(const struct run_figures *figures, struct sample_set *samples,
                      struct arena *keep, struct speed *out);

/* The plain dump, read by us, on the first processor: badge, metric and trend show the cell
 * SPEED_INDEX of this row. NULL: there is none. */
const struct speed_row *speed_main(const struct speed *speed);

/* Where a sample has the time of LANE in STATE: see sample_set_column(). */
int speed_place(enum speed_lane lane, enum speed_state state);

/* The lane of WAY. */
enum speed_lane speed_lane_of(enum case_way way);

/* Wine wrote the dumps, which is not what a Windows user has: its writer names nothing. */
bool speed_is_by_wine(const struct run_figures *figures);

/* Who wrote the dumps: what they name, two where those of a processor are by another one; or "Wine,
 * not Windows". */
const char *speed_writer(const struct run_figures *figures);

/* "Linux, wine-8.0 · AMD EPYC · dumps by Wine": where RUN was made, and who wrote the dumps. */
const char *speed_where(const struct run_figures *figures, struct arena *keep);

/* The value of "speed", an object: see report/README.md. */
void speed_write_json(struct json *j, const struct speed *speed);

#endif
