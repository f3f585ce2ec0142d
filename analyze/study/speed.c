/* See speed.h. */
#include "study/speed.h"

#include <math.h>
#include <string.h>

#include "base/quantile.h"
#include "compare/bootstrap.h"
#include "model/lane.h"

#define UNKNOWN ((double)NAN)
#define NO_INTERVAL ((struct interval){UNKNOWN, UNKNOWN, UNKNOWN})

/* NOLINTBEGIN(bugprone-macro-parentheses) fields */
#define AT(NAME) ((int)offsetof(struct figure_sample, NAME))
#define STATE(WAY, NAME)                                                                           \
    {AT(ways[WAY].NAME.whole_ns), AT(ways[WAY].NAME.even_ns), AT(ways[WAY].NAME.odd_ns)}
#define LANE(WAY) {STATE(WAY, first), STATE(WAY, cold), STATE(WAY, warm)}
/* NOLINTEND(bugprone-macro-parentheses) */

/* Where a sample has the cost of a lane in a state, and what it was in the other rounds. */
enum source { WHOLE, EVEN, ODD, SOURCES };
static const int sources[SPEED_LANES][SPEED_STATES][SOURCES] = {
    [SPEED_OFFSET] = LANE(WAY_OFFSET),
    [SPEED_PLAIN] = LANE(WAY_DUMP),
    [SPEED_TUNED] = LANE(WAY_TUNED),
    [SPEED_FOREIGN] = LANE(WAY_FOREIGN),
};

/* The samples of a run, and room for the pairs of a cell. */
struct columns {
    struct sample_columns all;
    struct ratio_pair *pairs;
};

/* Pairs of numbers of cases of ARCH that have both, and their units in `distinct`. */
static size_t take_pairs(struct columns *c, enum cpu arch, int a, int b)
{
    size_t count = 0;
    if (sample_set_column(c->all.set, a, c->all.raw, &c->all.fault) != ERR_NONE ||
        sample_set_column(c->all.set, b, c->all.other, &c->all.fault) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < c->all.set->count; i++)
        if (c->all.raw[i] != 0 && c->all.other[i] != 0 && sample_arch(c->all.strata[i]) == arch) {
            c->all.distinct[count] = c->all.units[i];
            c->pairs[count++] = (struct ratio_pair){.a = (double)c->all.raw[i],
                                                    .b = (double)c->all.other[i],
                                                    .stratum = c->all.strata[i],
                                                    .group = c->all.scenarios[i]};
        }
    return count;
}

/* Scenarios, of which builds of another kind are another stratum. Sorts the pairs. */
static size_t count_scenarios(struct columns *c, size_t count)
{
    (void)ratio_pairs_sort(c->pairs, count);
    for (size_t i = 0; i < count; i++)
        c->all.distinct[i] = c->pairs[i].group;
    return sample_distinct(c->all.distinct, count);
}

static bool excludes_one(const struct interval *i)
{
    return i->low > 1 || i->high < 1;
}

static struct interval control_of(struct columns *c, enum cpu arch, const int *at)
{
    const size_t count = take_pairs(c, arch, at[EVEN], at[ODD]);
    return count_scenarios(c, count) < MEASUREMENT_LEAST ? NO_INTERVAL
                                                         : ratio_pairs_bootstrap(c->pairs, count);
}

static void fill(struct columns *c, enum cpu arch, enum speed_lane lane, enum speed_state state,
                 struct speed_cell *out)
{
    const int *mine = sources[lane][state];
    const size_t count = take_pairs(c, arch, mine[WHOLE], sources[SPEED_OFFSET][state][WHOLE]);
    out->ratio = out->control = NO_INTERVAL;
    out->median_ns = UNKNOWN;
    out->pairs = count;
    out->cases = sample_distinct(c->all.distinct, count);
    out->scenarios = count_scenarios(c, count);
    if (sample_state(out->cases, out->scenarios) != SAMPLE_ENOUGH)
        return;
    for (size_t i = 0; i < count; i++)
        c->all.numbers[i] = c->pairs[i].a;
    out->median_ns = quantile_median(c->all.numbers, count);
    if (lane != SPEED_OFFSET)
        out->ratio = ratio_of_another(ratio_pairs_bootstrap(c->pairs, count));
    out->control = control_of(c, arch, mine);
    out->drifts = excludes_one(&out->control);
}

/* The lanes of one processor; a lane that nothing measured has no row. */
static void fill_arch(struct columns *c, enum cpu arch, const char *const names[SPEED_LANES],
                      struct speed *out)
{
    const struct speed_row *offset = &out->rows[out->row_count];
    for (int lane = 0; lane < SPEED_LANES; lane++) {
        struct speed_row *row = &out->rows[out->row_count];
        size_t cases = 0;
        *row = (struct speed_row){arch, (enum speed_lane)lane, names[lane], {{0}}};
        for (int s = 0; s < SPEED_STATES; s++) {
            fill(c, arch, (enum speed_lane)lane, (enum speed_state)s, &row->cells[s]);
            row->cells[s].drifts = row->cells[s].drifts || offset->cells[s].drifts;
            cases += row->cells[s].cases;
        }
        out->row_count += cases > 0;
        if (lane == SPEED_OFFSET && cases == 0)
            return;
    }
}

