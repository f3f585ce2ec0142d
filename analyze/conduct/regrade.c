/* See regrade.h. */
#include "conduct/regrade.h"

#include <inttypes.h>
#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "collect/collect.h"
#include "compare/run_diff.h"
#include "conduct/judging.h"
#include "conduct/packed.h"
#include "conduct/run_facts.h"
#include "store/store.h"

struct session {
    const struct regrade_request *request;
    struct arena *keep;
    struct store *store; /* NULL when dry */
    struct regraded *out;
    struct judging judging;
    struct fault *fault;
};

/* A case does not know its scenario's group. */
static enum status choose(const char *expr, const struct run_case *c, bool *chosen,
                          struct fault *fault)
{
    const struct scenario scenario = {.name = c->scenario, .variant = c->variant, .kind = c->kind};
    *chosen = false;
    return scenario_select(expr, &scenario, chosen, fault);
}

/* The expression has been tried on one case, so its syntax is right. */
static bool is_chosen(const struct session *s, const struct run_case *c)
{
    struct fault fault = FAULT_INIT;
    bool chosen = false;
    return choose(s->request->expr, c, &chosen, &fault) == ERR_NONE && chosen;
}

static bool is_on_disk(const struct run_case *c)
{
    return c->folder != NULL && path_is_folder(c->folder);
}

/* With the folders of all cases. */
static enum status open_symbols(struct session *s, const struct crash_case *crashes)
{
    const struct judging_needs needs = {.symbols = s->request->symbols,
                                        .symbol_count = s->request->symbol_count,
                                        .cases = crashes,
                                        .case_count =
                                            crashes != NULL ? s->request->old->case_count : 0,
                                        .cache = s->request->cache,
                                        .fetch = s->request->fetch};
    return judging_open(&needs, s->keep, &s->judging, s->fault);
}

static enum status read_crashes(struct session *s, struct crash_case **out)
{
    struct crash_case *crashes =
        ARENA_ARRAY(s->keep, (size_t)s->request->old->case_count + 1, struct crash_case);
    if (crashes == NULL)
        return fault_no_memory(s->fault, "cases");
    for (uint32_t i = 0; i < s->request->old->case_count; i++) {
        const struct run_case *c = &s->request->old->cases[i];
        struct fault fault = FAULT_INIT;
        if (!is_chosen(s, c) || !is_on_disk(c))
            continue;
        const bool whole = case_read(c->folder, s->keep, &crashes[i], &fault) == ERR_NONE &&
                           case_verify(&crashes[i], &fault) == ERR_NONE;
        case_close(&crashes[i]);
        if (whole)
            continue;
        if (s->request->damaged != NULL)
            s->request->damaged(s->request->context, &fault);
        memset(&crashes[i], 0, sizeof crashes[i]);
    }
    *out = crashes;
    return ERR_NONE;
}

/* A case that is gone or damaged cannot be judged: of the old one only the name and what was
 * expected are kept, so that no figure counts a result of the earlier run. */
static void give_up(struct session *s, const struct run_case *old, struct run_case *out)
{
    *out = (struct run_case){.scenario = old->scenario,
                             .variant = old->variant,
                             .arch = old->arch,
                             .kind = old->kind,
                             .folder = old->folder,
                             .case_sha256 = old->case_sha256,
                             .expected_hooks = old->expected_hooks,
                             .expected_code = old->expected_code,
                             .expected_exit_code = old->expected_exit_code};
    out->result.verdict = VERDICT_ERROR;
    out->result.reason = arena_printf(s->keep, "the case is gone or damaged: %s", old->folder);
    s->out->missing++;
}

/* A scenario that left no case cannot be judged again: its verdict stays as it is. */
static void take_over(const struct run_case *old, struct run_case *out)
{
    *out = *old;
    out->known_id = NULL;
    out->id = 0;
}

static enum status judge_all(struct session *s, const struct crash_case *crashes)
{
    s->out->run.cases =
        ARENA_ARRAY(s->keep, (size_t)s->request->old->case_count + 1, struct run_case);
    if (s->out->run.cases == NULL || crashes == NULL)
        return fault_no_memory(s->fault, "cases");
    for (uint32_t i = 0; i < s->request->old->case_count && s->fault->code == ERR_NONE; i++) {
        const struct run_case *old = &s->request->old->cases[i];
        struct run_case *out = &s->out->run.cases[s->out->run.case_count];
        if (!is_chosen(s, old))
            continue;
        if (process_interrupted())
            return fault_set(s->fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "regrade");
        if (s->request->progress != NULL)
            s->request->progress(s->request->context, i + 1, s->request->old->case_count, old);
        if (old->folder == NULL)
            take_over(old, out);
        else if (crashes[i].folder == NULL)
            give_up(s, old, out);
        else if (analysis_case(&s->judging.analysis, &crashes[i], s->keep, out, s->fault) !=
                 ERR_NONE)
            break;
        else
            packed_sizes_take(&crashes[i], &out->timing);
        out->repeat = old->repeat;
        s->out->run.case_count++;
        if (s->store != NULL &&
            store_put_case(s->store, s->out->run.info.id, out, s->fault) != ERR_NONE)
            break;
    }
    return s->fault->code;
}

