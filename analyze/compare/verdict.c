/* The verdict of a case, from what was expected, what was captured, and the subjects' findings.
 *  Acceptances (XFAIL, XPASS) and repeats (FLAKY) come later: see known.h. */
#include "compare/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"

enum { LINE_BYTES_MAX = 200 }; /* of a line that is quoted */

struct judgement {
    const struct compare_input *in;
    struct arena *keep;
    struct case_result *out;
};

static void decide(struct judgement *j, enum verdict verdict, const char *reason)
{
    j->out->verdict = verdict;
    j->out->reason = reason;
}

static bool has_role(const struct crash_case *crash, enum case_role role)
{
    for (uint32_t i = 0; i < crash->file_count; i++)
        if (crash->files[i].role == role && crash->files[i].bytes > 0)
            return true;
    return false;
}

bool case_is_captured(const struct crash_case *crash)
{
    return has_role(crash, ROLE_RECORD) || has_role(crash, ROLE_DUMP);
}

/* The first subject that could not read its input. That is our own fault and never an expected
 * failure. */
static const struct engine_claim *failed_subject(const struct compare_input *in)
{
    for (uint32_t c = 0; c < in->claim_count; c++)
        if (in->claims[c].subject && !in->claims[c].skipped && in->claims[c].stack_count == 0 &&
            in->claims[c].why != NULL)
            return &in->claims[c];
    return NULL;
}

static bool saw_expected_hook(const struct crash_case *crash)
{
    return crash->expect.hooks == 0 || crash->got.hooks == 0 ||
           (crash->expect.hooks & crash->got.hooks) != 0;
}

/* "the program survived its fault (exit code 77)"; NULL: unknown. */
static const char *how_it_ended(struct judgement *j)
{
    const struct crash_case *c = j->in->crash;
    if (c->got.ended_by == CASE_ENDING_TIME_LIMIT)
        return arena_printf(j->keep,
                            "the program did not end before its time limit, after %" PRIu64
                            ".%" PRIu64 " s",
                            c->got.wall_ms / 1000, c->got.wall_ms % 1000 / 100);
    if (c->got.ended_by != CASE_ENDING_EXIT)
        return NULL;
    if (c->got.exit_code == CASE_EXIT_SURVIVED)
        return arena_printf(j->keep, "the program survived its fault (exit code %d)",
                            CASE_EXIT_SURVIVED);
    return arena_printf(j->keep, "the program ended with exit code 0x%08" PRIX64, c->got.exit_code);
}

static const char *with_ending(struct judgement *j, const char *words)
{
    const char *ended = how_it_ended(j);
    return ended != NULL ? arena_printf(j->keep, "%s%s", words, ended) : NULL;
}

/* The first expectation of the scenario that was not met; NULL: all were. */
static const char *unmet_expectation(struct judgement *j)
{
    const struct crash_case *c = j->in->crash;
    if (c->got.ended_by == CASE_ENDING_TIME_LIMIT)
        return with_ending(j, "captured, but ");
    if (c->expect.code != 0 && c->got.code != 0 && c->got.code != c->expect.code)
        return arena_printf(j->keep, "exception code 0x%08" PRIX64 ", expected 0x%08" PRIX64,
                            c->got.code, c->expect.code);
    if (c->got.ended_by == CASE_ENDING_EXIT && c->expect.exit_code != 0 &&
        c->got.exit_code != c->expect.exit_code)
        return arena_printf(
            j->keep, "exit code 0x%08" PRIX64 ", expected 0x%08" PRIX64 "%s", c->got.exit_code,
            c->expect.exit_code,
            c->got.exit_code == CASE_EXIT_SURVIVED ? ": the program survived its fault" : "");
    if (!saw_expected_hook(c))
        return arena_printf(j->keep, "seen by hook %s, expected %s",
                            case_hook_name(hooks_first(c->got.hooks)),
                            case_hook_name(hooks_first(c->expect.hooks)));
    return j->in->record_fault;
}

