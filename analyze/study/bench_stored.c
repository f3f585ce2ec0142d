/* A bench that is stored: see bench.h. */
#include <string.h>

#include "base/text.h"
#include "store/store.h"
#include "study/bench.h"

enum status bench_read(struct store *store, uint64_t run_id, struct bench_sample *samples,
                       uint32_t count, struct arena *keep, struct bench_findings *out,
                       struct fault *fault)
{
    struct bench bench = {.samples = samples, .sample_count = count};
    if (store_read_bench_cases(store, run_id, keep, &bench.costs, &bench.cost_count, fault) !=
        ERR_NONE)
        return fault->code;
    if (count == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "samples of a bench");
    for (uint32_t i = 0; i < count; i++)
        bench.cold = bench.cold || samples[i].cold;
    for (uint32_t i = 0; i < bench.cost_count; i++)
        bench.case_count += !bench.costs[i].cold;
    return bench_judge(&bench, NULL, keep, out, fault);
}

static bool is_same(const char *a, const char *b)
{
    return strcmp(text_or_empty(a), text_or_empty(b)) == 0;
}

/* The same commit, machine and build. */
static bool is_beside(const struct run_info *bench, const struct run_info *run)
{
    return bench->state == RUN_COMPLETE && is_same(bench->commit, run->commit) &&
           is_same(bench->platform, run->platform) && is_same(bench->cpu, run->cpu) &&
           is_same(bench->compiler, run->compiler) && is_same(bench->flags, run->flags);
}

uint64_t bench_beside(struct store *store, const struct run_info *run, struct arena *keep,
                      struct bench_findings *out)
{
    const struct run_query query = {.label = "bench", .limit = STORE_PAGE_MAX};
    struct run_page page;
    struct fault fault = FAULT_INIT;
    struct bench_sample *samples = NULL;
    uint32_t count = 0;
    if (store == NULL || run->commit == NULL ||
        store_list_runs(store, &query, keep, &page, &fault) != ERR_NONE)
        return 0;
    for (uint32_t i = 0; i < page.count; i++)
        if (is_beside(&page.runs[i], run))
            return store_read_samples(store, page.runs[i].id, keep, &samples, &count, &fault) ==
                               ERR_NONE &&
                           bench_read(store, page.runs[i].id, samples, count, keep, out, &fault) ==
                               ERR_NONE
                       ? page.runs[i].id
                       : 0;
    return 0;
}
