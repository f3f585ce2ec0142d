/* See ratio.h. */
#include "study/ratio.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define UNKNOWN ((double)NAN)

static bool is_bench(const struct run_info *run)
{
    return run->label != NULL && strcmp(run->label, RUN_LABEL_BENCH) == 0;
}

/* The same commit, machine and build. */
static bool is_beside(const struct run_info *bench, const struct run_info *run)
{
    return bench->state == RUN_COMPLETE && text_equal(bench->commit, run->commit) &&
           text_equal(bench->platform, run->platform) && text_equal(bench->cpu, run->cpu) &&
           text_equal(bench->compiler, run->compiler) && text_equal(bench->flags, run->flags);
}

const struct run_info *ratio_bench_of(const struct run_info *run, const struct run_info *benches,
                                      uint32_t count)
{
    if (is_bench(run))
        return run;
    for (uint32_t i = 0; run->commit != NULL && i < count; i++)
        if (is_beside(&benches[i], run))
            return &benches[i];
    return NULL;
}

/* NULL: there is none. */
static const struct run_info *find_bench(struct store *store, const struct run_info *run,
                                         struct arena *keep)
{
    const struct run_query query = {.label = RUN_LABEL_BENCH, .limit = STORE_PAGE_MAX};
    struct run_page page = {.count = 0};
    struct fault fault = FAULT_INIT;
    if (store == NULL || (run->commit != NULL && !is_bench(run) &&
                          store_list_runs(store, &query, keep, &page, &fault) != ERR_NONE))
        return NULL;
    return ratio_bench_of(run, page.runs, page.count);
}

/* The side in the state of the run's figure, a new process, where the bench measured it. */
static const struct bench_side *side_of(const struct bench_findings *found)
{
    for (uint32_t i = found->side_count; i-- > 0;)
        if (found->sides[i].ratio_count > 0 && !isnan(found->sides[i].ratios[0].ratio.value))
            return &found->sides[i];
    return NULL;
}

/* False: there is no bench, or it has no ratio. */
static bool take_bench(const struct run_figures *figures, struct store *store, struct arena *keep,
                       struct dump_ratio *out)
{
    struct fault fault = FAULT_INIT;
    const struct run_info *bench = find_bench(store, figures->run, keep);
    struct bench_findings *found = bench != NULL ? ARENA_NEW(keep, struct bench_findings) : NULL;
    if (found == NULL || bench_read(store, bench->id, keep, found, &fault) != ERR_NONE)
        return false;
    const struct bench_side *side = side_of(found);
    if (side == NULL)
        return false;
    const struct bench_ratio *ratio = &side->ratios[0];
    *out = (struct dump_ratio){.origin = RATIO_OF_BENCH,
                               .run_id = bench->id,
                               .arch = ratio->arch,
                               .state = side == &found->sides[0] ? SPEED_WARM : SPEED_INDEX,
                               .cases = ratio->cases,
                               .scenarios = ratio->scenarios,
                               .value = ratio->ratio,
                               .noise = side->noise};
    return true;
}

static void take_run(const struct run_figures *figures, struct dump_ratio *out)
{
    const struct speed_row *row = figures->speed != NULL ? speed_main(figures->speed) : NULL;
    if (row == NULL)
        return;
    const struct speed_cell *cell = &row->cells[SPEED_INDEX];
    out->run_id = figures->run->id;
    out->arch = row->arch;
    out->cases = cell->cases;
    out->scenarios = cell->scenarios;
    out->value = cell->ratio;
    out->drifts = cell->drifts;
    out->origin = isnan(cell->ratio.value) ? RATIO_NOT_MEASURED : RATIO_OF_RUN;
}

static const struct dump_ratio not_measured = {
    .state = SPEED_INDEX, .value = {UNKNOWN, UNKNOWN, UNKNOWN}, .noise = UNKNOWN};

void ratio_make(struct run_figures *figures, struct store *store, struct arena *keep)
{
    struct dump_ratio *out = ARENA_NEW(keep, struct dump_ratio);
    figures->ratio = &not_measured;
    if (out == NULL)
        return;
    *out = not_measured;
    if (!take_bench(figures, store, keep, out))
        take_run(figures, out);
    figures->ratio = out;
}

