/* See triage.h. */
#include "study/triage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/text_pool.h"
#include "store/store.h"
#include "study/accuracy.h"
#include "study/run_difference.h"
#include "study/triage_order.h"

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

const struct failures *triage_failures(const struct triage *triage, const struct triage_item *item)
{
    return item->group == TRIAGE_ACCEPTED ? &triage->accepted : &triage->failures;
}

/* ---- one case after the other ------------------------------------------------------------- */

struct sorting {
    struct triage *out;
    struct arena *keep;
    struct text_pool texts;
    struct failure_count failures, accepted;
    const char *engines[CLAIMS_MAX]; /* in the order in which cases brought them */
    uint32_t engine_count, room;
};

static enum triage_mark mark_of(const struct run_case *c, const struct engine_score *score)
{
    if (score->state == STACK_FAILED)
        return TRIAGE_FAILED;
    if (score->state != STACK_OK)
        return TRIAGE_NO_STACK;
    if (!score->judged)
        return TRIAGE_UNJUDGED;
    if (!score->exact)
        return TRIAGE_WRONG;
    return case_is_apart(c, score->engine) ? TRIAGE_APART : TRIAGE_EXACT;
}

static const char *pooled(struct sorting *s, const char *text)
{
    return text != NULL ? text_pool_add(&s->texts, text, strlen(text)) : NULL;
}

/* CLAIMS_MAX: there is no place for it. */
static uint32_t engine_at(struct sorting *s, const char *engine)
{
    uint32_t at = 0;
    while (at < s->engine_count && strcmp(s->engines[at], engine) != 0)
        at++;
    if (at == s->engine_count && at < CLAIMS_MAX)
        s->engines[s->engine_count++] = pooled(s, engine);
    return at;
}

/* By engines as cases brought them: engines that come later are not in the text. */
static const char *marks_of(struct sorting *s, const struct run_case *c)
{
    char marks[CLAIMS_MAX + 1];
    memset(marks, TRIAGE_NO_STACK, CLAIMS_MAX);
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        const uint32_t at = engine_at(s, c->result.scores[i].engine);
        if (at < CLAIMS_MAX)
            marks[at] = (char)mark_of(c, &c->result.scores[i]);
    }
    marks[s->engine_count] = '\0';
    return pooled(s, marks);
}

_Static_assert(CAUSE_COUNT <= 64, "causes are bits of a number");

static uint64_t causes_of(const struct run_case *c)
{
    uint64_t causes = 0;
    for (uint32_t i = 0; i < c->result.finding_count; i++)
        causes |= UINT64_C(1) << c->result.findings[i].cause;
    return causes;
}

static enum status add_item(void *context, const struct run_case *c, struct fault *fault)
{
    struct sorting *s = context;
    struct triage *out = s->out;
    const uint64_t wanted = (uint64_t)out->item_count + 1, all = out->run.case_count;
    if (!ARENA_ROOM(s->keep, out->items, s->room, wanted < all ? all : wanted))
        return fault_no_memory(fault, "queue of cases");
    const enum trouble trouble = triage_trouble(c);
    struct triage_item *item = &out->items[out->item_count++];
    *item =
        (struct triage_item){.id = c->id,
                             .scenario = pooled(s, c->scenario),
                             .variant = pooled(s, c->variant),
                             .signature = pooled(s, c->result.signature),
                             .reason = trouble != TROUBLE_NONE ? pooled(s, c->result.reason) : NULL,
                             .marks = marks_of(s, c),
                             .causes = causes_of(c),
                             .references = case_references(c),
                             .repeat = c->repeat,
                             .got_hooks = c->got_hooks,
                             .kind = c->kind,
                             .verdict = c->result.verdict,
                             .group = group_of(c, trouble),
                             .trouble = trouble};
    const struct diff_case failing = failures_case(c);
    for (int i = 0; i < FAILURES_OF_CASE; i++)
        item->failures[i] = UINT32_MAX;
    if ((trouble != TROUBLE_NONE && !failures_add(&s->failures, &failing, item->failures)) ||
        (item->group == TRIAGE_ACCEPTED && !failures_add(&s->accepted, &failing, item->failures)))
        return fault_no_memory(fault, "queue of cases");
    out->troubles[trouble]++;
    out->groups[item->group]++;
    out->wrong += trouble != TROUBLE_NONE;
    return item->scenario != NULL && item->variant != NULL && item->marks != NULL
               ? ERR_NONE
               : fault_no_memory(fault, "queue of cases");
}

