/* See triage.h. */
#include "study/triage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/run_diff.h"
#include "study/difference.h"

static const struct {
    const char *name, *phrase;
} troubles[TROUBLES] = {
    [TROUBLE_NONE] = {"none", "right"},
    [TROUBLE_NOT_CAPTURED] = {"not_captured", "with neither record nor dump"},
    [TROUBLE_NO_DUMP] = {"no_dump", "without a dump"},
    [TROUBLE_NO_RECORD] = {"no_record", "without a record"},
    [TROUBLE_NOT_JUDGED] = {"not_judged", "that could not be judged"},
    [TROUBLE_WRONG_STACK] = {"wrong_stack", "with a wrong stack"},
    [TROUBLE_WRONG_END] = {"wrong_end", "that did not end as promised"},
    [TROUBLE_FALSE_ALARM] = {"false_alarm", "with a false alarm"},
    [TROUBLE_FLAKY] = {"flaky", "that differ from repeat to repeat"},
    [TROUBLE_UNEXPECTED_PASS] = {"unexpected_pass", "right although accepted as wrong"},
};

static const char *const groups[TRIAGE_GROUPS] = {
    [TRIAGE_FAILING] = "failing",
    [TRIAGE_ERROR] = "error",
    [TRIAGE_FLAKY] = "flaky",
    [TRIAGE_UNEXPECTED_PASS] = "unexpected_pass",
    [TRIAGE_UNEXPLAINED] = "unexplained",
    [TRIAGE_ACCEPTED] = "accepted",
    [TRIAGE_REFERENCE] = "reference",
    [TRIAGE_REST] = "rest",
};

const char *trouble_name(enum trouble trouble)
{
    return troubles[trouble].name;
}

bool trouble_parse(const char *name, enum trouble *out)
{
    for (int t = 0; t < TROUBLES; t++)
        if (strcmp(troubles[t].name, name) == 0) {
            *out = (enum trouble)t;
            return true;
        }
    return false;
}

/* After a count: "without a dump". */
static const char *trouble_phrase(enum trouble trouble)
{
    return troubles[trouble].phrase;
}

const char *triage_group_name(enum triage_group group)
{
    return groups[group];
}

bool triage_group_parse(const char *name, enum triage_group *out)
{
    for (int g = 0; g < TRIAGE_GROUPS; g++)
        if (strcmp(groups[g], name) == 0) {
            *out = (enum triage_group)g;
            return true;
        }
    return false;
}

static bool is_calm(const struct run_case *c)
{
    return c->kind == CASE_KIND_CALM;
}

/* A failing finding about an engine that had nothing to read, or about its stack. */
static enum trouble trouble_of_findings(const struct run_case *c)
{
    enum trouble found = TROUBLE_NONE;
    for (uint32_t i = 0; i < c->result.finding_count; i++) {
        const struct finding *f = &c->result.findings[i];
        if (!f->fails)
            continue;
        const struct engine_score *s = case_score(c, f->engine);
        if (s != NULL && s->state != STACK_OK)
            return engine_kind_of(f->engine) == ENGINE_KIND_DUMP ? TROUBLE_NO_DUMP
                                                                 : TROUBLE_NO_RECORD;
        found = TROUBLE_WRONG_STACK;
    }
    return found;
}

static enum trouble trouble_of_failure(const struct run_case *c)
{
    if (is_calm(c))
        return TROUBLE_FALSE_ALARM;
    const enum trouble found = trouble_of_findings(c);
    if (found != TROUBLE_NONE)
        return found;
    return c->timing.record_bytes == 0 && c->timing.dump_bytes == 0 ? TROUBLE_NOT_CAPTURED
                                                                    : TROUBLE_WRONG_END;
}

enum trouble triage_trouble(const struct run_case *c)
{
    if (!run_verdict_fails(c->result.verdict))
        return TROUBLE_NONE;
    switch (c->result.verdict) {
    case VERDICT_XPASS:
        return TROUBLE_UNEXPECTED_PASS;
    case VERDICT_FLAKY:
        return TROUBLE_FLAKY;
    case VERDICT_FAIL:
        return trouble_of_failure(c);
    default:
        return TROUBLE_NOT_JUDGED;
    }
}

static bool has_unexplained(const struct run_case *c)
{
    for (uint32_t i = 0; i < c->result.finding_count; i++)
        if (c->result.findings[i].cause == CAUSE_UNEXPLAINED)
            return true;
    return false;
}

