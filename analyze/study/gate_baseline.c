/* What a run lost, or does worse, since the baseline: see gate.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "compare/run_diff.h"
#include "compare/statistics.h"
#include "study/gate_check.h"
#include "study/lanes.h"
#include "study/selection.h"

struct sides {
    struct gate_session *s;
    const struct run_side *before, *now;
    const struct run_diff *diff;
};

/* ---- what is lost ----------------------------------------------------------------------- */

/* How many cases lost something, and how many of those may. */
struct loss {
    uint32_t cases, allowed;
};

typedef bool loss_fn(const struct diff_row *row, unsigned what);

static bool is_same_case(const struct diff_case *x, const struct diff_case *y)
{
    return strcmp(x->scenario, y->scenario) == 0 && strcmp(x->variant, y->variant) == 0;
}

/* Counts cases, not their repeats, which are adjacent. */
static enum status count_losses(const struct sides *d, loss_fn *is_lost, unsigned what,
                                struct loss *out, struct fault *fault)
{
    const char *expr = d->s->request->allow_missing;
    const struct diff_case *last = NULL;
    *out = (struct loss){0, 0};
    for (uint32_t i = 0; i < d->diff->row_count; i++) {
        const struct diff_row *row = &d->diff->rows[i];
        bool may = false;
        if (!is_lost(row, what) || (last != NULL && is_same_case(last, row->a)))
            continue;
        last = row->a;
        if (expr != NULL && selection_matches(expr, row->a, &may, fault) != ERR_NONE)
            return fault->code;
        out->cases += !may;
        out->allowed += may;
    }
    return ERR_NONE;
}

static bool is_gone(const struct diff_row *row, unsigned what)
{
    (void)what;
    return row->group == DIFF_GONE && row->counts;
}

/* How much a verdict says: nothing, that the program died as expected, or whether stacks are right.
 */
static int weight_of(enum verdict v)
{
    if (v == VERDICT_UNSUPPORTED)
        return 0;
    return v == VERDICT_NOT_CAPTURED_AS_EXPECTED ? 1 : 2;
}

static bool is_judged_no_more(const struct diff_row *row, unsigned what)
{
    (void)what;
    return row->a != NULL && row->b != NULL &&
           weight_of(row->b->verdict) < weight_of(row->a->verdict);
}

static bool has_lost(const struct diff_row *row, unsigned what)
{
    return row->a != NULL && row->b != NULL && weight_of(row->b->verdict) == 2 &&
           (row->a->has & what) != 0 && (row->b->has & what) == 0;
}

/* A case that is gone cannot fail: if the gate ignored that, losing cases would open it. */
static enum status check_gone(const struct sides *d, struct fault *fault)
{
    const struct run_selection *now = &d->now->info.selection;
    struct loss loss;
    const char *part = "";
    if (now->shard_count > 0)
        part = arena_printf(d->s->keep,
                            " (part %u of %u: `twinstack db merge` makes one run of the parts)",
                            now->shard, now->shard_count);
    if (count_losses(d, is_gone, 0, &loss, fault) != ERR_NONE)
        return fault->code;
    gate_add(d->s, "cases gone", loss.cases == 0,
             "%u gone since run %" PRIu64 ", beside %u allowed by --allow-missing and %u that this "
             "run was not asked for%s",
             loss.cases, d->before->info.id, loss.allowed, d->diff->counts[DIFF_NOT_SELECTED],
             text_or_empty(part));
    return ERR_NONE;
}

/* Names the builds that this host lacks as a whole. */
static void add_lost_builds(const struct sides *d, bool may)
{
    const char *lost = lanes_lost(d->diff, d->s->keep);
    if (lost != NULL)
        gate_add(d->s, "builds", may, "run %" PRIu64 " ran these builds, and this one did not: %s",
                 d->before->info.id, lost);
}