/* Marks by the engines of the figures, which are known once all cases have passed. */
static enum status arrange_marks(struct sorting *s, struct fault *fault)
{
    const struct run_figures *figures = &s->out->figures;
    const char *before = NULL, *after = NULL;
    for (uint32_t i = 0; i < s->out->item_count; i++) {
        char marks[CLAIMS_MAX + 1];
        struct triage_item *item = &s->out->items[i];
        const uint32_t count = (uint32_t)strlen(item->marks);
        uint32_t e = 0;
        for (; item->marks != before && e < figures->engine_count && e < CLAIMS_MAX; e++) {
            const uint32_t at = engine_at(s, figures->engines[e].engine);
            marks[e] = at < count ? item->marks[at] : (char)TRIAGE_NO_STACK;
        }
        marks[e] = '\0';
        after = item->marks != before ? pooled(s, marks) : after;
        before = item->marks;
        item->marks = after;
        if (after == NULL)
            return fault_no_memory(fault, "queue of cases");
    }
    return ERR_NONE;
}

/* The verdicts of the run, as they passed: a row's `index` is the place of its item. */
static bool side_of(const struct triage *t, struct arena *keep, struct diff_side *out)
{
    *out = (struct diff_side){.run = &t->run, .count = t->item_count};
    out->cases = ARENA_ARRAY(keep, (size_t)t->item_count + 1, struct diff_case);
    for (uint32_t i = 0; out->cases != NULL && i < t->item_count; i++) {
        const struct triage_item *item = &t->items[i];
        out->cases[i] = (struct diff_case){.scenario = item->scenario,
                                           .variant = item->variant,
                                           .signature = item->signature,
                                           .kind = item->kind,
                                           .verdict = item->verdict,
                                           .repeat = item->repeat,
                                           .index = i};
    }
    return out->cases != NULL;
}

/* Marks what fails now and did not in the baseline of the run's branch and platform. The items are
 * sorted by name. */
static enum status mark_new(struct store *store, struct arena *keep, struct triage *t,
                            struct fault *fault)
{
    struct run_side before;
    struct diff_side now;
    struct run_diff diff;
    struct fault none = FAULT_INIT;
    if (study_read_side_before(store, "baseline", &t->run, DIFF_VERDICTS, keep, &before, &none) !=
            ERR_NONE ||
        before.info.id == t->run.id)
        return ERR_NONE;
    if (!side_of(t, keep, &now))
        return fault_no_memory(fault, "queue of cases");
    if (difference_of_verdicts(&before.side, &now, keep, &diff, fault) != ERR_NONE)
        return fault->code;
    t->baseline = before.info.id;
    for (uint32_t i = 0; i < diff.row_count; i++) {
        if (diff.rows[i].group != DIFF_NEW || diff.rows[i].b == NULL)
            continue;
        struct triage_item *item = &t->items[diff.rows[i].b->index];
        item->is_new = true;
        t->fresh += item->trouble != TROUBLE_NONE;
        for (int k = 0; k < FAILURES_OF_CASE; k++)
            if (item->trouble != TROUBLE_NONE && item->failures[k] != UINT32_MAX)
                t->failures.rows[item->failures[k]].fresh++;
    }
    return ERR_NONE;
}