static enum triage_group group_of(const struct run_case *c, enum trouble trouble)
{
    if (trouble == TROUBLE_FLAKY)
        return TRIAGE_FLAKY;
    if (trouble == TROUBLE_UNEXPECTED_PASS)
        return TRIAGE_UNEXPECTED_PASS;
    if (trouble == TROUBLE_NOT_JUDGED)
        return TRIAGE_ERROR;
    if (trouble != TROUBLE_NONE)
        return TRIAGE_FAILING;
    if (c->result.verdict == VERDICT_XFAIL)
        return TRIAGE_ACCEPTED;
    if (has_unexplained(c))
        return TRIAGE_UNEXPLAINED;
    return c->result.finding_count > 0 ? TRIAGE_REFERENCE : TRIAGE_REST;
}

static int by_urgency(const void *a, const void *b)
{
    const struct triage_item *x = a, *y = b;
    if (x->group != y->group)
        return (int)x->group - (int)y->group;
    if (x->is_new != y->is_new)
        return x->is_new ? -1 : 1;
    const int scenario = strcmp(x->c->scenario, y->c->scenario);
    const int variant = scenario != 0 ? scenario : strcmp(x->c->variant, y->c->variant);
    return variant != 0 ? variant : (x->c->repeat > y->c->repeat) - (x->c->repeat < y->c->repeat);
}

/* Marks what fails now and did not in the baseline of the run's branch and platform. */
static enum status mark_new(struct store *store, struct arena *keep, struct triage *t,
                            struct fault *fault)
{
    struct run_side before;
    struct diff_side now;
    struct difference difference;
    struct fault none = FAULT_INIT;
    if (study_read_side_before(store, "baseline", &t->run.info, keep, &before, &none) != ERR_NONE ||
        before.info.id == t->run.info.id)
        return ERR_NONE;
    if (diff_side_of(&t->run.info, t->run.cases, t->run.case_count, keep, &now, fault) !=
            ERR_NONE ||
        difference_make(store, &before.side, &now, 0, keep, &difference, fault) != ERR_NONE)
        return fault->code;
    t->baseline = before.info.id;
    for (uint32_t i = 0; i < difference.diff.row_count; i++) {
        const struct diff_row *row = &difference.diff.rows[i];
        if (row->group == DIFF_NEW && row->b != NULL)
            t->items[row->b->index].is_new = true;
    }
    return ERR_NONE;
}

enum status triage_make(struct store *store, const char *word, struct arena *keep,
                        struct triage *out, struct fault *fault)
{
    memset(out, 0, sizeof *out);
    if (study_read_run(store, word, RUN_CASES, keep, &out->run, fault) != ERR_NONE ||
        figures_prepare(&out->run.info, out->run.cases, out->run.case_count, keep, &out->figures,
                        fault) != ERR_NONE)
        return fault->code;
    out->items = ARENA_ARRAY(keep, (size_t)out->run.case_count + 1, struct triage_item);
    if (out->items == NULL)
        return fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "queue of cases");
    if (mark_new(store, keep, out, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < out->run.case_count; i++) {
        struct triage_item *item = &out->items[i];
        item->c = &out->run.cases[i];
        item->trouble = triage_trouble(item->c);
        item->group = group_of(item->c, item->trouble);
        out->wrong += item->trouble != TROUBLE_NONE;
        out->fresh += item->trouble != TROUBLE_NONE && item->is_new;
        out->troubles[item->trouble]++;
        out->groups[item->group]++;
    }
    array_sort(out->items, out->run.case_count, sizeof *out->items, by_urgency);
    return ERR_NONE;
}

/* ---- words -------------------------------------------------------------------------------- */

static const char *sentence_of_stacks(const struct run_case *c, struct arena *keep)
{
    const char *engines = NULL;
    uint32_t count = 0, engine_count = 0;
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        uint32_t of_engine = 0;
        for (uint32_t f = 0; f < c->result.finding_count; f++)
            of_engine += c->result.findings[f].fails &&
                         strcmp(c->result.findings[f].engine, c->result.scores[i].engine) == 0;
        if (of_engine == 0)
            continue;
        engines = engine_count == 0
                      ? c->result.scores[i].engine
                      : arena_printf(keep, "%s and %s", engines, c->result.scores[i].engine);
        engine_count++;
        count += of_engine;
    }
    if (engine_count == 0)
        return "Wrong: a stack differs from what really ran.";
    return arena_printf(keep, "Wrong: the %s of %s %s from what really ran in %u %s.",
                        engine_count == 1 ? "stack" : "stacks", engines,
                        engine_count == 1 ? "differs" : "differ", count,
                        count == 1 ? "place" : "places");
}

