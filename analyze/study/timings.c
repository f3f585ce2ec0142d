/* See timings.h. */
#include "study/timings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/store.h"
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

static struct timings_row row_of(const struct source *row)
{
    return (struct timings_row){.key = row->key, .name = row->name, .bytes = row->bytes};
}

/* ---- case by case --------------------------------------------------------------------- */

/* A row of numbers: the processor, those of the capture, the total and the parts of each engine. */
enum { CAPTURE_WORD = 1, ENGINES_WORD = CAPTURE_WORD + TIMINGS_CAPTURE };
enum { ENGINE_WORDS = 1 + TIMINGS_PARTS, ROW_WORDS = ENGINES_WORD + CLAIMS_MAX * ENGINE_WORDS };

static size_t engine_word(uint32_t engine)
{
    return ENGINES_WORD + (size_t)engine * ENGINE_WORDS;
}

void timings_begin(struct timings_count *count, const struct engine_total *engines,
                   uint32_t engine_count, struct arena *keep, struct timings *out)
{
    memset(out, 0, sizeof *out);
    out->engine_count = engine_count < CLAIMS_MAX ? engine_count : CLAIMS_MAX;
    *count = (struct timings_count){.out = out, .engines = engines, .keep = keep};
    sample_set_init(&count->rows, engine_word(out->engine_count));
}

/* The name of the case stays, whatever becomes of the case. */
static const struct run_case *kept_name(const struct run_case *c, struct arena *keep)
{
    struct run_case *kept = ARENA_NEW(keep, struct run_case);
    if (kept == NULL)
        return NULL;
    kept->scenario = arena_string(keep, c->scenario);
    kept->variant = arena_string(keep, c->variant);
    kept->repeat = c->repeat;
    return kept->scenario != NULL && kept->variant != NULL ? kept : NULL;
}

/* Keeps the slowest ones in order; of equal ones, the first. */
static enum status add_slow(struct timings_count *count, struct timings_slow one,
                            struct fault *fault)
{
    struct timings *out = count->out;
    uint32_t at = out->slow_count;
    while (at > 0 && out->slowest[at - 1].ns < one.ns)
        at--;
    if (at == TIMINGS_SLOWEST)
        return ERR_NONE;
    one.c = kept_name(one.c, count->keep);
    if (one.c == NULL)
        return fault_no_memory(fault, "times of a run");
    out->slow_count += out->slow_count < TIMINGS_SLOWEST;
    memmove(&out->slowest[at + 1], &out->slowest[at],
            (out->slow_count - at - 1) * sizeof out->slowest[0]);
    out->slowest[at] = one;
    return ERR_NONE;
}

static uint32_t count_stacks(const struct run_case *c)
{
    uint32_t stacks = 0;
    for (uint32_t i = 0; i < c->result.score_count; i++)
        stacks += timings_has_stack(&c->result.scores[i]);
    return stacks;
}

static enum status add_stacks(struct timings_count *count, const struct run_case *c,
                              struct fault *fault)
{
    struct timings *out = count->out;
    const uint32_t stacks = count_stacks(c);
    if (stacks == 0)
        return ERR_NONE;
    uint64_t *ids = arena_reserve(count->keep, out->case_ids, &out->case_room,
                                  (uint64_t)out->case_count + 1, sizeof *ids);
    if (ids == NULL)
        return fault_no_memory(fault, "times of a run");
    out->case_ids = ids;
    out->case_ids[out->case_count++] = c->id;
    out->stacks += stacks;
    return ERR_NONE;
}

enum status timings_add(struct timings_count *count, const struct run_case *c, struct fault *fault)
{
    uint64_t row[ROW_WORDS];
    memset(row, 0, count->rows.words * sizeof *row);
    row[0] = c->arch;
    for (size_t i = 0; i < TIMINGS_CAPTURE; i++)
        if (capture_rows[i].bytes || !c->timing.crowded)
            row[CAPTURE_WORD + i] = number_at(&c->timing, capture_rows[i].offset);
    for (uint32_t e = 0; e < count->out->engine_count; e++) {
        const struct engine_total *engine = &count->engines[e];
        uint64_t *words = &row[engine_word(e)];
        if (!case_is_timed(c, engine->engine))
            continue;
        const struct engine_cost *cost = &case_claim(c, engine->engine)->cost;
        words[0] = cost->total_ns;
        for (size_t i = 0; i < TIMINGS_PARTS; i++)
            words[1 + i] = number_at(cost, part_rows[i].offset);
        const struct timings_slow slow = {c, engine->engine, cost->total_ns,
                                          case_score(c, engine->engine)->frames};
        if (engine->subject && add_slow(count, slow, fault) != ERR_NONE)
            return fault->code;
    }
    if (add_stacks(count, c, fault) != ERR_NONE)
        return fault->code;
    return sample_set_add(&count->rows, row, fault);
}

