/* Measures a bench (study/bench.h): the dump way and the offset way on the same cases, in turns. */
#ifndef CONDUCT_BENCH_MEASURE_H
#define CONDUCT_BENCH_MEASURE_H

#include "study/bench.h"

/* Called before every round; false stops the bench with ERR_INTERRUPTED. */
typedef bool bench_progress_fn(void *context, bool cold, uint32_t round, uint32_t rounds);

struct bench_request {
    const char *const *folders; /* of sealed cases; those without record or dump are left out */
    uint32_t folder_count;
    uint32_t rounds, warmup; /* rounds that count, and those before them */
    uint32_t turn;           /* which lane begins the first round */
    bool cold;               /* also measure with symbols opened for every stack */
    const char *cache;       /* see symbol_store_options */
    bench_progress_fn *progress;
    void *context;
};

/* Fails: as case_read, and as the engines; ERR_INTERRUPTED. */
enum status bench_measure(const struct bench_request *request, struct arena *keep,
                          struct bench *out, struct fault *fault);

/* The folders of run WORD's cases that are still on disk, the first repeat of each. */
enum status bench_folders_of_run(struct store *store, const char *word, struct arena *keep,
                                 const char ***out, uint32_t *count, struct fault *fault);

/* Stores the samples as a run of their own, described by INFO. */
enum status bench_keep(struct store *store, struct run_info *info, const struct bench *bench,
                       struct arena *keep, struct fault *fault);

#endif