/* Where each group of ALL is among the sorted ones, and since when the largest are there. */
static enum status arrange_failures(struct sorting *s, struct failure_count *all,
                                    struct store *store, struct fault *fault)
{
    struct triage *t = s->out;
    uint32_t *places = NULL;
    if (failures_end(all, &places, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < t->item_count; i++)
        for (int k = 0; k < FAILURES_OF_CASE; k++)
            if (t->items[i].failures[k] != UINT32_MAX &&
                triage_failures(t, &t->items[i]) == all->out)
                t->items[i].failures[k] = places[t->items[i].failures[k]];
    for (uint32_t i = 0; i < all->out->count && i < PROBLEMS_MOST; i++) {
        struct failure *f = &all->out->rows[i];
        if (store_read_history(store, f->example, &t->run, s->keep, &f->since, fault) != ERR_NONE)
            return fault->code;
    }
    return ERR_NONE;
}

enum status triage_make(struct store *store, const char *word, struct arena *keep,
                        struct triage *out, struct fault *fault)
{
    struct sorting sorting = {.out = out, .keep = keep};
    const struct figures_watch watch = {0, add_item, &sorting};
    struct arena scratch;
    memset(out, 0, sizeof *out);
    text_pool_init(&sorting.texts, keep);
    failures_begin(&sorting.failures, keep, &out->failures);
    failures_begin(&sorting.accepted, keep, &out->accepted);
    if (figures_read(store, word, &watch, keep, &out->run, &out->figures, fault) != ERR_NONE ||
        arrange_marks(&sorting, fault) != ERR_NONE ||
        arrange_failures(&sorting, &sorting.failures, store, fault) != ERR_NONE ||
        arrange_failures(&sorting, &sorting.accepted, store, fault) != ERR_NONE)
        return fault->code;
    arena_init(&scratch, 0);
    if (triage_sort_by_name(out->items, out->item_count, fault) == ERR_NONE &&
        mark_new(store, &scratch, out, fault) == ERR_NONE)
        (void)triage_sort_by_urgency(out->items, out->item_count, fault);
    arena_free(&scratch);
    return fault->code;
}

enum status triage_read_case(const struct triage *triage, const struct triage_item *item,
                             struct arena *keep, struct run_case *out, struct fault *fault)
{
    return store_read_parts(triage->figures.store, item->id, CASE_SCORES | CASE_FINDINGS, keep, out,
                            fault);
}

/* ---- words -------------------------------------------------------------------------------- */

/* F fails, and no other finding says the same of the same place against the truth. */
static bool is_silent(const void *context, const struct finding *f)
{
    const struct run_case *c = context;
    for (uint32_t i = 0; !f->against_truth && i < c->result.finding_count; i++) {
        const struct finding *other = &c->result.findings[i];
        if (other->fails && other->against_truth && other->row == f->row &&
            other->thread_id == f->thread_id && strcmp(other->engine, f->engine) == 0)
            return false;
    }
    return f->fails && !f->against_truth;
}

static bool is_against_truth(const void *context, const struct finding *f)
{
    (void)context;
    return f->fails && f->against_truth;
}

/* Of two engines that contradict each other the one that is WRONG, or the other; where that is not
 * known, the one that was compared. */
static const char *side_of_blame(const struct finding *f, bool wrong)
{
    const bool other = !f->against_truth && text_equal(f->wrong, f->against);
    return wrong != other ? f->engine : f->against;
}

/* "the stacks of offset:rtl and dump differ": the engines of C with a failing finding of one of the
 * two kinds, against the truth or between two engines; NULL: there is none. *PLACES: where, however
 * many engines differ there. */
static const char *engines_that_differ(const struct run_case *c, finding_kind_fn *kind,
                                       uint32_t *places, struct arena *keep)
{
    const char *engines = NULL;
    uint32_t count = 0;
    *places = finding_places(c->result.findings, c->result.finding_count, kind, c);
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        bool differs = false;
        for (uint32_t f = 0; f < c->result.finding_count && !differs; f++) {
            const struct finding *finding = &c->result.findings[f];
            differs = text_equal(side_of_blame(finding, true), c->result.scores[i].engine) &&
                      kind(c, finding);
        }
        if (!differs)
            continue;
        engines = count++ == 0
                      ? c->result.scores[i].engine
                      : arena_printf(keep, "%s and %s", engines, c->result.scores[i].engine);
    }
    return engines == NULL ? NULL
                           : arena_printf(keep, "the %s of %s %s", count == 1 ? "stack" : "stacks",
                                          engines, count == 1 ? "differs" : "differ");
}

