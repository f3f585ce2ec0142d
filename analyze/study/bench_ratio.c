/* The ratio of a bench and how sure it is: see bench.h.
 *
 * Two things vary: the cases, and the process, whose memory lies elsewhere each time: of 20 equal
 * benches on a quiet machine one gave 23.5 : 1 and the others 9.5 to 11.3. The ratio is the median
 * of those of the processes. Its interval joins both, as independent errors of its logarithm: that
 * of the cases by bootstrap over scenarios in one process (the narrowest would be luck, so the
 * median), that of the processes by Student's t. For example: 10.0 [9.8, 10.2] over cases is 2 %,
 * five processes whose ratios have a standard deviation of 4 % add 2.78 * 4 % / sqrt(5) = 5 %,
 * together 5.4 %, and for another bench the root of two more: [9.3, 10.8]. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/quantile.h"
#include "compare/bootstrap.h"
#include "study/bench.h"
#include "study/samples.h"
#include "study/speed.h"

struct pairs {
    struct ratio_pair *pairs;
    uint64_t *units, *scenarios;
    double *numbers;
    size_t count;
};

static void take_pairs(const struct bench *bench, enum cpu arch, bool cold, uint32_t process,
                       struct pairs *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < bench->cost_count; i++) {
        const struct bench_case *c = &bench->costs[i];
        struct figure_sample named;
        if (c->process != process || c->cold != cold || c->arch != arch || c->ns[LANE_DUMP] == 0 ||
            c->ns[LANE_OFFSET] == 0)
            continue;
        sample_name(c->scenario, c->variant, c->arch, c->kind, &named);
        out->units[out->count] = named.unit;
        out->scenarios[out->count] = named.scenario;
        out->pairs[out->count++] = (struct ratio_pair){.a = (double)c->ns[LANE_DUMP],
                                                       .b = (double)c->ns[LANE_OFFSET],
                                                       .stratum = named.stratum,
                                                       .group = named.scenario};
    }
}

/* The 97.5 % point of Student's t. */
static double student(size_t degrees)
{
    static const double points[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
    return degrees > 0 && degrees <= COUNT_OF(points) ? points[degrees - 1] : 2.23;
}

/* Half the width of the 95 % interval for the mean of COUNT logarithms. */
static double half_width(const double *logs, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += logs[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    return student(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
}

/* LOGS are the ratios of the processes, WIDTHS half the widths over cases. */
static struct interval join(double *logs, double *widths, size_t count)
{
    const double middle = quantile_median(logs, count);
    const struct interval none = {(double)NAN, exp(middle), (double)NAN};
    if (count < 2 || isnan(widths[0]))
        return none;
    const double cases = quantile_median(widths, count), processes = half_width(logs, count);
    const double half = sqrt(cases * cases + processes * processes);
    return ratio_of_another((struct interval){exp(middle - half), exp(middle), exp(middle + half)});
}

static uint32_t count_processes(const struct bench *bench)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bench->cost_count; i++)
        if (bench->costs[i].process >= count)
            count = bench->costs[i].process + 1;
    return count;
}

/* The ratio of one process; without an interval unless SURE. */
static struct interval ratio_of_process(struct pairs *p, bool sure)
{
    if (sure) {
        (void)ratio_pairs_sort(p->pairs, p->count);
        return ratio_pairs_bootstrap(p->pairs, p->count);
    }
    double medians[2];
    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < p->count; i++)
            p->numbers[i] = way == 0 ? p->pairs[i].a : p->pairs[i].b;
        medians[way] = quantile_median(p->numbers, p->count);
    }
    return (struct interval){(double)NAN, medians[0] / medians[1], (double)NAN};
}

/* False: the processor has no case. */
static bool ratio_of(const struct bench *bench, enum cpu arch, bool cold, bool sure,
                     struct pairs *p, struct bench_ratio *out)
{
    double logs[BENCH_PROCESSES_MAX], widths[BENCH_PROCESSES_MAX];
    const uint32_t processes = count_processes(bench);
    *out = (struct bench_ratio){.arch = arch};
    for (uint32_t i = 0; i < processes && i < BENCH_PROCESSES_MAX; i++) {
        take_pairs(bench, arch, cold, i, p);
        if (p->count == 0)
            continue;
        out->cases = sample_distinct(p->units, p->count);
        out->scenarios = sample_distinct(p->scenarios, p->count);
        const struct interval one = ratio_of_process(p, sure);
        logs[out->processes] = log(one.value);
        widths[out->processes++] = log(one.high / one.low) / 2;
    }
    if (out->processes == 0)
        return false;
    out->ratio = join(logs, widths, out->processes);
    if (sample_state(out->cases, out->scenarios) != SAMPLE_ENOUGH)
        out->ratio.low = out->ratio.high = (double)NAN;
    return true;
}

/* False: no memory. */
static bool make_room(const struct bench *bench, struct arena *keep, struct pairs *out)
{
    const size_t room = (size_t)bench->cost_count + 1;
    *out = (struct pairs){.pairs = ARENA_ARRAY(keep, room, struct ratio_pair),
                          .units = ARENA_ARRAY(keep, room, uint64_t),
                          .scenarios = ARENA_ARRAY(keep, room, uint64_t),
                          .numbers = ARENA_ARRAY(keep, room, double)};
    return out->pairs != NULL && out->units != NULL && out->scenarios != NULL &&
           out->numbers != NULL;
}

enum status bench_ratios(const struct bench *bench, bool cold, struct arena *keep,
                         struct bench_ratio out[CPU_COUNT], uint32_t *count, struct fault *fault)
{
    struct pairs p;
    *count = 0;
    if (!make_room(bench, keep, &p))
        return fault_no_memory(fault, "bench");
    for (int i = 0; i < CPU_COUNT; i++)
        *count += ratio_of(bench, cpu_order[i], cold, true, &p, &out[*count]);
    return ERR_NONE;
}

double bench_ratio_value(const struct bench *bench, bool cold, struct arena *keep, enum cpu *arch)
{
    struct pairs p;
    struct bench_ratio one;
    const bool room = make_room(bench, keep, &p);
    for (int i = 0; room && i < CPU_COUNT; i++) {
        *arch = cpu_order[i];
        if (ratio_of(bench, *arch, cold, false, &p, &one))
            return one.ratio.value;
    }
    return (double)NAN;
}
