/* Medians, parts and the sentence of the headline: see headline.h. */
#include "study/headline.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

static const char *const way_keys[HEADLINE_WAYS] = {"foreign", "dump", "tuned", "offset"};

const char *headline_group_name(enum headline_group group)
{
    static const char *const names[HEADLINE_GROUPS] = {"in the dying process", "back end, cold",
                                                       "back end, warm"};
    return names[group];
}

const char *headline_state_name(enum headline_state state)
{
    static const char *const names[HEADLINE_STATES] = {"not measured", "not done", "measured"};
    return names[state];
}

enum source { OF_TIMING, OF_COST, LEFT_OVER };

/* Which number a row shows for each way.  NONE: not measured; NEVER: this way has no such step. */
enum { NONE = -1, NEVER = -2 };

struct row_source {
    const char *key, *name;
    enum headline_group group;
    enum source source;
    bool bytes, part;
    int offsets[HEADLINE_WAYS]; /* in struct case_timing or struct engine_cost */
};

#define TIMING(NAME) ((int)offsetof(struct case_timing, NAME))
#define COST(NAME) ((int)offsetof(struct engine_cost, NAME))
#define ALL_COST(NAME) {COST(NAME), COST(NAME), NONE, COST(NAME)}

enum { ROW_WALK, ROW_STOPPED, ROW_WRITE, ROW_BYTES, ROW_COLD, ROW_WARM, ROW_PART };

/* The foreign library and our engine read the same dump, so both columns have its cost. */
static const struct row_source sources[HEADLINE_ROWS] = {
    {"walk",
     "walk",
     HEADLINE_DYING,
     OF_TIMING,
     false,
     false,
     {NEVER, NEVER, NEVER, TIMING(walk_ns)}},
    {"stopped",
     "stopped",
     HEADLINE_DYING,
     OF_TIMING,
     false,
     false,
     {TIMING(stop_dump_ns), TIMING(stop_dump_ns), NONE, TIMING(stop_walk_ns)}},
    {"write",
     "write",
     HEADLINE_DYING,
     OF_TIMING,
     false,
     false,
     {TIMING(dump_write_ns), TIMING(dump_write_ns), TIMING(dump_tuned_ns),
      TIMING(record_write_ns)}},
    {"bytes",
     "bytes",
     HEADLINE_DYING,
     OF_TIMING,
     true,
     false,
     {TIMING(dump_bytes), TIMING(dump_bytes), TIMING(dump_tuned_bytes), TIMING(record_bytes)}},
    {"cold", "all", HEADLINE_COLD, OF_COST, false, false, ALL_COST(cold_ns)},
    {"warm", "all", HEADLINE_WARM, OF_COST, false, false, ALL_COST(total_ns)},
    {"open", "opening", HEADLINE_WARM, OF_COST, false, true, ALL_COST(open_ns)},
    {"unwind", "walking", HEADLINE_WARM, OF_COST, false, true, ALL_COST(unwind_ns)},
    {"load", "loading symbols", HEADLINE_WARM, OF_COST, false, true, ALL_COST(load_ns)},
    {"resolve", "naming", HEADLINE_WARM, OF_COST, false, true, ALL_COST(resolve_ns)},
    {"left_over", "left over", HEADLINE_WARM, LEFT_OVER, false, true, ALL_COST(total_ns)},
};

static uint64_t number_at(const void *base, int offset)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

/* The engine whose costs a column has; -1: it has none. */
static int engine_way(enum headline_way way)
{
    static const int ways[HEADLINE_WAYS] = {[HEADLINE_FOREIGN] = FIGURE_FOREIGN,
                                            [HEADLINE_DUMP] = FIGURE_DUMP,
                                            [HEADLINE_TUNED] = -1,
                                            [HEADLINE_OFFSET] = FIGURE_OFFSET};
    return ways[way];
}

static bool has_both_ways(const struct figure_sample *s)
{
    return s->timed[FIGURE_DUMP] && s->timed[FIGURE_OFFSET];
}

/* The cost of a case that counts for the back end; NULL: it does not. */
static const struct engine_cost *cost_of(const struct figure_sample *s, enum headline_way way)
{
    const int engine = engine_way(way);
    return engine >= 0 && has_both_ways(s) && s->timed[engine] ? &s->costs[engine] : NULL;
}

/* A judge that starts anew for each case has one time, which is a cold one. */
static uint64_t warm_ns(const struct engine_cost *cost)
{
    return cost->total_ns != cost->cold_ns ? cost->total_ns : 0;
}

