/* A bench in several processes, one after the other: each has its memory elsewhere, which no number
 * of rounds in one process shows. */
#ifndef VERBS_BENCH_PROCESSES_H
#define VERBS_BENCH_PROCESSES_H

#include "conduct/bench_measure.h"

/* Spreads REQUEST->rounds over PROCESSES (2 to BENCH_PROCESSES_MAX; at most one per round) of this
 * program, and adds to OUT, of which bench_measure() made the timings, all samples and costs.
 * Strings live in KEEP. Fails: ERR_INTERRUPTED; ERR_ABSENT, ERR_IO a process did not start or end
 * well; ERR_MEMORY. */
enum status bench_processes(const struct bench_request *request, uint32_t processes,
                            struct arena *keep, struct bench *out, struct fault *fault);

/* Reads names of cases, one per line, from standard input. Fails: ERR_LIMIT a name is too long;
 * ERR_MEMORY. */
enum status bench_read_names(struct arena *keep, const char ***out, uint32_t *count,
                             struct fault *fault);

#endif