/* The times of all cases, in the order of the figures. */
static void read_speed(struct run_figures *figures, struct arena *keep, struct speed *out,
                       struct fault *fault)
{
    const char *foreign = figures_foreign_engine(figures);
    struct sample_set samples;
    struct case_window w;
    sample_set_init(&samples, SAMPLE_WORDS);
    case_window_open(&w, figures, CASE_SCORES, fault);
    for (uint32_t i = 0; i < w.count && fault->code == ERR_NONE; i++) {
        const struct run_case *c = case_window_get(&w, i, fault);
        struct figure_sample sample;
        if (c == NULL)
            break;
        figure_sample_take(c, foreign, &sample);
        (void)sample_set_add(&samples, &sample, fault);
    }
    case_window_close(&w);
    if (fault->code == ERR_NONE)
        speed_of_samples(figures, &samples, keep, out);
    sample_set_free(&samples);
}

/* ---- stored --------------------------------------------------------------------------- */

static const char *const origins[RATIO_ORIGINS] = {NULL, "run", "bench"};

const char *ratio_address(uint64_t run_id, struct arena *keep)
{
    return arena_printf(keep, "speed_ratio?run=%" PRIu64, run_id);
}

const char *ratio_stored_text(const struct dump_ratio *ratio, struct arena *keep, size_t *bytes)
{
    struct json j;
    json_to_text(&j, false);
    ratio_write_json(&j, ratio);
    char *text = json_take(&j, bytes);
    const char *kept = text != NULL ? arena_text(keep, text, *bytes) : NULL;
    free(text);
    return kept;
}

/* null is NaN. */
static double get_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : UNKNOWN;
}

/* Where WORD is among COUNT of NAMES; the first where it is not. */
static int place_of(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (text_equal(names[i], word))
            return i;
    return 0;
}

/* False: none is stored, or it does not count. */
static bool take_stored(struct store *store, const struct run_info *run, struct arena *keep,
                        struct dump_ratio *out)
{
    const char *const states[SPEED_STATES] = {
        lane_state_name(WAY_FIRST), lane_state_name(WAY_INDEX), lane_state_name(WAY_WARM)};
    struct fault fault = FAULT_INIT;
    size_t bytes = 0;
    cJSON *tree = NULL;
    const char *address = ratio_address(run->id, keep);
    const char *text =
        address != NULL ? store_read_shown(store, address, run->id, keep, &bytes) : NULL;
    if (text == NULL || json_parse(text, bytes, &tree, &fault) != ERR_NONE)
        return false;
    const char *origin = json_get_string(tree, "origin", keep, &fault);
    const char *state = json_get_string(tree, "state", keep, &fault);
    *out = (struct dump_ratio){
        .origin = (enum ratio_origin)place_of(origin, origins, RATIO_ORIGINS),
        .run_id = json_get_uint(tree, "run", 0, &fault),
        .arch = cpu_parse(json_get_string(tree, "arch", keep, &fault)),
        .state = (enum speed_state)place_of(state, states, SPEED_STATES),
        .cases = (size_t)json_get_uint(tree, "cases", 0, &fault),
        .scenarios = (size_t)json_get_uint(tree, "scenarios", 0, &fault),
        .value = {.low = get_number(tree, "low"),
                  .value = get_number(tree, "value"),
                  .high = get_number(tree, "high")},
        .noise = get_number(tree, "noise"),
        .drifts = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(tree, "drifts"))};
    cJSON_Delete(tree);
    return fault.code == ERR_NONE;
}

