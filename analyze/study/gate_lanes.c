/* The limit on times, for the lanes and states that the user names: see gate.h. Their samples and
 * their control, the odd rounds against the even ones, are those of the table of speed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/bootstrap.h"
#include "compare/run_diff.h"
#include "compare/statistics.h"
#include "study/gate_check.h"
#include "study/speed.h"

/* What one run has; times are those of the lane that is judged. */
struct lane_side {
    struct sample_set samples; /* by index of the case, as in a diff_case */
    struct speed speed;
    const char *foreign; /* the engine of WAY_FOREIGN; NULL: none */
    uint64_t *units, *strata, *times;
};

struct lanes {
    struct gate_session *s;
    const struct run_info *baseline;
    const struct run_diff *diff;
    struct lane_side before, now;
    struct ratio_pair *pairs;
    struct arena scratch;
    struct fault *fault;
};

/* ---- samples ---------------------------------------------------------------------------- */

static void take_samples(const struct run_figures *figures, struct lane_side *out,
                         struct fault *fault)
{
    struct case_window w;
    struct figure_sample sample;
    case_window_open(&w, figures, CASE_SCORES, fault);
    sample_sort(w.ids, w.count);
    for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        if (c == NULL)
            break;
        figure_sample_take(c, out->foreign, &sample);
        if (c->ways == NULL) /* an older run: costs of whole claims, which is another measurement */
            memset(sample.ways, 0, sizeof sample.ways);
        (void)sample_set_add(&out->samples, &sample, fault);
    }
    case_window_close(&w);
}

/* One case after the other, so that memory hardly grows with the run. */
static enum status read_samples(struct lanes *l, struct store *store, const struct run_info *run,
                                struct lane_side *out)
{
    struct run_figures figures = {.run = run, .store = store};
    struct engine_total *engines = NULL;
    if (store_total_engines(store, run->id, &l->scratch, &engines, &figures.engine_count,
                            l->fault) != ERR_NONE)
        return l->fault->code;
    figures.engines = engines;
    out->foreign = figures_foreign_engine(&figures);
    take_samples(&figures, out, l->fault);
    const size_t room = (size_t)out->samples.count + 1;
    out->units = ARENA_ARRAY(&l->scratch, room, uint64_t);
    out->strata = ARENA_ARRAY(&l->scratch, room, uint64_t);
    out->times = ARENA_ARRAY(&l->scratch, room, uint64_t);
    if (out->units == NULL || out->strata == NULL || out->times == NULL)
        return fault_no_memory(l->fault, "times of a run");
    speed_of_samples(&figures, &out->samples, &l->scratch, &out->speed);
    (void)sample_set_column(&out->samples, SAMPLE_UNIT, out->units, l->fault);
    return sample_set_column(&out->samples, SAMPLE_STRATUM, out->strata, l->fault);
}

/* The baseline may be in another database. */
static enum status read_before(struct lanes *l, struct store *store)
{
    const char *against = l->s->request->against, *path = NULL, *word = NULL;
    struct store *other = NULL;
    if (strcmp(against, "baseline") != 0)
        study_split_word(against, &l->scratch, &path, &word);
    if (path == NULL)
        return read_samples(l, store, l->baseline, &l->before);
    if (store_open(path, STORE_READ_OLD, &other, l->fault) == ERR_NONE)
        (void)read_samples(l, other, l->baseline, &l->before);
    store_close(other);
    return l->fault->code;
}

/* ---- one lane --------------------------------------------------------------------------- */

enum which { BEFORE, NOW, BOTH };

/* Pairs of the cases of ARCH that both runs have, and that have a time in the runs of WHICH.
 * Returns how many cases these are without their repeats. How one case changes from run to run says
 * nothing about another build of its scenario, so each case is a group. */