/* The name of any file that holds a stack; NULL: none. */
static const char *stack_file(const struct crash_case *crash)
{
    for (uint32_t i = 0; i < crash->file_count; i++) {
        const char *path = crash->files[i].path;
        const char *name = path != NULL ? path_base(path) : "";
        if (crash->files[i].bytes > 0 && (strcmp(name, "stack.txt") == 0 ||
                                          text_glob("*.dmp", name) || text_glob("*.mdmp", name)))
            return name;
    }
    return NULL;
}

/* The line in which the output differs from what was expected: "line 3 is missing: stayed calm";
 * NULL: it does not, or nothing is expected. Line ends may be of either system. */
static const char *output_difference(struct judgement *j)
{
    const char *want = j->in->crash->expect.output, *got = j->in->output;
    if (want == NULL)
        return NULL;
    if (got == NULL)
        return "its output is missing";
    for (unsigned line = 1; *want != '\0' || *got != '\0'; line++) {
        const size_t wanted = strcspn(want, "\r\n"), printed = strcspn(got, "\r\n");
        if (*got == '\0')
            return arena_printf(j->keep, "line %u of its output is missing: %.*s", line,
                                (int)wanted, want);
        if (wanted != printed || memcmp(want, got, wanted) != 0)
            return arena_printf(j->keep, "line %u of its output is: %.*s", line,
                                (int)(printed < LINE_BYTES_MAX ? printed : LINE_BYTES_MAX), got);
        want += wanted + strspn(want + wanted, "\r\n");
        got += printed + strspn(got + printed, "\r\n");
    }
    return NULL;
}

/* Why the victim did not do what its scenario says: "plugin-call-ob2.dll is missing, ..."; NULL: it
 * did. */
static const char *lack_of_victim(struct judgement *j)
{
    const struct crash_case *c = j->in->crash;
    const char *output = j->in->output != NULL ? j->in->output : "";
    if (c->got.ended_by != CASE_ENDING_EXIT || c->got.exit_code != CASE_EXIT_LACKS_FILE ||
        case_is_captured(c))
        return NULL;
    size_t end = strlen(output);
    while (end > 0 && (output[end - 1] == '\n' || output[end - 1] == '\r'))
        end--;
    size_t start = end;
    while (start > 0 && output[start - 1] != '\n')
        start--;
    if (start == end)
        return "a DLL is missing, which the victim loads: build the victims again";
    return arena_printf(j->keep, "%.*s is missing, which the victim loads: build the victims again",
                        (int)(end - start < LINE_BYTES_MAX ? end - start : LINE_BYTES_MAX),
                        output + start);
}

/* A calm program must run, print and end as it does without a capture, and nothing may report that
 * it crashed. A record without a hook is a capture on demand. */
static void decide_calm(struct judgement *j)
{
    const struct crash_case *c = j->in->crash;
    const bool captured = case_is_captured(c);
    const char *stack = stack_file(c), *output = output_difference(j);
    if (has_role(c, ROLE_DUMP) || (captured && c->got.hooks != 0))
        decide(j, VERDICT_FAIL, "a calm program was reported as crashed or hanging");
    else if (stack != NULL)
        decide(
            j, VERDICT_FAIL,
            arena_printf(j->keep, "a calm program was reported as crashed: %s has a stack", stack));
    else if (c->got.ended_by == CASE_ENDING_TIME_LIMIT)
        decide(j, VERDICT_FAIL, "a calm program did not end before the time limit");
    else if (c->got.ended_by == CASE_ENDING_EXIT && c->got.exit_code != c->expect.exit_code)
        decide(j, VERDICT_FAIL,
               arena_printf(j->keep,
                            "a calm program ended with exit code 0x%08" PRIX64
                            ", expected 0x%08" PRIX64,
                            c->got.exit_code, c->expect.exit_code));
    else if (output != NULL)
        decide(j, VERDICT_FAIL, arena_printf(j->keep, "a calm program was disturbed: %s", output));
    else
        decide(j, VERDICT_PASS,
               captured ? "captures on demand only; no hook saw a crash"
                        : "nothing was captured, as expected");
}

