/* See cost.h. */
#include "study/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/statistics.h"
#include "study/accuracy.h"
#include "study/headline.h"
#include "study/speed.h"

#define UNKNOWN ((double)NAN)
#define MILLION_OF_NANO (1e6 / 1e9) /* nanoseconds to seconds, bytes to GB */

const struct cost_terms cost_terms_default = {
    {[COST_MBIT_S] = 20, [COST_HOURS_KEPT] = 720, [COST_GB_MONTH] = 0.02, [COST_CORE_HOUR] = 0.05}};

const struct cost_term_words cost_term_words[COST_TERMS] = {
    [COST_MBIT_S] = {"mbit_s", "Mbit/s of a user's uplink"},
    [COST_HOURS_KEPT] = {"hours_kept", "hours for which a report is kept"},
    [COST_GB_MONTH] = {"gb_month", "price of a GB for a month"},
    [COST_CORE_HOUR] = {"core_hour", "price of a core for an hour"},
};

bool cost_term_set(struct cost_terms *terms, const char *name, const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    size_t term = 0;
    while (term < COST_TERMS && strcmp(cost_term_words[term].name, name) != 0)
        term++;
    if (term == COST_TERMS || end == text || *end != '\0' || !(value >= 0 && value < 1e9) ||
        (value <= 0 && term == COST_MBIT_S))
        return false;
    terms->of[term] = value;
    return true;
}

const struct cost_line_words cost_line_words[COST_LINES] = {
    [COST_WARM] = {"core_s_warm", "warm, core-s"}, [COST_INDEX] = {"core_s_index", "index, core-s"},
    [COST_STOPPED] = {"stopped_s", "stopped, s"},  [COST_RAW] = {"raw_gb", "kept raw, GB"},
    [COST_GZIP] = {"gzip_gb", "gzip, GB"},         [COST_ZSTD] = {"zstd_gb", "zstd, GB"},
    [COST_UPLOAD] = {"upload_s", "upload, s"},     [COST_PRICE] = {"price", "price"},
    [COST_UNUSABLE] = {"unusable", "unusable"},
};

const struct cost_step_words cost_step_words[COST_STEPS + 1] = {
    [COST_STEP_WALK] = {"walk_ns", "stack walk"},
    [COST_STEP_WRITE] = {"write_ns", "file written"},
    [COST_STEP_SEND] = {"send_ns", "upload"},
    [COST_STEP_OPEN] = {"open_ns", "back end: opening"},
    [COST_STEP_UNWIND] = {"unwind_ns", "walking"},
    [COST_STEP_LOAD] = {"load_ns", "loading symbols"},
    [COST_STEP_RESOLVE] = {"resolve_ns", "naming"},
    [COST_STEP_REST] = {"left_over_ns", "left over"},
    [COST_STEPS] = {"total_ns", "all of it"},
};

static void write_word(struct json *j, const char *key, const char *name)
{
    json_object(j);
    json_key_string(j, "key", key);
    json_key_string(j, "name", name);
    json_object_end(j);
}

void cost_write_words(struct json *j)
{
    json_object(j);
    json_key_array(j, "lines");
    for (size_t i = 0; i < COST_LINES; i++)
        write_word(j, cost_line_words[i].key, cost_line_words[i].name);
    json_array_end(j);
    json_key_array(j, "steps");
    for (size_t i = 0; i < COUNT_OF(cost_step_words); i++)
        write_word(j, cost_step_words[i].key, cost_step_words[i].name);
    json_array_end(j);
    json_object_end(j);
}

/* Where a sample has an amount: the first number that is there, or the sum of the others. */
enum { NONE = -1 };
struct places {
    int whole, parts[2];
};

/* NOLINTBEGIN(bugprone-macro-parentheses) fields */
#define AT(NAME)                                                                                   \
    {                                                                                              \
        SAMPLE_TIMING(NAME),                                                                       \
        {                                                                                          \
            NONE, NONE                                                                             \
        }                                                                                          \
    }
