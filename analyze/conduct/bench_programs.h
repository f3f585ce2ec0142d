/* What it costs when a program reads the dump: Microsoft's engine of WinDbg and dbghelp, Wine's
 * dbghelp, and this program, in a process for each crash and for many crashes in one process. */
#ifndef CONDUCT_BENCH_PROGRAMS_H
#define CONDUCT_BENCH_PROGRAMS_H

#include "conduct/bench_measure.h"

struct collect_options;

struct bench_programs_request {
    const struct bench_request *bench; /* its cases; at most 30, spread evenly, are taken */
    const struct bench *measured;
    const struct collect_options *windows; /* how Windows programs run here; it outlives the call */
    const char *program;                   /* the file of this program */
};

/* What a judge lacks, as a row's WHY_NOT, is no fault. Fails: as case_read(), judging_open() and
 * judging_open_windows(); ERR_IO this program fails; ERR_INTERRUPTED; ERR_MEMORY. */
enum status bench_programs_measure(const struct bench_programs_request *request, struct arena *keep,
                                   struct bench_programs *out, struct fault *fault);

#endif