/* True when the case is decided without looking at any stack. */
static bool decide_by_capture(struct judgement *j)
{
    const struct compare_input *in = j->in;
    const struct crash_case *c = in->crash;
    if (in->harness_error != NULL)
        return decide(j, VERDICT_ERROR, in->harness_error), true;
    if (in->unsupported != NULL)
        return decide(j, VERDICT_UNSUPPORTED, in->unsupported), true;
    if (c == NULL)
        return false;
    const char *lack = lack_of_victim(j);
    if (lack != NULL)
        return decide(j, VERDICT_ERROR, lack), true;
    if (c->kind == CASE_KIND_CALM)
        return decide_calm(j), true;
    if (case_is_captured(c))
        return false;
    if (c->expect.hooks == 0)
        return decide(j, VERDICT_NOT_CAPTURED_AS_EXPECTED,
                      "no hook can see this crash, and none did"),
               true;
    const char *ended = with_ending(j, "neither record nor dump was captured: ");
    return decide(j, VERDICT_FAIL, ended != NULL ? ended : "neither record nor dump was captured"),
           true;
}

/* True when a finding before number I has the same engine and cause. */
static bool is_repeated(const struct case_result *out, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (out->findings[k].fails && out->findings[k].cause == out->findings[i].cause &&
            strcmp(out->findings[k].engine, out->findings[i].engine) == 0)
            return true;
    return false;
}

/* Each pair of engine and cause once: "offset:rtl=inline_only dump=truncated". */
static const char *make_signature(struct judgement *j)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < j->out->finding_count; i++) {
        const struct finding *f = &j->out->findings[i];
        if (!f->fails || is_repeated(j->out, i))
            continue;
        text = arena_printf(j->keep, "%s%s%s=%s", text != NULL ? text : "", text != NULL ? " " : "",
                            f->engine, cause_name(f->cause));
        if (text == NULL)
            return NULL;
    }
    return text;
}

static bool is_blamed(const struct case_result *out, const char *engine)
{
    for (uint32_t i = 0; i < out->finding_count; i++) {
        const struct finding *f = &out->findings[i];
        if (f->fails && f->wrong != NULL && strcmp(f->wrong, engine) == 0)
            return true;
    }
    return false;
}

/* Which of the judged subjects is right.  "all" means every subject of the case, so none is without
 * a stack. */
static const char *right_subjects(struct judgement *j)
{
    uint32_t judged = 0, exact = 0, subjects = 0;
    const char *right = NULL;
    for (uint32_t i = 0; i < j->out->score_count; i++) {
        const struct engine_score *s = &j->out->scores[i];
        subjects += s->subject;
        if (!s->subject || !s->judged)
            continue;
        judged++;
        if (!s->exact || is_blamed(j->out, s->engine))
            continue;
        right = exact == 0 ? s->engine : arena_printf(j->keep, "%s, %s", right, s->engine);
        exact++;
    }
    if (judged == 0)
        return NULL;
    if (exact == 0)
        return "none";
    return exact == subjects ? "all" : right;
}

/* If only one of two engines agrees with the truth, the other one is wrong. */
static void blame_by_truth(struct case_result *out)
{
    for (uint32_t i = 0; i < out->finding_count; i++) {
        struct finding *f = &out->findings[i];
        const struct engine_score *a = NULL, *b = NULL;
        for (uint32_t s = 0; s < out->score_count; s++) {
            if (strcmp(out->scores[s].engine, f->engine) == 0)
                a = &out->scores[s];
            if (strcmp(out->scores[s].engine, f->against) == 0)
                b = &out->scores[s];
        }
        if (f->wrong != NULL || a == NULL || b == NULL || !a->judged || !b->judged ||
            a->exact == b->exact)
            continue;
        f->wrong = a->exact ? f->against : f->engine;
    }
}

static bool any_subject_stack(const struct case_result *out)
{
    for (uint32_t i = 0; i < out->score_count; i++)
        if (out->scores[i].subject && out->scores[i].state == STACK_OK && out->scores[i].frames > 0)
            return true;
    return false;
}

