/* Figures are made case by case, from cases in memory or in the database: see figures.h. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text_pool.h"
#include "compare/known.h"
#include "store/store.h"
#include "study/accuracy.h"
#include "study/cost.h"
#include "study/failures.h"
#include "study/figures.h"
#include "study/headline.h"
#include "study/hooks.h"
#include "study/lanes.h"
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

static int compare_lanes(const void *a, const void *b)
{
    const struct lane_total *x = a, *y = b;
    return strcmp(x->variant, y->variant);
}

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

/* ---- from cases in memory -------------------------------------------------------------- */

static bool is_left_out(const struct run_case *c)
{
    return c->result.verdict == VERDICT_ERROR && c->result.score_count == 0;
}

enum status figures_prepare(const struct run_info *run, const struct run_case *cases,
                            uint32_t case_count, struct arena *keep, struct run_figures *out,
                            struct fault *fault)
{
    struct engine_total *totals = NULL;
    struct head_count count;
    struct accuracy_count right;
    struct accuracy *accuracy = ARENA_NEW(keep, struct accuracy);
    *out = (struct run_figures){
        .run = run, .cases = cases, .case_count = case_count, .accuracy = accuracy};
    if (accuracy == NULL)
        return fault_no_memory(fault, "accuracy of a run");
    accuracy_begin(&right, keep, accuracy);
    if (run_total_engines(cases, case_count, keep, &totals, &out->engine_count, fault) !=
            ERR_NONE ||
        count_begin(&count, out, keep, fault) != ERR_NONE)
        return fault->code;
    out->engines = totals;
    for (uint32_t i = 0; i < case_count; i++) {
        out->left_out += is_left_out(&cases[i]);
        count_case(&count, &cases[i]);
        if (accuracy_add(&right, &cases[i], fault) != ERR_NONE)
            return fault->code;
    }
    accuracy_end(&right);
    return count_end(&count, fault);
}

/* ---- from cases in the database -------------------------------------------------------- */

struct reading {
    struct run_figures *out;
    enum figures_use use;
    const struct figures_watch *watch; /* NULL: none */
    struct arena *keep;
    struct text_pool texts;
    struct engine_totals totals;
    struct head_count count;
    const char *foreign;
    struct run_case *shown; /* what fails or is UNSUPPORTED */
    struct sample_set samples;
    struct scenario_builds *builds;
    struct hook_count hooks, scenario_hooks;
    struct timings_count times;
    struct accuracy_count right;
    uint32_t shown_room, build_room;
    uint32_t build_at, repeat; /* of the last case: where its scenario is */
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
        kept->result.scores[i].reason = NULL;
    }
    kept->result.score_count = count;
}

static void copy_finding(struct reading *r, const struct finding *f, struct finding *copy)
{
    *copy = *f;
    copy->engine = copy_of(r, f->engine);
    copy->against = copy_of(r, f->against);
    copy->wrong = copy_of(r, f->wrong);
    copy->evidence = copy_of(r, f->evidence);
    copy->module = copy_of(r, f->module);
    copy->function = copy_of(r, f->function);
    copy->blame_engine = copy_of(r, f->blame_engine);
    copy->witnesses = copy_of(r, f->witnesses);
}

/* The finding that decides the case, and an independent one: groups of failing cases are made of
 * them. */
static void keep_deciding(struct reading *r, const struct run_case *c, struct run_case *kept)
{
    struct run_case found = *c;
    struct arena scratch;
    arena_init(&scratch, 0);
    if (found.result.finding_count == 0 && run_verdict_fails(c->result.verdict))
        (void)store_read_parts(r->out->store, c->id, CASE_FINDINGS, &scratch, &found, r->fault);
    const struct finding *findings[FAILURES_OF_CASE];
    failures_findings(&found, findings);
    uint32_t count = 0;
    while (count < COUNT_OF(findings) && findings[count] != NULL)
        count++;
    struct finding *copies = count > 0 ? ARENA_ARRAY(r->keep, count, struct finding) : NULL;
    if (count > 0 && copies == NULL)
        (void)fault_no_memory(r->fault, "figures of a run");
    for (uint32_t i = 0; copies != NULL && i < count; i++)
        copy_finding(r, findings[i], &copies[i]);
    if (copies != NULL) {
        kept->result.findings = copies;
        kept->result.finding_count = count;
    }
    arena_free(&scratch);
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
    if (r->use >= FIGURES_OF_REPORT)
        keep_scores(r, c, kept);
}