static enum status check_losses(const struct sides *d, struct fault *fault)
{
    static const struct {
        const char *name, *text;
        loss_fn *is_lost;
        unsigned what;
    } losses[] = {
        {"cases judged", "UNSUPPORTED or not captured now, and judged in", is_judged_no_more, 0},
        {"truth", "without the truth that they have in", has_lost, DIFF_HAS_TRUTH},
        {ENGINE_NAME_OFFSET, "without the stack that they have in", has_lost, DIFF_HAS_OFFSET},
        {ENGINE_NAME_DUMP, "without the stack that they have in", has_lost, DIFF_HAS_DUMP},
    };
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        struct loss loss;
        if (count_losses(d, losses[i].is_lost, losses[i].what, &loss, fault) != ERR_NONE)
            return fault->code;
        if (i == 0 || loss.cases + loss.allowed > 0)
            gate_add(d->s, losses[i].name, loss.cases == 0,
                     "%u %s run %" PRIu64 ", beside %u allowed by --allow-missing", loss.cases,
                     losses[i].text, d->before->info.id, loss.allowed);
        if (i == 0)
            add_lost_builds(d, loss.cases == 0);
    }
    return ERR_NONE;
}

/* ---- what fails ------------------------------------------------------------------------- */

static bool fails_otherwise(const struct diff_row *row)
{
    return row->group == DIFF_CHANGED && run_verdict_fails(row->b->verdict) &&
           !text_equal(row->a->signature, row->b->signature);
}

/* The same case with another failure is new, too. */
static void check_failures(const struct sides *d)
{
    const struct run_diff *diff = d->diff;
    const uint64_t most = d->s->request->max_new;
    const struct diff_case *last = NULL;
    uint32_t otherwise = 0;
    for (uint32_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (!fails_otherwise(row) || (last != NULL && is_same_case(last, row->a)))
            continue;
        last = row->a;
        otherwise++;
    }
    gate_add(d->s, "new failures", diff->counts[DIFF_NEW] + otherwise <= most,
             "%u new since run %" PRIu64 ", at most %" PRIu64
             " allowed (%u fixed, %u still failing%s)",
             diff->counts[DIFF_NEW] + otherwise, d->before->info.id, most, diff->counts[DIFF_FIXED],
             diff->counts[DIFF_STILL],
             otherwise == 0 ? ""
                            : text_or_empty(arena_printf(
                                  d->s->keep, "; %u failed before, in another way", otherwise)));
}

static int by_case(const void *x, const void *y)
{
    const struct diff_case *a = *(const struct diff_case *const *)x;
    const struct diff_case *b = *(const struct diff_case *const *)y;
    const int order = strcmp(a->scenario, b->scenario);
    return order != 0 ? order : strcmp(a->variant, b->variant);
}

/* The cases of SIDE that pass only by acceptance, sorted; NULL: out of memory. */
static const struct diff_case **accepted_of(const struct diff_side *side, struct arena *keep,
                                            uint32_t *count)
{
    const struct diff_case **out =
        ARENA_ARRAY(keep, (size_t)side->count + 1, const struct diff_case *);
    *count = 0;
    for (uint32_t i = 0; out != NULL && i < side->count; i++)
        if (side->cases[i].verdict == VERDICT_XFAIL)
            out[(*count)++] = &side->cases[i];
    if (out != NULL)
        array_sort(out, *count, sizeof *out, by_case);
    return out;
}

/* Every repeat counts, as in the verdicts. */
static enum status check_acceptances(const struct sides *d, struct fault *fault)
{
    const uint32_t then = d->before->info.verdicts[VERDICT_XFAIL];
    const uint32_t now = d->now->info.verdicts[VERDICT_XFAIL];
    const uint64_t asked = d->s->request->max_accepted;
    const uint64_t most = asked == GATE_ACCEPTED_OF_BASELINE ? then : asked;
    uint32_t added = 0, was_count, is_count;
    const struct diff_case **was = accepted_of(&d->before->side, d->s->keep, &was_count);
    const struct diff_case **is = accepted_of(&d->now->side, d->s->keep, &is_count);
    if (was == NULL || is == NULL)
        return fault_no_memory(fault, "acceptances");
    for (uint32_t i = 0, at = 0; i < is_count; i++) {
        while (at < was_count && by_case(&was[at], &is[i]) < 0)
            at++;
        added += at == was_count || !is_same_case(was[at], is[i]);
    }
    if (now + then > 0 || asked != GATE_ACCEPTED_OF_BASELINE)
        gate_add(d->s, "accepted", now <= most,
                 "%u cases pass only by acceptance, %u of them new since run %" PRIu64
                 ", at most %" PRIu64 " allowed (--max-accepted)",
                 now, added, d->before->info.id, most);
    return ERR_NONE;
}