/* The new run selects what both the old run and the request select. */
static enum status choose_of_both(struct session *s)
{
    struct run_selection *both = &s->out->run.info.selection;
    if (s->request->expr == NULL || !both->known)
        return ERR_NONE;
    both->expr = both->expr == NULL
                     ? s->request->expr
                     : arena_printf(s->keep, "(%s) and (%s)", both->expr, s->request->expr);
    return both->expr != NULL ? ERR_NONE : fault_no_memory(s->fault, "regrade");
}

/* The new run has the facts of the old one, except for the version that judged it. */
static enum status begin(struct session *s)
{
    s->out->run.info = s->request->old->info;
    s->out->run.info.uuid = NULL;
    s->out->run.info.label = arena_printf(s->keep, "regrade of %" PRIu64, s->request->old->info.id);
    s->out->run.info.started_ns = clock_wall_ns();
    if (s->out->run.info.label == NULL)
        return fault_no_memory(s->fault, "regrade");
    if (run_facts_renew(&s->out->run.info, s->keep, s->fault) != ERR_NONE)
        return s->fault->code;
    if (choose_of_both(s) != ERR_NONE)
        return s->fault->code;
    memset(s->out->run.info.verdicts, 0, sizeof s->out->run.info.verdicts);
    if (acceptance_read(s->request->known, s->keep, &s->out->known, s->fault) != ERR_NONE)
        return s->fault->code;
    s->out->run.info.known_text = s->out->known.text;
    return s->store != NULL ? store_begin_run(s->store, &s->out->run.info, s->keep, s->fault)
                            : ERR_NONE;
}

static enum status finish(struct session *s)
{
    if (s->fault->code == ERR_NONE)
        (void)acceptance_apply(&s->out->known, s->store, s->out->run.cases, s->out->run.case_count,
                               false, s->keep, s->fault);
    struct fault fault = FAULT_INIT;
    s->out->run.info.finished_ns = clock_wall_ns();
    s->out->run.info.state = s->fault->code == ERR_NONE ? RUN_COMPLETE : RUN_INTERRUPTED;
    s->out->run.info.case_count = s->out->run.case_count;
    for (uint32_t i = 0; i < s->out->run.case_count; i++)
        s->out->run.info.verdicts[s->out->run.cases[i].result.verdict]++;
    if (s->store != NULL &&
        store_finish_run(s->store, s->out->run.info.id, s->out->run.info.state,
                         s->out->run.info.finished_ns, &fault) != ERR_NONE &&
        s->fault->code == ERR_NONE)
        *s->fault = fault;
    return s->fault->code;
}

/* Compares only the cases that were judged again. */
static enum status find_changes(struct session *s)
{
    const struct stored_run *old = s->request->old;
    struct run_case *before = ARENA_ARRAY(s->keep, (size_t)old->case_count + 1, struct run_case);
    uint32_t count = 0;
    if (before == NULL)
        return fault_no_memory(s->fault, "cases");
    for (uint32_t i = 0; i < old->case_count; i++)
        if (is_chosen(s, &old->cases[i]))
            before[count++] = old->cases[i];
    struct diff_side was, is;
    if (diff_side_of(&old->info, before, count, s->keep, &was, s->fault) != ERR_NONE ||
        diff_side_of(&s->out->run.info, s->out->run.cases, s->out->run.case_count, s->keep, &is,
                     s->fault) != ERR_NONE)
        return s->fault->code;
    return run_diff_make(&was, &is, NULL, s->keep, &s->out->changes, s->fault);
}

enum status regrade_run(struct store *store, const struct regrade_request *request,
                        struct arena *keep, struct regraded *out, struct fault *fault)
{
    static const struct run_case any = {.scenario = "", .variant = ""};
    struct session s = {
        .request = request, .keep = keep, .store = store, .out = out, .fault = fault};
    struct crash_case *crashes = NULL;
    bool chosen = false;
    memset(out, 0, sizeof *out);
    if (choose(request->expr, &any, &chosen, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < request->old->case_count; i++)
        out->chosen += is_chosen(&s, &request->old->cases[i]);
    if (out->chosen == 0)
        return ERR_NONE;
    if (read_crashes(&s, &crashes) == ERR_NONE && open_symbols(&s, crashes) == ERR_NONE &&
        begin(&s) == ERR_NONE) {
        (void)judge_all(&s, crashes);
        if (finish(&s) == ERR_NONE)
            (void)find_changes(&s);
    }
    judging_close(&s.judging);
    return fault->code;
}