static size_t take_pairs(struct lanes *l, enum cpu arch, enum which which, size_t *count)
{
    const struct lane_side *before = &l->before, *now = &l->now;
    *count = 0;
    for (uint32_t i = 0; i < l->diff->row_count; i++) {
        const struct diff_row *row = &l->diff->rows[i];
        if (row->a == NULL || row->b == NULL || row->a->index >= before->samples.count ||
            row->b->index >= now->samples.count)
            continue;
        const uint32_t a = row->a->index, b = row->b->index;
        const uint64_t was = which == NOW ? now->times[b] : before->times[a];
        const uint64_t is = which == BEFORE ? was : now->times[b];
        if (was != 0 && is != 0 && (which == NOW || sample_arch(before->strata[a]) == arch) &&
            (which == BEFORE || sample_arch(now->strata[b]) == arch))
            l->pairs[(*count)++] = (struct ratio_pair){.a = (double)is,
                                                       .b = (double)was,
                                                       .stratum = now->strata[b],
                                                       .group = now->units[b]};
    }
    return ratio_pairs_sort(l->pairs, *count);
}

/* How far a lane may be from itself in the same run, as a share; NaN: not known. */
struct noise {
    double apart;
    bool drifts; /* by more than chance explains */
};

static struct noise noise_of(const struct speed *speed, const struct lane *lane)
{
    for (uint32_t i = 0; i < speed->row_count; i++) {
        const struct speed_row *row = &speed->rows[i];
        const struct interval *c = &row->cells[lane->state].control;
        if (row->arch == lane->arch && row->lane == speed_lane_of(lane->way) && !isnan(c->low))
            return (struct noise){fmax(c->high, 1 / c->low) - 1, c->low > 1 || c->high < 1};
    }
    return (struct noise){(double)NAN, false};
}

static const char *noise_text(const struct lanes *l, const struct noise *n, double limit)
{
    if (n->apart > limit)
        return arena_printf(l->s->keep, "the noise of %.1f %% is above the %.1f %% allowed",
                            n->apart * 100, limit * 100);
    return arena_printf(l->s->keep, "its even and odd rounds differ by up to %.1f %%",
                        n->apart * 100);
}

/* Why ASKED is not judged. The width of the interval of CASES says how much they vary. */
static const char *floor_text(const struct lanes *l, double asked, const struct interval *ratio,
                              size_t cases)
{
    const double spread = (ratio->high - ratio->low) / (2 * 1.96) * sqrt((double)cases);
    return text_or_empty(arena_printf(
        l->s->keep,
        " (asked: %.1f %%; less than %.1f %% is never judged, %.1f %% would need about %" PRIu64
        " cases, and there are %zu)",
        asked * 100, STATISTICS_SMALLEST_EFFECT * 100, asked * 100,
        statistics_samples_for(isnan(spread) ? 0 : spread, asked), cases));
}

/* PAIRS are enough. A limit that was stated never grows. */
static void judge(struct lanes *l, const struct lane *lane, const char *name, size_t cases,
                  size_t count)
{
    const double asked = l->s->request->max_slowdown;
    const double limit = fmax(asked, STATISTICS_SMALLEST_EFFECT);
    const struct interval ratio = ratio_pairs_bootstrap(l->pairs, count);
    const double effect = ratio.value - 1;
    const bool above = effect > limit && !(ratio.low <= 1);
    const struct noise a = noise_of(&l->before.speed, lane), b = noise_of(&l->now.speed, lane);
    const struct noise noise = {fmax(a.apart, b.apart), a.drifts || b.drifts};
    const char *note = "";
    if (asked < limit)
        note = floor_text(l, asked, &ratio, cases);
    if ((noise.drifts || noise.apart > limit) && (!above || effect <= noise.apart))
        gate_add(l->s, name, !l->s->request->strict,
                 "time %+.1f %% cannot be judged: %s, %zu cases%s", effect * 100,
                 text_or_empty(noise_text(l, &noise, limit)), cases, note);
    else
        gate_add(l->s, name, !above,
                 "time %+.1f %%, at most %.1f %% allowed, %+.1f to %+.1f %% with 95 %%, %zu "
                 "cases%s%s",
                 effect * 100, limit * 100, (ratio.low - 1) * 100, (ratio.high - 1) * 100, cases,
                 isnan(noise.apart) ? ", noise not known" : "", note);
}

