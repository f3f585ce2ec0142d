/* What a bench found: stages, medians, intervals, verdicts.  See bench.h. */
#include "verbs/bench.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "report/figures.h"

/* ---- in the dying process ------------------------------------------------------------- */

struct capture_stage {
    const char *name, *key;
    size_t offset,
        dump; /* in struct case_timing, of either way; NONE: that way has no such stage */
    bool bytes;
};

#define NONE SIZE_MAX
static const struct capture_stage capture_stages[] = {
    {"capture walk", "walk_ns", offsetof(struct case_timing, walk_ns), NONE, false},
    {"suspension", "suspension_ns", offsetof(struct case_timing, stop_walk_ns),
     offsetof(struct case_timing, stop_dump_ns), false},
    {"write", "write_ns", offsetof(struct case_timing, record_write_ns),
     offsetof(struct case_timing, dump_write_ns), false},
    {"bytes a report", "bytes", offsetof(struct case_timing, record_bytes),
     offsetof(struct case_timing, dump_bytes), true},
};

enum { CAPTURE_STAGES = sizeof capture_stages / sizeof capture_stages[0] };

struct sized {
    size_t count;
    struct interval median;
};

static struct sized capture_of(const struct bench_result *bench, size_t offset, struct arena *keep)
{
    const double unknown = (double)NAN;
    struct sized out = {0, {unknown, unknown, unknown}};
    double *values = ARENA_ARRAY(keep, (size_t)bench->case_count + 1, double);
    double *scratch = ARENA_ARRAY(keep, (size_t)bench->case_count + 2, double);
    for (uint32_t i = 0; offset != NONE && values != NULL && i < bench->case_count; i++) {
        uint64_t value = 0;
        memcpy(&value, (const char *)&bench->timings[i] + offset, sizeof value);
        if (value > 0)
            values[out.count++] = (double)value;
    }
    if (out.count > 0 && scratch != NULL)
        out.median = statistics_median_interval(values, out.count, 1, scratch);
    return out;
}

/* "1.2 ms [1.1 ms, 1.4 ms]" in WIDTH columns, right of which the next one starts. */
static void print_amount(const struct interval *m, bool bytes)
{
    char value[24], low[24], high[24], text[96];
    const char *(*say)(double, char[24]) = bytes ? bytes_text : duration_text;
    if (isnan(m->value)) {
        (void)printf("%10s %-23s", "-", "");
        return;
    }
    (void)snprintf(text, sizeof text, "[%s, %s]", say(m->low, low), say(m->high, high));
    const char *median = say(m->value, value);
    /* printf counts bytes: µ is two of them, and one column. */
    int more = 0, wide = 0;
    for (const char *at = median; *at != 0; at++)
        more += ((unsigned char)*at & 0xC0) == 0x80;
    for (const char *at = text; *at != 0; at++)
        wide += ((unsigned char)*at & 0xC0) == 0x80;
    (void)printf("%*s %-*s", 10 + more, median, 23 + wide, text);
}

static void print_head(const char *what, const char *more)
{
    (void)printf("\n%s\n  %-16s %10s %-23s%10s %-23s%s\n", what, "", "offset", "95 %", "dump",
                 "95 %", more);
}

static void print_stage(const char *name, const struct interval *offset,
                        const struct interval *dump, bool bytes)
{
    (void)printf("  %-16s ", name);
    print_amount(offset, bytes);
    print_amount(dump, bytes);
    if (offset->value > 0 && dump->value > 0)
        (void)printf("%9.2f", dump->value / offset->value);
    (void)putchar('\n');
}

void bench_print_capture(const struct bench_result *bench, struct arena *keep)
{
    char head[96];
    (void)snprintf(head, sizeof head, "IN THE DYING PROCESS, medians of %u cases",
                   bench->case_count);
    print_head(head, "dump : offset");
    for (size_t i = 0; i < CAPTURE_STAGES; i++) {
        const struct capture_stage *s = &capture_stages[i];
        const struct sized offset = capture_of(bench, s->offset, keep);
        const struct sized dump = capture_of(bench, s->dump, keep);
        print_stage(s->name, &offset.median, &dump.median, s->bytes);
    }
}