const struct dump_ratio *ratio_read(struct store *store, const struct run_info *run,
                                    struct arena *keep, struct fault *fault)
{
    struct run_figures figures = {.run = run, .store = store};
    struct engine_total *engines = NULL;
    struct dump_ratio *out = ARENA_NEW(keep, struct dump_ratio);
    struct speed *speed = ARENA_NEW(keep, struct speed);
    if (out == NULL || speed == NULL) {
        (void)fault_no_memory(fault, "times of a run");
        return NULL;
    }
    if (take_stored(store, run, keep, out))
        return out;
    *out = not_measured;
    if (take_bench(&figures, store, keep, out))
        return out;
    if (store_total_engines(store, run->id, keep, &engines, &figures.engine_count, fault) !=
        ERR_NONE)
        return NULL;
    figures.engines = engines;
    figures.speed = speed;
    read_speed(&figures, keep, speed, fault);
    take_run(&figures, out);
    return fault->code == ERR_NONE ? out : NULL;
}

double ratio_value_of_bench(struct store *store, uint64_t run_id, struct arena *keep,
                            enum cpu *arch)
{
    struct bench bench;
    struct fault fault = FAULT_INIT;
    if (bench_read_stored(store, run_id, false, keep, &bench, &fault) != ERR_NONE)
        return UNKNOWN;
    for (int cold = 1; cold >= 0; cold--) {
        const double value = bench_ratio_value(&bench, cold != 0, keep, arch);
        if (!isnan(value))
            return value;
    }
    struct bench_findings *older = ARENA_NEW(keep, struct bench_findings);
    const struct bench_side *side =
        older != NULL && bench_read(store, run_id, keep, older, &fault) == ERR_NONE ? side_of(older)
                                                                                    : NULL;
    return side != NULL ? side->ratios[0].ratio.value : UNKNOWN;
}

/* ---- words ---------------------------------------------------------------------------- */

/* ", 13 cases"; "" of an older bench. */
static void put_cases(size_t cases, char *out, size_t room)
{
    out[0] = '\0';
    if (cases > 0)
        (void)snprintf(out, room, ", %zu case%s", cases, cases == 1 ? "" : "s");
}

int ratio_decimals(double ratio)
{
    if (ratio < 1.995)
        return 2;
    return ratio < 99.5 ? 1 : 0;
}

const char *ratio_text(const struct dump_ratio *r, char out[RATIO_TEXT])
{
    char interval[40] = ", no interval", cases[32], noise[32];
    const int digits = ratio_decimals(r->value.value);
    if (r->origin == RATIO_NOT_MEASURED) {
        const bool few = r->cases > 0;
        (void)snprintf(out, RATIO_TEXT, few ? "%s (%zu)" : "not measured",
                       sample_state_name(sample_state(r->cases, r->scenarios)),
                       r->cases < MEASUREMENT_LEAST ? r->cases : r->scenarios);
        return out;
    }
    if (!isnan(r->value.low))
        (void)snprintf(interval, sizeof interval, " [%.*f, %.*f]%s", digits, r->value.low, digits,
                       r->value.high, r->drifts ? " !" : "");
    put_cases(r->cases, cases, sizeof cases);
    (void)snprintf(noise, sizeof noise, ", noise %.0f %%", r->noise * 100);
    const bool bench = r->origin == RATIO_OF_BENCH;
    const int length =
        snprintf(out, RATIO_TEXT, "%.*f×%s%s%s%s", digits, r->value.value, interval,
                 bench && !isnan(r->noise) ? noise : "", cases, bench ? "" : ", no control");
    return length > 0 ? out : "";
}

const char ratio_drift_words[] =
    "! the same way in other rounds took another time: no ratio to rely on";

const char *ratio_answer(const struct dump_ratio *r, struct arena *keep)
{
    const double noise = isnan(r->noise) ? 0 : r->noise;
    const int digits = ratio_decimals(r->value.value);
    const bool slower = r->value.low > 1, faster = r->value.high < 1;
    const bool sure = r->value.low > 1 + noise || r->value.high < 1 - noise;
    const char *how = isnan(r->noise) ? " (95 %, no control)" : " (95 % sure)";
    const char *which = "neither way is surely faster, a dump takes";
    if (r->origin == RATIO_NOT_MEASURED)
        return NULL;
    if (r->drifts)
        return ratio_drift_words;
    if (isnan(r->value.low))
        return arena_printf(
            keep, "In the back end a dump takes %.*f times as long, how sure is not known", digits,
            r->value.value);
    if ((slower || faster) && !sure)
        which = "it is too noisy to say which way is faster, a dump takes";
    else if (slower)
        which = "offsets are faster, a dump takes";
    else if (faster)
        which = "a dump is faster, it takes";
    return arena_printf(keep, "In the back end %s %.*f to %.*f times as long%s", which, digits,
                        r->value.low, digits, r->value.high, sure ? how : "");
}