/* "dump, unexplained: no rule ... (2 places in all); blame: walk of offset:rtl, says dump" */
static const char *finding_reason(struct judgement *j, const struct finding *first)
{
    const uint32_t places = finding_places(j->out->findings, j->out->finding_count, NULL, NULL);
    char blame[BLAME_TEXT_BYTES], more[48] = "";
    const char *whose = finding_blame_text(first, blame);
    if (places > 1)
        (void)snprintf(more, sizeof more, " (%" PRIu32 " places in all)", places);
    const bool blamed = first->cause == CAUSE_HANDLER_CONTEXT ||
                        (!first->against_truth && first->blame != BLAME_UNKNOWN);
    return arena_printf(j->keep, "%s, %s: %s%s%s%s%s%s",
                        blamed && first->wrong != NULL ? first->wrong : first->engine,
                        cause_name(first->cause), first->evidence, more,
                        whose[0] != '\0' ? "; blame: " : "", whose,
                        first->witnesses != NULL ? ", according to " : "",
                        first->witnesses != NULL ? first->witnesses : "");
}

static enum status decide_by_findings(struct judgement *j)
{
    const struct engine_claim *failed = failed_subject(j->in);
    if (failed != NULL) {
        decide(j, VERDICT_ERROR, arena_printf(j->keep, "%s: %s", failed->engine, failed->why));
        return ERR_NONE;
    }
    const char *unmet = j->in->crash != NULL ? unmet_expectation(j) : NULL;
    const struct finding *first = finding_deciding(j->out->findings, j->out->finding_count);
    if (unmet != NULL)
        decide(j, VERDICT_FAIL, unmet);
    else if (first != NULL)
        decide(j, VERDICT_FAIL, finding_reason(j, first));
    else if (j->in->claim_count > 0 && !any_subject_stack(j->out))
        decide(j, VERDICT_ERROR, "no engine under test gave a stack");
    else if (j->in->truth == NULL)
        decide(j, VERDICT_PASS,
               "the engines under test agree; there is no truth to compare them with");
    else if (j->out->finding_count == 0)
        decide(j, VERDICT_PASS, "every stack agrees");
    else
        decide(j, VERDICT_PASS,
               "the engines under test are right; the differences have innocent causes");
    return ERR_NONE;
}

/* The engine under test that takes the record's frames. */
static const char *engine_of_record(const struct compare_input *in)
{
    for (uint32_t c = 0; c < in->claim_count; c++)
        if (in->claims[c].subject && in->claims[c].kind == ENGINE_KIND_OFFSET)
            return in->claims[c].engine;
    return NULL;
}

/* A record that is wrong by itself is a finding of its own, whatever the stacks say: the first one,
 * since it decides the verdict. */
static enum status note_record(struct judgement *j, struct fault *fault)
{
    struct case_result *out = j->out;
    const char *engine = engine_of_record(j->in);
    if (j->in->record_fault == NULL || engine == NULL)
        return ERR_NONE;
    struct finding *all = ARENA_ARRAY(j->keep, (size_t)out->finding_count + 1, struct finding);
    if (all == NULL)
        return fault_no_memory(fault, "findings");
    if (out->finding_count > 0)
        memcpy(all + 1, out->findings, out->finding_count * sizeof *all);
    out->finding_count++;
    all[0] = (struct finding){
        .level = LEVEL_PHYSICAL,
        .cause = CAUSE_RECORD_WRONG,
        .engine = engine,
        .against = FINDING_TRUTH,
        .against_truth = true,
        .wrong = engine,
        .frame_a = -1,
        .frame_b = -1,
        .thread_id = out->thread_count > 0 ? out->threads[0].thread_id : 0,
        .fails = true,
        .evidence = j->in->record_fault,
        .blame = BLAME_RECORD,
    };
    out->findings = all;
    return ERR_NONE;
}

enum status judge_verdict(const struct compare_input *in, struct arena *keep,
                          struct case_result *out, struct fault *fault)
{
    struct judgement j = {in, keep, out};
    blame_by_truth(out);
    if (note_record(&j, fault) != ERR_NONE)
        return fault->code;
    out->right = right_subjects(&j);
    out->signature = make_signature(&j);
    if (!decide_by_capture(&j) && decide_by_findings(&j) != ERR_NONE)
        return fault->code;
    if (out->reason == NULL)
        return fault_no_memory(fault, "verdict");
    return ERR_NONE;
}