/* ---- the baseline itself ---------------------------------------------------------------- */

/* The symbols that named most frames of MODULE; false: it has none of them. */
static bool symbols_of(const struct run_side *side, const char *module, enum symbols_from *out)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < side->symbol_count; i++)
        if (text_equal_nocase(side->symbols[i].module, module) && side->symbols[i].frames > most) {
            most = side->symbols[i].frames;
            *out = side->symbols[i].symbols;
        }
    return most > 0;
}

static void check_symbols(const struct sides *d)
{
    const char *last = NULL;
    for (uint32_t i = 0; i < d->now->symbol_count; i++) {
        const char *module = d->now->symbols[i].module;
        enum symbols_from then = SYMBOLS_NONE, now = SYMBOLS_NONE;
        if (module == NULL || (last != NULL && text_equal(last, module)) ||
            !symbols_of(d->before, module, &then) || !symbols_of(d->now, module, &now) ||
            then == now)
            continue;
        last = module;
        gate_add(d->s, "symbols", !d->s->request->strict, "%s: %s in run %" PRIu64 ", %s now",
                 module, symbols_from_name(then), d->before->info.id, symbols_from_name(now));
    }
}

static const char *known_text(const char *text)
{
    return text != NULL ? text : "(unknown)";
}

static void check_before(const struct sides *d)
{
    const struct run_info *before = &d->before->info;
    uint32_t failing = 0, common = 0, added = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        failing += run_verdict_fails((enum verdict)v) ? before->verdicts[v] : 0;
    for (uint32_t i = 0; i < d->diff->row_count; i++) {
        common += d->diff->rows[i].a != NULL && d->diff->rows[i].b != NULL;
        added += d->diff->rows[i].a == NULL;
    }
    if (before->state != RUN_COMPLETE)
        gate_add(d->s, "baseline", false, "run %" PRIu64 " is %s", before->id,
                 run_state_name(before->state));
    if (failing > 0)
        gate_add(d->s, "baseline", true, "run %" PRIu64 " fails, too: %u of its %u cases",
                 before->id, failing, before->case_count);
    if (added > 0)
        gate_add(d->s, "baseline", true, "run %" PRIu64 " lacks %u of the cases", before->id,
                 added);
    if (common == 0)
        gate_add(d->s, "baseline", false, "run %" PRIu64 " has no case in common with this run",
                 before->id);
    for (uint32_t i = 0; i < d->diff->fact_count; i++) {
        const struct diff_fact *fact = &d->diff->facts[i];
        const bool mixed =
            strcmp(fact->name, DIFF_FACT_WRITER) == 0 && run_diff_mixes_writers(d->diff);
        gate_add(d->s, mixed ? "writer" : "environment", !mixed && !d->s->request->strict,
                 "%s: %s -> %s%s", fact->name, known_text(fact->a), known_text(fact->b),
                 mixed ? ": only runs of the same writer can be compared" : "");
    }
    check_symbols(d);
}

/* ---- times ------------------------------------------------------------------------------ */

/* How many cases of both runs had a time of ENGINE in the baseline. */
static uint32_t timed_before(const struct sides *d, const char *engine)
{
    const struct diff_side *side = &d->before->side;
    uint32_t count = 0;
    for (uint32_t i = 0; i < side->series_count; i++)
        for (uint32_t r = 0; text_equal(side->series[i].engine, engine) && r < d->diff->row_count;
             r++) {
            const struct diff_row *row = &d->diff->rows[r];
            count +=
                row->a != NULL && row->b != NULL && side->series[i].total_ns[row->a->index] > 0;
        }
    return count;
}

/* A limit that was stated never grows. Where the machine's noise is above it, the times cannot be
 * judged, unless they changed by more than the noise. */
