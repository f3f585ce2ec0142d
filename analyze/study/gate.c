/* See gate.h. */
#include "study/gate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/age.h"
#include "base/array.h"
#include "base/text.h"
#include "store/store.h"
#include "stream/totals.h"
#include "study/gate_check.h"

static void check_metric(struct gate_session *s, enum metric metric, double limit)
{
    const char *name = metric_name(metric);
    if (isnan(limit))
        return;
    const double value = figures_metric(&s->out->figures, metric);
    if (isnan(value))
        gate_add(s, name, false, "nothing was measured, %.1f %% demanded", limit * 100);
    else
        gate_add(s, name, value >= limit, "%.2f %%, at least %.2f %% demanded",
                 floor(value * 10000) / 100, limit * 100);
}

/* Which run is judged, and how much of it: a green gate of another run would say nothing. */
static void check_run(struct gate_session *s)
{
    const struct run_info *run = &s->out->run.info;
    const char *commit = run->commit, *checkout = s->request->checkout;
    char age[AGE_BYTES] = "";
    const uint32_t *v = run->verdicts;
    const uint32_t idle = v[VERDICT_UNSUPPORTED] + v[VERDICT_NOT_CAPTURED_AS_EXPECTED];
    const bool dated = s->request->now_ns > run->started_ns;
    if (dated)
        (void)age_text(s->request->now_ns - run->started_ns, age);
    gate_add(s, "run", true, "run %" PRIu64 " of commit %.12s%s%s%s%s%s: %u of %u cases judged",
             run->id, commit != NULL ? commit : "(unknown)", run->branch != NULL ? " on " : "",
             text_or_empty(run->branch), dated ? ", " : "", age, dated ? " old" : "",
             run->case_count - idle, run->case_count);
    if (checkout != NULL && !text_equal(commit, checkout))
        gate_add(s, "checkout", !s->request->strict,
                 "the run is of commit %.12s, the checkout is at %.12s",
                 commit != NULL ? commit : "(unknown)", checkout);
}

static void check_verdicts(struct gate_session *s)
{
    const struct run_info *run = &s->out->run.info;
    const uint32_t *v = run->verdicts;
    const bool alone = s->request->against == NULL;
    uint32_t failing = 0;
    for (int i = 0; i < VERDICT_COUNT; i++)
        failing += run_verdict_fails((enum verdict)i) ? v[i] : 0;
    gate_add(s, "state", run->state == RUN_COMPLETE && run->case_count > 0, "the run is %s%s",
             run_state_name(run->state), run->case_count == 0 ? ", and has no case" : "");
    for (uint32_t i = 0; i < s->out->figures.problem_count; i++)
        if (run->state == RUN_COMPLETE)
            gate_add(s, "known", false, "%s", s->out->figures.problems[i]);
    if (s->request->strict || alone)
        gate_add(s, "verdicts", failing == 0, "%u of %u cases fail", failing, run->case_count);
    else
        gate_add(s, "errors", v[VERDICT_ERROR] == 0, "%u ERROR", v[VERDICT_ERROR]);
    /* what cannot run here cannot run in the baseline either: there, cases that it judged count */
    if (s->request->strict && alone)
        gate_add(s, "unsupported", v[VERDICT_UNSUPPORTED] == 0, "%u UNSUPPORTED",
                 v[VERDICT_UNSUPPORTED]);
    if (alone && s->request->max_accepted != GATE_ACCEPTED_OF_BASELINE)
        gate_add(s, "accepted", v[VERDICT_XFAIL] <= s->request->max_accepted,
                 "%u cases pass only by acceptance, at most %" PRIu64 " allowed", v[VERDICT_XFAIL],
                 s->request->max_accepted);
}

/* Reference engines fail a run only when the request names them. */
static void check_engines(struct gate_session *s)
{
    for (uint32_t i = 0; i < s->request->engine_count; i++) {
        const char *name = s->request->engines[i];
        const struct engine_total *found = NULL;
        for (uint32_t e = 0; e < s->out->figures.engine_count; e++)
            if (strcmp(s->out->figures.engines[e].engine, name) == 0)
                found = &s->out->figures.engines[e];
        if (found == NULL || found->judged == 0)
            gate_add(s, name, false, "no stack of it could be judged");
        else
            gate_add(s, name, found->exact == found->judged, "%u of %u stacks exact", found->exact,
                     found->judged);
    }
}

