/* See summary.h. */
#include "study/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model/command_line.h"
#include "store/store.h"
#include "study/accuracy.h"
#include "study/headline.h"
#include "study/lanes.h"

static bool is_failing(const struct run_case *c)
{
    return run_verdict_fails(c->result.verdict);
}

static bool is_unsupported(const struct run_case *c)
{
    return c->result.verdict == VERDICT_UNSUPPORTED;
}

/* One sort for both orders: of two groups, the one whose first case comes earlier in the run is
 * first. */
static int larger_first(const void *a, const void *b)
{
    const struct case_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->cases[0] > y->cases[0]) - (x->cases[0] < y->cases[0]);
}

static uint32_t group_of_reason(const struct case_groups *groups, const struct run_case *c)
{
    uint32_t g = 0;
    while (g < groups->count &&
           strcmp(groups->rows[g].reason, text_or_empty(c->result.reason)) != 0)
        g++;
    return g;
}

/* Gives each of the first COUNT rows its part of AT, and counts again from 0. */
static void share_room(struct case_groups *out, const struct run_case **at)
{
    for (uint32_t g = 0; g < out->count; g++) {
        out->rows[g].cases = at;
        at += out->rows[g].count;
        out->rows[g].count = 0;
    }
}

static bool is_example(const struct run_case *c, const struct diff_case *example)
{
    return c->repeat == example->repeat && strcmp(c->scenario, example->scenario) == 0 &&
           strcmp(c->variant, example->variant) == 0;
}

static void put_case(struct case_group *row, const struct run_case *c)
{
    if (row->count == 0 || (row->failure != NULL && is_example(c, row->failure->example)))
        row->example = c;
    row->cases[row->count++] = c;
}

/* Groups are in the order in which they appear. */
static enum status group_unsupported(const struct run_figures *figures, struct arena *keep,
                                     struct case_groups *out, struct fault *fault)
{
    const size_t room = (size_t)figures->case_count + 1;
    uint32_t *group_of = ARENA_ARRAY(keep, room, uint32_t);
    const struct run_case **at = ARENA_ARRAY(keep, room, const struct run_case *);
    out->rows = ARENA_ARRAY(keep, room, struct case_group);
    out->count = out->cases = 0;
    if (group_of == NULL || at == NULL || out->rows == NULL)
        return fault_no_memory(fault, "groups of cases");
    for (uint32_t i = 0; i < figures->case_count; i++) {
        const struct run_case *c = &figures->cases[i];
        if (!is_unsupported(c))
            continue;
        const uint32_t g = group_of_reason(out, c);
        if (g == out->count)
            out->rows[out->count++].reason = text_or_empty(c->result.reason);
        out->rows[g].count++;
        group_of[out->cases++] = g;
    }
    share_room(out, at);
    for (uint32_t i = 0, k = 0; i < figures->case_count; i++)
        if (is_unsupported(&figures->cases[i]))
            put_case(&out->rows[group_of[k++]], &figures->cases[i]);
    return ERR_NONE;
}