/* Two facts, which are kept apart: a stack contradicts the truth, or two stacks contradict each
 * other where the truth says nothing. */
static const char *sentence_of_stacks(const struct run_case *c, struct arena *keep)
{
    uint32_t wrong = 0, apart = 0;
    const char *truth = engines_that_differ(c, is_against_truth, &wrong, keep);
    const char *silent = engines_that_differ(c, is_silent, &apart, keep);
    if (truth != NULL) {
        apart = finding_places(c->result.findings, c->result.finding_count, NULL, NULL) - wrong;
        silent = apart > 0 ? silent : NULL;
    }
    const char *other = NULL;
    for (uint32_t i = 0; i < c->result.finding_count && other == NULL; i++)
        if (is_silent(c, &c->result.findings[i]))
            other = side_of_blame(&c->result.findings[i], false);
    const char *text = truth != NULL ? arena_printf(keep, "Wrong: %s from what really ran in %u %s",
                                                    truth, wrong, wrong == 1 ? "place" : "places")
                                     : NULL;
    if (silent == NULL || other == NULL)
        return text != NULL ? arena_printf(keep, "%s.", text)
                            : "Wrong: a stack differs from what really ran.";
    const char *where = c->truth == NULL && c->result.right == NULL
                            ? "there is no truth to judge by"
                            : "the truth is silent there";
    return text != NULL
               ? arena_printf(keep,
                              "%s; and %s from that of %s in %u more, where the truth is silent.",
                              text, silent, other, apart)
               : arena_printf(keep, "Not agreed: %s from that of %s in %u %s; %s.", silent, other,
                              apart, apart == 1 ? "place" : "places", where);
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
    case TROUBLE_NO_DUMP_STACK:
        return arena_printf(keep, "Wrong: there is a dump, and no stack of the dump way: %s.",
                            reason);
    case TROUBLE_NO_OFFSET_STACK:
        return arena_printf(keep, "Wrong: there is a record, and no stack of the offset way: %s.",
                            reason);
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
    bool written[TROUBLES] = {false};
    json_object(j);
    json_key_uint(j, "total", t->wrong);
    json_key_uint(j, "new", t->fresh);
    json_key_uint_known(j, "baseline", t->baseline);
    json_key_array(j, "groups");
    for (enum trouble most; (most = trouble_next(t->troubles, written)) != TROUBLE_NONE;) {
        json_object(j);
        json_key_string(j, "trouble", trouble_name(most));
        json_key_string(j, "text", trouble_phrase(most));
        json_key_uint(j, "cases", t->troubles[most]);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_uint(j, "shared", t->failures.shared);
    json_key(j, "problems");
    failures_write_json(j, &t->failures, PROBLEMS_MOST);
    json_key_uint(j, "problems_left",
                  t->failures.count > PROBLEMS_MOST ? t->failures.count - PROBLEMS_MOST : 0);
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
    for (uint32_t i = 0; i < t->item_count; i++) {
        const struct triage_item *item = &t->items[i];
        const enum verdict v = item->verdict;
        if (item->kind == CASE_KIND_CALM || v == VERDICT_UNSUPPORTED ||
            v == VERDICT_NOT_CAPTURED_AS_EXPECTED) {
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
    const struct accuracy *both = t->figures.accuracy;
    for (int w = 0; w < ACCURACY_WAYS; w++) {
        const uint32_t total = both->judged.both;
        const struct triage_share exact = {
            .name = both->ways[w].engine,
            .right = (uint32_t)both->ways[w].exact.right,
            .total = total,
            .left_out = captured.total > total ? captured.total - total : 0,
            .of = "cases of which both ways have a stack that could be judged",
            .left_out_why = "a way has no stack, or nothing to compare it with"};
        write_share(j, &exact);
    }
    json_array_end(j);
}
