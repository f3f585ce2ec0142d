/* Figures are made in one pass: each case is read once, is added to every tally, and is gone
 * afterwards. A run has the same figures whether its cases come from the database (figures_read)
 * or are in memory (figures_prepare): both end in pass().
 *
 * Before the first case, the sums that the store keeps say which engines there are; after the last
 * one, the samples of all cases become headline, speed and cost. Of a run in the database only the
 * cases that lists show stay in memory: those that fail, deviate, or were not run. Five cases, in
 * the order of the run, of which `dump` gave each stack:
 *
 *   case       verdict      dump is exact  stays            captured  builds of a
 *   a.ob0      PASS         yes            no               1 of 1    1
 *   a.ob2      FAIL         no             it fails         1 of 2    2
 *   b.ob2      UNSUPPORTED  no stack       it was not run   1 of 2    2
 *   c.ob2      XFAIL        no             it deviates      2 of 3    2
 *   a.ob0#2    PASS         yes            no               3 of 4    2, since a repeat is no build
 *
 *   figures    5 cases, 2 PASS; 2 of 4 stacks exact; `cases` has a.ob2, b.ob2 and c.ob2 */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text_pool.h"
#include "compare/known.h"
#include "study/accuracy.h"
#include "study/cost.h"
#include "study/failures.h"
#include "study/figures.h"
#include "study/headline.h"
#include "study/hooks.h"
#include "study/lanes.h"
#include "study/ratio.h"
#include "study/speed.h"
#include "study/timings.h"

/* ---- heads ---------------------------------------------------------------------------- */

/* Begin, add each case, end: sets captures and problems of OUT, whose run is set. */
struct head_count {
    struct run_figures *out;
    struct arena *keep;
    struct known_uses uses;
};

static enum status count_begin(struct head_count *count, struct run_figures *out,
                               struct arena *keep, struct fault *fault)
{
    count->out = out;
    count->keep = keep;
    out->lane_count = 0;
    out->lanes = ARENA_ARRAY(keep, LANES_MAX, struct lane_total);
    if (out->lanes == NULL)
        return fault_no_memory(fault, "builds of a run");
    return known_uses_begin(&count->uses, out->run, keep, fault);
}

ARRAY_ORDER_TEXT(compare_lanes, struct lane_total, variant)

static void count_case(struct head_count *count, const struct run_case *c)
{
    known_uses_add(&count->uses, c);
    count->out->total_cases++;
    count->out->verdicts[c->result.verdict]++;
    lane_add(count->out->lanes, &count->out->lane_count, c, count->keep);
    if (run_case_is_to_capture(c)) {
        count->out->captures_expected++;
        count->out->captured += run_case_is_captured(c);
    }
}

static enum status count_end(struct head_count *count, struct fault *fault)
{
    struct run_figures *out = count->out;
    const char **known = NULL, **all = NULL;
    array_sort(out->lanes, out->lane_count, sizeof *out->lanes, compare_lanes);
    uint32_t known_count = 0;
    if (known_uses_end(&count->uses, count->keep, &known, &known_count, fault) != ERR_NONE)
        return fault->code;
    all = ARENA_ARRAY(count->keep, (size_t)known_count + 1, const char *);
    if (all == NULL)
        return fault_no_memory(fault, "problems of a run");
    out->problem_count = 0;
    if (out->run->state == RUN_RUNNING)
        all[out->problem_count++] = "the run is not over: cases are missing";
    else if (out->run->state != RUN_COMPLETE)
        all[out->problem_count++] =
            arena_printf(count->keep,
                         "the run was interrupted: cases are missing, `twinstack run --resume "
                         "%" PRIu64 "` adds them",
                         out->run->id);
    for (uint32_t i = 0; i < known_count; i++)
        all[out->problem_count++] = arena_printf(count->keep, "known mismatch %s", known[i]);
    out->problems = all;
    return ERR_NONE;
}

/* ---- one pass over the cases ------------------------------------------------------------ */

static bool is_left_out(const struct run_case *c)
{
    return c->result.verdict == VERDICT_ERROR && c->result.score_count == 0;
}