const char *ratio_note(const struct dump_ratio *r)
{
    return r->origin == RATIO_OF_RUN
               ? "no control: no bench of this commit says how much of it is noise"
               : NULL;
}

/* Of what it is: "x64, index on disk; bench, run 9", "x64, index on disk; of this run". Returns
 * OUT. */
static const char *about_of(const struct dump_ratio *r, char out[RATIO_TEXT])
{
    const char *state = r->state == SPEED_WARM ? "symbols loaded" : "index on disk";
    const char *arch = r->arch != CPU_UNKNOWN ? cpu_name(r->arch) : "all processors at once";
    if (r->origin == RATIO_NOT_MEASURED) /* other states may have been */
        (void)snprintf(out, RATIO_TEXT, "%s%s%s; neither by this run nor by a bench of its commit",
                       r->arch != CPU_UNKNOWN ? arch : "", r->arch != CPU_UNKNOWN ? ", " : "",
                       state);
    else if (r->origin == RATIO_OF_BENCH)
        (void)snprintf(out, RATIO_TEXT, "%s, %s; bench, run %" PRIu64, arch, state, r->run_id);
    else
        (void)snprintf(out, RATIO_TEXT, "%s, %s; of this run", arch, state);
    return out;
}

const char *ratio_sentence(const struct dump_ratio *r, struct arena *keep)
{
    char text[RATIO_TEXT], about[RATIO_TEXT];
    return arena_printf(keep, "dump : offsets %s (%s)", ratio_text(r, text), about_of(r, about));
}

void ratio_write_json(struct json *j, const struct dump_ratio *r)
{
    char text[RATIO_TEXT];
    struct arena keep;
    arena_init(&keep, 0);
    json_object(j);
    json_key_string(j, "text", ratio_text(r, text));
    json_key_string(j, "about", about_of(r, text));
    json_key_string(j, "answer", ratio_answer(r, &keep));
    json_key_string(j, "note", ratio_note(r));
    arena_free(&keep);
    json_key_string(j, "origin", origins[r->origin]);
    json_key_uint_known(j, "run", r->origin != RATIO_NOT_MEASURED ? r->run_id : 0);
    json_key_string(j, "arch", r->arch != CPU_UNKNOWN ? cpu_name(r->arch) : NULL);
    json_key_string(j, "state", lane_state_name((enum way_state)r->state));
    json_key_uint(j, "cases", r->cases);
    json_key_uint(j, "scenarios", r->scenarios);
    json_key_number(j, "value", r->value.value);
    json_key_number(j, "low", r->value.low);
    json_key_number(j, "high", r->value.high);
    json_key_number(j, "noise", r->noise);
    json_key_bool(j, "drifts", r->drifts);
    json_object_end(j);
}

static bool has_cases(const struct dump_ratio *r)
{
    return r != NULL && (r->origin != RATIO_NOT_MEASURED || r->cases > 0);
}

bool ratio_of_either(const struct dump_ratio *a, const struct dump_ratio *b)
{
    return has_cases(a) || has_cases(b);
}

void ratio_write_both(struct json *j, const struct dump_ratio *a, const struct dump_ratio *b)
{
    const struct dump_ratio *const both[] = {a, b};
    const bool shown = ratio_of_either(a, b);
    json_key_object(j, "speed_ratio");
    for (int i = 0; i < 2; i++) {
        json_key(j, i == 0 ? "a" : "b");
        if (both[i] != NULL && shown)
            ratio_write_json(j, both[i]);
        else
            json_null(j);
    }
    json_object_end(j);
}
