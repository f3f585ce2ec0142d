/* Writing runs and what belongs to a whole run: see store.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "store/statements.h"

static enum status put_notes(struct store *store, uint64_t run_id, const char *kind,
                             const struct named_version *rows, uint32_t count, struct fault *fault)
{
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        struct query q = query_with(store, SQL_ADD_RUN_NOTE, run_id, NULL, fault);
        query_text(&q, kind);
        query_int(&q, i);
        query_text(&q, text_or_empty(rows[i].name));
        query_text(&q, rows[i].version);
        (void)query_run(&q);
    }
    return fault->code;
}

/* Three rows also for a run of all cases: a run without them is from before they were stored. */
static enum status put_selection(struct store *store, uint64_t run_id,
                                 const struct run_selection *s, struct fault *fault)
{
    char shard[32];
    (void)snprintf(shard, sizeof shard, "%" PRIu32 "/%" PRIu32, s->shard, s->shard_count);
    const struct named_version rows[] = {{.name = "expr", .version = s->expr},
                                         {.name = "variants", .version = s->variants},
                                         {.name = "shard", .version = shard}};
    return s->known ? put_notes(store, run_id, "selection", rows, COUNT_OF(rows), fault)
                    : fault->code;
}

/* Names the process that writes the run, so that others can see when it has ended. */
static enum status put_process(struct store *store, uint64_t run_id, struct fault *fault)
{
    char self[PROCESS_NAME_BYTES];
    process_name_self(self);
    const struct named_version row = {.name = self};
    return put_notes(store, run_id, "process", &row, 1, fault);
}

enum status store_begin_run(struct store *store, struct run_info *run, struct arena *keep,
                            struct fault *fault)
{
    if (database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    struct query q = query_begin(store, SQL_ADD_RUN, NULL, fault);
    query_text(&q, run->uuid);
    query_text(&q, run_state_name(RUN_RUNNING));
    query_text(&q, run->label);
    query_int(&q, run->started_ns);
    query_text(&q, run->commit);
    query_text(&q, run->branch);
    query_text(&q, run->platform);
    query_text(&q, run->compiler);
    query_text(&q, run->flags);
    query_text(&q, run->cpu);
    query_text(&q, run->command);
    query_text(&q, run->known_text);
    if (query_run(&q) == ERR_NONE) {
        run->id = database_added(&store->database);
        run->state = RUN_RUNNING;
        (void)put_notes(store, run->id, "tool", run->tools, run->tool_count, fault);
        (void)put_notes(store, run->id, "environment", run->environment, run->environment_count,
                        fault);
        (void)put_selection(store, run->id, &run->selection, fault);
        (void)put_process(store, run->id, fault);
        struct run_info written;
        if (store_read_run(store, run->id, keep, &written, fault) == ERR_NONE)
            run->uuid = written.uuid;
    }
    return database_end(&store->database, fault->code, fault);
}

static enum status run_state_of(struct store *store, uint64_t run_id, enum run_state *out,
                                struct fault *fault)
{
    struct arena scratch;
    arena_init(&scratch, 4096);
    struct query q = query_begin(store, SQL_RUN_STATE, &scratch, fault);
    query_int(&q, run_id);
    bool found = query_row(&q);
    const char *word = found ? query_get_text(&q) : NULL;
    found = word != NULL && run_state_parse(word, out);
    (void)query_end(&q);
    arena_free(&scratch);
    return found ? fault->code : fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "run");
}

enum status store_demand_running(struct store *store, uint64_t run_id, struct fault *fault)
{
    enum run_state state = RUN_COMPLETE;
    if (run_state_of(store, run_id, &state, fault) != ERR_NONE)
        return fault->code;
    return state == RUN_RUNNING
               ? ERR_NONE
               : fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "run",
                                "it has ended, and a run that has ended is never changed");
}

enum status store_finish_run(struct store *store, uint64_t run_id, enum run_state state,
                             uint64_t finished_ns, struct fault *fault)
{
    if (store_demand_running(store, run_id, fault) != ERR_NONE ||
        database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    struct query q = query_begin(store, SQL_FINISH_RUN, NULL, fault);
    query_text(&q, run_state_name(state));
    query_int(&q, finished_ns);
    query_int(&q, run_id);
    if (query_run(&q) == ERR_NONE)
        (void)store_sum_run(store, run_id, fault);
    return database_end(&store->database, fault->code, fault);
}

enum status store_resume_run(struct store *store, uint64_t run_id, struct fault *fault)
{
    enum run_state state = RUN_COMPLETE;
    if (run_state_of(store, run_id, &state, fault) != ERR_NONE)
        return fault->code;
    if (state == RUN_COMPLETE)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "run", "it is complete");
    struct query q = query_begin(store, SQL_SET_STATE, NULL, fault);
    query_text(&q, run_state_name(RUN_RUNNING));
    query_int(&q, run_id);
    return query_run(&q) == ERR_NONE ? put_process(store, run_id, fault) : fault->code;
}