struct reading {
    struct run_figures *out;
    const struct figures_watch *watch; /* NULL: none */
    struct arena *keep;
    struct text_pool texts;
    struct engine_totals totals;
    struct head_count count;
    const char *foreign;
    struct run_case *shown; /* what fails, deviates or is UNSUPPORTED */
    struct sample_set samples;
    struct scenario_builds *builds;
    struct case_sums *sums;
    struct hook_count hooks;
    struct timings_count times;
    struct accuracy_count right;
    uint32_t shown_room, build_room;
    uint32_t build_at; /* where the scenario of the last case is */
    struct fault *fault;
};

static const char *copy_of(struct reading *r, const char *text)
{
    return text != NULL ? text_pool_add(&r->texts, text, strlen(text)) : NULL;
}

static void *grown(struct reading *r, void *items, uint32_t *room, uint32_t count, size_t size)
{
    void *out = arena_reserve(r->keep, items, room, (uint64_t)count + 1, size);
    if (out == NULL)
        (void)fault_no_memory(r->fault, "figures of a run");
    return out;
}

/* The scores, without their reasons, which no list of cases shows. */
static void keep_scores(struct reading *r, const struct run_case *c, struct run_case *kept)
{
    const uint32_t count = c->result.score_count;
    kept->result.scores = ARENA_ARRAY(r->keep, (size_t)count + 1, struct engine_score);
    if (kept->result.scores == NULL) {
        (void)fault_no_memory(r->fault, "figures of a run");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        kept->result.scores[i] = c->result.scores[i];
        kept->result.scores[i].engine = copy_of(r, c->result.scores[i].engine);
        kept->result.scores[i].apart = case_is_apart(c, c->result.scores[i].engine);
        kept->result.scores[i].reason = NULL;
    }
    kept->result.score_count = count;
}

static const char *copy_text(void *context, const char *text)
{
    return copy_of(context, text);
}

/* The finding that decides the case, and an independent one: groups of failing cases are made of
 * them. */
static void keep_deciding(struct reading *r, const struct run_case *c, struct run_case *kept)
{
    const struct finding *findings[FINDINGS_DECIDING];
    findings_deciding(c->result.findings, c->result.finding_count, c->result.reason, findings);
    uint32_t count = 0;
    while (count < COUNT_OF(findings) && findings[count] != NULL)
        count++;
    struct finding *copies = count > 0 ? ARENA_ARRAY(r->keep, count, struct finding) : NULL;
    if (count > 0 && copies == NULL)
        (void)fault_no_memory(r->fault, "figures of a run");
    for (uint32_t i = 0; copies != NULL && i < count; i++)
        copies[i] = finding_copy(findings[i], copy_text, r);
    if (copies != NULL) {
        kept->result.findings = copies;
        kept->result.finding_count = count;
    }
}

static void keep_shown(struct reading *r, const struct run_case *c)
{
    struct run_case *rows =
        grown(r, r->shown, &r->shown_room, r->out->case_count, sizeof *r->shown);
    if (rows == NULL)
        return;
    r->shown = rows;
    struct run_case *kept = &rows[r->out->case_count++];
    kept->id = c->id;
    kept->run_id = c->run_id;
    kept->scenario = copy_of(r, c->scenario);
    kept->variant = copy_of(r, c->variant);
    kept->arch = c->arch;
    kept->kind = c->kind;
    kept->repeat = c->repeat;
    kept->folder = copy_of(r, c->folder);
    kept->known_id = copy_of(r, c->known_id);
    kept->result.verdict = c->result.verdict;
    kept->result.reason = copy_of(r, c->result.reason);
    kept->result.right = copy_of(r, c->result.right);
    kept->result.signature = copy_of(r, c->result.signature);
    keep_deciding(r, c, kept);
    keep_scores(r, c, kept);
}

/* Cases come in the order of their scenarios, so the search goes on where the last one ended. */
static struct scenario_builds *find_build(struct reading *r, const char *scenario, bool is_new)
{
    for (uint32_t i = 0; !is_new && i < r->out->build_count; i++) {
        const uint32_t at = (r->build_at + i) % r->out->build_count;
        if (r->builds[at].scenario == scenario) { /* in the pool: equal names are one address */
            r->build_at = at;
            return &r->builds[at];
        }
    }
    return NULL;
}