static void write_interval(struct json *j, const char *key, size_t count, const struct interval *m)
{
    json_key(j, key);
    if (count == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_uint(j, "samples", count);
    json_key_number(j, "median", m->value);
    json_key_number(j, "low", m->low);
    json_key_number(j, "high", m->high);
    json_object_end(j);
}

void bench_write_capture(const struct bench_result *bench, struct arena *keep, struct json *j)
{
    json_object(j);
    for (size_t i = 0; i < CAPTURE_STAGES; i++) {
        const struct capture_stage *s = &capture_stages[i];
        const struct sized offset = capture_of(bench, s->offset, keep);
        const struct sized dump = capture_of(bench, s->dump, keep);
        json_key(j, s->key);
        json_object(j);
        write_interval(j, BENCH_OFFSET, offset.count, &offset.median);
        write_interval(j, BENCH_DUMP, dump.count, &dump.median);
        json_object_end(j);
    }
    json_object_end(j);
}

/* ---- on the back end ------------------------------------------------------------------ */

static const struct {
    const char *name, *stage;
} stages[] = {{"parse", "parse"},
              {"unwind", "unwind"},
              {"load symbols", "load"},
              {"resolve", "resolve"},
              {"total", BENCH_TOTAL}};

enum { STAGES = sizeof stages / sizeof stages[0], WAYS = 2 };

static const char *const ways[WAYS] = {BENCH_OFFSET, BENCH_DUMP};

struct bench_verdict {
    struct bench_series total[WAYS];
    double noise;                     /* today's A/A difference, a share              */
    struct interval ratio;            /* dump : offset                                */
    struct change_verdict dump;       /* the dump way held against the offset way     */
    struct change_verdict then[WAYS]; /* each way against the last bench         */
};

/* The way's medians in earlier benches, and the newest one's samples. */
static size_t read_history(struct store *store, const char *way, bool cold, struct arena *keep,
                           double *medians, struct bench_series *newest)
{
    struct run_page page;
    struct fault fault = FAULT_INIT;
    const struct run_query query = {.label = "bench", .limit = TIME_HISTORY_RUNS};
    size_t count = 0;
    if (store == NULL || store_list_runs(store, &query, keep, &page, &fault) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < page.count; i++) {
        struct bench_sample *samples = NULL;
        uint32_t n = 0;
        if (store_read_samples(store, page.runs[i].id, keep, &samples, &n, &fault) != ERR_NONE)
            return count;
        const struct bench_series s = bench_series_of(samples, n, way, BENCH_TOTAL, cold, keep);
        if (s.count == 0)
            continue;
        if (count == 0)
            *newest = s;
        medians[count++] = s.median.value;
    }
    return count;
}

static struct bench_verdict judge(const struct bench_result *bench, bool cold, struct arena *keep)
{
    struct bench_verdict v;
    const struct bench_series control = bench_series_of(bench->samples, bench->sample_count,
                                                        BENCH_CONTROL, BENCH_TOTAL, cold, keep);
    double *work = ARENA_ARRAY(keep, (size_t)bench->sample_count * 2 + TIME_HISTORY_RUNS, double);
    memset(&v, 0, sizeof v);
    for (int w = 0; w < WAYS; w++)
        v.total[w] =
            bench_series_of(bench->samples, bench->sample_count, ways[w], BENCH_TOTAL, cold, keep);
    if (work == NULL)
        return v;
    const struct bench_series *offset = &v.total[0], *dump = &v.total[1];
    v.noise = fabs(control.median.value / offset->median.value - 1);
    v.ratio = statistics_ratio(dump->values, dump->count, offset->values, offset->count, 1, work);
    v.dump = statistics_change(offset->values, offset->count, dump->values, dump->count, v.noise, 0,
                               work);
    for (int w = 0; w < WAYS; w++) {
        double medians[TIME_HISTORY_RUNS];
        struct bench_series before = {.count = 0};
        const size_t runs = read_history(bench->store, ways[w], cold, keep, medians, &before);
        double *wide =
            ARENA_ARRAY(keep, before.count + v.total[w].count + TIME_HISTORY_RUNS, double);
        if (wide == NULL)
            break;
        const double fence = statistics_fence_share(medians, runs, wide);
        v.then[w] = statistics_change(before.values, before.count, v.total[w].values,
                                      v.total[w].count, v.noise, fence, wide);
    }
    return v;
}

static bool is_slower(const struct bench_verdict *v)
{
    return v->then[0].change == CHANGE_SLOWER || v->then[1].change == CHANGE_SLOWER;
}

static void print_verdict(const struct bench_verdict *v)
{
    const size_t count = v->total[0].count;
    (void)printf("  today's noise (offset against itself): %.1f %%\n", v->noise * 100);
    if (v->dump.change == CHANGE_TOO_FEW)
        (void)printf("  no verdict: %zu samples are too few, %d are needed\n", count,
                     STATISTICS_MIN_SAMPLES);
    else
        (void)printf("  dump : offset = %.2f : 1  [%.2f, %.2f]  p %.2g, threshold %.1f %%: "
                     "the dump way is %s\n",
                     v->ratio.value, v->ratio.low, v->ratio.high, v->dump.p,
                     v->dump.threshold * 100,
                     v->dump.change == CHANGE_NONE ? "as fast" : change_name(v->dump.change));
    for (int w = 0; w < WAYS; w++)
        if (v->then[w].change != CHANGE_TOO_FEW)
            (void)printf("  %s against the last bench: %+.1f %%  p %.2g, threshold %.1f %%: %s\n",
                         ways[w], v->then[w].effect * 100, v->then[w].p, v->then[w].threshold * 100,
                         change_name(v->then[w].change));
}

bool bench_print(const struct bench_result *bench, bool cold, struct arena *keep)
{
    const struct bench_verdict v = judge(bench, cold, keep);
    char head[128];
    (void)snprintf(head, sizeof head,
                   "ON THE BACK END, %s; a stack, medians of %zu rounds over %u cases",
                   cold ? "COLD (symbols opened for every stack)" : "WARM (symbols stay open)",
                   v.total[0].count, bench->case_count);
    print_head(head, "dump : offset");
    for (int i = 0; i < STAGES; i++) {
        const struct bench_series offset = bench_series_of(
            bench->samples, bench->sample_count, BENCH_OFFSET, stages[i].stage, cold, keep);
        const struct bench_series dump = bench_series_of(bench->samples, bench->sample_count,
                                                         BENCH_DUMP, stages[i].stage, cold, keep);
        print_stage(stages[i].name, &offset.median, &dump.median, false);
    }
    print_verdict(&v);
    return is_slower(&v);
}

static void write_change(struct json *j, const char *key, const struct change_verdict *v)
{
    json_key(j, key);
    json_object(j);
    json_key_string(j, "change", change_name(v->change));
    json_key_number(j, "effect", v->effect);
    json_key_number(j, "threshold", v->threshold);
    json_key_number(j, "p", v->p);
    json_object_end(j);
}

bool bench_write(const struct bench_result *bench, bool cold, struct arena *keep, struct json *j)
{
    const struct bench_verdict v = judge(bench, cold, keep);
    json_object(j);
    json_key_bool(j, "cold", cold);
    json_key_uint(j, "samples", v.total[0].count);
    json_key_number(j, "noise", v.noise);
    json_key_number(j, "ratio", v.ratio.value);
    json_key_number(j, "ratio_low", v.ratio.low);
    json_key_number(j, "ratio_high", v.ratio.high);
    write_change(j, "dump_against_offset", &v.dump);
    write_change(j, "offset_against_last", &v.then[0]);
    write_change(j, "dump_against_last", &v.then[1]);
    json_key(j, "stages");
    json_object(j);
    for (int i = 0; i < STAGES; i++) {
        json_key(j, stages[i].stage);
        json_object(j);
        for (int w = 0; w < WAYS; w++) {
            const struct bench_series s = bench_series_of(bench->samples, bench->sample_count,
                                                          ways[w], stages[i].stage, cold, keep);
            write_interval(j, ways[w], s.count, &s.median);
        }
        json_object_end(j);
    }
    json_object_end(j);
    json_object_end(j);
    return is_slower(&v);
}
