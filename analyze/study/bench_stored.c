/* A bench that is stored: see bench.h. */
#include "study/bench.h"

enum status bench_read_stored(struct store *store, uint64_t run_id, bool samples,
                              struct arena *keep, struct bench *out, struct fault *fault)
{
    *out = (struct bench){.samples = NULL};
    if (store_read_bench_cases(store, run_id, keep, &out->costs, &out->cost_count, fault) !=
            ERR_NONE ||
        (samples && store_read_samples(store, run_id, keep, &out->samples, &out->sample_count,
                                       fault) != ERR_NONE))
        return fault->code;
    for (uint32_t i = 0; i < out->sample_count; i++)
        out->cold = out->cold || out->samples[i].cold;
    for (uint32_t i = 0; i < out->cost_count; i++)
        out->case_count += !out->costs[i].cold;
    return ERR_NONE;
}

enum status bench_read(struct store *store, uint64_t run_id, struct arena *keep,
                       struct bench_findings *out, struct fault *fault)
{
    struct bench bench;
    if (bench_read_stored(store, run_id, true, keep, &bench, fault) != ERR_NONE)
        return fault->code;
    if (bench.sample_count == 0)
        return fault_set(fault, ERR_ABSENT, FAULT_NO_OFFSET, "samples of a bench");
    return bench_judge(&bench, NULL, keep, out, fault);
}