static void count_build(struct reading *r, const struct run_case *c)
{
    const uint32_t before = r->texts.count;
    const bool is_last =
        r->out->build_count > 0 && strcmp(r->builds[r->build_at].scenario, c->scenario) == 0;
    const char *scenario = is_last ? r->builds[r->build_at].scenario : copy_of(r, c->scenario);
    struct scenario_builds *build = find_build(r, scenario, r->texts.count > before);
    if (build == NULL) {
        const uint32_t count = r->out->build_count;
        struct scenario_builds *rows =
            grown(r, r->builds, &r->build_room, count, sizeof *r->builds);
        if (rows == NULL || scenario == NULL) {
            (void)fault_no_memory(r->fault, "figures of a run");
            return;
        }
        r->builds = rows;
        r->build_at = r->out->build_count++;
        build = &r->builds[count];
        *build = (struct scenario_builds){.scenario = scenario};
    }
    build->cases++;
    build->builds += c->repeat == 0;
}

ARRAY_ORDER_TEXT(by_scenario, struct scenario_builds, scenario)

static enum status read_one(struct reading *r, const struct run_case *c)
{
    const enum verdict v = c->result.verdict;
    struct figure_sample sample;
    count_case(&r->count, c);
    r->out->left_out += is_left_out(c);
    r->out->troubles[triage_trouble(c)]++;
    figure_sample_take(c, r->foreign, &sample);
    processors_add(&r->out->processors, c, &sample);
    if (sample_set_add(&r->samples, &sample, r->fault) != ERR_NONE ||
        timings_add(&r->times, c, r->fault) != ERR_NONE ||
        accuracy_add(&r->right, c, r->fault) != ERR_NONE ||
        hook_count_add(&r->hooks, c, r->fault) != ERR_NONE)
        return r->fault->code;
    count_build(r, c);
    if (r->out->store != NULL &&
        (run_verdict_fails(v) || v == VERDICT_UNSUPPORTED || case_deviates(c)))
        keep_shown(r, c);
    case_sums_add(r->sums, c);
    if (r->watch != NULL && r->fault->code == ERR_NONE)
        (void)r->watch->look(r->watch->context, c, r->fault);
    return run_totals_add(&r->totals, c, r->fault);
}

static void read_cases(struct reading *r)
{
    struct case_window w;
    case_window_open(&w, r->out,
                     CASE_SCORES | CASE_FINDINGS | (r->watch != NULL ? r->watch->parts : 0),
                     r->fault);
    for (uint32_t i = 0; i < w.count && r->fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, r->fault);
        if (c != NULL)
            (void)read_one(r, c);
    }
    case_window_close(&w);
}

/* What is counted while the cases pass, and is ready when the last one has passed. */
struct counted {
    struct accuracy accuracy;
    struct case_sums sums;
    struct costs costs;
    struct headline headline;
    struct hook_matrix hooks;
    struct speed speed;
    struct timings timings;
};

/* OUT has the sums that say which engines there are, and which one is foreign, before any case is
 * read. */
static struct counted *begin_counts(struct reading *r)
{
    struct run_figures *out = r->out;
    struct counted *counted = ARENA_NEW(r->keep, struct counted);
    r->foreign = figures_foreign_engine(out);
    r->builds = ARENA_NEW(r->keep, struct scenario_builds);
    r->build_room = 1;
    if (counted == NULL || r->builds == NULL) {
        (void)fault_no_memory(r->fault, "figures of a run");
        return NULL;
    }
    r->sums = &counted->sums;
    text_pool_init(&r->texts, r->keep);
    text_pool_init(&counted->sums.texts, r->keep);
    hook_count_begin(&r->hooks, false, r->keep, &counted->hooks);
    if (run_totals_begin(&r->totals, r->keep, r->fault) != ERR_NONE)
        return NULL;
    timings_begin(&r->times, out->engines, out->engine_count, r->keep, &counted->timings);
    sample_set_init(&r->samples, SAMPLE_WORDS);
    accuracy_begin(&r->right, r->keep, &counted->accuracy);
    return counted;
}