#define SIZES(NAME)                                                                                \
    [COST_RAW] = AT(NAME##_bytes), [COST_GZIP] = AT(NAME##_gzip_bytes),                            \
    [COST_ZSTD] = AT(NAME##_zstd_bytes)
/* NOLINTEND(bugprone-macro-parentheses) */

/* A hang goes on as soon as it is walked, or its dump is written; a crash waits for the file. The
 * back end's times are those of the table of speed. */
static const struct lane_source {
    enum case_way way;
    enum speed_lane speed;
    struct places amounts[COST_ROWS];
} lane_sources[COST_LANES] = {
    [COST_PLAIN] = {WAY_DUMP,
                    SPEED_PLAIN,
                    {[COST_STOPPED] = {SAMPLE_TIMING(stop_dump_ns),
                                       {SAMPLE_TIMING(dump_write_ns), NONE}},
                     SIZES(dump)}},
    [COST_TUNED] = {WAY_TUNED,
                    SPEED_TUNED,
                    {[COST_STOPPED] = {SAMPLE_TIMING(stop_tuned_ns),
                                       {SAMPLE_TIMING(dump_tuned_ns), NONE}},
                     SIZES(dump_tuned)}},
    [COST_OFFSET] = {WAY_OFFSET,
                     SPEED_OFFSET,
                     {[COST_STOPPED] = {SAMPLE_TIMING(stop_walk_ns),
                                        {SAMPLE_TIMING(walk_ns), SAMPLE_TIMING(record_write_ns)}},
                      SIZES(record)}},
};

/* The samples of a run. */
struct columns {
    struct sample_columns all;
    enum cpu arch;
    bool has_pairs; /* stacks by offsets, with which those of dumps are compared */
    uint64_t *sum;
};

static void read_place(struct columns *c, int place, uint64_t *out)
{
    if (place == NONE || sample_set_column(c->all.set, place, out, &c->all.fault) != ERR_NONE)
        memset(out, 0, c->all.set->count * sizeof *out);
}

/* A part that is missing makes the sum unknown. */
static void read_amount(struct columns *c, const struct places *from)
{
    read_place(c, from->whole, c->all.raw);
    read_place(c, from->parts[0], c->sum);
    read_place(c, from->parts[1], c->all.other);
    for (uint32_t i = 0; i < c->all.set->count; i++) {
        const bool known = c->sum[i] != 0 && (from->parts[1] == NONE || c->all.other[i] != 0);
        if (c->all.raw[i] == 0 && known)
            c->all.raw[i] = c->sum[i] + c->all.other[i];
    }
}

/* How many different numbers the known amounts have in NAMES. */
static size_t distinct_of(struct columns *c, const uint64_t *names)
{
    size_t count = 0;
    for (uint32_t i = 0; i < c->all.set->count; i++)
        if (c->all.raw[i] != 0 && sample_arch(c->all.strata[i]) == c->arch)
            c->all.distinct[count++] = names[i];
    return sample_distinct(c->all.distinct, count);
}

/* Of the numbers in `raw`, those that are known. The interval is over scenarios, as in the table of
 * speed. */
static struct cost_amount amount_of(struct columns *c)
{
    struct cost_amount out = {.one = {UNKNOWN, UNKNOWN, UNKNOWN}};
    size_t count = 0;
    for (uint32_t i = 0; i < c->all.set->count; i++)
        if (c->all.raw[i] != 0 && sample_arch(c->all.strata[i]) == c->arch)
            c->all.numbers[count++] = (double)c->all.raw[i];
    out.cases = distinct_of(c, c->all.units);
    out.scenarios = distinct_of(c, c->all.scenarios);
    if (sample_state(out.cases, out.scenarios) == SAMPLE_ENOUGH)
        out.one = statistics_median_interval(c->all.numbers, count, out.scenarios);
    return out;
}

/* Over the cases that both ways have, as in the table of speed. */
static struct cost_amount time_of(struct columns *c, enum speed_lane lane, enum speed_state state)
{
    read_place(c, speed_place(lane, state), c->all.raw);
    read_place(c, speed_place(SPEED_OFFSET, state), c->all.other);
    for (uint32_t i = 0; i < c->all.set->count; i++)
        c->all.raw[i] = c->all.other[i] != 0 || !c->has_pairs ? c->all.raw[i] : 0;
    return amount_of(c);
}

static void fill(struct columns *c, enum cost_lane_index lane, struct cost_lane *out)
{
    for (int row = 0; row < COST_ROWS; row++) {
        if (row == COST_WARM || row == COST_INDEX) {
            out->amounts[row] =
                time_of(c, lane_sources[lane].speed, row == COST_WARM ? SPEED_WARM : SPEED_INDEX);
            continue;
        }
        read_amount(c, &lane_sources[lane].amounts[row]);
        out->amounts[row] = amount_of(c);
    }
}

/* Whether there are stacks of that lane for processor ARCH, which becomes the one that counts. */
static bool has_stacks(struct columns *c, enum cpu arch, enum speed_lane lane)
{
    c->arch = arch;
    read_place(c, speed_place(lane, SPEED_WARM), c->all.raw);
    return distinct_of(c, c->all.units) > 0;
}

static void begin(const struct run_figures *figures, struct arena *keep, struct cost *out)
{
    static const struct cost_amount none = {.one = {UNKNOWN, UNKNOWN, UNKNOWN}};
    *out = (struct cost){.where = speed_where(figures, keep)};
    for (int lane = 0; lane < COST_LANES; lane++) {
        for (int step = 0; step < COST_STEPS; step++)
            out->lanes[lane].steps_ns[step] = UNKNOWN;
        out->lanes[lane].name =
            lane == COST_FULL ? "full dump" : lane_way_name(lane_sources[lane].way);
        for (int row = 0; row < COST_ROWS; row++)
            out->lanes[lane].amounts[row] = none;
    }
}

static void judge(const struct accuracy *a, struct cost *out)
{
    static const enum accuracy_way_index ways[COST_LANES] = {
        [COST_PLAIN] = ACCURACY_DUMP, [COST_OFFSET] = ACCURACY_OFFSET};
    const struct accuracy_usable *own = &a->by_cpu[out->arch];
    for (int lane = 0; lane < COST_LANES; lane++)
        if (lane == COST_PLAIN || lane == COST_OFFSET) {
            out->lanes[lane].is_judged = true;
            out->lanes[lane].unusable = own->unusable[ways[lane]];
            out->lanes[lane].judged = own->judged;
        }
}

/* The processors that have stacks, in the order of the figures. */
static void fill_all(struct columns *c, const struct run_figures *figures, struct arena *keep,
                     struct costs *out)
{
    for (uint32_t i = 0; i < figures->processors.count; i++) {
        struct cost *cost = &out->of[out->count];
        c->has_pairs = has_stacks(c, figures->processors.of[i], SPEED_OFFSET);
        if (!c->has_pairs && !has_stacks(c, figures->processors.of[i], SPEED_PLAIN))
            continue;
        begin(figures, keep, cost);
        cost->arch = c->arch;
        for (int lane = 0; lane < COST_LANES; lane++)
            if (lane != COST_FULL)
                fill(c, (enum cost_lane_index)lane, &cost->lanes[lane]);
        out->count++;
    }
}

void cost_of_samples(const struct run_figures *figures, struct sample_set *samples,
                     struct arena *keep, struct costs *out)
{
    struct arena work;
    arena_init(&work, 0);
    struct columns c = {.sum = ARENA_ARRAY(&work, (size_t)samples->count + 1, uint64_t)};
    out->count = 0;
    if (sample_columns_open(samples, &work, &c.all) && c.sum != NULL)
        fill_all(&c, figures, keep, out);
    if (c.all.fault.code != ERR_NONE || out->count == 0) {
        begin(figures, keep, &out->of[0]);
        out->of[0].arch = figures->processors.of[0];
        out->count = 1;
    }
    for (size_t i = 0; i < out->count; i++)
        judge(figures->accuracy, &out->of[i]);
    arena_free(&work);
}

/* The steps of the headline: medians in the dying process, and the parts of the median case on the
 * back end. */
static void put_steps(const struct headline *h, enum case_way way, struct cost_lane *out)
{
    static const char *const keys[COST_STEPS] = {
        [COST_STEP_WALK] = "walk",          [COST_STEP_WRITE] = "write",
        [COST_STEP_OPEN] = "cold_open",     [COST_STEP_UNWIND] = "cold_unwind",
        [COST_STEP_LOAD] = "cold_load",     [COST_STEP_RESOLVE] = "cold_resolve",
        [COST_STEP_REST] = "cold_left_over"};
    for (int step = 0; step < COST_STEPS; step++) {
        out->steps_ns[step] = UNKNOWN;
        for (int row = 0; row < HEADLINE_ROWS && keys[step] != NULL; row++)
            if (strcmp(h->rows[row].key, keys[step]) == 0 &&
                !measurement_is_few(&h->rows[row].cells[way].measured))
                out->steps_ns[step] = h->rows[row].cells[way].measured.value;
    }
}

static void take_costs(const struct run_figures *figures, struct costs *out)
{
    *out = *figures->costs;
    for (int lane = 0; lane < COST_LANES; lane++)
        if (lane != COST_FULL && out->of[0].arch == figures->processors.of[0])
            put_steps(figures->headline, lane_sources[lane].way, &out->of[0].lanes[lane]);
}

void cost_make(const struct run_figures *figures, const struct run_figures *full, struct costs *out)
{
    struct costs other;
    take_costs(figures, out);
    if (full == NULL)
        return;
    take_costs(full, &other);
    for (size_t i = 0; i < out->count; i++)
        for (size_t k = 0; k < other.count; k++) {
            struct cost_lane *lane = &out->of[i].lanes[COST_FULL];
            const char *name = lane->name;
            if (out->of[i].arch != other.of[k].arch)
                continue;
            *lane = other.of[k].lanes[COST_PLAIN];
            lane->name = name;
        }
}

double cost_per_million(const struct cost_amount *amount)
{
    return amount->one.value * MILLION_OF_NANO;
}

double cost_upload_s(const struct cost_lane *lane, const struct cost_terms *terms)
{
    return lane->amounts[COST_GZIP].one.value * 8 / (terms->of[COST_MBIT_S] * 1e6) * 1e6;
}

double cost_step_ns(const struct cost_lane *lane, enum cost_step step,
                    const struct cost_terms *terms)
{
    return step == COST_STEP_SEND ? cost_upload_s(lane, terms) * 1e9 / 1e6 : lane->steps_ns[step];
}

double cost_total_ns(const struct cost_lane *lane, const struct cost_terms *terms)
{
    static const bool demanded[COST_STEPS] = {
        [COST_STEP_WRITE] = true, [COST_STEP_SEND] = true, [COST_STEP_REST] = true};
    double total = 0;
    for (int step = 0; step < COST_STEPS; step++) {
        const double ns = cost_step_ns(lane, (enum cost_step)step, terms);
        total += isnan(ns) && !demanded[step] ? 0 : ns;
    }
    return total;
}

double cost_price(const struct cost_lane *lane, const struct cost_terms *terms)
{
    static const double hours_a_month = 730;
    return cost_per_million(&lane->amounts[COST_ZSTD]) * terms->of[COST_GB_MONTH] *
               terms->of[COST_HOURS_KEPT] / hours_a_month +
           cost_per_million(&lane->amounts[COST_WARM]) / 3600 * terms->of[COST_CORE_HOUR];
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_amount(struct json *j, const char *key, const struct cost_amount *amount)
{
    json_key_object(j, key);
    json_key_string(j, "state", sample_state_name(sample_state(amount->cases, amount->scenarios)));
    json_key_uint(j, "cases", amount->cases);
    json_key_uint(j, "scenarios", amount->scenarios);
    json_key_number(j, "value", amount->one.value * MILLION_OF_NANO);
    json_key_number(j, "low", amount->one.low * MILLION_OF_NANO);
    json_key_number(j, "high", amount->one.high * MILLION_OF_NANO);
    json_object_end(j);
}

static void write_lane(struct json *j, const struct cost_lane *lane, const struct cost_terms *terms)
{
    json_object(j);
    json_key_string(j, "lane", lane->name);
    for (int row = 0; row < COST_ROWS; row++)
        write_amount(j, cost_line_words[row].key, &lane->amounts[row]);
    json_key_object(j, "steps");
    for (int step = 0; step < COST_STEPS; step++)
        json_key_number(j, cost_step_words[step].key,
                        cost_step_ns(lane, (enum cost_step)step, terms));
    json_object_end(j);
    json_key_number(j, "total_ns", cost_total_ns(lane, terms));
    json_key_number(j, "upload_s", cost_upload_s(lane, terms));
    json_key_number(j, "price", cost_price(lane, terms));
    json_key_uint_if(j, "unusable", lane->unusable, lane->is_judged);
    json_key_uint(j, "judged", lane->judged);
    json_object_end(j);
}

void cost_write_json(struct json *j, const struct run_figures *figures,
                     const struct cost_question *question)
{
    const struct cost_terms *terms = question != NULL ? &question->terms : &cost_terms_default;
    struct costs all;
    const struct cost *cost = &all.of[0];
    cost_make(figures, question != NULL ? question->full : NULL, &all);
    json_object(j);
    json_key_string(j, "where", cost->where);
    json_key_string(j, "arch", cpu_name(cost->arch));
    json_key_object(j, "terms");
    for (size_t i = 0; i < COST_TERMS; i++)
        json_key_number(j, cost_term_words[i].name, terms->of[i]);
    json_object_end(j);
    json_key_array(j, "lanes");
    for (int lane = 0; lane < COST_LANES; lane++)
        write_lane(j, &cost->lanes[lane], terms);
    json_array_end(j);
    json_object_end(j);
}
