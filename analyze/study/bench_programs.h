/* What it costs when a program reads the dump: Microsoft's engine of WinDbg and dbghelp, Wine's
 * dbghelp, and this program, in a process for each crash and for many crashes in one process. */
#ifndef STUDY_BENCH_PROGRAMS_H
#define STUDY_BENCH_PROGRAMS_H

#include "study/bench.h"

struct collect_options;

/* The rows, in the order in which they are shown. */
enum bench_program_id {
    PROGRAM_OFFSETS, /* this program, `resolve` of the record */
    PROGRAM_DUMP,    /* this program, `dump` of the dump      */
    PROGRAM_DBGHELP_MICROSOFT,
    PROGRAM_DBGENG,
    PROGRAM_DBGHELP,
    BENCH_PROGRAMS
};

struct bench_program {
    const char *name;           /* "dump", or the judge's: "judge:dbgeng" */
    const char *version;        /* of a judge's library; NULL: it did not answer, or it is ours */
    const char *why_not;        /* it was not measured; NULL: it was */
    struct measurement process; /* ns per crash, start and end of the process included */
    struct measurement again;   /* ns per crash in a process that has had the same ones before; of
                                 * this program as the bench measured it warm */
};

struct bench_programs {
    struct bench_program rows[BENCH_PROGRAMS];
    uint32_t case_count;
    enum cpu arch; /* of the cases: processors are not mixed */
};

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

/* An array: a member for each row. */
void bench_programs_write_json(struct json *j, const struct bench_programs *programs);

#endif
