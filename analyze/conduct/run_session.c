/* See run_session.h. */
#include "conduct/run_session.h"

#include <string.h>

#include "base/files.h"
#include "base/process.h"
#include "conduct/run_facts.h"
#include "store/store.h"
#include "study/selection.h"

/* Each seed gives a different order, the same seed always the same one. This reveals scenarios that
 * depend on an earlier one. */
static void shuffle(struct scenario *scenarios, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count; seed != 0 && i > 1; i--) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        const uint32_t k = (uint32_t)((seed >> 33) % i);
        const struct scenario swap = scenarios[i - 1];
        scenarios[i - 1] = scenarios[k];
        scenarios[k] = swap;
    }
}

enum status run_session_choose(struct run_session *s)
{
    const struct run_selection *chosen = &s->request->selection;
    uint32_t all = 0, taken = 0;

    if (collect_list(&s->collect, s->keep, &s->scenarios, &all, &s->fault) != ERR_NONE)
        return s->fault.code;
    for (uint32_t i = 0; i < all; i++) {
        bool selected = false;
        if (scenario_select(chosen->expr, &s->scenarios[i], &selected, &s->fault) != ERR_NONE)
            return s->fault.code;
        if (!selected || !selection_has_variant(chosen->variants, s->scenarios[i].variant))
            continue;
        if (chosen->shard_count == 0 || taken++ % chosen->shard_count == chosen->shard - 1)
            s->scenarios[s->scenario_count++] = s->scenarios[i];
    }
    shuffle(s->scenarios, s->scenario_count, s->request->seed);
    return ERR_NONE;
}

/* ---- the run as a whole ------------------------------------------------------------- */

/* True when the repeats of C have both verdicts, before any of them was called FLAKY. */
static bool is_flaky(const struct run_session *s, const struct run_case *c,
                     const enum verdict *verdicts)
{
    bool passed = false, failed = false;

    for (uint32_t i = 0; i < s->case_count; i++) {
        if (strcmp(c->scenario, s->cases[i].scenario) != 0 ||
            strcmp(c->variant, s->cases[i].variant) != 0)
            continue;
        passed = passed || verdicts[i] == VERDICT_PASS;
        failed = failed || verdicts[i] == VERDICT_FAIL;
    }
    return passed && failed;
}

/* What was seen, whether an acceptance expected it or not. */
static enum verdict seen_verdict(enum verdict verdict)
{
    if (verdict == VERDICT_XFAIL)
        return VERDICT_FAIL;
    return verdict == VERDICT_XPASS ? VERDICT_PASS : verdict;
}

/* Acceptances are applied again afterwards: to a case that is FLAKY instead. */
static enum status mark_flaky(struct run_session *s)
{
    enum verdict *verdicts = ARENA_ARRAY(s->keep, s->case_count, enum verdict);

    if (verdicts == NULL)
        return fault_no_memory(&s->fault, "verdicts");
    for (uint32_t i = 0; i < s->case_count; i++)
        verdicts[i] = seen_verdict(s->cases[i].result.verdict);
    for (uint32_t i = 0; i < s->case_count && s->request->repeat > 1; i++) {
        struct run_case *c = &s->cases[i];
        if ((verdicts[i] != VERDICT_PASS && verdicts[i] != VERDICT_FAIL) ||
            !is_flaky(s, c, verdicts))
            continue;
        const bool has_reason = c->result.reason != NULL && c->result.verdict != VERDICT_XPASS;
        c->result.reason =
            arena_printf(s->keep, "%s in this repeat, not in all: %s", verdict_name(verdicts[i]),
                         has_reason ? c->result.reason : "");
        c->result.verdict = VERDICT_FLAKY;
        c->known_id = NULL;
        if (store_set_verdict(s->store, c->id, VERDICT_FLAKY, c->result.reason, NULL, &s->fault) !=
            ERR_NONE)
            return s->fault.code;
    }
    return ERR_NONE;
}

static enum status blame_store(struct run_session *s)
{
    s->database_failed = true;
    return s->fault.code;
}