/* 0: the case has no such number. */
static uint64_t number_of(const struct figure_sample *s, const struct row_source *row,
                          enum headline_way way)
{
    const int offset = row->offsets[way];
    if (row->source == OF_TIMING) {
        const bool both = s->timing.record_bytes > 0 && s->timing.dump_bytes > 0;
        return both && (row->bytes || !s->timing.crowded) ? number_at(&s->timing, offset) : 0;
    }
    const struct engine_cost *cost = cost_of(s, way);
    if (cost == NULL)
        return 0;
    return row->group == HEADLINE_WARM ? warm_ns(cost) : number_at(cost, offset);
}

/* The samples of a run, and room for one number or cost of each. */
struct samples {
    const struct figure_sample *rows;
    uint32_t count;
    double *numbers;
    const struct engine_cost **costs;
};

static void fill_whole(const struct samples *samples, const struct row_source *row,
                       enum headline_way way, struct headline_cell *out)
{
    double *numbers = samples->numbers;
    size_t count = 0;
    for (uint32_t i = 0; i < samples->count; i++) {
        const uint64_t value = number_of(&samples->rows[i], row, way);
        if (value != 0)
            numbers[count++] = (double)value;
    }
    if (count == 0)
        return;
    out->state = HEADLINE_MEASURED;
    out->spread = spread_of(numbers, count);
}

static int by_total(const void *a, const void *b)
{
    const struct engine_cost *const *x = a, *const *y = b;
    return ((*x)->total_ns > (*y)->total_ns) - ((*x)->total_ns < (*y)->total_ns);
}

/* Medians of parts do not add up to the median of the whole, but the parts of the median case do;
 * with an even number of cases, the means of the two in the middle. */
static void fill_parts(const struct samples *samples, enum headline_way way, struct headline *out)
{
    const struct engine_cost **costs = samples->costs;
    size_t count = 0;
    for (uint32_t i = 0; i < samples->count; i++) {
        const struct engine_cost *cost = cost_of(&samples->rows[i], way);
        if (cost != NULL && warm_ns(cost) != 0)
            costs[count++] = cost;
    }
    if (count == 0)
        return;
    array_sort(costs, count, sizeof(const struct engine_cost *), by_total);
    const struct engine_cost *const middle[2] = {costs[(count - 1) / 2], costs[count / 2]};
    double left = out->rows[ROW_WARM].cells[way].spread.median;
    bool known = false;
    for (int i = ROW_PART; i < HEADLINE_ROWS - 1; i++) {
        struct headline_cell *cell = &out->rows[i].cells[way];
        const int at = sources[i].offsets[way];
        cell->spread.median =
            ((double)number_at(middle[0], at) + (double)number_at(middle[1], at)) / 2;
        left -= cell->spread.median;
        known = known || cell->spread.median > 0;
    }
    out->rows[HEADLINE_ROWS - 1].cells[way].spread.median = left;
    for (int i = ROW_PART; i < HEADLINE_ROWS; i++) {
        struct headline_cell *cell = &out->rows[i].cells[way];
        const bool done = cell->spread.median != 0 || i == HEADLINE_ROWS - 1;
        cell->state = !known ? HEADLINE_NOT_MEASURED : done ? HEADLINE_MEASURED : HEADLINE_NOT_DONE;
        cell->spread.count = cell->state == HEADLINE_MEASURED ? count : 0;
        if (cell->state != HEADLINE_MEASURED)
            cell->spread.median = (double)NAN;
    }
}

/* "dbghelp (wine 8.0)": the version of the judge's program, else the platform of the run. */
static const char *foreign_name(const struct run_figures *figures, struct arena *keep)
{
    const char *engine = figures_foreign_engine(figures), *version = NULL;
    for (uint32_t i = 0; engine != NULL && i < figures->engine_count; i++)
        if (strcmp(figures->engines[i].engine, engine) == 0)
            version = figures->engines[i].version;
    if (engine == NULL)
        return NULL;
    version = version != NULL ? version : figures->run->platform;
    return arena_printf(keep, "%s (%s)", strchr(engine, ':') + 1,
                        version != NULL ? version : "version not known");
}

/* NaN: not measured. */
static double median_of(const struct headline *h, int row, enum headline_way way)
{
    return h->rows[row].cells[way].spread.median;
}

static const char *dominating(const struct headline *h, struct arena *keep)
{
    const double cold = median_of(h, ROW_COLD, HEADLINE_DUMP);
    const double write = median_of(h, ROW_WRITE, HEADLINE_DUMP);
    const double back = isnan(cold) ? median_of(h, ROW_WARM, HEADLINE_DUMP) : cold;
    const double offset =
        median_of(h, ROW_WALK, HEADLINE_OFFSET) + median_of(h, ROW_WRITE, HEADLINE_OFFSET);
    const double whole = write + back;
    if (isnan(whole))
        return NULL;
    const double share = floor(1000 * fmax(write, back) / whole) / 10;
    if (write < back)
        return arena_printf(keep, "The back end dominates: %.1f %% of the cost of a dump.", share);
    if (isnan(offset))
        return arena_printf(keep, "Writing the dump dominates: %.1f %% of its cost.", share);
    return arena_printf(keep,
                        "Writing the dump dominates: %.1f %% of its cost, %.0f times the walk and "
                        "record of offsets.",
                        share, write / offset);
}

