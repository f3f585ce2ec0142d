/* The part of runs.h that the database answers directly: faces do not see its headers. */
#include "store/store.h"
#include "study/runs.h"

enum status study_open(const char *path, enum store_mode mode, struct store **out,
                       struct fault *fault)
{
    return store_open(path, mode, out, fault);
}

void study_close(struct store *store)
{
    store_close(store);
}

uint64_t study_version(struct store *store)
{
    return store_version(store);
}

uint64_t study_killed_runs(struct store *store)
{
    struct killed_runs killed;
    struct fault ignored = FAULT_INIT;
    uint64_t sum = 0;
    if (store_find_killed_runs(store, &killed, &ignored) == ERR_NONE)
        for (uint32_t i = 0; i < killed.count; i++)
            sum += killed.ids[i];
    return sum;
}

/* The database says `running` of a run whose process was killed, until the next run begins. */
static enum status mark_killed(struct store *store, struct run_info *runs, uint32_t count,
                               struct fault *fault)
{
    struct killed_runs killed;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= runs[i].state == RUN_RUNNING;
    if (!any || store_find_killed_runs(store, &killed, fault) != ERR_NONE)
        return fault->code;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < killed.count; k++)
            if (runs[i].id == killed.ids[k])
                runs[i].state = RUN_INTERRUPTED;
    return ERR_NONE;
}

enum status study_find_run(struct store *store, const char *word, uint64_t *run_id,
                           struct fault *fault)
{
    return store_find_run(store, word, run_id, fault);
}

enum status study_read_info(struct store *store, uint64_t run_id, struct arena *keep,
                            struct run_info *out, struct fault *fault)
{
    return store_read_run(store, run_id, keep, out, fault) == ERR_NONE
               ? mark_killed(store, out, 1, fault)
               : fault->code;
}

enum status study_list_runs(struct store *store, const struct run_query *query, struct arena *keep,
                            struct run_page *out, struct fault *fault)
{
    return store_list_runs(store, query, keep, out, fault) == ERR_NONE
               ? mark_killed(store, out->runs, out->count, fault)
               : fault->code;
}

enum status study_list_cases(struct store *store, const struct case_query *query,
                             struct arena *keep, struct case_page *out, struct fault *fault)
{
    return store_list_cases(store, query, keep, out, fault);
}

enum status study_find_case(struct store *store, uint64_t run_id, const char *scenario,
                            const char *variant, uint32_t repeat, uint64_t *case_id,
                            struct fault *fault)
{
    return store_find_case(store, run_id, scenario, variant, repeat, case_id, fault);
}

enum status study_read_case(struct store *store, uint64_t case_id, struct arena *keep,
                            struct run_case *out, struct fault *fault)
{
    return store_read_case(store, case_id, keep, out, fault);
}

enum status study_read_outcomes(struct store *store, uint64_t run_id, bool with_times,
                                struct arena *keep, struct run_case **out, uint32_t *count,
                                struct fault *fault)
{
    return store_read_outcomes(store, run_id, with_times, keep, out, count, fault);
}

enum status study_read_files(struct store *store, struct run_case *c, struct arena *keep,
                             struct fault *fault)
{
    return store_read_files(store, c, keep, fault);
}

enum status study_read_artifact(struct store *store, const char *sha256, struct arena *keep,
                                struct case_artifact *out, struct fault *fault)
{
    return store_read_artifact(store, sha256, keep, out, fault);
}

enum status study_total_engines(struct store *store, uint64_t run_id, struct arena *keep,
                                struct engine_total **out, uint32_t *count, struct fault *fault)
{
    return store_total_engines(store, run_id, keep, out, count, fault);
}

enum status study_read_costs(struct store *store, uint64_t run_id, struct arena *keep,
                             struct case_cost **out, uint32_t *count, struct fault *fault)
{
    return store_read_costs(store, run_id, keep, out, count, fault);
}

enum status study_count_causes(struct store *store, uint64_t run_id, struct arena *keep,
                               struct cause_count **out, uint32_t *count, struct fault *fault)
{
    return store_count_causes(store, run_id, keep, out, count, fault);
}

enum status study_read_hooks(struct store *store, uint64_t run_id, struct arena *keep,
                             struct hook_outcome **out, uint32_t *count, struct fault *fault)
{
    return store_read_hooks(store, run_id, keep, out, count, fault);
}

enum status study_read_signatures(struct store *store, uint64_t run_id, struct arena *keep,
                                  struct signature_row **out, uint32_t *count, struct fault *fault)
{
    return store_read_signatures(store, run_id, keep, out, count, fault);
}

enum status study_read_symbols(struct store *store, uint64_t run_id, struct arena *keep,
                               struct symbol_row **out, uint32_t *count, struct fault *fault)
{
    return store_read_symbols(store, run_id, keep, out, count, fault);
}

enum status study_read_samples(struct store *store, uint64_t run_id, struct arena *keep,
                               struct bench_sample **out, uint32_t *count, struct fault *fault)
{
    return store_read_samples(store, run_id, keep, out, count, fault);
}

enum status study_set_baseline(struct store *store, uint64_t run_id, const char *branch,
                               const char *platform, struct fault *fault)
{
    return store_set_baseline(store, run_id, branch, platform, fault);
}

enum status study_get_baseline(struct store *store, const char *branch, const char *platform,
                               uint64_t *run_id, struct fault *fault)
{
    return store_get_baseline(store, branch, platform, run_id, fault);
}

enum status study_import(struct store *to, struct store *from, uint32_t *copied,
                         struct fault *fault)
{
    return store_import(to, from, copied, fault);
}

enum status study_publish(struct store *store, const char *path, struct fault *fault)
{
    return store_publish(store, path, fault);
}

enum status study_prune(struct store *store, uint32_t keep_runs, uint32_t *deleted,
                        struct fault *fault)
{
    return store_prune(store, keep_runs, deleted, fault);
}