static enum status finish(struct run_session *s)
{
    const enum run_state state = process_interrupted() ? RUN_INTERRUPTED : RUN_COMPLETE;
    const bool whole = run_selection_is_all(&s->request->selection);

    /* Which cases are FLAKY and which acceptances were not needed is known when all are there. */
    if (state == RUN_COMPLETE &&
        (mark_flaky(s) != ERR_NONE || acceptance_apply(&s->known, s->store, s->cases, s->case_count,
                                                       whole, s->keep, &s->fault) != ERR_NONE))
        return blame_store(s);
    s->info.state = state;
    s->info.finished_ns = clock_wall_ns();
    s->info.case_count = s->case_count;
    memset(s->info.verdicts, 0, sizeof s->info.verdicts);
    for (uint32_t i = 0; i < s->case_count; i++)
        s->info.verdicts[s->cases[i].result.verdict]++;
    if (store_finish_run(s->store, s->info.id, state, s->info.finished_ns, &s->fault) != ERR_NONE)
        return blame_store(s);
    return ERR_NONE;
}

static enum status take_judge_finish(struct run_session *s)
{
    if (run_take_and_judge(s) != ERR_NONE)
        return s->fault.code;
    run_cases_sort(s->cases, s->case_count);
    return finish(s);
}

/* Makes room for all cases and collects the facts about their environment, for a new run or a
 * resumed one. */
static enum status begin(struct run_session *s, const struct run_info *now,
                         struct diff_fact *changed)
{
    s->case_count = s->scenario_count * s->request->repeat;
    s->cases = ARENA_ARRAY(s->keep, (size_t)s->case_count + 1, struct run_case);
    if (s->cases == NULL)
        return fault_no_memory(&s->fault, "cases");
    if (s->request->resume != NULL)
        return run_take_up(s, now, changed);
    s->info = *now;
    s->info.known_text = s->known.text;
    s->info.selection = s->request->selection;
    if (run_choose_folder(s) != ERR_NONE)
        return s->fault.code;
    s->database_failed = store_begin_run(s->store, &s->info, s->keep, &s->fault) != ERR_NONE;
    return s->fault.code;
}

enum status run_session_run(struct run_session *s, int argc, char *const *argv,
                            struct diff_fact *changed)
{
    struct run_info now;

    if (run_facts(&s->collect, RUN_LABEL_RUN, argc, argv, s->keep, &now, &s->fault) != ERR_NONE)
        return s->fault.code;
    if ((s->request->resume != NULL
             ? acceptance_parse(s->info.known_text, s->keep, &s->known, &s->fault)
             : acceptance_read(s->request->known, s->keep, &s->known, &s->fault)) != ERR_NONE)
        return s->fault.code;
    s->collect.tools = now.tools;
    s->collect.tool_count = now.tool_count;
    if (begin(s, &now, changed) != ERR_NONE)
        return s->fault.code;
    s->info.state = RUN_RUNNING;
    const enum status status = take_judge_finish(s);
    if (s->info.state == RUN_RUNNING) { /* it stopped early and must not look complete */
        struct fault ignored = FAULT_INIT;
        (void)store_finish_run(s->store, s->info.id, RUN_INTERRUPTED, clock_wall_ns(), &ignored);
    }
    return status;
}

enum status run_session_open(struct run_session *s)
{
    if (s->store != NULL ||
        (folder_make(run_parent_of(s->request->db, s->keep), &s->fault) == ERR_NONE &&
         store_open(s->request->db, STORE_WRITE, &s->store, &s->fault) == ERR_NONE &&
         store_end_dead_runs(s->store, &s->fault) == ERR_NONE))
        return ERR_NONE;
    return blame_store(s);
}

void run_session_drop_passed(struct run_session *s)
{
    struct fault ignored = FAULT_INIT;

    for (uint32_t i = 0; s->request->keep_failed_only && i < s->case_count; i++)
        if (s->cases[i].folder != NULL && !run_verdict_fails(s->cases[i].result.verdict))
            (void)path_remove(s->cases[i].folder, &ignored);
}

void run_session_close(struct run_session *s)
{
    run_end_programs(s);
    store_close(s->store);
    s->store = NULL;
    arena_free(&s->beside);
}