static void conclude(struct gate *out)
{
    out->open = true;
    for (uint32_t i = 0; i < out->check_count; i++)
        out->open = out->open && out->checks[i].holds;
}

enum status gate_decide(struct store *store, const char *word, const struct gate_request *request,
                        struct arena *keep, struct gate *out, struct fault *fault)
{
    struct gate_session s = {.request = request, .keep = keep, .out = out};
    memset(out, 0, sizeof *out);
    struct run_figures *figures = &out->figures;
    if (figures_read_head(store, word, keep, &out->run.info, figures, fault) != ERR_NONE ||
        (!isnan(request->min_capture) &&
         store_count_captures(store, out->run.info.id, &figures->captures_expected,
                              &figures->captured, fault) != ERR_NONE))
        return fault->code;
    check_run(&s);
    check_verdicts(&s);
    check_metric(&s, METRIC_CAPTURE_RATE, request->min_capture);
    check_metric(&s, METRIC_EXACT, request->min_exact);
    check_metric(&s, METRIC_F1, request->min_f1);
    check_engines(&s);
    if (gate_check_baseline(&s, store, fault) != ERR_NONE)
        return fault->code;
    out->ratio = ratio_read(store, &out->run.info, keep, fault);
    if (out->ratio == NULL)
        return fault->code;
    conclude(out);
    return ERR_NONE;
}

static void check_agreement(struct gate_session *s, const struct shadow_total *total, double limit)
{
    const uint64_t judged = total->same + total->differs + total->failed;
    const double share = judged > 0 ? (double)total->same / (double)judged : 0;
    if (total->against == NULL)
        return; /* the others are compared with it */
    gate_add(s, total->engine, share >= limit,
             "agrees with %s in %.2f %% of %" PRIu64 " reports (%" PRIu64 " differ, %" PRIu64
             " failed), at least %.2f %% demanded",
             total->against, floor(share * 10000) / 100, judged, total->differs, total->failed,
             limit * 100);
}

enum status gate_decide_shadow(const char *file, const struct gate_request *request,
                               struct arena *keep, struct gate *out, struct fault *fault)
{
    struct gate_session s = {.request = request, .keep = keep, .out = out};
    struct totals *totals = NULL;
    struct shadow_list *list = ARENA_NEW(keep, struct shadow_list);
    const double limit = isnan(request->min_agreement) ? 0.99 : request->min_agreement;
    memset(out, 0, sizeof *out);
    out->shadow = true;
    if (list == NULL)
        return fault_no_memory(fault, "gate");
    if (totals_open(file, false, &totals, fault) == ERR_NONE)
        (void)totals_read_shadow(totals, &(struct totals_shadow_query){0}, keep, list, fault);
    totals_close(totals);
    if (fault->code != ERR_NONE)
        return fault->code;
    const uint64_t least = request->strict ? GATE_SHADOW_LEAST : 1;
    gate_add(&s, "sampled reports", list->reports >= least,
             "%" PRIu64 " were judged, at least %" PRIu64 " demanded", list->reports, least);
    for (uint32_t i = 0; i < list->engine_count; i++)
        check_agreement(&s, &list->engines[i], limit);
    conclude(out);
    return ERR_NONE;
}

void gate_write_json(struct json *j, const struct gate *gate)
{
    json_object(j);
    if (gate->shadow)
        json_key_null(j, "run");
    else
        json_key_uint(j, "run", gate->run.info.id);
    json_key_bool(j, "open", gate->open);
    json_key_array(j, "checks");
    for (uint32_t i = 0; i < gate->check_count; i++) {
        json_object(j);
        json_key_string(j, "name", gate->checks[i].name);
        json_key_bool(j, "holds", gate->checks[i].holds);
        json_key_string(j, "said", gate->checks[i].text); /* alias of "text" */
        json_key_string(j, "text", gate->checks[i].text);
        json_object_end(j);
    }
    json_array_end(j);
    ratio_write_both(j, gate->ratio_before, gate->ratio);
    json_object_end(j);
}