static void check_time(const struct sides *d, const struct diff_time *t, double noise)
{
    const bool lenient = !d->s->request->strict;
    const double asked = d->s->request->max_slowdown;
    const double limit = asked > STATISTICS_SMALLEST_EFFECT ? asked : STATISTICS_SMALLEST_EFFECT;
    const struct change_verdict *c = &t->change;
    const char *note = "";
    if (t->cases < STATISTICS_MIN_SAMPLES) {
        const uint32_t then = timed_before(d, t->engine);
        const bool lost = then >= STATISTICS_MIN_SAMPLES;
        gate_add(d->s, t->engine, lenient && !lost,
                 lost ? "%u cases have times, and %u of them had some in the baseline"
                      : "no verdict on time: %u samples are too few (of %u in the baseline)",
                 t->cases, then);
        return;
    }
    if (asked < limit)
        note = text_or_empty(
            arena_printf(d->s->keep,
                         " (asked: %.1f %%; less than %.1f %% is never judged, %.1f %% would need "
                         "about %" PRIu64 " samples, and there are %u)",
                         asked * 100, limit * 100, asked * 100,
                         statistics_samples_for(c->spread, asked), t->cases));
    const bool above = c->p < STATISTICS_SIGNIFICANT && c->effect > limit;
    if (noise > limit && (!above || c->effect <= noise))
        gate_add(d->s, t->engine, lenient,
                 "time %+.1f %% cannot be judged: the noise of %.1f %% is above the %.1f %% "
                 "allowed%s",
                 c->effect * 100, noise * 100, limit * 100, note);
    else
        gate_add(d->s, t->engine, !above, "time %+.1f %%, at most %.1f %% allowed, p %.4f%s",
                 c->effect * 100, limit * 100, c->p, note);
}

static void check_times(const struct sides *d, double noise)
{
    for (uint32_t i = 0; i < d->diff->time_count; i++)
        if (d->diff->times[i].subject)
            check_time(d, &d->diff->times[i], noise);
    for (uint32_t i = 0; i < d->before->side.series_count; i++) {
        const struct diff_series *series = &d->before->side.series[i];
        const uint32_t then = series->subject ? timed_before(d, series->engine) : 0;
        bool listed = false;
        for (uint32_t k = 0; k < d->diff->time_count; k++)
            listed |= text_equal(d->diff->times[k].engine, series->engine);
        listed |= text_equal(series->engine, ENGINE_NAME_DUMP) && run_diff_mixes_writers(d->diff);
        if (!listed && then >= STATISTICS_MIN_SAMPLES)
            gate_add(d->s, series->engine, false,
                     "no case has a time, and %u had one in run %" PRIu64, then,
                     d->before->info.id);
    }
}

/* ---- both runs -------------------------------------------------------------------------- */

/* --max-slowdown is about lanes where the user names some. */
static bool limits_engines(const struct gate_request *request)
{
    return !isnan(request->max_slowdown) && request->lane_count == 0;
}

/* The times of the engines only if there is a limit on them: reading and comparing those of many
 * cases takes longer than comparing their verdicts. */
static enum status compare_runs(struct gate_session *s, struct store *store,
                                struct run_side *before, struct difference *out,
                                struct fault *fault)
{
    const bool timed = limits_engines(s->request);
    const enum diff_detail detail = timed ? DIFF_TIMES : DIFF_STACKS;
    struct run_side *now = &s->out->run;
    memset(out, 0, sizeof *out);
    if (study_read_side_before(store, s->request->against, &now->info, detail, s->keep, before,
                               fault) != ERR_NONE ||
        study_read_side_of(store, now->info.id, detail, s->keep, now, fault) != ERR_NONE)
        return fault->code;
    if (!timed)
        return difference_of_verdicts(&before->side, &now->side, s->keep, &out->diff, fault);
    return difference_make(store, &before->side, &now->side, s->request->max_slowdown, s->keep, out,
                           fault);
}

enum status gate_check_baseline(struct gate_session *s, struct store *store, struct fault *fault)
{
    struct run_side before;
    struct difference compared;
    const struct sides d = {s, &before, &s->out->run, &compared.diff};
    if (s->request->against == NULL)
        return ERR_NONE;
    if (compare_runs(s, store, &before, &compared, fault) != ERR_NONE)
        return fault->code;
    s->out->ratio_before = before.ratio;
    s->out->run_before = before.info.id;
    check_before(&d);
    check_failures(&d);
    if (check_gone(&d, fault) != ERR_NONE || check_losses(&d, fault) != ERR_NONE)
        return fault->code;
    if (check_acceptances(&d, fault) != ERR_NONE)
        return fault->code;
    if (limits_engines(s->request))
        check_times(&d, compared.limits.measured);
    return s->request->lane_count > 0
               ? gate_check_lanes(s, store, &before.info, &compared.diff, fault)
               : ERR_NONE;
}