void headline_make(const struct run_figures *figures, struct arena *keep, struct headline *out)
{
    static const char *const columns[HEADLINE_WAYS] = {"dump, foreign", "dump, ours", "dump, tuned",
                                                       "offsets"};
    struct samples samples = {.count = 0};
    samples.rows = figures_samples(figures, keep, &samples.count);
    samples.numbers = ARENA_ARRAY(keep, (size_t)samples.count + 1, double);
    samples.costs = ARENA_ARRAY(keep, (size_t)samples.count + 1, const struct engine_cost *);
    const double unknown = (double)NAN;
    memset(out, 0, sizeof *out);
    memcpy(out->columns, columns, sizeof columns);
    out->foreign = foreign_name(figures, keep);
    out->scope = "ours: the crashed thread (a hang: every thread); foreign, offsets: every thread "
                 "captured. With system modules; without them: not measured.";
    for (uint32_t i = 0; i < samples.count; i++)
        out->cases += has_both_ways(&samples.rows[i]);
    for (int r = 0; r < HEADLINE_ROWS; r++) {
        const struct row_source *row = &sources[r];
        out->rows[r] = (struct headline_row){.key = row->key,
                                             .name = row->name,
                                             .group = row->group,
                                             .bytes = row->bytes,
                                             .part = row->part};
        for (int way = 0; way < HEADLINE_WAYS; way++) {
            struct headline_cell *cell = &out->rows[r].cells[way];
            cell->spread = (struct spread){0, unknown, unknown, unknown, unknown};
            cell->state = row->offsets[way] == NEVER ? HEADLINE_NOT_DONE : HEADLINE_NOT_MEASURED;
            if (row->offsets[way] >= 0 && !row->part && samples.numbers != NULL)
                fill_whole(&samples, row, (enum headline_way)way, cell);
        }
    }
    for (int way = 0; way < HEADLINE_WAYS && samples.costs != NULL; way++)
        fill_parts(&samples, (enum headline_way)way, out);
    out->dominates = dominating(out, keep);
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_cell(struct json *j, const char *key, const struct headline_cell *cell)
{
    json_key(j, key);
    json_object(j);
    json_key_string(j, "state", headline_state_name(cell->state));
    spread_write_json(j, &cell->spread);
    json_object_end(j);
}

static void write_row(struct json *j, const struct headline_row *row)
{
    json_object(j);
    json_key_string(j, "key", row->key);
    json_key_string(j, "name", row->name);
    json_key_string(j, "group", headline_group_name(row->group));
    json_key_string(j, "unit", row->bytes ? "bytes" : "ns");
    json_key_bool(j, "part", row->part);
    json_key_number(j, "ratio",
                    row->cells[HEADLINE_DUMP].spread.median /
                        row->cells[HEADLINE_OFFSET].spread.median);
    json_key(j, "cells");
    json_object(j);
    for (int way = 0; way < HEADLINE_WAYS; way++)
        write_cell(j, way_keys[way], &row->cells[way]);
    json_object_end(j);
    json_object_end(j);
}

void headline_write_json(struct json *j, const struct run_figures *figures, struct arena *keep)
{
    const struct way_times times = figures_way_times(figures, keep);
    struct headline h;
    headline_make(figures, keep, &h);
    json_object(j);
    json_key_uint(j, "cases", times.cases);
    json_key_string(j, "foreign_engine", figures_foreign_engine(figures));
    json_key_number(j, "foreign_ms", times.foreign_ms);
    json_key_number(j, "dump_ms", times.dump_ms);
    json_key_number(j, "offset_ms", times.offset_ms);
    json_key_string(j, "foreign", h.foreign);
    json_key_string(j, "dominates", h.dominates);
    json_key_string(j, "scope", h.scope);
    json_key(j, "columns");
    json_array(j);
    for (int way = 0; way < HEADLINE_WAYS; way++) {
        json_object(j);
        json_key_string(j, "key", way_keys[way]);
        json_key_string(j, "name", h.columns[way]);
        json_object_end(j);
    }
    json_array_end(j);
    json_key(j, "rows");
    json_array(j);
    for (int r = 0; r < HEADLINE_ROWS; r++)
        write_row(j, &h.rows[r]);
    json_array_end(j);
    json_object_end(j);
}