enum status store_end_dead_runs(struct store *store, struct fault *fault)
{
    struct killed_runs killed;
    if (store->mode == STORE_WRITE && store_find_killed_runs(store, &killed, fault) == ERR_NONE)
        for (uint32_t i = 0; i < killed.count && fault->code == ERR_NONE; i++)
            (void)store_finish_run(store, killed.ids[i], RUN_INTERRUPTED, clock_wall_ns(), fault);
    return fault->code;
}

enum status store_count_verdict(struct store *store, uint64_t run_id, const char *verdict,
                                int64_t change, struct fault *fault)
{
    struct query q = query_with(store, SQL_ADD_VERDICT, run_id, NULL, fault);
    query_text(&q, verdict);
    query_signed(&q, change);
    return query_run(&q);
}

enum status store_set_verdict(struct store *store, uint64_t case_id, enum verdict verdict,
                              const char *reason, const char *known_id, struct fault *fault)
{
    struct arena scratch;
    arena_init(&scratch, 4096);
    struct query was = query_begin(store, SQL_CASE_VERDICT, &scratch, fault);
    query_int(&was, case_id);
    uint64_t run_id = 0;
    const char *before = NULL;
    if (query_row(&was)) {
        run_id = query_get(&was);
        before = query_get_text(&was);
    }
    (void)query_end(&was);
    if (before == NULL)
        (void)fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "case");
    if (fault->code == ERR_NONE && store_demand_running(store, run_id, fault) == ERR_NONE &&
        database_begin(&store->database, fault) == ERR_NONE) {
        struct query q = query_begin(store, SQL_SET_VERDICT, NULL, fault);
        query_text(&q, verdict_name(verdict));
        query_text(&q, reason);
        query_text(&q, known_id);
        query_int(&q, case_id);
        (void)query_run(&q);
        (void)store_count_verdict(store, run_id, before, -1, fault);
        (void)store_count_verdict(store, run_id, verdict_name(verdict), 1, fault);
        (void)database_end(&store->database, fault->code, fault);
    }
    arena_free(&scratch);
    return fault->code;
}

enum status store_set_baseline(struct store *store, uint64_t run_id, const char *branch,
                               const char *platform, struct fault *fault)
{
    enum run_state state = RUN_RUNNING;
    if (run_state_of(store, run_id, &state, fault) != ERR_NONE)
        return fault->code;
    if (state != RUN_COMPLETE)
        return fault_set_hint(fault, ERR_USAGE, FAULT_NO_OFFSET, "baseline",
                              "only a complete run can be one");
    struct query q = query_begin(store, SQL_SET_BASELINE, NULL, fault);
    query_text(&q, branch);
    query_text(&q, platform);
    query_int(&q, run_id);
    return query_run(&q);
}

enum status store_put_samples(struct store *store, uint64_t run_id,
                              const struct bench_sample *samples, uint32_t count,
                              struct fault *fault)
{
    if (store_demand_running(store, run_id, fault) != ERR_NONE ||
        database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        struct query q = query_with(store, SQL_ADD_SAMPLE, run_id, NULL, fault);
        query_text(&q, bench_lane_name(samples[i].lane));
        query_text(&q, bench_stage_name(samples[i].stage));
        query_int(&q, samples[i].cold);
        query_int(&q, samples[i].round);
        query_int(&q, samples[i].ns);
        (void)query_run(&q);
    }
    return database_end(&store->database, fault->code, fault);
}

enum status store_put_bench_cases(struct store *store, uint64_t run_id,
                                  const struct bench_case *cases, uint32_t count,
                                  struct fault *fault)
{
    if (store_demand_running(store, run_id, fault) != ERR_NONE ||
        database_begin(&store->database, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count && fault->code == ERR_NONE; i++) {
        struct query q = query_with(store, SQL_ADD_BENCH_CASE, run_id, NULL, fault);
        query_int(&q, cases[i].process);
        query_text(&q, cases[i].scenario);
        query_text(&q, cases[i].variant);
        query_text(&q, cpu_name(cases[i].arch));
        query_text(&q, case_kind_name(cases[i].kind));
        query_int(&q, cases[i].cold);
        query_int(&q, cases[i].ns[LANE_OFFSET]);
        query_int(&q, cases[i].ns[LANE_DUMP]);
        (void)query_run(&q);
    }
    return database_end(&store->database, fault->code, fault);
}