/* Cases come by repeat and then by scenario, so the search goes on where the last one ended. */
static struct scenario_builds *find_build(struct reading *r, const char *scenario)
{
    for (uint32_t i = 0; i < r->out->build_count; i++) {
        const uint32_t at = (r->build_at + i) % r->out->build_count;
        if (strcmp(r->builds[at].scenario, scenario) == 0) {
            r->build_at = at;
            return &r->builds[at];
        }
        if (i == 1 && r->repeat == 0) /* a new one */
            break;
    }
    return NULL;
}

static void count_build(struct reading *r, const struct run_case *c)
{
    r->repeat = c->repeat;
    struct scenario_builds *build = find_build(r, c->scenario);
    if (build == NULL) {
        const uint32_t count = r->out->build_count;
        struct scenario_builds *rows =
            grown(r, r->builds, &r->build_room, count, sizeof *r->builds);
        if (rows == NULL)
            return;
        r->builds = rows;
        r->build_at = r->out->build_count++;
        build = &r->builds[count];
        *build = (struct scenario_builds){.scenario = copy_of(r, c->scenario)};
    }
    build->cases++;
    build->builds += c->repeat == 0;
}

static int by_scenario(const void *a, const void *b)
{
    const struct scenario_builds *x = a, *y = b;
    return strcmp(x->scenario, y->scenario);
}

static enum status read_one(struct reading *r, const struct run_case *c)
{
    const enum verdict v = c->result.verdict;
    struct figure_sample sample;
    count_case(&r->count, c);
    if (r->use < FIGURES_OF_TIMES)
        return ERR_NONE;
    r->out->left_out += is_left_out(c);
    figure_sample_take(c, r->foreign, &sample);
    if (sample_set_add(&r->samples, &sample, r->fault) != ERR_NONE ||
        timings_add(&r->times, c, r->fault) != ERR_NONE ||
        accuracy_add(&r->right, c, r->fault) != ERR_NONE)
        return r->fault->code;
    count_build(r, c);
    if (run_verdict_fails(v) || v == VERDICT_UNSUPPORTED ||
        (r->use >= FIGURES_OF_REPORT && case_deviates(c)))
        keep_shown(r, c);
    if (r->use >= FIGURES_OF_REPORT) {
        case_sums_add(r->out->sums, c);
        (void)hook_count_add(&r->hooks, c, r->fault);
    }
    if (r->use == FIGURES_OF_DETAILS)
        (void)hook_count_add(&r->scenario_hooks, c, r->fault);
    if (r->watch != NULL && r->fault->code == ERR_NONE)
        (void)r->watch->look(r->watch->context, c, r->fault);
    return run_totals_add(&r->totals, c, r->fault);
}

static void read_cases(struct reading *r)
{
    struct case_window w;
    static const unsigned parts[] = {[FIGURES_OF_TIMES] = CASE_SCORES,
                                     [FIGURES_OF_REPORT] = CASE_SCORES | CASE_FINDINGS,
                                     [FIGURES_OF_DETAILS] = CASE_SCORES | CASE_FINDINGS};
    case_window_open(&w, r->out, parts[r->use] | (r->watch != NULL ? r->watch->parts : 0));
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
    struct headline headline;
    struct speed speed;
    struct costs costs;
    struct timings timings;
    struct hook_matrix hooks, scenario_hooks;
};

/* The sums of the database say which engines there are, and which one is foreign, before any case
 * is read. */
static struct counted *begin_counts(struct reading *r)
{
    struct run_figures *out = r->out;
    struct counted *counted = ARENA_NEW(r->keep, struct counted);
    const bool report = r->use >= FIGURES_OF_REPORT;
    r->foreign = figures_foreign_engine(out);
    r->builds = ARENA_NEW(r->keep, struct scenario_builds);
    r->build_room = 1;
    out->sums = report ? case_sums_begin(r->keep) : NULL;
    if (counted == NULL || r->builds == NULL || (report && out->sums == NULL)) {
        (void)fault_no_memory(r->fault, "figures of a run");
        return NULL;
    }
    text_pool_init(&r->texts, r->keep);
    hook_count_begin(&r->hooks, false, r->keep, &counted->hooks);
    hook_count_begin(&r->scenario_hooks, true, r->keep, &counted->scenario_hooks);
    if (run_totals_begin(&r->totals, r->keep, r->fault) != ERR_NONE ||
        timings_begin(&r->times, out->engines, out->engine_count, r->keep, &counted->timings,
                      r->fault) != ERR_NONE)
        return NULL;
    sample_set_init(&r->samples, SAMPLE_WORDS);
    accuracy_begin(&r->right, r->keep, &counted->accuracy);
    return counted;
}