static const char *sentence_of_trouble(const struct run_case *c, enum trouble trouble,
                                       struct arena *keep)
{
    const char *reason = c->result.reason != NULL ? c->result.reason : "no reason was stored";
    switch (trouble) {
    case TROUBLE_NOT_CAPTURED:
        return "Wrong: the process died and left neither a record nor a dump.";
    case TROUBLE_NO_DUMP:
        return "Wrong: the process died and left no dump, so there is no stack of the dump way.";
    case TROUBLE_NO_RECORD:
        return "Wrong: the process died and left no record, so there is no stack of the offset "
               "way.";
    case TROUBLE_NOT_JUDGED:
        return arena_printf(keep, "Not judged: %s.", reason);
    case TROUBLE_WRONG_END:
        return arena_printf(keep, "Wrong: the process did not end as promised: %s.", reason);
    case TROUBLE_FALSE_ALARM:
        return "Wrong: a healthy program was reported as dead.";
    case TROUBLE_FLAKY:
        return "Unstable: repeats of this case have different verdicts.";
    case TROUBLE_UNEXPECTED_PASS:
        return "Right, although it is accepted as wrong: the acceptance can go.";
    default:
        return sentence_of_stacks(c, keep);
    }
}

const char *triage_sentence(const struct run_case *c, struct arena *keep)
{
    const enum trouble trouble = triage_trouble(c);
    if (trouble != TROUBLE_NONE)
        return sentence_of_trouble(c, trouble, keep);
    const char *reason = c->result.reason != NULL ? c->result.reason : "no reason was stored";
    switch (c->result.verdict) {
    case VERDICT_XFAIL:
        return arena_printf(keep, "Wrong, and accepted: %s.", reason);
    case VERDICT_UNSUPPORTED:
        return arena_printf(keep, "Not tested on this machine: %s.", reason);
    case VERDICT_NOT_CAPTURED_AS_EXPECTED:
        return "As expected: no hook can see this death, and none did.";
    default:
        if (is_calm(c))
            return "Right: the program is healthy, and nothing reported it as dead.";
        return c->truth == NULL && c->result.right == NULL
                   ? "The engines under test agree; what really ran is not known."
                   : "Right: the engines under test give the stack that really ran.";
    }
}

void triage_write_wrong(struct json *j, const struct triage *t)
{
    bool written[TROUBLES] = {[TROUBLE_NONE] = true};
    json_object(j);
    json_key_uint(j, "total", t->wrong);
    json_key_uint(j, "new", t->fresh);
    json_key(j, "baseline");
    t->baseline != 0 ? json_uint(j, t->baseline) : json_null(j);
    json_key(j, "groups");
    json_array(j);
    for (;;) {
        int most = TROUBLE_NONE;
        for (int i = 0; i < TROUBLES; i++)
            if (!written[i] && t->troubles[i] > (most == TROUBLE_NONE ? 0 : t->troubles[most]))
                most = i;
        if (most == TROUBLE_NONE)
            break;
        written[most] = true;
        json_object(j);
        json_key_string(j, "trouble", trouble_name((enum trouble)most));
        json_key_string(j, "text", trouble_phrase((enum trouble)most));
        json_key_uint(j, "cases", t->troubles[most]);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void write_share(struct json *j, const struct triage_share *s)
{
    json_object(j);
    json_key_string(j, "name", s->name);
    json_key_uint(j, "right", s->right);
    json_key_uint(j, "total", s->total);
    json_key_uint(j, "left_out", s->left_out);
    json_key_string(j, "of", s->of);
    json_key_string(j, "left_out_why", s->left_out > 0 ? s->left_out_why : NULL);
    json_object_end(j);
}

void triage_write_shares(struct json *j, const struct triage *t)
{
    struct triage_share captured = {.name = "captured",
                                    .of = "cases that should leave a record and a dump",
                                    .left_out_why = "nothing is to be captured, or not on this "
                                                    "machine"};
    for (uint32_t i = 0; i < t->run.case_count; i++) {
        const struct triage_item *item = &t->items[i];
        const enum verdict v = item->c->result.verdict;
        if (is_calm(item->c) || v == VERDICT_UNSUPPORTED || v == VERDICT_NOT_CAPTURED_AS_EXPECTED) {
            captured.left_out++;
            continue;
        }
        captured.total++;
        captured.right += item->trouble != TROUBLE_NOT_CAPTURED &&
                          item->trouble != TROUBLE_NO_DUMP && item->trouble != TROUBLE_NO_RECORD &&
                          item->trouble != TROUBLE_NOT_JUDGED;
    }
    json_array(j);
    write_share(j, &captured);
    for (uint32_t i = 0; i < t->figures.engine_count; i++) {
        const struct engine_total *e = &t->figures.engines[i];
        if (!e->subject)
            continue;
        const struct triage_share exact = {
            .name = e->engine,
            .right = e->exact,
            .total = e->judged,
            .left_out = captured.total > e->judged ? captured.total - e->judged : 0,
            .of = "stacks that could be judged",
            .left_out_why = "no stack, or nothing to compare it with"};
        write_share(j, &exact);
    }
    json_array_end(j);
}