/* False: no case of both runs has a time of LANE. */
static bool check_lane(struct lanes *l, const struct lane *lane)
{
    const bool lenient = !l->s->request->strict;
    const char *name = text_or_empty(lane_name(lane, l->s->keep));
    size_t count = 0;
    const size_t then = take_pairs(l, lane->arch, BEFORE, &count);
    if (then == 0 && take_pairs(l, lane->arch, NOW, &count) == 0)
        return false;
    const size_t cases = take_pairs(l, lane->arch, BOTH, &count);
    if (lane->way != WAY_OFFSET && run_diff_mixes_writers(l->diff))
        return true; /* which closes the gate */
    if (lane->way == WAY_FOREIGN && cases > 0 && !text_equal(l->before.foreign, l->now.foreign))
        gate_add(l->s, name, lenient, "time cannot be judged: by %s in run %" PRIu64 ", by %s now",
                 l->before.foreign, l->baseline->id, l->now.foreign);
    else if (cases >= MEASUREMENT_LEAST)
        judge(l, lane, name, cases, count);
    else if (then >= MEASUREMENT_LEAST)
        gate_add(l->s, name, false, "%zu cases have times, and %zu had some in run %" PRIu64, cases,
                 then, l->baseline->id);
    else
        gate_add(l->s, name, lenient,
                 "no verdict on time: too few (%zu) cases, %zu in run %" PRIu64 ", and it needs %d",
                 cases, then, l->baseline->id, MEASUREMENT_LEAST);
    return true;
}

/* All processors, and all states unless the user named one. */
static void check_asked(struct lanes *l, const struct lane *asked)
{
    bool found = false;
    for (int state = 0; state < WAY_STATES; state++) {
        struct lane lane = {CPU_UNKNOWN, asked->way, (enum way_state)state};
        const int at = speed_place(speed_lane_of(lane.way), (enum speed_state)state);
        if ((asked->state != WAY_STATES && asked->state != lane.state) ||
            sample_set_column(&l->before.samples, at, l->before.times, l->fault) != ERR_NONE ||
            sample_set_column(&l->now.samples, at, l->now.times, l->fault) != ERR_NONE)
            continue;
        for (int i = 0; i < CPU_COUNT; i++) {
            lane.arch = cpu_order[i];
            if (lane_is(asked, &lane) && check_lane(l, &lane))
                found = true;
        }
    }
    if (!found) /* a limit that never closes the gate would be none */
        gate_add(l->s, lane_way_name(asked->way), false,
                 "no case of both runs has a time of %s%s%s%s%s",
                 asked->arch != CPU_UNKNOWN ? cpu_name(asked->arch) : "",
                 asked->arch != CPU_UNKNOWN ? " " : "", lane_way_name(asked->way),
                 asked->state != WAY_STATES ? ", " : "",
                 asked->state != WAY_STATES ? lane_state_name(asked->state) : "");
}

enum status gate_check_lanes(struct gate_session *s, struct store *store,
                             const struct run_info *baseline, const struct run_diff *diff,
                             struct fault *fault)
{
    struct lanes l = {.s = s, .baseline = baseline, .diff = diff, .fault = fault};
    arena_init(&l.scratch, 0);
    sample_set_init(&l.before.samples, SAMPLE_WORDS);
    sample_set_init(&l.now.samples, SAMPLE_WORDS);
    l.pairs = ARENA_ARRAY(&l.scratch, (size_t)diff->row_count + 1, struct ratio_pair);
    if (l.pairs == NULL)
        (void)fault_no_memory(fault, "times of a run");
    else if (read_before(&l, store) == ERR_NONE &&
             read_samples(&l, store, &s->out->run.info, &l.now) == ERR_NONE)
        for (uint32_t i = 0; i < s->request->lane_count && fault->code == ERR_NONE; i++)
            check_asked(&l, &s->request->lanes[i]);
    sample_set_free(&l.before.samples);
    sample_set_free(&l.now.samples);
    arena_free(&l.scratch);
    return fault->code;
}