struct columns {
    uint64_t *archs, *raw;
    double *numbers;
    struct fault *fault;
};

/* The numbers of a column that are not 0, of the cases of ARCH. */
static struct measurement spread_at(struct timings_count *count, enum cpu arch, size_t word,
                                    struct columns *c)
{
    size_t used = 0;
    if (sample_set_column(&count->rows, (int)(word * sizeof *c->raw), c->raw, c->fault) == ERR_NONE)
        for (uint32_t i = 0; i < count->rows.count; i++)
            if (c->raw[i] != 0 && c->archs[i] == (uint64_t)arch)
                c->numbers[used++] = (double)c->raw[i];
    return measurement_of_cases(c->numbers, used);
}

static void fill_rows(struct timings_count *count, enum cpu arch, size_t word,
                      const struct source *sources, size_t rows, struct columns *c,
                      struct timings_row *out)
{
    for (size_t i = 0; i < rows; i++) {
        out[i] = row_of(&sources[i]);
        out[i].measured = spread_at(count, arch, word + i, c);
    }
}

static void fill_engine(struct timings_count *count, enum cpu arch, uint32_t at, struct columns *c,
                        struct timings_engine *out)
{
    const struct engine_total *of = &count->engines[at];
    *out = (struct timings_engine){.engine = of->engine, .kind = of->kind, .subject = of->subject};
    out->total = spread_at(count, arch, engine_word(at), c);
    fill_rows(count, arch, engine_word(at) + 1, part_rows, TIMINGS_PARTS, c, out->parts);
}

static void fill_set(struct timings_count *count, const struct run_figures *figures,
                     struct columns *c, struct timings_set *out)
{
    uint32_t placed = 0;
    const uint32_t engines = count->out->engine_count;
    out->engines = ARENA_ARRAY(count->keep, (size_t)engines + 1, struct timings_engine);
    if (out->engines == NULL)
        (void)fault_no_memory(c->fault, "times of a run");
    fill_rows(count, out->arch, CAPTURE_WORD, capture_rows, TIMINGS_CAPTURE, c, out->capture);
    for (uint32_t i = 0; out->engines != NULL && i < figures->engine_count; i++)
        for (uint32_t k = 0; k < engines; k++)
            if (strcmp(count->engines[k].engine, figures->engines[i].engine) == 0)
                fill_engine(count, out->arch, k, c, &out->engines[placed++]);
}

enum status timings_end(struct timings_count *count, const struct run_figures *figures,
                        struct fault *fault)
{
    struct timings *out = count->out;
    const struct processors *processors = &figures->processors;
    const size_t room = (size_t)count->rows.count + 1;
    struct columns c = {.archs = calloc(room, sizeof *c.archs),
                        .raw = malloc(room * sizeof *c.raw),
                        .numbers = malloc(room * sizeof *c.numbers),
                        .fault = fault};
    const bool has_room = c.archs != NULL && c.raw != NULL && c.numbers != NULL;
    if (has_room)
        (void)sample_set_column(&count->rows, 0, c.archs, fault);
    else
        (void)fault_no_memory(fault, "times of a run");
    while (has_room && fault->code == ERR_NONE &&
           (out->set_count == 0 || out->set_count < processors->count)) {
        struct timings_set *set = &out->sets[out->set_count];
        set->arch = processors->of[out->set_count++];
        fill_set(count, figures, &c, set);
    }
    free(c.archs);
    free(c.raw);
    free(c.numbers);
    sample_set_free(&count->rows);
    return fault->code;
}

enum status timings_read_case(const struct run_figures *figures, uint64_t case_id,
                              struct arena *keep, struct run_case *out, struct fault *fault)
{
    return store_read_parts(figures->store, case_id, CASE_SCORES, keep, out, fault);
}

bool timings_has_stack(const struct engine_score *score)
{
    return score->state == STACK_OK && score->frames > 0;
}

/* ---- samples of a bench --------------------------------------------------------------- */

/* Those that belong together: their numbers, and where a picture has them. */
struct group {
    enum bench_lane lane;
    enum bench_stage stage;
    bool cold;
    struct measurement measured;
};

static bool is_in(const struct group *group, const struct bench_sample *sample)
{
    return group->lane == sample->lane && group->stage == sample->stage &&
           group->cold == sample->cold;
}

