/* What a report adds up over all cases besides times: causes and refused snapshots. One function
 * takes a case, whether all cases stay in memory or each is gone a moment later. */
#include <string.h>

#include "study/figures.h"

static const char *kept_text(struct case_sums *s, const char *text)
{
    return text != NULL ? text_pool_add(&s->texts, text, strlen(text)) : NULL;
}

/* What reports show of an example: engine, evidence, and the name of its case. */
static const struct finding *kept_finding(struct case_sums *s, const struct finding *f)
{
    struct finding *copy = ARENA_NEW(s->texts.keep, struct finding);
    if (copy == NULL)
        return NULL;
    *copy = (struct finding){.level = f->level,
                             .cause = f->cause,
                             .fails = f->fails,
                             .engine = kept_text(s, f->engine),
                             .evidence = kept_text(s, f->evidence)};
    return copy;
}

static const struct run_case *kept_case(struct case_sums *s, const struct run_case *c)
{
    struct run_case *copy = ARENA_NEW(s->texts.keep, struct run_case);
    if (copy == NULL)
        return NULL;
    copy->scenario = kept_text(s, c->scenario);
    copy->variant = kept_text(s, c->variant);
    copy->repeat = c->repeat;
    return copy;
}

void case_sums_add(struct case_sums *s, const struct run_case *c)
{
    bool seen[CAUSE_COUNT] = {false};
    for (uint32_t f = 0; f < c->result.finding_count; f++) {
        const struct finding *finding = &c->result.findings[f];
        struct cause_total *total = &s->causes[finding->cause];
        s->findings++;
        total->findings++;
        total->failing += finding->fails;
        total->cases += !seen[finding->cause];
        seen[finding->cause] = true;
        if (total->example == NULL || (finding->fails && !total->example->fails)) {
            total->example = kept_finding(s, finding);
            total->where = kept_case(s, c);
        }
        if (finding->cause == CAUSE_SNAPSHOT_REFUSED && s->refused_count++ < REFUSED_SHOWN)
            s->refused[s->refused_count - 1] =
                (struct refused_snapshot){kept_case(s, c), kept_finding(s, finding)};
    }
}

bool case_deviates(const struct run_case *c)
{
    const enum verdict v = c->result.verdict;
    if (v != VERDICT_PASS && v != VERDICT_UNSUPPORTED && v != VERDICT_NOT_CAPTURED_AS_EXPECTED)
        return true;
    for (uint32_t i = 0; i < c->result.score_count; i++) {
        const struct engine_score *s = &c->result.scores[i];
        if (s->subject && s->judged && !s->exact)
            return true;
    }
    return false;
}
