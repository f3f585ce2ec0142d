/* Lanes and stages of a bench, by the names under which samples are stored. */
#ifndef STUDY_BENCH_LANES_H
#define STUDY_BENCH_LANES_H

#define BENCH_DUMP "dump"
#define BENCH_OFFSET "offset"
#define BENCH_CONTROL "offset-control"

#define BENCH_PARSE "parse"
#define BENCH_UNWIND "unwind"
#define BENCH_LOAD "load"
#define BENCH_RESOLVE "resolve"
#define BENCH_TOTAL "total"

#endif