/* In the order of the first sample of each. Fails: ERR_MEMORY. */
static enum status make_groups(const struct bench_sample *samples, uint32_t count,
                               struct arena *keep, struct group **out, uint32_t *out_count,
                               struct fault *fault)
{
    enum { MOST = (LANE_OTHER + 1) * (STAGE_OTHER + 1) * 2 };
    double *numbers = ARENA_ARRAY(keep, (size_t)count + 1, double);
    *out_count = 0;
    *out = ARENA_ARRAY(keep, MOST, struct group);
    if (numbers == NULL || *out == NULL)
        return fault_no_memory(fault, "samples of a bench");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < *out_count && !is_in(&(*out)[at], &samples[i]))
            at++;
        if (at == *out_count)
            (*out)[(*out_count)++] = (struct group){
                .lane = samples[i].lane, .stage = samples[i].stage, .cold = samples[i].cold};
    }
    for (uint32_t g = 0; g < *out_count; g++) {
        size_t used = 0;
        for (uint32_t i = 0; i < count; i++)
            if (is_in(&(*out)[g], &samples[i]))
                numbers[used++] = (double)samples[i].ns;
        (*out)[g].measured = measurement_of_cases(numbers, used);
    }
    return ERR_NONE;
}

/* ---- JSON ----------------------------------------------------------------------------- */

/* Trends are of the first processor: IN_TREND. */
static void write_row(struct json *j, const struct timings_row *row, bool in_trend)
{
    enum metric metric;
    json_object(j);
    json_key_string(j, "key", row->key);
    json_key_string(j, "name", row->name);
    json_key_string(j, "unit", row->bytes ? "bytes" : "ns");
    json_key_string(j, "metric", in_trend && metric_parse(row->key, &metric) ? row->key : NULL);
    measurement_write_json(j, &row->measured);
    json_object_end(j);
}

static void write_engine(struct json *j, const struct timings_engine *engine, bool in_trend)
{
    const bool is_offset = strcmp(engine->engine, ENGINE_NAME_OFFSET) == 0;
    const bool is_way = is_offset || strcmp(engine->engine, ENGINE_NAME_DUMP) == 0;
    json_object(j);
    json_key_string(j, "engine", engine->engine);
    json_key_string(j, "kind", engine_kind_name(engine->kind));
    json_key_bool(j, "subject", engine->subject);
    json_key_string(j, "metric",
                    in_trend && is_way ? metric_name(is_offset ? METRIC_OFFSET : METRIC_DUMP)
                                       : NULL);
    measurement_write_json(j, &engine->total);
    json_key_array(j, "parts");
    for (size_t i = 0; i < TIMINGS_PARTS; i++)
        write_row(j, &engine->parts[i], in_trend);
    json_array_end(j);
    json_object_end(j);
}

static void write_set(struct json *j, const struct timings *timings, uint32_t at)
{
    const struct timings_set *set = &timings->sets[at];
    json_key_string(j, "arch", cpu_name(set->arch));
    json_key_array(j, "capture");
    for (size_t i = 0; i < TIMINGS_CAPTURE; i++)
        write_row(j, &set->capture[i], at == 0);
    json_array_end(j);
    json_key_array(j, "engines");
    for (uint32_t i = 0; i < timings->engine_count; i++)
        write_engine(j, &set->engines[i], at == 0);
    json_array_end(j);
}

void timings_write_json(struct json *j, const struct run_figures *figures)
{
    headline_write_members(j, figures);
    write_set(j, figures->timings, 0);
    json_key_array(j, "others");
    for (uint32_t i = 1; i < figures->timings->set_count; i++) {
        json_object(j);
        write_set(j, figures->timings, i);
        json_object_end(j);
    }
    json_array_end(j);
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
    struct group *groups = NULL;
    uint32_t group_count = 0;
    if (make_groups(samples, count, keep, &groups, &group_count, fault) != ERR_NONE)
        return fault->code;
    json_array(j);
    for (uint32_t i = 0; i < group_count; i++) {
        json_object(j);
        json_key_string(j, "subject", bench_lane_name(groups[i].lane));
        json_key_string(j, "kind", engine_kind_name(lane_kinds[groups[i].lane]));
        json_key_string(j, "stage", bench_stage_name(groups[i].stage));
        json_key_bool(j, "cold", groups[i].cold);
        measurement_write_json(j, &groups[i].measured);
        json_object_end(j);
    }
    json_array_end(j);
    return ERR_NONE;
}