/* A case may be in two groups. NUMBERS has room for those of each case. */
static enum status add_failing(const struct run_figures *figures, uint32_t *numbers,
                               struct arena *keep, struct failures *out, struct fault *fault)
{
    struct failure_count count;
    uint32_t *places = NULL, k = 0;
    failures_begin(&count, keep, out);
    for (uint32_t i = 0; i < figures->case_count; i++) {
        const struct diff_case as = failures_case(&figures->cases[i]);
        if (!is_failing(&figures->cases[i]))
            continue;
        if (!failures_add(&count, &as, &numbers[k]))
            return fault_no_memory(fault, "groups of cases");
        k += FAILURES_OF_CASE;
    }
    if (failures_end(&count, &places, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < k; i++)
        numbers[i] = numbers[i] != UINT32_MAX ? places[numbers[i]] : UINT32_MAX;
    return ERR_NONE;
}

static enum status group_failing(const struct run_figures *figures, struct arena *keep,
                                 struct summary *out, struct fault *fault)
{
    struct case_groups *groups = &out->failing;
    const size_t room = ((size_t)figures->case_count + 1) * FAILURES_OF_CASE;
    uint32_t *numbers = ARENA_ARRAY(keep, room, uint32_t);
    const struct run_case **at = ARENA_ARRAY(keep, room, const struct run_case *);
    if (numbers == NULL || at == NULL)
        return fault_no_memory(fault, "groups of cases");
    if (add_failing(figures, numbers, keep, &out->failures, fault) != ERR_NONE)
        return fault->code;
    groups->count = out->failures.count;
    groups->cases = out->failures.cases;
    groups->rows = ARENA_ARRAY(keep, (size_t)groups->count + 1, struct case_group);
    if (groups->rows == NULL)
        return fault_no_memory(fault, "groups of cases");
    for (uint32_t g = 0; g < groups->count; g++)
        groups->rows[g] =
            (struct case_group){.failure = &out->failures.rows[g],
                                .count = out->failures.rows[g].cases,
                                .reason = text_or_empty(out->failures.rows[g].example->reason)};
    share_room(groups, at);
    for (uint32_t i = 0, k = 0; i < figures->case_count; i++)
        for (uint32_t n = 0; is_failing(&figures->cases[i]) && n < FAILURES_OF_CASE; n++, k++) {
            if (numbers[k] != UINT32_MAX)
                put_case(&groups->rows[numbers[k]], &figures->cases[i]);
        }
    array_sort(groups->rows, groups->count, sizeof *groups->rows, larger_first);
    return ERR_NONE;
}

enum { HISTORIES_MOST = 20 }; /* groups whose history is read */

/* Since when the largest groups fail. What was never stored has no history. */
static enum status read_histories(const struct run_figures *figures, struct arena *keep,
                                  struct failures *failures, struct fault *fault)
{
    for (uint32_t g = 0; figures->store != NULL && g < failures->count && g < HISTORIES_MOST; g++) {
        struct failure *f = &failures->rows[g];
        if (store_read_history(figures->store, f->example, figures->run, keep, &f->since, fault) !=
            ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

enum status summary_make(const struct run_figures *figures, struct arena *keep, struct summary *out,
                         struct fault *fault)
{
    memset(out, 0, sizeof *out);
    if (group_failing(figures, keep, out, fault) == ERR_NONE &&
        read_histories(figures, keep, &out->failures, fault) == ERR_NONE &&
        group_unsupported(figures, keep, &out->not_shown, fault) == ERR_NONE)
        array_sort(out->not_shown.rows, out->not_shown.count, sizeof *out->not_shown.rows,
                   larger_first);
    return fault->code;
}

/* ---- names ---------------------------------------------------------------------------- */

static bool is_of(const struct run_case *c, const char *scenario)
{
    return strcmp(c->scenario, scenario) == 0;
}

/* Repeats of a build count once. */
static bool is_first_repeat(const struct run_case *const *cases, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (is_of(cases[i], cases[at]->scenario) &&
            strcmp(cases[i]->variant, cases[at]->variant) == 0)
            return false;
    return true;
}

static int by_name(const void *name, const void *build)
{
    return strcmp(name, ((const struct scenario_builds *)build)->scenario);
}

/* NULL: there is no such scenario. */
static const struct scenario_builds *find_build(const struct run_figures *figures,
                                                const char *scenario)
{
    return bsearch(scenario, figures->builds, figures->build_count, sizeof *figures->builds,
                   by_name);
}

/* "null_write.ob0", "null_write (ob0, ob2)" or "null_write (all 4 builds)". */
static const char *scenario_text(const struct run_figures *figures, const struct case_group *group,
                                 uint32_t first, struct arena *keep)
{
    const char *scenario = group->cases[first]->scenario, *builds = NULL;
    const struct scenario_builds *build = find_build(figures, scenario);
    uint32_t count = 0;
    for (uint32_t i = first; i < group->count; i++) {
        if (!is_of(group->cases[i], scenario) || !is_first_repeat(group->cases, i))
            continue;
        builds = count++ == 0 ? group->cases[i]->variant
                              : arena_printf(keep, "%s, %s", text_or_empty(builds),
                                             group->cases[i]->variant);
    }
    if (count == 1)
        return arena_printf(keep, "%s.%s", scenario, text_or_empty(builds));
    if (build != NULL && count == build->builds)
        return arena_printf(keep, "%s (all %u builds)", scenario, count);
    return arena_printf(keep, "%s (%s)", scenario, text_or_empty(builds));
}

const char *summary_names(const struct run_figures *figures, const struct case_group *group,
                          uint32_t most, struct arena *keep)
{
    const char *text = "";
    uint32_t named = 0, covered = 0;
    for (uint32_t i = 0; i < group->count && named < most && text != NULL; i++) {
        const char *scenario = group->cases[i]->scenario;
        bool before = false;
        for (uint32_t k = 0; k < i && !before; k++)
            before = is_of(group->cases[k], scenario);
        if (before)
            continue;
        for (uint32_t k = i; k < group->count; k++)
            covered += is_of(group->cases[k], scenario);
        const char *name = scenario_text(figures, group, i, keep);
        text =
            name == NULL ? NULL : arena_printf(keep, "%s%s%s", text, named++ > 0 ? ", " : "", name);
    }
    if (text != NULL && covered < group->count)
        text = arena_printf(keep, "%s and %u more case%s", text, group->count - covered,
                            group->count - covered == 1 ? "" : "s");
    return text;
}

const char *summary_command(const struct run_case *c, struct arena *keep)
{
    const char *name = arena_printf(keep, "%s.%s", c->scenario, c->variant);
    char *word = arena_string(keep, c->folder != NULL ? c->folder : name);

    if (word == NULL)
        return NULL;
    return command_line_join(1, &word, c->folder != NULL ? "check" : "run -k", keep);
}

/* ---- rows of the grid ----------------------------------------------------------------- */

static bool scores_alike(const struct engine_score *a, const struct engine_score *b)
{
    return strcmp(a->engine, b->engine) == 0 && a->state == b->state && a->judged == b->judged &&
           a->exact == b->exact && a->right_frames == b->right_frames &&
           a->truth_frames == b->truth_frames && (a->judged || a->frames == b->frames);
}

static bool alike(const struct run_case *a, const struct run_case *b)
{
    if (!is_of(a, b->scenario) || a->result.verdict != b->result.verdict ||
        a->result.score_count != b->result.score_count)
        return false;
    for (uint32_t i = 0; i < a->result.score_count; i++)
        if (!scores_alike(&a->result.scores[i], &b->result.scores[i]) ||
            case_is_apart(a, a->result.scores[i].engine) !=
                case_is_apart(b, b->result.scores[i].engine))
            return false;
    return true;
}

static int by_scenario(const void *a, const void *b)
{
    const struct run_case *x = *(const struct run_case *const *)a;
    const struct run_case *y = *(const struct run_case *const *)b;
    const int by_name = strcmp(x->scenario, y->scenario);
    return by_name != 0 ? by_name : (x > y) - (x < y);
}

/* The rows of one scenario, whose COUNT cases are at CASES: sorts these by row. */
static void fold_scenario(const struct run_figures *figures, struct grid_rows *grid,
                          const struct run_case **cases, uint32_t count)
{
    const struct scenario_builds *build = find_build(figures, cases[0]->scenario);
    const uint32_t first = grid->count;
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        end = begin + 1;
        for (uint32_t i = end; i < count; i++)
            if (alike(cases[begin], cases[i])) {
                const struct run_case *moved = cases[i];
                memmove(&cases[end + 1], &cases[end], (i - end) * sizeof *cases);
                cases[end++] = moved;
            }
        grid->rows[grid->count++] =
            (struct grid_row){&cases[begin], end - begin, begin == 0, false};
    }
    if (grid->count - first == 1)
        grid->rows[first].all = count > 1 && build != NULL && count == build->cases;
}

/* Leaves out the rows without a case that deviates. */
static void keep_deviating(struct grid_rows *grid)
{
    const char *before = "";
    uint32_t kept = 0;
    for (uint32_t i = 0; i < grid->count; i++) {
        struct grid_row row = grid->rows[i];
        bool keep = false;
        for (uint32_t k = 0; k < row.count; k++)
            keep = keep || case_deviates(row.cases[k]);
        row.named = strcmp(before, row.cases[0]->scenario) != 0;
        before = keep ? row.cases[0]->scenario : before;
        if (keep)
            grid->rows[kept++] = row;
    }
    grid->count = kept;
}

enum status summary_rows(const struct run_figures *figures, bool all, struct arena *keep,
                         struct grid_rows *out, struct fault *fault)
{
    const size_t room = (size_t)figures->case_count + 1;
    const struct run_case **cases = ARENA_ARRAY(keep, room, const struct run_case *);
    out->rows = ARENA_ARRAY(keep, room, struct grid_row);
    out->count = out->cases = 0;
    if (cases == NULL || out->rows == NULL)
        return fault_no_memory(fault, "rows of the grid");
    for (uint32_t i = 0; i < figures->case_count; i++)
        cases[i] = &figures->cases[i];
    array_sort(cases, figures->case_count, sizeof *cases, by_scenario);
    for (uint32_t begin = 0, end; begin < figures->case_count; begin = end) {
        for (end = begin + 1;
             end < figures->case_count && is_of(cases[end], cases[begin]->scenario);)
            end++;
        fold_scenario(figures, out, &cases[begin], end - begin);
    }
    if (!all)
        keep_deviating(out);
    for (uint32_t i = 0; i < out->count; i++)
        out->cases += out->rows[i].count;
    return ERR_NONE;
}

/* The rows of one scenario, read from the database. */
static enum status each_of_scenario(const struct run_figures *figures, const char *scenario,
                                    grid_rows_fn *each, void *context, bool *more,
                                    struct fault *fault)
{
    const struct case_query query = {.run_id = figures->run->id, .scenario = scenario};
    struct run_figures part = {
        .run = figures->run, .builds = figures->builds, .build_count = figures->build_count};
    struct run_case *cases = NULL;
    struct grid_rows rows;
    struct arena keep;
    arena_init(&keep, 0);
    (void)store_list_all_cases(figures->store, &query, &keep, &cases, &part.case_count, fault);
    part.cases = cases;
    if (fault->code == ERR_NONE) {
        run_cases_sort(cases, part.case_count);
        if (summary_rows(&part, true, &keep, &rows, fault) == ERR_NONE)
            *more = each(context, &rows);
    }
    arena_free(&keep);
    return fault->code;
}

enum status summary_each_rows(const struct run_figures *figures, grid_rows_fn *each, void *context,
                              struct fault *fault)
{
    bool more = true;
    for (uint32_t i = 0; figures->store != NULL && more && i < figures->build_count; i++)
        if (each_of_scenario(figures, figures->builds[i].scenario, each, context, &more, fault) !=
            ERR_NONE)
            return fault->code;
    if (figures->store != NULL)
        return ERR_NONE;
    struct grid_rows rows;
    struct arena keep;
    arena_init(&keep, 0);
    if (summary_rows(figures, true, &keep, &rows, fault) == ERR_NONE)
        (void)each(context, &rows);
    arena_free(&keep);
    return fault->code;
}

const char *summary_right(const struct run_case *c, struct arena *keep)
{
    const char *right = c->result.right, *before = "only ", *after = " is right";
    if (right == NULL)
        return NULL;
    if (strcmp(right, "none") == 0)
        before = "", right = "neither way";
    else if (strcmp(right, "all") == 0)
        before = "", right = "each way";
    return arena_printf(keep, "in %s.%s %s%s%s", c->scenario, c->variant, before, right, after);
}

/* ---- JSON ----------------------------------------------------------------------------- */

enum { NAMED_MOST = 12 };

static void write_group(struct json *j, const struct run_figures *figures,
                        const struct case_group *group, bool fails, struct arena *keep)
{
    const struct run_case *example = group->example;
    json_object(j);
    json_key_uint(j, "cases", group->count);
    json_key_string(j, "reason", group->reason);
    json_key_string(j, "names", summary_names(figures, group, NAMED_MOST, keep));
    if (fails) {
        json_key_string(j, "verdict", verdict_name(example->result.verdict));
        json_key_string(j, "signature", example->result.signature);
        json_key_string(j, "key", group->failure->key);
        json_key_string(j, "sentence", group->failure->sentence);
        json_key_string(j, "blame", failure_blames_text(group->failure, keep));
        json_key_string(j, "file", group->failure->file);
        json_key_uint(j, "shared", group->failure->shared);
        json_key_string(j, "right", example->result.right);
        json_key_string(j, "right_text", summary_right(example, keep));
        json_key_string(j, "command", summary_command(example, keep));
        failure_write_since(j, group->failure);
    }
    json_object_end(j);
}

/* Returns the number of cases that are in groups that were not written. */
static uint32_t write_groups(struct json *j, const char *key, const struct run_figures *figures,
                             const struct case_groups *groups, uint32_t most, bool fail,
                             struct arena *keep)
{
    uint32_t left = 0;
    json_key_array(j, key);
    for (uint32_t g = 0; g < groups->count; g++)
        if (most == 0 || g < most)
            write_group(j, figures, &groups->rows[g], fail, keep);
        else
            left += groups->rows[g].count;
    json_array_end(j);
    return left;
}

void summary_write_json(struct json *j, const struct run_figures *figures, uint32_t most)
{
    struct arena keep;
    struct summary summary;
    struct fault fault = FAULT_INIT;
    arena_init(&keep, 0);
    if (summary_make(figures, &keep, &summary, &fault) != ERR_NONE)
        j->failed = true;
    const uint32_t left = write_groups(j, "failing", figures, &summary.failing, most, true, &keep);
    json_key_uint(j, "failing_left", left);
    (void)write_groups(j, "not_shown", figures, &summary.not_shown, most, false, &keep);
    lanes_write_json(j, figures);
    json_key(j, "accuracy");
    accuracy_write_json(j, figures);
    headline_write_members(j, figures);
    arena_free(&keep);
}
