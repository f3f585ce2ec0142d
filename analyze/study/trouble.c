/* See trouble.h. */
#include "study/trouble.h"

#include <inttypes.h>
#include <string.h>

#include "study/figures.h"

static const struct {
    const char *name, *phrase;
} troubles[TROUBLES] = {
    [TROUBLE_NONE] = {"none", "right"},
    [TROUBLE_NOT_CAPTURED] = {"not_captured", "with neither record nor dump"},
    [TROUBLE_NO_DUMP] = {"no_dump", "without a dump"},
    [TROUBLE_NO_RECORD] = {"no_record", "without a record"},
    [TROUBLE_NO_DUMP_STACK] = {"no_dump_stack", "whose dump gives no stack"},
    [TROUBLE_NO_OFFSET_STACK] = {"no_offset_stack", "whose record has no stack"},
    [TROUBLE_NOT_JUDGED] = {"not_judged", "that could not be judged"},
    [TROUBLE_WRONG_STACK] = {"wrong_stack", "with a wrong stack"},
    [TROUBLE_NOT_AGREED] = {"not_agreed", "with stacks that differ where the truth is silent"},
    [TROUBLE_WRONG_END] = {"wrong_end", "that did not end as promised"},
    [TROUBLE_FALSE_ALARM] = {"false_alarm", "with a false alarm"},
    [TROUBLE_FLAKY] = {"flaky", "that differ from repeat to repeat"},
    [TROUBLE_UNEXPECTED_PASS] = {"unexpected_pass", "right although accepted as wrong"},
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

const char *trouble_phrase(enum trouble trouble)
{
    return troubles[trouble].phrase;
}

static enum trouble trouble_of_no_stack(const struct run_case *c, const char *engine)
{
    if (engine_kind_of(engine) == ENGINE_KIND_DUMP)
        return c->timing.dump_bytes > 0 ? TROUBLE_NO_DUMP_STACK : TROUBLE_NO_DUMP;
    return c->timing.record_bytes > 0 ? TROUBLE_NO_OFFSET_STACK : TROUBLE_NO_RECORD;
}

/* A failing finding about an engine without a stack, or about its stack; of a case that fails
 * beyond what was accepted, one that is not accepted. */
static enum trouble trouble_of_findings(const struct run_case *c)
{
    const uint32_t count = c->result.finding_count;
    const struct finding *shown[FINDINGS_DECIDING];
    const struct finding *const first = finding_deciding(c->result.findings, count);
    enum trouble found = TROUBLE_NONE;
    findings_deciding(c->result.findings, count, c->result.reason, shown);
    for (uint32_t i = 0; i < count; i++) {
        const struct finding *f = &c->result.findings[i];
        if (!f->fails || (shown[0] != first && f->cause == first->cause))
            continue;
        const struct engine_score *s = case_score(c, f->engine);
        if (s != NULL && s->state != STACK_OK)
            return trouble_of_no_stack(c, f->engine);
        if (f->against_truth || found == TROUBLE_NONE)
            found = f->against_truth ? TROUBLE_WRONG_STACK : TROUBLE_NOT_AGREED;
    }
    return found;
}

static enum trouble trouble_of_failure(const struct run_case *c)
{
    if (c->kind == CASE_KIND_CALM)
        return TROUBLE_FALSE_ALARM;
    const enum trouble found = trouble_of_findings(c);
    if (found != TROUBLE_NONE)
        return found;
    return run_case_is_captured(c) ? TROUBLE_WRONG_END : TROUBLE_NOT_CAPTURED;
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

enum trouble trouble_next(const uint32_t cases[TROUBLES], bool written[TROUBLES])
{
    int most = TROUBLE_NONE;
    for (int i = TROUBLE_NONE + 1; i < TROUBLES; i++)
        if (!written[i] && cases[i] > (most == TROUBLE_NONE ? 0 : cases[most]))
            most = i;
    written[most] = true;
    return (enum trouble)most;
}

const char *troubles_text(const uint32_t cases[TROUBLES], struct arena *keep)
{
    bool written[TROUBLES] = {false};
    const char *text = "";
    for (enum trouble most; (most = trouble_next(cases, written)) != TROUBLE_NONE;)
        text = text != NULL
                   ? arena_printf(keep, "%s%s%" PRIu32 " %s", text, text[0] != '\0' ? ", " : "",
                                  cases[most], trouble_phrase(most))
                   : NULL;
    return text;
}