static const char *writer_of(const struct run_figures *figures)
{
    for (uint32_t i = 0; i < figures->engine_count; i++)
        if (strcmp(figures->engines[i].engine, ENGINE_NAME_DUMP) == 0)
            return figures->engines[i].version;
    return NULL;
}

bool speed_is_by_wine(const struct run_figures *figures)
{
    const char *platform = figures->run->platform;
    return writer_of(figures) == NULL && platform != NULL && strstr(platform, "wine") != NULL;
}

const char *speed_writer(const struct run_figures *figures)
{
    const char *writer = writer_of(figures);
    if (writer == NULL)
        writer = speed_is_by_wine(figures) ? "Wine, not Windows" : "an unnamed writer";
    return writer;
}

const char *speed_where(const struct run_figures *figures, struct arena *keep)
{
    const struct run_info *run = figures->run;
    const char *text = arena_printf(
        keep, "%s · %s · dumps by %s", run->platform != NULL ? run->platform : "system not known",
        run->cpu != NULL ? run->cpu : "processor not known", speed_writer(figures));
    return text != NULL ? text : "";
}

void speed_of_samples(const struct run_figures *figures, struct sample_set *samples,
                      struct arena *keep, struct speed *out)
{
    struct arena work;
    const char *foreign = figures_foreign_engine(figures);
    const char *const names[SPEED_LANES] = {
        lane_way_name(WAY_OFFSET), lane_way_name(WAY_DUMP), lane_way_name(WAY_TUNED),
        foreign != NULL ? arena_printf(keep, "plain dump, %s", strchr(foreign, ':') + 1) : NULL};
    arena_init(&work, 0);
    struct columns c = {.pairs = ARENA_ARRAY(&work, (size_t)samples->count + 1, struct ratio_pair)};
    *out = (struct speed){.where = speed_where(figures, keep)};
    if (sample_columns_open(samples, &work, &c.all) && c.pairs != NULL)
        for (int i = 0; i < CPU_COUNT; i++)
            fill_arch(&c, cpu_order[i], names, out);
    if (c.all.fault.code != ERR_NONE)
        out->row_count = 0;
    arena_free(&work);
}

int speed_place(enum speed_lane lane, enum speed_state state)
{
    return sources[lane][state][WHOLE];
}

enum speed_lane speed_lane_of(enum case_way way)
{
    static const enum speed_lane lanes[WAY_COUNT] = {[WAY_OFFSET] = SPEED_OFFSET,
                                                     [WAY_DUMP] = SPEED_PLAIN,
                                                     [WAY_TUNED] = SPEED_TUNED,
                                                     [WAY_FOREIGN] = SPEED_FOREIGN};
    return lanes[way];
}

const struct speed_row *speed_main(const struct speed *speed)
{
    for (uint32_t i = 0; i < speed->row_count; i++)
        if (speed->rows[i].lane == SPEED_PLAIN)
            return &speed->rows[i];
    return NULL;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_interval(struct json *j, const char *key, const struct interval *i)
{
    json_key(j, key);
    if (isnan(i->value)) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_number(j, "value", i->value);
    json_key_number(j, "low", i->low);
    json_key_number(j, "high", i->high);
    json_object_end(j);
}

static void write_cell(struct json *j, const struct speed_cell *cell)
{
    json_object(j);
    json_key_string(j, "state", sample_state_name(sample_state(cell->cases, cell->scenarios)));
    json_key_uint(j, "cases", cell->cases);
    json_key_uint(j, "scenarios", cell->scenarios);
    json_key_uint(j, "pairs", cell->pairs);
    json_key_number(j, "median_ns", cell->median_ns);
    write_interval(j, "ratio", &cell->ratio);
    write_interval(j, "control", &cell->control);
    json_key_bool(j, "drifts", cell->drifts);
    json_object_end(j);
}

void speed_write_json(struct json *j, const struct speed *speed)
{
    json_object(j);
    json_key_string(j, "where", speed->where);
    json_key_array(j, "rows");
    for (uint32_t r = 0; r < speed->row_count; r++) {
        json_object(j);
        json_key_string(j, "arch", cpu_name(speed->rows[r].arch));
        json_key_string(j, "lane", speed->rows[r].name);
        json_key_object(j, "cells");
        for (int state = 0; state < SPEED_STATES; state++) {
            json_key(j, lane_state_name((enum way_state)state));
            write_cell(j, &speed->rows[r].cells[state]);
        }
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