static void end_counts(struct reading *r, struct counted *counted)
{
    struct run_figures *out = r->out;
    hook_count_end(&r->hooks);
    array_sort(r->builds, out->build_count, sizeof *r->builds, by_scenario);
    if (out->store != NULL)
        out->cases = r->shown;
    out->builds = r->builds;
    out->engines = r->totals.rows;
    out->engine_count = r->totals.count;
    accuracy_end(&r->right);
    out->accuracy = &counted->accuracy;
    processors_end(&out->processors);
    if (timings_end(&r->times, out, r->fault) == ERR_NONE) {
        headline_of_samples(out, &r->samples, r->keep, &counted->headline);
        speed_of_samples(out, &r->samples, r->keep, &counted->speed);
        cost_of_samples(out, &r->samples, r->keep, &counted->costs);
    }
    out->sums = &counted->sums;
    out->costs = &counted->costs;
    out->headline = &counted->headline;
    out->hooks = &counted->hooks;
    out->speed = &counted->speed;
    out->timings = &counted->timings;
    ratio_make(out, out->store, r->keep);
    sample_set_free(&r->samples);
}

static enum status pass(struct reading *r)
{
    struct counted *counted = begin_counts(r);
    if (counted == NULL)
        return r->fault->code;
    read_cases(r);
    end_counts(r, counted);
    return r->fault->code == ERR_NONE ? count_end(&r->count, r->fault) : r->fault->code;
}

enum status figures_prepare(const struct run_info *run, const struct run_case *cases,
                            uint32_t case_count, struct arena *keep, struct run_figures *out,
                            struct fault *fault)
{
    struct engine_total *totals = NULL;
    struct reading r = {.out = out, .keep = keep, .fault = fault};
    *out = (struct run_figures){.run = run, .cases = cases, .case_count = case_count};
    if (run_total_engines(cases, case_count, keep, &totals, &out->engine_count, fault) !=
            ERR_NONE ||
        count_begin(&r.count, out, keep, fault) != ERR_NONE)
        return fault->code;
    out->engines = totals;
    return pass(&r);
}

static enum status read_head(struct reading *r, struct store *store, const char *word,
                             struct run_info *info)
{
    struct run_figures *out = r->out;
    struct engine_total *totals = NULL;
    uint64_t id = 0;
    *out = (struct run_figures){.run = info, .store = store};
    enum status status = store_find_run(store, word, &id, r->fault);
    if (status == ERR_NONE)
        status = store_read_run(store, id, r->keep, info, r->fault);
    if (status == ERR_NONE)
        status = store_total_engines(store, id, r->keep, &totals, &out->engine_count, r->fault);
    out->engines = totals;
    return status == ERR_NONE ? count_begin(&r->count, out, r->keep, r->fault) : status;
}

enum status figures_read(struct store *store, const char *word, const struct figures_watch *watch,
                         struct arena *keep, struct run_info *info, struct run_figures *out,
                         struct fault *fault)
{
    struct reading r = {.out = out, .watch = watch, .keep = keep, .fault = fault};
    return read_head(&r, store, word, info) == ERR_NONE ? pass(&r) : fault->code;
}

enum status figures_read_head(struct store *store, const char *word, struct arena *keep,
                              struct run_info *info, struct run_figures *out, struct fault *fault)
{
    struct reading r = {.out = out, .keep = keep, .fault = fault};
    struct case_window w;
    if (read_head(&r, store, word, info) != ERR_NONE)
        return fault->code;
    if (r.count.uses.list.count > 0) {
        case_window_open(&w, out, 0, fault);
        for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
            const struct run_case *c = case_window_get(&w, i, fault);
            if (c != NULL)
                known_uses_add(&r.count.uses, c);
        }
        case_window_close(&w);
    }
    return fault->code == ERR_NONE ? count_end(&r.count, fault) : fault->code;
}
