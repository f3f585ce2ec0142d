/* What a bench found, on a terminal. */
#ifndef VERBS_BENCH_TEXT_H
#define VERBS_BENCH_TEXT_H

#include "study/bench.h"

void bench_print(const struct bench_findings *findings, struct arena *keep);

#endif
