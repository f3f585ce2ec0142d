/* See timings.h. */
#include "study/timings.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "study/headline.h"

struct source {
    const char *key, *name;
    size_t offset; /* in struct case_timing or struct engine_cost */
    bool bytes;
};

#define TIMING(NAME, FIELD, BYTES) {#FIELD, NAME, offsetof(struct case_timing, FIELD), BYTES}
#define COST(NAME, FIELD, BYTES) {#FIELD, NAME, offsetof(struct engine_cost, FIELD), BYTES}

static const struct source capture_rows[TIMINGS_CAPTURE] = {
    TIMING("walk (rtl)", walk_ns, false),
    TIMING("stopped, until the stack is copied", stop_copy_ns, false),
    TIMING("stopped, until the last frame", stop_walk_ns, false),
    TIMING("stopped, until the end of the dump", stop_dump_ns, false),
    TIMING("record written", record_write_ns, false),
    TIMING("dump written", dump_write_ns, false),
    TIMING("dump written, tuned", dump_tuned_ns, false),
    TIMING("bytes of a record", record_bytes, true),
    TIMING("bytes of a dump", dump_bytes, true),
    TIMING("one capture on demand", capture_now_ns, false),
    TIMING("hang found, after its time limit", hang_late_ns, false),
    TIMING("bytes of a dump, tuned", dump_tuned_bytes, true),
};

static const struct source part_rows[TIMINGS_PARTS] = {
    COST("opening", open_ns, false),         COST("walking", unwind_ns, false),
    COST("loading symbols", load_ns, false), COST("naming", resolve_ns, false),
    COST("all, cold", cold_ns, false),       COST("peak memory", peak_bytes, true),
};

static uint64_t number_at(const void *base, size_t offset)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)base + offset, sizeof value);
    return value;
}

static uint64_t capture_number(const struct run_case *c, const void *context)
{
    const struct source *row = context;
    return row->bytes || !c->timing.crowded ? number_at(&c->timing, row->offset) : 0;
}

struct engine_part {
    const char *engine;
    const struct source *row;
};

static uint64_t part_number(const struct run_case *c, const void *context)
{
    const struct engine_part *part = context;
    return case_is_timed(c, part->engine)
               ? number_at(&case_claim(c, part->engine)->cost, part->row->offset)
               : 0;
}

static struct timings_row row_of(const struct source *row)
{
    return (struct timings_row){.key = row->key, .name = row->name, .bytes = row->bytes};
}

static void fill_engine(const struct run_figures *figures, uint32_t at, double *numbers,
                        struct timings_engine *out)
{
    const struct engine_total *total = &figures->engines[at];
    *out = (struct timings_engine){
        .engine = total->engine, .kind = total->kind, .subject = total->subject};
    out->total = figures_spread(figures, case_total_ns, total->engine, numbers);
    for (size_t i = 0; i < COUNT_OF(part_rows); i++) {
        const struct engine_part part = {total->engine, &part_rows[i]};
        out->parts[i] = row_of(&part_rows[i]);
        out->parts[i].spread = figures_spread(figures, part_number, &part, numbers);
    }
}

/* Keeps the slowest ones in order; of equal ones, the first. */
static void add_slow(struct timings *out, struct timings_slow one)
{
    uint32_t at = out->slow_count;
    while (at > 0 && out->slowest[at - 1].ns < one.ns)
        at--;
    if (at == TIMINGS_SLOWEST)
        return;
    out->slow_count += out->slow_count < TIMINGS_SLOWEST;
    memmove(&out->slowest[at + 1], &out->slowest[at],
            (out->slow_count - at - 1) * sizeof out->slowest[0]);
    out->slowest[at] = one;
}

static void find_slowest(const struct run_figures *figures, struct timings *out)
{
    for (uint32_t i = 0; i < figures->case_count; i++)
        for (uint32_t e = 0; e < figures->engine_count; e++) {
            const struct run_case *c = &figures->cases[i];
            const char *engine = figures->engines[e].engine;
            const uint64_t ns = figures->engines[e].subject ? case_total_ns(c, engine) : 0;
            if (ns > 0)
                add_slow(out, (struct timings_slow){c, engine, ns, case_score(c, engine)->frames});
        }
}