static void end_counts(struct reading *r, struct counted *counted)
{
    struct run_figures *out = r->out;
    if (r->use >= FIGURES_OF_REPORT) {
        hook_count_end(&r->hooks);
        out->hooks = &counted->hooks;
    }
    if (r->use == FIGURES_OF_DETAILS) {
        hook_count_end(&r->scenario_hooks);
        out->scenario_hooks = &counted->scenario_hooks;
    }
    array_sort(r->builds, out->build_count, sizeof *r->builds, by_scenario);
    out->cases = r->shown;
    out->builds = r->builds;
    out->engines = r->totals.rows;
    out->engine_count = r->totals.count;
    accuracy_end(&r->right);
    out->accuracy = &counted->accuracy;
    if (timings_end(&r->times, r->fault) == ERR_NONE) {
        timings_arrange(&counted->timings, out->engines, out->engine_count);
        headline_of_samples(out, &r->samples, r->keep, &counted->headline);
        speed_of_samples(out, &r->samples, r->keep, &counted->speed);
        cost_of_samples(out, &r->samples, r->keep, &counted->costs);
    }
    out->timings = &counted->timings;
    out->headline = &counted->headline;
    out->speed = &counted->speed;
    out->costs = &counted->costs;
    sample_set_free(&r->samples);
}

enum status figures_read_watched(struct store *store, const char *word, enum figures_use use,
                                 const struct figures_watch *watch, struct arena *keep,
                                 struct run_info *info, struct run_figures *out,
                                 struct fault *fault)
{
    uint64_t id = 0, *ids = NULL;
    struct engine_total *totals = NULL;
    struct reading r = {.out = out, .use = use, .watch = watch, .keep = keep, .fault = fault};
    *out = (struct run_figures){.run = info, .store = store};
    if (store_find_run(store, word, &id, fault) != ERR_NONE ||
        store_read_run(store, id, keep, info, fault) != ERR_NONE ||
        store_total_engines(store, id, keep, &totals, &out->engine_count, fault) != ERR_NONE ||
        count_begin(&r.count, out, keep, fault) != ERR_NONE)
        return fault->code;
    if ((use > FIGURES_OF_GATE || r.count.uses.list.count > 0) &&
        store_list_case_ids(store, id, keep, &ids, &out->id_count, fault) != ERR_NONE)
        return fault->code;
    out->ids = ids;
    out->engines = totals;
    if (use >= FIGURES_OF_TIMES) {
        struct counted *counted = begin_counts(&r);
        if (counted == NULL)
            return fault->code;
        read_cases(&r);
        end_counts(&r, counted);
    } else if (use == FIGURES_OF_CAPTURES || r.count.uses.list.count > 0) {
        read_cases(&r);
    }
    return fault->code == ERR_NONE ? count_end(&r.count, fault) : fault->code;
}

enum status figures_read(struct store *store, const char *word, enum figures_use use,
                         struct arena *keep, struct run_info *info, struct run_figures *out,
                         struct fault *fault)
{
    return figures_read_watched(store, word, use, NULL, keep, info, out, fault);
}

/* ---- one case after the other ---------------------------------------------------------- */

void case_window_open(struct case_window *w, const struct run_figures *figures, unsigned parts)
{
    *w = (struct case_window){.figures = figures,
                              .parts = parts,
                              .count =
                                  figures->store != NULL ? figures->id_count : figures->case_count};
    arena_init(&w->scratch, 0);
}

void case_window_close(struct case_window *w)
{
    arena_free(&w->scratch);
}

const struct run_case *case_window_get(struct case_window *w, uint32_t at, struct fault *fault)
{
    const struct run_figures *f = w->figures;
    if (f->store == NULL)
        return &f->cases[at];
    arena_reset(&w->scratch);
    return store_read_parts(f->store, f->ids[at], w->parts, &w->scratch, &w->c, fault) == ERR_NONE
               ? &w->c
               : NULL;
}
