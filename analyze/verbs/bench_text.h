/* What a bench found, on a terminal. */
#ifndef VERBS_BENCH_TEXT_H
#define VERBS_BENCH_TEXT_H

#include "study/bench.h"

void bench_print(const struct bench_findings *findings, struct arena *keep);

/* NULL: one line that says why there are none. */
void bench_print_programs(const struct bench_programs *programs, struct arena *keep);

#endif