enum status timings_make(const struct run_figures *figures, struct arena *keep, struct timings *out,
                         struct fault *fault)
{
    double *numbers = ARENA_ARRAY(keep, (size_t)figures->case_count + 1, double);
    memset(out, 0, sizeof *out);
    out->engines = ARENA_ARRAY(keep, (size_t)figures->engine_count + 1, struct timings_engine);
    if (numbers == NULL || out->engines == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "times of a run");
    for (size_t i = 0; i < COUNT_OF(capture_rows); i++) {
        out->capture[i] = row_of(&capture_rows[i]);
        out->capture[i].spread = figures_spread(figures, capture_number, &capture_rows[i], numbers);
    }
    for (; out->engine_count < figures->engine_count; out->engine_count++)
        fill_engine(figures, out->engine_count, numbers, &out->engines[out->engine_count]);
    find_slowest(figures, out);
    return ERR_NONE;
}

static bool is_in(const struct timings_group *group, const struct bench_sample *sample)
{
    return group->lane == sample->lane && group->stage == sample->stage &&
           group->cold == sample->cold;
}

enum status timings_group(const struct bench_sample *samples, uint32_t count, struct arena *keep,
                          struct timings_group **out, uint32_t *out_count, struct fault *fault)
{
    enum { MOST = (LANE_OTHER + 1) * (STAGE_OTHER + 1) * 2 };
    double *numbers = ARENA_ARRAY(keep, (size_t)count + 1, double);
    *out_count = 0;
    *out = ARENA_ARRAY(keep, MOST, struct timings_group);
    if (numbers == NULL || *out == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "samples of a bench");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < *out_count && !is_in(&(*out)[at], &samples[i]))
            at++;
        if (at == *out_count)
            (*out)[(*out_count)++] = (struct timings_group){
                .lane = samples[i].lane, .stage = samples[i].stage, .cold = samples[i].cold};
    }
    for (uint32_t g = 0; g < *out_count; g++) {
        size_t used = 0;
        for (uint32_t i = 0; i < count; i++)
            if (is_in(&(*out)[g], &samples[i]))
                numbers[used++] = (double)samples[i].ns;
        (*out)[g].spread = spread_of(numbers, used);
    }
    return ERR_NONE;
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void write_row(struct json *j, const struct timings_row *row)
{
    json_object(j);
    json_key_string(j, "key", row->key);
    json_key_string(j, "name", row->name);
    json_key_string(j, "unit", row->bytes ? "bytes" : "ns");
    spread_write_json(j, &row->spread);
    json_object_end(j);
}

static void write_engine(struct json *j, const struct timings_engine *engine)
{
    json_object(j);
    json_key_string(j, "engine", engine->engine);
    json_key_string(j, "kind", engine_kind_name(engine->kind));
    json_key_bool(j, "subject", engine->subject);
    spread_write_json(j, &engine->total);
    json_key(j, "parts");
    json_array(j);
    for (size_t i = 0; i < TIMINGS_PARTS; i++)
        write_row(j, &engine->parts[i]);
    json_array_end(j);
    json_object_end(j);
}

enum status timings_write_json(struct json *j, const struct run_figures *figures,
                               struct arena *keep, struct fault *fault)
{
    struct timings timings;
    if (timings_make(figures, keep, &timings, fault) != ERR_NONE)
        return fault->code;
    json_key(j, "headline");
    headline_write_json(j, figures, keep);
    json_key(j, "capture");
    json_array(j);
    for (size_t i = 0; i < TIMINGS_CAPTURE; i++)
        write_row(j, &timings.capture[i]);
    json_array_end(j);
    json_key(j, "engines");
    json_array(j);
    for (uint32_t i = 0; i < timings.engine_count; i++)
        write_engine(j, &timings.engines[i]);
    json_array_end(j);
    return ERR_NONE;
}

static const enum engine_kind lane_kinds[] = {
    [LANE_OFFSET] = ENGINE_KIND_OFFSET,
    [LANE_DUMP] = ENGINE_KIND_DUMP,
    [LANE_CONTROL] = ENGINE_KIND_OFFSET,
    [LANE_OTHER] = ENGINE_KIND_OTHER,
};

enum status timings_write_groups(struct json *j, const struct bench_sample *samples, uint32_t count,
                                 struct arena *keep, struct fault *fault)
{
    struct timings_group *groups = NULL;
    uint32_t group_count = 0;
    if (timings_group(samples, count, keep, &groups, &group_count, fault) != ERR_NONE)
        return fault->code;
    json_array(j);
    for (uint32_t i = 0; i < group_count; i++) {
        json_object(j);
        json_key_string(j, "subject", bench_lane_name(groups[i].lane));
        json_key_string(j, "kind", engine_kind_name(lane_kinds[groups[i].lane]));
        json_key_string(j, "stage", bench_stage_name(groups[i].stage));
        json_key_bool(j, "cold", groups[i].cold);
        spread_write_json(j, &groups[i].spread);
        json_object_end(j);
    }
    json_array_end(j);
    return ERR_NONE;
}
